/* Finds what changed between two stores, by a merge join. Both stores are walked in the order of
 * their keys, rows of one problem at a time. Within it keys are merged, what is left is sorted by
 * the chip's name and paired where that leaves no doubt, and all is put back into the order of
 * keys. The text for people and the JSON are visitors of it; times are printed rounded, unless two
 * different ones would look the same.
 *
 * Writes rows as lists, in full, and for export. Lists are gone through twice, the first time for
 * the widths of columns, in columns of a terminal rather than bytes. An export is written member
 * by member, in a fixed order; an answer is embedded as an object only if it reads back as the
 * very same text, and is a string otherwise, so that export and import change nothing. */
#include "results/store_write.h"

#include "core/number.h"
#include "core/utf8.h"
#include "core/version.h"
#include "formats/csv.h"
#include "formats/json.h"
#include "formats/text.h"
#include "results/outline.h"
#include "results/store_rows.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum status written(FILE *out, struct error *error)
{
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the answer") : STATUS_OK;
}

static int columns_of(const char *text)
{
    return utf8_put_line(text, strlen(text), NULL);
}

static int store_put_text(const char *text, FILE *out)
{
    return utf8_put_line(text, strlen(text), out);
}

static void store_put_key(const struct store_row *row, FILE *out)
{
    const struct store_key *key = &row->key;
    const char *const words[] = {key->op, key->shape, key->options, key->dtype, key->space};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!*words[i])
            continue;
        if (i)
            fputc(' ', out);
        store_put_text(words[i], out);
    }
    fputs(", ", out);
    store_put_text(row->hardware_name, out);
    fprintf(out, ", %d core%s", key->cores, key->cores == 1 ? "" : "s");
    if (key->kind != STORE_SIMULATED)
        fprintf(out, ", %s", store_kind_name(key->kind));
    if (*key->query) {
        fputs(", ", out);
        store_put_text(key->query, out);
    }
}

/* ------------------------------------------------------------------ lists */

enum { COLUMNS = 10, CELL_SIZE = 96 };

struct line {
    char cell[COLUMNS][CELL_SIZE];
};

static const char *const headings[COLUMNS] = {"op",       "shape", "options", "dtype", "space",
                                              "hardware", "cores", "kind",    "time",  "state"};

/* Measuring proves nothing. */
static const char *state_of(const struct store_row *row)
{
    if (row->optimal)
        return "optimal";
    return row->key.kind == STORE_MEASURED ? "not proven" : "cut off";
}

/* Long texts are cut: `show` has the whole. */
static void fill_line(const struct store_row *row, struct line *line)
{
    const struct store_key *key = &row->key;
    char time[TEXT_SIZE], version[32] = "";
    const char *const texts[] = {key->op, key->shape, *key->options ? key->options : "-",
                                 key->dtype, key->space};
    for (int i = 0; i < 5; i++)
        snprintf(line->cell[i], CELL_SIZE, "%.80s", texts[i]);
    if (*store_kernel(row))
        snprintf(line->cell[0], CELL_SIZE, "%.60s %.8s", key->op, store_kernel(row));
    snprintf(line->cell[5], CELL_SIZE, "%.60s %.8s", row->hardware_name, key->hardware);
    snprintf(line->cell[6], CELL_SIZE, "%d", key->cores);
    snprintf(line->cell[7], CELL_SIZE, "%s", store_kind_name(key->kind));
    snprintf(line->cell[8], CELL_SIZE, "%s",
             row->time_ns > 0 ? text_time(row->time_ns, time) : "none legal");
    if (key->model_version != MODEL_VERSION)
        snprintf(version, sizeof version, ", model version %d", key->model_version);
    snprintf(line->cell[9], CELL_SIZE, "%s%s", state_of(row), version);
}

static void put_line(const struct line *line, const int widths[COLUMNS], FILE *out)
{
    for (int c = 0; c < COLUMNS; c++) {
        bool right = c == 6 || c == 8, last = c == COLUMNS - 1;
        int pad = widths[c] - columns_of(line->cell[c]);
        if (right)
            fprintf(out, "%*s", pad, "");
        store_put_text(line->cell[c], out);
        if (!last)
            fprintf(out, "%*s", (right ? 0 : pad) + 2, "");
    }
    fputc('\n', out);
}

enum status store_list_table(const struct store_rows *rows, const struct style *style, FILE *out,
                             struct error *error)
{
    struct line line = {0};
    int widths[COLUMNS] = {0};
    char count[TEXT_SIZE];
    for (size_t i = 0; i <= rows->count; i++) {
        if (i < rows->count)
            fill_line(&rows->rows[i], &line);
        for (int c = 0; c < COLUMNS; c++) {
            int width = columns_of(i < rows->count ? line.cell[c] : headings[c]);
            widths[c] = width > widths[c] ? width : widths[c];
        }
    }
    for (int c = 0; c < COLUMNS; c++)
        snprintf(line.cell[c], CELL_SIZE, "%s", headings[c]);
    if (rows->count) {
        fputs(style->dim, out);
        put_line(&line, widths, out);
        fputs(style->end, out);
    }
    for (size_t i = 0; i < rows->count; i++) {
        fill_line(&rows->rows[i], &line);
        put_line(&line, widths, out);
    }
    fprintf(out, "%s result%s\n", text_count((int64_t)rows->count, count),
            rows->count == 1 ? "" : "s");
    return written(out, error);
}

/* The texts of a row, as JSON and csv name them. */
enum { TEXTS = 10, EXPORTED_TEXTS = 7 };

static const char *const text_names[TEXTS] = {"kind",        "op",    "shape", "options",
                                              "dtype",       "space", "query", "hardware",
                                              "fingerprint", "tiling"};

static void get_texts(const struct store_row *row, const char *texts[TEXTS])
{
    const struct store_key *key = &row->key;
    const char *const all[TEXTS] = {store_kind_name(key->kind),
                                    key->op,
                                    key->shape,
                                    key->options,
                                    key->dtype,
                                    key->space,
                                    key->query,
                                    row->hardware_name,
                                    key->hardware,
                                    row->tiling};
    memcpy(texts, all, sizeof all);
}

static json_t *store_row_json(const struct store_row *row)
{
    const char *texts[TEXTS];
    json_t *object = json_object();
    get_texts(row, texts);
    for (int t = 0; t < TEXTS; t++)
        json_object_set_new(object, text_names[t], json_text(texts[t]));
    json_object_set_new(object, "cores", json_integer(row->key.cores));
    json_object_set_new(object, "model_version", json_integer(row->key.model_version));
    json_object_set_new(object, "time_ns", json_number_above_0(row->time_ns));
    json_object_set_new(object, "optimal", json_boolean(row->optimal));
    if (row->limit_s > 0)
        json_object_set_new(object, "limit_s", json_real(row->limit_s));
    return object;
}

/* As the JSON value that it is; what is none as text. */
static json_t *answer_json(const char *answer)
{
    json_t *value = json_loads(answer, JSON_DECODE_ANY, NULL);
    return value ? value : json_text(answer);
}

static enum status write_json(const struct store_rows *rows, bool answers, FILE *out,
                              struct error *error)
{
    json_t *list = json_array();
    for (size_t i = 0; i < rows->count; i++) {
        json_t *row = store_row_json(&rows->rows[i]);
        if (answers)
            json_object_set_new(row, "answer", answer_json(rows->rows[i].answer));
        json_array_append_new(list, row);
    }
    return json_write(json_pack("{s:i, s:o}", "schema", 1, "results", list), out, error);
}

enum status store_list_json(const struct store_rows *rows, const struct style *style, FILE *out,
                            struct error *error)
{
    (void)style;
    return write_json(rows, false, out, error);
}

enum status store_show_json(const struct store_rows *rows, const struct style *style, FILE *out,
                            struct error *error)
{
    (void)style;
    return write_json(rows, true, out, error);
}

enum status store_list_csv(const struct store_rows *rows, const struct style *style, FILE *out,
                           struct error *error)
{
    (void)style;
    for (int t = 0; t < TEXTS; t++)
        fprintf(out, "%s,", text_names[t]);
    fputs("cores,model_version,time_ns,optimal,limit_s\n", out);
    for (size_t i = 0; i < rows->count; i++) {
        const struct store_row *row = &rows->rows[i];
        const char *texts[TEXTS];
        char time[32], limit[32];
        get_texts(row, texts);
        for (int t = 0; t < TEXTS; t++) {
            csv_put(texts[t], out);
            fputc(',', out);
        }
        fprintf(out, "%d,%d,%s,%d,%s\n", row->key.cores, row->key.model_version,
                row->time_ns > 0 ? number_text(row->time_ns, time) : "", row->optimal,
                row->limit_s > 0 ? number_text(row->limit_s, limit) : "");
    }
    return written(out, error);
}

/* ------------------------------------------------------------------ whole answers */

static void show_row(const struct store_row *row, const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], exact[32];
    fputs(style->bold, out);
    store_put_key(row, out);
    fprintf(out, "%s\n%s  fingerprint  ", style->end, style->dim);
    store_put_text(row->key.hardware, out);
    fprintf(out, ", model version %d%s\n", row->key.model_version, style->end);
    if (row->time_ns > 0) {
        fprintf(out, "  time         %s  (%s ns), %s, %s\n  tiling       ",
                text_time(row->time_ns, time), number_text(row->time_ns, exact),
                store_kind_name(row->key.kind), state_of(row));
        store_put_text(row->tiling, out);
        fputc('\n', out);
    } else {
        fprintf(out, "  no legal tiling, %s\n", state_of(row));
    }
    if (row->limit_s > 0)
        fprintf(out, "  limit        %s s\n", number_text(row->limit_s, exact));
    json_t *answer = answer_json(row->answer);
    if (json_is_object(answer)) {
        if (json_object_size(answer))
            outline_write(answer, style, out);
    } else if (*row->answer) {
        fputs("  answer       ", out);
        store_put_text(row->answer, out);
        fputc('\n', out);
    }
    json_decref(answer);
}

enum status store_show_table(const struct store_rows *rows, const struct style *style, FILE *out,
                             struct error *error)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (i)
            fputc('\n', out);
        show_row(&rows->rows[i], style, out);
    }
    return written(out, error);
}

/* ------------------------------------------------------------------ export */

static enum status put_string(const char *name, const char *text, FILE *out, struct error *error)
{
    json_t *string = json_text(text);
    fprintf(out, "\"%s\":", name);
    int failed = string ? json_dumpf(string, out, JSON_ENCODE_ANY) : 0;
    enum status status = !string  ? error_memory(error)
                         : failed ? error_set(error, STATUS_IO, "cannot write the row")
                                  : STATUS_OK;
    json_decref(string);
    return status;
}

/* An object that reads back as the very text, or NULL. The caller frees it. */
static char *compact_object(const char *answer)
{
    json_t *value = *answer == '{' ? json_loads(answer, JSON_REJECT_DUPLICATES, NULL) : NULL;
    char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
    json_decref(value);
    if (text && strcmp(text, answer) == 0)
        return text;
    free(text);
    return NULL;
}

static enum status put_answer(const char *answer, FILE *out, struct error *error)
{
    char *object = compact_object(answer);
    if (!object)
        return put_string("answer", answer, out, error);
    fprintf(out, "\"answer\":%s", object);
    free(object);
    return STATUS_OK;
}

enum status store_export_row(const struct store_row *row, FILE *out, struct error *error)
{
    const char *texts[TEXTS];
    char time[32], limit[32];
    get_texts(row, texts);
    fputc('{', out);
    for (int t = 0; t < EXPORTED_TEXTS; t++) {
        TRY(put_string(text_names[t], texts[t], out, error));
        fputc(',', out);
    }
    TRY(put_string("hardware", row->key.hardware, out, error));
    fprintf(out, ",\"cores\":%d,\"model_version\":%d,", row->key.cores, row->key.model_version);
    TRY(put_string("hardware_name", row->hardware_name, out, error));
    fputc(',', out);
    TRY(put_string("tiling", row->tiling, out, error));
    fprintf(out, ",\"time_ns\":%s,\"optimal\":%s,\"limit_s\":%s,", number_text(row->time_ns, time),
            row->optimal ? "true" : "false", number_text(row->limit_s, limit));
    TRY(put_answer(row->answer, out, error));
    fputs("}\n", out);
    return written(out, error);
}

static const char *const change_names[STORE_CHANGES] = {"same",  "better", "worse",
                                                        "other", "added",  "removed"};

const char *store_change_name(enum store_change change)
{
    return change_names[change];
}

/* One store on the way: the row that comes next. */
struct side {
    struct store_walk *walk;
    const struct store_filter *filter;
    bool found;
    struct store_row row;
    struct store_rows group; /* rows about one problem */
};

static enum status advance(struct side *side, struct error *error)
{
    enum status status;
    do
        status = store_walk_next(side->walk, &side->found, &side->row, error);
    while (status == STATUS_OK && side->found && !store_filter_matches(side->filter, &side->row));
    return status;
}

static enum status side_open(struct side *side, struct store *store,
                             const struct store_filter *filter, struct error *error)
{
    *side = (struct side){.filter = filter};
    TRY(store_walk_open(store, &side->walk, error));
    return advance(side, error);
}

static void side_close(struct side *side)
{
    store_rows_clear(&side->group);
    store_walk_close(side->walk);
}

/* ------------------------------------------------------------------ groups */

/* What a group has in common: the members that a key is ordered by first. */
static struct store_key problem_of(const struct store_key *key)
{
    struct store_key problem = *key;
    problem.hardware = problem.query = "";
    problem.cores = problem.model_version = 0;
    problem.kind = STORE_SIMULATED;
    return problem;
}

static int compare_problems(const struct store_key *a, const struct store_key *b)
{
    struct store_key left = problem_of(a), right = problem_of(b);
    return store_compare(&left, &right);
}

static bool same_but_version(const struct store_key *a, const struct store_key *b)
{
    struct store_key left = *a, right = *b;
    left.model_version = right.model_version = 0;
    return store_compare(&left, &right) == 0;
}

/* Takes the side's rows about `problem`; of several versions, which are neighbours, the last. */
static enum status take_group(struct side *side, const struct store_key *problem,
                              struct error *error)
{
    while (side->found && compare_problems(&side->row.key, problem) == 0) {
        struct store_rows *group = &side->group;
        struct store_row *last = group->count ? &group->rows[group->count - 1] : NULL;
        if (last && same_but_version(&last->key, &side->row.key))
            store_rows_drop_last(group);
        TRY(store_rows_add(group, &side->row, STORE_ANSWERS, error));
        TRY(advance(side, error));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ pairs */

struct pair {
    const struct store_row *old, *new;
};

/* Less than 0: a comes first. By what identifies a chip's row when its fingerprint does not. */
static int compare_names(const struct store_row *a, const struct store_row *b)
{
    struct store_key left = a->key, right = b->key;
    left.model_version = right.model_version = 0;
    left.hardware = a->hardware_name;
    right.hardware = b->hardware_name;
    return store_compare(&left, &right);
}

static const struct store_row *row_of(const struct pair *pair)
{
    return pair->new ? pair->new : pair->old;
}

/* Pairs by name, what was there before first. */
static int by_name(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    int order = compare_names(row_of(a), row_of(b));
    return order ? order : (a->new != NULL) - (b->new != NULL);
}

static int by_key(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;
    int order = store_compare(&row_of(a)->key, &row_of(b)->key);
    return order ? order : (a->new != NULL) - (b->new != NULL);
}

/* Merges two groups; *single counts the pairs without a partner, which come first. */
static size_t pair_keys(const struct store_rows *old, const struct store_rows *new,
                        struct pair *pairs, size_t *single)
{
    size_t total = old->count + new->count, i = 0, j = 0, both = total;
    *single = 0;
    while (i < old->count || j < new->count) {
        int order = (i == old->count) - (j == new->count);
        struct store_key left, right;
        if (order == 0) {
            left = old->rows[i].key;
            right = new->rows[j].key;
            left.model_version = right.model_version = 0;
            order = store_compare(&left, &right);
        }
        if (order == 0)
            pairs[--both] = (struct pair){&old->rows[i], &new->rows[j]};
        else
            pairs[(*single)++] =
                (struct pair){order < 0 ? &old->rows[i] : NULL, order > 0 ? &new->rows[j] : NULL};
        i += order <= 0;
        j += order >= 0;
    }
    memmove(pairs + *single, pairs + both, (total - both) * sizeof *pairs);
    return *single + total - both;
}

/* Joins one old and one new row of the same name where there is no other. Returns how many pairs
 * are left of `count`. */
static size_t pair_names(struct pair *pairs, size_t count)
{
    size_t kept = 0, next;
    qsort(pairs, count, sizeof *pairs, by_name);
    for (size_t first = 0; first < count; first = next) {
        for (next = first + 1; next < count; next++)
            if (compare_names(row_of(&pairs[first]), row_of(&pairs[next])) != 0)
                break;
        if (next - first == 2 && !pairs[first].new &&pairs[first + 1].new)
            pairs[kept++] = (struct pair){pairs[first].old, pairs[first + 1].new};
        else
            for (size_t i = first; i < next; i++)
                pairs[kept++] = pairs[i];
    }
    return kept;
}

/* A result without a legal tiling, time 0, is worse than any with one. */
static enum store_change judge(const struct pair *pair)
{
    const struct store_row *old = pair->old, *new = pair->new;
    if (!old)
        return STORE_ADDED;
    if (!new)
        return STORE_REMOVED;
    if (old->time_ns != new->time_ns)
        return old->time_ns == 0 || (new->time_ns > 0 && new->time_ns < old->time_ns) ? STORE_BETTER
                                                                                      : STORE_WORSE;
    bool same = old->optimal == new->optimal &&
                old->limit_s == new->limit_s &&strcmp(old->tiling, new->tiling) == 0 &&
                strcmp(old->key.hardware, new->key.hardware) == 0 &&
                strcmp(old->answer, new->answer) == 0;
    return same ? STORE_SAME : STORE_OTHER;
}

static enum status diff_group(struct side *old, struct side *new, struct store_diff *diff,
                              struct error *error)
{
    size_t total = old->group.count + new->group.count, single;
    struct pair *pairs = calloc(total, sizeof *pairs);
    if (!pairs)
        return error_memory(error);
    enum status status = STATUS_OK;
    size_t count = pair_keys(&old->group, &new->group, pairs, &single);
    size_t left = pair_names(pairs, single);
    memmove(pairs + left, pairs + single, (count - single) * sizeof *pairs);
    count -= single - left;
    qsort(pairs, count, sizeof *pairs, by_key);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        enum store_change change = judge(&pairs[i]);
        diff->count[change]++;
        if (change != STORE_SAME && diff->visit)
            status = diff->visit(diff->context, change, pairs[i].old, pairs[i].new, error);
    }
    free(pairs);
    return status;
}

static enum status diff_sides(struct side *old, struct side *new, struct store_diff *diff,
                              struct error *error)
{
    enum status status = STATUS_OK;
    while (status == STATUS_OK && (old->found || new->found)) {
        const struct side *first = !new->found                                           ? old
                                   : !old->found                                         ? new
                                   : compare_problems(&old->row.key, &new->row.key) <= 0 ? old
                                                                                         : new;
        struct store_rows head = {0}; /* the rows' texts go with the walk */
        status = store_rows_add(&head, &first->row, STORE_NO_ANSWERS, error);
        if (status == STATUS_OK)
            status = take_group(old, &head.rows[0].key, error);
        if (status == STATUS_OK)
            status = take_group(new, &head.rows[0].key, error);
        if (status == STATUS_OK)
            status = diff_group(old, new, diff, error);
        store_rows_clear(&head);
        store_rows_clear(&old->group);
        store_rows_clear(&new->group);
    }
    return status;
}

enum status store_diff(struct store *old, struct store *new, struct store_diff *diff,
                       struct error *error)
{
    struct side left, right = {0};
    memset(diff->count, 0, sizeof diff->count);
    enum status status = side_open(&left, old, diff->filter, error);
    if (status == STATUS_OK)
        status = side_open(&right, new, diff->filter, error);
    if (status == STATUS_OK)
        status = diff_sides(&left, &right, diff, error);
    side_close(&left);
    side_close(&right);
    return status;
}

/* ------------------------------------------------------------------ writing */

struct writing {
    FILE *out;
    struct style style;
    json_t *list;
};

/* Old over new: above 1 is faster; 0 where one has no tiling. */
static double factor_of(const struct store_row *old, const struct store_row *new)
{
    return old && new && old->time_ns > 0 && new->time_ns > 0 ? old->time_ns / new->time_ns : 0;
}

static void put_time(double time_ns, bool exactly, FILE *out)
{
    char time[32], rounded[TEXT_SIZE];
    if (time_ns == 0)
        fputs("no legal tiling", out);
    else if (exactly)
        fprintf(out, "%s ns", number_text(time_ns, time));
    else
        fputs(text_time(time_ns, rounded), out);
}

/* "1.25 x faster", and where that says nothing "0.0012 % faster". */
static void put_factor(double factor, FILE *out)
{
    double more = factor > 1 ? factor : 1 / factor;
    const char *word = factor > 1 ? "faster" : "slower";
    if (more < 1.0001)
        fprintf(out, ", %.3g %% %s", 100 * (more - 1), word);
    else
        fprintf(out, ", %.6g x %s", more, word);
}

/* Rounded, unless both would look the same. */
static void put_times(const struct store_row *old, const struct store_row *new, FILE *out)
{
    char before[TEXT_SIZE], after[TEXT_SIZE];
    bool alike = old->time_ns > 0 && new->time_ns > 0 &&
                 strcmp(text_time(old->time_ns, before), text_time(new->time_ns, after)) == 0;
    double factor = factor_of(old, new);
    fputs("         time      ", out);
    put_time(old->time_ns, alike && old->time_ns != new->time_ns, out);
    if (old->time_ns != new->time_ns) {
        fputs(" -> ", out);
        put_time(new->time_ns, alike, out);
    }
    if (factor > 0 && old->time_ns != new->time_ns)
        put_factor(factor, out);
    fputc('\n', out);
}

static void put_change(const char *title, const char *old, const char *new, FILE *out)
{
    if (strcmp(old, new) == 0)
        return;
    fprintf(out, "         %-9s ", title);
    store_put_text(*old ? old : "none", out);
    fputs(" -> ", out);
    store_put_text(*new ? new : "none", out);
    fputc('\n', out);
}

static const char *proof_of(const struct store_row *row)
{
    return row->optimal ? "optimal" : "cut off";
}

static void put_only(const struct store_row *row, FILE *out)
{
    fputs("         time      ", out);
    put_time(row->time_ns, false, out);
    fputc('\n', out);
    if (!*row->tiling)
        return;
    fputs("         tiling    ", out);
    store_put_text(row->tiling, out);
    fputc('\n', out);
}

static void put_both(const struct store_row *old, const struct store_row *new, FILE *out)
{
    char version[2][32];
    put_times(old, new, out);
    put_change("tiling", old->tiling, new->tiling, out);
    put_change("hardware", old->key.hardware, new->key.hardware, out);
    put_change("proof", proof_of(old), proof_of(new), out);
    snprintf(version[0], sizeof version[0], "%d", old->key.model_version);
    snprintf(version[1], sizeof version[1], "%d", new->key.model_version);
    put_change("model", version[0], version[1], out);
    if (old->time_ns == new->time_ns && strcmp(old->tiling, new->tiling) == 0 &&
        strcmp(old->answer, new->answer) != 0)
        fputs("         answer    differs in its details\n", out);
}

static enum status write_change(void *context, enum store_change change,
                                const struct store_row *old, const struct store_row *new,
                                struct error *error)
{
    struct writing *w = context;
    assert(old || new);
    const char *const colours[STORE_CHANGES] = {"",           w->style.good, w->style.warn,
                                                w->style.dim, w->style.good, w->style.warn};
    fprintf(w->out, "%s%-8s%s ", colours[change], store_change_name(change), w->style.end);
    store_put_key(new ? new : old, w->out);
    fputc('\n', w->out);
    if (old && new)
        put_both(old, new, w->out);
    else
        put_only(new ? new : old, w->out);
    return ferror(w->out) ? error_set(error, STATUS_IO, "cannot write the answer") : STATUS_OK;
}

/* As store_diff, with a visitor that *diff does not keep. */
static enum status visit_changes(struct store *old, struct store *new, struct store_diff *diff,
                                 store_diff_visit *visit, void *context, struct error *error)
{
    struct store_diff walk = {.filter = diff->filter, .visit = visit, .context = context};
    TRY(store_diff(old, new, &walk, error));
    memcpy(diff->count, walk.count, sizeof diff->count);
    return STATUS_OK;
}

/* The order of the summary. */
static const enum store_change summary[] = {STORE_BETTER, STORE_WORSE, STORE_OTHER,
                                            STORE_SAME,   STORE_ADDED, STORE_REMOVED};
enum { SUMMARY = sizeof summary / sizeof *summary };

enum status store_diff_table(struct store *old, struct store *new, struct store_diff *diff,
                             const struct style *style, FILE *out, struct error *error)
{
    struct writing writing = {.out = out, .style = *style};
    char count[TEXT_SIZE];
    enum status status = visit_changes(old, new, diff, write_change, &writing, error);
    for (int i = 0; i < SUMMARY && status == STATUS_OK; i++)
        fprintf(out, "%s%s %s", i ? ", " : "", text_count(diff->count[summary[i]], count),
                store_change_name(summary[i]));
    fputc('\n', out);
    return status;
}

static void add_side(json_t *object, const char *name, const struct store_row *row)
{
    if (!row)
        json_object_set_new(object, name, json_null());
    else
        json_object_set_new(
            object, name,
            json_pack("{s:o, s:o, s:b, s:o, s:i}", "time_ns", json_number_above_0(row->time_ns),
                      "tiling", json_text(row->tiling), "optimal", row->optimal, "fingerprint",
                      json_text(row->key.hardware), "model_version", row->key.model_version));
}

static enum status add_change(void *context, enum store_change change, const struct store_row *old,
                              const struct store_row *new, struct error *error)
{
    static const char *const of_sides[] = {"time_ns",     "tiling",        "optimal", "limit_s",
                                           "fingerprint", "model_version", NULL};
    struct writing *w = context;
    json_t *object = store_row_json(new ? new : old);
    double factor = factor_of(old, new);
    for (int i = 0; of_sides[i]; i++)
        json_object_del(object, of_sides[i]);
    json_object_set_new(object, "change", json_string(store_change_name(change)));
    add_side(object, "old", old);
    add_side(object, "new", new);
    json_object_set_new(object, "factor", json_number_above_0(factor));
    return json_array_append_new(w->list, object) ? error_memory(error) : STATUS_OK;
}

enum status store_diff_json(struct store *old, struct store *new, struct store_diff *diff,
                            FILE *out, struct error *error)
{
    struct writing writing = {.list = json_array()};
    json_t *counts = json_object();
    enum status status = visit_changes(old, new, diff, add_change, &writing, error);
    for (int i = 0; i < SUMMARY; i++)
        json_object_set_new(counts, store_change_name(summary[i]),
                            json_integer(diff->count[summary[i]]));
    json_t *document =
        json_pack("{s:i, s:o, s:o}", "schema", 1, "changes", writing.list, "summary", counts);
    if (status == STATUS_OK)
        return json_write(document, out, error);
    json_decref(document);
    return status;
}
