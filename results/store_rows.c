/* Picks rows of a store and keeps copies of them. Filters are compared with rows one by one: names
 * without regard to case, shapes and options as patterns (fnmatch), chips by name or by the
 * beginning of the fingerprint. A kept row's texts lie in one piece of memory, which its first
 * text stands for. */
#include "results/store_rows.h"

#include "core/array.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
