/* The papers' numbers, side by side with ours: every published figure that the model can produce,
 * recomputed, with the reason where they differ. Nothing here is tuned to a row. */
#ifndef AUTOTUNE_JOBS_REPRODUCE_REPRODUCE_H
#define AUTOTUNE_JOBS_REPRODUCE_REPRODUCE_H

#include "core/hardware.h"
#include "core/status.h"

#include <jansson.h>

/* The chip of the rows about networks, as it is described: its library is what was learned. */
#define REPRODUCE_NETWORK_CHIP "ascend910"
/* The chip of the rows about one whose cube and vector cores are apart. */
#define REPRODUCE_APART_CHIP "ascend910b1"

/* Sets *rows to an array of {source, quantity, unit, paper, ours, ratio, why}; ours and ratio are
 * null for what was measured on silicon and cannot be recomputed. The caller owns it. `hw` is the
 * Ascend 310, of all other rows; `source` is how the sources of wanted rows begin, "" for all;
 * `threads` >= 1. STATUS_INVALID where no row is wanted. */
enum status reproduce(const struct hardware *hw, const char *source, int threads, json_t **rows,
                      struct error *error);

#endif
