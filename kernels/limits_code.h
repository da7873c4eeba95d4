/* Code in C that says of a tiling, found for one shape, whether it breaks a limit for another: what
 * the header of a table re-checks its neighbours with. Tilings of one structure share a function,
 * whose body is a text that stands behind
 *
 *   static inline int NAME(const struct OP *entry, const int64_t *size) {
 *
 * and names an entry's values as the header does (formats/table.h). It calls PREFIX_table_mul and
 * others that table_write_c puts before it. */
#ifndef AUTOTUNE_KERNELS_LIMITS_CODE_H
#define AUTOTUNE_KERNELS_LIMITS_CODE_H

#include "core/operator.h"
#include "formats/table.h"

/* What a tiling of a table was found for. */
struct limits_asked {
    const struct problem *problem;
    const struct hardware *hw;
    int cores;
    const struct table_part *part;
    const struct table_entry *entry;
    const char *prefix;
};

struct limits_body {
    char *text;
    void *key; /* of the structure, for who makes them */
    size_t key_bytes;
    char why[200]; /* where text is NULL: why its limits cannot be said */
};

/* Those of a part, each once. */
struct limits_code {
    int count;
    struct limits_body *bodies;
};

void limits_code_clear(struct limits_code *code);

#endif
