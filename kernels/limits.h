/* What does not fit, counted and said: shared by the legality of every space. With list = NULL
 * violations are only counted, so that a space's `legal` and its `violations` are one function. */
#ifndef AUTOTUNE_KERNELS_LIMITS_H
#define AUTOTUNE_KERNELS_LIMITS_H

#include "core/operator.h"

/* For sizes that a user may have typed: INT64_MAX instead of wrapping. */
int64_t product_of(int64_t a, int64_t b);
int64_t sum_of(int64_t a, int64_t b);

/* Bytes of a buffer; INT64_MAX where it is not limited. */
int64_t capacity_of(const struct hardware *hw, int buffer);

/* Appends a text, as printf does. */
void add_text(struct violation list[MAX_VIOLATIONS], int *count, const char *limit,
              const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Appends "limit: contents N bytes of M, D too many" where needed > available; contents are what
 * takes them, with "take" or "takes". */
void add_excess(struct violation list[MAX_VIOLATIONS], int *count, const char *limit,
                const char *contents, int64_t needed_bytes, int64_t available_bytes);

/* What a kernel keeps in the buffers of a core at once, in the order in which it is told. */
enum core_need { CORE_L0A, CORE_L0B, CORE_L0C, CORE_UB, CORE_L1, CORE_NEEDS };
struct core_needs {
    const struct hardware *hw;
    int buffer[CORE_NEEDS];
    int64_t bytes[CORE_NEEDS]; /* all copies counted */
};

/* Do they fit, up to and with the last one? */
bool needs_fit(const struct core_needs *needs, enum core_need last);

/* Appends what add_excess says of each that does not. */
void add_needs(struct violation list[MAX_VIOLATIONS], int *count, const struct core_needs *needs,
               const char *const contents[CORE_NEEDS]);

/* Appends "axis=value is no `kind`; next below above" for a value that an axis does not have; 0
 * stands for no such neighbour. */
void add_value(struct violation list[MAX_VIOLATIONS], int *count, const char *axis, int64_t value,
               const char *kind, int64_t below, int64_t above);

/* The same of a word. */
void add_word(struct violation list[MAX_VIOLATIONS], int *count, const char *axis,
              const char *word);

/* Is `value` on the axis of a block? If not, the values next to it, 0 for none. */
bool on_axis(const struct space_block *block, int axis, int64_t value, int64_t *below,
             int64_t *above);

/* Appends the same for `cores`: equal work is for the numbers of cores c with c =
 * divide_up(units, divide_up(units, c)), from `least` to `most` (is_slice with blocks of 1). */
void add_core_count(struct violation list[MAX_VIOLATIONS], int *count, int64_t cores, int64_t units,
                    int64_t least, int64_t most);

/* Is a program of so many instructions not too long to be simulated? If it is, appends
 * "instructions: …". */
static inline bool is_executable(double instructions)
{
    return instructions <= (double)PROGRAM_MAX_EXECUTED;
}

void add_length(struct violation list[MAX_VIOLATIONS], int *count, double instructions);

#endif
