/* The search of spaces whose time is a closed form, on a made-up operator: every legal tiling is
 * scored, counts add up, strategies and any number of threads agree, nothing is generated. */
#include "costmodel/host_time.h"
#include "kernels/matmul/host/matmul_host.h"
#include "kernels/registry.h"
#include "search/nearest.h"
#include "search/search.h"
#include "tests/support/made_up.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <string.h>

static void ask(const struct made_up *made, const char *strategy, int threads, int top,
                struct search_result *result)
{
    struct error error;
    struct search_options options = {
        .strategy = strategy, .threads = threads, .top = top, .tolerance = 9, .keep_scores = true};
    cr_assert_eq(search(&made->space, &options, result, &error), STATUS_OK, "%s", error.text);
}

/* Its time from the definition: made_up.h says what a tiling asks. */
static int64_t time_of(const struct made_up *made, int64_t index)
{
    struct tiling tiling;
    struct host_work work;
    struct timeline timeline;
    space_tiling(&made->space, index, &tiling);
    if (!made->space.kind->legal(&made->space, &tiling))
        return 0;
    made->space.kind->ask(&made->space, &tiling, &work);
    host_time(made->hw.host, &work, &timeline);
    return timeline.end_fs;
}

Test(host_search, scores_all_that_is_legal_in_order)
{
    struct made_up made;
    struct search_result r;
    made_up_open(&made);
    ask(&made, "bound", 1, 5, &r);
    int64_t legal = 0, within = 0, tolerated = 0, best_fs = INT64_MAX;
    for (int64_t i = 0; i < made.space.candidates; i++) {
        int64_t fs = time_of(&made, i);
        legal += fs > 0;
        best_fs = fs > 0 && fs < best_fs ? fs : best_fs;
    }
    for (int64_t i = 0; i < made.space.candidates; i++)
        within += time_of(&made, i) > 0 && time_of(&made, i) <= best_fs + best_fs / 100;
    for (int64_t i = 0; i < made.space.candidates; i++)
        tolerated += time_of(&made, i) > 0 && time_of(&made, i) <= best_fs + 9 * best_fs;
    cr_assert_gt(tolerated, 100);
    cr_assert_lt(tolerated, legal);
    cr_assert_eq(r.within_tolerance.surely, tolerated);
    cr_assert_eq(r.within_tolerance.at_most, tolerated);
    cr_assert_gt(legal, 100);
    cr_assert_lt(legal, made.space.candidates);
    cr_assert_eq(r.candidates, made.space.candidates);
    cr_assert_eq(r.feasible, legal);
    cr_assert_eq(r.score_count, legal);
    cr_assert(r.optimal);
    cr_assert_eq(r.best[0].timeline.end_fs, best_fs);
    cr_assert_eq(r.lower_bound_fs, best_fs);
    cr_assert_eq(r.within_1_percent.surely, within);
    cr_assert_eq(r.within_1_percent.at_most, within);
    for (int64_t i = 0; i < r.score_count; i++) {
        cr_assert_eq(r.scores[i].time_fs, time_of(&made, r.scores[i].index));
        if (i > 0)
            cr_assert(r.scores[i - 1].time_fs < r.scores[i].time_fs ||
                      (r.scores[i - 1].time_fs == r.scores[i].time_fs &&
                       r.scores[i - 1].index < r.scores[i].index));
    }
    search_result_clear(&r);
    made_up_close(&made);
}

Test(host_search, counts_add_up_and_components_too)
{
    struct made_up made;
    struct search_result r;
    made_up_open(&made);
    ask(&made, "bound", 2, 7, &r);
    cr_assert_eq(r.feasible, r.pruned + r.simulated);
    cr_assert_gt(r.pruned, 0);
    cr_assert_eq(r.count, 7);
    for (int i = 0; i < r.count; i++) {
        int64_t sum = 0;
        for (int p = 0; p < made.hw.pipe_count; p++)
            sum += r.best[i].timeline.busy_fs[p];
        cr_assert_eq(sum, r.best[i].timeline.end_fs);
        cr_assert_eq(r.best[i].bound_fs, r.best[i].timeline.end_fs);
        cr_assert_eq(r.best[i].index, r.scores[i].index);
        cr_assert_eq(r.best[i].cores_used, 2);
    }
    search_result_clear(&r);
    made_up_close(&made);
}

Test(host_search, strategies_and_threads_agree)
{
    struct made_up made;
    struct search_result one, many, all;
    made_up_open(&made);
    ask(&made, "bound", 1, 9, &one);
    ask(&made, "bound", 8, 9, &many);
    ask(&made, "exhaustive", 3, 9, &all);
    cr_assert_eq(all.simulated, all.feasible);
    cr_assert_eq(all.pruned, 0);
    const struct search_result *others[] = {&many, &all};
    for (int o = 0; o < 2; o++) {
        cr_assert_eq(others[o]->within_1_percent.surely, one.within_1_percent.surely);
        cr_assert_eq(others[o]->score_count, one.score_count);
        cr_assert_arr_eq(others[o]->scores, one.scores,
                         (size_t)one.score_count * sizeof *one.scores);
        for (int i = 0; i < 9; i++)
            cr_assert_arr_eq(&others[o]->best[i], &one.best[i], sizeof one.best[i]);
    }
    search_result_clear(&one);
    search_result_clear(&many);
    search_result_clear(&all);
    made_up_close(&made);
}

static int count_threads(void)
{
    int count = 0;
    DIR *tasks = opendir("/proc/self/task");
    cr_assert_not_null(tasks);
    /* cppcheck-suppress readdirCalled ; nobody else reads this folder */
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks))
        count += entry->d_name[0] != '.';
    closedir(tasks);
    return count;
}

/* What is measured afterwards is measured in children, and threads do not survive a fork. */
Test(host_search, starts_no_thread)
{
    struct made_up made;
    struct search_result r;
    int before = count_threads();
    made_up_open(&made);
    ask(&made, "exhaustive", 8, 1, &r);
    cr_assert_eq(count_threads(), before);
    cr_assert_eq(search_threads(&made.space, 8), 1);
    search_result_clear(&r);
    made_up_close(&made);
}

Test(host_search, simulates_one_tiling_and_finds_the_nearest)
{
    struct made_up made;
    struct error error;
    struct found found;
    struct tiling wanted, nearest;
    bool any;
    made_up_open(&made);
    for (int64_t i = 0; i < made.space.candidates; i++) {
        space_tiling(&made.space, i, &wanted);
        if (!made.space.kind->legal(&made.space, &wanted))
            continue;
        cr_assert_eq(search_simulate(&made.space, &wanted, &found, &error), STATUS_OK);
        cr_assert_eq(found.timeline.end_fs, time_of(&made, i));
        cr_assert_eq(found.bound_fs, found.timeline.end_fs);
    }
    wanted = (struct tiling){{MADE_UP_KINDS, 1000, 7, 1}};
    cr_assert_eq(search_nearest(&made.space, &wanted, &nearest, &any, &error), STATUS_OK);
    cr_assert(any);
    cr_assert(made.space.kind->legal(&made.space, &nearest));
    cr_assert_eq(nearest.value[0], MADE_UP_KINDS);
    cr_assert_eq(nearest.value[3], 1);
    made_up_close(&made);
}

/* Who has no space for a processor has none by default, and a chip's space is refused on one. */
Test(host_search, spaces_know_where_they_belong)
{
    struct made_up made;
    struct space space;
    struct error error;
    struct problem problem;
    made_up_open(&made);
    for (int i = 0; operators[i]; i++) {
        const struct operator_space *kind = operator_default_space(operators[i], &made.hw);
        cr_assert(!kind || kind->ask, "%s", operators[i]->name);
    }
    const struct operator* matmul = operator_find("matmul");
    cr_assert_eq(problem_parse(matmul, "64x64x64", &problem, &error), STATUS_OK);
    cr_assert_eq(
        space_open(&problem, operator_space_find(matmul, "thesis"), &made.hw, 1, &space, &error),
        STATUS_INVALID);
    cr_assert_not_null(strstr(error.text, "processor"));
    cr_assert_null(space.kind);
    made_up_close(&made);
}
