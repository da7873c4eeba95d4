#include "jobs/tune/generate.h"

#include "analysis/check/oversync.h"
#include "costmodel/simulate.h"

static enum status time_fs(const struct program *program, int cores, int64_t *fs,
                           struct error *error)
{
    struct simulator *simulator = simulator_new();
    struct timeline timeline;
    if (!simulator)
        return error_memory(error);
    enum status status =
        simulate(simulator, program, &(struct simulate_options){.cores = cores}, &timeline, error);
    *fs = timeline.end_fs;
    simulator_free(simulator);
    return status;
}

static enum status write_program(const struct space *space, const struct tiling *tiling, int part,
                                 struct program *program, struct error *error)
{
    program_reset(program, space->hw);
    return space->kind->generate(space, tiling, part, program, error);
}

enum status generate_program(const struct space *space, const struct tiling *tiling, int part,
                             struct program *program, struct error *error)
{
    int64_t searched_fs = 0, tidy_fs = 0;
    int cores = space->kind->cores_used(space, tiling, part);
    bool dispatched = space->hw->dispatch_fs > 0; /* then the search has tidied it, too */
    TRY(write_program(space, tiling, part, program, error));
    if (!dispatched)
        TRY(time_fs(program, cores, &searched_fs, error));
    TRY(program_tidy(program, error));
    if (!dispatched)
        TRY(time_fs(program, cores, &tidy_fs, error));
    if (tidy_fs != searched_fs)
        TRY(write_program(space, tiling, part, program, error));
    return STATUS_OK;
}
