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
/* Ratios are printed with few digits, and counters are read one after the other. */
#define ROUNDING 0.01

/* ------------------------------------------------------------------ fields */

static const char *field_of(const struct profile *profile, int slot)
{
    int column = profile->columns[slot];
    return column < 0 || column >= profile->csv.field_count ? "" : profile->csv.fields[column];
}

static bool is_absent(const char *text, int length)
{
    static const char *const absent[] = {"", "N/A", "NA", "-"};
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

/* A number of a column, from 0 to `largest`; -1 where there is none. */
static double number_of(const struct profile *profile, int slot, double largest,
                        const char *expected, struct profile_row *row)
{
    char digits[64];
    int length;
    const char *text = profile_trimmed(field_of(profile, slot), &length);
    if (is_absent(text, length))
        return -1;
    snprintf(digits, sizeof digits, "%.*s", length, text);
    double number =
        length < (int)sizeof digits && !strpbrk(digits, "xXpP") ? number_real(digits) : NAN;
    if (number >= 0 && number <= largest)
        return fabs(number); /* -0 is 0 */
    complain(profile, row, slot, expected);
    return -1;
}

static double time_of(const struct profile *profile, int slot, struct profile_row *row)
{
    return number_of(profile, slot, MAX_US, "expected microseconds, 0 to 86400000000", row);
}

/* ------------------------------------------------------------------ rows */

static void note_difference(const struct profile *profile, int slot, double ratio, double time_us,
                            double core_us, struct profile_row *row)
{
    if (fabs(ratio - time_us / core_us) > ROUNDING && !row->note[0])
        snprintf(row->note, sizeof row->note, "%s says %.3f, the times say %.3f: the times count",
                 profile->names[slot - SLOT_TIME + SLOT_RATIO], ratio, time_us / core_us);
}

/* How long a unit was busy. A little more than its core is rounding; ratios are the core's, which
 * is not known where the `whole` duration stands for it. */
static double busy_of(const struct profile *profile, int slot, double core_us, bool whole,
                      struct profile_row *row)
{
    int ratio_slot = slot - SLOT_TIME + SLOT_RATIO;
    double time_us = time_of(profile, slot, row);
    double ratio = number_of(profile, ratio_slot, 1 + ROUNDING, "expected a share, 0 to 1", row);
    if (core_us >= 0 && time_us > core_us * (1 + ROUNDING) + ROUNDING)
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
    if (row->duration_us < 0 || core_us <= row->duration_us * (1 + ROUNDING) + ROUNDING)
        return;
    snprintf(row->note, sizeof row->note, "%s is %.9g, longer than the %.9g of %s",
             profile->names[slot], core_us, row->duration_us, profile->names[SLOT_DURATION]);
    if (!row->problem[0])
        snprintf(row->problem, sizeof row->problem, "column %s: %.9g is longer than %s, %.9g",
                 profile->names[slot], core_us, profile->names[SLOT_DURATION], row->duration_us);
}

/* Without a time of the core, the whole duration stands for it. */
static void read_times(const struct profile *profile, struct profile_row *row)
{
    row->duration_us = time_of(profile, SLOT_DURATION, row);
    for (int side = 0; side < PROFILE_SIDES; side++) {
        int slot = SLOT_CORE_TIME + side;
        double core_us = row->core_us[side] = time_of(profile, slot, row);
        compare_with_duration(profile, slot, core_us, row);
        bool whole = core_us < 0;
        if (whole)
            core_us = row->duration_us;
        row->cycles[side] =
            number_of(profile, SLOT_CYCLES + side, 1e18, "expected a number of cycles", row);
        for (int unit = 0; unit < PROFILE_UNITS; unit++)
            row->busy_us[side][unit] =
                busy_of(profile, SLOT_TIME + side * PROFILE_UNITS + unit, core_us, whole, row);
    }
    row->blocks = number_of(profile, SLOT_BLOCKS, 1e6, "expected a number of cores", row);
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

static void clear_row(const struct profile *profile, struct profile_row *row)
{
    memset(row, 0, sizeof *row);
    row->line = profile->csv.line;
    row->duration_us = row->blocks = -1;
    for (int slot = 0; slot < PROFILE_TEXTS; slot++)
        row->texts[slot] = "";
    for (int side = 0; side < PROFILE_SIDES; side++) {
        row->core_us[side] = row->cycles[side] = -1;
        for (int unit = 0; unit < PROFILE_UNITS; unit++)
            row->busy_us[side][unit] = -1;
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
    clear_row(profile, row);
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
