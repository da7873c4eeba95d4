/* The gates stand in find_gate, cheapest first: simulated time, safety, symbolic values. Two
 * programs are compared in pieces that cut the operands of both, so the first one's are taken anew
 * where a change needs finer pieces. What exceeds a limit is refused, not an error. */
#include "analysis/advice/trial.h"

#include "analysis/advice/advice_tidy.h"
#include "analysis/advice/grain.h"
#include "analysis/advice/resync.h"
#include "analysis/advice/safety.h"

#include <stdio.h>
#include <string.h>

/* Its time, or -1 when it deadlocks. */
static enum status time_of(struct trial *trial, const struct program *program, int64_t *time_fs,
                           struct error *error)
{
    struct simulate_options options = {.cores = trial->cores};
    struct timeline timeline;
    TRY(simulate(trial->simulator, program, &options, &timeline, error));
    *time_fs = timeline.blocked >= 0 ? -1 : timeline.end_fs;
    return STATUS_OK;
}

enum status trial_open(struct trial *trial, const struct program *program, int cores,
                       struct error *error)
{
    struct safety safety = {0};
    *trial = (struct trial){.first = program, .cores = cores};
    if (program->executed > TRIAL_MAX_EXECUTED)
        return error_set(error, STATUS_TOO_LARGE,
                         "more than %d instructions to follow, loops unrolled", TRIAL_MAX_EXECUTED);
    trial->simulator = simulator_new();
    if (!trial->simulator)
        return error_memory(error);
    enum status status = time_of(trial, program, &trial->first_fs, error);
    if (status == STATUS_OK)
        status = safety_of(program, &safety, error);
    trial->safe = safety.safe;
    trial->misaligned = safety.misaligned;
    trial->unnamed_line = safety.unnamed_line;
    memcpy(trial->why, safety.why, sizeof trial->why);
    if (status == STATUS_OK && trial->safe) {
        trial->grain = grain_of(program);
        status = symbolic_evaluate(program, trial->grain, &trial->first_symbolic, error);
    }
    if (status == STATUS_OK && trial->safe)
        status = tidy_is(program, &trial->tidy, error);
    if (status != STATUS_OK)
        trial_close(trial);
    return status;
}

void trial_close(struct trial *trial)
{
    simulator_free(trial->simulator);
    program_clear(&trial->best);
    trial->simulator = NULL;
}

void trial_begin(struct trial *trial)
{
    program_clear(&trial->best);
    trial->best_fs = trial->first_fs;
    trial->tries = 0;
    trial->events = 0;
    memset(trial->refused, 0, sizeof trial->refused);
}

const struct program *trial_program(const struct trial *trial)
{
    return trial->best.hw ? &trial->best : trial->first;
}

bool trial_goes_on(const struct trial *trial)
{
    return trial->tries < TRIAL_MAX_TRIES && trial->events < TRIAL_MAX_EVENTS;
}

static enum status means_the_same(struct trial *trial, const struct program *program, bool *same,
                                  struct error *error)
{
    struct symbolic first = trial->first_symbolic, changed;
    int64_t grain = grain_divisor(trial->grain, grain_of(program));
    enum status status = STATUS_OK;
    if (grain != trial->grain)
        status = symbolic_evaluate(trial->first, grain, &first, error);
    if (status == STATUS_OK)
        status = symbolic_evaluate(program, grain, &changed, error);
    *same = status == STATUS_OK && symbolic_equal(&first, &changed);
    return status;
}

/* The gate at which a program is refused; TRIAL_GATES when it passes all. */
static enum status find_gate(struct trial *trial, const struct program *program, enum trial_aim aim,
                             int64_t *time_fs, enum trial_gate *gate, struct error *error)
{
    struct safety safety;
    bool same = false;
    enum status status = time_of(trial, program, time_fs, error);
    *gate = *time_fs < 0 ? TRIAL_UNSAFE : TRIAL_SLOWER;
    int64_t most_fs[] = {[TRIAL_FASTER] = trial->best_fs - 1,
                         [TRIAL_NOT_SLOWER] = trial->best_fs,
                         [TRIAL_ANY_TIME] = INT64_MAX};
    if (status != STATUS_OK || *time_fs < 0 || *time_fs > most_fs[aim])
        return status;
    *gate = TRIAL_UNSAFE;
    trial->events += program->executed;
    status = safety_of(program, &safety, error);
    if (status != STATUS_OK || !safety.safe || safety.misaligned > trial->misaligned)
        return status;
    *gate = TRIAL_DIFFERENT;
    status = means_the_same(trial, program, &same, error);
    if (same)
        *gate = TRIAL_GATES;
    return status;
}

enum status trial_try(struct trial *trial, const struct edit *edit, enum trial_aim aim, bool *taken,
                      struct error *error)
{
    struct program changed;
    enum trial_gate gate = TRIAL_UNSAFE;
    int64_t time_fs = -1;
    *taken = false;
    trial->tries++;
    enum status status = edit_program(edit, &changed, error);
    if (status == STATUS_OK)
        status = find_gate(trial, &changed, aim, &time_fs, &gate, error);
    if (status == STATUS_NO_MEMORY) {
        program_clear(&changed);
        return status;
    }
    gate = status == STATUS_OK ? gate : TRIAL_UNPROVEN;
    *taken = gate == TRIAL_GATES;
    if (!*taken) {
        trial->refused[gate]++;
        program_clear(&changed);
        return STATUS_OK;
    }
    program_clear(&trial->best);
    trial->best = changed;
    trial->best_fs = time_fs;
    return STATUS_OK;
}

enum status trial_try_synced(struct trial *trial, struct edit *edit, bool *taken,
                             struct error *error)
{
    bool better = false;
    TRY(trial_try(trial, edit, TRIAL_FASTER, taken, error));
    if (resync(edit))
        TRY(trial_try(trial, edit, TRIAL_FASTER, &better, error));
    *taken |= better;
    return STATUS_OK;
}

static enum status try_at(struct trial *trial, int32_t at, bool (*change)(struct edit *, int32_t),
                          bool *taken, struct error *error)
{
    struct edit edit;
    enum status status = edit_open(&edit, trial_program(trial), error);
    if (status == STATUS_OK && change(&edit, at))
        status = trial_try_synced(trial, &edit, taken, error);
    edit_close(&edit);
    return status;
}

enum status trial_moves(struct trial *trial, bool (*first)(struct edit *edit, int32_t at),
                        bool (*second)(struct edit *edit, int32_t at), struct error *error)
{
    for (int32_t at = 0; at < trial_program(trial)->count; at++) {
        bool taken = false;
        if (trial_program(trial)->items[at].kind != INSTRUCTION_MOVE || !trial_goes_on(trial))
            continue;
        TRY(try_at(trial, at, first, &taken, error));
        if (!taken)
            TRY(try_at(trial, at, second, &taken, error));
    }
    return STATUS_OK;
}
