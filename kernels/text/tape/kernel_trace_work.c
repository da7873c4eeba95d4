/* The lines of a work summary: of boxes of tilings on a tape, and of one tiling that is played. */
#include "kernels/text/tape/kernel_trace_parts.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ lines */

static double fs_per_unit(const struct hardware *hw, int number, int cores)
{
    const struct price *price = &hw->prices[number];
    return price->bus >= 0 ? 1e15 / (double)hardware_bus_share(hw, price, cores)
                           : (double)price->rate.fs / (double)price->rate.units;
}

/* A vector operation's first repeat is in its base: without it, and with all repeats, the sum over
 * rounds is one of repeats, of which intervals know more. */
static struct trace_price price_of(struct tracer *t, int step)
{
    const struct hardware *hw = t->plan->hw;
    int number = t->plan->steps[step].price;
    struct trace_price found = {.base_fs = (double)hw->prices[number].base_fs};
    if (hw->prices[number].bus >= 0 && t->scope->any_shares)
        found.fs_per_unit = trace_given_input(t, (struct trace_given){GIVEN_PRICE, number},
                                              (struct interval){0, (double)FS_PER_S});
    else
        found.fs_per_unit = trace_number(t, fs_per_unit(hw, number, t->cores));
    if (t->plan->steps[step].kind == INSTRUCTION_VECTOR && !t->tape->is_played)
        found.base_fs -= fs_per_unit(hw, number, t->cores);
    return found;
}

static void add_to(struct tracer *t, int *sum, int value)
{
    *sum = tape_apply(t->tape, TAPE_ADD, *sum, value);
}

void trace_lines(struct tracer *t, const struct work_chains *chains,
                 int lines[WORK_MAX_LINES * LINE_NUMBERS])
{
    struct trace_times *times = calloc(PLAN_MAX_STEPS, sizeof *times);
    double late_fs[PLAN_MAX_STEPS];
    int instructions[PLAN_MAX_STEPS], ends[WORK_MAX_CHAINS];
    const struct work_layout *layout = &chains->layout;
    t->tape->no_memory |= !times;
    t->failed |= !times;
    for (int i = 0; i < layout->line_count * LINE_NUMBERS; i++)
        lines[i] = trace_number(t, 0);
    for (int s = 0; s < t->plan->step_count && !t->failed && !t->tape->failed; s++) {
        struct trace_price price = price_of(t, s);
        t->failed |= price.base_fs < 0;
        late_fs[s] = (double)t->plan->hw->prices[t->plan->steps[s].price].latency_fs;
        struct trace_sum sum = trace_step(t, s, price, &times[s]);
        int *line = &lines[(size_t)chains->line[s] * LINE_NUMBERS];
        instructions[s] = sum.instructions;
        add_to(t, &line[0], sum.instructions);
        add_to(t, &line[1], sum.units);
        add_to(t, &line[2], sum.burst_fs);
    }
    if (!t->failed && !t->tape->failed) {
        trace_ends(t, chains, times, late_fs, instructions, ends);
        for (int c = 0; c < layout->chain_count; c++)
            lines[(size_t)(layout->total_count + c) * LINE_NUMBERS + 2] = ends[c];
    }
    free(times);
}

/* ------------------------------------------------------------------ of boxes */

void trace_vector_lines(const struct tracer *t, const struct work_chains *chains)
{
    for (int s = 0; s < t->plan->step_count; s++)
        if (t->plan->steps[s].kind == INSTRUCTION_VECTOR)
            t->trace->vector_lines |= UINT64_C(1) << chains->line[s];
}

void kernel_trace_give(const struct kernel_trace *trace, const struct kernel_values *values,
                       struct interval inputs[TRACE_INPUTS])
{
    for (int i = 0; i < trace->given_count; i++) {
        const struct trace_given *given = &trace->given[i];
        double value = given->kind == GIVEN_SIZE  ? (double)values->sizes[given->number].length
                       : given->kind == GIVEN_LET ? (double)values->lets[given->number].length
                       : given->kind == GIVEN_CORES
                           ? (double)values->cores
                           : fs_per_unit(values->hw, given->number, (int)values->cores);
        inputs[SPACE_MAX_AXES + i] = (struct interval){value, value};
    }
}

void kernel_trace_work(const struct kernel_trace *trace, const struct interval inputs[],
                       double scratch[], int cores, struct work *work)
{
    struct interval results[WORK_MAX_LINES * LINE_NUMBERS], *lines = results;
    tape_run(&trace->work, inputs, scratch, results);
    work->cores = cores;
    work->layout = trace->layout_number;
    for (int l = 0; l < trace->layout->line_count; l++, lines += LINE_NUMBERS) {
        double units = lines[1].lo;
        if (trace->vector_lines >> l & 1)
            units -= lines[0].lo;
        work->instructions[l] = lines[0].lo > 0 ? lines[0].lo : 0;
        work->units[l] = units > 0 ? units : 0;
        work->burst_fs[l] = lines[2].lo > 0 ? lines[2].lo : 0;
    }
}

/* ------------------------------------------------------------------ of one tiling */

/* Do tiles keep their shapes: is no round of the loops that make them shorter? */
static enum work_variant variant_of(const struct tracer *t)
{
    const struct kernel_cells *cells = &t->work->cells;
    for (uint64_t loops = t->work->shapes; loops; loops &= loops - 1) {
        const struct cell_loop *loop = &cells->loops[t->plan->plan_loop_of[__builtin_ctzll(loops)]];
        if (cells->cells[loop->full].loops || cells->cells[loop->last].loops ||
            tape_known(t->tape, t->cells[loop->full]).lo !=
                tape_known(t->tape, t->cells[loop->last]).lo)
            return WORK_SHAPES_CHANGE;
    }
    return WORK_SHAPES_STAY;
}

static double least(const struct tracer *t, int number)
{
    double lo = tape_known(t->tape, number).lo;
    return lo > 0 ? lo : 0;
}

static enum status play(struct tracer *t, struct work *summary, struct error *error)
{
    int lines[WORK_MAX_LINES * LINE_NUMBERS] = {0}, *line = lines;
    TRY(tape_play(t->tape, t->plan->hw, error));
    trace_cells(t);
    summary->layout = variant_of(t);
    const struct work_chains *chains = &t->work->chains[summary->layout];
    trace_lines(t, chains, lines);
    if (t->tape->no_memory)
        return error_memory(error);
    if (t->failed)
        return error_set(error, STATUS_INVALID, "instructions that cannot be");
    for (int l = 0; l < chains->layout.line_count; l++, line += LINE_NUMBERS) {
        summary->instructions[l] = least(t, line[0]);
        summary->units[l] = least(t, line[1]);
        summary->burst_fs[l] = least(t, line[2]);
    }
    return STATUS_OK;
}

enum status kernel_summarise(const struct kernel_work *work, const struct kernel_values *values,
                             int cores, struct work *summary, struct error *error)
{
    static const struct trace_scope one = {.open = 0};
    struct tape tape;
    struct tracer *t = malloc(sizeof *t);
    if (!t)
        return error_memory(error);
    *t = (struct tracer){.tape = &tape,
                         .plan = work->plan,
                         .work = work,
                         .values = values,
                         .cores = cores,
                         .scope = &one};
    summary->cores = cores;
    enum status status = play(t, summary, error);
    tape_clear(&tape);
    free(t);
    return status;
}
