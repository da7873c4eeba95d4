/* Puts the tapes of a structure together: expressions, what fits, and the lines of a summary. */
#include "kernels/text/tape/kernel_trace_parts.h"

#include "kernels/limits.h"
#include "kernels/text/plan/kernel_structure.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ expressions */

static int negate(struct tracer *t, int a)
{
    return tape_apply(t->tape, TAPE_EQUAL, a, trace_number(t, 0));
}

int trace_apply(struct tracer *t, enum expression_op op, int a, int b)
{
    static const enum tape_op same[EXPRESSION_OPS] = {
        [EXPRESSION_ADD] = TAPE_ADD,
        [EXPRESSION_SUBTRACT] = TAPE_SUBTRACT,
        [EXPRESSION_MULTIPLY] = TAPE_MULTIPLY,
        [EXPRESSION_DIVIDE] = TAPE_DIVIDE,
        [EXPRESSION_REMAINDER] = TAPE_REMAINDER,
        [EXPRESSION_UP] = TAPE_UP,
        [EXPRESSION_CDIV] = TAPE_CDIV,
        [EXPRESSION_LOG2] = TAPE_LOG2,
        [EXPRESSION_POW2] = TAPE_POW2,
        [EXPRESSION_GCD] = TAPE_GCD,
        [EXPRESSION_MIN] = TAPE_MIN,
        [EXPRESSION_MAX] = TAPE_MAX,
        [EXPRESSION_EQUAL] = TAPE_EQUAL,
        [EXPRESSION_IN] = TAPE_EQUAL,
        [EXPRESSION_LESS] = TAPE_LESS,
        [EXPRESSION_AT_MOST] = TAPE_AT_MOST,
    };
    if (op == EXPRESSION_MORE)
        return tape_apply(t->tape, TAPE_LESS, b, a);
    if (op == EXPRESSION_AT_LEAST)
        return tape_apply(t->tape, TAPE_AT_MOST, b, a);
    if (op == EXPRESSION_UNEQUAL)
        return negate(t, tape_apply(t->tape, TAPE_EQUAL, a, b));
    if (op == EXPRESSION_NEGATE)
        return tape_apply(t->tape, TAPE_SUBTRACT, trace_number(t, 0), a);
    t->failed |= same[op] == TAPE_NUMBER;
    bool is_unary = op == EXPRESSION_LOG2 || op == EXPRESSION_POW2;
    return t->failed ? 0 : tape_apply(t->tape, same[op], a, is_unary ? 0 : b);
}

#define MOST_WHOLE (INT64_C(1) << 53) /* that a double is exactly, as are all below */

int trace_given_input(struct tracer *t, struct trace_given given, struct interval known)
{
    struct kernel_trace *trace = t->trace;
    int i = 0;
    while (i < trace->given_count &&
           (trace->given[i].kind != given.kind || trace->given[i].number != given.number))
        i++;
    if (i == TRACE_MAX_GIVEN) {
        t->failed = true;
        return 0;
    }
    trace->given[i] = given;
    trace->given_count += i == trace->given_count;
    return tape_input(t->tape, SPACE_MAX_AXES + i, known.lo, known.hi);
}

/* Is it the name, or one of `a if c else b`? */
static bool names(const struct expression *name, const struct expression *e)
{
    if (name->op == EXPRESSION_IF)
        return names(name->args->next, e) || names(name->args->next->next, e);
    return name->op == e->op && name->number == e->number;
}

/* May shares differ in it? */
static bool is_shared(const struct tracer *t, const struct expression *e)
{
    const struct kernel_text *kernel = t->plan->kernel;
    bool is_named = false;
    if (e->op == EXPRESSION_LET && !t->before_plans)
        return t->values->is_shared[e->number];
    if (e->op == EXPRESSION_SIZE || e->op == EXPRESSION_LET)
        for (int c = 0; c < kernel->cores_count; c++)
            is_named = is_named || names(kernel->cores[c].what, e);
    return is_named || e->op == EXPRESSION_CORES;
}

/* A size, a let or the cores, of any shares. */
static int shared_leaf(struct tracer *t, const struct expression *e)
{
    const double most = (double)MOST_WHOLE;
    t->failed |= e->op == EXPRESSION_SIZE && t->values->wholes[e->number] > MOST_WHOLE;
    if (e->op == EXPRESSION_SIZE)
        return trace_given_input(t, (struct trace_given){GIVEN_SIZE, (int)e->number},
                                 (struct interval){0, (double)t->values->wholes[e->number]});
    if (e->op == EXPRESSION_CORES)
        return trace_given_input(t, (struct trace_given){GIVEN_CORES, 0},
                                 (struct interval){0, hardware_most_cores(t->plan->hw)});
    t->failed |= t->before_plans; /* it may be shared in some blocks only */
    return trace_given_input(t, (struct trace_given){GIVEN_LET, (int)e->number},
                             (struct interval){-most, most});
}

/* What stands for itself. */
static int leaf(struct tracer *t, const struct expression *e)
{
    int64_t value;
    if (e->op == EXPRESSION_AXIS && t->scope->open >> e->number & 1) {
        t->failed |= t->scope->axes[e->number].hi > (double)MOST_WHOLE;
        return tape_input(t->tape, (int)e->number, t->scope->axes[e->number].lo,
                          t->scope->axes[e->number].hi);
    }
    if (t->scope->any_shares && is_shared(t, e))
        return shared_leaf(t, e);
    if (e->op == EXPRESSION_LET)
        return t->values->is_shared[e->number]
                   ? trace_number(t, (double)t->values->lets[e->number].length)
                   : trace_expression(t, t->plan->kernel->lets[e->number].value);
    if (e->op == EXPRESSION_LOOP && t->has_rounds)
        return t->lengths[e->number];
    bool is_known = e->kind != EXPRESSION_IS_REAL && !e->loops &&
                    kernel_number(t->values, e, &value, NULL) == STATUS_OK &&
                    llabs(value) <= MOST_WHOLE;
    t->failed |= !is_known;
    return trace_number(t, is_known ? (double)value : 0);
}

static int comparison(struct tracer *t, const struct expression *e)
{
    int left = trace_expression(t, e->args), any = trace_number(t, 0);
    for (const struct expression *arg = e->args->next; arg; arg = arg->next)
        any = tape_apply(t->tape, TAPE_MAX, any,
                         trace_apply(t, e->op, left, trace_expression(t, arg)));
    return any;
}

/* Of the tiling that is played; whatever is computed from what cannot be may be anything. */
static int played(struct tracer *t, const struct expression *e)
{
    int64_t value;
    bool is_known =
        kernel_number(t->values, e, &value, NULL) == STATUS_OK && llabs(value) <= MOST_WHOLE;
    return tape_keep(t->tape, is_known ? (struct interval){(double)value, (double)value}
                                       : (struct interval){-INFINITY, INFINITY});
}

int trace_expression(struct tracer *t, const struct expression *e)
{
    if (t->tape->is_played)
        return played(t, e);
    int none = trace_number(t, 0), all = trace_number(t, 1);
    if (!e->args)
        return leaf(t, e);
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        t->failed |= arg->kind == EXPRESSION_IS_REAL;
    if (t->failed || e->kind == EXPRESSION_IS_REAL) {
        t->failed = true;
        return 0;
    }
    const struct expression *second = e->args->next;
    assert(second || (e->op != EXPRESSION_AND && e->op != EXPRESSION_OR && e->op != EXPRESSION_IF));
    switch (e->op) {
    case EXPRESSION_LET:
        return leaf(t, e);
    case EXPRESSION_NOT:
        return negate(t, trace_expression(t, e->args));
    case EXPRESSION_AND:
        return tape_choice(t->tape, trace_expression(t, e->args), trace_expression(t, second),
                           none);
    case EXPRESSION_OR:
        return tape_choice(t->tape, trace_expression(t, e->args), all, trace_expression(t, second));
    case EXPRESSION_IF:
        assert(second->next);
        return tape_choice(t->tape, trace_expression(t, e->args), trace_expression(t, second),
                           trace_expression(t, second->next));
    default:
        break;
    }
    if (e->kind == EXPRESSION_IS_TRUTH)
        return comparison(t, e);
    int value = trace_expression(t, e->args);
    if (!second)
        return trace_apply(t, e->op, value, none);
    for (; second; second = second->next)
        value = trace_apply(t, e->op, value, trace_expression(t, second));
    return value;
}

/* ------------------------------------------------------------------ what fits */

static void also(struct tracer *t, int *fits, int holds)
{
    *fits = tape_choice(t->tape, holds, *fits, trace_number(t, 0));
}

/* How long first rounds are, and how often loops run. */
static void enter_loops(struct tracer *t, int runs[KERNEL_MAX_LOOPS + 1], int *fits)
{
    int one = trace_number(t, 1), none = trace_number(t, 0), played = none;
    runs[0] = one;
    for (int loop = 1; loop < t->plan->loop_count; loop++) {
        const struct plan_loop *l = &t->plan->loops[loop];
        const struct kernel_loop *text = &t->plan->kernel->loops[l->text_loop];
        int in = trace_expression(t, text->in), by = trace_expression(t, text->by);
        int rounds = tape_apply(t->tape, TAPE_MAX, tape_apply(t->tape, TAPE_CDIV, in, by), none);
        runs[loop] = tape_apply(t->tape, TAPE_MULTIPLY, runs[l->around], rounds);
        int items = tape_apply(t->tape, TAPE_MULTIPLY, runs[loop], trace_number(t, l->item_count));
        played = tape_apply(t->tape, TAPE_ADD, played, items);
        t->lengths[l->text_loop] = tape_apply(t->tape, TAPE_MIN, in, by);
    }
    int most = trace_number(t, (double)PROGRAM_MAX_EXECUTED / 7);
    also(t, fits, tape_apply(t->tape, TAPE_AT_MOST, played, most));
}

/* *holds: all extents are 1 or more. */
static int bytes_of(struct tracer *t, int number, const int runs[], int *holds)
{
    const struct plan_tile *tile = &t->plan->tiles[number];
    int64_t unit = t->plan->hw->buffers[tile->buffer].alignment_bytes;
    int bytes = trace_number(t, dtype_bytes(tile->type)), none = trace_number(t, 0);
    for (int d = 0; d < tile->dim_count; d++) {
        int extent = trace_expression(t, tile->dims[d]);
        also(t, holds, tape_apply(t->tape, TAPE_LESS, none, extent));
        bytes = tape_apply(t->tape, TAPE_MULTIPLY, bytes, extent);
    }
    if (unit > 1)
        bytes = tape_apply(t->tape, TAPE_UP, bytes, trace_number(t, (double)unit));
    int copies =
        tile->turns ? trace_expression(t, tile->turns) : trace_number(t, (double)tile->copies);
    bytes = tape_apply(t->tape, TAPE_MULTIPLY, bytes, copies);
    int runs_not = tape_apply(t->tape, TAPE_AT_MOST, runs[tile->life], none);
    *holds = tape_choice(t->tape, runs_not, trace_number(t, 1), *holds);
    return tape_choice(t->tape, runs_not, none, bytes);
}

/* Whether the first rounds' tiles fit, where these are the largest, and the text's conditions, as
 * kernel_fits has them. */
static int trace_fits(struct tracer *t)
{
    const struct kernel_fit *fit = &t->space_plan->fit;
    int runs[KERNEL_MAX_LOOPS + 1], fits = trace_number(t, 1);
    for (int r = 0; r < t->plan->kernel->require_count; r++)
        also(t, &fits, trace_expression(t, t->plan->kernel->requires[r].truth));
    if (!fit->grows)
        return fits;
    t->has_rounds = true;
    enter_loops(t, runs, &fits);
    for (int s = 0; s < fit->sum_count; s++) {
        int sum = trace_number(t, 0);
        for (int i = 0; i < fit->sums[s].count; i++) {
            int holds = trace_number(t, 1);
            sum = tape_apply(t->tape, TAPE_ADD, sum,
                             bytes_of(t, fit->sums[s].tiles[i], runs, &holds));
            also(t, &fits, holds);
        }
        int64_t capacity = t->plan->hw->buffers[fit->sums[s].buffer].capacity_bytes;
        also(t, &fits, tape_apply(t->tape, TAPE_AT_MOST, sum, trace_number(t, (double)capacity)));
    }
    t->has_rounds = false;
    return fits;
}

/* ------------------------------------------------------------------ all of it */

static enum status finish(struct tracer *t, const int outputs[], int count, struct error *error)
{
    if (t->failed && !t->tape->no_memory)
        return error_set(error, STATUS_TOO_LARGE, "a structure that no tape can say");
    return tape_end(t->tape, outputs, count, error);
}

static enum status make(struct tracer *t, struct kernel_trace *trace, struct error *error)
{
    int lines[WORK_MAX_LINES * LINE_NUMBERS];
    const struct work_chains *chains = &t->work->chains[WORK_SHAPES_CHANGE];
    trace->layout = &chains->layout;
    trace->layout_number = t->space_plan->number * WORK_VARIANTS + WORK_SHAPES_CHANGE;
    t->tape = &trace->fits;
    TRY(tape_begin(t->tape, t->plan->hw, error));
    int fits = trace_fits(t);
    TRY(finish(t, &fits, 1, error));
    t->tape = &trace->work;
    TRY(tape_begin(t->tape, t->plan->hw, error));
    trace_cells(t);
    trace_lines(t, chains, lines);
    trace_vector_lines(t, chains);
    return finish(t, lines, chains->layout.line_count * LINE_NUMBERS, error);
}

enum { MOST_DETAIL = 64 };

/* With less detail where that would be too long. */
enum status kernel_trace_make(const struct space_plan *plan, const struct kernel_values *values,
                              const struct trace_scope *scope, struct kernel_trace *trace,
                              struct error *error)
{
    struct tracer *t = malloc(sizeof *t);
    enum status status = t ? STATUS_TOO_LARGE : error_memory(error);
    *trace = (struct kernel_trace){.layout = NULL};
    for (int detail = MOST_DETAIL; status == STATUS_TOO_LARGE && detail > 0; detail /= 2) {
        *t = (struct tracer){.space_plan = plan,
                             .plan = &plan->plan,
                             .work = plan->work,
                             .values = values,
                             .cores = (int)values->cores,
                             .scope = scope,
                             .trace = trace,
                             .detail = detail};
        status = make(t, trace, error);
        if (status != STATUS_OK)
            kernel_trace_clear(trace);
    }
    free(t);
    return status;
}

static enum status trace_choices(struct tracer *t, const struct expression *const all[], int count,
                                 bool is_traced[], int outputs[], struct error *error)
{
    TRY(tape_begin(t->tape, t->plan->hw, error));
    for (int i = 0; i < count; i++) {
        t->failed = false;
        outputs[i] = trace_expression(t, all[i]);
        is_traced[i] = !t->failed;
        outputs[i] = t->failed ? trace_number(t, 0) : outputs[i];
    }
    t->failed = false;
    return tape_end(t->tape, outputs, count, error);
}

enum status kernel_trace_choices(const struct kernel_values *values,
                                 const struct trace_scope *scope,
                                 const struct expression *const all[], int count, bool is_traced[],
                                 struct kernel_trace *trace, struct error *error)
{
    struct tracer *t = calloc(1, sizeof *t);
    struct kernel_plan *none = calloc(1, sizeof *none);
    int *outputs = calloc((size_t)count + 1, sizeof *outputs);
    enum status status = t && none && outputs ? STATUS_OK : error_memory(error);
    *trace = (struct kernel_trace){.layout = NULL};
    if (status == STATUS_OK) {
        none->kernel = values->kernel;
        none->hw = values->hw;
        *t = (struct tracer){.tape = &trace->fits,
                             .plan = none,
                             .values = values,
                             .scope = scope,
                             .trace = trace,
                             .before_plans = true};
        status = trace_choices(t, all, count, is_traced, outputs, error);
    }
    if (status != STATUS_OK)
        kernel_trace_clear(trace);
    free(outputs);
    free(none);
    free(t);
    return status;
}

void kernel_trace_clear(struct kernel_trace *trace)
{
    tape_clear(&trace->fits);
    tape_clear(&trace->work);
    *trace = (struct kernel_trace){.layout = NULL};
}

int kernel_trace_room(const struct kernel_trace *trace)
{
    return 2 * (trace->fits.count > trace->work.count ? trace->fits.count : trace->work.count);
}

struct interval kernel_trace_fits(const struct kernel_trace *trace, const struct interval inputs[],
                                  double scratch[])
{
    struct interval fits;
    tape_run(&trace->fits, inputs, scratch, &fits);
    return fits;
}

void kernel_trace_choose(const struct kernel_trace *trace, const struct interval inputs[],
                         double scratch[], struct interval results[])
{
    tape_run(&trace->fits, inputs, scratch, results);
}
