/* Medians and quartiles as GSL has them: between two samples, what lies between. */
#include "validate/middle.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>

struct middle middle_of(double *samples, int count)
{
    struct middle middle = {0, 0, count};
    if (count < 1)
        return middle;
    size_t n = (size_t)count;
    gsl_sort(samples, 1, n);
    middle.median = gsl_stats_median_from_sorted_data(samples, 1, n);
    double low = gsl_stats_quantile_from_sorted_data(samples, 1, n, 0.25);
    double high = gsl_stats_quantile_from_sorted_data(samples, 1, n, 0.75);
    middle.spread = middle.median > 0 ? (high - low) / 2 / middle.median : 0;
    return middle;
}
