/* Simulates measured kernels with the tilings that they ran with. A row becomes problem, tiling
 * and space; the tiling's program is generated and simulated. What was measured has run, so a
 * tiling may lie outside the space: only what breaks a limit of the chip is refused. Threads share
 * the rows out one by one, each with a simulator of its own, and a row that cannot be played keeps
 * the reason in place of its time. */
#include "jobs/evaluate/evaluate.h"

#include "costmodel/features.h"
#include "kernels/details.h"
#include "kernels/operator_bank.h"
#include "kernels/registry.h"

#include <stdio.h>
#include <string.h>

enum status evaluate_tiling(struct tiling_simulator *simulator, const struct space *space,
                            const struct tiling *tiling, struct prediction *p, struct error *error)
{
    struct simulated simulated;
    p->cores_used = space->kind->cores_used(space, tiling, 0);
    program_reset(&simulator->program, space->hw);
    TRY(space->kind->generate(space, tiling, 0, &simulator->program, error));
    TRY(simulate_program(simulator, p->cores_used, &simulated, error));
    p->predicted_ns = simulated.time_ns;
    memcpy(p->busy_ns, simulated.busy_ns, sizeof p->busy_ns);
    memcpy(p->bus_bytes, simulated.bus_bytes, sizeof p->bus_bytes);
    return STATUS_OK;
}

/* What of a row is asked beside its time; `features` is the row's own place, or NULL. */
struct row_more {
    const struct hardware *chip;
    const struct correction *correction;
    struct features *features;
};

static void add_more(const struct row_more *more, const struct problem *problem,
                     const struct space *space, const struct tiling *tiling,
                     const struct program *program, struct prediction *p)
{
    struct features own = {.count = 0}, *features = more->features ? more->features : &own;
    p->problem = correction_problem(problem->size, problem->op->size_count);
    p->campaign_ns = p->predicted_ns;
    if (!more->features && !more->correction)
        return;
    features_of(&(struct simulated_kernel){problem, space, tiling, program, p->cores_used,
                                           p->predicted_ns, p->busy_ns},
                features);
    if (more->correction)
        correction_apply(more->correction, features, p->predicted_ns, &p->corrected);
}

/* What was measured has run, in the space or outside. */
static enum status simulate_if_it_runs(struct tiling_simulator *simulator,
                                       const struct space *space, const struct tiling *tiling,
                                       struct prediction *p, struct error *error)
{
    struct violation violations[MAX_VIOLATIONS];
    int count = space->kind->violations(space, tiling, violations);
    for (int i = 0; i < count; i++)
        if (!violations[i].outside)
            return error_set(error, STATUS_INVALID, "illegal here: %s", violations[i].text);
    return evaluate_tiling(simulator, space, tiling, p, error);
}

enum status evaluate_open(const struct bank_row *row, const struct hardware *hw,
                          struct problem *problem, struct tiling *tiling, struct space *space,
                          struct error *error)
{
    if (row->unfit)
        return error_set(error, STATUS_INVALID, "%s", row->unfit);
    const struct operator* op;
    const struct operator_space *kind = operator_banked(&op);
    kind = kind->bank->spaces[row->format];
    TRY(kind->bank->problem(row, problem, error));
    TRY(kind->bank->tiling(row, problem, tiling, error));
    int64_t cores = tiling->value[kind->bank->cores_axis];
    if (cores > hw->cores)
        return error_set(error, STATUS_INVALID, "%lld cores of %d", (long long)cores, hw->cores);
    return space_open(problem, kind, hw, hw->cores, space, error);
}

static enum status play_row(struct tiling_simulator *simulator, const struct bank_row *row,
                            const struct hardware *hw, const struct row_more *more,
                            struct prediction *p, struct error *error)
{
    struct problem problem;
    struct tiling tiling;
    struct space space;
    TRY(evaluate_open(row, hw, &problem, &tiling, &space, error));
    enum status status = simulate_if_it_runs(simulator, &space, &tiling, p, error);
    if (status == STATUS_OK)
        add_more(more, &problem, &space, &tiling, &simulator->program, p);
    space_close(&space);
    return status;
}

/* On the chip, and where more is asked for of it as it was in another campaign, there too. */
static enum status evaluate_row(struct tiling_simulator *simulator, const struct bank_row *row,
                                const struct hardware *hw, const struct row_more *more,
                                struct prediction *p, struct error *error)
{
    static const struct row_more nothing = {NULL, NULL, NULL};
    struct prediction there = {0};
    if (!more->chip || more->chip == hw)
        return play_row(simulator, row, hw, more, p, error);
    TRY(play_row(simulator, row, hw, &nothing, p, error));
    TRY(play_row(simulator, row, more->chip, more, &there, error));
    p->campaign_ns = there.campaign_ns;
    p->corrected = there.corrected;
    return STATUS_OK;
}

/* One row; only what is no fault of the row is an error. */
static enum status predict(struct tiling_simulator *simulator, const struct bank_row *row,
                           const struct hardware *hw, const struct row_more *more,
                           const volatile sig_atomic_t *stop, struct prediction *p,
                           struct error *error)
{
    *p = (struct prediction){0};
    if (stop && *stop) {
        snprintf(p->reason, sizeof p->reason, "interrupted");
        return STATUS_OK;
    }
    enum status status = evaluate_row(simulator, row, hw, more, p, error);
    if (status != STATUS_OK)
        snprintf(p->reason, sizeof p->reason, "%.190s", error->text);
    return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

enum status evaluate_rows_more(const struct bank_row rows[], size_t count,
                               const struct hardware *hw, int threads,
                               const volatile sig_atomic_t *stop, const struct evaluate_more *more,
                               struct prediction predictions[], struct error *error)
{
    enum status result = STATUS_OK;
#pragma omp parallel num_threads(threads)
    {
        struct tiling_simulator simulator;
        struct error own = {0};
        enum status status = tiling_simulator_open(&simulator, &own);
#pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < count; i++) {
            const struct row_more of_row = {more->chip, more->correction,
                                            more->features ? &more->features[i] : NULL};
            if (status == STATUS_OK)
                status = predict(&simulator, &rows[i], hw, &of_row, stop, &predictions[i], &own);
        }
        tiling_simulator_close(&simulator);
#pragma omp critical
        if (status != STATUS_OK) {
            result = status;
            *error = own;
        }
    }
    return result;
}

enum status evaluate_rows(const struct bank_row rows[], size_t count, const struct hardware *hw,
                          int threads, const volatile sig_atomic_t *stop,
                          struct prediction predictions[], struct error *error)
{
    static const struct evaluate_more nothing = {NULL, NULL, NULL};
    return evaluate_rows_more(rows, count, hw, threads, stop, &nothing, predictions, error);
}
