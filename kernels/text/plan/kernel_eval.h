/* A kernel's expressions in numbers: for given sizes, values of axes and rounds of loops.
 *
 *   struct kernel_values *values = calloc(1, sizeof *values);     a few KB: no place for a stack
 *   kernel_values_set(values, &kernel, hw, dtype, given, &error)  sizes; no axis has a value yet
 *   for each axis, in their order:
 *       kernel_axis_values(values, axis, &list, &error)           what it may be, from those above
 *       values->axes[axis] = …                                    of words: the number of the word
 *   values->sizes[n] = a core's share                             where cores divide a size
 *   kernel_loop_count(values, loop, &count, &error)               how many rounds it has
 *   kernel_loop_enter(values, loop, round, &error)                from here on that one is current
 *   kernel_number(values, expression, &number, &error)            whole numbers and conditions
 *
 * Whoever asks for a range has entered its loop, after those around it. Numbers are exact: what
 * goes beyond ±2^62, divides by 0 or asks log2 of less than 1 is STATUS_INVALID, "line:column: …",
 * as is a loop by less than 1; whoever knows the file puts it before that. */
#ifndef AUTOTUNE_KERNELS_TEXT_PLAN_KERNEL_EVAL_H
#define AUTOTUNE_KERNELS_TEXT_PLAN_KERNEL_EVAL_H

#include "core/hardware.h"
#include "kernels/text/kernel_text.h"

enum { KERNEL_MAX_VALUES = 1 << 16 }; /* of an axis */

/* What a size, a let or a loop's round is: `length` elements from `begin` on. */
struct kernel_range {
    int64_t begin, length;
    bool is_first, is_last; /* of rounds: of their loop's */
};

struct kernel_values {
    const struct kernel_text *kernel;            /* not owned */
    const struct hardware *hw;                   /* not owned; asked by lanes() and has() */
    enum dtype dtype, result;                    /* of elements; of results, as --out-type says */
    int64_t pads[KERNEL_MAX_SIZES];              /* what sizes are multiples of */
    int64_t given[KERNEL_MAX_SIZES];             /* sizes, as tensors in memory have them */
    int64_t wholes[KERNEL_MAX_SIZES];            /* the same, rounded up to their pads */
    struct kernel_range sizes[KERNEL_MAX_SIZES]; /* the same, or a core's share of it */
    int64_t axes[KERNEL_MAX_AXES];
    int64_t cores;                               /* that work, where they share something */
    struct kernel_range loops[KERNEL_MAX_LOOPS]; /* their current rounds */
    bool is_shared[KERNEL_MAX_LETS];             /* lets of which a core has a share: */
    struct kernel_range lets[KERNEL_MAX_LETS];   /* that */
    uint64_t kept;                               /* lets, bits, that were computed: */
    int64_t numbers[KERNEL_MAX_LETS];            /* what they are */
    uint64_t dealt;                              /* loops, bits, of which each core plays a part: */
    int dealers;                                 /* of so many */
};

/* Begins with these sizes, one for each of the kernel's, each at least 1, no shares, and results in
 * their usual type. */
enum status kernel_values_set(struct kernel_values *values, const struct kernel_text *kernel,
                              const struct hardware *hw, enum dtype dtype, const int64_t given[],
                              struct error *error);

/* The value of a whole expression; of a condition 0 or 1. */
enum status kernel_number(const struct kernel_values *values, const struct expression *expression,
                          int64_t *number, struct error *error);

/* Computes each let that no loop changes once, for the sizes, shares, cores and axes of now:
 * whoever changes these afterwards sets `kept` to 0. */
void kernel_keep_lets(struct kernel_values *values);

/* An operation of whole numbers, or a comparison of two, whose result is 0 or 1. False: a result
 * that cannot be. */
bool kernel_apply(enum expression_op op, int64_t a, int64_t b, int64_t *result);

/* The value of a whole or real one. */
enum status kernel_real(const struct kernel_values *values, const struct expression *expression,
                        double *number, struct error *error);

/* The part of a loop's range that all its rounds make: where it begins, and how long it is. */
enum status kernel_loop_range(const struct kernel_values *values, int loop,
                              struct kernel_range *range, struct error *error);

/* How long a full round of a loop is: at least 1. */
enum status kernel_loop_step(const struct kernel_values *values, int loop, int64_t *step,
                             struct error *error);

/* The range and the step of the rounds that are played. */
enum status kernel_loop_played(const struct kernel_values *values, int loop,
                               struct kernel_range *range, int64_t *step, struct error *error);

/* How many rounds; 0 for an empty range. */
enum status kernel_loop_count(const struct kernel_values *values, int loop, int64_t *count,
                              struct error *error);

/* Makes a round from 0 to count - 1 the current one. */
enum status kernel_loop_enter(struct kernel_values *values, int loop, int64_t round,
                              struct error *error);

/* The values that an axis may have, ascending and each once; of words their numbers in the order of
 * the text. Owned by the caller: free(list->values). There may be none. STATUS_TOO_LARGE beyond
 * KERNEL_MAX_VALUES. */
struct kernel_list {
    int64_t *values;
    int count;
};
enum status kernel_axis_values(const struct kernel_values *values, int axis,
                               struct kernel_list *list, struct error *error);

/* The type that is meant: dtype, accumulator and result by what is asked for. */
enum dtype kernel_type(const struct kernel_values *values, int type);

#endif
