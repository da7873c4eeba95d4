/* Which operators there are. */
#ifndef AUTOTUNE_KERNELS_REGISTRY_H
#define AUTOTUNE_KERNELS_REGISTRY_H

#include "core/operator.h"

/* NULL-terminated, in the order of `autotune list ops`. */
extern const struct operator* const operators[];

/* The operator called `name` in any case, or NULL. */
const struct operator* operator_find(const char *name);

/* An operator made of a kernel's text in a file ("-": the standard input), or in memory with a file
 * for messages; the caller frees it after all problems and spaces of it. STATUS_INVALID
 * "file:line:column: …", STATUS_IO. */
enum status operator_read(const char *file, const struct operator** op, struct error *error);
enum status operator_parse(const char *file, const char *text, size_t length,
                           const struct operator** op, struct error *error);
void operator_free(const struct operator* op);

/* The text that such an operator was made of, as it was read. */
const char *operator_source(const struct operator* op);

/* A size, choice or request that has an option on command lines and in sweeps. */
struct operator_option {
    const struct operator* op;
    const char *name;
    char value[64]; /* what it takes: "early|full" */
    const char *help;
    bool of_answers; /* of the main job only */
};

/* All of them by number, operator by operator; false: no more. And those of one operator. */
bool operator_option_at(int number, struct operator_option *option);
bool operator_own_option_at(const struct operator* op, int number, struct operator_option *option);

/* The families of inner loops of all operators' kernels for processors, in order; NULL: no more. */
const struct loop_family *loop_family_at(int number);

/* The space whose tilings stand in the tables of operator libraries, of which there is one, and its
 * operator. */
const struct operator_space *operator_banked(const struct operator** op);

#endif
