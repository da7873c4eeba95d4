/* Fields are found by slot, whatever their column (profile_columns.c). Times and ratios of a unit
 * say the same twice: the time counts, the ratio fills in where there is none, and a difference is
 * noted. A row's columns tell which cores ran: what did something, or has a time of its own; where
 * one kind of cores has no cycles, some profilers write a time of the other's beside it. Counters
 * become what was done: shares of the cores' time become that time, bandwidths bytes. The profilers
 * compute the operations of the matrix unit from the cycles of its types, so a row that has both
 * says one thing twice: where they disagree, neither is relied on. What is wrong with a value
 * spoils its row, never the reading. */
#include "core/number.h"
#include "core/utf8.h"
#include "formats/profile_columns.h"

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

static void note_broken(const struct profile *profile, struct profile_row *row, int slot,
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
    note_broken(profile, row, slot, expected);
    return -1;
}

/* A number of a column, from 0 to `largest`, scaled; -1 where there is none. */
static double number_of(const struct profile *profile, int slot, double largest,
                        const char *expected, struct profile_row *row)
{
    return read_number(profile, slot, false, largest, expected, row);
}

/* The same of a share, which may be in percent: a little more than 1 is rounding. */
static double share_in(const struct profile *profile, int slot, struct profile_row *row)
{
    return read_number(profile, slot, true, 1 + ROUNDING, "expected a share, 0 to 1", row);
}

static double time_of(const struct profile *profile, int slot, struct profile_row *row)
{
    return number_of(profile, slot, MAX_US, "expected microseconds, 0 to 86400000000", row);
}

/* ------------------------------------------------------------------ cores */

static bool did_something(const struct profile_row *row, int side)
{
    for (int unit = 0; unit < PROFILE_UNITS; unit++)
        if (row->busy_us[side][unit] > 0)
            return true;
    for (int counter = 0; counter < PROFILE_COUNTERS; counter++)
        if (row->counters[side][counter] > 0)
            return true;
    return false;
}

static bool knows_side(const struct profile_row *row, int side)
{
    for (int unit = 0; unit < PROFILE_UNITS; unit++)
        if (row->busy_us[side][unit] >= 0)
            return true;
    for (int counter = 0; counter < PROFILE_COUNTERS; counter++)
        if (row->counters[side][counter] >= 0)
            return true;
    return row->core_us[side] > 0;
}

bool profile_side_ran(const struct profile_row *row, int side)
{
    int other = PROFILE_SIDES - 1 - side;
    if (did_something(row, side))
        return true;
    bool idle = row->cycles[side] == 0 && row->core_us[other] > 0 && row->cycles[other] != 0;
    return knows_side(row, side) && row->core_us[side] > 0 && !idle;
}

bool profile_runs_elsewhere(const struct profile_row *row)
{
    static const char *const kinds[] = {"AI_CPU", "HCCL", "COMMUNICATION", "DSA_SQE", "DVPP"};
    int length;
    const char *kind = profile_trimmed(row->texts[SLOT_CORE_TYPE], &length);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((int)strlen(kinds[i]) == length && strncasecmp(kind, kinds[i], (size_t)length) == 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------ counters */

/* Operations of a block of 16 x 16 x 16 in FP16, and of 16 x 32 x 16 in INT8, which take a cycle
 * each. */
enum { FP16_OPERATIONS = 8192, INT8_OPERATIONS = 16384 };

/* Ratios have three digits behind the point. */
#define DIGIT 0.0005

/* More than any chip moves or computes. */
#define MOST_COUNT   1e24
#define MOST_GBPS    1e6
#define BYTES_PER_GB 1e9

static bool is_between(int counter, int first, int last)
{
    return counter >= first && counter <= last;
}

/* How long its cores ran, or as far as is known the whole of it; -1. */
static double side_us(const struct profile_row *row, int side)
{
    return row->core_us[side] >= 0 ? row->core_us[side] : row->duration_us;
}

static double read_counter(const struct profile *profile, int side, int counter,
                           struct profile_row *row)
{
    int slot = SLOT_COUNTER + side * PROFILE_COUNTERS + counter;
    double core_us = side_us(row, side), value;
    if (is_between(counter, COUNTER_MAC_FP16, COUNTER_VEC_MISC)) {
        value = share_in(profile, slot, row);
        return value < 0 || core_us < 0 ? -1 : fmin(value, 1) * core_us;
    }
    if (is_between(counter, COUNTER_UB_READ, COUNTER_UB_WRITE_SCALAR)) {
        value = number_of(profile, slot, MOST_GBPS, "expected a bandwidth in GB/s", row);
        return value < 0 || core_us < 0 ? -1 : value * BYTES_PER_GB * core_us * 1e-6;
    }
    if (is_between(counter, COUNTER_BANKGROUP_CONFLICT, COUNTER_RESOURCE_CONFLICT))
        return share_in(profile, slot, row);
    return number_of(profile, slot, MOST_COUNT, "expected a count", row);
}

/* What is counted of the matrix unit is not used where it cannot be. */
static void drop_cube(int side, struct profile_row *row, const char *why)
{
    double *counters = row->counters[side];
    counters[COUNTER_MAC_FP16] = counters[COUNTER_MAC_INT8] = counters[COUNTER_CUBE_FOPS] = -1;
    if (!row->problem[0])
        snprintf(row->problem, sizeof row->problem, "%s", why);
    if (!row->note[0])
        snprintf(row->note, sizeof row->note, "%s: they are not used", why);
}

static void check_cube(int side, struct profile_row *row)
{
    const double *counters = row->counters[side];
    double fp16_us = counters[COUNTER_MAC_FP16], int8_us = counters[COUNTER_MAC_INT8];
    double fops = counters[COUNTER_CUBE_FOPS], cycles = row->cycles[side];
    double core_us = side_us(row, side);
    char why[PROFILE_PROBLEM_SIZE];
    if (fp16_us < 0 || int8_us < 0 || !(core_us > 0))
        return;
    double fp16 = fp16_us / core_us, int8 = int8_us / core_us;
    if (fp16 + int8 > 1 + ROUNDING) {
        snprintf(why, sizeof why,
                 "mac_fp16_ratio and mac_int8_ratio are %.9g together, expected "
                 "at most 1",
                 fp16 + int8);
        drop_cube(side, row, why);
        return;
    }
    if (fops < 0 || cycles < 0)
        return;
    double expected = (FP16_OPERATIONS * fp16 + INT8_OPERATIONS * int8) * cycles;
    double digits = (FP16_OPERATIONS + INT8_OPERATIONS) * DIGIT * cycles;
    if (fabs(fops - expected) <= expected * ROUNDING + digits + 1)
        return;
    snprintf(why, sizeof why,
             "cube_fops is %.9g, expected (8192 mac_fp16_ratio + 16384 mac_int8_ratio) "
             "total_cycles, %.9g",
             fops, expected);
    drop_cube(side, row, why);
}

/* ------------------------------------------------------------------ sides */

/* Columns without a prefix in a table of a split chip: the unified buffer is the vector cores', and
 * all the rest too where they alone ran. */
static void settle_sides(const struct profile *profile, struct profile_row *row)
{
    static const int of_vector[] = {
        COUNTER_GM_TO_UB,           COUNTER_UB_TO_GM,       COUNTER_UB_READ,
        COUNTER_UB_WRITE,           COUNTER_UB_READ_VECTOR, COUNTER_UB_WRITE_VECTOR,
        COUNTER_BANKGROUP_CONFLICT, COUNTER_BANK_CONFLICT,  COUNTER_RESOURCE_CONFLICT};
    bool alone = row->core_us[SIDE_VECTOR] > 0 && !(row->core_us[SIDE_CUBE] > 0);
    double *cube = row->counters[SIDE_CUBE], *vector = row->counters[SIDE_VECTOR];
    if (profile->columns[SLOT_CORE_TIME + SIDE_VECTOR] < 0)
        return;
    for (size_t i = 0; i < sizeof of_vector / sizeof *of_vector; i++) {
        int counter = of_vector[i];
        if (vector[counter] < 0)
            vector[counter] = cube[counter];
        cube[counter] = -1;
    }
    for (int counter = 0; counter < PROFILE_COUNTERS && alone; counter++)
        if (vector[counter] < 0) {
            vector[counter] = cube[counter];
            cube[counter] = -1;
        }
}

/* Fills counters and modes of a row that has its times. */
static void read_counters(const struct profile *profile, struct profile_row *row)
{
    row->modes = profile->modes;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        for (int counter = 0; counter < PROFILE_COUNTERS; counter++)
            row->counters[side][counter] = read_counter(profile, side, counter, row);
        check_cube(side, row);
    }
    settle_sides(profile, row);
}

/* ------------------------------------------------------------------ rows */

static void note_difference(const struct profile *profile, int slot, double ratio, double time_us,
                            double core_us, struct profile_row *row)
{
    if (fabs(ratio - time_us / core_us) > ROUNDING && !row->note[0])
        snprintf(row->note, sizeof row->note, "%s says %.3f, the times say %.3f: the times count",
                 profile->names[slot - SLOT_TIME + SLOT_RATIO], ratio, time_us / core_us);
}

/* The share of the core's time, where its cycles are counted or that is in the file. */
static double share_of_unit(const struct profile *profile, int place, int side,
                            struct profile_row *row)
{
    double ratio = share_in(profile, SLOT_RATIO + place, row);
    double cycles =
        number_of(profile, SLOT_UNIT_CYCLES + place, 1e18, "expected a number of cycles", row);
    if (ratio >= 0 || cycles < 0 || !(row->cycles[side] > 0))
        return ratio;
    if (cycles > row->cycles[side] * (1 + ROUNDING))
        note_broken(profile, row, SLOT_UNIT_CYCLES + place, "more than its core's");
    return cycles / row->cycles[side];
}

/* How long a unit was busy. A little more than its core is rounding; ratios are the core's, which
 * is not known where the `whole` duration stands for it. */
static double busy_of(const struct profile *profile, int side, int unit, double core_us, bool whole,
                      struct profile_row *row)
{
    int place = side * PROFILE_UNITS + unit, slot = SLOT_TIME + place;
    double time_us = time_of(profile, slot, row);
    double ratio = share_of_unit(profile, place, side, row);
    if (core_us >= 0 && time_us > core_us * (1 + ROUNDING) + ROUNDING)
        note_broken(profile, row, slot, "longer than its core");
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

static void read_side(const struct profile *profile, int side, struct profile_row *row)
{
    double core_us = row->core_us[side] = time_of(profile, SLOT_CORE_TIME + side, row);
    bool whole = core_us < 0;
    row->cycles[side] =
        number_of(profile, SLOT_CYCLES + side, 1e18, "expected a number of cycles", row);
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
    row->blocks =
        row->is_block ? 1 : number_of(profile, SLOT_BLOCKS, 1e6, "expected a number of cores", row);
    read_counters(profile, row);
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
