/* Which tilings of a processor are measured, and what the measurements say: with a meter that makes
 * times up, so that nothing here depends on a clock. */
#include "jobs/tune/host_job.h"
#include "tests/support/made_up.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

struct fixture {
    struct made_up made;
    struct search_result result;
};

static void open_all(struct fixture *f)
{
    struct error error;
    struct search_options options = {
        .strategy = "bound", .threads = 1, .top = 1, .keep_scores = true};
    made_up_open(&f->made);
    cr_assert_eq(search(&f->made.space, &options, &f->result, &error), STATUS_OK);
}

static void close_all(struct fixture *f)
{
    search_result_clear(&f->result);
    made_up_close(&f->made);
}

static struct tiling tiling_at(const struct fixture *f, int64_t position)
{
    struct tiling tiling;
    space_tiling(&f->made.space, f->result.scores[position].index, &tiling);
    return tiling;
}

static void expect_ascending(const int64_t *positions, int count)
{
    for (int i = 1; i < count; i++)
        cr_assert_lt(positions[i - 1], positions[i]);
}

/* The model's first three are always among those picked, each once. */
Test(host_tune, picks_begin_with_the_models_first)
{
    struct fixture f;
    int64_t positions[600];
    open_all(&f);
    for (int count = 1; count <= 600; count += count < 12 ? 1 : 97) {
        int picked = host_tune_pick(&f.made.space, &f.result, count, 0, positions);
        cr_assert_eq(picked, count < f.result.score_count ? count : f.result.score_count);
        expect_ascending(positions, picked);
        for (int first = 0; first < 3 && first < picked; first++)
            cr_assert_eq(positions[first], first);
    }
    close_all(&f);
}

/* Every pair of names that the model does not find hopeless is among the picks, before neighbours
 * of the model's first are. */
Test(host_tune, picks_are_no_near_duplicates)
{
    struct fixture f;
    int64_t positions[5];
    bool there[MADE_UP_KINDS + 1][3] = {{false}};
    open_all(&f);
    int picked = host_tune_pick(&f.made.space, &f.result, 5, 0, positions), pairs = 0;
    for (int i = 0; i < picked; i++) {
        struct tiling tiling = tiling_at(&f, positions[i]);
        there[tiling.value[0]][tiling.value[3]] = true;
    }
    bool seen[MADE_UP_KINDS + 1][3] = {{false}};
    for (int64_t p = 0; 2 * f.result.scores[p].time_fs <= 3 * f.result.scores[0].time_fs; p++) {
        struct tiling tiling = tiling_at(&f, p);
        pairs += !seen[tiling.value[0]][tiling.value[3]];
        seen[tiling.value[0]][tiling.value[3]] = true;
        cr_assert(there[tiling.value[0]][tiling.value[3]], "kind %d, store %d",
                  (int)tiling.value[0], (int)tiling.value[3]);
    }
    cr_assert_eq(pairs, 4);
    cr_assert_gt(positions[picked - 1], 4, "a space whose first five are no answer");
    close_all(&f);
}

/* What cannot be measured in time is left away from the end, but never the first three. */
Test(host_tune, a_budget_keeps_the_first)
{
    struct fixture f;
    int64_t positions[50];
    open_all(&f);
    cr_assert_eq(host_tune_pick(&f.made.space, &f.result, 50, 1e-12, positions), 3);
    cr_assert_eq(host_tune_pick(&f.made.space, &f.result, 50, 1e9, positions), 50);
    double seconds = 0;
    for (int i = 0; i < 10; i++)
        seconds += 7e-15 * (double)f.result.scores[i].time_fs;
    int some = host_tune_pick(&f.made.space, &f.result, 50, seconds, positions);
    cr_assert_gt(some, 3);
    cr_assert_leq(some, 10);
    close_all(&f);
}

Test(host_tune, samples_depend_on_the_seed_alone)
{
    struct fixture f;
    struct error error;
    int64_t a[40], b[40], c[40];
    int count_a, count_b, count_c;
    open_all(&f);
    cr_assert_eq(host_tune_sample(&f.result, 30, 7, a, &count_a, &error), STATUS_OK);
    cr_assert_eq(host_tune_sample(&f.result, 30, 7, b, &count_b, &error), STATUS_OK);
    cr_assert_eq(host_tune_sample(&f.result, 30, 8, c, &count_c, &error), STATUS_OK);
    cr_assert_eq(count_a, 33);
    cr_assert_eq(count_b, 33);
    cr_assert_eq(count_c, 33);
    expect_ascending(a, 33);
    expect_ascending(c, 33);
    cr_assert_arr_eq(a, b, sizeof a[0] * 33);
    cr_assert_arr_neq(a, c, sizeof a[0] * 33);
    for (int i = 0; i < 3; i++)
        cr_assert_eq(c[i], i);
    cr_assert_lt(c[32], f.result.score_count);
    close_all(&f);
}

/* Over many seeds every tiling is drawn about as often as any other: 2000 draws of 30 out of n are
 * binomial, and six standard deviations are no accident. */
Test(host_tune, samples_are_uniform)
{
    struct fixture f;
    struct error error;
    int64_t positions[40];
    static int drawn[2000];
    int count;
    open_all(&f);
    int n = (int)f.result.score_count - 3;
    cr_assert_lt(n, 2000);
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        cr_assert_eq(host_tune_sample(&f.result, 30, seed, positions, &count, &error), STATUS_OK);
        for (int i = 3; i < count; i++)
            drawn[positions[i] - 3]++;
    }
    double mean = 2000.0 * 30 / n, deviation = sqrt(mean * (1 - 30.0 / n));
    for (int i = 0; i < n; i++)
        cr_assert_lt(fabs(drawn[i] - mean), 6 * deviation, "%d drawn %d times, expected %g", i,
                     drawn[i], mean);
    close_all(&f);
}

/* Of four every pair is drawn as often as any other. */
Test(host_tune, samples_have_every_set)
{
    struct fixture f;
    struct error error;
    int64_t positions[5];
    int drawn[8][8] = {{0}}, count;
    open_all(&f);
    f.result.score_count = 7;
    for (uint64_t seed = 1; seed <= 6000; seed++) {
        cr_assert_eq(host_tune_sample(&f.result, 2, seed, positions, &count, &error), STATUS_OK);
        cr_assert_eq(count, 5);
        drawn[positions[3]][positions[4]]++;
    }
    for (int a = 3; a < 7; a++)
        for (int b = a + 1; b < 7; b++)
            cr_assert(drawn[a][b] > 800 && drawn[a][b] < 1200, "%d and %d: %d times of 1000", a, b,
                      drawn[a][b]);
    close_all(&f);
}

/* More than there are: all, once. */
Test(host_tune, samples_of_small_spaces_are_everything)
{
    struct fixture f;
    struct error error;
    static int64_t positions[5003];
    int count;
    open_all(&f);
    cr_assert_eq(host_tune_sample(&f.result, 5000, 1, positions, &count, &error), STATUS_OK);
    cr_assert_eq(count, f.result.score_count);
    for (int i = 0; i < count; i++)
        cr_assert_eq(positions[i], i);
    f.result.score_count = 2;
    cr_assert_eq(host_tune_sample(&f.result, 5, 1, positions, &count, &error), STATUS_OK);
    cr_assert_eq(count, 2);
    cr_assert_eq(host_tune_pick(&f.made.space, &f.result, 5, 0, positions), 2);
    close_all(&f);
}

/* ---- measuring ---- */

static enum status quiet(struct timing_noise *noise, struct error *error)
{
    (void)error;
    *noise = (struct timing_noise){0.002, 0.01};
    return STATUS_OK;
}

/* Slower by 10 % than predicted but for the fifth, which is the fastest by far; the second computes
 * wrongly, the last was never reached. */
static enum status made_up_times(const struct host_runner *runner, const struct space *space,
                                 const struct tiling *tilings, const double *predicted_ns,
                                 int count, const struct measure_options *options,
                                 struct measured *results, struct error *error)
{
    (void)runner;
    (void)space;
    (void)tilings;
    (void)options;
    (void)error;
    for (int i = 0; i < count; i++) {
        results[i] = (struct measured){.allowed_error = 1e-6, .max_error = 1e-7};
        results[i].timing.median_ns = (i == 4 ? 0.5 : 1.1) * predicted_ns[i];
        results[i].timing.samples = 31;
    }
    results[1].timing.median_ns = 0;
    strcpy(results[1].quarantine, "wrong results");
    results[count - 1].timing.median_ns = 0;
    results[count - 1].left_out = true;
    strcpy(results[count - 1].quarantine, "interrupted");
    return STATUS_OK;
}

static enum status impossible(const struct host_runner *runner, const struct space *space,
                              const struct tiling *tilings, const double *predicted_ns, int count,
                              const struct measure_options *options, struct measured *results,
                              struct error *error)
{
    (void)runner;
    (void)space;
    (void)tilings;
    (void)predicted_ns;
    (void)count;
    (void)options;
    (void)results;
    return error_set(error, STATUS_INVALID, "no memory for the inputs");
}

static enum status measure_with(struct fixture *f, const struct host_meter *meter,
                                struct host_tune *tune, struct error *error)
{
    static const int64_t positions[] = {0, 1, 2, 3, 9, 20, 30};
    struct measure_options options = {0};
    return host_tune_measure(&f->made.space, &f->result, positions, 7, meter, NULL, &options, tune,
                             error);
}

Test(host_tune, the_winner_is_measured)
{
    struct fixture f;
    struct host_tune tune;
    struct error error;
    const struct host_meter meter = {made_up_times, quiet};
    open_all(&f);
    cr_assert_eq(measure_with(&f, &meter, &tune, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(tune.count, 6);
    cr_assert_eq(tune.measured, 5);
    cr_assert_eq(tune.left_out, 1);
    cr_assert_eq(tune.items[0].rank, 10);
    cr_assert_eq(tune.items[0].model.index, f.result.scores[9].index);
    cr_assert_eq(tune.items[0].model.timeline.end_fs, f.result.scores[9].time_fs);
    for (int i = 1; i < tune.measured; i++)
        cr_assert_leq(tune.items[i - 1].measured.timing.median_ns,
                      tune.items[i].measured.timing.median_ns);
    cr_assert_eq(tune.items[5].rank, 2);
    cr_assert_str_eq(tune.items[5].measured.quarantine, "wrong results");
    cr_assert_eq(tune.quality.count, 5);
    cr_assert_float_eq(tune.quality.mean_error, (4 * (1 - 1 / 1.1) + 1.0) / 5, 1e-9);
    double fastest = 0.5 * found_ns(&tune.items[0].model);
    double first = 1.1 * (double)f.result.scores[0].time_fs / FS_PER_NS;
    cr_assert_float_eq(tune.quality.regret_first, fmax(first / fastest, 1), 1e-9);
    cr_assert_float_eq(tune.noise.spread, 0.002, 1e-12);
    host_tune_clear(&tune);
    close_all(&f);
}

static enum status equal_times(const struct host_runner *runner, const struct space *space,
                               const struct tiling *tilings, const double *predicted_ns, int count,
                               const struct measure_options *options, struct measured *results,
                               struct error *error)
{
    enum status status =
        made_up_times(runner, space, tilings, predicted_ns, count, options, results, error);
    for (int i = 0; i < count; i++)
        results[i] = (struct measured){.timing = {.median_ns = 5}};
    return status;
}

Test(host_tune, equal_times_keep_the_models_order)
{
    struct fixture f;
    struct host_tune tune;
    struct error error;
    const struct host_meter meter = {equal_times, quiet};
    open_all(&f);
    cr_assert_eq(measure_with(&f, &meter, &tune, &error), STATUS_OK);
    for (int i = 1; i < tune.count; i++)
        cr_assert_lt(tune.items[i - 1].rank, tune.items[i].rank);
    cr_assert_eq(tune.count, 7);
    host_tune_clear(&tune);
    close_all(&f);
}

Test(host_tune, nothing_runs_at_all)
{
    struct fixture f;
    struct host_tune tune;
    struct error error;
    const struct host_meter meter = {impossible, quiet};
    open_all(&f);
    cr_assert_eq(measure_with(&f, &meter, &tune, &error), STATUS_INVALID);
    cr_assert_str_eq(error.text, "no memory for the inputs");
    cr_assert_null(tune.items);
    cr_assert_eq(tune.count, 0);
    close_all(&f);
}
