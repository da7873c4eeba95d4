/* Tilings drawn at random, on spaces of every source: the same for any number of threads, legal,
 * none twice, spread over the whole space, never better than the optimum, and a proof only where
 * all that is legal was simulated. */
#include "kernels/registry.h"
#include "search/candidates.h"
#include "search/search.h"
#include "tests/support/machine.h"
#include "tests/support/made_up.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWN = 1000 };

struct question {
    const char *op, *space, *sizes, *hw, *k;
    bool small; /* no more than DRAWN tilings are legal */
};

static const struct question questions[] = {
    {"matmul", "thesis", "96x96x96", "ascend310"},
    {"matmul", "thesis", "64x64x64", "ascend310", .small = true},
    {"matmul", "cann", "48x32x64", "ascend910b1"},
    {"matmul", "cann", "32x16x16", "ascend910b1", .small = true},
    {"knn", NULL, "512x16x128", "ascend310", "4"},
    {"knn", NULL, "64x64x64", "ascend310", "8", .small = true},
};

enum { QUESTIONS = sizeof questions / sizeof *questions };

struct bench {
    struct hardware hw;
    struct problem problem;
    struct space space;
};

static void open_bench(struct bench *b, const struct question *q)
{
    struct error error;
    const struct operator* op = operator_find(q->op);
    machine_load_named(&b->hw, q->hw, "");
    cr_assert_eq(problem_parse(op, q->sizes, &b->problem, &error), STATUS_OK, "%s", error.text);
    if (q->k)
        cr_assert_eq(problem_set(&b->problem, "k", q->k, &error), STATUS_OK, "%s", error.text);
    b->problem.type = DTYPE_F16;
    cr_assert_eq(problem_settle(&b->problem, &error), STATUS_OK, "%s", error.text);
    const struct operator_space *kind = op->spaces[0];
    for (int s = 0; q->space && op->spaces[s]; s++)
        if (strcmp(op->spaces[s]->name, q->space) == 0)
            kind = op->spaces[s];
    cr_assert_eq(space_open(&b->problem, kind, &b->hw, b->hw.cores, &b->space, &error), STATUS_OK,
                 "%s", error.text);
}

static void close_bench(struct bench *b)
{
    space_close(&b->space);
    hardware_clear(&b->hw);
}

static void ask(const struct space *space, struct search_options options,
                struct search_result *result)
{
    struct error error;
    options.top = options.top ? options.top : 1;
    cr_assert_eq(search(space, &options, result, &error), STATUS_OK, "%s", error.text);
}

static int by_index(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

static void expect_honest(const struct question *q, const struct search_result *drawn,
                          const struct search_result *best)
{
    int64_t best_fs = best->best[0].timeline.end_fs, found_fs = drawn->best[0].timeline.end_fs;
    cr_expect(best->optimal);
    cr_expect_eq(drawn->feasible, best->feasible, "%s", q->sizes);
    cr_expect_eq(drawn->simulated, q->small ? drawn->feasible : DRAWN, "%s", q->sizes);
    cr_expect_eq(drawn->optimal, q->small, "%s", q->sizes);
    cr_expect_geq(found_fs, best_fs, "%s", q->sizes);
    cr_expect_leq(drawn->lower_bound_fs, best_fs, "%s", q->sizes);
    cr_expect_leq(drawn->within_1_percent.surely, drawn->within_1_percent.at_most);
    cr_expect_leq(drawn->within_1_percent.at_most, drawn->feasible, "%s", q->sizes);
    if (q->small) {
        cr_expect_eq(found_fs, best_fs, "%s", q->sizes);
        cr_expect_eq(drawn->best[0].index, best->best[0].index, "%s", q->sizes);
        cr_expect_eq(drawn->within_1_percent.surely, best->within_1_percent.surely);
        cr_expect_eq(drawn->within_1_percent.at_most, best->within_1_percent.surely);
    }
}

Test(strategy_random, is_no_better_than_the_optimum_and_says_so)
{
    for (int i = 0; i < QUESTIONS; i++) {
        struct bench b;
        struct search_result drawn, best;
        open_bench(&b, &questions[i]);
        ask(&b.space, (struct search_options){.strategy = "random", .threads = 2}, &drawn);
        ask(&b.space, (struct search_options){.strategy = "bound", .threads = 2}, &best);
        expect_honest(&questions[i], &drawn, &best);
        search_result_clear(&drawn);
        search_result_clear(&best);
        close_bench(&b);
    }
}

Test(strategy_random, is_the_same_for_any_number_of_threads)
{
    for (int i = 0; i < QUESTIONS; i++) {
        struct bench b;
        struct search_result result[2];
        if (questions[i].small) /* nothing is drawn there */
            continue;
        open_bench(&b, &questions[i]);
        for (int r = 0; r < 2; r++)
            ask(&b.space,
                (struct search_options){.strategy = "random", .threads = r + 1, .top = 40},
                &result[r]);
        cr_assert_eq(result[0].count, result[1].count);
        cr_expect_eq(result[0].lower_bound_fs, result[1].lower_bound_fs);
        for (int t = 0; t < result[0].count; t++) {
            cr_expect_eq(result[0].best[t].index, result[1].best[t].index);
            cr_expect_eq(result[0].best[t].timeline.end_fs, result[1].best[t].timeline.end_fs);
        }
        for (int r = 0; r < 2; r++)
            search_result_clear(&result[r]);
        close_bench(&b);
    }
}

Test(strategy_random, draws_legal_tilings_and_none_twice)
{
    for (int i = 0; i < QUESTIONS; i++) {
        struct bench b;
        struct search_result r;
        open_bench(&b, &questions[i]);
        ask(&b.space,
            (struct search_options){.strategy = "random", .threads = 2, .keep_reached = true}, &r);
        cr_assert_eq(r.reached_count, r.simulated);
        cr_expect_eq(r.reached_all, questions[i].small);
        qsort(r.reached, (size_t)r.reached_count, sizeof *r.reached, by_index);
        for (int64_t c = 0; c < r.reached_count; c++) {
            struct tiling tiling;
            space_tiling(&b.space, r.reached[c].index, &tiling);
            cr_expect(b.space.kind->legal(&b.space, &tiling), "%s", questions[i].sizes);
            cr_expect(c == 0 || r.reached[c - 1].index < r.reached[c].index);
            cr_expect_leq(r.reached[c].bound_fs, r.reached[c].time_fs);
        }
        search_result_clear(&r);
        close_bench(&b);
    }
}

/* Of each tenth of the legal tilings a tenth is drawn, within five standard errors. */
Test(strategy_random, draws_from_the_whole_space)
{
    enum { PARTS = 10, EXPECTED = DRAWN / PARTS, ERROR = 47 };
    const struct search_options all = {
        .strategy = "exhaustive", .threads = 2, .keep_reached = true};
    const struct search_options some = {.strategy = "random", .threads = 2, .keep_reached = true};
    struct bench b;
    struct search_result legal, drawn;
    int of_part[PARTS] = {0};
    open_bench(&b, &questions[0]);
    ask(&b.space, all, &legal);
    ask(&b.space, some, &drawn);
    qsort(legal.reached, (size_t)legal.reached_count, sizeof *legal.reached, by_index);
    for (int64_t c = 0; c < drawn.reached_count; c++) {
        const struct candidate *at =
            bsearch(&drawn.reached[c], legal.reached, (size_t)legal.reached_count,
                    sizeof *legal.reached, by_index);
        cr_assert_not_null(at);
        cr_expect_eq(at->time_fs, drawn.reached[c].time_fs);
        of_part[(at - legal.reached) * PARTS / legal.reached_count]++;
    }
    for (int p = 0; p < PARTS; p++)
        cr_expect(abs(of_part[p] - EXPECTED) <= ERROR, "%d of part %d", of_part[p], p);
    search_result_clear(&legal);
    search_result_clear(&drawn);
    close_bench(&b);
}

Test(strategy_random, scores_on_a_processor_what_it_draws)
{
    struct made_up made;
    struct search_result r, all;
    made_up_open(&made);
    ask(&made.space, (struct search_options){.strategy = "random", .keep_scores = true}, &r);
    ask(&made.space, (struct search_options){.strategy = "bound", .threads = 1}, &all);
    cr_expect_eq(r.feasible, all.feasible);
    cr_expect_eq(r.score_count, r.feasible < DRAWN ? r.feasible : DRAWN);
    cr_expect_eq(r.optimal, r.feasible <= DRAWN);
    cr_expect_geq(r.best[0].timeline.end_fs, all.best[0].timeline.end_fs);
    for (int64_t i = 1; i < r.score_count; i++)
        cr_expect_leq(r.scores[i - 1].time_fs, r.scores[i].time_fs);
    search_result_clear(&r);
    search_result_clear(&all);
    made_up_close(&made);
}

struct bell {
    volatile sig_atomic_t told;
};

static void tell_to_stop(void *context, const struct search_progress *progress)
{
    struct bell *bell = context;
    bell->told = progress->done > 0;
}

/* After the first batch: its order is that of the times all the same. */
Test(strategy_random, scores_are_in_order_when_it_is_stopped)
{
    struct bell bell = {0};
    struct made_up made;
    struct search_result r;
    made_up_open(&made);
    ask(&made.space,
        (struct search_options){.strategy = "random",
                                .keep_scores = true,
                                .stop = &bell.told,
                                .progress = tell_to_stop,
                                .context = &bell},
        &r);
    cr_expect_not(r.optimal);
    cr_expect_lt(r.simulated, r.score_count);
    for (int64_t i = 1; i < r.score_count; i++)
        cr_expect_leq(r.scores[i - 1].time_fs, r.scores[i].time_fs);
    search_result_clear(&r);
    made_up_close(&made);
}

/* Told to stop at once it answers with a tiling all the same, and with no proof. */
Test(strategy_random, ends_when_it_is_told_to)
{
    static const volatile sig_atomic_t told = 1;
    for (int i = 0; i < QUESTIONS; i++) {
        struct bench b;
        struct search_result r;
        if (questions[i].small)
            continue;
        open_bench(&b, &questions[i]);
        ask(&b.space, (struct search_options){.strategy = "random", .threads = 2, .stop = &told},
            &r);
        cr_expect_not(r.optimal, "%s", questions[i].sizes);
        cr_expect_lt(r.simulated, DRAWN, "%s", questions[i].sizes);
        cr_expect_leq(r.within_1_percent.surely, r.within_1_percent.at_most);
        search_result_clear(&r);
        close_bench(&b);
    }
}
