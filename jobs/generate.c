#include "jobs/generate.h"

#include "analysis/check/check.h"
#include "analysis/check/oversync.h"
#include "costmodel/simulate.h"

#include <stdlib.h>

/* A program being tidied: it is written anew for every trial. */
struct tidying {
    const struct space *space;
    const struct tiling *tiling;
    int part, cores;
    struct program *program;
    struct simulator *simulator;
    struct oversync found;
    bool *gone; /* per instruction as written */
    struct error *error;
};

static enum status write_without(struct tidying *t)
{
    program_reset(t->program, t->space->hw);
    enum status status =
        t->space->kind->generate(t->space, t->tiling, t->part, t->program, t->error);
    if (status == STATUS_OK)
        program_remove(t->program, t->gone);
    return status;
}

static enum status play(struct tidying *t, int64_t *end_fs)
{
    struct timeline timeline = {0};
    struct simulate_options options = {.cores = t->cores};
    enum status status = simulate(t->simulator, t->program, &options, &timeline, t->error);
    *end_fs = timeline.end_fs;
    return status;
}

static void set_unit(struct tidying *t, int32_t unit, bool gone)
{
    const struct oversync_unit *u = &t->found.units[unit];
    for (int32_t i = u->first; i < u->first + u->count; i++)
        t->gone[t->found.items[i]] = gone;
}

/* Takes out units [first, last) and keeps them out when that takes the same time; otherwise tries
 * the halves. */
static enum status take_out(struct tidying *t, int32_t first, int32_t last, int64_t wanted_fs)
{
    int64_t end_fs = 0;
    for (int32_t unit = first; unit < last; unit++)
        set_unit(t, unit, true);
    enum status status = write_without(t);
    if (status == STATUS_OK)
        status = play(t, &end_fs);
    if (status != STATUS_OK || end_fs == wanted_fs)
        return status;
    for (int32_t unit = first; unit < last; unit++)
        set_unit(t, unit, false);
    if (last - first < 2)
        return STATUS_OK;
    int32_t middle = first + (last - first) / 2;
    status = take_out(t, first, middle, wanted_fs);
    return status == STATUS_OK ? take_out(t, middle, last, wanted_fs) : status;
}

/* What stays because of the time may have needed what has gone: then everything stays. */
static enum status confirm(struct tidying *t)
{
    struct check check;
    bool safe = true;
    enum status status = write_without(t);
    if (status == STATUS_OK)
        status = program_check(t->program, &check, t->error);
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < check.count; i++)
        safe &= check.findings[i].kind == FINDING_OVER_SYNC;
    check_clear(&check);
    for (int32_t unit = 0; unit < t->found.unit_count && !safe; unit++)
        set_unit(t, unit, false);
    return safe ? STATUS_OK : write_without(t);
}

static enum status tidy(struct tidying *t)
{
    int64_t wanted_fs;
    t->gone = calloc((size_t)t->program->count + 1, sizeof *t->gone);
    t->simulator = simulator_new();
    if (!t->gone || !t->simulator)
        return error_memory(t->error);
    enum status status = play(t, &wanted_fs);
    if (status == STATUS_OK)
        status = take_out(t, 0, t->found.unit_count, wanted_fs);
    return status == STATUS_OK ? confirm(t) : status;
}

enum status generate_program(const struct space *space, const struct tiling *tiling, int part,
                             struct program *program, struct error *error)
{
    struct tidying t = {.space = space,
                        .tiling = tiling,
                        .part = part,
                        .cores = space->kind->cores_used(space, tiling),
                        .program = program,
                        .error = error};
    enum status status = space->kind->generate(space, tiling, part, program, error);
    if (status == STATUS_OK)
        status = oversync_find(program, &t.found, error);
    if (status == STATUS_TOO_LARGE)
        return STATUS_OK;
    if (status == STATUS_OK && t.found.unit_count)
        status = tidy(&t);
    oversync_clear(&t.found);
    simulator_free(t.simulator);
    free(t.gone);
    return status;
}
