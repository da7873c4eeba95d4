/* What runs an operator's tilings of space `host` on this machine. One row of host_runners[] and a
 * file sgemm_run.c, knn_run.c, … an operator. All of it happens in a child process (measure.h). */
#ifndef AUTOTUNE_VALIDATE_HOST_RUNNER_H
#define AUTOTUNE_VALIDATE_HOST_RUNNER_H

#include "kernels/operator.h"

struct host_check {
    double max_error, allowed_error; /* of results, relative to their sums' absolute terms */
    bool sampled;                    /* not all results were compared */
};

struct host_runner {
    const struct operator* op;
    /* Makes a problem's inputs from a seed, and room for its results. */
    enum status (*open)(const struct space *space, uint64_t seed, void **problem,
                        struct error *error);
    void (*close)(void *problem);
    /* Everything that a tiling needs before it can run: code chosen, workspace allocated. */
    enum status (*prepare)(void *problem, const struct tiling *tiling, void **plan,
                           struct error *error);
    void (*release)(void *plan);
    void (*run)(void *plan); /* once; a timing_subject with the plan as its context */
    /* Runs once into results filled with NaN and compares with a reference of its own. */
    enum status (*check)(void *plan, struct host_check *check, struct error *error);
};

/* NULL-terminated. */
extern const struct host_runner *const host_runners[];
const struct host_runner *host_runner_find(const struct operator* op);

#endif
