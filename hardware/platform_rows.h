/* Which key of a platform file sets which number of a description. */
#ifndef AUTOTUNE_HARDWARE_PLATFORM_ROWS_H
#define AUTOTUNE_HARDWARE_PLATFORM_ROWS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    ROW_UNIFIED = 1, /* cores with a matrix and a vector unit */
    ROW_SPLIT = 2,   /* cube cores and vector cores */
    ROW_CACHE = 4,   /* L2 is a cache: traffic with global memory goes at its rate */
    ROW_BUFFER = 8,  /* L2 is not between the cores and global memory */
    ROW_KEYS = 4,
};

struct row_unit {
    const char *name;
    double low, high; /* inclusive */
    bool whole, fraction;
    const char *source; /* how the description's number follows from the file's */
};

struct row {
    unsigned kinds; /* the row counts where all bits of the file's kind are in it */
    bool required;
    const char *section;
    const char *keys[ROW_KEYS]; /* the first that has a value counts */
    const struct row_unit *unit;
    const char *target; /* dotted key */
};

extern const struct row_unit row_unit_mhz, row_unit_elements, row_unit_per_cycle;
extern const struct row platform_clock, platform_rows[];
extern const size_t platform_row_count;

#endif
