/* What an answer about k-NN says beyond its best tiling. */
#ifndef AUTOTUNE_KERNELS_KNN_KNN_DETAILS_H
#define AUTOTUNE_KERNELS_KNN_KNN_DETAILS_H

#include "core/operator.h"

enum status knn_details(const struct problem *problem, const struct space *space,
                        const struct search_result *result, const struct details_options *options,
                        struct json_t *details, struct error *error);

#endif
