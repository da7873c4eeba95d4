/* The program of a tiling as a user gets it: without superfluous synchronisation.
 *
 * Where dispatching an instruction takes time, the search plays exactly this (search/player.h).
 * Elsewhere it plays programs as they are written. What is taken out then takes no time, but for
 * one MatMul in some hundred of the space cann: there a flag held a load back that the program
 * handed out starts earlier. */
#ifndef AUTOTUNE_JOBS_GENERATE_H
#define AUTOTUNE_JOBS_GENERATE_H

#include "kernels/operator.h"

/* Appends one part's program of one core to *program (reset by the caller) and closes it, as
 * operator_space.generate does. Not for the search: it takes ten to a hundred times as long. */
enum status generate_program(const struct space *space, const struct tiling *tiling, int part,
                             struct program *program, struct error *error);

#endif
