/* The mechanistic time of an operator's call: a launch, bytes, elements, rows, indices and
 * products, each with a cost. Costs are looked up by the operator's kind, else by its family
 * ("~MatMul" of every fused product), else by "*cube" or "*vector". */
#ifndef AUTOTUNE_NETWORK_CALL_LAW_H
#define AUTOTUNE_NETWORK_CALL_LAW_H

#include "core/hardware.h"
#include "network/network.h"

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

#endif
