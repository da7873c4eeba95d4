/* Every file is read twice: first for where its rows are and by which columns they can be told
 * apart, then for their keys, which are numbered. Files are aligned to the first one after the
 * other (list_align), and what only a later one has goes in behind the row before it. Rows
 * that are the same are then read from where they stand, and what one file has of them is added to
 * what another has: times from the one that knows what was active, each counter from the first that
 * counted it.
 *
 * Things that both lists have equally often are matched by their order. Those among them that stand
 * in order in both, a longest increasing subsequence (Fredman 1975, by patience sorting), divide
 * the lists into stretches; things that one list has more often are then matched stretch by
 * stretch, and at last, whatever is left over, wherever it stands. */
#include "formats/profile_join.h"

#include "core/array.h"
#include "core/status.h"
#include "core/text_stream.h"
#include "formats/profile_columns.h"

#include <ctype.h>
#include <math.h>
#include <search.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Items of each thing as lists in order: next[i] is the item behind i of the same thing; -1. */
struct chains {
    int *first, *count; /* by thing */
    int *next;          /* by item */
};

struct work {
    const int *a, *b;
    int a_count, b_count, key_count;
    struct chains of_a, of_b;
    int *taken;             /* by item of a: the item of b that it is; -1 */
    int *a_place, *b_place; /* the stretch that an item is in */
    int *tails, *before;    /* of the subsequence, by length and by item of b */
    int *match;
    bool *moved;
};

static bool chains_make(const int *keys, int count, int key_count, struct chains *chains)
{
    chains->first = malloc((size_t)(key_count + 1) * sizeof *chains->first);
    chains->count = calloc((size_t)key_count + 1, sizeof *chains->count);
    chains->next = malloc((size_t)(count + 1) * sizeof *chains->next);
    if (!chains->first || !chains->count || !chains->next)
        return false;
    memset(chains->first, -1, (size_t)(key_count + 1) * sizeof *chains->first);
    for (int i = count - 1; i >= 0; i--)
        if (keys[i] >= 0) {
            chains->next[i] = chains->first[keys[i]];
            chains->first[keys[i]] = i;
            chains->count[keys[i]]++;
        }
    return true;
}

static void chains_free(struct chains *chains)
{
    free(chains->first);
    free(chains->count);
    free(chains->next);
}

static void take(struct work *w, int a, int b)
{
    w->match[b] = a;
    w->taken[a] = b;
}

static void match_equal_counts(struct work *w)
{
    for (int key = 0; key < w->key_count; key++) {
        int a = w->of_a.first[key], b = w->of_b.first[key];
        if (w->of_a.count[key] != w->of_b.count[key])
            continue;
        for (; a >= 0; a = w->of_a.next[a], b = w->of_b.next[b])
            take(w, a, b);
    }
}

/* The shortest subsequence so far that ends at `place` or behind it. */
static int length_before(const struct work *w, int length, int place)
{
    int low = 0;
    while (low < length) {
        int middle = low + (length - low) / 2;
        if (w->match[w->tails[middle]] < place)
            low = middle + 1;
        else
            length = middle;
    }
    return low;
}

/* All that is matched has moved, but for a longest subsequence in order. */
static void find_moved(struct work *w)
{
    int length = 0;
    for (int b = 0; b < w->b_count; b++) {
        w->moved[b] = w->match[b] >= 0;
        if (!w->moved[b])
            continue;
        int at = length_before(w, length, w->match[b]);
        w->before[b] = at ? w->tails[at - 1] : -1;
        w->tails[at] = b;
        length = at == length ? length + 1 : length;
    }
    for (int b = length ? w->tails[length - 1] : -1; b >= 0; b = w->before[b])
        w->moved[b] = false;
}

/* Items behind the same item in order are in one stretch, which has that item's number. */
static void find_stretches(struct work *w)
{
    int place = -1;
    for (int b = 0; b < w->b_count; b++) {
        if (w->match[b] >= 0 && !w->moved[b])
            place = w->match[b];
        w->b_place[b] = place;
    }
    place = -1;
    for (int a = 0; a < w->a_count; a++) {
        if (w->taken[a] >= 0 && !w->moved[w->taken[a]])
            place = a;
        w->a_place[a] = place;
    }
}

/* What is left of a thing, those in one stretch, or all the same. */
static void match_left(struct work *w, int key, bool stretches)
{
    int a = w->of_a.first[key], b = w->of_b.first[key];
    while (a >= 0 && b >= 0) {
        int difference = stretches ? w->a_place[a] - w->b_place[b] : 0;
        if (w->taken[a] >= 0 || (w->match[b] < 0 && difference < 0))
            a = w->of_a.next[a];
        else if (w->match[b] >= 0 || difference > 0)
            b = w->of_b.next[b];
        else {
            take(w, a, b);
            a = w->of_a.next[a];
            b = w->of_b.next[b];
        }
    }
}

static bool work_make(struct work *w)
{
    size_t a = (size_t)w->a_count + 1, b = (size_t)w->b_count + 1;
    w->taken = malloc(a * sizeof *w->taken);
    w->a_place = malloc(a * sizeof *w->a_place);
    w->b_place = malloc(b * sizeof *w->b_place);
    w->tails = malloc(b * sizeof *w->tails);
    w->before = malloc(b * sizeof *w->before);
    bool made = chains_make(w->a, w->a_count, w->key_count, &w->of_a);
    made = chains_make(w->b, w->b_count, w->key_count, &w->of_b) && made;
    if (!made || !w->taken || !w->a_place || !w->b_place || !w->tails || !w->before)
        return false;
    memset(w->taken, -1, a * sizeof *w->taken);
    for (int i = 0; i < w->b_count; i++)
        w->match[i] = -1;
    return true;
}

static void work_free(struct work *w)
{
    chains_free(&w->of_a);
    chains_free(&w->of_b);
    free(w->taken);
    free(w->a_place);
    free(w->b_place);
    free(w->tails);
    free(w->before);
}

enum status list_align(const int *a, int a_count, const int *b, int b_count, int key_count,
                       int *match, bool *moved, struct error *error)
{
    struct work w = {.a = a,
                     .b = b,
                     .a_count = a_count,
                     .b_count = b_count,
                     .key_count = key_count,
                     .match = match,
                     .moved = moved};
    bool made = work_make(&w);
    if (made) {
        match_equal_counts(&w);
        find_moved(&w);
        find_stretches(&w);
        for (int key = 0; key < key_count; key++)
            match_left(&w, key, true);
        for (int key = 0; key < key_count; key++)
            match_left(&w, key, false);
        find_moved(&w);
    }
    work_free(&w);
    return made ? STATUS_OK : error_memory(error);
}

/* Where a row stands in a file; line 0: nowhere. */
struct place {
    int64_t at;
    int line;
};

struct join_rows {
    int file_count, key_count;
    int64_t count, room;
    int *keys;            /* by row; owned */
    struct place *places; /* by row and file; owned */
    void *tree;           /* of keys, by text */
    unsigned slots;       /* that keys are made of: bits by enum profile_slot */
};

/* Tells of a problem in a line of a file. */
static __attribute__((format(printf, 4, 5))) void
tell(const struct profile_join *join, const struct profile *file, int line, const char *format, ...)
{
    char text[1024], words[900];
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    if (join->file_count > 1)
        snprintf(text, sizeof text, "%.80s:%d: %s", file->csv.file, line, words);
    else
        snprintf(text, sizeof text, "%d: %s", line, words);
    if (join->problem)
        join->problem(join->context, text);
}

static enum status read_at(struct profile *profile, struct place place, struct profile_row *row,
                           struct error *error)
{
    bool found;
    TRY(profile_seek(profile, place.at, place.line, error));
    return profile_next(profile, row, &found, error);
}

/* ------------------------------------------------------------------ rows */

/* Two runs differ a little; by more than this they did not do the same. */
#define RUNS_DIFFER 0.10

static bool has_activity(const struct profile_row *row)
{
    for (int side = 0; side < PROFILE_SIDES; side++)
        for (int unit = 0; unit < PROFILE_UNITS; unit++)
            if (row->busy_us[side][unit] >= 0)
                return true;
    return false;
}

static double longest_us(const struct profile_row *row)
{
    return fmax(row->core_us[SIDE_CUBE], row->core_us[SIDE_VECTOR]);
}

static void note_times(struct profile_row *row, const struct profile_row *more, const char *file)
{
    double here = longest_us(row), there = longest_us(more);
    if (here > 0 && there > 0 && fabs(here - there) > RUNS_DIFFER * here && !row->note[0])
        snprintf(row->note, sizeof row->note,
                 "its cores ran %.6g us, but %.6g us in %.80s: was it the same kernel?", here,
                 there, file);
}

static void fill_unknown(double *value, double other)
{
    if (*value < 0)
        *value = other;
}

/* Times belong together: those of the row that knows what was active, or else of the first that has
 * any. */
static void add_times(struct profile_row *row, const struct profile_row *more)
{
    bool better = !has_activity(row) && (has_activity(more) || longest_us(row) < 0);
    for (int side = 0; side < PROFILE_SIDES && better; side++) {
        row->core_us[side] = more->core_us[side];
        row->cycles[side] = more->cycles[side];
        memcpy(row->busy_us[side], more->busy_us[side], sizeof row->busy_us[side]);
    }
    fill_unknown(&row->duration_us, more->duration_us);
    fill_unknown(&row->blocks, more->blocks);
}

/* What one file has of a kernel, and another has not. */
static void join_row(struct profile_row *row, const struct profile_row *more, const char *file)
{
    if (!row->type[0])
        snprintf(row->type, sizeof row->type, "%s", more->type);
    for (int slot = 0; slot < PROFILE_TEXTS; slot++) {
        int length;
        const char *text = profile_trimmed(row->texts[slot], &length);
        if (profile_is_absent(text, length))
            row->texts[slot] = more->texts[slot];
    }
    note_times(row, more, file);
    add_times(row, more);
    for (int side = 0; side < PROFILE_SIDES; side++)
        for (int counter = 0; counter < PROFILE_COUNTERS; counter++)
            fill_unknown(&row->counters[side][counter], more->counters[side][counter]);
    row->modes |= more->modes;
}

/* Is it once more there, right behind itself, in the only file that has it? */
static bool is_doubled(const struct profile_join *join, int64_t at)
{
    const struct join_rows *rows = join->rows;
    int have = 0, alone = 0;
    for (int f = 0; f < rows->file_count; f++)
        if (rows->places[at * rows->file_count + f].line) {
            have++;
            alone = f;
        }
    return have == 1 && rows->keys[at] >= 0 && at > 0 && rows->keys[at - 1] == rows->keys[at] &&
           rows->places[(at - 1) * rows->file_count + alone].line;
}

static void tell_missing(struct profile_join *join, int64_t at, const struct profile_row *row,
                         int first)
{
    char others[400] = "";
    const struct join_rows *rows = join->rows;
    for (int f = 0; f < rows->file_count; f++)
        if (!rows->places[at * rows->file_count + f].line)
            snprintf(others + strlen(others), sizeof others - strlen(others), "%s%.80s",
                     *others ? ", " : "", join->files[f].csv.file);
    if (!*others || (row->broken && !row->name[0]))
        return;
    tell(join, &join->files[first], row->line, "'%.255s' is not in %s", row->name, others);
    join->missing_rows++;
}

static void name_block(const struct profile_join *join, struct profile_row *row)
{
    char block[PROFILE_NAME_SIZE];
    if (!join->kernel[0])
        return;
    snprintf(block, sizeof block, "%s", row->name);
    snprintf(row->name, sizeof row->name, "%.180s %.60s", join->kernel, block);
    snprintf(row->type, sizeof row->type, "%s", join->type);
}

static void tell_problem(const struct profile_join *join, const struct profile *file,
                         const struct profile_row *row)
{
    if (row->problem[0])
        tell(join, file, row->line, "%s", row->problem);
}

/* The row at hand of every file that has it, as one; what is broken in one is left to the others.
 */
static enum status read_joined(struct profile_join *join, struct profile_row *row,
                               int lines[PROFILE_MAX_FILES], struct error *error)
{
    struct profile_row more;
    const struct place *places = &join->rows->places[join->at * join->file_count];
    int first = -1;
    profile_row_clear(row);
    for (int f = 0; f < join->file_count; f++) {
        lines[f] = places[f].line;
        if (!places[f].line)
            continue;
        TRY(read_at(&join->files[f], places[f], &more, error));
        tell_problem(join, &join->files[f], &more);
        if (first < 0 || (row->broken && !more.broken)) {
            first = first < 0 ? f : first;
            *row = more;
        } else if (!more.broken)
            join_row(row, &more, join->files[f].csv.file);
    }
    if (first >= 0)
        tell_missing(join, join->at, row, first);
    return STATUS_OK;
}

static enum status tell_doubled(struct profile_join *join, struct error *error)
{
    struct profile_row row;
    const struct place *places = &join->rows->places[join->at * join->file_count];
    for (int f = 0; f < join->file_count; f++)
        if (places[f].line) {
            TRY(read_at(&join->files[f], places[f], &row, error));
            tell(join, &join->files[f], row.line,
                 "'%.255s' is doubled: no other file has it once more, so it is left out",
                 row.name);
        }
    join->doubled_rows++;
    return STATUS_OK;
}

static enum status next_of_one(struct profile_join *join, struct profile_row *row, bool *found,
                               int lines[PROFILE_MAX_FILES], struct error *error)
{
    TRY(profile_next(&join->files[0], row, found, error));
    lines[0] = row->line;
    if (*found)
        tell_problem(join, &join->files[0], row);
    return STATUS_OK;
}

enum status profile_join_next(struct profile_join *join, struct profile_row *row, bool *found,
                              int lines[PROFILE_MAX_FILES], struct error *error)
{
    if (!join->rows)
        TRY(next_of_one(join, row, found, lines, error));
    else {
        while (join->at < join->rows->count && is_doubled(join, join->at)) {
            TRY(tell_doubled(join, error));
            join->at++;
        }
        *found = join->at < join->rows->count;
        if (!*found)
            return STATUS_OK;
        TRY(read_joined(join, row, lines, error));
        join->at++;
    }
    if (*found)
        name_block(join, row);
    return STATUS_OK;
}

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
    FILE *out = text_stream_open(&text, &size);
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

static enum status scan_rows(struct profile *profile, struct file_rows *file, unsigned *slots,
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
        TRY(read_at(profile, file->places[i], &row, error));
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
static bool merge_file(struct join_rows *rows, int f, const struct file_rows *file,
                       const int *match, const bool *moved)
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
        TRY(read_at(&join->files[f], file->places[b], &row, error));
        tell(join, &join->files[f], row.line, "'%.255s' stands at another place than in %.80s",
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
    if (status == STATUS_OK && !merge_file(rows, f, file, match, moved))
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
        TRY(scan_rows(&join->files[f], &files[f], &used, error));
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
