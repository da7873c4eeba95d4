/* A step as an instruction with its operands. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_program_internal.h"

/* Does a product add to its destination? Not where nothing wrote that in the life of the tile. */
static enum status find_accumulates(const struct program_writer *w, int number, bool *accumulates)
{
    const struct kernel_plan *plan = w->plan;
    const struct plan_part *to = &plan->steps[number].parts[0];
    int life = plan->tiles[to->tile].life;
    *accumulates = false;
    for (int loop = plan->steps[number].around; loop != life; loop = plan->loops[loop].around) {
        int text_loop = plan->loops[loop].text_loop;
        if (!(to->loops >> text_loop & 1) && !w->env->values.loops[text_loop].is_first)
            *accumulates = true;
    }
    for (int s = 0; s < number && !*accumulates; s++) {
        const struct plan_step *step = &plan->steps[s];
        *accumulates = step->part_count && step->parts[0].tile == to->tile;
        if (*accumulates && plan_is_within(plan, plan->steps[number].around, step->around))
            TRY(plan_runs(plan, w->env, s, accumulates, w->emit.error));
    }
    return STATUS_OK;
}

static int64_t extent_of(const struct program_writer *w, const struct plan_part *part)
{
    const struct program *program = w->emit.program;
    return instruction_extent_bytes(w->plan->hw, &program->items[program->count - 1], part->role);
}

/* A move may carry more than the block has that it comes from, where the one it goes to has room
 * for more (`up`). Its rows overlap then, so that all of them lie in the block. */
static void fold(struct program_writer *w, const struct plan_part *part, struct region *rows)
{
    int64_t unit = w->plan->hw->buffers[w->plan->tiles[part->tile].buffer].alignment_bytes;
    int64_t bytes = extent_of(w, part), block = bytes;
    writer_keep(w, writer_block(w, part, &block));
    if (bytes <= block)
        return;
    while (bytes / rows->rows > block || bytes % rows->rows)
        rows->rows++;
    rows->row_stride_bytes = (block - bytes / rows->rows) / (rows->rows - 1);
    if (unit > 1)
        rows->row_stride_bytes -= rows->row_stride_bytes % unit;
}

static void put_operands(struct program_writer *w, const struct plan_step *step)
{
    struct region rows = {.rows = 1};
    for (int p = 0; p < step->part_count && step->kind == INSTRUCTION_MOVE; p++)
        if (step->parts[p].tile >= 0)
            fold(w, &step->parts[p], &rows);
    for (int p = 0; p < step->part_count && writer_is_ok(w); p++) {
        const struct plan_part *part = &step->parts[p];
        struct region region;
        if (part->tile < 0)
            continue;
        int64_t bytes = extent_of(w, part) / rows.rows;
        writer_keep(
            w, writer_region(w, part, bytes + (rows.rows - 1) * rows.row_stride_bytes, &region));
        region.rows = rows.rows;
        region.row_stride_bytes = rows.row_stride_bytes;
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
    if (step->kind == INSTRUCTION_MATRIX)
        TRY(find_accumulates(w, number, &accumulates));
    in.accumulate = accumulates;
    emit(&w->emit, &in);
    put_operands(w, step);
    return STATUS_OK;
}
