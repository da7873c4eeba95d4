/* Finds what changed between two stores, by a merge join. Both stores are walked in the order of
 * their keys, rows of one problem at a time. Within it keys are merged, what is left is sorted by
 * the chip's name and paired where that leaves no doubt, and all is put back into the order of
 * keys. The text for people and the JSON are visitors of it; times are printed rounded, unless two
 * different ones would look the same. */
#include "results/store_diff.h"
#include "core/number.h"
#include "formats/json.h"
#include "formats/text.h"
#include "results/store_write.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
