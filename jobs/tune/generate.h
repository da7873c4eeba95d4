/* The program of a tiling as a user gets it: what the search has simulated, without superfluous
 * synchronisation.
 *
 * Where dispatching an instruction takes time, the search itself simulates programs without it
 * (search/tiling_simulator.h). Elsewhere taking it out takes no time off, for generators let no
 * flag hold back more than it has to; should one do so all the same, the program stays as it was
 * searched. */
#ifndef AUTOTUNE_JOBS_TUNE_GENERATE_H
#define AUTOTUNE_JOBS_TUNE_GENERATE_H

#include "core/operator.h"

/* Writes one part's program of one core to *program and closes it, as operator_space.generate does.
 * Not for the search: it takes ten to a hundred times as long. */
enum status generate_program(const struct space *space, const struct tiling *tiling, int part,
                             struct program *program, struct error *error);

#endif
