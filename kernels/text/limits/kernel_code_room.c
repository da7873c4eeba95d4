/* Room as C (kernel_room.c, kernel_fit.c): the most that each tile takes in any round, and for each
 * buffer the sums of what lives at once. And how long the program is (kernel_legal.c). */
#include "kernels/text/limits/kernel_code.h"
#include "kernels/text/plan/kernel_structure.h"

/* ------------------------------------------------------------------ tiles */

/* What it holds is 1 or more; its room may be more than that. */
static void put_room(struct code_writer *w, const struct expression *dim)
{
    bool is_up = dim->op == EXPRESSION_UP;
    if (is_up)
        code_call(w, "up");
    code_call(w, "extent");
    code_put(w, is_up ? dim->args : dim);
    fputs(", &ok)", w->out);
    if (!is_up)
        return;
    fputs(", ", w->out);
    code_put(w, dim->args->next);
    fputs(", &ok)", w->out);
}

static void put_tiles(struct code_writer *w, int loop)
{
    for (int t = 0; t < w->kernel->tile_count; t++) {
        const struct plan_tile *tile = &w->plan->plan.tiles[t];
        if (!tile->is_there || tile->life != loop)
            continue;
        code_line(w);
        code_call(w, "keep");
        fprintf(w->out, "&slot_%s, ", code_tile(w, t));
        for (int d = 0; d < tile->dim_count; d++)
            code_call(w, "mul");
        fprintf(w->out, "%d", dtype_bytes(tile->type));
        for (int d = 0; d < tile->dim_count; d++) {
            fputs(", ", w->out);
            put_room(w, tile->dims[d]);
            fputs(", &ok)", w->out);
        }
        fputs(");\n", w->out);
    }
}

static void put_next(struct code_writer *w, int loop)
{
    const char *name = code_loop(w, w->plan->plan.loops[loop].text_loop);
    if (plan_asks_begin(&w->plan->plan, loop)) {
        code_put_each_round(w, loop);
        return;
    }
    code_call(w, "last");
    fprintf(w->out, "round_%s, rounds_%s)", name, name);
}

/* ------------------------------------------------------------------ sums */

static void put_sum(struct code_writer *w, const struct fit_sum *sum)
{
    const struct kernel_plan *plan = &w->plan->plan;
    const struct buffer *buffer = &plan->hw->buffers[sum->buffer];
    code_line(w);
    fprintf(w->out, "left = %lld; /* bytes of %s */\n", (long long)buffer->capacity_bytes,
            buffer->name);
    for (int i = 0; i < sum->count; i++) {
        int t = sum->tiles[i];
        code_line(w);
        code_call(w, "fill");
        fprintf(w->out, "&left, slot_%s, %lld, %lld, &ok);\n", code_tile(w, t),
                buffer->alignment_bytes > 1 ? (long long)buffer->alignment_bytes : 1,
                (long long)plan->tiles[t].copies);
    }
}

/* ------------------------------------------------------------------ length */

static int steps_of(const struct kernel_plan *plan, int loop)
{
    int count = 0;
    for (int s = 0; s < plan->step_count; s++)
        count += plan->steps[s].around == loop;
    return count;
}

/* How often the body of a loop is written: once for each round of loops that are written out. */
static void put_lines(struct code_writer *w, int loop)
{
    const struct kernel_plan *plan = &w->plan->plan;
    for (; loop > 0; loop = plan->loops[loop].around) {
        int around = plan->loops[loop].around;
        if (!(w->plan->flags->written_out >> plan->loops[loop].text_loop & 1))
            continue;
        fprintf(w->out, " * runs_%s", code_loop(w, plan->loops[loop].text_loop));
        if (around > 0)
            fprintf(w->out, " / runs_%s", code_loop(w, plan->loops[around].text_loop));
    }
}

static void put_runs(struct code_writer *w, int loop)
{
    if (loop)
        fprintf(w->out, " * runs_%s", code_loop(w, w->plan->plan.loops[loop].text_loop));
}

/* An instruction and six flags for each step. */
static void put_length(struct code_writer *w, void (*put_times)(struct code_writer *w, int loop),
                       long long most, const char *what)
{
    code_line(w);
    fputs("ok = ok && 7 * (0", w->out);
    for (int loop = 0; loop < w->plan->plan.loop_count; loop++) {
        int steps = steps_of(&w->plan->plan, loop);
        if (!steps)
            continue;
        fprintf(w->out, " + %d.0", steps);
        put_times(w, loop);
    }
    fprintf(w->out, ") <= %lld.0; /* %s */\n", most, what);
}

/* ------------------------------------------------------------------ all of it */

static void put_variables(struct code_writer *w)
{
    const struct kernel_plan *plan = &w->plan->plan;
    for (int t = 0; t < w->kernel->tile_count; t++)
        if (plan->tiles[t].is_there) {
            code_line(w);
            fprintf(w->out, "int64_t slot_%s = 0;\n", code_tile(w, t));
        }
    for (int loop = 1; loop < plan->loop_count; loop++) {
        code_line(w);
        fprintf(w->out, "double runs_%s = 0;\n", code_loop(w, plan->loops[loop].text_loop));
    }
    if (!w->declared.visits)
        return;
    code_line(w);
    fputs("int64_t visits = 0;\n", w->out);
}

void code_put_room(struct code_writer *w)
{
    static const struct code_walk walk = {.enter = put_tiles, .next = put_next};
    put_variables(w);
    code_put_walk(w, &walk);
    for (int s = 0; s < w->plan->fit.sum_count; s++)
        put_sum(w, &w->plan->fit.sums[s]);
    put_length(w, put_runs, PROGRAM_MAX_EXECUTED, "instructions");
    if (w->plan->flags->written_out)
        put_length(w, put_lines, PROGRAM_MAX_LINES, "lines of its program");
}
