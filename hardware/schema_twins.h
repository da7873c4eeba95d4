/* Numbers that a description gives in ns, GB/s or GFLOP/s, or in cycles of the chip's clock.
 *
 * What a core does by itself takes cycles, and a description that says so follows `clock_mhz`,
 * whoever changes it. Both spellings are one number: its key is the one in ns, under which facts,
 * fits and the loader know it; the other is how a file or a change may give it, and how it is
 * written again. */
#ifndef AUTOTUNE_HARDWARE_SCHEMA_TWINS_H
#define AUTOTUNE_HARDWARE_SCHEMA_TWINS_H

#include "hardware/tree.h"

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
