/* The inner loops of an operator's kernels for processors as things that a calibration can time one
 * by one, their data in the L1: what becomes struct host_loop. */
#ifndef AUTOTUNE_VALIDATE_LOOPS_H
#define AUTOTUNE_VALIDATE_LOOPS_H

#include "core/host.h"

struct loop_family {
    const char *name; /* "sgemm" */
    int count;
    /* The loop's variant: with the family's name it is the name in struct host: "sgemm 12x2". */
    const char *(*variant)(int index);
    /* Calls loop `index` `calls` times with `steps` steps each on data within `bytes` (a third of
     * the L1, 64-byte aligned, finite numbers). Steps that do not fit wrap or are refused: returns
     * the steps really done a call. */
    int64_t (*run)(int index, enum host_isa isa, int64_t calls, int64_t steps, void *data,
                   int64_t bytes);
    /* Floating-point operations of a step; NULL: of a family that moves only. */
    double (*flops)(int index, enum host_isa isa);
};

#endif
