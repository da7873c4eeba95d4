/* Put together: the structure once a plan, then for each tiling the sums of its steps, heads and
 * tails, and the lines. */
#include "kernels/text/bounds/kernel_work_parts.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ once a plan */

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

/* ------------------------------------------------------------------ once a tiling */

/* Do tiles keep their shapes: is no round of the loops that make them shorter? */
static enum work_variant variant_of(const struct kernel_work *work, const int64_t numbers[])
{
    for (uint64_t loops = work->shapes; loops; loops &= loops - 1) {
        const struct cell_loop *loop =
            &work->cells.loops[work->plan->plan_loop_of[__builtin_ctzll(loops)]];
        if (work->cells.cells[loop->full].loops || work->cells.cells[loop->last].loops ||
            numbers[loop->full] != numbers[loop->last])
            return WORK_SHAPES_CHANGE;
    }
    return WORK_SHAPES_STAY;
}

static void find_prices(struct work_sums *sums, int cores)
{
    const struct kernel_plan *plan = sums->work->plan;
    for (int s = 0; s < plan->step_count; s++) {
        const struct price *price = &plan->hw->prices[plan->steps[s].price];
        sums->base_fs[s] = (double)price->base_fs;
        sums->late_fs[s] = (double)price->latency_fs;
        sums->fs_per_unit[s] = price->bus >= 0
                                   ? 1e15 / (double)hardware_bus_share(plan->hw, price, cores)
                                   : (double)price->rate.fs / (double)price->rate.units;
    }
}

/* What comes before the first of a chain's instructions, after its last one, and between. */
static void put_ends(const struct work_sums *sums, struct work *summary)
{
    const struct work_chains *chains = sums->chains;
    int line = chains->layout.total_count;
    for (int c = 0; c < chains->layout.chain_count - 1; c++, line++) {
        double head_fs = DBL_MAX, tail_fs = DBL_MAX, gaps_fs = 0;
        for (int s = 0; s < sums->work->plan->step_count; s++) {
            if (!(chains->chains_of[s] >> c & 1) || sums->times[s].first_fs[0] <= 0)
                continue;
            head_fs = sums->head_fs[s] < head_fs ? sums->head_fs[s] : head_fs;
            tail_fs = sums->tail_fs[s] < tail_fs ? sums->tail_fs[s] : tail_fs;
            if (chains->has_gaps)
                gaps_fs += chains->gap_fs[c][s] * (sums->instructions[s] - 1);
        }
        summary->instructions[line] = summary->units[line] = 0;
        summary->burst_fs[line] = head_fs < DBL_MAX ? head_fs + gaps_fs + tail_fs : 0;
    }
    summary->instructions[line] = summary->units[line] = 0;
    summary->burst_fs[line] = sums->phases_fs;
}

enum status kernel_summarise(const struct kernel_work *work, const struct kernel_values *values,
                             int cores, struct work *summary, struct error *error)
{
    struct work_sums sums;
    int64_t numbers[CELLS_MAX];
    kernel_cells_give(&work->cells, values, numbers);
    summary->cores = cores;
    summary->layout = variant_of(work, numbers);
    sums.work = work;
    sums.chains = &work->chains[summary->layout];
    find_prices(&sums, cores);
    for (int line = 0; line < sums.chains->layout.total_count; line++)
        summary->instructions[line] = summary->units[line] = summary->burst_fs[line] = 0;
    for (int s = 0; s < work->plan->step_count; s++) {
        struct work_sum sum;
        int line = sums.chains->line[s];
        TRY(work_sum_step(work, &sums, s, numbers, &sum, error));
        sums.instructions[s] = sum.instructions;
        summary->instructions[line] += sum.instructions;
        summary->units[line] += sum.units;
        summary->burst_fs[line] += sum.burst_fs;
    }
    work_find_heads(&sums);
    work_find_tails(&sums);
    put_ends(&sums, summary);
    return STATUS_OK;
}
