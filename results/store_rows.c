/* Picks rows of a store and keeps copies of them. Filters are compared with rows one by one: names
 * without regard to case, shapes and options as patterns (fnmatch), chips by name or by the
 * beginning of the fingerprint. A kept row's texts lie in one piece of memory, which its first
 * text stands for.
 *
 * Removes rows that answer nothing any more. First one walk collects the keys of what is to go and
 * counts it by kind and version, so that a dry run is the same without the second part: removing
 * in one transaction, then giving the room back to the system. */
#include "results/store_rows.h"

#include "core/array.h"
#include "core/version.h"
#include "formats/json.h"
#include "formats/text.h"

#include <fnmatch.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_waste(const struct store_gc *gc, const struct store_row *row)
{
    bool outdated = row->key.kind == STORE_SIMULATED && row->key.model_version != MODEL_VERSION;
    return outdated ||
           (!store_filter_is_empty(gc->filter) && store_filter_matches(gc->filter, row));
}

/* In order of kind and version; the last place takes all that finds none. */
static void count_waste(struct store_gc *gc, const struct store_key *key)
{
    int at = 0;
    while (at < gc->waste_count &&
           (gc->wastes[at].kind < key->kind || (gc->wastes[at].kind == key->kind &&
                                                gc->wastes[at].model_version < key->model_version)))
        at++;
    struct store_waste *waste = &gc->wastes[at];
    bool known = at < gc->waste_count && waste->kind == key->kind &&
                 waste->model_version == key->model_version;
    if (!known && gc->waste_count == STORE_MAX_WASTES) {
        gc->wastes[STORE_MAX_WASTES - 1].count++;
        return;
    }
    if (!known) {
        memmove(waste + 1, waste, (size_t)(gc->waste_count - at) * sizeof *waste);
        *waste = (struct store_waste){key->kind, key->model_version, 0};
        gc->waste_count++;
    }
    waste->count++;
}

static enum status take(void *context, const struct store_row *row, struct error *error)
{
    struct store_gc *gc = context;
    if (!is_waste(gc, row)) {
        gc->kept++;
        return STATUS_OK;
    }
    gc->removed++;
    count_waste(gc, &row->key);
    return store_rows_add(&gc->rows, row, STORE_NO_ANSWERS, error);
}

enum status store_gc_find(struct store *store, struct store_gc *gc, struct error *error)
{
    *gc = (struct store_gc){.filter = gc->filter};
    enum status status = store_each(store, take, gc, error);
    if (status != STATUS_OK)
        store_gc_clear(gc);
    return status;
}

enum status store_gc_remove(struct store *store, const struct store_gc *gc, struct error *error)
{
    for (size_t i = 0; i < gc->rows.count; i++)
        TRY(store_remove(store, &gc->rows.rows[i].key, error));
    TRY(store_commit(store, error));
    return store_compact(store, error);
}

void store_gc_clear(struct store_gc *gc)
{
    store_rows_clear(&gc->rows);
}

static enum status written(FILE *out, struct error *error)
{
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the answer") : STATUS_OK;
}

enum status store_gc_table(const struct store_gc *gc, const struct store_gc_counts *counts,
                           FILE *out, struct error *error)
{
    const char *verb = counts->dry_run ? "would remove" : "removed";
    char count[TEXT_SIZE], before[TEXT_SIZE], after[TEXT_SIZE];
    for (int i = 0; i < gc->waste_count; i++)
        fprintf(out, "%s %s %s result%s of model version %d\n", verb,
                text_count(gc->wastes[i].count, count), store_kind_name(gc->wastes[i].kind),
                gc->wastes[i].count == 1 ? "" : "s", gc->wastes[i].model_version);
    fprintf(out, "%s %s of %s results", verb, text_count(gc->removed, count),
            text_count(gc->removed + gc->kept, before));
    if (counts->dry_run)
        fprintf(out, "; the file has %s bytes\n", text_count(counts->bytes_before, before));
    else
        fprintf(out, "; the file had %s bytes and has %s\n",
                text_count(counts->bytes_before, before), text_count(counts->bytes_after, after));
    return written(out, error);
}

enum status store_gc_json(const struct store_gc *gc, const struct store_gc_counts *counts,
                          FILE *out, struct error *error)
{
    json_t *list = json_array();
    for (int i = 0; i < gc->waste_count; i++)
        json_array_append_new(list, json_pack("{s:s, s:i, s:I}", "kind",
                                              store_kind_name(gc->wastes[i].kind), "model_version",
                                              gc->wastes[i].model_version, "results",
                                              (json_int_t)gc->wastes[i].count));
    json_t *document =
        json_pack("{s:i, s:b, s:I, s:I, s:o, s:I}", "schema", 1, "dry_run", counts->dry_run,
                  "removed", (json_int_t)gc->removed, "kept", (json_int_t)gc->kept, "by_version",
                  list, "bytes_before", (json_int_t)counts->bytes_before);
    if (!counts->dry_run)
        json_object_set_new(document, "bytes_after", json_integer(counts->bytes_after));
    return json_write(document, out, error);
}

enum { LEAST_FINGERPRINT = 6 };

bool store_filter_is_empty(const struct store_filter *filter)
{
    return !filter->kind_given && !filter->op && !filter->dtype && !filter->space &&
           !filter->kernel && !filter->shape && !filter->options && !filter->hardware &&
           !filter->cores;
}

static bool is_name(const char *wanted, const char *name)
{
    return !wanted || strcasecmp(wanted, name) == 0;
}

static bool is_kernel(const struct store_filter *filter, const char *kernel)
{
    return is_name(filter->kernel, kernel) || (filter->kernel2 && is_name(filter->kernel2, kernel));
}

static bool matches_pattern(const char *pattern, const char *text)
{
    return !pattern || fnmatch(pattern, text, 0) == 0;
}

/* "ascend310" is "Ascend 310". */
static bool same_but_blanks(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (strncasecmp(a, b, 1) != 0)
            return false;
        if (!*a)
            return true;
    }
}

/* Is this what the chip is called, or the beginning of its fingerprint? */
static bool is_hardware(const char *asked, const char *name, const char *fingerprint)
{
    size_t length = strlen(asked);
    return same_but_blanks(asked, name) ||
           (length >= LEAST_FINGERPRINT && strncasecmp(asked, fingerprint, length) == 0);
}

const char *store_kernel(const struct store_row *row)
{
    static const char word[] = " kernel=";
    const char *found = strstr(row->key.query, word);
    return found ? found + sizeof word - 1 : "";
}

bool store_filter_matches(const struct store_filter *filter, const struct store_row *row)
{
    const struct store_key *key = &row->key;
    return (!filter->kind_given || filter->kind == key->kind) && is_name(filter->op, key->op) &&
           is_kernel(filter, store_kernel(row)) && is_name(filter->dtype, key->dtype) &&
           is_name(filter->space, key->space) && matches_pattern(filter->shape, key->shape) &&
           matches_pattern(filter->options, key->options) &&
           (!filter->cores || filter->cores == key->cores) &&
           (!filter->hardware || is_hardware(filter->hardware, row->hardware_name, key->hardware));
}

/* Where a row's texts are. */
static void list_texts(struct store_row *row, const char **texts[])
{
    struct store_key *key = &row->key;
    const char **all[] = {&key->op,     &key->shape, &key->options,  &key->dtype,
                          &key->space,  &key->query, &key->hardware, &row->hardware_name,
                          &row->tiling, &row->answer};
    memcpy(texts, all, sizeof all);
}

enum { TEXTS = 10 };

/* A row and its texts in one piece, which begins with op. */
static char *copy_texts(struct store_row *row)
{
    const char **texts[TEXTS];
    size_t size = 0;
    list_texts(row, texts);
    for (int i = 0; i < TEXTS; i++)
        size += strlen(*texts[i]) + 1;
    char *piece = malloc(size), *at = piece;
    for (int i = 0; piece && i < TEXTS; i++) {
        size_t length = strlen(*texts[i]) + 1;
        memcpy(at, *texts[i], length);
        *texts[i] = at;
        at += length;
    }
    return piece;
}

enum status store_rows_add(struct store_rows *rows, const struct store_row *row,
                           enum store_answers answers, struct error *error)
{
    if (!array_room(&rows->rows, (int64_t)rows->count, sizeof *rows->rows))
        return error_memory(error);
    struct store_row copy = *row;
    if (answers == STORE_NO_ANSWERS)
        copy.answer = "";
    if (!copy_texts(&copy))
        return error_memory(error);
    rows->rows[rows->count++] = copy;
    return STATUS_OK;
}

void store_rows_drop_last(struct store_rows *rows)
{
    union {
        const char *text;
        void *piece;
    } owned = {rows->rows[--rows->count].key.op};
    free(owned.piece);
}

void store_rows_clear(struct store_rows *rows)
{
    while (rows->count)
        store_rows_drop_last(rows);
    free(rows->rows);
    *rows = (struct store_rows){0};
}

struct reading {
    const struct store_filter *filter;
    enum store_answers answers;
    struct store_rows *rows;
};

static enum status keep_if_it_passes(void *context, const struct store_row *row,
                                     struct error *error)
{
    const struct reading *reading = context;
    if (!store_filter_matches(reading->filter, row))
        return STATUS_OK;
    return store_rows_add(reading->rows, row, reading->answers, error);
}

enum status store_rows_read(struct store *store, const struct store_filter *filter,
                            enum store_answers answers, struct store_rows *rows,
                            struct error *error)
{
    struct reading reading = {filter, answers, rows};
    *rows = (struct store_rows){0};
    enum status status = store_each(store, keep_if_it_passes, &reading, error);
    if (status != STATUS_OK)
        store_rows_clear(rows);
    return status;
}
