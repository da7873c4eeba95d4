/* Every mode's columns become what was done: shares of the cores' time become that time, bandwidths
 * bytes. The profilers compute the operations of the matrix unit from the cycles of its types, so a
 * row that has both says one thing twice: where they disagree, neither is relied on. */
#include "formats/profile_parts.h"

#include <math.h>
#include <string.h>

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
        value = profile_share(profile, slot, row);
        return value < 0 || core_us < 0 ? -1 : fmin(value, 1) * core_us;
    }
    if (is_between(counter, COUNTER_UB_READ, COUNTER_UB_WRITE_SCALAR)) {
        value = profile_number(profile, slot, MOST_GBPS, "expected a bandwidth in GB/s", row);
        return value < 0 || core_us < 0 ? -1 : value * BYTES_PER_GB * core_us * 1e-6;
    }
    if (is_between(counter, COUNTER_BANKGROUP_CONFLICT, COUNTER_RESOURCE_CONFLICT))
        return profile_share(profile, slot, row);
    return profile_number(profile, slot, MOST_COUNT, "expected a count", row);
}

/* ------------------------------------------------------------------ operations of the matrix unit
 */

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
    if (fp16 + int8 > 1 + PROFILE_ROUNDING) {
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
    if (fabs(fops - expected) <= expected * PROFILE_ROUNDING + digits + 1)
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

void profile_read_counters(const struct profile *profile, struct profile_row *row)
{
    row->modes = profile->modes;
    for (int side = 0; side < PROFILE_SIDES; side++) {
        for (int counter = 0; counter < PROFILE_COUNTERS; counter++)
            row->counters[side][counter] = read_counter(profile, side, counter, row);
        check_cube(side, row);
    }
    settle_sides(profile, row);
}
