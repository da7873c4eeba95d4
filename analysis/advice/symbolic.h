/* What a program computes, whatever the data: every value stands for the operations and the first
 * contents of memory that it was made from, as a number of 64 bits, and what is left at the end is
 * summed up. Two safe programs of equal symbolic values leave the same bytes behind (but for a
 * collision, about 1 in 2^64 each).
 *
 * Moves carry values along byte by byte, element-wise operations make one of each element's, and a
 * reduction one of each repeat's, so one instruction over much and several over its parts mean the
 * same. What an instruction does beyond its text (a constant added, say) is taken to depend on its
 * line: lines of different numbers never do the same, though they read alike; copies of a line do.
 * Vector operations of which the chip's description says which inputs they have, and that name
 * them all, do nothing beyond their text.
 * An operand that is missing is memory of the line's own. The program must be safe (check.h):
 * accesses that nothing orders have no values.
 *
 * Values belong to pieces of `grain` bytes, which cut every operand of both programs evenly:
 * compare two programs at the greatest common divisor of their grains. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_SYMBOLIC_H
#define AUTOTUNE_ANALYSIS_ADVICE_SYMBOLIC_H

#include "core/program.h"

#define SYMBOLIC_MAX_PIECES (1LL << 24) /* of all buffers together */
#define SYMBOLIC_MAX_VISITS 200000000LL /* pieces read and written by all instructions */

struct symbolic {
    uint64_t outside; /* external memory, and operands that are missing */
    uint64_t inside;  /* buffers of the chip */
    bool leaves;      /* something is written outside */
};

/* The greatest common divisor; of 0 and a number, that number. */
int64_t grain_divisor(int64_t a, int64_t b);

/* The greatest number of bytes that divides every address and size of the program; at least 1. */
int64_t grain_of(const struct program *program);

/* STATUS_TOO_LARGE beyond the limits above or those of check.h. */
enum status symbolic_evaluate(const struct program *program, int64_t grain,
                              struct symbolic *symbolic, struct error *error);

/* Where nothing leaves the chip, what stays there counts. */
bool symbolic_equal(const struct symbolic *one, const struct symbolic *other);

#endif
