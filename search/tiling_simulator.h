/* One thread's tools: a program's memory and a simulator. */
#ifndef AUTOTUNE_SEARCH_TILING_SIMULATOR_H
#define AUTOTUNE_SEARCH_TILING_SIMULATOR_H

#include "core/operator.h"
#include "core/timeline.h"
#include "costmodel/simulate.h"

struct tiling_simulator {
    struct simulator *model;
    struct program program;
    int64_t limit_fs; /* as of struct simulate_options */
};

enum status tiling_simulator_open(struct tiling_simulator *simulator, struct error *error);
void tiling_simulator_close(struct tiling_simulator *simulator);

/* The closed form of a tiling on a processor: of spaces with `ask`. */
void asked_timeline(const struct space *space, const struct tiling *tiling,
                    struct timeline *timeline);

/* Takes superfluous synchronisation out of simulator->program where dispatching an instruction
 * takes time, so that what is simulated takes as long as what is handed out
 * (jobs/tune/report_program.h). Elsewhere such flags take none, and looking for them would take far
 * longer than simulating. */
enum status tiling_simulator_tidy(struct tiling_simulator *simulator, const struct stop *stop,
                                  struct error *error);

/* Generates one part of a tiling and simulates it, all working cores in step on the bus. A
 * generated program that deadlocks is an error. The program stays in simulator->program. On a
 * processor there is none: the closed form is the time. STATUS_STOPPED when space->stop says so. */
enum status tiling_simulator_run(struct tiling_simulator *simulator, const struct space *space,
                                 const struct tiling *tiling, int part, struct timeline *timeline,
                                 struct error *error);

#endif
