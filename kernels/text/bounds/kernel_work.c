/* What is found once a plan: chains, order, gaps and instructions, put together. */
#include "kernels/text/bounds/kernel_work_parts.h"

#include <stdlib.h>
#include <string.h>

static void make_instructions(struct kernel_work *work)
{
    for (int s = 0; s < work->plan->step_count; s++) {
        const struct plan_step *step = &work->plan->steps[s];
        bool moves = step->kind == INSTRUCTION_MOVE;
        work->instructions[s] = (struct instruction){
            .kind = (uint8_t)step->kind,
            .pipe = (int8_t)step->pipe,
            .what = (int16_t)step->what,
            .type = (uint8_t)step->type,
            .to_type = (uint8_t)step->to_type,
            .transpose = moves && step->price != hardware_move_price(work->plan->hw, step->what,
                                                                     step->type, step->to_type),
        };
    }
}

/* Text loops on which tiles' extents depend that are touched in parts. */
static void find_shapes(struct kernel_work *work)
{
    for (int t = 0; t < work->plan->kernel->tile_count; t++)
        if (work->plan->tiles[t].is_there && work->plan->tiles[t].copies == 1)
            work->shapes |= work->cells.shapes[t];
}

enum status kernel_work_make(const struct kernel_plan *plan, struct kernel_work **made,
                             struct error *error)
{
    struct kernel_work *work = calloc(1, sizeof *work);
    *made = NULL;
    if (!work)
        return error_memory(error);
    work->plan = plan;
    enum status status = kernel_cells_make(plan, &work->cells, error);
    for (int v = 0; status == STATUS_OK && v < WORK_VARIANTS; v++)
        status = work_find_chains(work, (enum work_variant)v, error);
    if (status != STATUS_OK) {
        kernel_work_free(work);
        return status;
    }
    work_find_order(work);
    for (int v = 0; v < WORK_VARIANTS; v++)
        work_find_gaps(work, (enum work_variant)v);
    make_instructions(work);
    find_shapes(work);
    *made = work;
    return STATUS_OK;
}

void kernel_work_free(struct kernel_work *work)
{
    if (work)
        kernel_cells_clear(&work->cells);
    free(work);
}

const struct work_layout *kernel_work_layout(const struct kernel_work *work,
                                             enum work_variant variant)
{
    return &work->chains[variant].layout;
}
