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

/* What one thread simulates with, and what is asked of it. */
struct evaluator {
    struct tiling_simulator simulator;
    const struct hardware *hw;
    const volatile sig_atomic_t *stop;
    const struct evaluate_more *more;
};

/* What was simulated last, corrected, and its features kept. */
static void add_more(const struct evaluator *e, size_t row, const struct simulated_kernel *kernel,
                     struct prediction *p)
{
    struct features own, *features = e->more->features ? &e->more->features[row] : &own;
    if (!e->more->features && !e->more->correction)
        return;
    features_of(kernel, features);
    if (e->more->correction)
        correction_apply(e->more->correction, features, kernel->time_ns, &p->corrected);
}

/* Simulates a tiling that the chip can run. */
static enum status simulate_tiling(struct evaluator *e, size_t row, const struct problem *problem,
                                   const struct space *space, const struct tiling *tiling,
                                   struct prediction *p, struct error *error)
{
    struct simulated simulated;
    struct program *program = &e->simulator.program;
    p->cores_used = space->kind->cores_used(space, tiling, 0);
    program_reset(program, space->hw);
    TRY(space->kind->generate(space, tiling, 0, program, error));
    TRY(simulate_program(&e->simulator, p->cores_used, &simulated, error));
    p->predicted_ns = simulated.time_ns;
    p->problem = correction_problem(problem->size, problem->op->size_count);
    memcpy(p->busy_ns, simulated.busy_ns, sizeof p->busy_ns);
    memcpy(p->bus_bytes, simulated.bus_bytes, sizeof p->bus_bytes);
    add_more(e, row,
             &(struct simulated_kernel){problem, space, tiling, program, p->cores_used,
                                        p->predicted_ns, p->busy_ns},
             p);
    return STATUS_OK;
}

/* What was measured has run, in the space or outside. */
static enum status expect_it_runs(const struct space *space, const struct tiling *tiling,
                                  struct error *error)
{
    struct violation violations[MAX_VIOLATIONS];
    int count = space->kind->violations(space, tiling, violations);
    for (int i = 0; i < count; i++)
        if (!violations[i].outside)
            return error_set(error, STATUS_INVALID, "illegal here: %s", violations[i].text);
    return STATUS_OK;
}

static enum status evaluate_row(struct evaluator *e, const struct bank_row rows[], size_t i,
                                struct prediction *p, struct error *error)
{
    const struct bank_row *row = &rows[i];
    const struct hardware *hw = e->hw;
    struct problem problem;
    struct tiling tiling;
    struct space space;
    if (row->unfit)
        return error_set(error, STATUS_INVALID, "%s", row->unfit);
    const struct operator* op;
    const struct operator_space *kind = operator_banked(&op);
    enum status status = kind->bank->problem(row, &problem, error);
    if (status == STATUS_OK)
        status = kind->bank->tiling(row, &problem, &tiling, error);
    int64_t cores = status == STATUS_OK ? tiling.value[kind->bank->cores_axis] : 0;
    if (cores > hw->cores)
        status = error_set(error, STATUS_INVALID, "%lld cores of %d", (long long)cores, hw->cores);
    if (status == STATUS_OK)
        status = space_open(&problem, kind, hw, hw->cores, &space, error);
    if (status != STATUS_OK)
        return status;
    status = expect_it_runs(&space, &tiling, error);
    if (status == STATUS_OK)
        status = simulate_tiling(e, i, &problem, &space, &tiling, p, error);
    space_close(&space);
    return status;
}

/* One row; only what is no fault of the row is an error. */
static enum status predict(struct evaluator *e, const struct bank_row rows[], size_t row,
                           struct prediction *p, struct error *error)
{
    *p = (struct prediction){0};
    if (e->stop && *e->stop) {
        snprintf(p->reason, sizeof p->reason, "interrupted");
        return STATUS_OK;
    }
    enum status status = evaluate_row(e, rows, row, p, error);
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
        struct evaluator evaluator = {.hw = hw, .stop = stop, .more = more};
        struct error own = {0};
        enum status status = tiling_simulator_open(&evaluator.simulator, &own);
#pragma omp for schedule(dynamic, 1)
        for (size_t i = 0; i < count; i++)
            if (status == STATUS_OK)
                status = predict(&evaluator, rows, i, &predictions[i], &own);
        tiling_simulator_close(&evaluator.simulator);
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
    static const struct evaluate_more nothing = {NULL, NULL};
    return evaluate_rows_more(rows, count, hw, threads, stop, &nothing, predictions, error);
}
