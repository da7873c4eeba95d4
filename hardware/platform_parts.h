/* Internal to hardware/: a platform file while it is laid over a description (platform.c). */
#ifndef AUTOTUNE_HARDWARE_PLATFORM_PARTS_H
#define AUTOTUNE_HARDWARE_PLATFORM_PARTS_H

#include "hardware/ini.h"
#include "hardware/platform_rows.h"
#include "hardware/tree.h"

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
