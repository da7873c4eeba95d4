/* Rows that are the same are read from where they stand, and what one file has of them is added to
 * what another has: times from the one that knows what was active, each counter from the first that
 * counted it. */
#include "formats/join_parts.h"

#include "formats/profile_parts.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

void join_tell(const struct profile_join *join, const struct profile *file, int line,
               const char *format, ...)
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

enum status join_read_at(struct profile *profile, struct place place, struct profile_row *row,
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

static void fill(double *value, double other)
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
    fill(&row->duration_us, more->duration_us);
    fill(&row->blocks, more->blocks);
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
            fill(&row->counters[side][counter], more->counters[side][counter]);
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
    join_tell(join, &join->files[first], row->line, "'%.255s' is not in %s", row->name, others);
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
        join_tell(join, file, row->line, "%s", row->problem);
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
        TRY(join_read_at(&join->files[f], places[f], &more, error));
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
            TRY(join_read_at(&join->files[f], places[f], &row, error));
            join_tell(join, &join->files[f], row.line,
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
