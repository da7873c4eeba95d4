/* What an answer about Cube-fx says beyond its best tiling. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_CUBEFX_DETAILS_H
#define AUTOTUNE_KERNELS_CUBEFX_CUBEFX_DETAILS_H

#include "core/operator.h"

enum status cubefx_details(const struct problem *problem, const struct space *space,
                           const struct search_result *result,
                           const struct details_options *options, struct json_t *details,
                           struct error *error);

/* Takes out the plan of every merge count, and coefficients. */
void cubefx_shorten(struct json_t *details);

#endif
