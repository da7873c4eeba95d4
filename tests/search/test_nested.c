/* The search by prefixes of tilings (search/nested.h) against the exhaustive one. The space
 * `thesis`, given bounds of prefixes for the purpose, is small enough to list. */
#include "kernels/matmul/matmul.h"
#include "search/nested.h"
#include "search/workers.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

struct least {
    const struct space *space;
    const struct bounder *bounder;
    int64_t bound_fs;
    struct work *work;
};

static void keep_least(void *context, const struct tiling *tiling, int64_t index)
{
    struct least *least = context;
    struct work work;
    (void)index;
    least->space->kind->summarise(least->space, tiling, &work);
    int64_t fs = bounder_fs(least->bounder, &work);
    if (fs < least->bound_fs) {
        least->bound_fs = fs;
        *least->work = work;
    }
}

/* That of the tiling with the least bound of all that begin so. */
static void summarise_prefix(const struct space *space, const struct tiling *tiling, int fixed,
                             struct work *work)
{
    struct bounder bounder;
    struct error error;
    struct least least = {space, &bounder, INT64_MAX, work};
    *work = (struct work){.cores = 1};
    cr_assert_eq(bounder_open(&bounder, space, &error), STATUS_OK);
    space_walk(space, space_index(space, tiling), fixed, space->axis_count, keep_least, &least);
    bounder_close(&bounder);
}

static void count_one(void *context, const struct tiling *tiling, int64_t index)
{
    (void)tiling;
    (void)index;
    ++*(int64_t *)context;
}

static int64_t leaf_count(const struct space *space, const struct tiling *tiling, int fixed)
{
    int64_t count = 0;
    space_walk(space, space_index(space, tiling), fixed, space->axis_count, count_one, &count);
    return count;
}

static int64_t very_many(const struct space *space, const struct tiling *tiling, int fixed)
{
    (void)space;
    (void)tiling;
    (void)fixed;
    return 10000001;
}

static enum prefix_verdict begins(const struct space *space, const struct tiling *tiling, int fixed)
{
    if (!matmul_thesis.possible(space, tiling, fixed))
        return fixed < THESIS_AXES ? BEGINS_NONE : BEGINS_NOT;
    return BEGINS_SOME;
}

static bool never_alike(const struct space *space, const struct tiling *a, const struct tiling *b)
{
    (void)space;
    (void)a;
    (void)b;
    return false;
}

static const int lengths[] = {1, 2, 4, 0};
static const struct operator_nesting nesting = {lengths, begins, summarise_prefix, leaf_count,
                                                never_alike},
                                     endless = {lengths, begins, summarise_prefix, very_many,
                                                never_alike};
static struct operator_space nested_kind; /* the thesis's, with prefixes */

static void make_kind(void)
{
    nested_kind = matmul_thesis;
    nested_kind.nesting = &nesting;
}

TestSuite(nested, .init = make_kind);

struct question {
    const struct hardware *hw;
    int64_t m, k, n;
    int cores, threads, top;
    const char *strategy;
    double tolerance;
};

static void open_question(const struct question *q, struct space *space)
{
    struct error error;
    struct problem problem = {
        .op = &matmul_operator, .type = DTYPE_F16, .size = {q->m, q->k, q->n, 1}};
    cr_assert_eq(space_open(&problem, &nested_kind, q->hw, q->cores, space, &error), STATUS_OK,
                 "%s", error.text);
}

static void ask(const struct question *q, struct search_result *result)
{
    struct space space;
    struct error error;
    struct search_options options = {.strategy = q->strategy ? q->strategy : "bound",
                                     .threads = q->threads ? q->threads : 2,
                                     .top = q->top,
                                     .tolerance = q->tolerance};
    open_question(q, &space);
    cr_assert_eq(search(&space, &options, result, &error), STATUS_OK, "%s", error.text);
    space_close(&space);
}

static void expect_same_best(const struct search_result *a, const struct search_result *b)
{
    cr_assert(a->optimal && b->optimal);
    cr_assert_eq(a->feasible, b->feasible);
    cr_assert_eq(a->candidates, b->candidates);
    cr_assert_eq(a->count, b->count);
    cr_assert_eq(a->feasible, a->pruned + a->simulated);
    cr_assert_eq(a->gap, 0.0);
    cr_assert_eq(a->lower_bound_fs, a->best[0].timeline.end_fs);
    for (int i = 0; i < a->count; i++) {
        cr_assert_eq(a->best[i].index, b->best[i].index);
        cr_assert_eq(a->best[i].bound_fs, b->best[i].bound_fs);
        cr_assert_arr_eq(&a->best[i].timeline, &b->best[i].timeline, sizeof a->best[i].timeline);
    }
}

static struct question random_question(gsl_rng *rng, const struct hardware *hw)
{
    return (struct question){.hw = hw,
                             .m = 1 + (int64_t)gsl_rng_uniform_int(rng, 300),
                             .k = 1 + (int64_t)gsl_rng_uniform_int(rng, 300),
                             .n = 1 + (int64_t)gsl_rng_uniform_int(rng, 300),
                             .cores = 1 + (int)gsl_rng_uniform_int(rng, 2),
                             .top = 1 + (int)gsl_rng_uniform_int(rng, 12),
                             .tolerance = (double)gsl_rng_uniform_int(rng, 30) / 100};
}

static void expect_exhaustive_agrees(struct question q, int64_t *pruned)
{
    struct search_result nested, all;
    ask(&q, &nested);
    q.strategy = "exhaustive";
    ask(&q, &all);
    expect_same_best(&nested, &all);
    cr_assert_eq(all.simulated, all.feasible);
    cr_assert_eq(all.within_tolerance.surely, all.within_tolerance.at_most);
    cr_assert_leq(nested.within_1_percent.surely, all.within_1_percent.surely);
    cr_assert_geq(nested.within_1_percent.at_most, all.within_1_percent.surely);
    cr_assert_leq(nested.within_tolerance.surely, all.within_tolerance.surely);
    cr_assert_geq(nested.within_tolerance.at_most, all.within_tolerance.surely);
    cr_assert_leq(nested.within_tolerance.at_most, nested.feasible);
    *pruned += nested.pruned;
    search_result_clear(&nested);
    search_result_clear(&all);
}

Test(nested, exhaustive_agrees)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct hardware hw;
    int64_t pruned = 0;
    machine_load(&hw, "");
    for (int i = 0; i < test_cases(60); i++)
        expect_exhaustive_agrees(random_question(rng, &hw), &pruned);
    cr_assert_gt(pruned, 0);
    hardware_clear(&hw);
    gsl_rng_free(rng);
}

Test(nested, within_is_at_most_what_the_listed_bounds_leave_open)
{
    struct hardware hw;
    struct search_result nested, all;
    struct question q = {.hw = &hw, .m = 256, .k = 200, .n = 300, .cores = 2, .top = 1};
    machine_load(&hw, "");
    q.tolerance = 1e6;
    ask(&q, &nested);
    cr_assert_eq(nested.within_tolerance.at_most, nested.feasible);
    cr_assert_eq(nested.within_tolerance.surely, nested.simulated);
    search_result_clear(&nested);
    q.top = (int)nested.feasible + 1000;
    ask(&q, &nested);
    q.strategy = "exhaustive";
    ask(&q, &all);
    expect_same_best(&nested, &all);
    cr_assert_eq(nested.within_1_percent.surely, all.within_1_percent.surely);
    cr_assert_eq(nested.within_1_percent.at_most, all.within_1_percent.surely);
    search_result_clear(&nested);
    search_result_clear(&all);
    hardware_clear(&hw);
}

Test(nested, threads_do_not_matter)
{
    struct hardware hw;
    struct search_result one, many;
    machine_load(&hw, "");
    struct question q = {.hw = &hw,
                         .m = 384,
                         .k = 200,
                         .n = 300,
                         .cores = 2,
                         .threads = 1,
                         .top = 20,
                         .tolerance = 0.1};
    ask(&q, &one);
    for (q.threads = 2; q.threads <= 4; q.threads++) {
        ask(&q, &many);
        expect_same_best(&one, &many);
        cr_assert_eq(one.simulated, many.simulated);
        cr_assert_arr_eq(&one.within_1_percent, &many.within_1_percent, sizeof(struct within));
        cr_assert_arr_eq(&one.within_tolerance, &many.within_tolerance, sizeof(struct within));
        search_result_clear(&many);
    }
    search_result_clear(&one);
    hardware_clear(&hw);
}

Test(nested, nothing_legal_is_an_answer)
{
    struct hardware hw;
    struct search_result result;
    machine_load(&hw, "buffers.l0a.capacity_bytes=256");
    ask(&(struct question){.hw = &hw, .m = 64, .k = 64, .n = 64, .cores = 2, .top = 1}, &result);
    cr_assert_eq(result.count, 0);
    cr_assert_eq(result.feasible, 0);
    cr_assert_not(result.optimal);
    cr_assert_eq(result.within_1_percent.at_most, 0);
    search_result_clear(&result);
    hardware_clear(&hw);
}

static volatile sig_atomic_t stop_now;

static void stop_with_the_first_time(void *context, const struct search_progress *progress)
{
    (void)context;
    stop_now = progress->best_fs > 0;
}

Test(nested, a_stopped_search_says_what_it_has_proven)
{
    struct hardware hw;
    struct space space;
    struct search_result result, whole;
    struct error error;
    struct question q = {.hw = &hw, .m = 512, .k = 512, .n = 512, .cores = 2, .top = 1};
    machine_load(&hw, "");
    struct search_options options = {.strategy = "bound",
                                     .threads = 2,
                                     .top = 1,
                                     .stop = &stop_now,
                                     .progress = stop_with_the_first_time};
    open_question(&q, &space);
    cr_assert_eq(search(&space, &options, &result, &error), STATUS_OK);
    ask(&q, &whole);
    cr_assert_not(result.optimal);
    cr_assert_eq(result.count, 1);
    cr_assert(result.feasible >= result.simulated && result.feasible <= whole.feasible);
    cr_assert_eq(result.pruned, 0);
    cr_assert_lt(result.simulated, whole.simulated);
    cr_assert_gt(result.lower_bound_fs, 0);
    cr_assert_leq(result.lower_bound_fs, whole.best[0].timeline.end_fs);
    cr_assert_float_eq(result.gap,
                       1 - (double)result.lower_bound_fs / (double)result.best[0].timeline.end_fs,
                       1e-12);
    cr_assert_geq(result.within_1_percent.at_most, whole.within_1_percent.surely);
    search_result_clear(&result);
    search_result_clear(&whole);
    space_close(&space);
    hardware_clear(&hw);
}

Test(nested, exhaustive_refuses_what_takes_too_long)
{
    struct hardware hw;
    struct space space;
    struct search_result result;
    struct error error;
    struct question q = {.hw = &hw, .m = 16, .k = 16, .n = 16, .cores = 1, .top = 1};
    struct search_options options = {.strategy = "exhaustive", .threads = 1, .top = 1};
    machine_load(&hw, "");
    nested_kind.nesting = &endless;
    open_question(&q, &space);
    cr_assert_eq(search(&space, &options, &result, &error), STATUS_TOO_LARGE);
    cr_assert(strstr(error.text, "more are legal"), "%s", error.text);
    space_close(&space);
    hardware_clear(&hw);
}

/* ---- parts ----------------------------------------------------------------------------------- */

Test(nested, the_heap_is_in_order)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct heap heap = {0};
    struct open_node last = {-1, -1};
    for (int i = 0; i < 3000; i++)
        cr_assert(heap_push(&heap, (struct open_node){(int64_t)gsl_rng_uniform_int(rng, 50), i}));
    for (int i = 0; i < 3000; i++) {
        struct open_node node = heap_pop(&heap);
        cr_assert(open_node_before(&last, &node));
        last = node;
    }
    cr_assert_eq(heap.count, 0);
    heap_close(&heap);
    gsl_rng_free(rng);
}

Test(nested, the_tally_is_exact_to_an_interval)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct tally tally;
    int64_t bounds[500];
    cr_assert_eq(tally_open(&tally, NULL), STATUS_OK);
    for (int i = 0; i < 500; i++) {
        bounds[i] = (int64_t)(gsl_rng_get(rng) >> 2) << gsl_rng_uniform_int(rng, 33) >>
                    gsl_rng_uniform_int(rng, 30);
        tally_add(&tally, bounds[i], 3);
    }
    for (int i = 0; i < 500; i++) {
        int64_t exact = 0, beyond = 0, latest = bounds[i] + (int64_t)gsl_rng_uniform_int(rng, 3);
        for (int j = 0; j < 500; j++) {
            exact += 3 * (bounds[j] <= latest);
            beyond += 3 * (bounds[j] <= latest + latest / 8192);
        }
        cr_assert_geq(tally_sum(&tally, latest), exact);
        cr_assert_leq(tally_sum(&tally, latest), beyond);
    }
    cr_assert_eq(tally_sum(&tally, INT64_MAX), 1500);
    tally_close(&tally);
    gsl_rng_free(rng);
}
