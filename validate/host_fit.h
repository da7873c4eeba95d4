/* host->overlap fitted to kernels that were timed: how much of the traffic computing does not hide.
 *
 * Everything else of a struct host is measured by itself (rates, loops); the overlap is what only
 * whole kernels show. Called by the calibration; deterministic in what it is given. */
#ifndef AUTOTUNE_VALIDATE_HOST_FIT_H
#define AUTOTUNE_VALIDATE_HOST_FIT_H

#include "core/host.h"
#include "core/status.h"

/* One tiling of a training shape, run on the processor. */
struct host_timed {
    struct host_work work;
    double measured_ns;
    int shape; /* any number; timings of one shape weigh as much together as those of another */
};

struct host_fit {
    int used; /* timings that are finite and > 0 */
    int shapes;
    double mean_error, median_error, worst_error; /* |predicted / measured - 1|, after the fit */
    double mean_log;                              /* of |ln(predicted / measured)|, what is least */
};

/* Minimises the mean of |ln(predicted / measured)| over host->overlap, which it sets; the values
 * in it do not matter. STATUS_INVALID with fewer than HOST_FIT_LEAST timings that can be used, and
 * then host is left as it was. */
enum { HOST_FIT_LEAST = 8 };
enum status host_fit(struct host *host, const struct host_timed timed[], int count,
                     struct host_fit *fit, struct error *error);

#endif
