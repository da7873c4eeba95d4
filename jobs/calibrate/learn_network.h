/* What operators of networks take on a chip (network/operator_time.h), learned from measured steps:
 * laws by kind, and trees of what they leave. docs/network-times.md says how it is judged. */
#ifndef AUTOTUNE_JOBS_CALIBRATE_LEARN_NETWORK_H
#define AUTOTUNE_JOBS_CALIBRATE_LEARN_NETWORK_H

#include "jobs/calibrate/learn.h"
#include "network/network.h"

/* From `count` runs, 2 to CORRECTION_MAX_BANKS; a network is told by its runs' names up to the
 * first digit. The caller clears *learned, which is empty after a failure. STATUS_INVALID with less
 * than LEARN_LEAST measured calls; STATUS_STOPPED. */
enum status learn_network(const struct network runs[], int count, const struct hardware *hw,
                          const struct learn_options *options, struct correction *learned,
                          struct error *error);

#endif
