/* The gates stand in find_gate, cheapest first: simulated time, safety, symbolic values. Two
 * programs are compared in pieces that cut the operands of both, so the first one's are taken anew
 * where a change needs finer pieces. What exceeds a limit is refused, not an error.
 *
 * What oversync finds may go together, so it is all deleted in one change, from the last line on so
 * that line numbers before it stay true. The search sees only so far into a long program; so it is
 * repeated until it finds nothing or the trial refuses. */
#include "analysis/advice/trial.h"

#include "analysis/advice/resync.h"
#include "analysis/check/check.h"
#include "analysis/check/oversync.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ safety */

/* The first line with an operand that may lie anywhere in a buffer of the chip; 0: none. */
static int32_t find_unnamed(const struct program *program)
{
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        uint32_t named = 0, needed = 0;
        for (int r = 0; r < in->region_count; r++)
            named |= 1u << program->regions[in->first_region + r].role;
        if (in->kind == INSTRUCTION_MATRIX)
            needed = 1u << OPERAND_A | 1u << OPERAND_B | 1u << OPERAND_DST;
        else if (in->kind == INSTRUCTION_VECTOR)
            needed = 1u << OPERAND_DST;
        else if (in->kind == INSTRUCTION_MOVE) {
            const struct path *path = &program->hw->paths[in->what];
            const struct buffer *buffers = program->hw->buffers;
            needed |= buffers[path->source].capacity_bytes ? 1u << OPERAND_SRC : 0;
            needed |= buffers[path->destination].capacity_bytes ? 1u << OPERAND_DST : 0;
        }
        if (needed & ~named)
            return in->line;
    }
    return 0;
}

enum status safety_of(const struct program *program, struct safety *safety, struct error *error)
{
    struct check check;
    enum status status = program_check_safety(program, &check, error);
    *safety = (struct safety){.safe = status == STATUS_OK, .unnamed_line = find_unnamed(program)};
    if (status != STATUS_OK)
        return status;
    for (size_t i = 0; i < check.count; i++) {
        const struct finding *finding = &check.findings[i];
        if (finding->kind == FINDING_ALIGNMENT) {
            safety->misaligned++;
            continue;
        }
        if (safety->safe)
            memcpy(safety->why, finding->text, sizeof safety->why);
        safety->safe = false;
    }
    check_clear(&check);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ trials */

/* Nothing where the program is too long. */
static enum status find_superfluous(const struct program *program, struct oversync *found,
                                    struct error *error)
{
    enum status status = oversync_find(program, found, error);
    return status == STATUS_TOO_LARGE ? STATUS_OK : status;
}

/* Is there none in the program? So it seems, too, where it is too long to be searched. */
static enum status tidy_is(const struct program *program, bool *tidy, struct error *error)
{
    struct oversync found;
    enum status status = find_superfluous(program, &found, error);
    *tidy = found.item_count == 0;
    oversync_clear(&found);
    return status;
}

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

/* ------------------------------------------------------------------ superfluous synchronisation */

static int from_last(const void *one, const void *other)
{
    int32_t a = *(const int32_t *)one, b = *(const int32_t *)other;
    return (a < b) - (a > b);
}

/* Takes out all that may go, from the last line on. *taken: something did. */
static enum status take_out_superfluous(struct trial *trial, enum trial_aim aim, bool *taken,
                                        struct error *error)
{
    struct oversync found;
    struct edit edit;
    *taken = false;
    enum status status = find_superfluous(trial_program(trial), &found, error);
    if (status != STATUS_OK || found.item_count == 0) {
        oversync_clear(&found);
        return status;
    }
    qsort(found.items, (size_t)found.item_count, sizeof *found.items, from_last);
    status = edit_open(&edit, trial_program(trial), error);
    for (int32_t i = 0; i < found.item_count && status == STATUS_OK; i++)
        edit_delete(&edit, found.items[i], 1);
    if (status == STATUS_OK)
        status = trial_try(trial, &edit, aim, taken, error);
    edit_close(&edit);
    oversync_clear(&found);
    return status;
}

enum status tidy(struct trial *trial, enum trial_aim aim, struct error *error)
{
    enum status status;
    bool taken;
    do /* of a program too long to be searched at once, more is found each time */
        status = take_out_superfluous(trial, aim, &taken, error);
    while (status == STATUS_OK && taken);
    return status;
}

enum status tidy_change(struct trial *trial, struct error *error)
{
    bool is_tidy = true;
    enum status status = tidy(trial, TRIAL_ANY_TIME, error);
    if (status == STATUS_OK)
        status = tidy_is(trial_program(trial), &is_tidy, error);
    if (!is_tidy) {
        program_clear(&trial->best);
        trial->best_fs = trial->first_fs;
    }
    return status;
}
