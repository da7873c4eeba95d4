/* Which operators there are. */
#ifndef AUTOTUNE_KERNELS_REGISTRY_H
#define AUTOTUNE_KERNELS_REGISTRY_H

#include "core/operator.h"

/* NULL-terminated, in the order of `autotune list ops`. */
extern const struct operator* const operators[];

/* The operator called `name` in any case, or NULL. */
const struct operator* operator_find(const char *name);

/* A size, choice or request that has an option on command lines and in sweeps. */
struct operator_option {
    const struct operator* op;
    const char *name;
    char value[64]; /* what it takes: "early|full" */
    const char *help;
    bool of_answers; /* of the main job only */
};

/* All of them by number, operator by operator; false: no more. */
bool operator_option_at(int number, struct operator_option *option);

/* The families of inner loops of all operators' kernels for processors, in order; NULL: no more. */
const struct loop_family *loop_family_at(int number);

/* The space whose tilings stand in the tables of operator libraries, of which there is one, and its
 * operator. */
const struct operator_space *operator_banked(const struct operator** op);

#endif
