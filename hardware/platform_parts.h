/* Internal to hardware/: a platform file while it is laid over a description (platform.c). */
#ifndef AUTOTUNE_HARDWARE_PLATFORM_PARTS_H
#define AUTOTUNE_HARDWARE_PLATFORM_PARTS_H

#include "hardware/ini.h"
#include "hardware/tree.h"

/* ---- which key of a platform file sets which number of a description: platform_rows.c ---- */

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

/* ---- the file at hand ---- */

enum { SOURCE_SIZE = 400, SHOWN = 40 /* bytes of a value in a message */ };

struct platform {
    const struct ini *ini;
    struct tree *tree;
    unsigned kind;    /* one of ROW_UNIFIED and ROW_SPLIT, one of ROW_CACHE and ROW_BUFFER */
    double clock_mhz; /* the file's */
    struct error *error;
};

/* "value of KEY, expected …" at the entry's place. */
enum status platform_expected(const struct ini *ini, const struct ini_entry *entry,
                              const char *expectation, struct error *error);

/* Reads a value in a unit; false when it is none. */
bool platform_value(const char *text, const struct row_unit *unit, double *value);

/* The same of an entry. */
enum status platform_read_entry(const struct platform *p, const struct ini_entry *entry,
                                const struct row_unit *unit, double *value);

/* The first of a row's keys that has a value; else the first that is there at all, or NULL. */
const struct ini_entry *platform_entry(const struct ini *ini, const char *section,
                                       const char *const keys[ROW_KEYS]);

/* Changes a number of the description, which says where it is from. */
enum status platform_set(const struct platform *p, config_setting_t *setting, struct number number,
                         int line, const char *source);

/* To a byte per second or a femtosecond, the finest that the description can hold. */
struct number platform_rounded(double value, double per_unit);

/* A whole number. */
struct number platform_count(double value);

enum status platform_apply_row(const struct platform *p, const struct row *row);

#endif
