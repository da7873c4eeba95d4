/* The work summary of one candidate: what its program does, in closed form, without the program.
 *
 * Lines count instructions, the time of their bursts and their units of work per price. Chains are
 * sets of lines that can never overlap in time, in any order of execution: all instructions of one
 * pipe; two pipes that hand a single buffer to and fro; and, before and after them, the
 * instructions that must have ended or have yet to start. An instruction of a late line lasts until
 * its result is there: nothing else of its chains, on its own pipe too, may start before. The time
 * of a chain is the sum of its lines, so the longest chain bounds the program's time from below
 * (costmodel/bound.h). */
#ifndef AUTOTUNE_CORE_WORK_H
#define AUTOTUNE_CORE_WORK_H

#include "core/program.h"

enum { WORK_MAX_LINES = 64, WORK_MAX_CHAINS = HARDWARE_MAX_PIPES };

/* Which lines and chains a summary has. Tilings that differ in sizes only share a layout. */
struct work_layout {
    int total_count; /* lines [0 … total_count) are the whole program, each instruction once; */
    int line_count;  /* the lines after them are single instructions at its ends */
    int price[WORK_MAX_LINES]; /* of each line's instructions, into hardware->prices */
    uint64_t late_lines; /* bit i: the latency of line i's instructions counts in its chains */
    uint64_t wait_lines; /* bit i: of line i's instructions the latency is all that counts */
    int chain_count;
    uint64_t chains[WORK_MAX_CHAINS]; /* bit i: line i belongs to the chain */
};

/* Counts are doubles: they feed bounds, which are rounded down by more than a double's error. */
struct work {
    int cores;  /* working in step */
    int layout; /* number, in the space's list */
    double instructions[WORK_MAX_LINES];
    double units[WORK_MAX_LINES];    /* of work at the price's rate, over all these instructions */
    double burst_fs[WORK_MAX_LINES]; /* what pieces of moves cost, over all these instructions */
};

/* How often instructions run, loops multiplied out, on a walk in program order from {.times = {1}}:
 * repetition_step is called with every instruction and returns it, 0 for lines of loops. A count
 * that does not fit becomes 0: only an empty body has one (PROGRAM_MAX_EXECUTED). */
struct repetition {
    int depth;
    int64_t times[PROGRAM_MAX_DEPTH + 1];
};
int64_t repetition_step(struct repetition *repetition, const struct instruction *instruction);

/* Per price, what a whole program does, exactly: loops multiplied out. */
struct work_total {
    int64_t instructions, units, paid_units;
    int64_t burst_fs; /* of moves in more than one piece */
};

/* Fills `totals`, an entry per price. STATUS_TOO_LARGE when a count passes 2^62. */
enum status work_totals(const struct program *program, struct work_total *totals,
                        struct error *error);

#endif
