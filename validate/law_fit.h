/* A time explained as a sum of terms, each with a cost of its own, where few times are known: costs
 * stay near what is expected of them unless the times say otherwise. */
#ifndef AUTOTUNE_VALIDATE_LAW_FIT_H
#define AUTOTUNE_VALIDATE_LAW_FIT_H

#include <stddef.h>

enum { LAW_FIT_MAX_TERMS = 16 };

struct law_data {
    size_t rows;
    int terms;           /* 1 … LAW_FIT_MAX_TERMS */
    const double *term;  /* [row · terms + term], >= 0 */
    const double *times; /* > 0 */
    const char *used;    /* rows of 0 are not seen */
};

/* Fills costs[0 … terms) from 0 to `most`: those of the least sum of |ln(predicted / time)| and
 * `shrink` times what the rows would weigh, if all of them spoke for `expected`. Without a row
 * these are the expected ones, cut to the range. */
void law_fit(const struct law_data *data, const double expected[], const double most[],
             double shrink, double costs[]);

/* The sum of a row's terms at these costs. */
double law_value(const double term[], const double costs[], int terms);

#endif
