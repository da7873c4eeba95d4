/* Candidates run for real: each is checked against a reference, then all are timed against each
 * other, in a child process. A candidate that faults, hangs past its deadline, runs out of memory
 * or computes wrongly is put into quarantine with its reason, and the rest goes on in a new child.
 *
 * No thread of OpenMP may have been started in this process before (libgomp's threads do not
 * survive a fork): search spaces of processors with one thread. */
#ifndef AUTOTUNE_VALIDATE_MEASURE_H
#define AUTOTUNE_VALIDATE_MEASURE_H

#include "kernels/operator.h"
#include "validate/timing.h"

#include <signal.h>

struct host_runner;

struct measure_options {
    struct timing_options timing;
    uint64_t seed;     /* of the inputs */
    double deadline_s; /* for checking one candidate, and for one sample; 0: by its prediction,
                          at least 10 s */
    const volatile sig_atomic_t *stop;
    /* NULL, or called after each step: "checking" and "timing", done of total. */
    void (*progress)(void *context, const char *phase, int64_t done, int64_t total);
    void *context;
};

struct measured {
    struct timing timing; /* median_ns = 0: not measured */
    double max_error;     /* against the reference, relative to the sum of absolute products */
    double allowed_error;
    bool sampled;         /* the check was of sampled rows, not of all results */
    char quarantine[160]; /* why it was not measured; "" where it was */
};

/* results[i] belongs to tilings[i]; predicted_ns[i] (NULL: none) sets deadlines. STATUS_INVALID
 * where nothing could be run at all (memory for the inputs, no runner), with the reason. */
enum status measure(const struct host_runner *runner, const struct space *space,
                    const struct tiling *tilings, const double *predicted_ns, int count,
                    const struct measure_options *options, struct measured *results,
                    struct error *error);

#endif
