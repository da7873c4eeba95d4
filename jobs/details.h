/* What an answer says about one operator beyond its best tiling: the stages of a k-NN, the integer
 * program of Cube-fx, what both are compared with. JSON that results/outline.h lays out for people.
 */
#ifndef AUTOTUNE_JOBS_DETAILS_H
#define AUTOTUNE_JOBS_DETAILS_H

#include "search/search.h"
#include "validate/host/cubefx_functions.h"

#include <jansson.h>

struct details_options {
    bool compare;                      /* with what a user would use instead */
    const volatile sig_atomic_t *stop; /* becomes non-zero to leave the comparison out; or NULL */
    int threads;
    /* Cube-fx */
    int64_t mac;            /* edge of the matrix unit in the integer program; 0: the chip's */
    double transfer_weight; /* b of eq. 4.11 */
    int function_count;     /* 0: they are only counted */
    const struct cubefx_function *functions;
    double expand_at;
};

/* Sets *details to an object of members for the answer, or to NULL where the operator has none. The
 * caller owns it. */
enum status details_make(const struct problem *problem, const struct space *space,
                         const struct search_result *result, const struct details_options *options,
                         json_t **details, struct error *error);

/* Takes out what only machines want: the plan of every merge count, coefficients. */
void details_shorten(json_t *details);

#endif
