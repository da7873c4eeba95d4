/* A correction (core/correction.h) learned from measured kernels: of one chip, and of others that
 * are pooled with it. docs/calibrate.md says how, and how it is judged. */
#ifndef AUTOTUNE_JOBS_CALIBRATE_LEARN_H
#define AUTOTUNE_JOBS_CALIBRATE_LEARN_H

#include "jobs/evaluate/evaluate.h"
#include "network/network.h"

#include <jansson.h>

/* Measured kernels and the chip that they ran on, simulated on as many cores as `hw` has. */
struct learn_bank {
    const char *file;
    const struct bank_row *rows;
    size_t count;
    const struct hardware *hw;
    const struct hardware *campaign; /* hw at the clock that it ran at then; NULL: hw */
    bool own;                        /* of the chip that is corrected; one at least is */
};

struct learn_options {
    uint64_t seed;
    int threads; /* >= 1; the result does not depend on it */
    const volatile sig_atomic_t *stop;
};

/* The effective clock of the campaign in which the chip's own banks were measured, in MHz, a
 * multiple of 10: where the mean |ln(simulated / measured)| of all their rows is least; the
 * description's own where that is less than CAMPAIGN_LEAST of it away. Of a chip whose description
 * says in cycles what takes cycles. */
#define CAMPAIGN_LEAST 0.05
enum status learn_clock(const struct learn_bank banks[], int count,
                        const struct learn_options *options, double *clock_mhz,
                        struct error *error);

/* The caller clears *correction, which is empty after a failure. STATUS_INVALID where the chip has
 * fewer than LEARN_LEAST rows with both times; STATUS_STOPPED. */
enum { LEARN_LEAST = 40 };
enum status learn(const struct learn_bank banks[], int count, const struct learn_options *options,
                  struct correction *correction, struct error *error);

/* What it was learned from and how well it does: "learned_from" and "cross_validated", tables.
 * NULL without memory. */
json_t *learned_json(const struct correction *correction);

/* What operators of networks take on a chip (network/operator_time.h), learned from measured steps:
 * laws by kind, and trees of what they leave. docs/network-times.md says how it is judged.
 * From `count` runs, 2 to CORRECTION_MAX_BANKS; a network is told by its runs' names up to the
 * first digit. The caller clears *learned, which is empty after a failure. STATUS_INVALID with less
 * than LEARN_LEAST measured calls; STATUS_STOPPED. */
enum status learn_network(const struct network runs[], int count, const struct hardware *hw,
                          const struct learn_options *options, struct correction *learned,
                          struct error *error);

#endif
