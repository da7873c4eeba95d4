/* What a user asks an answer about Cube-fx to say: named functions, and how its integer program is
 * weighed. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_CUBEFX_REQUESTS_H
#define AUTOTUNE_KERNELS_CUBEFX_CUBEFX_REQUESTS_H

#include "core/operator.h"
#include "kernels/cubefx/cubefx_functions.h"

enum cubefx_request {
    CUBEFX_FUNCTION,
    CUBEFX_MAC,
    CUBEFX_TRANSFER_WEIGHT,
    CUBEFX_EXPAND_AT,
    CUBEFX_REQUESTS,
};

enum { CUBEFX_MAX_FUNCTIONS = 64 };

extern const struct operator_request cubefx_request_rows[CUBEFX_REQUESTS];

struct cubefx_requests {
    int64_t mac;            /* edge of the matrix unit in the integer program; 0: the chip's */
    double transfer_weight; /* b of eq. 4.11 */
    double expand_at;
    int function_count; /* 0: they are only counted */
    struct cubefx_function functions[CUBEFX_MAX_FUNCTIONS];
};

/* Reads the texts of a problem. STATUS_INVALID names the option, what it says and what was
 * expected. */
enum status cubefx_requests_read(const struct problem *problem, struct cubefx_requests *requests,
                                 struct error *error);

#endif
