/* What an answer says of one operator beyond its best tiling, by the functions of its spaces
 * (core/operator.h): the stages of a k-NN, the integer program of Cube-fx, what both are compared
 * with. JSON that results/outline.h lays out for people. */
#ifndef AUTOTUNE_KERNELS_DETAILS_H
#define AUTOTUNE_KERNELS_DETAILS_H

#include "core/operator.h"
#include "search/search.h"
#include "search/tiling_simulator.h"

#include <jansson.h>

struct details_options {
    bool compare;                      /* with what a user would use instead */
    const volatile sig_atomic_t *stop; /* becomes non-zero to leave the comparison out; or NULL */
    int threads;
};

/* Sets *details to an object of members for the answer, or to NULL where the operator has none. The
 * caller owns it. */
enum status details_make(const struct problem *problem, const struct space *space,
                         const struct search_result *result, const struct details_options *options,
                         json_t **details, struct error *error);

/* The pipe or bus with the largest share of `busy_ns`, and its time; buses at their best rate. */
struct limiter {
    const char *name;
    double busy_ns;
};
struct limiter limiter_of(const struct hardware *hw, const double busy_ns[HARDWARE_MAX_PIPES],
                          const double bus_bytes[HARDWARE_MAX_BUSES]);

/* What one program does on `cores` cores in step. */
struct simulated {
    double time_ns; /* launch included */
    double busy_ns[HARDWARE_MAX_PIPES];
    double bus_bytes[HARDWARE_MAX_BUSES]; /* of all cores */
};

/* Simulates simulator->program, as the search does (tiling_simulator_tidy). */
enum status simulate_program(struct tiling_simulator *simulator, int cores,
                             struct simulated *simulated, struct error *error);

#endif
