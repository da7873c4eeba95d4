/* Operands that a line leaves out. They may lie anywhere in their buffer: no hazard is said of
 * them, but an order that they might rely on is not called superfluous either.
 *
 * A move without `src` or `dst` has all of that buffer for it; a matrix or vector instruction
 * without any operand has all buffers. External memory is left aside, where operands are left out
 * as a rule, and scalar instructions, which often touch no memory. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_UNNAMED_H
#define AUTOTUNE_ANALYSIS_CHECK_UNNAMED_H

#include "analysis/check/pair.h"

struct unnamed {
    const struct program *program;
    bool any; /* some instruction leaves something out */
    uint32_t whole[HARDWARE_MAX_BUFFERS][HARDWARE_MAX_PIPES]; /* last events that may touch all */
    uint32_t some[HARDWARE_MAX_BUFFERS][HARDWARE_MAX_PIPES];  /* last events that touch anything */
    int32_t whole_item[HARDWARE_MAX_BUFFERS][HARDWARE_MAX_PIPES]; /* whose they are */
    int32_t some_item[HARDWARE_MAX_BUFFERS][HARDWARE_MAX_PIPES];
};

void unnamed_init(struct unnamed *unnamed, const struct program *program);

/* Raises pairs[q] to the last event of pipe q that this one may conflict with on that account, and
 * records this one. Where it does not come after that event, the bit of q is set in *unordered
 * instead. */
void unnamed_event(struct unnamed *unnamed, const struct event *event, struct pair *pairs,
                   uint32_t *unordered);

/* May the two instructions conflict on that account? The buffer, or -1. */
int unnamed_buffer(const struct program *program, int32_t item, int32_t other);

#endif
