/* Puts the times of a tiling's parts together for an answer. A tiling is a weighted sum of
 * programs. Each is simulated once, and its busy times and bytes are added as often as it occurs;
 * the program with a step contains the one without, which is taken off as often. Of the other
 * tilings bounds are listed by index, and times of those that were simulated are looked up in that
 * list. */
#include "kernels/knn/knn_choices.h"

#include "core/work.h"
#include "kernels/knn/knn_search.h"
#include "search/candidates.h"
#include "search/tiling_simulator.h"

#include <math.h>
#include <stdlib.h>

/* Adds one part of a tiling, `weight` times, to the timeline of the whole. */
static void add_part(struct found *found, const struct hardware *hw,
                     const struct timeline *timeline, const struct work_total totals[], int cores,
                     double weight)
{
    for (int p = 0; p < hw->pipe_count; p++)
        found->timeline.busy_fs[p] += llround(weight * (double)timeline->busy_fs[p]);
    for (int b = 0; b < hw->bus_count; b++)
        found->timeline.active_fs[b] += llround(weight * (double)timeline->active_fs[b]);
    for (int p = 0; p < hw->price_count; p++)
        if (hw->prices[p].bus >= 0)
            found->bus_bytes[hw->prices[p].bus] +=
                llround(weight * (double)totals[p].units * cores);
}

/* A step more is the difference of two programs. */
static enum status simulate_parts(const struct space *space, struct found *found,
                                  struct error *error)
{
    static const int parts[] = {KNN_PART_DISTANCE, KNN_PART_IDLE, KNN_PART_STEP};
    const double *weight = found->part_weight;
    const double weights[] = {weight[KNN_COST_DISTANCE],
                              weight[KNN_COST_IDLE] - weight[KNN_COST_STEP], weight[KNN_COST_STEP]};
    struct work_total totals[HARDWARE_MAX_PRICES];
    struct tiling_simulator simulator;
    enum status status = tiling_simulator_open(&simulator, error);
    for (int i = 0; i < KNN_COSTS && status == STATUS_OK; i++) {
        struct timeline timeline;
        status =
            tiling_simulator_run(&simulator, space, &found->tiling, parts[i], &timeline, error);
        if (status == STATUS_OK)
            status = work_totals(&simulator.program, totals, error);
        if (status == STATUS_OK)
            add_part(found, space->hw, &timeline, totals,
                     space->kind->cores_used(space, &found->tiling, parts[i]), weights[i]);
    }
    tiling_simulator_close(&simulator);
    return status;
}

enum status knn_found_fill(const struct knn_costs *costs, const struct choice *choice,
                           struct found *found, struct error *error)
{
    int64_t time_fs = choice_time_fs(costs, choice);
    *found = (struct found){.index = choice->index, .bound_fs = time_fs};
    space_tiling(costs->space, choice->index, &found->tiling);
    struct selection_sum sum = selection_sum_of(costs, &found->tiling);
    found->cores_used = costs->share->cores_used;
    found->part_count = KNN_COSTS;
    found->part_fs[KNN_COST_DISTANCE] = costs->products[choice->product].time_fs;
    found->part_fs[KNN_COST_IDLE] = sum.cost->idle_fs;
    found->part_fs[KNN_COST_STEP] = sum.cost->step_fs;
    found->part_weight[KNN_COST_DISTANCE] = (double)choice->products;
    found->part_weight[KNN_COST_IDLE] = (double)sum.row_tiles * (double)sum.tiles;
    found->part_weight[KNN_COST_STEP] = (double)sum.row_tiles * selection_sum_steps(costs, &sum);
    found->timeline.end_fs = time_fs;
    found->timeline.blocked = -1;
    if (time_fs >= KNN_FAR_FS)
        return error_set(error, STATUS_TOO_LARGE,
                         "even the best tiling takes longer than the %lld s that the clock holds",
                         KNN_FAR_FS / FS_PER_S);
    TRY(knn_costs_complete(costs, choice->product, &found->tiling, error));
    return simulate_parts(costs->space, found, error);
}

static int by_index(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

enum status knn_reached_fill(const struct choices *choices, const struct candidate *simulated,
                             int64_t simulated_count, struct search_result *result,
                             struct error *error)
{
    size_t count = (size_t)choices->count;
    result->reached = calloc(count + 1, sizeof *result->reached);
    if (!result->reached)
        return error_memory(error);
    result->reached_count = choices->count;
    for (size_t i = 0; i < count; i++)
        result->reached[i] = (struct candidate){.bound_fs = choices->items[i].bound_fs,
                                                .index = choices->items[i].index};
    qsort(result->reached, count, sizeof *result->reached, by_index);
    for (int64_t i = 0; i < simulated_count; i++) {
        struct candidate key = {.index = simulated[i].index};
        struct candidate *found = bsearch(&key, result->reached, count, sizeof key, by_index);
        if (found)
            found->time_fs = simulated[i].time_fs;
    }
    return STATUS_OK;
}
