/* The inner loops of validate/host/ as things that a calibration can time one by one, their data in
 * the L1: what becomes struct host_loop. Each family (sgemm, pack, knn, poly, …) fills a table. */
#ifndef AUTOTUNE_VALIDATE_HOST_LOOPS_H
#define AUTOTUNE_VALIDATE_HOST_LOOPS_H

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

/* NULL-terminated. */
extern const struct loop_family *const loop_families[];

/* The best instruction set of this processor for which kernels are built; $AUTOTUNE_ISA (portable,
 * avx2, avx512) may ask for less. */
enum host_isa host_isa_best(void);

#endif
