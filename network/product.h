/* The product of matrices that a call computes. */
#ifndef AUTOTUNE_NETWORK_PRODUCT_H
#define AUTOTUNE_NETWORK_PRODUCT_H

#include "network/network.h"

struct product {
    int64_t m, k, n, batch;
    bool transpose_a, transpose_b, share_b; /* share_b: one B for the whole batch */
    enum dtype type, result;
};

/* Of a call of a kind that multiplies. Sizes are those in memory, padding included. False where its
 * tensors are not those of a product. */
bool call_product(const struct operator_call *call, struct product *product);

#endif
