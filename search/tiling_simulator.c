/* A tiling's program is generated into memory that is used again, tidied as for the user, and
 * simulated; on a processor the closed form is asked instead. */
#include "search/tiling_simulator.h"

#include "analysis/check/oversync.h"
#include "costmodel/host_time.h"

enum status tiling_simulator_open(struct tiling_simulator *simulator, struct error *error)
{
    *simulator = (struct tiling_simulator){.model = simulator_new()};
    return simulator->model ? STATUS_OK : error_memory(error);
}

void tiling_simulator_close(struct tiling_simulator *simulator)
{
    simulator_free(simulator->model);
    program_clear(&simulator->program);
}

void asked_timeline(const struct space *space, const struct tiling *tiling,
                    struct timeline *timeline)
{
    struct host_work work;
    space->kind->ask(space, tiling, &work);
    host_time(space->hw->host, &work, timeline);
}

enum status tiling_simulator_tidy(struct tiling_simulator *simulator, const struct stop *stop,
                                  struct error *error)
{
    return simulator->program.hw->dispatch_fs ? program_tidy(&simulator->program, stop, error)
                                              : STATUS_OK;
}

enum status tiling_simulator_run(struct tiling_simulator *simulator, const struct space *space,
                                 const struct tiling *tiling, int part, struct timeline *timeline,
                                 struct error *error)
{
    if (space->kind->ask) {
        asked_timeline(space, tiling, timeline);
        return STATUS_OK;
    }
    struct simulate_options options = {.cores = space->kind->cores_used(space, tiling, part),
                                       .stop = space->stop,
                                       .limit_fs = simulator->limit_fs};
    program_reset(&simulator->program, space->hw);
    TRY(space->kind->generate(space, tiling, part, &simulator->program, error));
    TRY(tiling_simulator_tidy(simulator, space->stop, error));
    TRY(simulate(simulator->model, &simulator->program, &options, timeline, error));
    if (timeline->blocked >= 0)
        return error_set(error, STATUS_INVALID,
                         "the generated program deadlocks in its instruction %d",
                         timeline->blocked + 1);
    return STATUS_OK;
}
