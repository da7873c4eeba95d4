/* Candidates run for real: each is checked against a reference, then all are timed against each
 * other, in a child process (worker.h). A candidate that faults, hangs past its deadline, runs out
 * of memory or computes wrongly is put into quarantine with its reason, and the rest goes on in a
 * new child with what was measured so far.
 *
 * Budget: checks take a quarter of timing.budget_s at most, candidates that come later in the list
 * are left out (so the most promising belong first), timing takes the rest. At least one candidate
 * is checked, and those that pass get at least three rounds whatever that takes. Time lost to
 * faults and deadlines does not count. */
#ifndef AUTOTUNE_VALIDATE_MEASURE_H
#define AUTOTUNE_VALIDATE_MEASURE_H

#include "core/operator.h"
#include "core/status.h"
#include "validate/machine_load.h"
#include "validate/timing.h"

#include <signal.h>
#include <stdint.h>

struct host_runner;

struct measure_options {
    struct timing_options timing;
    uint64_t seed;     /* of the inputs */
    double deadline_s; /* for checking one candidate, and for one sample (six times as much for
                          the inputs); 0: by its prediction, at least 10 s */
    struct load *load; /* NULL, or what others did meanwhile is put there */
    const volatile sig_atomic_t *stop;
    /* NULL, or called after each step: "checking" and "timing", done of total. */
    void (*progress)(void *context, const char *phase, int64_t done, int64_t total);
    void *context;
};

/* results[i] belongs to tilings[i]; predicted_ns[i] (NULL: none) sets deadlines. All plans are held
 * at once while they are timed: those for which there is no memory then are left out. Once *stop is
 * set it returns within a tenth of a second, with STATUS_OK and what was measured so far.
 * STATUS_INVALID where nothing could be run at all (memory for the inputs, no runner), with the
 * reason. */
enum status measure(const struct host_runner *runner, const struct space *space,
                    const struct tiling *tilings, const double *predicted_ns, int count,
                    const struct measure_options *options, struct measured *results,
                    struct error *error);

/* Memory that may be taken, asked before it is: systems give out more than there is, and end the
 * program that uses it. */
/* Bytes that this process may still take: what the system can free, within the limits of its
 * control group and of itself. INFINITY where nobody knows. */
double memory_available(void);

/* STATUS_NO_MEMORY with "CONTENTS need 3.7 TiB, 12 GiB are available" where they do not fit. */
enum status memory_require(const char *contents, double bytes, struct error *error);

/* So many floats, at the start of a cache line; NULL without memory; to be freed by free. */
float *memory_floats(int64_t rows, int64_t columns);

#endif
