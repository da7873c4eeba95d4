/* Times the tiles that tilings of k-NN are made of, and lists the legal tilings with what they
 * cost.
 *
 * A distance tile is known in three degrees, each dearer than the one before and only paid for
 * where it may matter: by its roofline, by the least lower bound of all its MatMul tilings, by a
 * search. Selection tiles are simulated as two programs, without a step and with one, whose
 * difference is the step; only pairs (m2, n2) that some tiling can have are simulated. All of it is
 * done by threads over arrays; of several errors that of the smallest number is told.
 *
 * Tilings of one m1 are walked by n1, m2 and n2; a branch ends where not even its smallest tiling
 * fits. Sizes of tiles jump from one number of slices to the next (slice_below). A tiling is priced
 * from the tables of tiles: distance tiles, and tiles times steps of the selection. The
 * inequalities of Tang 2024, eq. 3.14, and the harmonic one (docs/knn.md) judge it before its steps
 * are summed. Sums stop at KNN_FAR_FS instead of overflowing.
 *
 * For an answer each program of a tiling is simulated once, and its busy times and bytes are added
 * as often as it occurs; the program with a step contains the one without, which is taken off as
 * often.
 *
 * Says how many loop steps a selection tile takes, and what that rules out. The updates of a row
 * in the t-th tile are those of the k smallest of t·n2 values that lie among the last n2:
 * hypergeometric. The largest number over the rows of a tile has that distribution's power. Sums
 * over tiles are term by term at first, then integrals over octaves of t by Gauss's rule of five
 * points; harmonic numbers end in their asymptotic series. Inequalities: Tang 2024, eq. 3.12 and
 * 3.14, proved in docs/knn.md. */
#include "kernels/knn/knn_costs.h"

#include "core/least.h"
#include "core/work.h"
#include "kernels/knn/knn.h"
#include "kernels/knn/selb.h"
#include "kernels/slices.h"
#include "search/candidates.h"
#include "search/tiling_simulator.h"

#include <math.h>
#include <omp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Summed up to here; beyond, the asymptotic series, whose next term is below 1e-16 of the sum. */
enum { SUMMED = 64 };

double harmonic_number(int64_t n)
{
    double sum = 0, x = (double)n;
    if (n > SUMMED)
        return log(x) + 0.57721566490153286061 + 1 / (2 * x) - 1 / (12 * x * x) +
               1 / (120 * x * x * x * x) - 1 / (252 * x * x * x * x * x * x);
    for (int64_t t = n; t >= 1; t--)
        sum += 1 / (double)t;
    return sum;
}

/* The distribution of a row's updates: P(X <= first + i) = cumulative[i] for i < count, then 1. */
struct updates {
    int64_t first;
    int count;
    double cumulative[KNN_MAX_K + 1];
};

/* P(X = j + 1) / P(X = j) of the hypergeometric distribution; `before` values lie in earlier
 * tiles. */
static double ratio(int64_t k, int64_t columns, double before, int64_t j)
{
    return (double)(columns - j) * (double)(k - j) /
           ((double)(j + 1) * (before - (double)(k - j - 1)));
}

/* From the mode outwards, where the terms are largest, until they no longer count; then normalised:
 * no term underflows that matters. */
static void distribute(int64_t k, int64_t columns, double t, struct updates *u)
{
    const double negligible = 1e-20;
    double before = (t - 1) * (double)columns;
    int64_t most = least_of(k, columns);
    /* while fewer than k values have been seen, every value is taken */
    int64_t least = before >= (double)k ? 0 : least_of(k - (int64_t)before, most);
    int64_t mode =
        (int64_t)((double)(k + 1) * (double)(columns + 1) / (before + (double)columns + 2));
    mode = mode < least ? least : least_of(mode, most);
    int64_t low = mode, high = mode;
    double *p = u->cumulative, sum = 1; /* p[j − least] */
    p[mode - least] = 1;
    for (; low > least && p[low - least] > negligible; low--)
        sum += p[low - 1 - least] = p[low - least] / ratio(k, columns, before, low - 1);
    for (; high < most && p[high - least] > negligible; high++)
        sum += p[high + 1 - least] = p[high - least] * ratio(k, columns, before, high);
    double reached = 0;
    for (int64_t j = low; j <= high; j++) {
        reached += p[j - least];
        u->cumulative[j - low] = reached / sum;
    }
    u->first = low;
    u->count = (int)(high - low);
}

double selb_update_probability(int64_t k, int64_t columns, double t, int64_t updates)
{
    struct updates u;
    distribute(k, columns, t, &u);
    if (updates < u.first)
        return 0;
    return updates - u.first < u.count ? u.cumulative[updates - u.first] : 1;
}

/* E[max] = Σ_{j>=0} P(max > j), and P(max > j) = 1 − P(X <= j)^rows. */
double selb_steps(int64_t k, int64_t rows, int64_t columns, double t)
{
    struct updates u;
    distribute(k, columns, t, &u);
    double expected = (double)u.first;
    for (int i = 0; i < u.count; i++)
        expected += 1 - pow(u.cumulative[i], (double)rows);
    return expected;
}

/* ∫ of the steps over t in [low, high], high <= 2·low: Gauss-Legendre in log t, in which the steps
 * are smooth. */
static double octave(int64_t k, int64_t rows, int64_t columns, double low, double high)
{
    static const double nodes[] = {0, 0.5384693101056831, 0.9061798459386640};
    static const double weights[] = {0.5688888888888889, 0.4786286704993665, 0.2369268850561891};
    double middle = (log(low) + log(high)) / 2, half = (log(high) - log(low)) / 2, sum = 0;
    for (int i = -2; i <= 2; i++) {
        double t = exp(middle + half * (i < 0 ? -nodes[-i] : nodes[i]));
        sum += weights[abs(i)] * t * selb_steps(k, rows, columns, t);
    }
    return half * sum;
}

double selb_steps_sum(int64_t k, int64_t rows, int64_t columns, int64_t first, int64_t last)
{
    double sum = 0;
    for (int64_t t = first; t <= last && t <= SELB_SUMMED; t++)
        sum += selb_steps(k, rows, columns, (double)t);
    double low = (double)(first > SELB_SUMMED ? first : SELB_SUMMED + 1) - 0.5;
    double end = (double)last + 0.5;
    while (low < end) {
        double high = 2 * low < end ? 2 * low : end;
        sum += octave(k, rows, columns, low, high);
        low = high;
    }
    return sum;
}

bool selb_prunes(const struct selb_pair *pair)
{
    int64_t small, large;
    return !__builtin_mul_overflow(pair->p, pair->idle_small_fs, &small) &&
           !__builtin_mul_overflow(pair->k, pair->step_large_fs, &large) &&
           !__builtin_add_overflow(large, pair->idle_large_fs, &large) && small > large;
}

/* Rounded so that a tie within a double's error is not pruned. */
bool harmonic_prunes(const struct selb_pair *pair)
{
    double small = (double)pair->tiles * (double)pair->p * (double)pair->idle_small_fs;
    double large = (double)pair->tiles * (double)pair->idle_large_fs +
                   pair->steps_large * (double)pair->step_large_fs;
    return small >= large * (1 + 1e-12);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static bool value_fits(const struct space *space, int axis, int64_t value)
{
    int64_t block = knn_space_of(space)->block;
    struct tiling tiling = {{block, block, block, block}};
    tiling.value[axis] = value;
    return space->kind->possible(space, &tiling, KNN_CORES);
}

/* How many values of m1 or n1 fit beside one block of everything else. */
static int count_fitting(const struct space *space, const struct space_block *block, int axis)
{
    int count = 0;
    while (count < block->count[axis] && value_fits(space, axis, block->values[axis][count]))
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
    struct recorder alone = {.threads = 1};
    struct candidates candidates = {.items = NULL};
    struct product_cost *cost = &costs->products[product];
    if (cost->known != ROOFLINE)
        return STATUS_OK;
    enum status status = open_product(costs, product, &space, error);
    if (status != STATUS_OK)
        return status;
    status = bounder_open(&bounder, &space, error);
    if (status == STATUS_OK)
        status = candidates_collect(&space, &bounder, &alone, &candidates, error);
    if (status == STATUS_OK && !candidates.complete)
        status = error_set(error, STATUS_STOPPED, "stopped");
    if (status == STATUS_OK && candidates.count && candidates.items[0].bound_fs > cost->time_fs)
        *cost = (struct product_cost){candidates.items[0].bound_fs, 0, BOUNDED};
    free(candidates.items);
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
static enum status run_on_each(struct knn_costs *costs, enum search_phase phase, int64_t count,
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
    return run_on_each(costs, PHASE_BOUNDING, count, products, bound_product, error);
}

enum status knn_costs_tune(struct knn_costs *costs, const int64_t *products, int64_t count,
                           struct error *error)
{
    return run_on_each(costs, PHASE_SIMULATING, count, products, tune_product, error);
}

/* Fills in the distance tile's own tiling. The product must be exact. */
static enum status knn_costs_complete(const struct knn_costs *costs, int64_t product,
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

static enum status allocate_costs(struct knn_costs *costs, int64_t products, int64_t pairs,
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
    return costs->steps ? run_on_each(costs, PHASE_PROFILING, pairs, NULL, sum_pair, error)
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
                                .m1_count = count_fitting(space, block, KNN_M1),
                                .n1_count = count_fitting(space, block, KNN_N1)};
}

enum status knn_costs_profile(struct knn_costs *costs, struct error *error)
{
    int64_t products = (int64_t)costs->m1_count * costs->n1_count, pairs = pair_count(costs);
    TRY(allocate_costs(costs, products, pairs, error));
    for (int t = 1; t <= SELB_SUMMED; t++)
        costs->harmonic[t - 1] = harmonic_number(t);
    TRY(mark_pairs(costs, error));
    TRY(run_on_each(costs, PHASE_PROFILING, pairs, NULL, simulate_pair, error));
    TRY(sum_steps(costs, pairs, error));
    return run_on_each(costs, PHASE_BOUNDING, products, NULL, roofline_product, error);
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

/* ---- tilings --------------------------------------------------------------------------------- */

static int64_t times_fs(int64_t count, int64_t fs)
{
    int64_t product;
    return __builtin_mul_overflow(count, fs, &product) || product > KNN_FAR_FS ? KNN_FAR_FS
                                                                               : product;
}

static int64_t plus_fs(int64_t a, int64_t b)
{
    return a + b > KNN_FAR_FS ? KNN_FAR_FS : a + b;
}

int64_t choice_time_fs(const struct knn_costs *costs, const struct choice *choice)
{
    return plus_fs(times_fs(choice->products, costs->products[choice->product].time_fs),
                   choice->selection_fs);
}

/* All selection tiles of a tiling: row_tiles · Σ_{t<=tiles} (E_t·g + g0). */
struct selection_sum {
    const struct selection_cost *cost;
    int64_t tiles;     /* T2 */
    int64_t row_tiles; /* ceil(M/m1)·ceil(m1/m2) */
    int m2, n2;        /* numbers on their axes */
};

static struct selection_sum selection_sum_of(const struct knn_costs *costs,
                                             const struct tiling *tiling)
{
    const struct knn_space *knn = knn_space_of(costs->space);
    const int64_t *v = tiling->value;
    struct selection_sum sum = {
        .tiles = divide_up(knn->columns, v[KNN_N1]) * divide_up(v[KNN_N1], v[KNN_N2]),
        .row_tiles = divide_up(costs->share->rows, v[KNN_M1]) * divide_up(v[KNN_M1], v[KNN_M2]),
        .m2 = (int)(v[KNN_M2] / knn->block) - 1,
        .n2 = (int)(v[KNN_N2] / knn->block) - 1,
    };
    int64_t columns = costs->block->count[KNN_N2];
    sum.cost = &costs->selections[sum.m2 * columns + sum.n2];
    return sum;
}

/* Σ_{t<=tiles} E_t. */
static double selection_sum_steps(const struct knn_costs *costs, const struct selection_sum *sum)
{
    return knn_costs_steps(costs, sum->m2, sum->n2, sum->tiles);
}

static int64_t selection_sum_fs(const struct selection_sum *sum, double steps)
{
    double steps_fs = steps * (double)sum->cost->step_fs;
    int64_t fs = steps_fs < (double)KNN_FAR_FS ? llround(steps_fs) : KNN_FAR_FS;
    return times_fs(sum->row_tiles, plus_fs(times_fs(sum->tiles, sum->cost->idle_fs), fs));
}

/* A tiling by values and, of m1 and n1, numbers on their axes. */
struct place {
    int m1, n1;
    struct tiling tiling;
    bool whole; /* n2 = n1 is feasible: the inequalities may be asked */
};

/* The price of a tiling; of one that is ruled out without its steps, which bounds it. */
static struct choice price_place(const struct knn_costs *costs, const struct place *place,
                                 enum fate fate)
{
    const struct knn_space *knn = knn_space_of(costs->space);
    const int *count = costs->block->count;
    const int64_t *v = place->tiling.value;
    struct selection_sum sum = selection_sum_of(costs, &place->tiling);
    double steps = fate == FATE_LIVES ? selection_sum_steps(costs, &sum) : 0;
    int64_t row = ((int64_t)place->m1 * count[KNN_N1] + place->n1) * count[KNN_M2] + sum.m2;
    struct choice choice = {
        .index = costs->block->first_index + row * count[KNN_N2] + sum.n2,
        .product = (int64_t)place->m1 * costs->n1_count + place->n1,
        .products = divide_up(costs->share->rows, v[KNN_M1]) * divide_up(knn->columns, v[KNN_N1]),
        .selection_fs = selection_sum_fs(&sum, steps),
        .fate = fate,
    };
    choice.bound_fs = choice_time_fs(costs, &choice);
    return choice;
}

/* The number of a value on an axis that ascends. */
static int number_of(const struct space_block *block, int axis, int64_t value)
{
    int low = 0, high = block->count[axis] - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (block->values[axis][middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct place place_of(const struct knn_costs *costs, const struct tiling *tiling)
{
    return (struct place){
        .m1 = number_of(costs->block, KNN_M1, tiling->value[KNN_M1]),
        .n1 = number_of(costs->block, KNN_N1, tiling->value[KNN_N1]),
        .tiling = *tiling,
    };
}

struct choice choice_of(const struct knn_costs *costs, const struct tiling *tiling)
{
    struct place place = place_of(costs, tiling);
    return price_place(costs, &place, FATE_LIVES);
}

/* The inequalities compare tiles of n2 with whole columns of the distance tile; where those do not
 * fit, nothing follows. */
static enum fate judge(const struct knn_costs *costs, const struct place *place)
{
    const struct knn_space *knn = knn_space_of(costs->space);
    const int64_t *v = place->tiling.value;
    if (!place->whole || v[KNN_N2] == v[KNN_N1])
        return FATE_LIVES;
    struct tiling whole = place->tiling;
    whole.value[KNN_N2] = v[KNN_N1];
    struct selection_sum small = selection_sum_of(costs, &place->tiling);
    struct selection_sum large = selection_sum_of(costs, &whole);
    struct selb_pair pair = {
        .k = knn->tile.k,
        .p = divide_up(v[KNN_N1], v[KNN_N2]),
        .idle_small_fs = small.cost->idle_fs,
        .idle_large_fs = large.cost->idle_fs,
        .step_large_fs = large.cost->step_fs,
        .tiles = large.tiles,
    };
    if (selb_prunes(&pair))
        return FATE_SELB;
    pair.steps_large = selection_sum_steps(costs, &large);
    return harmonic_prunes(&pair) ? FATE_HARMONIC : FATE_LIVES;
}

static bool place_fits(const struct knn_costs *costs, const struct place *place, int64_t columns)
{
    struct tiling tiling = place->tiling;
    tiling.value[KNN_N2] = columns;
    return costs->space->kind->possible(costs->space, &tiling, KNN_CORES);
}

enum fate choice_fate(const struct knn_costs *costs, const struct tiling *tiling)
{
    struct place place = place_of(costs, tiling);
    place.whole = place_fits(costs, &place, tiling->value[KNN_N1]);
    return judge(costs, &place);
}

/* The largest slice of `whole` below `slice`, or 0. */
static int64_t slice_below(int64_t whole, int64_t slice, int64_t block)
{
    if (slice <= block)
        return 0;
    return round_up(divide_up(whole, divide_up(whole, slice - block)), block);
}

/* What is done with a place whose n2 is set; false ends the walk. */
struct walker {
    const struct knn_costs *costs;
    bool (*meet)(const struct walker *walker, const struct place *place);
    bool prune;
    choice_visitor *visit;
    void *context;
};

static bool meet_choice(const struct walker *walker, const struct place *place)
{
    enum fate fate = walker->prune ? judge(walker->costs, place) : FATE_LIVES;
    struct choice choice = price_place(walker->costs, place, fate);
    return walker->visit(walker->context, &choice);
}

static bool meet_count(const struct walker *walker, const struct place *place)
{
    (void)place;
    ++*(int64_t *)walker->context;
    return true;
}

static bool walk_columns(const struct walker *walker, struct place *place)
{
    const struct knn_costs *costs = walker->costs;
    int64_t block = knn_space_of(costs->space)->block, n1 = place->tiling.value[KNN_N1];
    bool going = true;
    place->whole = place_fits(costs, place, n1);
    for (int64_t n2 = n1; n2 > 0 && going; n2 = slice_below(n1, n2, block)) {
        place->tiling.value[KNN_N2] = n2;
        if (place_fits(costs, place, n2))
            going = walker->meet(walker, place);
    }
    return going;
}

/* All legal tilings of one m1. */
static void walk_places(const struct walker *walker, int m1)
{
    const struct knn_costs *costs = walker->costs;
    const struct space_block *axes = costs->block;
    int64_t block = knn_space_of(costs->space)->block, rows = axes->values[KNN_M1][m1];
    struct place place = {.m1 = m1, .tiling.value[KNN_M1] = rows};
    bool going = true;
    for (place.n1 = 0; place.n1 < costs->n1_count && going; place.n1++) {
        place.tiling.value[KNN_N1] = axes->values[KNN_N1][place.n1];
        for (int64_t m2 = rows; m2 > 0 && going; m2 = slice_below(rows, m2, block)) {
            place.tiling.value[KNN_M2] = m2;
            if (place_fits(costs, &place, block))
                going = walk_columns(walker, &place);
        }
    }
}

void choices_visit(const struct knn_costs *costs, int m1, bool prune, choice_visitor *visit,
                   void *context)
{
    walk_places(&(struct walker){costs, meet_choice, prune, visit, context}, m1);
}

int64_t choices_count(const struct knn_costs *costs, int m1)
{
    int64_t count = 0;
    walk_places(&(struct walker){.costs = costs, .meet = meet_count, .context = &count}, m1);
    return count;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Adds one part of a tiling, `weight` times, to the timeline of the whole. */
static void add_part_times(struct found *found, const struct hardware *hw,
                           const struct timeline *timeline, const struct work_total totals[],
                           int cores, double weight)
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
            add_part_times(found, space->hw, &timeline, totals,
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
