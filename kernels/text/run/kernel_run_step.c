/* Steps on numbers: sources become rows of numbers, the result goes back as one. */
#include "core/element.h"
#include "kernels/slices.h"
#include "kernels/text/run/kernel_run_internal.h"

#include <string.h>

struct running {
    struct runner *r;
    int number;
    const struct plan_step *step;
    struct instruction in;
    int64_t count[PLAN_MAX_PARTS], columns[PLAN_MAX_PARTS]; /* of each part */
};

static double *values_of(const struct running *run, int part)
{
    return run->r->parts[part].values;
}

static enum status fail(const struct running *run, const char *what)
{
    return plan_fail(run->r->error, run->r->plan.kernel->lines[run->step->line].at, "%s", what);
}

static enum status key_of(const struct running *run, enum kernel_key key, double *number)
{
    const struct expression *e = run->step->text->keys[key];
    *number = 0;
    return e ? kernel_real(&run->r->env->values, e, number, run->r->error) : STATUS_OK;
}

static enum status gather(struct running *run, int part, double fill)
{
    return run_gather(run->r, run->number, part, fill, &run->count[part], &run->columns[part]);
}

static enum dtype type_of(const struct running *run, int part)
{
    const struct plan_part *p = &run->step->parts[part];
    return p->tile >= 0 ? run->r->plan.tiles[p->tile].type : run->r->run->tensors[p->tensor].type;
}

/* The first `count` elements of a source were written. */
static enum status check_written(const struct running *run, int part, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (run_is_unwritten(values_of(run, part)[i]))
            return fail(run, "reads what nothing wrote");
    return STATUS_OK;
}

static void round_all(double *values, int64_t count, enum dtype type)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = element_round(type, values[i]);
}

/* ------------------------------------------------------------------ moves */

/* On the way: each column times its factor, and nothing below 0. In FP32, as FIXP computes. */
static enum status change_on_way(struct running *run, double *values, int64_t count,
                                 int64_t columns)
{
    double relu;
    TRY(key_of(run, STEP_RELU, &relu));
    if (run->step->part_count > 2) {
        TRY(gather(run, 2, 0));
        TRY(check_written(run, 2, columns));
        for (int64_t i = 0; i < count; i++)
            values[i] = (float)((float)values[i] * values_of(run, 2)[i % columns]);
    }
    for (int64_t i = 0; relu != 0 && i < count; i++)
        values[i] = values[i] < 0 ? 0 : values[i];
    return STATUS_OK;
}

static enum status run_move(struct running *run)
{
    double fill, adds, transposes;
    TRY(key_of(run, STEP_FILL, &fill));
    TRY(key_of(run, STEP_ADD, &adds));
    TRY(key_of(run, STEP_TRANSPOSE, &transposes));
    TRY(gather(run, 1, element_round(type_of(run, 1), fill)));
    TRY(check_written(run, 1, run->count[1]));
    double *from = values_of(run, 1), *to = from;
    int64_t count = run->count[1], columns = run->columns[1], rows = count / columns;
    TRY(change_on_way(run, from, count, columns));
    if (transposes) {
        TRY(run_room(&run->r->parts[0], count, run->r->error));
        to = values_of(run, 0);
        for (int64_t i = 0; i < count; i++)
            to[i % columns * rows + i / columns] = from[i];
    }
    if (type_of(run, 0) != type_of(run, 1))
        round_all(to, count, type_of(run, 0));
    return run_scatter(run->r, run->number, to, count, adds != 0);
}

/* ------------------------------------------------------------------ products */

/* c += a·b, each sum in the accumulator's precision. */
static void multiply(const struct running *run, bool is_single)
{
    const double *a = values_of(run, 1), *b = values_of(run, 2);
    double *c = values_of(run, 0);
    int64_t m = run->in.m, k = run->in.k, n = run->in.n;
    for (int64_t i = 0; i < m; i++)
        for (int64_t l = 0; l < k; l++)
            for (int64_t j = 0; j < n; j++) {
                double sum = c[i * n + j] + a[i * k + l] * b[l * n + j];
                c[i * n + j] = is_single ? (float)sum : sum;
            }
}

/* With 0, or the row that is a product's third source. */
static enum status begin_sums(struct running *run)
{
    double *c = values_of(run, 0);
    memset(c, 0, (size_t)run->count[0] * sizeof *c);
    if (run->step->part_count <= 3)
        return STATUS_OK;
    TRY(gather(run, 3, 0));
    TRY(check_written(run, 3, run->count[3]));
    for (int64_t i = 0; i < run->count[0]; i++)
        c[i] = values_of(run, 3)[i % run->count[3]];
    return STATUS_OK;
}

static enum status run_product(struct running *run)
{
    for (int p = 0; p < 3; p++)
        TRY(gather(run, p, 0));
    double *c = values_of(run, 0);
    int64_t written = 0;
    for (int64_t i = 0; i < run->count[0]; i++)
        written += !run_is_unwritten(c[i]);
    if (written && written < run->count[0])
        return fail(run, "adds to a part that is written by half");
    if (!written)
        TRY(begin_sums(run));
    TRY(check_written(run, 1, run->count[1]));
    TRY(check_written(run, 2, run->count[2]));
    multiply(run, element_is_floating(type_of(run, 1)));
    round_all(c, run->count[0], type_of(run, 0));
    return run_scatter(run->r, run->number, c, run->count[0], false);
}

/* ------------------------------------------------------------------ vectors */

/* A number in place of a source is that in all elements; of a spread one. */
static enum status gather_source(struct running *run, int part, int64_t elements)
{
    struct numbers *numbers = &run->r->parts[part];
    double number;
    if (!run->step->parts[part].value) {
        TRY(gather(run, part, 0));
        return check_written(run, part, elements);
    }
    TRY(kernel_real(&run->r->env->values, run->step->parts[part].value, &number, run->r->error));
    TRY(run_room(numbers, elements, run->r->error));
    for (int64_t i = 0; i < elements; i++)
        numbers->values[i] = number;
    return STATUS_OK;
}

/* Joins each repeat's elements to one, from left to right. */
static void fold(struct running *run, const struct formula *formula, bool is_single, int64_t lanes)
{
    double *x = values_of(run, 1);
    for (int64_t r = 0; r * lanes < run->in.elements; r++) {
        int64_t end = (r + 1) * lanes < run->in.elements ? (r + 1) * lanes : run->in.elements;
        double sum = x[r * lanes];
        for (int64_t i = r * lanes + 1; i < end; i++)
            formula_apply(formula, (const double *[]){&sum, &x[i], NULL}, 1, is_single, &sum);
        x[r] = sum;
    }
}

/* Each element as many times as it holds others, and beside it which of them is meant. */
static enum status take_pairs(struct running *run, const double *sources[])
{
    int64_t count = run->in.elements;
    TRY(run_room(&run->r->parts[0], count, run->r->error));
    TRY(run_room(&run->r->parts[2], count, run->r->error));
    double *wholes = values_of(run, 0), *places = values_of(run, 2);
    for (int64_t i = 0; i < count; i++) {
        wholes[i] = values_of(run, 1)[i / 2];
        places[i] = (double)(i % 2);
    }
    sources[0] = wholes;
    sources[1] = places;
    return STATUS_OK;
}

static enum status run_vector(struct running *run)
{
    const struct operation *operation = &run->r->plan.hw->operations[run->step->what];
    const struct formula *formula = &run->r->formulas[run->step->what];
    bool spreads = operation->result == RESULT_SPREAD;
    bool folds = operation->result == RESULT_ONE_PER_REPEAT;
    bool is_single = element_is_floating(run->step->type);
    bool pairs = operation->result == RESULT_PAIRS;
    int64_t elements = run->in.elements, read = spreads ? 1 : pairs ? elements / 2 : elements;
    int64_t lanes = run->r->plan.hw->vector_repeat_bytes / dtype_bytes(run->step->type);
    const double *sources[FORMULA_SOURCES] = {NULL};
    if (!formula->count)
        return fail(run, "an operation of which the chip's description says no value");
    if (formula->sources > (folds || pairs ? 2 : run->step->part_count - 1))
        return fail(run, "fewer sources than the operation's value has");
    for (int p = 1; p < run->step->part_count; p++) {
        TRY(gather_source(run, p, read));
        sources[p - 1] = values_of(run, p);
    }
    TRY(run_room(&run->r->parts[0], elements, run->r->error));
    double *results = values_of(run, folds ? 1 : 0);
    if (folds) {
        fold(run, formula, is_single, lanes);
    } else {
        if (pairs)
            TRY(take_pairs(run, sources));
        formula_apply(formula, sources, spreads ? 1 : elements, is_single, results);
    }
    for (int64_t i = 1; spreads && i < elements; i++)
        results[i] = results[0];
    int64_t count = folds ? divide_up(elements, lanes) : elements;
    round_all(results, count, type_of(run, 0));
    return run_scatter(run->r, run->number, results, count, false);
}

/* ------------------------------------------------------------------ scalars */

/* Without parts it is time alone; what else than copying it may do nothing says. */
static enum status run_scalar(struct running *run)
{
    if (!run->step->part_count)
        return STATUS_OK;
    if (strcmp(run->step->text->operation, "assign") != 0)
        return fail(run, "a scalar operation on numbers, of which `assign` alone is known");
    TRY(gather(run, 1, 0));
    TRY(check_written(run, 1, 1));
    round_all(values_of(run, 1), 1, type_of(run, 0));
    return run_scatter(run->r, run->number, values_of(run, 1), 1, false);
}

enum status run_step(struct runner *r, int number)
{
    static enum status (*const runs[])(struct running *) = {
        [INSTRUCTION_MOVE] = run_move,
        [INSTRUCTION_MATRIX] = run_product,
        [INSTRUCTION_VECTOR] = run_vector,
        [INSTRUCTION_SCALAR] = run_scalar,
    };
    struct running run = {.r = r, .number = number, .step = &r->plan.steps[number]};
    bool is_run;
    TRY(plan_runs(&r->plan, r->env, number, &is_run, r->error));
    if (!is_run || run.step->share == SHARE_HITS) /* the step before it loads all */
        return STATUS_OK;
    TRY(plan_instruction(&r->plan, r->env, number, &run.in, r->error));
    r->run->steps++;
    return runs[run.step->kind](&run);
}
