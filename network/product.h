/* The product of matrices that a call computes. */
#ifndef AUTOTUNE_NETWORK_PRODUCT_H
#define AUTOTUNE_NETWORK_PRODUCT_H

#include "network/network.h"

struct product {
    int64_t m, k, n, batch;
    bool transpose_a, transpose_b, share_b; /* share_b: one B for the whole batch */
    enum dtype type, result;
};

/* Sizes are those in memory, padding included. False where the call is no product, or its tensors
 * are not those of one. */
bool call_product(const struct operator_call *call, struct product *product);

#endif
