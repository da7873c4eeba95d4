/* The search of k-NN's space against a brute force that knows only the definition: slices by trying
 * all tile counts, legality from the byte formulas, costs of tiles from programs played in full,
 * sums by plain loops. And the search against itself: strategies, threads, time limits. */
#include "analysis/check/check.h"
#include "costmodel/simulate.h"
#include "kernels/knn/knn_costs.h"
#include "kernels/knn/knn_space.h"
#include "kernels/knn/selb.h"
#include "search/strategy.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, MOST_SLICES = 64, MOST_CORES = 8 };

/* Chips on which the answer must hold: smaller buffers, free and dear launches, a slow scalar. */
static const char *const chips[] = {
    "",
    "launch_ns=0",
    "launch_ns=122050",
    "buffers.ub.capacity_bytes=8192",
    "buffers.ub.capacity_bytes=20000 buffers.l1.capacity_bytes=32768",
    "buffers.l1.capacity_bytes=24576 launch_ns=0",
    "operations.branch.each_ns=900 operations.assign.each_ns=700",
    "launch_ns=0 operations.reduceMin.repeat_cycles=40 paths.gm->ub.bandwidth_gbps=2",
    "operations.vecSel.first_ns=3000 operations.vecCmp.repeat_ns=500 issue_ns=0",
};
enum { CHIPS = sizeof chips / sizeof *chips };

struct question {
    struct hardware hw;
    struct problem problem;
    struct space space;
    int cores;
    gsl_rng *rng;
};

static int64_t pick(const struct question *q, int64_t least, int64_t most)
{
    return least + (int64_t)gsl_rng_uniform_int(q->rng, (unsigned long)(most - least + 1));
}

static void open_space(struct question *q)
{
    struct error error;
    cr_assert_eq(problem_settle(&q->problem, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(space_open(&q->problem, &knn_selb, &q->hw, q->cores, &q->space, &error), STATUS_OK,
                 "%s", error.text);
}

static void open_fixed(struct question *q, const char *chip, int cores, const int64_t size[])
{
    memset(q, 0, sizeof *q);
    machine_load(&q->hw, chip);
    q->cores = cores;
    q->problem = (struct problem){.op = &knn_operator, .type = DTYPE_F16};
    memcpy(q->problem.size, size, KNN_SIZES * sizeof *size);
    open_space(q);
}

/* A small problem, ragged as often as not, on some chip, in some form. */
static void open_random(struct question *q, unsigned long seed)
{
    memset(q, 0, sizeof *q);
    q->rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(q->rng, seed);
    machine_load(&q->hw, chips[pick(q, 0, CHIPS - 1)]);
    q->cores = (int)pick(q, 1, q->hw.cores);
    q->problem = (struct problem){.op = &knn_operator, .type = DTYPE_F16};
    int64_t *size = q->problem.size;
    size[KNN_M] = pick(q, 0, 1) ? pick(q, 1, 33) : 16 * pick(q, 1, 5);
    size[KNN_N] = pick(q, 0, 1) ? pick(q, 1, 130) : 16 * pick(q, 1, 9);
    size[KNN_D] = pick(q, 0, 9) ? pick(q, 1, 33) : pick(q, 1, 300);
    size[KNN_K] = pick(q, 1, size[KNN_N] < 64 ? size[KNN_N] : 64);
    for (int c = 0; c < KNN_CHOICES; c++)
        q->problem.choice[c] = (int)pick(q, 0, 1);
    open_space(q);
}

/* Behind the last of `count` seeds, fewer in slow runs. */
static unsigned long last_seed(unsigned long first, unsigned long count)
{
    return first + count / (unsigned long)test_thinning();
}

static void close_question(struct question *q)
{
    space_close(&q->space);
    hardware_clear(&q->hw);
    if (q->rng)
        gsl_rng_free(q->rng);
}

static void ask(const struct question *q, const char *strategy, int threads, int top,
                struct search_result *result)
{
    struct error error;
    struct search_options options = {.strategy = strategy, .threads = threads, .top = top};
    cr_assert_eq(search(&q->space, &options, result, &error), STATUS_OK, "%s", error.text);
}

static const char *text_of(const struct question *q)
{
    static char text[160];
    const int64_t *size = q->problem.size;
    const int *choice = q->problem.choice;
    snprintf(text, sizeof text, "%lldx%lldx%lld k %lld, choices %d%d%d%d, %d cores, launch %lld fs",
             (long long)size[KNN_M], (long long)size[KNN_D], (long long)size[KNN_N],
             (long long)size[KNN_K], choice[0], choice[1], choice[2], choice[3], q->cores,
             (long long)q->hw.launch_fs);
    return text;
}

/* ---- brute force ------------------------------------------------------------------------------
 */

struct rival {
    int64_t m1, n1, m2, n2, cores;
    int64_t distance_fs, selection_fs, time_fs;
    int64_t f_fs, idle_fs, step_fs;
    int64_t products, row_tiles, tiles;
};

/* Of a selection tile. */
struct pair_cost {
    bool known;
    int64_t idle_fs, step_fs;
};

struct brute {
    const struct question *q;
    struct knn_machine machine;
    struct knn_tile tile;
    struct simulator *simulator;
    struct program program;
    int64_t cores, rows; /* that are looked at, and the rows of the largest share */
    int64_t d, columns, ub_bytes, memory_bytes;
    int64_t f_fs[MOST_CORES][MOST_SLICES][MOST_SLICES]; /* by blocks of m1, n1; 0: not known */
    struct pair_cost pairs[MOST_CORES][MOST_SLICES][MOST_SLICES];
    struct rival *all;
    int64_t count, capacity;
};

static int64_t up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / unit;
}

/* False where some of so many cores have nothing to do. */
static bool set_cores(struct brute *b, int64_t cores)
{
    int64_t blocks = up(b->q->problem.size[KNN_M], BLOCK), share = up(blocks, cores);
    b->cores = cores;
    b->rows = share * BLOCK;
    cr_assert(cores < MOST_CORES && b->rows / BLOCK < MOST_SLICES);
    return up(blocks, share) == cores;
}

/* All that have something to do. */
static int64_t most_cores(const struct question *q)
{
    int64_t blocks = up(q->problem.size[KNN_M], BLOCK);
    return up(blocks, up(blocks, q->cores));
}

static int64_t bytes_of(const struct hardware *hw, const char *buffer)
{
    return hw->buffers[hardware_buffer(hw, buffer, (int)strlen(buffer))].capacity_bytes;
}

static void open_brute(struct brute *b, const struct question *q)
{
    struct error error;
    const struct problem *p = &q->problem;
    memset(b, 0, sizeof *b);
    b->q = q;
    cr_assert_eq(knn_machine_find(&q->hw, DTYPE_F16, &b->machine, &error), STATUS_OK);
    b->tile = (struct knn_tile){.k = p->size[KNN_K],
                                .type = DTYPE_F16,
                                .loop = (enum knn_loop)p->choice[KNN_LOOP],
                                .compare = (enum knn_compare)p->choice[KNN_COMPARE],
                                .index = (enum knn_index)p->choice[KNN_INDEX]};
    b->simulator = simulator_new();
    set_cores(b, most_cores(q));
    b->columns = up(p->size[KNN_N], BLOCK) * BLOCK;
    b->d = up(p->size[KNN_D], BLOCK) * BLOCK;
    b->ub_bytes = bytes_of(&q->hw, "ub");
    b->memory_bytes = b->ub_bytes + bytes_of(&q->hw, "l1");
    cr_assert(b->columns / BLOCK < MOST_SLICES);
}

static void close_brute(struct brute *b)
{
    simulator_free(b->simulator);
    program_clear(&b->program);
    free(b->all);
}

/* Does some number of equal tiles in whole blocks have this size? */
static bool is_equal_slice(int64_t whole, int64_t slice)
{
    for (int64_t tiles = 1; tiles <= whole / BLOCK; tiles++)
        if (up(whole / BLOCK, tiles) * BLOCK == slice)
            return true;
    return false;
}

static int64_t selection_bytes(const struct brute *b, int64_t m2, int64_t n2)
{
    struct knn_tile tile = b->tile;
    tile.rows = m2;
    tile.columns = n2;
    return knn_selection_ub_bytes(&b->machine, &tile);
}

static bool is_legal(const struct brute *b, int64_t m1, int64_t n1, int64_t m2, int64_t n2)
{
    return 2 * (b->d * (m1 + n1) + m2 * (n2 + b->tile.k)) <= b->memory_bytes &&
           selection_bytes(b, m2, n2) <= b->ub_bytes;
}

static int64_t play(struct brute *b)
{
    struct error error;
    struct timeline timeline;
    struct simulate_options options = {.cores = (int)b->cores, .execute_fully = true};
    cr_assert_eq(simulate(b->simulator, &b->program, &options, &timeline, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(timeline.blocked, -1);
    return timeline.end_fs;
}

static int64_t play_selection(struct brute *b, int64_t m2, int64_t n2, int64_t steps)
{
    struct error error;
    struct knn_tile tile = b->tile;
    tile.rows = m2;
    tile.columns = n2;
    program_reset(&b->program, &b->q->hw);
    cr_assert_eq(
        knn_selection_program(&b->machine, &tile, steps, steps < tile.k, &b->program, &error),
        STATUS_OK, "%s", error.text);
    return play(b);
}

static struct pair_cost pair_of(struct brute *b, int64_t m2, int64_t n2)
{
    struct pair_cost *pair = &b->pairs[b->cores][m2 / BLOCK][n2 / BLOCK];
    if (!pair->known) {
        pair->idle_fs = play_selection(b, m2, n2, 0);
        pair->step_fs = play_selection(b, m2, n2, 1) - pair->idle_fs;
        pair->known = true;
    }
    return *pair;
}

static int64_t product_fs(struct brute *b, int64_t m1, int64_t n1)
{
    int64_t *fs = &b->f_fs[b->cores][m1 / BLOCK][n1 / BLOCK];
    struct error error;
    struct space space;
    struct search_result result;
    struct search_options options = {.strategy = "bound", .threads = 1, .top = 1};
    struct problem problem = {
        .op = &matmul_operator, .type = DTYPE_F16, .size = {b->cores * m1, b->d, n1, 1}};
    if (*fs > 0)
        return *fs;
    cr_assert_eq(space_open(&problem, &matmul_thesis, &b->q->hw, (int)b->cores, &space, &error),
                 STATUS_OK);
    cr_assert_eq(search(&space, &options, &result, &error), STATUS_OK);
    *fs = result.best[0].timeline.end_fs;
    search_result_clear(&result);
    space_close(&space);
    return *fs;
}

/* Σ E_t over the tiles along n. */
static double steps_of(const struct brute *b, int64_t m2, int64_t n2, int64_t tiles)
{
    double sum = 0;
    if (b->q->problem.choice[KNN_STEPS] == KNN_STEPS_MEAN) {
        for (int64_t t = tiles; t >= 1; t--)
            sum += 1 / (double)t;
        return sum * (double)b->tile.k;
    }
    for (int64_t t = 1; t <= tiles; t++)
        sum += selb_steps(b->tile.k, m2, n2, (double)t);
    return sum;
}

static struct rival price(struct brute *b, int64_t m1, int64_t n1, int64_t m2, int64_t n2)
{
    struct pair_cost pair = pair_of(b, m2, n2);
    struct rival c = {m1, n1, m2, n2, b->cores};
    c.f_fs = product_fs(b, m1, n1);
    c.idle_fs = pair.idle_fs;
    c.step_fs = pair.step_fs;
    c.products = up(b->rows, m1) * up(b->columns, n1);
    c.row_tiles = up(b->rows, m1) * up(m1, m2);
    c.tiles = up(b->columns, n1) * up(n1, n2);
    c.distance_fs = c.products * c.f_fs;
    c.selection_fs = c.row_tiles * (c.tiles * c.idle_fs +
                                    llround(steps_of(b, m2, n2, c.tiles) * (double)c.step_fs));
    c.time_fs = c.distance_fs + c.selection_fs;
    return c;
}

static void add(struct brute *b, struct rival candidate)
{
    if (b->count == b->capacity) {
        b->capacity = b->capacity ? 2 * b->capacity : 64;
        b->all = realloc(b->all, (size_t)b->capacity * sizeof *b->all);
    }
    b->all[b->count++] = candidate;
}

/* The order of an index: cores, m1, n1, m2, n2. */
static int by_time(const void *left, const void *right)
{
    const struct rival *a = left, *b = right;
    const int64_t keys[][2] = {{a->time_fs, b->time_fs}, {a->cores, b->cores}, {a->m1, b->m1},
                               {a->n1, b->n1},           {a->m2, b->m2},       {a->n2, b->n2}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static void try_cores(struct brute *b)
{
    for (int64_t m1 = BLOCK; m1 <= b->rows; m1 += BLOCK)
        for (int64_t n1 = BLOCK; n1 <= b->columns; n1 += BLOCK)
            for (int64_t m2 = BLOCK; m2 <= m1; m2 += BLOCK)
                for (int64_t n2 = BLOCK; n2 <= n1; n2 += BLOCK)
                    if (is_equal_slice(b->rows, m1) && is_equal_slice(b->columns, n1) &&
                        is_equal_slice(m1, m2) && is_equal_slice(n1, n2) &&
                        is_legal(b, m1, n1, m2, n2))
                        add(b, price(b, m1, n1, m2, n2));
}

static void try_all(struct brute *b, int64_t least, int64_t most)
{
    for (int64_t cores = least; cores <= most; cores++)
        if (set_cores(b, cores))
            try_cores(b);
    if (b->count)
        qsort(b->all, (size_t)b->count, sizeof *b->all, by_time);
}

/* Points of the space, legal or not: slices of rows and columns; every multiple of a block that
 * fits UB beside one block. */
static int64_t count_points_of_cores(const struct brute *b)
{
    int64_t counts[KNN_AXES] = {0};
    for (int64_t v = BLOCK; v <= b->rows; v += BLOCK) {
        counts[KNN_M1] += is_equal_slice(b->rows, v);
        counts[KNN_M2] += v == BLOCK || selection_bytes(b, v, BLOCK) <= b->ub_bytes;
    }
    for (int64_t v = BLOCK; v <= b->columns; v += BLOCK) {
        counts[KNN_N1] += is_equal_slice(b->columns, v);
        counts[KNN_N2] += v == BLOCK || selection_bytes(b, BLOCK, v) <= b->ub_bytes;
    }
    return counts[KNN_M1] * counts[KNN_N1] * counts[KNN_M2] * counts[KNN_N2];
}

static int64_t count_points(struct brute *b)
{
    int64_t sum = 0;
    for (int64_t cores = 1; cores <= b->q->cores; cores++)
        sum += set_cores(b, cores) ? count_points_of_cores(b) : 0;
    return sum;
}

/* ---- what the inequalities may prune ----------------------------------------------------------
 *
 * The search plays whatever an inequality prunes while its bound leaves it a chance, and would hide
 * a wrong inequality: here nothing pruned comes back. `whole` are the costs of tiles of n2 = n1. */

typedef bool pruner(struct brute *b, const struct rival *c, struct pair_cost whole);

/* The least time that is left, INT64_MAX when nothing is. */
static int64_t best_without(struct brute *b, pruner *prunes)
{
    int64_t least = INT64_MAX;
    for (int64_t i = 0; i < b->count; i++) {
        const struct rival *c = &b->all[i];
        set_cores(b, c->cores);
        if (c->n2 < c->n1 && prunes(b, c, pair_of(b, c->m2, c->n1)))
            continue;
        least = c->time_fs < least ? c->time_fs : least;
    }
    return least;
}

static struct selb_pair selb_pair_of(const struct brute *b, const struct rival *c,
                                     struct pair_cost whole)
{
    int64_t tiles = up(b->columns, c->n1);
    return (struct selb_pair){.k = b->tile.k,
                              .p = up(c->n1, c->n2),
                              .idle_small_fs = c->idle_fs,
                              .idle_large_fs = whole.idle_fs,
                              .step_large_fs = whole.step_fs,
                              .tiles = tiles,
                              .steps_large = steps_of(b, c->m2, c->n1, tiles)};
}

static bool whole_fits(const struct brute *b, const struct rival *c)
{
    return is_legal(b, c->m1, c->n1, c->m2, c->n1);
}

static bool by_selb(struct brute *b, const struct rival *c, struct pair_cost whole)
{
    struct selb_pair pair = selb_pair_of(b, c, whole);
    return whole_fits(b, c) && selb_prunes(&pair);
}

static bool by_harmonic(struct brute *b, const struct rival *c, struct pair_cost whole)
{
    struct selb_pair pair = selb_pair_of(b, c, whole);
    return whole_fits(b, c) && harmonic_prunes(&pair);
}

/* As printed: whether tiles of n2 = n1 fit is not asked. */
static bool by_selb_without_condition(struct brute *b, const struct rival *c,
                                      struct pair_cost whole)
{
    struct selb_pair pair = selb_pair_of(b, c, whole);
    return selb_prunes(&pair);
}

/* N/n1 as it is beside whole tiles of n2. */
static bool by_harmonic_of_real_tiles(struct brute *b, const struct rival *c,
                                      struct pair_cost whole)
{
    double tiles = (double)b->columns / (double)c->n1;
    return whole_fits(b, c) &&
           (double)c->tiles * (double)c->idle_fs >=
               tiles * (double)whole.idle_fs +
                   (double)b->tile.k * harmonic_number((int64_t)tiles) * (double)whole.step_fs;
}

/* The harmonic sum by its limit. */
static bool by_logarithm(struct brute *b, const struct rival *c, struct pair_cost whole)
{
    double tiles = (double)up(b->columns, c->n1);
    return whole_fits(b, c) && (double)c->tiles * (double)c->idle_fs >=
                                   tiles * (double)whole.idle_fs +
                                       (double)b->tile.k * log(tiles) * (double)whole.step_fs;
}

/* p rounded down: fewer tiles than there are. */
static bool by_selb_rounded_down(struct brute *b, const struct rival *c, struct pair_cost whole)
{
    struct selb_pair pair = selb_pair_of(b, c, whole);
    pair.p = c->n1 / c->n2;
    return whole_fits(b, c) && selb_prunes(&pair);
}

static bool by_selb_of_real_tiles(struct brute *b, const struct rival *c, struct pair_cost whole)
{
    return whole_fits(b, c) &&
           (double)c->n1 / (double)c->n2 * (double)c->idle_fs >
               (double)whole.idle_fs + (double)b->tile.k * (double)whole.step_fs;
}

/* eq. 3.9 with the divisions as printed. */
static const struct rival *best_as_printed(const struct brute *b)
{
    const struct rival *best = NULL;
    double least = INFINITY, rows = (double)b->rows, columns = (double)b->columns;
    for (int64_t i = 0; i < b->count; i++) {
        const struct rival *c = &b->all[i];
        double tiles = columns / (double)c->n2;
        double selection = tiles * (double)c->idle_fs +
                           (double)b->tile.k * harmonic_number((int64_t)tiles) * (double)c->step_fs;
        double time = rows / (double)c->m1 * columns / (double)c->n1 * (double)c->f_fs +
                      rows / (double)c->m2 * selection;
        if (time < least) {
            least = time;
            best = c;
        }
    }
    return best;
}

/* The inequalities as they are lose nothing; with p smaller they prune less. */
static void expect_nothing_lost(struct brute *b)
{
    int64_t best = b->count ? b->all[0].time_fs : INT64_MAX;
    cr_assert_eq(best_without(b, by_selb), best, "%s", text_of(b->q));
    cr_assert_eq(best_without(b, by_harmonic), best, "%s", text_of(b->q));
    for (int64_t i = 0; i < b->count; i++) {
        const struct rival *c = &b->all[i];
        set_cores(b, c->cores);
        struct pair_cost whole = pair_of(b, c->m2, c->n1);
        if (c->n2 < c->n1 && !by_selb(b, c, whole))
            cr_assert(!by_selb_rounded_down(b, c, whole) && !by_selb_of_real_tiles(b, c, whole));
    }
}

/* ---- search and brute force -------------------------------------------------------------------
 */

static void expect_tiling(const struct question *q, const struct tiling *tiling,
                          const struct rival *c)
{
    const int64_t values[KNN_AXES] = {c->m1, c->n1, c->m2, c->n2, c->cores};
    for (int a = 0; a < KNN_AXES; a++)
        cr_assert_eq(tiling->value[a], values[a], "%s: %s = %lld, expected %lld", text_of(q),
                     q->space.axes[a].name, (long long)tiling->value[a], (long long)values[a]);
}

static void expect_found(const struct question *q, const struct found *found, const struct rival *c)
{
    expect_tiling(q, &found->tiling, c);
    cr_assert_eq(found->timeline.end_fs, c->time_fs, "%s: %lld fs, expected %lld", text_of(q),
                 (long long)found->timeline.end_fs, (long long)c->time_fs);
    cr_assert_eq(found->index, space_index(&q->space, &found->tiling));
    cr_assert_eq(found->part_count, KNN_COSTS);
    cr_assert_eq(found->part_fs[KNN_COST_DISTANCE], c->f_fs);
    cr_assert_eq(found->part_fs[KNN_COST_IDLE], c->idle_fs);
    cr_assert_eq(found->part_fs[KNN_COST_STEP], c->step_fs);
    double sum = 0;
    for (int i = 0; i < KNN_COSTS; i++)
        sum += (double)found->part_fs[i] * found->part_weight[i];
    cr_assert(fabs(sum - (double)c->time_fs) <= 1e-14 * sum + (double)c->row_tiles, "%s: %.17g",
              text_of(q), sum);
}

static void expect_brute_agrees(const struct question *q, const struct search_result *result,
                                int top)
{
    struct brute b;
    int64_t within = 0;
    open_brute(&b, q);
    try_all(&b, 1, q->cores);
    cr_assert_eq(result->candidates, count_points(&b), "%s", text_of(q));
    cr_assert_eq(result->feasible, b.count, "%s: %lld feasible, expected %lld", text_of(q),
                 (long long)result->feasible, (long long)b.count);
    cr_assert_eq(result->count, b.count < top ? b.count : top, "%s", text_of(q));
    for (int i = 0; i < result->count; i++)
        expect_found(q, &result->best[i], &b.all[i]);
    for (int64_t i = 0; i < b.count; i++)
        within += b.all[i].time_fs - b.all[0].time_fs <= b.all[0].time_fs / 100;
    cr_assert_eq(result->within_1_percent.surely, within,
                 "%s: %lld within one percent, expected %lld", text_of(q),
                 (long long)result->within_1_percent.surely, (long long)within);
    expect_nothing_lost(&b);
    close_brute(&b);
}

/* Equal in everything that may not depend on how the search went. */
static void expect_same_found(const struct question *q, const struct found *a,
                              const struct found *b)
{
    cr_assert_eq(a->index, b->index, "%s", text_of(q));
    cr_assert_eq(a->cores_used, b->cores_used);
    cr_assert_arr_eq(&a->tiling, &b->tiling, sizeof a->tiling);
    cr_assert_arr_eq(&a->timeline, &b->timeline, sizeof a->timeline);
    cr_assert_arr_eq(a->bus_bytes, b->bus_bytes, sizeof a->bus_bytes);
    cr_assert_arr_eq(a->part_fs, b->part_fs, sizeof a->part_fs);
    cr_assert_arr_eq(a->part_weight, b->part_weight, sizeof a->part_weight);
}

static void expect_same(const struct question *q, const struct search_result *a,
                        const struct search_result *b)
{
    cr_assert_eq(a->candidates, b->candidates, "%s", text_of(q));
    cr_assert_eq(a->feasible, b->feasible, "%s", text_of(q));
    cr_assert_eq(a->optimal, b->optimal, "%s", text_of(q));
    cr_assert_eq(a->within_1_percent.surely, b->within_1_percent.surely, "%s", text_of(q));
    cr_assert_eq(a->count, b->count, "%s", text_of(q));
    for (int i = 0; i < a->count; i++)
        expect_same_found(q, &a->best[i], &b->best[i]);
}

static void expect_consistent(const struct question *q, const struct search_result *r)
{
    cr_assert_eq(r->optimal, r->count > 0);
    cr_assert_eq(r->feasible, r->pruned + r->simulated, "%s", text_of(q));
    cr_assert_leq(r->pruned_by[0] + r->pruned_by[1], r->pruned, "%s", text_of(q));
    cr_assert(r->pruned_by[0] >= 0 && r->pruned_by[1] >= 0);
    if (r->count == 0)
        return;
    cr_assert_eq(r->lower_bound_fs, r->best[0].timeline.end_fs);
    cr_assert_eq(r->gap, 0.0);
    for (int i = 0; i < r->count; i++)
        cr_assert_leq(r->best[i].bound_fs, r->best[i].timeline.end_fs, "%s", text_of(q));
}

/* ---- the optimum ------------------------------------------------------------------------------
 */

static void expect_optimum(unsigned long seed, int64_t pruned[2])
{
    struct question q;
    struct search_result bound, all;
    open_random(&q, seed);
    int top = seed % 3 ? 5 : 1;
    ask(&q, "bound", 1 + (int)(seed % 2), top, &bound);
    ask(&q, "exhaustive", 1, top, &all);
    expect_consistent(&q, &bound);
    expect_consistent(&q, &all);
    expect_same(&q, &bound, &all);
    cr_assert_eq(all.simulated, all.feasible);
    cr_assert_eq(all.pruned_by[0] + all.pruned_by[1], 0);
    expect_brute_agrees(&q, &bound, top);
    pruned[0] += bound.pruned_by[0];
    pruned[1] += bound.pruned_by[1];
    search_result_clear(&bound);
    search_result_clear(&all);
    close_question(&q);
}

static void expect_optima(unsigned long first, int count)
{
    int64_t pruned[2] = {0};
    for (int i = 0; i < test_cases(count); i++)
        expect_optimum(first + (unsigned long)i, pruned);
    if (test_thinning() == 1)
        cr_assert(pruned[0] > 0 && pruned[1] > 0);
}

/* Four tests, so that they run side by side. */
Test(knn_search, random_problems)
{
    expect_optima(1000, 50);
}
Test(knn_search, random_problems_2)
{
    expect_optima(2000, 50);
}
Test(knn_search, random_problems_3)
{
    expect_optima(3000, 50);
}
Test(knn_search, random_problems_4)
{
    expect_optima(4000, 50);
}

Test(knn_search, same_answer_on_any_number_of_threads)
{
    static const int threads[] = {2, 3, 5};
    for (unsigned long seed = 1; seed < last_seed(1, 12); seed++) {
        struct question q;
        struct search_result one, more;
        open_random(&q, seed);
        ask(&q, "bound", 1, 7, &one);
        for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
            ask(&q, "bound", threads[i], 7, &more);
            expect_same(&q, &one, &more);
            cr_assert_eq(one.simulated, more.simulated);
            cr_assert_eq(one.pruned_by[0], more.pruned_by[0]);
            cr_assert_eq(one.pruned_by[1], more.pruned_by[1]);
            for (int j = 0; j < one.count; j++)
                cr_assert_eq(one.best[j].bound_fs, more.best[j].bound_fs);
            search_result_clear(&more);
        }
        search_result_clear(&one);
        close_question(&q);
    }
}

/* Any tiling that the search reports plays alone as it was reported. */
Test(knn_search, a_given_tiling_takes_the_reported_time)
{
    for (unsigned long seed = 50; seed < last_seed(50, 8); seed++) {
        struct question q;
        struct error error;
        struct search_result all;
        open_random(&q, seed);
        ask(&q, "exhaustive", 2, 1000, &all);
        for (int i = 0; i < all.count; i += 1 + all.count / 5) {
            struct found found;
            struct tiling tiling = {0};
            memcpy(tiling.value, all.best[i].tiling.value, KNN_AXES * sizeof *tiling.value);
            cr_assert_eq(search_simulate(&q.space, &tiling, &found, &error), STATUS_OK, "%s",
                         error.text);
            expect_same_found(&q, &found, &all.best[i]);
            cr_assert_leq(found.bound_fs, found.timeline.end_fs);
        }
        search_result_clear(&all);
        close_question(&q);
    }
}

/* ---- forms of the inequalities that lose the optimum ------------------------------------------
 *
 * Found by a search over random problems on such chips. */

struct example {
    const char *chip;
    int cores;
    int64_t size[KNN_SIZES];
    int choice[KNN_CHOICES];
    int64_t best[4]; /* the optimum, on all cores */
};

static void open_example(const struct example *example, struct question *q, struct brute *b)
{
    open_fixed(q, example->chip, example->cores, example->size);
    space_close(&q->space);
    memcpy(q->problem.choice, example->choice, sizeof example->choice);
    open_space(q);
    open_brute(b, q);
    try_all(b, 1, q->cores);
    const int64_t best[] = {b->all[0].m1, b->all[0].n1, b->all[0].m2, b->all[0].n2};
    cr_assert_arr_eq(best, example->best, sizeof best, "%lld,%lld,%lld,%lld", (long long)best[0],
                     (long long)best[1], (long long)best[2], (long long)best[3]);
    cr_assert_eq(b->all[0].cores, most_cores(q));
    expect_nothing_lost(b);
}

static void expect_lost(const struct example *example, pruner *prunes)
{
    struct question q;
    struct brute b;
    struct search_result result;
    open_example(example, &q, &b);
    cr_assert_gt(best_without(&b, prunes), b.all[0].time_fs);
    ask(&q, "bound", 2, 1, &result);
    expect_found(&q, &result.best[0], &b.all[0]);
    search_result_clear(&result);
    close_brute(&b);
    close_question(&q);
}

/* Tiles of the whole distance tile would be better, but do not fit UB. */
Test(knn_search, without_the_condition_selb_loses_the_optimum)
{
    static const struct example example = {
        "buffers.ub.capacity_bytes=8192", 2, {14, 13, 95, 49}, {1, 0, 0, 1}, {16, 96, 16, 16}};
    expect_lost(&example, by_selb_without_condition);
}

/* N/n1 = 29/15 distance tiles are two. */
Test(knn_search, tiles_that_are_not_whole_lose_the_optimum)
{
    static const struct example example = {
        "launch_ns=0 issue_ns=0 operations.reduceMin.repeat_cycles=400 "
        "operations.branch.each_ns=5 operations.assign.each_ns=5 paths.gm->ub.bandwidth_gbps=1 "
        "buffers.l1.capacity_bytes=16384 buffers.ub.capacity_bytes=65536",
        1,
        {16, 128, 464, 1},
        {1, 1, 1, 0},
        {16, 240, 16, 128}};
    expect_lost(&example, by_harmonic_of_real_tiles);
}

Test(knn_search, a_logarithm_for_the_harmonic_sum_loses_the_optimum)
{
    static const struct example example = {"launch_ns=0 operations.reduceMin.repeat_cycles=400",
                                           1,
                                           {16, 16, 640, 2},
                                           {1, 0, 1, 0},
                                           {16, 640, 16, 128}};
    expect_lost(&example, by_logarithm);
}

/* On the chip itself: 144/80 tiles of 80 columns are two, and cost a tenth more than one. */
Test(knn_search, eq_3_9_as_printed_chooses_wrongly)
{
    static const struct example example = {
        "", 1, {9, 33, 144, 5}, {0, 0, 0, 0}, {16, 144, 16, 144}};
    struct question q;
    struct brute b;
    open_example(&example, &q, &b);
    const struct rival *printed = best_as_printed(&b);
    cr_assert_eq(printed->n1, 144);
    cr_assert_eq(printed->n2, 80);
    cr_assert_gt(printed->time_fs, b.all[0].time_fs + b.all[0].time_fs / 10);
    close_brute(&b);
    close_question(&q);
}

/* ---- ending early -----------------------------------------------------------------------------
 */

static void expect_early_answer(const struct question *q, struct search_options options)
{
    struct search_result full, early;
    struct error error;
    ask(q, "bound", 2, 1, &full);
    cr_assert_eq(search(&q->space, &options, &early, &error), STATUS_OK, "%s", error.text);
    if (full.count == 0) {
        cr_assert_eq(early.count, 0);
    } else {
        cr_assert_geq(early.count, 1);
        cr_assert_geq(early.best[0].timeline.end_fs, full.best[0].timeline.end_fs, "%s",
                      text_of(q));
        cr_assert_leq(early.lower_bound_fs, full.best[0].timeline.end_fs, "%s", text_of(q));
        cr_assert(early.gap >= 0 && early.gap <= 1);
        cr_assert_leq(early.simulated, early.feasible);
        cr_assert_leq(early.pruned, early.feasible);
        if (early.optimal)
            cr_assert_eq(early.best[0].timeline.end_fs, full.best[0].timeline.end_fs);
    }
    search_result_clear(&full);
    search_result_clear(&early);
}

Test(knn_search, ends_early_with_an_answer)
{
    static const volatile sig_atomic_t stop = 1;
    for (unsigned long seed = 80; seed < last_seed(80, 16); seed++) {
        struct question q;
        open_random(&q, seed);
        struct search_options stopped = {
            .strategy = "bound", .threads = 1 + (int)(seed % 3), .top = 1, .stop = &stop};
        struct search_options hurried = stopped;
        hurried.stop = NULL;
        hurried.time_limit_s = 1e-9;
        hurried.top = 3;
        expect_early_answer(&q, stopped);
        expect_early_answer(&q, hurried);
        stopped.strategy = "exhaustive";
        expect_early_answer(&q, stopped);
        close_question(&q);
    }
}

/* Several values of m1 and one thread: the rest is not looked at. */
Test(knn_search, an_early_answer_is_no_proof)
{
    static const volatile sig_atomic_t stop = 1;
    static const int64_t size[KNN_SIZES] = {96, 32, 256, 8};
    struct question q;
    struct error error;
    struct search_result early;
    struct search_options options = {.strategy = "bound", .threads = 1, .top = 1, .stop = &stop};
    open_fixed(&q, "", 1, size);
    cr_assert_eq(search(&q.space, &options, &early, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(early.count, 1);
    cr_assert_not(early.optimal);
    cr_assert_gt(early.lower_bound_fs, 0);
    cr_assert_lt(early.lower_bound_fs, early.best[0].timeline.end_fs);
    cr_assert_gt(early.gap, 0);
    cr_assert_eq(early.pruned, 0);
    search_result_clear(&early);
    options.strategy = "exhaustive";
    cr_assert_eq(search(&q.space, &options, &early, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(early.count, 1);
    cr_assert_not(early.optimal);
    search_result_clear(&early);
    close_question(&q);
}

/* ---- stages -----------------------------------------------------------------------------------
 */

/* The least time of those whose own stage is fastest. */
static int64_t best_of_stage(const struct brute *b, bool distance)
{
    int64_t least = INT64_MAX, time = INT64_MAX;
    for (int64_t i = 0; i < b->count; i++) {
        int64_t own = distance ? b->all[i].distance_fs : b->all[i].selection_fs;
        if (own < least || (own == least && b->all[i].time_fs < time)) {
            least = own;
            time = b->all[i].time_fs;
        }
    }
    return time;
}

static const struct rival *find_candidate(const struct brute *b, const struct tiling *tiling)
{
    const int64_t *v = tiling->value;
    for (int64_t i = 0; i < b->count; i++) {
        const struct rival *c = &b->all[i];
        if (c->m1 == v[KNN_M1] && c->n1 == v[KNN_N1] && c->m2 == v[KNN_M2] && c->n2 == v[KNN_N2])
            return c;
    }
    return NULL;
}

static void expect_stages(const struct question *q, int threads)
{
    struct brute b;
    struct error error;
    struct knn_stages stages;
    open_brute(&b, q);
    try_all(&b, most_cores(q), most_cores(q));
    cr_assert_eq(knn_stages_find(&q->space, (int)most_cores(q), threads, NULL, &stages, &error),
                 STATUS_OK);
    cr_assert_eq(stages.any, b.count > 0);
    if (b.count) {
        const struct rival *distance = find_candidate(&b, &stages.distance);
        const struct rival *selection = find_candidate(&b, &stages.selection);
        cr_assert(distance && selection, "%s", text_of(q));
        cr_assert_eq(stages.distance_fs, best_of_stage(&b, true), "%s", text_of(q));
        cr_assert_eq(stages.selection_fs, best_of_stage(&b, false), "%s", text_of(q));
        cr_assert_eq(stages.distance_fs, distance->time_fs, "%s", text_of(q));
        cr_assert_eq(stages.selection_fs, selection->time_fs, "%s", text_of(q));
    }
    close_brute(&b);
}

Test(knn_search, stages_tuned_alone)
{
    for (unsigned long seed = 300; seed < last_seed(300, 40); seed++) {
        struct question q;
        open_random(&q, seed);
        expect_stages(&q, 1 + (int)(seed % 2));
        close_question(&q);
    }
}

/* Where memory is short, several distance tiles are close to each other, and the one of lowest
 * bound is not the fastest. */
Test(knn_search, stages_where_memory_is_short)
{
    static const struct {
        int cores;
        int64_t size[KNN_SIZES];
    } problems[] = {{2, {64, 198, 416, 9}},
                    {1, {32, 153, 400, 26}},
                    {1, {96, 158, 256, 28}},
                    {2, {48, 182, 432, 1}}};
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        struct question q;
        open_fixed(&q,
                   "launch_ns=0 buffers.ub.capacity_bytes=8192 buffers.l1.capacity_bytes=40000 "
                   "buffers.l0c.capacity_bytes=8192",
                   problems[i].cores, problems[i].size);
        expect_stages(&q, 2);
        close_question(&q);
    }
}

/* ---- sums of steps ----------------------------------------------------------------------------
 */

static void expect_steps(const struct knn_costs *costs, enum knn_steps steps, int64_t k)
{
    static const int64_t tiles[] = {1, 2, 63, 64, 65, 1023, 1024, 1025, 1026, 1250};
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        for (int m2 = 0; m2 < 2; m2++)
            for (int n2 = 0; n2 < 2; n2++) {
                double sum = 0, got = knn_costs_steps(costs, m2, n2, tiles[i]);
                for (int64_t t = 1; t <= tiles[i]; t++)
                    sum += steps == KNN_STEPS_MEAN
                               ? (double)k / (double)t
                               : selb_steps(k, BLOCK * (m2 + 1), BLOCK * (n2 + 1), (double)t);
                cr_assert(fabs(got - sum) <= 1e-7 * sum, "%lld tiles: %.17g, expected %.17g",
                          (long long)tiles[i], got, sum);
            }
}

/* More tiles along n than are summed one by one. */
Test(knn_search, steps_of_many_tiles)
{
    static const int64_t size[KNN_SIZES] = {32, 16, 20000, 20};
    for (int steps = 0; steps < 2; steps++) {
        struct question q;
        struct error error;
        struct knn_costs costs;
        struct recorder recorder = {.threads = 2};
        open_fixed(&q, "buffers.ub.capacity_bytes=8192", 1, size);
        space_close(&q.space);
        q.problem.choice[KNN_STEPS] = steps;
        open_space(&q);
        knn_costs_open(&costs, &q.space, q.space.blocks, &recorder);
        cr_assert_eq(knn_costs_profile(&costs, &error), STATUS_OK, "%s", error.text);
        expect_steps(&costs, (enum knn_steps)steps, size[KNN_K]);
        knn_costs_close(&costs);
        close_question(&q);
    }
}

/* ---- the space --------------------------------------------------------------------------------
 */

static void expect_nothing(const char *chip, const int64_t size[])
{
    struct question q;
    struct search_result result;
    struct knn_stages stages;
    struct error error;
    open_fixed(&q, chip, 2, size);
    for (int s = 0; search_strategies[s]; s++) {
        ask(&q, search_strategies[s]->name, 2, 3, &result);
        cr_assert_eq(result.count, 0);
        cr_assert_eq(result.feasible, 0);
        cr_assert_eq(result.within_1_percent.surely, 0);
        cr_assert_not(result.optimal);
        search_result_clear(&result);
    }
    cr_assert_eq(knn_stages_find(&q.space, (int)most_cores(&q), 2, NULL, &stages, &error),
                 STATUS_OK);
    cr_assert_not(stages.any);
    close_question(&q);
}

Test(knn_search, no_legal_tiling_is_no_error)
{
    static const int64_t one[KNN_SIZES] = {1, 1, 1, 1}, some[KNN_SIZES] = {100, 64, 300, 16},
                         deep[KNN_SIZES] = {100, 40000, 300, 16};
    expect_nothing("buffers.ub.capacity_bytes=600", one);
    expect_nothing("buffers.ub.capacity_bytes=1024", some);
    expect_nothing("", deep);
}

/* Legality of points of the space and beside them, from the definition. */
static void expect_legality(struct question *q, struct brute *b, const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    const int64_t *v = tiling->value;
    bool shares = v[KNN_CORES] <= q->cores && set_cores(b, v[KNN_CORES]);
    bool slices = shares && is_equal_slice(b->rows, v[KNN_M1]) &&
                  is_equal_slice(b->columns, v[KNN_N1]) && is_equal_slice(v[KNN_M1], v[KNN_M2]) &&
                  is_equal_slice(v[KNN_N1], v[KNN_N2]);
    bool expected = slices && is_legal(b, v[KNN_M1], v[KNN_N1], v[KNN_M2], v[KNN_N2]);
    int count = knn_selb.violations(&q->space, tiling, list);
    cr_assert_eq(count == 0, expected, "%s: %lld,%lld,%lld,%lld", text_of(q), (long long)v[0],
                 (long long)v[1], (long long)v[2], (long long)v[3]);
    for (int i = 0; i < count; i++) {
        cr_assert(list[i].limit[0] && list[i].text[0]);
        cr_assert(list[i].needed_bytes == 0 || list[i].needed_bytes > list[i].available_bytes);
    }
    if (expected)
        cr_assert_geq(space_index(&q->space, tiling), 0);
}

/* What no tiling with these values can be stays so when the last of them grows, and a legal tiling
 * is possible from its first value on. */
static void expect_monotone(const struct question *q, struct tiling tiling)
{
    if (knn_selb.legal(&q->space, &tiling))
        for (int fixed = 0; fixed <= KNN_AXES; fixed++)
            cr_assert(knn_selb.possible(&q->space, &tiling, fixed), "%s, fixed %d", text_of(q),
                      fixed);
    for (int fixed = 1; fixed <= KNN_AXES; fixed++) {
        struct tiling larger = tiling;
        larger.value[fixed - 1] += BLOCK * pick(q, 1, 20);
        if (!knn_selb.possible(&q->space, &tiling, fixed))
            cr_assert_not(knn_selb.possible(&q->space, &larger, fixed), "%s, fixed %d", text_of(q),
                          fixed);
        if (!knn_selb.possible(&q->space, &tiling, fixed) && fixed < KNN_AXES)
            cr_assert_not(knn_selb.possible(&q->space, &tiling, fixed + 1));
    }
}

Test(knn_search, points_of_the_space)
{
    int64_t legal = 0;
    for (unsigned long seed = 500; seed < last_seed(500, 100); seed++) {
        struct question q;
        struct brute b;
        open_random(&q, seed);
        open_brute(&b, &q);
        for (int i = 0; i < 100; i++) {
            struct tiling tiling = {0};
            int64_t index = pick(&q, 0, q.space.candidates - 1);
            space_tiling(&q.space, index, &tiling);
            cr_assert_eq(space_index(&q.space, &tiling), index);
            expect_legality(&q, &b, &tiling);
            expect_monotone(&q, tiling);
            struct violation list[MAX_VIOLATIONS];
            bool is = knn_selb.legal(&q.space, &tiling);
            legal += is;
            cr_assert_eq(is, knn_selb.violations(&q.space, &tiling, list) == 0);
            for (int a = 0; a < KNN_CORES; a++)
                tiling.value[a] = pick(&q, 0, 1) ? BLOCK * pick(&q, 1, 16) : tiling.value[a];
            expect_legality(&q, &b, &tiling);
            expect_monotone(&q, tiling);
            tiling.value[KNN_CORES] = pick(&q, 1, q.cores + 1);
            expect_legality(&q, &b, &tiling);
            tiling.value[pick(&q, 0, 4)] = pick(&q, 1, 500);
            expect_legality(&q, &b, &tiling);
        }
        close_brute(&b);
        close_question(&q);
    }
    cr_assert_gt(legal, test_cases(100));
}

/* ---- programs ---------------------------------------------------------------------------------
 */

static void expect_safe(const struct question *q, const struct tiling *tiling, int part,
                        struct program *program)
{
    struct check check;
    struct error error;
    program_reset(program, &q->hw);
    cr_assert_eq(knn_selb.generate(&q->space, tiling, part, program, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(program_check(program, &check, &error), STATUS_OK, "%s", error.text);
    cr_assert(check_is_safe(&check), "%s, %s: %s in line %d", text_of(q), knn_selb.parts[part],
              check.count ? check.findings[0].text : "",
              check.count ? check.findings[0].lines[0] : 0);
    check_clear(&check);
}

/* A random legal point; false when a few draws find none. */
static bool draw_legal(const struct question *q, struct tiling *tiling)
{
    for (int i = 0; i < 200; i++) {
        space_tiling(&q->space, pick(q, 0, q->space.candidates - 1), tiling);
        if (knn_selb.legal(&q->space, tiling))
            return true;
    }
    return false;
}

Test(knn_search, every_selection_program_passes_check)
{
    struct program program = {0};
    for (unsigned long seed = 700; seed < last_seed(700, 60); seed++) {
        struct question q;
        struct tiling tiling;
        open_random(&q, seed);
        for (int i = 0; i < 2 && draw_legal(&q, &tiling); i++)
            for (int part = KNN_PART_IDLE; part < KNN_PARTS; part++)
                expect_safe(&q, &tiling, part, &program);
        close_question(&q);
    }
    program_clear(&program);
}

Test(knn_search, every_distance_program_passes_check)
{
    struct program program = {0};
    for (unsigned long seed = 800; seed < last_seed(800, 24); seed++) {
        struct question q;
        struct found found;
        struct error error;
        struct tiling tiling;
        open_random(&q, seed);
        if (draw_legal(&q, &tiling)) {
            cr_assert_eq(search_simulate(&q.space, &tiling, &found, &error), STATUS_OK, "%s",
                         error.text);
            expect_safe(&q, &found.tiling, KNN_PART_DISTANCE, &program);
        }
        close_question(&q);
    }
    program_clear(&program);
}

Test(knn_search, a_distance_tile_without_tiling_is_an_error)
{
    static const int64_t size[KNN_SIZES] = {32, 32, 64, 4};
    struct question q;
    struct error error;
    struct program program = {0};
    struct tiling tiling = {{16, 32, 16, 16}};
    open_fixed(&q, "", 1, size);
    program_reset(&program, &q.hw);
    cr_assert_eq(knn_selb.generate(&q.space, &tiling, KNN_PART_DISTANCE, &program, &error),
                 STATUS_INVALID);
    program_clear(&program);
    close_question(&q);
}
