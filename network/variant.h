/* The same step at another batch, or with as many blocks as it would launch on another chip. */
#ifndef AUTOTUNE_NETWORK_VARIANT_H
#define AUTOTUNE_NETWORK_VARIANT_H

#include "core/hardware.h"
#include "network/network.h"

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
