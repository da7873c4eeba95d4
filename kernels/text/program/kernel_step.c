/* A step as an instruction with its operands. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_flags_internal.h"
#include "kernels/text/program/kernel_program_internal.h"

#include <string.h>

/* ------------------------------------------------------------------ products */

/* A product and a step that may have written its part before. */
struct earlier {
    const struct program_writer *writer;
    int product, step;
    struct part_numbers part; /* the product's */
};

static bool overlap(const struct plan_part *part, const struct part_numbers *a,
                    const struct part_numbers *b)
{
    for (int d = 0; d < part->dim_count; d++)
        if (a->begin[d] >= 0 && b->begin[d] >= 0 &&
            (a->begin[d] >= b->begin[d] + b->extent[d] * b->by[d] ||
             b->begin[d] >= a->begin[d] + a->extent[d] * a->by[d]))
            return false;
    return true;
}

/* In the current rounds. */
static enum status writes_now(const struct earlier *e, bool *writes)
{
    const struct program_writer *w = e->writer;
    struct part_numbers part;
    TRY(plan_runs(w->plan, w->env, e->step, writes, w->emit.error));
    if (!*writes)
        return STATUS_OK;
    TRY(plan_part(w->plan, w->env, e->step, 0, &part, w->emit.error));
    *writes = overlap(&w->plan->steps[e->step].parts[0], &part, &e->part);
    return STATUS_OK;
}

/* In one of the first `rounds` rounds of a loop around it, in any of loops inside that. Those in
 * the middle are alike but where parts move. */
static enum status writes_in(const struct earlier *e, int loop, int64_t rounds, bool *writes)
{
    const struct kernel_plan *plan = e->writer->plan;
    struct kernel_values *values = &e->writer->env->values;
    int text_loop = plan->loops[loop].text_loop, inner = plan->steps[e->step].around;
    uint64_t all = e->writer->flags->written_out | plan->steps[e->step].parts[0].loops;
    int64_t count;
    while (inner != loop && plan->loops[inner].around != loop)
        inner = plan->loops[inner].around;
    for (int64_t round = 0; round < rounds && !*writes; round++) {
        if (round == 2 && rounds > 3 && !(all >> text_loop & 1))
            round = rounds - 1;
        TRY(kernel_loop_enter(values, text_loop, round, e->writer->emit.error));
        if (inner == loop) {
            TRY(writes_now(e, writes));
            continue;
        }
        TRY(kernel_loop_count(values, plan->loops[inner].text_loop, &count, e->writer->emit.error));
        TRY(writes_in(e, inner, count, writes));
    }
    return STATUS_OK;
}

/* Back in the current rounds after each loop. */
static enum status wrote_in(const struct earlier *e, int loop, int64_t rounds, bool *wrote)
{
    struct kernel_values *values = &e->writer->env->values;
    struct kernel_range now[KERNEL_MAX_LOOPS];
    memcpy(now, values->loops, sizeof now);
    enum status status = writes_in(e, loop, rounds, wrote);
    memcpy(values->loops, now, sizeof now);
    return status;
}

static enum status rounds_before(const struct earlier *e, int loop, int64_t *rounds)
{
    const struct kernel_values *values = &e->writer->env->values;
    int text_loop = e->writer->plan->loops[loop].text_loop;
    struct kernel_range range;
    int64_t by;
    TRY(kernel_loop_range(values, text_loop, &range, e->writer->emit.error));
    TRY(kernel_loop_step(values, text_loop, &by, e->writer->emit.error));
    *rounds = (values->loops[text_loop].begin - range.begin) / by;
    return STATUS_OK;
}

/* Before it in the same rounds, or in earlier ones of a loop in the tile's life. */
static enum status wrote(const struct earlier *e, bool *wrote)
{
    const struct kernel_plan *plan = e->writer->plan;
    const struct kernel_flags *flags = e->writer->flags;
    const struct plan_part *to = &plan->steps[e->product].parts[0];
    int common = plan->steps[e->product].around;
    int64_t rounds;
    while (!plan_is_within(plan, plan->steps[e->step].around, common))
        common = plan->loops[common].around;
    int item = flags_item_in(plan, flags, common, e->step);
    if (flags_runs_before(plan, item, flags_item_in(plan, flags, common, e->product))) {
        if (!plan->items[item].is_loop)
            TRY(writes_now(e, wrote));
        else {
            int text_loop = plan->loops[plan->items[item].number].text_loop;
            TRY(kernel_loop_count(&e->writer->env->values, text_loop, &rounds,
                                  e->writer->emit.error));
            TRY(wrote_in(e, plan->items[item].number, rounds, wrote));
        }
    }
    for (int loop = common; loop != plan->tiles[to->tile].life && !*wrote;
         loop = plan->loops[loop].around) {
        TRY(rounds_before(e, loop, &rounds));
        if (!(to->loops >> plan->loops[loop].text_loop & 1))
            TRY(wrote_in(e, loop, rounds, wrote));
    }
    return STATUS_OK;
}

/* Does a product add to its destination? Not where nothing wrote that in the life of the tile. */
static enum status find_accumulates(const struct program_writer *w, int product, bool *accumulates)
{
    const struct plan_step *steps = w->plan->steps;
    struct earlier e = {.writer = w, .product = product};
    *accumulates = false;
    TRY(plan_part(w->plan, w->env, product, 0, &e.part, w->emit.error));
    for (e.step = 0; e.step < w->plan->step_count && !*accumulates; e.step++)
        if (steps[e.step].part_count && steps[e.step].parts[0].tile == steps[product].parts[0].tile)
            TRY(wrote(&e, accumulates));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ steps */

/* The row that sums begin with is read where they do. */
static void put_operands(struct program_writer *w, int number, bool accumulates)
{
    const struct plan_step *step = &w->plan->steps[number];
    for (int p = 0; p < step->part_count && writer_is_ok(w); p++) {
        bool is_row = step->kind == INSTRUCTION_MATRIX && p > 2;
        struct region region;
        if (step->parts[p].tile < 0 || (is_row && accumulates))
            continue;
        const struct program *program = w->emit.program;
        writer_keep(w, writer_region(w, number, p, &program->items[program->count - 1], &region));
        emit_region(&w->emit, &region);
    }
}

enum status writer_step(struct program_writer *w, int number)
{
    const struct plan_step *step = &w->plan->steps[number];
    struct instruction in;
    bool runs, accumulates = false;
    TRY(plan_runs(w->plan, w->env, number, &runs, w->emit.error));
    if (!runs)
        return STATUS_OK;
    TRY(plan_instruction(w->plan, w->env, number, &in, w->emit.error));
    if (step->share && in.bytes == 0)
        return STATUS_OK;
    if (step->kind == INSTRUCTION_MATRIX)
        TRY(find_accumulates(w, number, &accumulates));
    in.accumulate = accumulates;
    emit(&w->emit, &in);
    put_operands(w, number, accumulates);
    return STATUS_OK;
}
