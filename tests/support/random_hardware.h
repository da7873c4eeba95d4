/* Random machines for property tests: a loaded description with other numbers.
 *
 * Every rule of core/hardware.h holds. Half of the machines have round numbers, so that many
 * things happen at the same moment and loops soon recur; the others have awkward ones. */
#ifndef AUTOTUNE_TESTS_RANDOM_HARDWARE_H
#define AUTOTUNE_TESTS_RANDOM_HARDWARE_H

#include "core/hardware.h"

#include <gsl/gsl_rng.h>

struct random_hardware {
    bool two_bus_pipes; /* one bus, used by two pipes; otherwise up to three buses, any pipes */
    bool dispatch;      /* may cost time */
    bool prompt;        /* moves have no bursts and latencies, cores no launch and one kind */
};

/* Fills *hw, which shares nothing with `base` and owns nothing. */
void random_hardware(const struct hardware *base, const struct random_hardware *options,
                     gsl_rng *rng, struct hardware *hw);

#endif
