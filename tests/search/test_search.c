/* The search against the exhaustive one, and both against a brute force that knows nothing of the
 * space: all tile counts from the problem's definition, legality counted again, every program
 * simulated fully. */
#include "core/program.h"
#include "costmodel/simulate.h"
#include "kernels/matmul/matmul.h"
#include "search/nearest.h"
#include "search/search.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

struct question {
    const struct hardware *hw;
    int64_t m, k, n, batch;
    int cores, threads, top;
    const char *strategy;
};

static void open_question(const struct question *q, struct space *space)
{
    struct error error;
    struct problem problem = {.op = &matmul_operator,
                              .type = DTYPE_F16,
                              .size = {q->m, q->k, q->n, q->batch ? q->batch : 1}};
    cr_assert_eq(space_open(&problem, &matmul_thesis, q->hw, q->cores, space, &error), STATUS_OK,
                 "%s", error.text);
}

static void ask(const struct question *q, struct search_result *result)
{
    struct space space;
    struct error error;
    struct search_options options = {.strategy = q->strategy ? q->strategy : "bound",
                                     .threads = q->threads ? q->threads : 2,
                                     .top = q->top ? q->top : 1};
    open_question(q, &space);
    cr_assert_eq(search(&space, &options, result, &error), STATUS_OK, "%s", error.text);
    space_close(&space);
}

static void expect_consistent(const struct search_result *r)
{
    cr_assert(r->optimal);
    cr_assert_eq(r->feasible, r->pruned + r->simulated);
    cr_assert_leq(r->feasible, r->candidates);
    cr_assert_eq(r->lower_bound_fs, r->best[0].timeline.end_fs);
    cr_assert_eq(r->gap, 0.0);
    for (int i = 0; i < r->count; i++)
        cr_assert_leq(r->best[i].bound_fs, r->best[i].timeline.end_fs);
}

/* Equal in everything that may not depend on how the search went. */
static void expect_same(const struct search_result *a, const struct search_result *b)
{
    expect_consistent(a);
    expect_consistent(b);
    cr_assert_eq(a->candidates, b->candidates);
    cr_assert_eq(a->feasible, b->feasible);
    cr_assert_eq(a->within_1_percent.surely, b->within_1_percent.surely);
    cr_assert_eq(a->within_1_percent.at_most, b->within_1_percent.at_most);
    cr_assert_eq(a->within_1_percent.at_most, a->within_1_percent.surely);
    cr_assert_eq(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        cr_assert_eq(a->best[i].index, b->best[i].index);
        cr_assert_eq(a->best[i].bound_fs, b->best[i].bound_fs);
        cr_assert_arr_eq(&a->best[i].tiling, &b->best[i].tiling, THESIS_AXES * sizeof(int64_t));
        cr_assert_arr_eq(&a->best[i].timeline, &b->best[i].timeline, sizeof a->best[i].timeline);
    }
}

static void expect_exhaustive_agrees(struct question q)
{
    struct search_result bound, all;
    ask(&q, &bound);
    q.strategy = "exhaustive";
    ask(&q, &all);
    expect_same(&bound, &all);
    cr_assert_eq(all.simulated, all.feasible);
    search_result_clear(&bound);
    search_result_clear(&all);
}

static void every_shape_up_to_128(int64_t m)
{
    struct hardware hw;
    machine_load(&hw, "");
    int64_t step = test_thinning() > 1 ? 48 : 16;
    for (int64_t k = 16; k <= 128; k += step)
        for (int64_t n = 16; n <= 128; n += step)
            expect_exhaustive_agrees(
                (struct question){.hw = &hw, .m = m, .k = k, .n = n, .cores = 2});
    hardware_clear(&hw);
}

/* One test a value of m, so that they run side by side. */
Test(search, m16)
{
    every_shape_up_to_128(16);
}
Test(search, m32)
{
    every_shape_up_to_128(32);
}
Test(search, m48)
{
    every_shape_up_to_128(48);
}
Test(search, m64)
{
    every_shape_up_to_128(64);
}
Test(search, m80)
{
    every_shape_up_to_128(80);
}
Test(search, m96)
{
    every_shape_up_to_128(96);
}
Test(search, m112)
{
    every_shape_up_to_128(112);
}
Test(search, m128)
{
    every_shape_up_to_128(128);
}

Test(search, ragged_shapes)
{
    static const int64_t shapes[][4] = {{17, 33, 129, 1}, {1, 1, 1, 1},     {129, 17, 33, 1},
                                        {200, 5, 31, 3},  {15, 255, 47, 2}, {1, 300, 1, 1},
                                        {250, 250, 1, 1}, {33, 129, 17, 4}, {40, 50, 70, 6}};
    struct hardware hw;
    machine_load(&hw, "cores=4");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int cores = 1; cores <= 4; cores += cores == 2 ? 2 : 1)
            expect_exhaustive_agrees((struct question){.hw = &hw,
                                                       .m = shapes[i][0],
                                                       .k = shapes[i][1],
                                                       .n = shapes[i][2],
                                                       .batch = shapes[i][3],
                                                       .cores = cores,
                                                       .top = 7});
    hardware_clear(&hw);
}

/* ---- brute force ------------------------------------------------------------------------------
 */

struct brute {
    const struct question *q;
    struct space space;
    struct simulator *simulator;
    struct program program;
    int64_t best_fs, legal, within;
    int64_t *times;
};

static int64_t up16(int64_t value)
{
    return (value + 15) / 16 * 16;
}

/* Do all live tiles fit? Written from the rules, in bytes, without the operator's help. */
static bool fits(const struct brute *b, const struct tiling *t, int64_t k_size, int64_t n_size)
{
    const struct hardware *hw = b->q->hw;
    int64_t m = t->value[THESIS_M], k = t->value[THESIS_K], n = t->value[THESIS_N],
            copies = t->value[THESIS_BUFFERS];
    int resident = (int)t->value[THESIS_RESIDENT];
    int64_t a = resident == RESIDENT_A || resident == RESIDENT_BOTH ? m * k_size : copies * m * k;
    int64_t bb =
        resident == RESIDENT_B || resident == RESIDENT_BOTH ? k_size * n_size : copies * k * n;
    const struct {
        const char *buffer;
        int64_t bytes;
    } needs[] = {{"l0a", 2 * copies * m * k},
                 {"l0b", 2 * copies * k * n},
                 {"l0c", 4 * m * n},
                 {"ub", 2 * m * n},
                 {"l1", 2 * (a + bb)}};
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].bytes >
            hw->buffers[hardware_buffer(hw, needs[i].buffer, (int)strlen(needs[i].buffer))]
                .capacity_bytes)
            return false;
    return true;
}

static void try_tiling(struct brute *b, const struct tiling *t, int cores_used)
{
    struct timeline timeline;
    struct error error;
    struct simulate_options options = {.cores = cores_used, .execute_fully = true};
    program_reset(&b->program, b->q->hw);
    cr_assert_eq(b->space.kind->generate(&b->space, t, 0, &b->program, &error), STATUS_OK);
    cr_assert_eq(simulate(b->simulator, &b->program, &options, &timeline, &error), STATUS_OK);
    b->times = realloc(b->times, (size_t)(b->legal + 1) * sizeof *b->times);
    b->times[b->legal++] = timeline.end_fs;
    if (b->best_fs == 0 || timeline.end_fs < b->best_fs)
        b->best_fs = timeline.end_fs;
}

static int slices(int64_t size, int64_t list[])
{
    int count = 0;
    for (int64_t tiles = 1; tiles <= (size + 15) / 16; tiles++) {
        int64_t slice = up16((size + tiles - 1) / tiles);
        bool known = false;
        for (int i = 0; i < count; i++)
            known |= list[i] == slice;
        if (!known)
            list[count++] = slice;
    }
    return count;
}

/* The most of `whole` that one of `sharers` gets. */
static int64_t largest_share(int64_t whole, int64_t sharers)
{
    return (whole + sharers - 1) / sharers;
}

/* Into how many groups, each with products of its own, a split divides the cores; 0: that would be
 * another split. */
static int groups_of(int split, int64_t batch, int cores)
{
    int common = 1;
    for (int c = 2; c <= cores; c++)
        if (cores % c == 0 && batch % c == 0)
            common = c;
    if (split <= SPLIT_N)
        return split == SPLIT_M || cores > 1;
    if (split == SPLIT_BATCH)
        return cores > 1 ? cores : 0;
    return common > 1 && common < cores ? common : 0;
}

/* Numbers of cores of which some have nothing to do stand for no program of their own; on one core
 * all splits are the same. */
static void try_split(struct brute *b, int split, int cores)
{
    int64_t size[3] = {up16(b->q->m), up16(b->q->k), up16(b->q->n)}, list[3][64];
    int64_t batch = b->q->batch ? b->q->batch : 1;
    int axis = split == SPLIT_M || split == SPLIT_BATCH_M ? 0 : 2, count[3];
    int groups = groups_of(split, batch, cores);
    if (groups == 0)
        return;
    int64_t blocks = size[axis] / 16, slab = largest_share(blocks, cores / groups);
    int used =
        (int)(largest_share(batch, largest_share(batch, groups)) * largest_share(blocks, slab));
    if (used < cores)
        return;
    size[axis] = slab * 16;
    for (int a = 0; a < 3; a++)
        count[a] = slices(size[a], list[a]);
    for (int i = 0; i < count[0] * count[1] * count[2] * 8; i++) {
        struct tiling t = {{list[0][i / 8 % count[0]], list[1][i / 8 / count[0] % count[1]],
                            list[2][i / 8 / count[0] / count[1]], 1 + i % 2, i / 2 % 4, split,
                            used}};
        if (fits(b, &t, size[1], size[2]))
            try_tiling(b, &t, used);
    }
}

static void expect_brute_agrees(const struct question *q)
{
    struct brute b = {.q = q, .simulator = simulator_new()};
    struct search_result result;
    open_question(q, &b.space);
    for (int cores = 1; cores <= q->cores; cores++)
        for (int split = 0; split < SPLIT_KINDS; split++)
            try_split(&b, split, cores);
    for (int64_t i = 0; i < b.legal; i++)
        b.within += b.times[i] <= b.best_fs + b.best_fs / 100;
    ask(q, &result);
    cr_assert_eq(result.feasible, b.legal);
    if (b.legal) {
        cr_assert_eq(result.best[0].timeline.end_fs, b.best_fs);
        cr_assert_eq(result.within_1_percent.surely, b.within);
    } else {
        cr_assert_eq(result.count, 0);
    }
    search_result_clear(&result);
    space_close(&b.space);
    program_clear(&b.program);
    simulator_free(b.simulator);
    free(b.times);
}

Test(search, brute_force_agrees)
{
    static const char *const machines[] = {
        "", "cores=9 buffers.l1.capacity_bytes=40000",
        "buffers.l0a.capacity_bytes=1024 buffers.ub.capacity_bytes=2048",
        "buffers.l0c.capacity_bytes=1023 issue_ns=4000"};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < test_cases(40); i++) {
        struct hardware hw;
        machine_load(&hw, machines[i % 4]);
        struct question q = {.hw = &hw,
                             .m = 1 + (int64_t)gsl_rng_uniform_int(rng, 200),
                             .k = 1 + (int64_t)gsl_rng_uniform_int(rng, 200),
                             .n = 1 + (int64_t)gsl_rng_uniform_int(rng, 200),
                             .batch = 1 + (int64_t)gsl_rng_uniform_int(rng, i % 4 == 1 ? 6 : 2),
                             .cores = 1 + (int)gsl_rng_uniform_int(rng, (unsigned long)hw.cores)};
        expect_brute_agrees(&q);
        hardware_clear(&hw);
    }
    gsl_rng_free(rng);
}

/* ---- promises ---------------------------------------------------------------------------------
 */

Test(search, threads_do_not_matter)
{
    struct hardware hw;
    struct search_result one, many;
    machine_load(&hw, "");
    struct question q = {
        .hw = &hw, .m = 384, .k = 200, .n = 300, .cores = 2, .threads = 1, .top = 20};
    ask(&q, &one);
    for (q.threads = 2; q.threads <= 5; q.threads++) {
        ask(&q, &many);
        expect_same(&one, &many);
        cr_assert_eq(one.simulated, many.simulated);
        search_result_clear(&many);
    }
    search_result_clear(&one);
    hardware_clear(&hw);
}

Test(search, top_is_the_beginning_of_a_longer_top)
{
    struct hardware hw;
    struct search_result few, many, all;
    machine_load(&hw, "");
    struct question q = {.hw = &hw, .m = 256, .k = 96, .n = 160, .cores = 2, .top = 5};
    ask(&q, &few);
    q.top = 60;
    ask(&q, &many);
    q.strategy = "exhaustive";
    ask(&q, &all);
    expect_same(&many, &all);
    search_result_clear(&all);
    cr_assert_eq(few.count, 5);
    cr_assert_eq(many.count, 60);
    for (int i = 0; i < 60; i++) {
        if (i < 5)
            cr_assert_eq(few.best[i].index, many.best[i].index);
        if (i > 0)
            cr_assert(many.best[i - 1].timeline.end_fs < many.best[i].timeline.end_fs ||
                      (many.best[i - 1].timeline.end_fs == many.best[i].timeline.end_fs &&
                       many.best[i - 1].index < many.best[i].index));
    }
    cr_assert_eq(few.within_1_percent.surely, many.within_1_percent.surely);
    search_result_clear(&few);
    search_result_clear(&many);
    hardware_clear(&hw);
}

Test(search, top_beyond_the_space_is_the_space)
{
    struct hardware hw;
    struct search_result result;
    machine_load(&hw, "");
    ask(&(struct question){.hw = &hw, .m = 16, .k = 16, .n = 16, .cores = 2, .top = 1000}, &result);
    expect_consistent(&result);
    cr_assert_eq(result.count, result.feasible);
    cr_assert_eq(result.count, 8, "one core has all of it, however it is split");
    search_result_clear(&result);
    hardware_clear(&hw);
}

Test(search, nothing_legal_is_an_answer)
{
    struct hardware hw;
    struct search_result result;
    machine_load(&hw, "buffers.l0a.capacity_bytes=256");
    ask(&(struct question){.hw = &hw, .m = 64, .k = 64, .n = 64, .cores = 2}, &result);
    cr_assert_eq(result.count, 0);
    cr_assert_eq(result.feasible, 0);
    cr_assert_not(result.optimal);
    search_result_clear(&result);
    hardware_clear(&hw);
}

static volatile sig_atomic_t stop_now;

static void stop_after_first_batch(void *context, const struct search_progress *progress)
{
    (void)context;
    stop_now = progress->done > 0;
}

Test(search, a_stopped_search_says_how_far_it_got)
{
    struct hardware hw;
    struct space space;
    struct search_result result;
    struct error error;
    machine_load(&hw, "");
    struct search_options options = {.strategy = "exhaustive",
                                     .threads = 2,
                                     .top = 1,
                                     .stop = &stop_now,
                                     .progress = stop_after_first_batch};
    struct question q = {.hw = &hw, .m = 512, .k = 512, .n = 512, .cores = 2};
    open_question(&q, &space);
    cr_assert_eq(search(&space, &options, &result, &error), STATUS_OK);
    cr_assert_not(result.optimal);
    cr_assert_eq(result.count, 1);
    cr_assert_lt(result.simulated, result.feasible);
    cr_assert_eq(result.pruned, 0);
    cr_assert_leq(result.lower_bound_fs, result.best[0].timeline.end_fs);
    cr_assert(result.gap >= 0 && result.gap < 1);
    search_result_clear(&result);
    space_close(&space);
    hardware_clear(&hw);
}

/* ---- nearest ----------------------------------------------------------------------------------
 */

static int changes(const struct tiling *a, const struct tiling *b)
{
    int count = 0;
    for (int i = 0; i < THESIS_AXES; i++)
        count += a->value[i] != b->value[i];
    return count;
}

/* Tilings that could outlast the clock are legal and cannot be timed. The best is proven where
 * their bounds exclude them, and is not where they do not. */
Test(search, tilings_that_could_outlast_the_clock)
{
    struct hardware hw;
    struct search_result bound, all;
    struct question q = {.k = 65536, .cores = 2, .hw = &hw};
    machine_load(&hw, "");
    q.m = q.n = 65536;
    ask(&q, &bound);
    q.strategy = "exhaustive";
    ask(&q, &all);
    cr_assert(bound.optimal && all.optimal);
    cr_assert_eq(all.simulated, all.feasible);
    cr_assert_eq(all.best[0].index, bound.best[0].index);
    search_result_clear(&bound);
    search_result_clear(&all);
    /* 40 times slower, all may take longer than that: no answer, and no wrong one */
    hardware_clear(&hw);
    machine_load(&hw, "matrix.f16.gflops=20");
    struct space space;
    struct error error;
    struct search_options options = {.strategy = "bound", .threads = 2, .top = 1};
    open_question(&q, &space);
    cr_assert_eq(search(&space, &options, &all, &error), STATUS_TOO_LARGE);
    cr_assert(strstr(error.text, "77 minutes"), "%s", error.text);
    space_close(&space);
    hardware_clear(&hw);
}

Test(search, nearest_changes_as_little_as_possible)
{
    struct hardware hw;
    struct space space;
    struct error error;
    struct tiling nearest;
    bool found;
    machine_load(&hw, "");
    struct question q = {.hw = &hw, .m = 512, .k = 1024, .n = 512, .cores = 2};
    open_question(&q, &space);
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < 10; i++) {
        struct tiling wanted, other;
        space_tiling(&space, (int64_t)gsl_rng_uniform_int(rng, (unsigned long)space.candidates),
                     &wanted);
        cr_assert_eq(search_nearest(&space, &wanted, &nearest, &found, &error), STATUS_OK);
        cr_assert(found && space.kind->legal(&space, &nearest));
        if (space.kind->legal(&space, &wanted))
            cr_assert_eq(changes(&wanted, &nearest), 0);
        for (int64_t c = 0; c < space.candidates; c += 1 + test_thinning()) {
            space_tiling(&space, c, &other);
            if (space.kind->legal(&space, &other))
                cr_assert_leq(changes(&wanted, &nearest), changes(&wanted, &other));
        }
    }
    gsl_rng_free(rng);
    space_close(&space);
    hardware_clear(&hw);
}
