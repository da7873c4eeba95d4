/* What the calls of a network take on a chip: a prediction of the library's time for each, with an
 * interval that holds four of five, and the whole step's. Times are of one call. */
#ifndef AUTOTUNE_NETWORK_OPERATOR_TIME_H
#define AUTOTUNE_NETWORK_OPERATOR_TIME_H

#include "core/correction.h"
#include "core/hardware.h"
#include "network/network.h"

/* ---- the law: a launch, bytes, elements, rows, indices and products, each with a cost ---- */

enum { CALL_TERMS = 15, CALL_KIND_SIZE = 64 };

/* What the terms are of, and what each costs an Ascend 910 in us where no time of the kind is
 * known. `most` is what a cost can be in reason. */
struct call_term {
    const char *name;
    double expected_us, most_us;
};
extern const struct call_term call_terms[CALL_TERMS];

/* A matrix product, in blocks of 16; m is 0 of what is none. */
struct call_product {
    double m, n, k, batch;
};

/* What terms and features are made of. */
struct call_sizes {
    int blocks;   /* launched, or estimated */
    double share; /* of them on a core at a time: blocks over waves */
    double busy;  /* of these, where the last of what a product's blocks divide leaves some idle */
    double bytes; /* that it moves, as far as its tensors tell */
    double largest; /* elements of its largest tensor */
    struct call_product product;
};

void call_measure(const struct operator_call *call, const struct hardware *hw,
                  struct call_sizes *sizes);

/* How much of each term a call has on the chip. */
void call_fill_terms(const struct operator_call *call, const struct call_sizes *sizes,
                     const struct hardware *hw, double terms[CALL_TERMS]);

/* Where the costs of a call are looked for, in this order. */
enum { CALL_LEVELS = 3 };
void call_kinds(const struct operator_call *call, const struct call_sizes *sizes,
                char kinds[CALL_LEVELS][CALL_KIND_SIZE]);

/* ---- features: what the trees of a learned correction ask of a call (core/correction.h) ---- */

/* `law_us` is the call's time by its law, `known` the law that it was found at. */
void call_features(const struct operator_call *call, const struct call_sizes *sizes,
                   const double terms[CALL_TERMS], double law_us, const struct trained_law *known,
                   struct features *features);

/* ---- times ---- */

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
