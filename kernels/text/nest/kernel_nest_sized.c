/* Where words and copies alone are open: the summary of the structure with the most copies that the
 * rules leave. What holds of it holds with fewer copies: work, order and pipes are the same, and
 * fewer copies only add steps that wait for each other. It is put into the layout of prefixes, so
 * that its bound stays what it is: each pipe with the longest chain that it is in, and the longest
 * chain of all. */
#include "kernels/text/nest/kernel_nest_least.h"

#include <string.h>

/* The structure of a box. */
static const struct space_plan *plan_of(const struct kernel_space *ks,
                                        const struct nest_block *block,
                                        const struct kernel_box *box, struct kernel_values *values)
{
    struct tiling most;
    for (int a = 0; a <= ks->kernel->axis_count; a++)
        most.value[a] = ks->block_axes >> a & 1 ? block->block->values[a][0] : box->axes[a].most;
    const struct space_plan *plan = kernel_find_plan(ks, &most);
    if (!plan || !plan->is_possible || !plan->work)
        return NULL;
    *values = block->values;
    memcpy(values->axes, most.value, (size_t)ks->kernel->axis_count * sizeof *values->axes);
    return plan;
}

/* Times of a summary's lines. */
static void time_lines(const struct nest_bounds *bounds, const struct hardware *hw,
                       const struct work_layout *layout, const struct work *work, double fs[])
{
    const struct bound_plan *plan = &bounds->plans[work->cores - 1];
    for (int l = 0; l < layout->line_count; l++) {
        const struct price *price = &hw->prices[layout->price[l]];
        int own = bounds->line_of[layout->price[l]];
        bool waits = layout->wait_lines >> l & 1, late = waits || layout->late_lines >> l & 1;
        double base_fs =
            (waits ? 0 : (double)price->base_fs) + (late ? (double)price->latency_fs : 0);
        fs[l] = work->instructions[l] * base_fs + work->burst_fs[l] +
                (own < 0 ? 0 : work->units[l] * plan->fs_per_unit[own]);
    }
}

static void put_lines(const struct nest_bounds *bounds, const struct hardware *hw,
                      const struct work_layout *layout, const struct work *work, const double fs[],
                      struct work *put, double pipe_fs[])
{
    for (int l = 0; l < layout->total_count; l++) {
        int own = bounds->line_of[layout->price[l]];
        if (own < 0)
            continue;
        put->instructions[own] += work->instructions[l];
        put->units[own] += work->units[l];
        put->burst_fs[own] += work->burst_fs[l];
        pipe_fs[hw->prices[layout->price[l]].pipe] += fs[l];
    }
}

static uint64_t lines_of(const struct hardware *hw, const struct work_layout *layout, int pipe)
{
    uint64_t lines = 0;
    for (int l = 0; l < layout->total_count; l++)
        if (hw->prices[layout->price[l]].pipe == pipe)
            lines |= UINT64_C(1) << l;
    return lines;
}

static void put_chains(const struct nest_bounds *bounds, const struct hardware *hw,
                       const struct work_layout *layout, const double fs[], const double pipe_fs[],
                       struct work *put)
{
    int ends = bounds->layout.total_count, longest = ends + hw->pipe_count;
    for (int c = 0; c < layout->chain_count; c++) {
        double chain_fs = 0;
        for (uint64_t l = layout->chains[c]; l; l &= l - 1)
            chain_fs += fs[__builtin_ctzll(l)];
        if (longest < bounds->layout.line_count && chain_fs > put->burst_fs[longest])
            put->burst_fs[longest] = chain_fs;
        for (int p = 0; p < hw->pipe_count; p++) {
            uint64_t lines = lines_of(hw, layout, p);
            if (lines && !(lines & ~layout->chains[c]) &&
                chain_fs - pipe_fs[p] > put->burst_fs[ends + p])
                put->burst_fs[ends + p] = chain_fs - pipe_fs[p];
        }
    }
}

bool kernel_nest_sized(const struct kernel_space *ks, const struct nest_block *block,
                       const struct kernel_box *box, struct work *put)
{
    const struct nest_bounds *bounds = ks->nest->bounds;
    struct kernel_values values;
    const struct space_plan *plan = plan_of(ks, block, box, &values);
    struct work work;
    struct error error;
    double fs[WORK_MAX_LINES] = {0}, pipe_fs[HARDWARE_MAX_PIPES] = {0};
    if (!plan || kernel_summarise(plan->work, &values, put->cores, &work, &error) != STATUS_OK)
        return false;
    const struct hardware *hw = plan->plan.hw;
    const struct work_layout *layout =
        kernel_work_layout(plan->work, (enum work_variant)work.layout);
    time_lines(bounds, hw, layout, &work, fs);
    for (int line = 0; line < bounds->layout.line_count; line++)
        put->instructions[line] = put->units[line] = put->burst_fs[line] = 0;
    put_lines(bounds, hw, layout, &work, fs, put, pipe_fs);
    put_chains(bounds, hw, layout, fs, pipe_fs, put);
    return true;
}
