/* What the calls of a network take on a chip: a prediction of the library's time for each, with an
 * interval that holds four of five, and the whole step's. Times are of one call. */
#ifndef AUTOTUNE_NETWORK_OPERATOR_TIME_H
#define AUTOTUNE_NETWORK_OPERATOR_TIME_H

#include "core/correction.h"
#include "core/hardware.h"
#include "network/call_law.h"
#include "network/network.h"

struct operator_time {
    double predicted_ns, low_ns, high_ns;
    double together; /* share of such intervals, added up, that the sum of times has */
    bool is_learned; /* for the chip; else costs are the expected ones */
};

/* Fills `times`, one a call in their order; of what is not covered all are 0. Measured times are
 * not looked at. What was learned for the chip stands beside its description. */
enum status operator_times(const struct network *network, const struct hardware *hw,
                           struct operator_time *times, struct error *error);

/* The sum over calls and their counts, and its interval. */
struct operator_time network_interval(const struct network *network,
                                      const struct operator_time *times);

/* For what learns: the law's time with the learned costs or, without any, the expected ones, and
 * which law it is (NULL: none). */
#define CALL_LEAST_US 1.2
double call_law_us(const struct operator_call *call, const struct call_sizes *sizes,
                   const struct correction *learned, const double terms[CALL_TERMS],
                   const struct trained_law **known);

/* What was learned for a chip, empty where that is nothing; the caller clears it. */
enum status operator_times_open(const struct hardware *hw, struct correction *learned,
                                struct error *error);

#endif
