/* What all tilings with one prefix do at least: of each structure that they may have, with the
 * largest values that the rules leave to open axes; of these the structure whose bound is the
 * least. The summary has a line a price, a chain a pipe, and what comes before a pipe's first and
 * after its last instruction; and a chain of two pipes that wait for each other at a tile which has
 * one copy. docs/bounds.md says why these are bounds. */
#include "kernels/text/nest/kernel_nest_least.h"

#include "kernels/text/plan/kernel_structure.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ once a space */

static void add_price(struct nest_bounds *bounds, const struct hardware *hw, int price)
{
    struct work_layout *layout = &bounds->layout;
    for (int l = 0; l < layout->total_count; l++)
        if (layout->price[l] == price)
            return;
    if (layout->total_count + HARDWARE_MAX_PIPES + 1 >= WORK_MAX_LINES)
        return;
    bounds->line_of[price] = layout->total_count;
    layout->chains[hw->prices[price].pipe] |= UINT64_C(1) << layout->total_count;
    layout->price[layout->total_count++] = price;
}

/* Chain p is pipe p's; its line behind the others is what comes before and after; that of the last
 * chain, which has no other one, is two pipes in turn. */
static void make_layout(struct nest_bounds *bounds, const struct kernel_nest *nest,
                        const struct hardware *hw)
{
    struct work_layout *layout = &bounds->layout;
    for (int p = 0; p < HARDWARE_MAX_PRICES; p++)
        bounds->line_of[p] = -1;
    for (int b = 0; b < nest->block_count; b++)
        for (int c = 0; c < nest->blocks[b].choice_count; c++) {
            const struct kernel_plan *plan = &nest->blocks[b].choices[c].made->plan;
            for (int s = 0; s < plan->step_count; s++)
                add_price(bounds, hw, plan->steps[s].price);
        }
    layout->line_count = layout->total_count;
    layout->chain_count = hw->pipe_count;
    for (int p = 0; p < hw->pipe_count; p++) {
        layout->chains[p] |= UINT64_C(1) << layout->line_count;
        layout->price[layout->line_count++] = layout->price[0];
    }
    if (layout->chain_count == WORK_MAX_CHAINS)
        return;
    layout->chains[layout->chain_count++] = UINT64_C(1) << layout->line_count;
    layout->price[layout->line_count++] = layout->price[0];
}

enum status kernel_nest_bounds_make(struct kernel_nest *nest, const struct hardware *hw, int cores,
                                    struct error *error)
{
    struct nest_bounds *bounds = calloc(1, sizeof *bounds);
    nest->bounds = bounds;
    if (!bounds)
        return error_memory(error);
    make_layout(bounds, nest, hw);
    bounds->plans = calloc((size_t)cores, sizeof *bounds->plans);
    if (!bounds->plans)
        return error_memory(error);
    for (int c = 0; c < cores; c++)
        bound_plan_make(&bounds->plans[c], hw, c + 1, &bounds->layout);
    for (int b = 0; b < nest->block_count; b++)
        for (int c = 0; c < nest->blocks[b].choice_count; c++) {
            struct nest_choice *choice = &nest->blocks[b].choices[c];
            if (choice->agreed == c)
                TRY(kernel_least_make(choice->made->work, &choice->least, error));
        }
    return STATUS_OK;
}

void kernel_nest_bounds_free(struct kernel_nest *nest)
{
    for (int b = 0; b < nest->block_count; b++)
        for (int c = 0; c < nest->blocks[b].choice_count; c++)
            free(nest->blocks[b].choices[c].least);
    if (nest->bounds)
        free(nest->bounds->plans);
    free(nest->bounds);
}

const struct work_layout *kernel_nest_layout(const struct kernel_nest *nest)
{
    return &nest->bounds->layout;
}

/* ------------------------------------------------------------------ the largest values */

struct leaster {
    const struct kernel_space *ks;
    const struct nest_block *block;
    const struct nest_choice *choice;
    int fixed, cores;
    struct kernel_box box;
    struct least_sums sums;
};

static bool may_hold(const struct leaster *l, uint64_t rules)
{
    for (uint64_t r = rules; r; r &= r - 1)
        if (kernel_nest_ask(l->ks, l->block, l->choice, &l->choice->rules[__builtin_ctzll(r)],
                            &l->box) == HOLDS_NEVER)
            return false;
    return true;
}

/* Takes the values off an open axis that no tiling has, from the largest one on; false: none is
 * left. */
static bool shorten(struct leaster *l, int axis)
{
    const struct space_block *block = l->block->block;
    int64_t least = l->box.axes[axis].least;
    for (int i = block->count[axis] - 1; i >= 0; i--) {
        l->box.axes[axis] = (struct span){block->values[axis][i], block->values[axis][i]};
        if (!may_hold(l, l->choice->asking[axis]))
            continue;
        l->box.axes[axis].least = least;
        return true;
    }
    return false;
}

static bool shorten_all(struct leaster *l)
{
    int rules = l->choice->rule_count;
    if (rules && !may_hold(l, ~UINT64_C(0) >> (64 - rules)))
        return false;
    unsigned open = l->ks->nest->open_axes & ~l->ks->word_axes & ~((1U << l->fixed) - 1);
    for (; open; open &= open - 1)
        if (!shorten(l, __builtin_ctz(open)))
            return false;
    return true;
}

/* ------------------------------------------------------------------ times */

struct pricer {
    double base_fs, late_fs, fs_per_unit;
};

static struct pricer pricer_of(const struct leaster *l, int step)
{
    const struct kernel_plan *plan = &l->choice->made->plan;
    const struct price *price = &plan->hw->prices[plan->steps[step].price];
    int line = l->ks->nest->bounds->line_of[plan->steps[step].price];
    const struct bound_plan *bound = &l->ks->nest->bounds->plans[l->cores - 1];
    return line < 0 ? (struct pricer){0, 0, 0}
                    : (struct pricer){(double)price->base_fs, (double)price->latency_fs,
                                      bound->fs_per_unit[line]};
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

/* Steps are in the order of the program: what comes before one is known when it is reached. */
static void find_heads(struct leaster *l, const struct pricer pricers[])
{
    const struct nest_least *least = l->choice->least;
    struct least_sums *sums = &l->sums;
    for (int s = 0; s < least->step_count; s++) {
        sums->head_fs[s] = 0;
        for (int word = 0; word < 2; word++)
            for (uint64_t b = least->steps[s].before[word]; b; b &= b - 1) {
                int first = 64 * word + __builtin_ctzll(b);
                if (first < s)
                    sums->head_fs[s] = later(
                        sums->head_fs[s],
                        sums->head_fs[first] + pricers[first].base_fs + pricers[first].late_fs +
                            sums->works[first].first_units * pricers[first].fs_per_unit);
            }
    }
}

static void find_tails(struct leaster *l, const struct pricer pricers[])
{
    const struct nest_least *least = l->choice->least;
    struct least_sums *sums = &l->sums;
    memset(sums->tail_fs, 0, sizeof sums->tail_fs);
    for (int s = least->step_count - 1; s >= 0; s--) {
        for (int word = 0; word < 2; word++)
            for (uint64_t b = least->steps[s].after[word]; b; b &= b - 1) {
                int second = 64 * word + __builtin_ctzll(b);
                if (second > s)
                    sums->tail_fs[s] =
                        later(sums->tail_fs[s],
                              pricers[s].late_fs + sums->tail_fs[second] + pricers[second].base_fs +
                                  sums->works[second].last_units * pricers[second].fs_per_unit);
            }
    }
}

static void sum_up(struct leaster *l)
{
    struct pricer pricers[PLAN_MAX_STEPS] = {0};
    const struct nest_least *least = l->choice->least;
    for (int s = 0; s < least->step_count; s++) {
        struct least_work *work = &l->sums.works[s];
        kernel_least_step(&least->steps[s], &l->box, work);
        pricers[s] = pricer_of(l, s);
        l->sums.total_fs[s] =
            work->instructions * pricers[s].base_fs + work->units * pricers[s].fs_per_unit;
    }
    find_heads(l, pricers);
    find_tails(l, pricers);
}

/* ------------------------------------------------------------------ the summary */

static void put_totals(const struct leaster *l, struct work *work)
{
    const struct nest_bounds *bounds = l->ks->nest->bounds;
    const struct kernel_plan *plan = &l->choice->made->plan;
    for (int line = 0; line < bounds->layout.line_count; line++)
        work->instructions[line] = work->units[line] = work->burst_fs[line] = 0;
    for (int s = 0; s < plan->step_count; s++) {
        int line = bounds->line_of[plan->steps[s].price];
        if (line < 0)
            continue;
        work->instructions[line] += l->sums.works[s].instructions;
        work->units[line] += l->sums.works[s].units;
    }
}

/* What comes before all and after all steps of a set. */
static double ends_of(const struct leaster *l, const bool is_in[PLAN_MAX_STEPS])
{
    double head_fs = DBL_MAX, tail_fs = DBL_MAX;
    for (int s = 0; s < l->choice->least->step_count; s++) {
        if (!is_in[s])
            continue;
        head_fs = l->sums.head_fs[s] < head_fs ? l->sums.head_fs[s] : head_fs;
        tail_fs = l->sums.tail_fs[s] < tail_fs ? l->sums.tail_fs[s] : tail_fs;
    }
    return head_fs < DBL_MAX ? head_fs + tail_fs : 0;
}

static void put_ends(const struct leaster *l, struct work *work)
{
    const struct nest_bounds *bounds = l->ks->nest->bounds;
    const struct kernel_plan *plan = &l->choice->made->plan;
    for (int p = 0; p < plan->hw->pipe_count; p++) {
        bool is_in[PLAN_MAX_STEPS] = {false}, any = false;
        for (int s = 0; s < plan->step_count; s++)
            any |= is_in[s] = plan->steps[s].pipe == p;
        if (any)
            work->burst_fs[bounds->layout.total_count + p] = ends_of(l, is_in);
    }
}

void kernel_nest_summarise(const struct space *space, const struct tiling *tiling, int fixed,
                           struct work *work)
{
    const struct kernel_space *ks = kernel_space_of(space);
    const struct nest_bounds *bounds = ks->nest->bounds;
    struct leaster l = {.ks = ks,
                        .block = kernel_nest_block(ks, tiling),
                        .fixed = fixed,
                        .cores = (int)tiling->value[ks->kernel->axis_count]};
    int layout = ks->plan_count * WORK_VARIANTS;
    int64_t least_fs = INT64_MAX;
    *work = (struct work){.cores = l.cores, .layout = layout};
    for (int c = 0; l.block && c < l.block->choice_count; c++) {
        struct work one = {.cores = l.cores, .layout = layout};
        l.choice = &l.block->choices[c];
        if (l.choice->agreed != c || !kernel_nest_agrees(ks, l.choice, tiling, fixed))
            continue;
        kernel_nest_box(ks, l.block, tiling, fixed, &l.box);
        kernel_nest_choose(ks, l.choice, &l.box);
        if (!shorten_all(&l))
            continue;
        if (fixed < ks->nest->sized || !kernel_nest_sized(ks, l.block, &l.box, &one)) {
            sum_up(&l);
            put_totals(&l, &one);
            put_ends(&l, &one);
        }
        int64_t fs = bound_fs(&bounds->plans[l.cores - 1], &one);
        if (fs < least_fs) {
            least_fs = fs;
            *work = one;
        }
    }
}

void kernel_least(const struct space *space, const struct space_block *block, struct work *work)
{
    const struct kernel_space *ks = kernel_space_of(space);
    struct tiling tiling;
    for (int a = 0; a < space->axis_count; a++)
        tiling.value[a] = block->values[a][0];
    if (ks->nest)
        kernel_nest_summarise(space, &tiling, 0, work);
    else
        *work = (struct work){.cores = (int)tiling.value[ks->kernel->axis_count]};
}
