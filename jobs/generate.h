/* The program of a tiling as a user gets it.
 *
 * Generators write loops whose bodies are all alike, and so flags before and after them that order
 * nothing in tilings with few tiles. Here these are taken out (analysis/oversync.h); the search plays
 * the program as it is written, which takes the same time. Where taking them out would change the
 * time, since the chip charges for the dispatch of every instruction, they stay. */
#ifndef AUTOTUNE_JOBS_GENERATE_H
#define AUTOTUNE_JOBS_GENERATE_H

#include "kernels/operator.h"

/* Appends one part's program of one core to *program (reset by the caller) and closes it, as
 * operator_space.generate does. */
enum status generate_program(const struct space *space, const struct tiling *tiling, int part,
                             struct program *program, struct error *error);

#endif
