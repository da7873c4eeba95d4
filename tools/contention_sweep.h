/* Two transfers on one core, one growing and one fixed: do they disturb each other, and when?
 *
 * Algorithm 1 of Y. Tang, "Hardware-aware algorithm optimization on AI processors" (PhD thesis,
 * University of Hong Kong, 2024), played on the simulator instead of the chip. A transfer of S_e
 * bytes starts with the kernel, scalar no-operations hold back dispatch for T_s, then a transfer
 * of S_f bytes follows on another pipe. As S_e grows, its time T_e passes through three segments:
 * it ends before the other starts, while the other runs, or after the other has ended.
 *
 *   contention_count(&sweep)                     how many points
 *   contention_play(&sweep, points, &error)      fills that many
 *   contention_fit(points, count, series, &fit)  the straight segments of T_e or T_f */
#ifndef AUTOTUNE_TOOLS_CONTENTION_SWEEP_H
#define AUTOTUNE_TOOLS_CONTENTION_SWEEP_H

#include "core/hardware.h"
#include "core/status.h"

enum {
    CONTENTION_SEGMENTS = 3,
    CONTENTION_CASES = 4,
    CONTENTION_MAX_POINTS = 1000, /* fitting takes the cube of it */
};

/* Which two transfers, each as "PIPE source->destination". */
struct contention_case {
    const char *name;
    const char *growing, *fixed;
};

/* Both ways round over the shared bus (thesis, Fig. 2.5 (b)), and with the fixed or the growing
 * transfer on a private path (Fig. 2.5 (a)). */
extern const struct contention_case contention_cases[CONTENTION_CASES];

struct contention_sweep {
    const struct hardware *hw;
    const struct contention_case *what;
    int64_t nops;                  /* T_s = nops times the price of one */
    int64_t fixed_bytes;           /* S_f */
    int64_t step_bytes, max_bytes; /* S_e = 0, step, ... max; 1 <= step <= max */
};

struct contention_point {
    double grown_bytes; /* S_e */
    double grown_ns;    /* T_e: busy time of the growing transfer's pipe, issue included */
    double fixed_ns;    /* T_f */
};

enum contention_series { CONTENTION_GROWN, CONTENTION_FIXED };

/* Where `segments` is less than CONTENTION_SEGMENTS the further entries are 0. */
struct contention_fit {
    int segments;                                     /* 1: nothing disturbs anything */
    double slope_ns_per_byte[CONTENTION_SEGMENTS];    /* least squares in each segment */
    double breakpoint_bytes[CONTENTION_SEGMENTS - 1]; /* S_e where two segments meet */
    double breakpoint_ns[CONTENTION_SEGMENTS - 1];    /* and the time there */
};

size_t contention_count(const struct contention_sweep *sweep);

/* Plays one program for each S_e on one core and fills contention_count(sweep) points.
 * STATUS_INVALID when the hardware lacks a pipe, path or operation of the case. */
enum status contention_play(const struct contention_sweep *sweep, struct contention_point *points,
                            struct error *error);

/* The fewest segments that fit within 0.1 ps (root mean square), else the best
 * CONTENTION_SEGMENTS. Needs 2 * CONTENTION_SEGMENTS points, else it fits one segment. */
void contention_fit(const struct contention_point *points, size_t count,
                    enum contention_series series, struct contention_fit *fit);

#endif
