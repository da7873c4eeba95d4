/* The convolution that a call computes. */
#ifndef AUTOTUNE_NETWORK_CONVOLUTION_H
#define AUTOTUNE_NETWORK_CONVOLUTION_H

#include "network/problem.h"

struct convolution {
    int64_t batch, height, width; /* of the result */
    int64_t kernel[2], stride, padding, dilation;
    int64_t
        rest; /* rows and columns of the image: stride*(height - 1) + reach - 2*padding + rest */
    int64_t in_channels, out_channels; /* in whole blocks */
    enum dtype type, result;
};

/* Of a call of a kind that convolves; `is_gradient`: that of the image of a convolution, which is
 * one of the filter turned round where the stride is 1. False where its tensors leave something
 * open or the kernel conv2d cannot say it; `why` is filled then. */
bool call_convolution(const struct operator_call *call, bool is_gradient, struct convolution *c,
                      char why[PROBLEM_WHY_SIZE]);

#endif
