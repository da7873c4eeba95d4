/* Puts exported rows into a store. Lines, a row each, are read and checked against each other
 * first. Each row is then compared with the one that the store has: of two different simulated
 * results the proven one counts, of two that were cut off the faster; where neither is better,
 * --keep or
 * --replace has to say. All changes are one transaction. */
#include "results/store_import.h"
#include "core/array.h"
#include "core/dtype.h"
#include "core/utf8.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest time and limit: far beyond anything real, and far from overflow. */
#define MAX_NS 1e30
#define MAX_S  1e12

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* One line at a time, whatever the file holds. */
struct lines {
    const char *file;
    FILE *stream;
    int line;
    char *text;
    size_t length;
    int64_t room;
};

struct record {
    const char *file;
    int line;
    json_t *object;
    char *answer; /* owned */
};

static enum status refuse_member(const struct record *record, struct error *error, const char *name,
                                 const char *expected)
{
    return error_at(error, record->file, record->line, "%s: expected %s", name, expected);
}

/* ------------------------------------------------------------------ members */

static bool is_word(const char *text)
{
    size_t length = strspn(text, LETTERS "0123456789_-");
    return length > 0 && length <= 64 && !text[length];
}

/* As this program writes it. */
static bool is_type(const char *text)
{
    int type = dtype_find(text, (int)strlen(text));
    return type >= 0 && strcmp(text, dtype_name((enum dtype)type)) == 0;
}

static bool is_shape(const char *text)
{
    for (size_t digits; (digits = strspn(text, "0123456789")) > 0 && digits <= 19 && *text != '0';
         text++) {
        text += digits;
        if (*text != 'x')
            return !*text;
    }
    return false;
}

static bool is_fingerprint(const char *text)
{
    return strlen(text) == 32 && strspn(text, "0123456789abcdef") == 32;
}

/* "name=value,…", or nothing. Values may be several words: "dot 8x2". */
static bool is_tiling(const char *text)
{
    static const char name[] = LETTERS "0123456789_";
    static const char value[] = LETTERS "0123456789_ ";
    const char *at = text;
    while (*at) {
        size_t length = strspn(at, name);
        if (length == 0 || at[length] != '=')
            return false;
        at += length + 1;
        at += strspn(at, "-");
        length = strspn(at, value);
        if (length == 0 || *at == ' ' || at[length - 1] == ' ' || (at[length] && at[length] != ','))
            return false;
        at += length;
        if (*at == ',' && !*++at)
            return false;
    }
    return true;
}

struct text_rule {
    const char *name;
    bool (*is_good)(const char *text);
    const char *expected; /* NULL: the names of types */
};

enum { OP, SHAPE, OPTIONS, DTYPE, SPACE, QUERY, HARDWARE, HARDWARE_NAME, TILING, TEXTS };

static const struct text_rule text_rules[TEXTS] = {
    [OP] = {"op", is_word, "a name"},
    [SHAPE] = {"shape", is_shape, "positive whole numbers joined by x"},
    [OPTIONS] = {"options", utf8_is_shown, "one line of text"},
    [DTYPE] = {"dtype", is_type, NULL},
    [SPACE] = {"space", is_word, "a name"},
    [QUERY] = {"query", utf8_is_shown, "one line of text"},
    [HARDWARE] = {"hardware", is_fingerprint, "a fingerprint of 32 hexadecimal digits"},
    [HARDWARE_NAME] = {"hardware_name", utf8_is_shown, "one line of text"},
    [TILING] = {"tiling", is_tiling, "name=value,name=value,... or nothing"},
};

static enum status bad_type(const struct record *record, struct error *error, const char *name,
                            const char *text)
{
    char expected[DTYPE_LIST_SIZE];
    bool shown = text && utf8_is_shown(text);
    dtype_expected(shown ? text : "", -1, expected);
    return error_at(error, record->file, record->line, "%s: %.32s%sexpected %s", name,
                    shown ? text : "", shown ? ", " : "", expected);
}

static enum status read_texts(const struct record *record, const char *texts[TEXTS],
                              struct error *error)
{
    for (int i = 0; i < TEXTS; i++) {
        const struct text_rule *rule = &text_rules[i];
        texts[i] = json_string_value(json_object_get(record->object, rule->name));
        if (!texts[i] || !rule->is_good(texts[i]))
            return rule->expected ? refuse_member(record, error, rule->name, rule->expected)
                                  : bad_type(record, error, rule->name, texts[i]);
    }
    return STATUS_OK;
}

static enum status read_count(const struct record *record, const char *name, int least, int *value,
                              struct error *error)
{
    json_t *number = json_object_get(record->object, name);
    json_int_t found = json_integer_value(number);
    if (!json_is_integer(number) || found < least || found > INT_MAX)
        return refuse_member(record, error, name,
                             least ? "a whole number from 1 to 2147483647"
                                   : "a whole number from 0 to 2147483647");
    *value = (int)found;
    return STATUS_OK;
}

static enum status read_real(const struct record *record, const char *name, double most,
                             double *value, struct error *error)
{
    json_t *number = json_object_get(record->object, name);
    double found = json_number_value(number);
    if (!json_is_number(number) || !(found >= 0 && found <= most))
        return refuse_member(record, error, name, "a number from 0 on");
    *value = found;
    return STATUS_OK;
}

static enum status read_kind(const struct record *record, enum store_kind *kind,
                             struct error *error)
{
    const char *name = json_string_value(json_object_get(record->object, "kind"));
    for (int k = 0; name && k < STORE_KINDS; k++)
        if (strcmp(name, store_kind_name((enum store_kind)k)) == 0) {
            *kind = (enum store_kind)k;
            return STATUS_OK;
        }
    return refuse_member(record, error, "kind", "simulated, measured or imported");
}

/* As the export writes it: an object without blanks, or a text. */
static enum status read_answer(struct record *record, const char **answer, struct error *error)
{
    json_t *value = json_object_get(record->object, "answer");
    *answer = json_string_value(value);
    if (*answer)
        return STATUS_OK;
    if (!json_is_object(value))
        return refuse_member(record, error, "answer", "an object or a text");
    record->answer = json_dumps(value, JSON_COMPACT);
    *answer = record->answer;
    return record->answer ? STATUS_OK : error_memory(error);
}

/* ------------------------------------------------------------------ rows */

enum {
    MEMBERS = TEXTS + 7
}; /* with kind, cores, model_version, time_ns, optimal, limit_s, answer */

static enum status check_names(const struct record *record, struct error *error)
{
    static const char *const others[] = {"kind",    "cores",   "model_version", "time_ns",
                                         "optimal", "limit_s", "answer"};
    const char *name;
    json_t *value;
    json_object_foreach(record->object, name, value)
    {
        bool known = false;
        for (int i = 0; i < TEXTS; i++)
            known = known || strcmp(name, text_rules[i].name) == 0;
        for (size_t i = 0; i < sizeof others / sizeof *others; i++)
            known = known || strcmp(name, others[i]) == 0;
        if (!known)
            return error_at(error, record->file, record->line,
                            "a member that results do not have, expected %d members from kind to "
                            "answer",
                            MEMBERS);
    }
    return STATUS_OK;
}

/* Does the row say one thing? */
static enum status check_sense(const struct record *record, const struct store_row *row,
                               struct error *error)
{
    if ((row->time_ns > 0) != (*row->tiling != 0))
        return refuse_member(record, error, "time_ns",
                             "more than 0 with a tiling, and 0 where nothing is legal");
    if (row->optimal && row->limit_s > 0)
        return refuse_member(record, error, "limit_s", "0 of a result that is optimal");
    return STATUS_OK;
}

static enum status read_row(struct record *record, struct store_row *row, struct error *error)
{
    const char *texts[TEXTS];
    json_t *optimal = json_object_get(record->object, "optimal");
    TRY(check_names(record, error));
    TRY(read_texts(record, texts, error));
    *row = (struct store_row){
        .key = {.op = texts[OP],
                .shape = texts[SHAPE],
                .options = texts[OPTIONS],
                .dtype = texts[DTYPE],
                .space = texts[SPACE],
                .query = texts[QUERY],
                .hardware = texts[HARDWARE]},
        .hardware_name = texts[HARDWARE_NAME],
        .tiling = texts[TILING],
        .optimal = json_is_true(optimal),
    };
    if (!json_is_boolean(optimal))
        return refuse_member(record, error, "optimal", "true or false");
    TRY(read_kind(record, &row->key.kind, error));
    TRY(read_count(record, "cores", 1, &row->key.cores, error));
    TRY(read_count(record, "model_version", 0, &row->key.model_version, error));
    TRY(read_real(record, "time_ns", MAX_NS, &row->time_ns, error));
    TRY(read_real(record, "limit_s", MAX_S, &row->limit_s, error));
    TRY(read_answer(record, &row->answer, error));
    return check_sense(record, row, error);
}

/* ------------------------------------------------------------------ lines */

/* The next line without its end; *found is false behind the last. */
static enum status next_line(struct lines *lines, bool *found, struct error *error)
{
    int byte;
    lines->length = 0;
    lines->line++;
    while ((byte = getc_unlocked(lines->stream)) != EOF && byte != '\n') {
        if (lines->length == STORE_MAX_LINE_BYTES)
            return error_at(error, lines->file, lines->line, "a line of more than %d bytes",
                            STORE_MAX_LINE_BYTES);
        if (!array_reserve(&lines->text, (int64_t)lines->length, &lines->room, 1))
            return error_memory(error);
        lines->text[lines->length++] = (char)byte;
    }
    if (ferror(lines->stream))
        return error_set(error, STATUS_IO, "%s: cannot read it: %s", lines->file, strerror(errno));
    if (lines->line == 1 && lines->length > 0) {
        size_t mark;
        TRY(utf8_begin(lines->file, lines->text, lines->length, &mark, error));
        memmove(lines->text, lines->text + mark, lines->length -= mark);
    }
    if (byte == EOF && lines->length > 0)
        return error_at(error, lines->file, lines->line,
                        "the line is not ended: the file has been cut short");
    if (lines->line == INT_MAX)
        return error_at(error, lines->file, lines->line, "too many lines");
    *found = byte != EOF;
    return STATUS_OK;
}

static enum status read_line(const struct lines *lines,
                             enum status (*visit)(void *context, const struct store_row *row,
                                                  struct error *error),
                             void *context, struct error *error)
{
    struct record record = {.file = lines->file, .line = lines->line};
    struct store_row row;
    json_error_t problem;
    record.object = json_loadb(lines->text, lines->length, JSON_REJECT_DUPLICATES, &problem);
    if (!json_is_object(record.object)) {
        json_decref(record.object);
        return error_at(error, record.file, record.line,
                        "expected a result as `autotune store export` writes it, one JSON object "
                        "a line");
    }
    enum status status = read_row(&record, &row, error);
    if (status == STATUS_OK)
        status = visit(context, &row, error);
    json_decref(record.object);
    free(record.answer);
    return status;
}

enum status store_lines_read(const char *file,
                             enum status (*visit)(void *context, const struct store_row *row,
                                                  struct error *error),
                             void *context, struct error *error)
{
    bool standard = strcmp(file, "-") == 0, found = true;
    struct lines lines = {.file = standard ? "standard input" : file};
    lines.stream = standard ? stdin : fopen(file, "re");
    if (!lines.stream)
        return error_set(error, STATUS_IO, "%s: cannot open it: %s", lines.file, strerror(errno));
    enum status status = STATUS_OK;
    while (status == STATUS_OK && found) {
        status = next_line(&lines, &found, error);
        if (status == STATUS_OK && found)
            status = read_line(&lines, visit, context, error);
    }
    if (!standard)
        fclose(lines.stream);
    free(lines.text);
    return status;
}

static enum status accept_row(void *context, const struct store_row *row, struct error *error)
{
    (void)context, (void)row, (void)error;
    return STATUS_OK;
}

enum status store_lines_check(const char *file, struct error *error)
{
    return store_lines_read(file, accept_row, NULL, error);
}

/* ------------------------------------------------------------------ import */

struct importing {
    struct store *store;
    const char *file;
    const struct store_filter *filter;
    enum store_clash clash;
    struct store_imported *counts;
    int64_t row;
};

/* What a chip is called does not matter. */
static bool is_same(const struct store_row *a, const struct store_row *b)
{
    return a->time_ns == b->time_ns && a->optimal == b->optimal && a->limit_s == b->limit_s &&
           strcmp(a->tiling, b->tiling) == 0 && strcmp(a->answer, b->answer) == 0;
}

/* Times of results that were cut off: nothing found is slower than anything. */
static double worth_ns(const struct store_row *row)
{
    return row->time_ns > 0 ? row->time_ns : INFINITY;
}

/* Less than 0: the one in the store is better; 0: there is no telling. */
static int compare_worth(const struct store_row *old, const struct store_row *new)
{
    if (old->key.kind != STORE_SIMULATED)
        return 0;
    if (old->optimal != new->optimal)
        return new->optimal ? 1 : -1;
    if (old->optimal)
        return 0;
    if (worth_ns(old) != worth_ns(new))
        return worth_ns(new) < worth_ns(old) ? 1 : -1;
    return (new->limit_s > old->limit_s) - (new->limit_s < old->limit_s);
}

static enum status settle_clash(const struct importing *importing, const struct store_row *old,
                                const struct store_row *new, bool *replace, struct error *error)
{
    int better = compare_worth(old, new);
    *replace =
        importing->clash == STORE_REPLACE || (importing->clash == STORE_REFUSE && better > 0);
    if (importing->clash != STORE_REFUSE || better)
        return STATUS_OK;
    return error_set(error, STATUS_INVALID,
                     "%s: result %lld, %s %.100s: the store has another one (%.9g ns, here %.9g "
                     "ns); --keep or --replace says which counts",
                     importing->file, (long long)importing->row, new->key.op, new->key.shape,
                     old->time_ns, new->time_ns);
}

static enum status import_row(void *context, const struct store_row *row, struct error *error)
{
    struct importing *importing = context;
    struct store_imported *counts = importing->counts;
    struct store_row old;
    bool found, replace = true;
    importing->row++;
    if (!store_filter_matches(importing->filter, row)) {
        counts->left_out++;
        return STATUS_OK;
    }
    TRY(store_get(importing->store, &row->key, &found, &old, error));
    if (found && is_same(&old, row)) {
        counts->same++;
        return STATUS_OK;
    }
    if (found)
        TRY(settle_clash(importing, &old, row, &replace, error));
    counts->added += !found;
    counts->replaced += found && replace;
    counts->kept += found && !replace;
    return replace ? store_put(importing->store, row, error) : STATUS_OK;
}

enum status store_import(const char *file, struct store *store, const struct store_filter *filter,
                         enum store_clash clash_rule, struct store_imported *imported,
                         struct error *error)
{
    *imported = (struct store_imported){0};
    struct importing importing = {store, file, filter, clash_rule, imported, 0};
    TRY(store_lines_read(file, import_row, &importing, error));
    return store_commit(store, error);
}
