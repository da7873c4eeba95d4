/* SelB-k-NN's cost and what it proves (Y. Tang, thesis, 3.4).
 *
 * A tiling (m1, n1, m2, n2) costs, on the core with most work,
 *
 *   ceil(M/m1)·ceil(N/n1)·f(m1,n1) + ceil(M/m1)·ceil(m1/m2)·Σ_{t=1..T2} (E_t·g(m2,n2) + g0(m2,n2))
 *
 * (eq. 3.9 with ceilings), where p = ceil(n1/n2) selection tiles nest in a distance tile, T1 =
 * ceil(N/n1), T2 = T1·p, and E_t is the number of loop steps in the t-th tile along N: k/t, what a
 * row is updated in the mean whatever the distribution (eq. 3.8); or the exact expectation of the
 * largest number of updates over the tile's rows, which is what ends the loop.
 *
 * Times are in femtoseconds; costs of a tile are those of its program. */
#ifndef AUTOTUNE_KERNELS_KNN_SELB_H
#define AUTOTUNE_KERNELS_KNN_SELB_H

#include <stdbool.h>
#include <stdint.h>

/* Σ_{t=1..n} 1/t. */
double harmonic_number(int64_t n);

/* P(a row takes at most `updates` new values in its t-th tile), for random data: of its k smallest
 * among the first t·columns values, how many lie in the last `columns`, is hypergeometric. */
double selb_update_probability(int64_t k, int64_t columns, double t, int64_t updates);

/* The exact expectation of the largest number of updates over `rows` independent rows in tile t;
 * min(k, columns) for t = 1. At least k/t where k <= columns, at most min(k, columns). `t` need not
 * be whole. */
double selb_steps(int64_t k, int64_t rows, int64_t columns, double t);

/* Σ_{t=first..last} selb_steps. Beyond SELB_SUMMED tiles the sum is an integral, within 1e-7 of
 * it. */
enum { SELB_SUMMED = 1024 };
double selb_steps_sum(int64_t k, int64_t rows, int64_t columns, int64_t first, int64_t last);

/* What the two inequalities compare: a selection tile of n2 columns and one of n1, both of m2
 * rows, where the latter is feasible. */
struct selb_pair {
    int64_t k, p;          /* p >= 2: tiles of n2 columns in one of n1 */
    int64_t idle_small_fs; /* g0(m2,n2) */
    int64_t idle_large_fs; /* g0(m2,n1) */
    int64_t step_large_fs; /* g(m2,n1) */
    int64_t tiles;         /* T1 */
    double steps_large;    /* Σ_{t<=T1} E_t at n1: k·H(T1), or the exact expectations */
};

/* eq. 3.14, p·g0(n2) > g0(n1) + k·g(n1): tiles of n2 lose for every N. */
bool selb_prunes(const struct selb_pair *pair);

/* From eq. 3.12: T2·g0(n2) >= T1·g0(n1) + steps·g(n1): tiles of n2 lose for this N. */
bool harmonic_prunes(const struct selb_pair *pair);

#endif
