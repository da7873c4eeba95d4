/* What the calls of a network take on a chip: a prediction of the library's time for each, with an
 * interval that holds four of five, and the whole step's. Times are of one call. */
#ifndef AUTOTUNE_NETWORK_OPERATOR_TIME_H
#define AUTOTUNE_NETWORK_OPERATOR_TIME_H

#include "core/hardware.h"
#include "network/network.h"

struct operator_time {
    double predicted_ns, low_ns, high_ns;
};

/* Fills `times`, one a call in their order. Measured times are not looked at. */
enum status operator_times(const struct network *network, const struct hardware *hw,
                           struct operator_time *times, struct error *error);

/* The sum over calls and their counts, and its interval. */
struct operator_time network_interval(const struct network *network,
                                      const struct operator_time *times);

#endif
