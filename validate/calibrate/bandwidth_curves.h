/* What samples mean: the pure part of the calibration, which reads no clock. */
#ifndef AUTOTUNE_VALIDATE_CALIBRATE_BANDWIDTH_CURVES_H
#define AUTOTUNE_VALIDATE_CALIBRATE_BANDWIDTH_CURVES_H

#include "core/host.h"
#include "core/status.h"
#include "validate/middle.h"

/* How fast one thread reads `bytes` over and over. */
struct reach {
    int64_t bytes;
    double gbps;
};

/* The bytes up to which reading is nearer to inner_gbps than to outer_gbps, by time: where a cache
 * ends. Points ascend; those up to `from_bytes` do not count, nor does a single slow point among
 * fast ones. 0 where the rates are within 10 % of each other, or no point is slow. */
double reach_end(const struct reach *points, int count, double from_bytes, double inner_gbps,
                 double outer_gbps);

/* A contention curve with all of its numbers from those that were measured: totals_gbps[n - 1] > 0
 * for n threads, or 0 where it was not. The first one must be there. In between in proportion; then
 * lowered to where the share of each falls with n, as descriptions require. */
void contention_fill(double *totals_gbps, int count);

/* The thread counts that are worth measuring, ascending, from 1 to `threads`; returns how many. */
enum { CONTENTION_MAX_COUNTS = 24 };
int contention_counts(int threads, int counts[CONTENTION_MAX_COUNTS]);

/* A loop's costs from timed calls with so many steps each: GSL's robust least squares
 * (validate/linear_fit.h). */
struct loop_sample {
    double steps;
    double ns; /* of one call */
    double spread;
};
struct loop_fit {
    double step_ns, call_ns;
    double spread;    /* of the samples, in the middle */
    double r_squared; /* of the fit */
    double max_error; /* |fitted / measured - 1| */
};
/* STATUS_INVALID where the samples do not tell steps and calls apart, or are no times. */
enum status loop_fit(const struct loop_sample *samples, int count, struct loop_fit *fit,
                     struct error *error);

/* Five significant digits: more than a measurement has, and few enough to be read. */
double calibration_digits(double value);

#endif
