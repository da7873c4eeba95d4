/* What a predicted gain is worth on the chip: of kernels of equal size, measured differences of ln
 * time are on average SHRINK_SLOPE times the predicted ones. A claimed 25 % is worth about 20 %. */
#ifndef AUTOTUNE_JOBS_EVALUATE_SHRINK_H
#define AUTOTUNE_JOBS_EVALUATE_SHRINK_H

#include <math.h>

/* Regressions of measured on predicted differences between kernels of equal size of the 910B2's
 * repository gave 0.72 to 0.84, by how pairs were chosen. */
#define SHRINK_SLOPE       0.78
#define SHRINK_SLOPE_ERROR 0.06

/* Of the share of a tiling's time that another one saves, below 1; of a loss, which is negative,
 * likewise. */
static inline double shrunk_gain(double gain_share)
{
    return -expm1(SHRINK_SLOPE * log1p(-gain_share));
}

#endif
