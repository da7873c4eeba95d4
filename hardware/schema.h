/* Which keys a description has, and the type, range and provenance of each: what can be said about
 * one group at a time. Rules between groups are build.c's. */
#ifndef AUTOTUNE_HARDWARE_SCHEMA_H
#define AUTOTUNE_HARDWARE_SCHEMA_H

#include "hardware/tree.h"

/* A whole description, or a variant (base, name, source, set). STATUS_INVALID with the first
 * broken key; afterwards every key that build.c asks for is there and has its type and range. */
enum status schema_check_description(const struct tree *tree, struct error *error);
enum status schema_check_variant(const struct tree *tree, struct error *error);

/* Is it the description of a processor as measured, which has a group `host` and no chip's keys? */
bool schema_is_processor(const struct tree *tree);

/* Members of a checked group; 0, false or NULL where the group does not have the key. Top-level
 * numbers are groups of value and source and read like the others. */
int64_t schema_count(const config_setting_t *group, const char *key);
/* One that stands in cycles as its key says it. */
double schema_real(const config_setting_t *group, const char *key);
bool schema_flag(const config_setting_t *group, const char *key);
const char *schema_text(const config_setting_t *group, const char *key);

/* A member of a group, in either spelling of its key; NULL without it. */
const config_setting_t *schema_member(const config_setting_t *group, const char *key);

/* ---- numbers that stand in ns, GB/s or GFLOP/s, or in cycles of the chip's clock ----
 *
 * What a core does by itself takes cycles, and a description that says so follows `clock_mhz`,
 * whoever changes it. Both spellings are one number: its key is the one in ns, under which facts,
 * fits and the loader know it; the other is how a file or a change may give it, and how it is
 * written again. */

enum twin_form {
    TWIN_TIME,  /* ns and cycles */
    TWIN_RATE,  /* GB/s and bytes a cycle */
    TWIN_BLOCK, /* GFLOP/s and cycles for the group's block_flop */
};

struct twin {
    const char *key;    /* last name of the dotted key */
    const char *cycles; /* the same in cycles */
    const char *unit;   /* of that, behind a number */
    enum twin_form form;
};

/* The row of a name in either spelling, any case; NULL for other names and for NULL. */
const struct twin *twin_of(const char *name);

/* The value of a number in its other spelling, at the clock that the description has now; rounded
 * to what both can hold. `place` is the number or the group that has it. */
double twin_convert(const config_setting_t *place, const struct twin *twin, bool to_cycles,
                    double value);

/* The twin of a number that stands in cycles, *value then as its key says it; else NULL and the
 * number as it is. */
const struct twin *twin_number(const config_setting_t *number, struct number *value);

/* A dotted key in its other spelling; false when it has none. */
bool twin_other_key(const char *key, char other[TREE_KEY_SIZE]);

/* The number of a dotted key in whichever spelling the description has; NULL without one. */
config_setting_t *twin_find(const struct tree *tree, const char *key);

/* Gives a number its other spelling and leaves the value, which the caller then overrides. False
 * without memory. */
bool twin_respell(config_setting_t *number);

#endif
