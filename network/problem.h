/* What a call computes, as the options of the main command say it: by them tilings are searched and
 * kept, whatever kind of operator it is. */
#ifndef AUTOTUNE_NETWORK_PROBLEM_H
#define AUTOTUNE_NETWORK_PROBLEM_H

#include "core/hardware.h"
#include "network/network.h"

enum { PROBLEM_MAX_SETTINGS = 8, PROBLEM_WHY_SIZE = 160 };

struct problem_setting {
    const char *name;
    char text[128];
};

struct call_problem {
    int setting_count;                                     /* 0: it is not known */
    struct problem_setting settings[PROBLEM_MAX_SETTINGS]; /* "op" or "kernel" first */
    char why[PROBLEM_WHY_SIZE];                            /* it is not known */
};

/* False where calls of this kind are no problem of the command, and *problem says nothing. */
bool call_find_problem(const struct operator_call *call, struct call_problem *problem);

/* The product of matrices that a call computes. */
struct product {
    int64_t m, k, n, batch;
    bool transpose_a, transpose_b, share_b; /* share_b: one B for the whole batch */
    enum dtype type, result;
};

/* Of a call of a kind that multiplies. Sizes are those in memory, padding included. False where its
 * tensors are not those of a product. */
bool call_product(const struct operator_call *call, struct product *product);

/* The convolution that a call computes. */
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

/* The same step at another batch, or with as many blocks as it would launch on another chip. */
/* A copy of a table's calls with `batch` samples in place of network->batch, which is 2 or more;
 * with the same number a mere copy, of any network. STATUS_INVALID: no size holds the batch, or
 * nothing tells which do; STATUS_TOO_LARGE: a tensor would be. Then there is nothing to free. */
enum status network_at_batch(const struct network *network, int64_t batch, struct network *other,
                             struct error *error);

/* Blocks of `other`, a copy of network's calls: those that were launched on `from`, times what
 * the estimate for the new sizes and the chip `to` is of the estimate for the old. */
void network_relaunch(struct network *other, const struct hardware *to,
                      const struct network *network, const struct hardware *from);

#endif
