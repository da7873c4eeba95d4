/* What a bank recorded against the best (jobs/evaluate/against.h). */
#include "formats/bank.h"
#include "jobs/evaluate/against.h"
#include "kernels/matmul/matmul_cann.h"
#include "tests/hardware_files.h"
#include "validate/shrink.h"

#include <math.h>

TestSuite(against, .init = enter, .fini = leave);

#define ROW(m, n, single_m, base_m, base_k, step, buffers)                                         \
    "{\"usedCoreNum\": 4, \"M\": " #m ", \"N\": " #n ", \"Ka\": 64, \"Kb\": 64,"                   \
    "\"singleCoreM\": " #single_m ", \"singleCoreN\": " #n ", \"singleCoreK\": 64,"                \
    "\"baseM\": " #base_m ", \"baseN\": 16, \"baseK\": " #base_k ", \"depthA1\": " #step           \
    ", \"depthB1\": " #step ", \"stepM\": 1, \"stepN\": 1, \"stepKa\": " #step                     \
    ", \"stepKb\": " #step ", \"dbL0A\": " #buffers ", \"dbL0B\": " #buffers ", \"dbL0C\": 1}"

static const char rows[] = "[" ROW(272, 32, 64, 16, 16, 1, 1) "," ROW(32, 32, 16, 16, 32, 2, 2) //
    "," ROW(272, 32, 16, 16, 16, 4, 2) "," ROW(272, 32, 32, 24, 64, 1, 1)                       //
    "," ROW(272, 32, 160, 16, 64, 1, 2) "]";
enum { ROWS = 5, SKIPPED = 3 };

struct scene {
    struct hardware hw;
    struct bank bank;
    struct prediction predictions[ROWS];
    struct duel duels[ROWS];
};

static void open_scene(struct scene *scene)
{
    struct error error;
    write_file("bank.json", rows);
    load_ok("ascend910b1", NULL, &scene->hw);
    scene->hw.cores = 4;
    cr_assert_eq(bank_load(in_folder("bank.json"), BANK_AUTO, false, &scene->bank, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(scene->bank.count, ROWS);
    cr_assert_eq(
        evaluate_rows(scene->bank.rows, ROWS, &scene->hw, 2, NULL, scene->predictions, &error),
        STATUS_OK);
}

static void close_scene(struct scene *scene)
{
    bank_clear(&scene->bank);
    hardware_clear(&scene->hw);
}

static void tune(struct scene *scene, int threads, const volatile sig_atomic_t *stop)
{
    struct error error;
    struct against_options how = {.threads = threads, .time_limit_s = 100, .stop = stop};
    cr_assert_eq(
        against_tune(&scene->bank, scene->predictions, &scene->hw, &how, scene->duels, &error),
        STATUS_OK, "%s", error.text);
}

Test(against, nothing_recorded_beats_what_is_proven)
{
    struct scene scene;
    struct duel before[ROWS];
    open_scene(&scene);
    tune(&scene, 1, NULL);
    int firsts = 0;
    for (int i = 0; i < ROWS; i++) {
        const struct duel *duel = &scene.duels[i];
        cr_expect_eq(duel->best_ns > 0, i != SKIPPED, "%d", i);
        if (i == SKIPPED)
            continue;
        firsts += duel->first;
        cr_expect(duel->proven, "%d", i);
        cr_expect_eq(duel->off_axis, i == 4 ? CANN_SINGLE_M : -1, "%d %d", i, duel->off_axis);
        cr_expect_leq(duel->best_ns, scene.predictions[i].predicted_ns, "%d", i);
    }
    cr_expect_eq(firsts, 2);
    cr_expect(scene.duels[0].first && scene.duels[1].first);
    cr_expect_eq(scene.duels[0].best_ns, scene.duels[2].best_ns);
    cr_expect_lt(scene.duels[1].best_ns, scene.duels[0].best_ns);
    memcpy(before, scene.duels, sizeof before);
    tune(&scene, 3, NULL);
    for (int i = 0; i < ROWS; i++) {
        cr_expect_eq(before[i].best_ns, scene.duels[i].best_ns);
        cr_expect_arr_eq(&before[i].best, &scene.duels[i].best, sizeof before[i].best);
    }
    close_scene(&scene);
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    cr_assert(json_is_number(value), "%s", key);
    return json_number_value(value);
}

static void expect_class(const json_t *class, const char *name, int rows, double mean)
{
    cr_expect_str_eq(json_string_value(json_object_get(class, "by")), "equal blocks on all cores");
    cr_expect_str_eq(json_string_value(json_object_get(class, "class")), name);
    cr_expect_eq(number(class, "rows"), rows);
    cr_expect_float_eq(number(class, "mean_gain_share"), mean, 1e-12);
}

/* Of 17 by 2 blocks on 4 cores there is no even grid; of 2 by 2 there is. */
Test(against, equal_blocks_on_all_cores)
{
    struct scene scene;
    open_scene(&scene);
    tune(&scene, 2, NULL);
    for (int i = 0; i < ROWS; i++)
        cr_expect_eq(scene.duels[i].even_grid, i == 1, "%d", i);
    close_scene(&scene);
}

Test(against, a_claimed_gain_shrinks)
{
    cr_expect_float_eq(shrunk_saving(0.25), 1 - exp(gain_slope.value * log(0.75)), 1e-15);
    cr_expect_float_eq(shrunk_saving(-0.5), 1 - exp(gain_slope.value * log(1.5)), 1e-15);
    cr_expect_eq(shrunk_saving(0), 0);
    cr_expect_float_eq(shrunk_saving(1e-9), gain_slope.value * 1e-9, 1e-16);
}

/* Of made-up results, so that every count is known. */
Test(against, counts_and_gains)
{
    struct scene scene;
    struct error error;
    json_t *answer;
    struct against_options how = {.threads = 1, .time_limit_s = 3};
    open_scene(&scene);
    tune(&scene, 1, NULL);
    scene.duels[0].best_ns = scene.predictions[0].predicted_ns * 0.5;
    scene.duels[1].best_ns = scene.predictions[1].predicted_ns;
    scene.duels[2].best_ns = scene.predictions[2].predicted_ns * 1.25;
    scene.duels[2].proven = false;
    scene.duels[4].best_ns = scene.predictions[4].predicted_ns * 1.5;
    scene.duels[4].off_axis = CANN_BASE_M;
    scene.duels[1].proven = false;
    cr_assert_eq(
        against_make(&scene.bank, scene.predictions, &scene.hw, scene.duels, &how, &answer, &error),
        STATUS_OK);
    const struct {
        const char *key;
        double value;
    } expected[] = {
        {"time_limit_s", 3},
        {"problems", 2},
        {"problems_cut_off", 1},
        {"rows_left_out", 0},
        {"recorded_outside_the_space", 1},
        {"worse_outside_the_space", 1},
        {"worse_cut_off", 1},
        {"rows", 4},
        {"better", 1},
        {"equal", 1},
        {"worse", 2},
        {"median_gain_share", -0.125},
        {"mean_gain_share", -0.0625},
        {"mean_shrunk_share", (2 - pow(0.5, gain_slope.value) - pow(1.25, gain_slope.value) + //
                               1 - pow(1.5, gain_slope.value)) /
                                  4},
        {"median_shrunk_share", (1 - pow(1.25, gain_slope.value)) / 2},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        cr_expect_float_eq(number(answer, expected[i].key), expected[i].value, 1e-12, "%s",
                           expected[i].key);
    const json_t *classes = json_object_get(answer, "classes");
    expect_class(json_array_get(classes, 0), "there are", 1, 0);
    expect_class(json_array_get(classes, 1), "there are none", 3, -0.25 / 3);
    const json_t *gains = json_object_get(answer, "largest_gains"),
                 *losses = json_object_get(answer, "losses");
    cr_assert_eq(json_array_size(gains), 1);
    cr_assert_eq(json_array_size(losses), 2);
    cr_expect_eq(number(json_array_get(gains, 0), "row"), 1);
    cr_expect_eq(number(json_array_get(losses, 0), "row"), 5);
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(losses, 0), "note")),
                     "the space has no base_m = 16");
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(losses, 1), "note")),
                     "the time limit struck");
    cr_expect_eq(json_array_size(json_object_get(answer, "each")), 4);
    json_decref(answer);
    close_scene(&scene);
}

Test(against, who_stops_gets_nothing_more)
{
    static volatile sig_atomic_t stop = 1;
    struct scene scene;
    open_scene(&scene);
    tune(&scene, 2, &stop);
    for (int i = 0; i < ROWS; i++)
        cr_expect_eq(scene.duels[i].best_ns, 0);
    close_scene(&scene);
}

/* A member of ours, beside the 50 fields. */
Test(against, a_measured_time_in_a_tcubetiling)
{
    static const char *const wrong[] = {"0", "-1", "1e13", "\"9\"", "null"};
    struct bank bank;
    struct error error;
    char text[1200];
    snprintf(text, sizeof text, "%.*s, \"measured_us\": 2.5}]", (int)(strchr(rows, '}') - rows),
             rows);
    write_file("one.json", text);
    cr_assert_eq(bank_load(in_folder("one.json"), BANK_AUTO, false, &bank, &error), STATUS_OK, "%s",
                 error.text);
    cr_expect_eq(bank.rows[0].measured_ns, 2500);
    bank_clear(&bank);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        snprintf(text, sizeof text, "%.*s, \"measured_us\": %s}]", (int)(strchr(rows, '}') - rows),
                 rows, wrong[i]);
        write_file("one.json", text);
        cr_expect_eq(bank_load(in_folder("one.json"), BANK_AUTO, false, &bank, &error),
                     STATUS_INVALID);
        cr_expect(strstr(error.text, "measured_us: expected"), "%s", error.text);
    }
}
