/* Times explained as sums of terms, each with a cost of its own: time = Σ term · cost.
 *
 * What instructions take is known to a fraction of itself, so errors count relative to the time;
 * and since some points of a measured curve follow another law (a cache line more, a buffer that
 * is full), points far off count little or not at all. Costs are physical and thus not negative.
 * The qualities are of all points. */
#ifndef AUTOTUNE_VALIDATE_LINEAR_FIT_H
#define AUTOTUNE_VALIDATE_LINEAR_FIT_H

#include "core/status.h"

enum { LINEAR_FIT_MAX_TERMS = 4 };

struct linear_fit {
    double cost[LINEAR_FIT_MAX_TERMS];  /* per unit of the term, in the times' unit; >= 0 */
    double error[LINEAR_FIT_MAX_TERMS]; /* one standard error; 0 where the cost is held at 0 */
    int point_count;
    int outlier_count;   /* points left out */
    double r_squared;    /* of the times themselves */
    double median_error; /* |fitted / measured - 1| */
    double max_error;
};

/* terms[i · term_count + j] is how much of term j is in times[i] > 0, all finite. STATUS_INVALID
 * when there are no more points than terms or the points do not tell the terms apart. */
enum status linear_fit(const double *terms, const double *times, int point_count, int term_count,
                       struct linear_fit *fit, struct error *error);

#endif
