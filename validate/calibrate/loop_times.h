/* Every inner loop of the kernels for processors, timed with several numbers of steps and its data
 * in the L1: time = calls · call_ns + steps · step_ns. And the most multiply-adds that there are.
 */
#ifndef AUTOTUNE_VALIDATE_CALIBRATE_LOOP_TIMES_H
#define AUTOTUNE_VALIDATE_CALIBRATE_LOOP_TIMES_H

#include "core/host.h"
#include "validate/calibrate/levels.h"
#include "validate/loops.h"

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

struct loop_time {
    char name[HOST_NAME_SIZE];
    struct loop_fit fit;
    double flops; /* of a step */
};

struct loop_times {
    int count;
    struct loop_time loops[HOST_MAX_LOOPS];
    int left_out; /* not of this instruction set, or not to be fitted */
};

/* A family by its number; NULL: no more. */
typedef const struct loop_family *loop_family_finder(int number);

/* l1_bytes: the size of the L1. Stopped in between, it has fewer. STATUS_NO_MEMORY. */
enum status loop_times_measure(loop_family_finder *family_at, enum host_isa isa, int64_t l1_bytes,
                               struct calibrate_control *control, struct loop_times *times,
                               struct error *error);

/* GFLOP/s of one thread; median 0 where the instruction set was not built. */
enum status peak_measure(enum host_isa isa, struct calibrate_control *control, struct middle *peak,
                         struct error *error);

#endif
