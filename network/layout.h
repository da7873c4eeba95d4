/* A tensor as the library keeps it: its dimensions padded to blocks of 16. */
#ifndef AUTOTUNE_NETWORK_LAYOUT_H
#define AUTOTUNE_NETWORK_LAYOUT_H

#include "network/network.h"

/* Fills `tensor` with that of these dimensions in a format: FORMAT_NC1HWC0 of N, C, H, W;
 * FORMAT_Z of a filter, Cout, C, kh, kw; FORMAT_NZ of matrices, the last two of 2 to
 * TENSOR_MAX_RANK - 2 dimensions; else as they are. False where it is more than a tensor may be. */
bool tensor_lay_out(const int64_t *size, int rank, enum tensor_format format, enum dtype type,
                    struct operator_tensor *tensor);

#endif
