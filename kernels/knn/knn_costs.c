/* Times the tiles that tilings of k-NN are made of. A distance tile is known in three degrees,
 * each dearer than the one before and only paid for where it may matter: by its roofline, by the
 * least lower bound of all its MatMul tilings, by a search. Selection tiles are simulated as two
 * programs, without a step and with one, whose difference is the step; only pairs (m2, n2) that
 * some tiling can have are simulated. All of it is done by threads over arrays; of several errors
 * that of the smallest number is told. */
#include "kernels/knn/knn_costs.h"

#include "kernels/knn/selb.h"
#include "search/candidates.h"
#include "search/tiling_simulator.h"

#include <omp.h>
#include <stdlib.h>

static bool fits(const struct space *space, int axis, int64_t value)
{
    int64_t block = knn_space_of(space)->block;
    struct tiling tiling = {{block, block, block, block}};
    tiling.value[axis] = value;
    return space->kind->possible(space, &tiling, KNN_CORES);
}

/* How many values of m1 or n1 fit beside one block of everything else. */
static int fitting(const struct space *space, const struct space_block *block, int axis)
{
    int count = 0;
    while (count < block->count[axis] && fits(space, axis, block->values[axis][count]))
        count++;
    return count;
}

static void distance_tiling(const struct knn_costs *costs, int64_t product, struct tiling *tiling)
{
    const struct space_block *block = costs->block;
    *tiling = (struct tiling){{[KNN_CORES] = costs->share->cores}};
    tiling->value[KNN_M1] = block->values[KNN_M1][product / costs->n1_count];
    tiling->value[KNN_N1] = block->values[KNN_N1][product % costs->n1_count];
}

static enum status open_product(const struct knn_costs *costs, int64_t product, struct space *space,
                                struct error *error)
{
    struct tiling tiling;
    struct problem problem;
    distance_tiling(costs, product, &tiling);
    knn_distance_problem(costs->space, &tiling, &problem);
    TRY(space_open(&problem, &matmul_thesis, costs->space->hw, costs->share->cores_used, space,
                   error));
    space->stop = costs->space->stop;
    return STATUS_OK;
}

/* The roofline, less what its rounding could add. */
static enum status roofline_product(struct knn_costs *costs, int64_t product, struct error *error)
{
    const struct knn_space *knn = knn_space_of(costs->space);
    struct tiling tiling;
    (void)error;
    distance_tiling(costs, product, &tiling);
    int cores = costs->share->cores_used;
    double roofline_fs = matmul_roofline_ns(&knn->product, tiling.value[KNN_M1] * cores, knn->d,
                                            tiling.value[KNN_N1], cores) *
                         FS_PER_NS * (1 - 1e-12);
    costs->products[product] = (struct product_cost){
        .time_fs = costs->space->hw->launch_fs + (int64_t)roofline_fs, .known = ROOFLINE};
    return STATUS_OK;
}

/* The least bound of all tilings. */
static enum status bound_product(struct knn_costs *costs, int64_t product, struct error *error)
{
    struct space space;
    struct bounder bounder = {0};
    struct product_cost *cost = &costs->products[product];
    int64_t least_fs = INT64_MAX;
    if (cost->known != ROOFLINE)
        return STATUS_OK;
    enum status status = open_product(costs, product, &space, error);
    if (status != STATUS_OK)
        return status;
    status = bounder_open(&bounder, &space, error);
    if (status == STATUS_OK)
        status = candidates_least_fs(&space, &bounder, &least_fs, error);
    if (status == STATUS_OK && least_fs < INT64_MAX && least_fs > cost->time_fs)
        *cost = (struct product_cost){least_fs, 0, BOUNDED};
    bounder_close(&bounder);
    space_close(&space);
    return status;
}

static enum status tune_product(struct knn_costs *costs, int64_t product, struct error *error)
{
    struct space space;
    struct search_result result = {0};
    struct search_options options = {.threads = 1, .top = 1, .best_only = true};
    if (costs->products[product].known == TUNED)
        return STATUS_OK;
    enum status status = open_product(costs, product, &space, error);
    if (status != STATUS_OK)
        return status;
    status = search(&space, &options, &result, error);
    if (status == STATUS_OK && !result.optimal)
        status = stop_due(space.stop)
                     ? error_set(error, STATUS_STOPPED, "stopped")
                     : error_set(error, STATUS_INVALID, "no MatMul tiling fits a distance tile");
    if (status == STATUS_OK)
        costs->products[product] =
            (struct product_cost){result.best[0].timeline.end_fs, result.best[0].index, TUNED};
    search_result_clear(&result);
    space_close(&space);
    return status;
}

typedef enum status action(struct knn_costs *costs, int64_t number, struct error *error);

/* The error of the smallest number that fails. */
struct failure {
    int64_t number;
    enum status status;
    struct error error;
};

static void act_on(action *act, struct knn_costs *costs, int64_t number, struct failure *first)
{
    struct error error;
    enum status status = stop_due(costs->space->stop) ? error_set(&error, STATUS_STOPPED, "stopped")
                                                      : act(costs, number, &error);
    if (status == STATUS_OK)
        return;
#pragma omp critical(knn_costs)
    if (first->status == STATUS_OK || number < first->number)
        *first = (struct failure){number, status, error};
}

/* Runs `act` on every number below `count`, or on those of a list that ascends, on all threads. */
static enum status each(struct knn_costs *costs, enum search_phase phase, int64_t count,
                        const int64_t *numbers, action *act, struct error *error)
{
    struct failure first = {.status = STATUS_OK};
    bool bounds = phase == PHASE_BOUNDING;
    recorder_begin(costs->recorder);
#pragma omp parallel num_threads(costs->recorder->threads)
    {
        int64_t start_ns = recorder_now(costs->recorder), done = 0;
#pragma omp for schedule(dynamic) nowait
        for (int64_t i = 0; i < count; i++) {
            act_on(act, costs, numbers ? numbers[i] : i, &first);
            done++;
        }
        recorder_keep(costs->recorder, phase, start_ns, bounds ? done : 0, bounds ? 0 : done);
    }
    recorder_end(costs->recorder);
    if (first.status != STATUS_OK && error)
        *error = first.error;
    return first.status;
}

enum status knn_costs_bound(struct knn_costs *costs, const int64_t *products, int64_t count,
                            struct error *error)
{
    return each(costs, PHASE_BOUNDING, count, products, bound_product, error);
}

enum status knn_costs_tune(struct knn_costs *costs, const int64_t *products, int64_t count,
                           struct error *error)
{
    return each(costs, PHASE_SIMULATING, count, products, tune_product, error);
}

enum status knn_costs_complete(const struct knn_costs *costs, int64_t product,
                               struct tiling *tiling, struct error *error)
{
    struct space space;
    struct tiling own;
    TRY(open_product(costs, product, &space, error));
    space_tiling(&space, costs->products[product].tiling, &own);
    for (int a = 0; a < THESIS_AXES; a++)
        tiling->value[KNN_DISTANCE + a] = own.value[a];
    space_close(&space);
    return STATUS_OK;
}

static enum status simulate_pair(struct knn_costs *costs, int64_t pair, struct error *error)
{
    const struct space_block *block = costs->block;
    int columns = block->count[KNN_N2];
    struct selection_cost *cost = &costs->selections[pair];
    struct tiling tiling = {{[KNN_CORES] = costs->share->cores}};
    struct tiling_simulator simulator;
    struct timeline idle, step;
    if (!cost->idle_fs)
        return STATUS_OK;
    tiling.value[KNN_M2] = block->values[KNN_M2][pair / columns];
    tiling.value[KNN_N2] = block->values[KNN_N2][pair % columns];
    enum status status = tiling_simulator_open(&simulator, error);
    if (status == STATUS_OK)
        status =
            tiling_simulator_run(&simulator, costs->space, &tiling, KNN_PART_IDLE, &idle, error);
    if (status == STATUS_OK)
        status =
            tiling_simulator_run(&simulator, costs->space, &tiling, KNN_PART_STEP, &step, error);
    if (status == STATUS_OK)
        *cost = (struct selection_cost){idle.end_fs, step.end_fs - idle.end_fs, cost->number};
    tiling_simulator_close(&simulator);
    return status;
}

/* The expected steps of a pair up to each of its first tiles. */
static enum status sum_pair(struct knn_costs *costs, int64_t pair, struct error *error)
{
    (void)error;
    const struct knn_space *knn = knn_space_of(costs->space);
    const struct space_block *block = costs->block;
    int columns = block->count[KNN_N2];
    double *sums = costs->steps + (size_t)costs->selections[pair].number * SELB_SUMMED, sum = 0;
    if (!costs->selections[pair].idle_fs)
        return STATUS_OK;
    for (int t = 1; t <= SELB_SUMMED; t++) {
        sum += selb_steps(knn->tile.k, block->values[KNN_M2][pair / columns],
                          block->values[KNN_N2][pair % columns], t);
        sums[t - 1] = sum;
    }
    return STATUS_OK;
}

/* Marks in `used` which values of a selection axis are slices of a fitting value of its distance
 * axis. */
static void mark_slices(const struct knn_costs *costs, int whole_axis, int count, int axis,
                        bool *used)
{
    const struct space_block *block = costs->block;
    int64_t unit = knn_space_of(costs->space)->block;
    for (int i = 0; i < count; i++)
        for (int64_t tiles = 1, whole = block->values[whole_axis][i] / unit; tiles <= whole;) {
            int64_t slice = (whole + tiles - 1) / tiles;
            if (slice <= block->count[axis])
                used[slice - 1] = true;
            tiles = slice > 1 ? (whole + slice - 2) / (slice - 1) : whole + 1;
        }
}

/* Marks with idle_fs = 1 the pairs that some tiling may use. */
static enum status mark_pairs(struct knn_costs *costs, struct error *error)
{
    const struct space *space = costs->space;
    const struct space_block *block = costs->block;
    int rows = block->count[KNN_M2], columns = block->count[KNN_N2];
    bool *used = calloc((size_t)rows + (size_t)columns, sizeof *used);
    if (!used)
        return error_memory(error);
    mark_slices(costs, KNN_M1, costs->m1_count, KNN_M2, used);
    mark_slices(costs, KNN_N1, costs->n1_count, KNN_N2, used + rows);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++) {
            int64_t m2 = block->values[KNN_M2][r], n2 = block->values[KNN_N2][c];
            struct tiling least = {{m2, n2, m2, n2}};
            if (used[r] && used[rows + c] && space->kind->possible(space, &least, KNN_CORES))
                costs->selections[(size_t)r * (size_t)columns + (size_t)c] =
                    (struct selection_cost){.idle_fs = 1, .number = costs->used++};
        }
    free(used);
    return STATUS_OK;
}

static enum status allocate(struct knn_costs *costs, int64_t products, int64_t pairs,
                            struct error *error)
{
    costs->products = calloc((size_t)products + 1, sizeof *costs->products);
    costs->selections = calloc((size_t)pairs, sizeof *costs->selections);
    costs->harmonic = calloc(SELB_SUMMED, sizeof *costs->harmonic);
    return costs->products && costs->selections && costs->harmonic ? STATUS_OK
                                                                   : error_memory(error);
}

static enum status sum_steps(struct knn_costs *costs, int64_t pairs, struct error *error)
{
    if (knn_space_of(costs->space)->steps != KNN_STEPS_MAX)
        return STATUS_OK;
    costs->steps = calloc((size_t)costs->used + 1, SELB_SUMMED * sizeof *costs->steps);
    return costs->steps ? each(costs, PHASE_PROFILING, pairs, NULL, sum_pair, error)
                        : error_memory(error);
}

static int64_t pair_count(const struct knn_costs *costs)
{
    return (int64_t)costs->block->count[KNN_M2] * costs->block->count[KNN_N2];
}

void knn_costs_open(struct knn_costs *costs, const struct space *space,
                    const struct space_block *block, struct recorder *recorder)
{
    const struct tiling tiling = {{[KNN_CORES] = block->values[KNN_CORES][0]}};
    *costs = (struct knn_costs){.space = space,
                                .block = block,
                                .share = knn_share_of(space, &tiling),
                                .recorder = recorder,
                                .m1_count = fitting(space, block, KNN_M1),
                                .n1_count = fitting(space, block, KNN_N1)};
}

enum status knn_costs_profile(struct knn_costs *costs, struct error *error)
{
    int64_t products = (int64_t)costs->m1_count * costs->n1_count, pairs = pair_count(costs);
    TRY(allocate(costs, products, pairs, error));
    for (int t = 1; t <= SELB_SUMMED; t++)
        costs->harmonic[t - 1] = harmonic_number(t);
    TRY(mark_pairs(costs, error));
    TRY(each(costs, PHASE_PROFILING, pairs, NULL, simulate_pair, error));
    TRY(sum_steps(costs, pairs, error));
    return each(costs, PHASE_BOUNDING, products, NULL, roofline_product, error);
}

void knn_costs_close(struct knn_costs *costs)
{
    free(costs->products);
    free(costs->selections);
    free(costs->harmonic);
    free(costs->steps);
}

double knn_costs_steps(const struct knn_costs *costs, int m2, int n2, int64_t tiles)
{
    const struct knn_space *knn = knn_space_of(costs->space);
    const struct space_block *block = costs->block;
    int64_t summed = tiles < SELB_SUMMED ? tiles : SELB_SUMMED, pair;
    if (!costs->steps)
        return (double)knn->tile.k *
               (tiles > SELB_SUMMED ? harmonic_number(tiles) : costs->harmonic[tiles - 1]);
    pair = (int64_t)m2 * block->count[KNN_N2] + n2;
    return costs->steps[(int64_t)costs->selections[pair].number * SELB_SUMMED + summed - 1] +
           selb_steps_sum(knn->tile.k, block->values[KNN_M2][m2], block->values[KNN_N2][n2],
                          summed + 1, tiles);
}
