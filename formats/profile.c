/* Fields are found by slot, whatever their column (profile_columns.c). Times and ratios of a unit
 * say the same twice: the time counts, the ratio fills in where there is none, and a difference is
 * noted. What is wrong with a value spoils its row, never the reading. */
#include "formats/profile_parts.h"

#include "core/number.h"

#include "core/utf8.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* A kernel that takes longer has not been measured: a day. */
#define MAX_US 8.64e10

/* ------------------------------------------------------------------ fields */

static const char *field_of(const struct profile *profile, int slot)
{
    int column = profile->columns[slot];
    return column < 0 || column >= profile->csv.field_count ? "" : profile->csv.fields[column];
}

bool profile_is_absent(const char *text, int length)
{
    static const char *const absent[] = {"", "N/A", "NA", "-", "--", "null", "none"};
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (length == (int)strlen(absent[i]) && strncasecmp(text, absent[i], (size_t)length) == 0)
            return true;
    return false;
}

/* Copies a name; '?' for what is no UTF-8 and for what is not shown. False: it was not UTF-8. */
static bool copy_name(const char *field, char copy[PROFILE_NAME_SIZE])
{
    enum { CUT = PROFILE_NAME_SIZE - 4 };
    int length, used = 0, bytes;
    bool valid = true;
    const char *text = profile_trimmed(field, &length);
    for (int at = 0; at < length; at += bytes ? bytes : 1) {
        bytes = (int)utf8_character(text + at, (size_t)(length - at));
        valid = valid && bytes > 0;
        if (used + (bytes ? bytes : 1) > CUT) {
            used += sprintf(copy + used, "...");
            break;
        }
        bool shown = utf8_shown(text + at, (size_t)(length - at)) > 0;
        if (shown)
            memcpy(copy + used, text + at, (size_t)bytes);
        else
            copy[used] = '?';
        used += shown ? bytes : 1;
    }
    copy[used] = 0;
    return valid;
}

/* ------------------------------------------------------------------ problems */

static void complain(const struct profile *profile, struct profile_row *row, int slot,
                     const char *what)
{
    char shown[CSV_SHOWN_SIZE];
    if (!row->broken)
        snprintf(row->problem, sizeof row->problem, "column %s: '%s': %s", profile->names[slot],
                 csv_shown(field_of(profile, slot), shown), what);
    row->broken = true;
}

/* 1,234,567.8 without its commas; what has others stays as it is. */
static void drop_thousands(char *digits)
{
    size_t first = strspn(digits, "0123456789"), at = first, used = first;
    int groups = 0;
    while (digits[at] == ',' && strspn(digits + at + 1, "0123456789") == 3) {
        at += 4;
        groups++;
    }
    if (!groups || first < 1 || first > 3 || (digits[at] && digits[at] != '.'))
        return;
    for (const char *from = digits + first; *from; from++)
        if (*from != ',')
            digits[used++] = *from;
    digits[used] = 0;
}

static double read_number(const struct profile *profile, int slot, bool share, double largest,
                          const char *expected, struct profile_row *row)
{
    char digits[64];
    int length;
    const char *text = profile_trimmed(field_of(profile, slot), &length);
    double scale = profile->scales[slot];
    if (profile_is_absent(text, length))
        return -1;
    if (share && text[length - 1] == '%') {
        scale = 0.01;
        while (length > 1 && strchr(" %", text[length - 1]))
            length--;
    }
    snprintf(digits, sizeof digits, "%.*s", length, text);
    drop_thousands(digits);
    double number =
        length < (int)sizeof digits && !strpbrk(digits, "xXpP") ? number_real(digits) * scale : NAN;
    if (number >= 0 && number <= largest)
        return fabs(number); /* -0 is 0 */
    complain(profile, row, slot, expected);
    return -1;
}

double profile_number(const struct profile *profile, int slot, double largest, const char *expected,
                      struct profile_row *row)
{
    return read_number(profile, slot, false, largest, expected, row);
}

double profile_share(const struct profile *profile, int slot, struct profile_row *row)
{
    return read_number(profile, slot, true, 1 + PROFILE_ROUNDING, "expected a share, 0 to 1", row);
}

static double time_of(const struct profile *profile, int slot, struct profile_row *row)
{
    return profile_number(profile, slot, MAX_US, "expected microseconds, 0 to 86400000000", row);
}

/* ------------------------------------------------------------------ rows */

static void note_difference(const struct profile *profile, int slot, double ratio, double time_us,
                            double core_us, struct profile_row *row)
{
    if (fabs(ratio - time_us / core_us) > PROFILE_ROUNDING && !row->note[0])
        snprintf(row->note, sizeof row->note, "%s says %.3f, the times say %.3f: the times count",
                 profile->names[slot - SLOT_TIME + SLOT_RATIO], ratio, time_us / core_us);
}

/* The share of the core's time, where its cycles are counted or that is in the file. */
static double share_of(const struct profile *profile, int place, int side, struct profile_row *row)
{
    double ratio = profile_share(profile, SLOT_RATIO + place, row);
    double cycles =
        profile_number(profile, SLOT_UNIT_CYCLES + place, 1e18, "expected a number of cycles", row);
    if (ratio >= 0 || cycles < 0 || !(row->cycles[side] > 0))
        return ratio;
    if (cycles > row->cycles[side] * (1 + PROFILE_ROUNDING))
        complain(profile, row, SLOT_UNIT_CYCLES + place, "more than its core's");
    return cycles / row->cycles[side];
}

/* How long a unit was busy. A little more than its core is rounding; ratios are the core's, which
 * is not known where the `whole` duration stands for it. */
static double busy_of(const struct profile *profile, int side, int unit, double core_us, bool whole,
                      struct profile_row *row)
{
    int place = side * PROFILE_UNITS + unit, slot = SLOT_TIME + place;
    double time_us = time_of(profile, slot, row);
    double ratio = share_of(profile, place, side, row);
    if (core_us >= 0 && time_us > core_us * (1 + PROFILE_ROUNDING) + PROFILE_ROUNDING)
        complain(profile, row, slot, "longer than its core");
    if (time_us >= 0 && ratio >= 0 && core_us > 0 && !whole)
        note_difference(profile, slot, ratio, time_us, core_us, row);
    if (time_us < 0 && ratio >= 0 && core_us >= 0)
        time_us = ratio * core_us;
    return core_us >= 0 && time_us > core_us ? core_us : time_us;
}

/* A task lasts at least as long as its cores ran. */
static void compare_with_duration(const struct profile *profile, int slot, double core_us,
                                  struct profile_row *row)
{
    if (row->duration_us < 0 ||
        core_us <= row->duration_us * (1 + PROFILE_ROUNDING) + PROFILE_ROUNDING)
        return;
    snprintf(row->note, sizeof row->note, "%s is %.9g, longer than the %.9g of %s",
             profile->names[slot], core_us, row->duration_us, profile->names[SLOT_DURATION]);
    if (!row->problem[0])
        snprintf(row->problem, sizeof row->problem, "column %s: %.9g is longer than %s, %.9g",
                 profile->names[slot], core_us, profile->names[SLOT_DURATION], row->duration_us);
}

static void read_side(const struct profile *profile, int side, struct profile_row *row)
{
    double core_us = row->core_us[side] = time_of(profile, SLOT_CORE_TIME + side, row);
    bool whole = core_us < 0;
    row->cycles[side] =
        profile_number(profile, SLOT_CYCLES + side, 1e18, "expected a number of cycles", row);
    for (int unit = 0; unit < PROFILE_UNITS; unit++)
        row->busy_us[side][unit] =
            busy_of(profile, side, unit, whole ? row->duration_us : core_us, whole, row);
}

/* Without a time of the core, the whole duration stands for it. */
static void read_times(const struct profile *profile, struct profile_row *row)
{
    row->duration_us = time_of(profile, SLOT_DURATION, row);
    for (int side = 0; side < PROFILE_SIDES; side++)
        read_side(profile, side, row);
    row->blocks = row->is_block ? 1
                                : profile_number(profile, SLOT_BLOCKS, 1e6,
                                                 "expected a number of cores", row);
    profile_read_counters(profile, row);
    for (int side = 0; side < PROFILE_SIDES; side++)
        if (profile_side_ran(row, side))
            compare_with_duration(profile, SLOT_CORE_TIME + side, row->core_us[side], row);
    if (!row->note[0] && profile->lacking[0])
        snprintf(row->note, sizeof row->note, "no column %.240s", profile->lacking);
}

static void read_names(const struct profile *profile, struct profile_row *row)
{
    char sub_block[PROFILE_NAME_SIZE];
    for (int slot = 0; slot < PROFILE_TEXTS; slot++)
        row->texts[slot] = field_of(profile, slot);
    int slot = profile->columns[SLOT_NAME] >= 0    ? SLOT_NAME
               : profile->columns[SLOT_BLOCK] >= 0 ? SLOT_BLOCK
                                                   : SLOT_TYPE;
    bool valid = copy_name(row->texts[slot], row->name);
    if (slot == SLOT_BLOCK) {
        char block[32];
        snprintf(block, sizeof block, "%.31s", row->name);
        valid = copy_name(row->texts[SLOT_SUB_BLOCK], sub_block) && valid;
        snprintf(row->name, sizeof row->name, "block %s%s%.200s", block, *sub_block ? " " : "",
                 sub_block);
    }
    if (!copy_name(row->texts[SLOT_TYPE], row->type))
        valid = false, slot = SLOT_TYPE;
    if (!valid)
        snprintf(row->problem, sizeof row->problem,
                 "column %s: not UTF-8: such bytes are shown as ?", profile->names[slot]);
}

/* Commas at the end of a line are no fields. */
static bool has_its_fields(const struct profile *profile, struct profile_row *row)
{
    const struct csv *csv = &profile->csv;
    int count = csv->field_count;
    while (count > profile->column_count && !csv->fields[count - 1][0])
        count--;
    if (count == profile->column_count)
        return true;
    snprintf(row->problem, sizeof row->problem, "%d fields, expected %d", count,
             profile->column_count);
    row->broken = true;
    return false;
}

void profile_row_clear(struct profile_row *row)
{
    memset(row, 0, sizeof *row);
    row->duration_us = row->blocks = -1;
    for (int slot = 0; slot < PROFILE_TEXTS; slot++)
        row->texts[slot] = "";
    for (int side = 0; side < PROFILE_SIDES; side++) {
        row->core_us[side] = row->cycles[side] = -1;
        for (int unit = 0; unit < PROFILE_UNITS; unit++)
            row->busy_us[side][unit] = -1;
        for (int counter = 0; counter < PROFILE_COUNTERS; counter++)
            row->counters[side][counter] = -1;
    }
}

/* "file:line: text" without the place. */
static void take_error(const struct profile *profile, const struct error *error,
                       struct profile_row *row)
{
    const char *text = error->text;
    if (strncmp(text, profile->csv.file, strlen(profile->csv.file)) == 0)
        text += strlen(profile->csv.file);
    text += strspn(text, ":0123456789 ");
    snprintf(row->problem, sizeof row->problem, "%.255s", text);
    row->broken = true;
}

enum status profile_next(struct profile *profile, struct profile_row *row, bool *found,
                         struct error *error)
{
    struct error broken = {0};
    enum status status = csv_next(&profile->csv, found, &broken);
    profile_row_clear(row);
    row->line = profile->csv.line;
    row->is_block = profile->columns[SLOT_BLOCK] >= 0;
    if (status == STATUS_INVALID) {
        take_error(profile, &broken, row);
        csv_skip(&profile->csv);
        return STATUS_OK;
    }
    if (status != STATUS_OK)
        return error_set(error, status, "%s", broken.text);
    if (*found && has_its_fields(profile, row)) {
        read_names(profile, row);
        read_times(profile, row);
    }
    return STATUS_OK;
}

int64_t profile_place(const struct profile *profile)
{
    return csv_place(&profile->csv);
}

enum status profile_seek(struct profile *profile, int64_t place, int line, struct error *error)
{
    return csv_seek(&profile->csv, place, line, error);
}

/* ------------------------------------------------------------------ the file */

enum status profile_open(const char *file, struct profile *profile, struct error *error)
{
    bool found = false;
    memset(profile, 0, sizeof *profile);
    enum status status = csv_open(file, &profile->csv, error);
    if (status != STATUS_OK)
        return status;
    status = csv_next(&profile->csv, &found, error);
    if (status == STATUS_OK)
        status = profile_find_columns(profile, error);
    if (status != STATUS_OK)
        profile_close(profile);
    return status;
}

void profile_close(struct profile *profile)
{
    csv_close(&profile->csv);
}
