/* What runs an operator's tilings of space `host` on this machine. All of it happens in a child
 * process (measure.h). */
#ifndef AUTOTUNE_VALIDATE_RUNNER_H
#define AUTOTUNE_VALIDATE_RUNNER_H

#include "core/operator.h"

struct host_check {
    double max_error, allowed_error; /* of results, relative to their sums' absolute terms */
    bool sampled;                    /* not all results were compared */
};

struct host_runner {
    /* Makes a problem's inputs from a seed, and room for its results. */
    enum status (*open)(const struct space *space, uint64_t seed, void **problem,
                        struct error *error);
    void (*close)(void *problem);
    /* Everything that a tiling needs before it can run: code chosen, workspace allocated. */
    enum status (*prepare)(void *problem, const struct tiling *tiling, void **plan,
                           struct error *error);
    void (*release)(void *plan);
    /* Memory that a plan has of its own, in bytes; NULL: next to none. */
    int64_t (*held_bytes)(const void *plan);
    void (*run)(void *plan); /* once; a timing_subject with the plan as its context */
    /* Runs once into results filled with NaN and compares with a reference of its own. */
    enum status (*check)(void *plan, struct host_check *check, struct error *error);
};

#endif
