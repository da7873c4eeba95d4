/* The least of a function of several variables without its derivatives: Nelder and Mead's simplex
 * by GSL, begun anew from the best point until that helps no more. The same answer every time. */
#ifndef AUTOTUNE_VALIDATE_SIMPLEX_H
#define AUTOTUNE_VALIDATE_SIMPLEX_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIMPLEX_MAX_VARIABLES = 192 };

struct simplex {
    /* The function; false ends the search (time, a failure), and the value does not count. */
    bool (*value)(void *context, const double at[], double *value);
    void *context;
    int count;           /* of variables, 1 to SIMPLEX_MAX_VARIABLES */
    const double *steps; /* of the first simplex, and of those begun anew: one a variable, not 0 */
    double size;         /* a simplex smaller than this has converged */
    double gain;         /* two rounds that lower the value by a smaller share each are the last */
    int rounds;          /* at most, >= 1 */
    int steps_a_round;   /* at most, >= 1 */
};

enum simplex_end { SIMPLEX_CONVERGED, SIMPLEX_ROUNDS, SIMPLEX_STOPPED };

/* Moves `best` (where it starts) to the best point found and sets *value to its value. The
 * function was never called where it ended with SIMPLEX_STOPPED on the first call: then STATUS_OK,
 * and *value is infinite. STATUS_NO_MEMORY. */
enum status simplex_minimise(const struct simplex *simplex, double best[], double *value,
                             enum simplex_end *end, struct error *error);

#endif
