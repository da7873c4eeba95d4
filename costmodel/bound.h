/* Lower bounds from a work summary: a theorem, not an estimate.
 *
 * No simulation of the summarised program ends before
 *   launch + the longest chain of instructions that cannot overlap (with their latencies, where
 *   the layout says so),
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

enum { BOUND_MAX_PAIRS = 2 * HARDWARE_MAX_BUSES };

/* One of the two pipes that share a bus, and the other. Times per byte in fs. */
struct bound_pair {
    uint64_t lines, other_lines;
    uint32_t chains;           /* that contain all of the pipe's lines */
    double alone, other_alone; /* rates with only the other cores' equal transfers … */
    double slowdown;           /* fs that the pipe loses per byte of the other beside it */
};

/* What is the same for all bounds of one layout on one number of cores. */
struct bound_plan {
    int line_count;
    double base_fs[WORK_MAX_LINES]; /* of an instruction, with its latency where it counts */
    double fs_per_unit[WORK_MAX_LINES];
    double member[WORK_MAX_LINES][WORK_MAX_CHAINS]; /* 1 where the line is in the chain, else 0 */
    bool few_chains;                                /* no more than half of WORK_MAX_CHAINS */
    int bus_count;
    uint64_t bus_lines[HARDWARE_MAX_BUSES];
    double bus_fs_per_byte[WORK_MAX_LINES]; /* of all cores, at its bus's best */
    int pair_count;
    struct bound_pair pairs[BOUND_MAX_PAIRS];
    double launch_fs; /* of so many cores */
};

void bound_plan_make(struct bound_plan *plan, const struct hardware *hw, int cores,
                     const struct work_layout *layout);

/* The bound in fs, launch included; at most 4.6e18. */
int64_t bound_fs(const struct bound_plan *plan, const struct work *work);

/* A summary of any program: one chain a pipe. Weaker than an operator's own summary. */
enum status work_of_program(const struct program *program, int cores, struct work *work,
                            struct work_layout *layout, struct error *error);

#endif
