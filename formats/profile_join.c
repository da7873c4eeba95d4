/* Every file is read twice: first for where its rows are and by which columns they can be told
 * apart, then for their keys, which are numbered. Files are aligned to the first one after the
 * other (formats/align.h), and what only a later one has goes in behind the row before it. */
#include "formats/profile_join.h"

#include "core/array.h"
#include "formats/align.h"
#include "formats/join_parts.h"
#include "formats/profile_parts.h"

#include <ctype.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct key {
    char *text; /* owned */
    int number;
};

/* A file's rows in order, while files are joined. */
struct file_rows {
    int64_t count;
    struct place *places; /* owned */
    int *keys;            /* owned */
};

static const int key_slots[] = {SLOT_NAME,         SLOT_TYPE,         SLOT_BLOCK,
                                SLOT_SUB_BLOCK,    SLOT_INPUT_SHAPES, SLOT_INPUT_TYPES,
                                SLOT_OUTPUT_SHAPES};
enum { KEY_SLOTS = sizeof key_slots / sizeof *key_slots };

/* ------------------------------------------------------------------ keys */

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct key *)a)->text, ((const struct key *)b)->text);
}

static void free_key(void *key)
{
    free(((struct key *)key)->text);
    free(key);
}

static struct key *new_key(const char *text, int number)
{
    struct key *key = malloc(sizeof *key);
    if (!key)
        return NULL;
    key->number = number;
    key->text = strdup(text);
    if (key->text)
        return key;
    free(key);
    return NULL;
}

/* The number of a text; -1 when out of memory. */
static int key_number(struct join_rows *rows, char *text)
{
    struct key sought = {.text = text};
    struct key **found = tfind(&sought, &rows->tree, by_text);
    if (found)
        return (*found)->number;
    struct key *key = new_key(text, rows->key_count);
    if (!key)
        return -1;
    if (!tsearch(key, &rows->tree, by_text)) {
        free_key(key);
        return -1;
    }
    return rows->key_count++;
}

/* Names of communication hold numbers of the process that are others in every run. */
static void put_field(const char *field, bool digits, FILE *out)
{
    int length;
    const char *text = profile_trimmed(field, &length);
    if (!profile_is_absent(text, length))
        for (int i = 0; i < length; i++)
            if (digits || !isdigit((unsigned char)text[i]))
                fputc(text[i], out);
    fputc('\n', out);
}

/* A row that could not be read is like no other: key -1. */
static enum status find_key(struct join_rows *rows, const struct profile_row *row, int *key,
                            struct error *error)
{
    char *text = NULL;
    size_t size = 0;
    *key = -1;
    if (row->broken && !row->name[0])
        return STATUS_OK;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return error_memory(error);
    for (int s = 0; s < KEY_SLOTS; s++)
        if (rows->slots >> key_slots[s] & 1)
            put_field(row->texts[key_slots[s]],
                      key_slots[s] != SLOT_NAME || !profile_runs_elsewhere(row), out);
    bool written = fclose(out) == 0;
    *key = written ? key_number(rows, text) : -1;
    free(text);
    return *key < 0 ? error_memory(error) : STATUS_OK;
}

/* ------------------------------------------------------------------ a file's rows */

/* Which of the columns that keys are made of say something. */
static unsigned slots_of(const struct profile_row *row)
{
    unsigned slots = 0;
    for (int s = 0; s < KEY_SLOTS; s++) {
        int length;
        const char *text = profile_trimmed(row->texts[key_slots[s]], &length);
        if (!profile_is_absent(text, length))
            slots |= 1u << key_slots[s];
    }
    return slots;
}

static enum status scan(struct profile *profile, struct file_rows *file, unsigned *slots,
                        struct error *error)
{
    struct profile_row row;
    *slots = 0;
    for (;;) {
        bool found;
        TRY(profile_next(profile, &row, &found, error));
        if (!found)
            return STATUS_OK;
        if (!array_room(&file->places, file->count, sizeof *file->places))
            return error_memory(error);
        file->places[file->count++] = (struct place){profile_place(profile), row.line};
        *slots |= slots_of(&row);
    }
}

static enum status read_keys(struct profile *profile, struct file_rows *file,
                             struct join_rows *rows, struct error *error)
{
    struct profile_row row;
    file->keys = malloc((size_t)(file->count + 1) * sizeof *file->keys);
    if (!file->keys)
        return error_memory(error);
    for (int64_t i = 0; i < file->count; i++) {
        TRY(join_read_at(profile, file->places[i], &row, error));
        TRY(find_key(rows, &row, &file->keys[i], error));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ joining */

static bool rows_room(struct join_rows *rows, int64_t count)
{
    size_t places = (size_t)count * (size_t)rows->file_count;
    rows->keys = calloc((size_t)count + 1, sizeof *rows->keys);
    rows->places = calloc(places + 1, sizeof *rows->places);
    return rows->keys && rows->places;
}

static void add_row(struct join_rows *rows, int key, const struct place *places)
{
    rows->keys[rows->count] = key;
    memcpy(&rows->places[rows->count++ * rows->file_count], places,
           (size_t)rows->file_count * sizeof *places);
}

/* What the file alone has goes in behind the row that it follows there. */
static bool merge(struct join_rows *rows, int f, const struct file_rows *file, const int *match,
                  const bool *moved)
{
    struct join_rows old = *rows;
    struct place alone[PROFILE_MAX_FILES] = {0};
    int64_t next = 0, b = 0;
    rows->count = 0;
    if (!rows_room(rows, old.count + file->count)) {
        free(old.keys);
        free(old.places);
        return false;
    }
    for (b = 0; b < file->count; b++)
        if (match[b] >= 0)
            old.places[(int64_t)match[b] * old.file_count + f] = file->places[b];
    for (b = 0; b < file->count; b++) {
        for (; match[b] >= 0 && !moved[b] && next <= match[b]; next++)
            add_row(rows, old.keys[next], &old.places[next * old.file_count]);
        alone[f] = file->places[b];
        if (match[b] < 0)
            add_row(rows, file->keys[b], alone);
    }
    for (; next < old.count; next++)
        add_row(rows, old.keys[next], &old.places[next * old.file_count]);
    free(old.keys);
    free(old.places);
    return true;
}

static enum status tell_moved(struct profile_join *join, int f, const struct file_rows *file,
                              const bool *moved, struct error *error)
{
    struct profile_row row;
    for (int64_t b = 0; b < file->count; b++) {
        if (!moved[b])
            continue;
        TRY(join_read_at(&join->files[f], file->places[b], &row, error));
        join_tell(join, &join->files[f], row.line, "'%.255s' stands at another place than in %.80s",
                  row.name, join->files[0].csv.file);
        join->moved_rows++;
    }
    return STATUS_OK;
}

static enum status add_file(struct profile_join *join, int f, const struct file_rows *file,
                            struct error *error)
{
    struct join_rows *rows = join->rows;
    int *match = malloc((size_t)(file->count + 1) * sizeof *match);
    bool *moved = calloc((size_t)file->count + 1, sizeof *moved);
    enum status status = match && moved ? STATUS_OK : error_memory(error);
    if (status == STATUS_OK)
        status = list_align(rows->keys, (int)rows->count, file->keys, (int)file->count,
                            rows->key_count, match, moved, error);
    if (status == STATUS_OK)
        status = tell_moved(join, f, file, moved, error);
    if (status == STATUS_OK && !merge(rows, f, file, match, moved))
        status = error_memory(error);
    free(match);
    free(moved);
    return status;
}

static enum status join_files(struct profile_join *join, struct file_rows *files,
                              struct error *error)
{
    unsigned slots = ~0u;
    if (!rows_room(join->rows, 0))
        return error_memory(error);
    for (int f = 0; f < join->file_count; f++) {
        unsigned used;
        TRY(scan(&join->files[f], &files[f], &used, error));
        slots &= files[f].count ? used : ~0u;
    }
    join->rows->slots = slots;
    unsigned names = 1u << SLOT_NAME | 1u << SLOT_BLOCK | 1u << SLOT_TYPE;
    if (!(slots & names))
        return error_set(error, STATUS_INVALID,
                         "%s and %s: no column that both have tells rows apart, expected Name, "
                         "Op Name, Type or block_id",
                         join->files[0].csv.file, join->files[1].csv.file);
    for (int f = 0; f < join->file_count; f++) {
        TRY(read_keys(&join->files[f], &files[f], join->rows, error));
        TRY(add_file(join, f, &files[f], error));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ the files */

/* By the first mode; what has none comes last. */
static int mode_of(const struct profile *profile)
{
    int mode = 0;
    while (mode < PROFILE_MODES && !(profile->modes >> mode & 1))
        mode++;
    return mode;
}

static int by_mode(const void *left, const void *right)
{
    const struct profile *a = left, *b = right;
    int difference = mode_of(a) - mode_of(b);
    return difference ? difference : strcmp(a->csv.file, b->csv.file);
}

static bool is_of_blocks(const struct profile *profile)
{
    return profile->columns[SLOT_BLOCK] >= 0;
}

/* One kernel beside tables of its blocks (OpBasicInfo) names them. */
static enum status take_kernel(struct profile_join *join, int f, struct error *error)
{
    struct profile *file = &join->files[f];
    struct profile_row row, more;
    bool found, second = false;
    TRY(profile_next(file, &row, &found, error));
    snprintf(join->kernel, sizeof join->kernel, "%s", found ? row.name : "");
    snprintf(join->type, sizeof join->type, "%s", found ? row.type : "");
    if (found)
        TRY(profile_next(file, &more, &second, error));
    if (second)
        return error_set(error, STATUS_INVALID,
                         "%s: rows of several kernels beside tables of the blocks of one, expected "
                         "one row",
                         file->csv.file);
    profile_close(file);
    memmove(file, file + 1, (size_t)(--join->file_count - f) * sizeof *file);
    return STATUS_OK;
}

static enum status take_kernels(struct profile_join *join, struct error *error)
{
    bool blocks = false;
    for (int f = 0; f < join->file_count; f++)
        blocks = blocks || is_of_blocks(&join->files[f]);
    for (int f = join->file_count - 1; f >= 0 && blocks; f--)
        if (!is_of_blocks(&join->files[f]))
            TRY(take_kernel(join, f, error));
    return STATUS_OK;
}

static enum status join_open(struct profile_join *join, struct error *error)
{
    struct file_rows files[PROFILE_MAX_FILES] = {0};
    enum status status = STATUS_OK;
    qsort(join->files, (size_t)join->file_count, sizeof *join->files, by_mode);
    TRY(take_kernels(join, error));
    for (int f = 0; f < join->file_count; f++)
        join->modes |= join->files[f].modes;
    join->format = join->files[0].format;
    join->missing = join->files[0].missing;
    if (join->file_count == 1)
        return STATUS_OK;
    join->rows = calloc(1, sizeof *join->rows);
    if (!join->rows)
        return error_memory(error);
    join->rows->file_count = join->file_count;
    status = join_files(join, files, error);
    for (int f = 0; f < PROFILE_MAX_FILES; f++) {
        free(files[f].places);
        free(files[f].keys);
    }
    return status;
}

enum status profile_join_open(const char *const *files, int count,
                              void (*problem)(void *context, const char *text), void *context,
                              struct profile_join *join, struct error *error)
{
    memset(join, 0, sizeof *join);
    join->problem = problem;
    join->context = context;
    if (count > PROFILE_MAX_FILES)
        return error_set(error, STATUS_INVALID, "%d profiles, expected at most %d", count,
                         (int)PROFILE_MAX_FILES);
    join->files = calloc((size_t)count + 1, sizeof *join->files);
    enum status status = join->files ? STATUS_OK : error_memory(error);
    for (int f = 0; f < count && status == STATUS_OK; f++) {
        status = profile_open(files[f], &join->files[f], error);
        join->file_count += status == STATUS_OK;
    }
    if (status == STATUS_OK)
        status = join_open(join, error);
    if (status != STATUS_OK)
        profile_join_close(join);
    return status;
}

void profile_join_close(struct profile_join *join)
{
    for (int f = 0; f < join->file_count; f++)
        profile_close(&join->files[f]);
    free(join->files);
    if (join->rows) {
        free(join->rows->keys);
        free(join->rows->places);
        tdestroy(join->rows->tree, free_key);
        free(join->rows);
    }
    memset(join, 0, sizeof *join);
}
