/* Lower bounds from a work summary: a theorem, not an estimate.
 *
 * No play of the summarised program ends before
 *   launch + the longest chain of instructions that cannot overlap,
 * each priced as if it ran alone with only the other cores' equal transfers on the bus. Where
 * exactly two pipes share a bus, the bytes of one that do not fit beside the other's pauses slow it
 * down, and that time is added.
 *
 * Source of the sharing term: total[n] is non-decreasing and total[n]/n non-increasing, so for two
 * transfers 1 <= alone/shared rate <= 2; moving bytes of one pipe out of the other's pauses never
 * ends the other earlier. docs/bounds.md has the proof. */
#ifndef AUTOTUNE_COSTMODEL_BOUND_H
#define AUTOTUNE_COSTMODEL_BOUND_H

#include "core/work.h"

/* Prices as the bound uses them, for `cores` working cores. */
struct bound_prices {
    const struct hardware *hw;
    int cores;
    double base_fs[HARDWARE_MAX_PRICES];
    double fs_per_unit[HARDWARE_MAX_PRICES];        /* with only the other cores' equal transfers */
    double shared_fs_per_unit[HARDWARE_MAX_PRICES]; /* with one more transfer a core on the bus */
    double bus_fs_per_byte[HARDWARE_MAX_BUSES];     /* of all cores together, at the bus's best */
};

void bound_prepare(struct bound_prices *prices, const struct hardware *hw, int cores);

/* The bound in fs, launch included; at most 2^62. */
int64_t bound_fs(const struct bound_prices *prices, const struct work *work);

/* A summary of any program: one chain a pipe. Weaker than an operator's own summary. */
enum status work_of_program(const struct program *program, int cores, struct work *work,
                            struct error *error);

#endif
