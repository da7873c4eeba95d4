/* The program of a tiling as a user gets it.
 *
 * Generators write loops whose bodies are all alike, and so flags before and after them that order
 * nothing in tilings with few tiles. Here these are taken out (analysis/check/oversync.h), as far
 * as that leaves the time as it is: the search plays programs as they are written, and what is
 * handed out takes the time that it promised. */
#ifndef AUTOTUNE_JOBS_GENERATE_H
#define AUTOTUNE_JOBS_GENERATE_H

#include "kernels/operator.h"

/* Appends one part's program of one core to *program (reset by the caller) and closes it, as
 * operator_space.generate does. Not for the search: it takes a hundred times as long. */
enum status generate_program(const struct space *space, const struct tiling *tiling, int part,
                             struct program *program, struct error *error);

#endif
