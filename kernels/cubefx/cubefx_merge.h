/* How many Sequence Matrices Cube-fx should merge: the integer program of Y. Tang, thesis,
 * eq. 4.11.
 *
 * For s² inputs on a matrix unit of edge s, K powers and J functions, and t matrices side by side:
 *   steps L = ⌈s/t⌉                                                             (eq. 4.6)
 *   Matrix MAC Count M = L·⌈Kt/s⌉·(1 + ⌈Jt/s⌉), in products of s×s×s             (eq. 4.9)
 *   transfer S_z = s² + L·⌈Kt/s⌉·s²·(1 + ⌈Jt/s⌉) = s²·(1 + M), in elements        (eq. 4.10)
 *   minimise M + b·S_z over 1 <= t <= s.                                         (eq. 4.11)
 * M + b·s²·(1 + M) grows with M for every b >= 0, so b never changes which t are optimal: the
 * smallest M decides, and b only what it costs. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_CUBEFX_MERGE_H
#define AUTOTUNE_KERNELS_CUBEFX_CUBEFX_MERGE_H

#include "core/status.h"

#include <stdint.h>

struct merge_problem {
    int64_t edge;           /* s, 1 … MERGE_MAX_EDGE */
    int64_t order;          /* K > 0: the powers of the polynomials */
    int64_t functions;      /* J > 0 */
    double transfer_weight; /* b >= 0, finite: what moving an element costs, in products */
};

#define MERGE_MAX_EDGE 4096

struct merge_plan {
    int64_t steps;             /* L */
    int64_t mac_count;         /* M */
    int64_t transfer_elements; /* S_z */
    double cost;               /* M + b·S_z */
};

/* All t of one problem. */
struct merge_choice {
    int64_t edge;
    int64_t merge;            /* the smallest optimal t */
    int64_t optimal_count;    /* at least 1 */
    int64_t *optimal;         /* ascending */
    struct merge_plan *plans; /* plans[t − 1] for t = 1 … edge */
};

/* One t. STATUS_INVALID says which number was expected, STATUS_TOO_LARGE that a count does not fit
 * 63 bits. */
enum status merge_evaluate(const struct merge_problem *problem, int64_t merge,
                           struct merge_plan *plan, struct error *error);

/* Fills *choice, which the caller clears after success only. */
enum status merge_choose(const struct merge_problem *problem, struct merge_choice *choice,
                         struct error *error);
void merge_choice_clear(struct merge_choice *choice);

#endif
