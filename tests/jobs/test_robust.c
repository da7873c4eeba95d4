/* The tiling to trust (jobs/tune/robust.h) against all tilings of small spaces, and the leaders
 * that it is one of. */
#include "jobs/tune/robust.h"
#include "kernels/matmul/matmul_cann_internal.h"
#include "search/candidates.h"
#include "tests/jobs/uncertain_chip.h"
#include "tests/support/made_up_correction.h"

#include <stdlib.h>

TestSuite(robust, .init = enter, .fini = leave);

static const int64_t sizes[][3] = {
    {32, 16, 48}, {48, 32, 16}, {16, 64, 32}, {80, 16, 16}, {16, 176, 16}};
enum { SIZES = sizeof sizes / sizeof *sizes, CORES = 4 };

/* One problem on the chip and at its corner. */
struct both {
    struct hardware hw;
    struct corner corner;
    struct problem problem;
    struct space space, worst;
};

static void open_both(const int64_t size[3], struct both *both)
{
    struct error error;
    open_corner(&none, &both->hw, &both->corner);
    both->problem = (struct problem){
        .op = &matmul_operator, .type = DTYPE_F16, .size = {size[0], size[1], size[2], 1}};
    cr_assert_eq(space_open(&both->problem, &matmul_cann, &both->hw, CORES, &both->space, &error),
                 STATUS_OK);
    cr_assert_eq(
        space_open(&both->problem, &matmul_cann, &both->corner.hw, CORES, &both->worst, &error),
        STATUS_OK);
}

static void close_both(struct both *both)
{
    space_close(&both->space);
    space_close(&both->worst);
    hardware_clear(&both->corner.hw);
    hardware_clear(&both->hw);
}

static int64_t time_of(const struct space *space, const struct tiling *tiling)
{
    struct found found;
    struct error error;
    cr_assert_eq(search_simulate(space, tiling, &found, &error), STATUS_OK, "%s", error.text);
    return found.timeline.end_fs;
}

/* Of all legal tilings. */
struct all {
    int64_t best_fs, least_worst_fs; /* of those within the error of the fastest */
    int most_even;                   /* whose worst case is as good */
};

static int by_index(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    return (a->index > b->index) - (a->index < b->index);
}

static void search_all(const struct space *space, struct search_result *result)
{
    struct search_options options = {
        .strategy = "exhaustive", .threads = 1, .top = 1, .keep_reached = true};
    struct error error;
    cr_assert_eq(search(space, &options, result, &error), STATUS_OK, "%s", error.text);
    cr_assert(result->reached_all && result->simulated == result->feasible);
    qsort(result->reached, (size_t)result->reached_count, sizeof *result->reached, by_index);
}

static struct all look_at_all(const struct both *both, double share)
{
    struct search_result result, worst;
    search_all(&both->space, &result);
    search_all(&both->worst, &worst);
    struct all all = {result.best[0].timeline.end_fs, INT64_MAX, 0};
    double latest = (double)all.best_fs * (1 + share);
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < result.reached_count; i++) {
            struct tiling tiling;
            int64_t worst_fs = worst.reached[i].time_fs;
            cr_assert_eq(result.reached[i].index, worst.reached[i].index);
            if ((double)result.reached[i].time_fs > latest)
                continue;
            space_tiling(&both->space, result.reached[i].index, &tiling);
            int even = even_count(cann_even(&both->space, &tiling));
            if (pass == 0 && worst_fs < all.least_worst_fs)
                all.least_worst_fs = worst_fs;
            if (pass == 1 && even > all.most_even &&
                (double)worst_fs <= (double)all.least_worst_fs * (1 + ROBUST_RESOLUTION))
                all.most_even = even;
        }
    search_result_clear(&result);
    search_result_clear(&worst);
    return all;
}

static void choose(const struct both *both, int threads, struct search_result *result,
                   struct robust *robust)
{
    struct search_options options = {.strategy = "bound", .threads = threads, .top = 1};
    const struct choice choice = {.corner = &both->corner};
    struct error error;
    cr_assert_eq(robust_search(&both->problem, &both->space, CORES, &choice, &options, result,
                               robust, &error),
                 STATUS_OK, "%s", error.text);
}

/* Nothing within the model's error has a worst case that is less by more than can be told, and
 * nothing that is as good is more even. */
Test(robust, the_least_worst_case_of_all_that_may_be_fastest)
{
    int more_even = 0;
    write_chip();
    for (int i = 0; i < 2 * SIZES; i++) {
        struct both both;
        struct search_result result;
        struct robust robust;
        open_both(sizes[i % SIZES], &both);
        both.hw.fit.error = i < SIZES ? 0.05 : 0.4;
        double share = fit_share(&both.hw.fit);
        struct all all = look_at_all(&both, share);
        choose(&both, 1, &result, &robust);
        const struct found *chosen = &result.best[0];
        cr_expect(result.count == 1 && result.optimal && robust.nominal_optimal && robust.complete);
        cr_expect_eq(robust.nominal_best.timeline.end_fs, all.best_fs);
        cr_expect_eq(robust.nominal_worst_fs, time_of(&both.worst, &robust.nominal_best.tiling));
        cr_expect_eq(result.lower_bound_fs, all.best_fs);
        cr_expect_eq(chosen->timeline.end_fs, time_of(&both.space, &chosen->tiling));
        cr_expect_eq(chosen->index, space_index(&both.space, &chosen->tiling));
        cr_expect_eq(robust.worst_fs, time_of(&both.worst, &chosen->tiling));
        cr_expect_leq((double)chosen->timeline.end_fs, (double)all.best_fs * (1 + share));
        cr_expect_leq((double)robust.worst_fs,
                      (double)all.least_worst_fs * (1 + ROBUST_RESOLUTION));
        cr_expect_eq(robust.even, even_count(cann_even(&both.space, &chosen->tiling)));
        /* steps look at few of all even tilings: of the last size one is missed */
        cr_expect(i % SIZES == SIZES - 1 ? robust.even <= all.most_even
                                         : robust.even == all.most_even,
                  "%d of %d", robust.even, all.most_even);
        cr_expect_float_eq(robust.residual_factor, exp(both.hw.fit.error), 1e-12);
        more_even += robust.even > even_count(cann_even(&both.space, &robust.nominal_best.tiling));
        search_result_clear(&result);
        close_both(&both);
    }
    cr_expect_gt(more_even, 0);
}

/* Kernels with several tiles of n in L1 take four times as long as simulated, and no more than ten
 * times; others as long, and no more than twice. */
static struct correcting made_up(void)
{
    struct correcting correcting = {.file = "made-up.correction.json"};
    struct correction *c = &correcting.correction;
    made_up_correction(c);
    strcpy(c->features[1].name, "tiling step_n");
    c->features[1].cuts[0] = 0.5; /* of the logarithm */
    c->forests[CORRECT_HIGH].trees->leaf[3] = (int32_t)lround(log(5) / CORRECTION_LEAF);
    c->margin = 0;
    return correcting;
}

/* In ns: its time at the corner and the end of its own interval, or its corrected time. */
static double score_of(const struct both *both, const struct correcting *correcting,
                       const struct tiling *tiling, bool worst)
{
    struct corrected c;
    struct error error;
    cr_assert_eq(correct_tiling(correcting, &both->problem, &both->space, tiling, &c, &error),
                 STATUS_OK);
    cr_expect_lt(fabs(c.simulated_ns * FS_PER_NS / (double)time_of(&both->space, tiling) - 1),
                 1e-12);
    cr_expect_float_eq(c.high_ns / c.simulated_ns, tiling->value[CANN_STEP_N] > 1 ? 10 : 2, 1e-4);
    return worst ? (double)time_of(&both->worst, tiling) / FS_PER_NS * c.high_ns / c.simulated_ns
                 : c.corrected_ns;
}

static double least_score(const struct both *both, const struct correcting *correcting, bool worst)
{
    struct search_result all;
    double least = INFINITY;
    search_all(&both->space, &all);
    double latest_fs = (double)all.best[0].timeline.end_fs * (1 + fit_share(&both->hw.fit));
    for (int64_t i = 0; i < all.reached_count; i++) {
        struct tiling tiling;
        if ((double)all.reached[i].time_fs > latest_fs)
            continue;
        space_tiling(&both->space, all.reached[i].index, &tiling);
        least = fmin(least, score_of(both, correcting, &tiling, worst));
    }
    search_result_clear(&all);
    return least;
}

static void expect_least(const int64_t size[3], bool worst, int *avoided)
{
    struct both both;
    struct error error;
    struct search_result result;
    struct robust robust;
    struct correcting correcting = made_up();
    open_both(size, &both);
    both.hw.fit.error = 0.15;
    const struct choice choice = {worst ? &both.corner : NULL, &correcting};
    const struct search_options options = {.strategy = "exhaustive", .threads = 2, .top = 1};
    cr_assert_eq(robust_search(&both.problem, &both.space, CORES, &choice, &options, &result,
                               &robust, &error),
                 STATUS_OK, "%s", error.text);
    const struct tiling *chosen = &result.best[0].tiling, *fastest = &robust.nominal_best.tiling;
    double score = score_of(&both, &correcting, chosen, worst);
    cr_expect_leq(score, least_score(&both, &correcting, worst) *
                             (1 + (worst ? ROBUST_RESOLUTION : 1e-12)));
    cr_expect_float_eq(robust.residual_factor, chosen->value[CANN_STEP_N] > 1 ? 10 : 2, 1e-4);
    cr_expect_eq(robust.worst_fs, worst ? time_of(&both.worst, chosen) : 0);
    cr_expect_eq(robust.corrected_ns, worst ? 0 : score);
    cr_expect_eq(robust.nominal_corrected_ns,
                 worst ? 0 : score_of(&both, &correcting, fastest, false));
    cr_expect(robust.nominal_optimal && robust.complete);
    *avoided += fastest->value[CANN_STEP_N] > 1 && chosen->value[CANN_STEP_N] == 1;
    search_result_clear(&result);
    correcting_close(&correcting);
    close_both(&both);
}

/* The least of all that lies within the error. */
Test(robust, by_what_was_learned_of_a_tiling)
{
    int avoided = 0;
    write_chip();
    for (int i = 0; i < 3; i++) {
        expect_least(sizes[i], false, &avoided);
        expect_least(sizes[i], true, &avoided);
    }
    cr_expect_eq(avoided, 4);
}

/* On a larger space steps find what is more even than anything that was fast, and threads change
 * nothing. */
Test(robust, steps_lead_to_more_even_tilings)
{
    struct search_options options = {.strategy = "bound", .threads = 1, .top = 1};
    struct problem problem = {.op = &matmul_operator, .type = DTYPE_F16, .size = {208, 96, 336, 1}};
    struct leaders leaders, others;
    struct hardware hw;
    struct space space;
    struct error error;
    int most = 0;
    double share = 0.3;
    cr_assert_eq(
        hardware_load_from(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", &none, &hw, &error),
        STATUS_OK);
    cr_assert_eq(space_open(&problem, &matmul_cann, &hw, hw.cores, &space, &error), STATUS_OK);
    cr_assert_eq(leaders_find(&space, NULL, &options, share, &leaders, &error), STATUS_OK, "%s",
                 error.text);
    options.threads = 3;
    cr_assert_eq(leaders_find(&space, NULL, &options, share, &others, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(leaders.count, others.count);
    double latest = (double)leaders.search.best[0].timeline.end_fs * (1 + share);
    for (int64_t i = 0; i < leaders.count; i++) {
        const struct leader *leader = &leaders.items[i];
        cr_assert_eq(memcmp(leader, &others.items[i], sizeof *leader), 0);
        cr_expect_leq((double)leader->time_fs, latest);
        cr_expect(cann_legal(&space, &leader->tiling));
        cr_expect(i == 0 || leader[-1].time_fs < leader->time_fs ||
                  (leader[-1].time_fs == leader->time_fs && leader[-1].index < leader->index));
        if (i % 40 == 0)
            cr_expect_eq(leader->time_fs, time_of(&space, &leader->tiling));
        int even = even_count(leader->even);
        most = even > most ? even : most;
    }
    cr_expect_gt(leaders.count, LEADERS_SEARCHED);
    cr_expect_null(leaders.search.reached);
    cr_expect_gt(most, even_count(cann_even(&space, &leaders.search.best[0].tiling)));
    leaders_clear(&leaders);
    leaders_clear(&others);
    space_close(&space);
    hardware_clear(&hw);
}

/* Without another chip there are leaders all the same; without a tiling there are none. */
Test(robust, leaders_of_one_chip)
{
    struct search_options options = {.strategy = "bound", .threads = 2, .top = 1};
    struct leaders leaders;
    struct both both;
    struct error error;
    write_chip();
    open_both(sizes[0], &both);
    cr_assert_eq(leaders_find(&both.space, NULL, &options, 0, &leaders, &error), STATUS_OK);
    cr_expect(leaders.complete && leaders.count > 0);
    for (int64_t i = 0; i < leaders.count; i++) {
        cr_expect_eq(leaders.items[i].time_fs, leaders.search.best[0].timeline.end_fs);
        cr_expect_eq(leaders.items[i].other_fs, 0);
    }
    leaders_clear(&leaders);
    both.hw.buffers[hardware_buffer(&both.hw, "l0c", 3)].capacity_bytes = 16;
    cr_assert_eq(leaders_find(&both.space, NULL, &options, 0.1, &leaders, &error), STATUS_OK);
    cr_expect(leaders.count == 0 && leaders.search.count == 0);
    leaders_clear(&leaders);
    close_both(&both);
}

static double number(const json_t *object, const char *name)
{
    cr_assert(json_is_number(json_object_get(object, name)), "%s", name);
    return json_number_value(json_object_get(object, name));
}

Test(robust, what_it_costs_and_what_is_left)
{
    struct both both;
    struct search_result result;
    struct robust robust;
    struct robust_over over;
    struct error error;
    struct tiling slow;
    write_chip();
    open_both(sizes[3], &both);
    choose(&both, 1, &result, &robust);
    const struct found *chosen = &result.best[0];
    slow = chosen->tiling;
    slow.value[CANN_SINGLE_M] = both.problem.size[MATMUL_M];
    slow.value[CANN_SINGLE_N] = both.problem.size[MATMUL_N];
    slow.value[CANN_CORES] = 1;
    slow.value[CANN_L1A_BUFFERS] = slow.value[CANN_L1B_BUFFERS] = 1;
    cr_assert_eq(robust_over(&both.space, &slow, chosen, &over, &error), STATUS_OK, "%s",
                 error.text);
    json_t *json = robust_json(&robust, &both.space, &both.corner, chosen, &over);
    const json_t *against = json_object_get(json, "over");
    double ratio = (double)time_of(&both.space, &slow) / (double)chosen->timeline.end_fs;
    cr_expect_gt(ratio, 1.1);
    cr_expect_float_eq(number(against, "claimed"), ratio - 1, 1e-9);
    cr_expect_float_eq(number(against, "shrunk"), pow(ratio, 0.78) - 1, 1e-9);
    cr_expect_float_eq(number(json, "cost"), number(json, "time_ns") / number(json, "best_ns") - 1,
                       1e-12);
    cr_expect_float_eq(number(json, "worst_ns"),
                       number(json, "worst_time_ns") * number(json, "residual_factor"), 1e-6);
    cr_expect_eq((int)number(json, "most_even"), CANN_EVENS);
    cr_expect_str_eq(json_string_value(json_object_get(json, "verdict")), "chosen");
    json_decref(json);
    search_result_clear(&result);
    close_both(&both);
}
