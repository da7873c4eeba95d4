/* The writers of what was measured: what is in quarantine or not known has no numbers, and nothing
 * that is printed is not finite. */
#include "core/host.h"
#include "results/tune.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"-", "one", "two, or more"};
static const struct axis axes[] = {{.name = "kind", .value_names = kinds, .name_count = 3},
                                   {.name = "tile", .unit = "elements"}};
static const char *const size_names[] = {"m"};

static double million(const struct problem *problem, const struct hardware *hw)
{
    (void)problem, (void)hw;
    return 1e6;
}

static double no_roofline(const struct space *space)
{
    (void)space;
    return 0;
}

static const struct operator op = {.name = "made-up",
                                   .size_count = 1,
                                   .shape_sizes = 1,
                                   .size_names = size_names,
                                   .operations = million};
static const struct operator_space kind = {.name = "host", .roofline_ns = no_roofline};

struct fixture {
    struct host host;
    struct hardware hw;
    struct problem problem;
    struct space space;
    struct found top[2];
    struct search_result search;
    struct host_candidate items[3];
    struct host_question question;
    struct host_answer measured;
    struct tune_answer answer;
};

static struct found found_of(int64_t named, int64_t tile, int64_t ns)
{
    return (struct found){.tiling = {{named, tile}},
                          .cores_used = 1,
                          .bound_fs = ns * FS_PER_NS,
                          .timeline = {.end_fs = ns * FS_PER_NS, .busy_fs = {ns * FS_PER_NS}}};
}

static void open_items(struct fixture *f)
{
    f->top[0] = found_of(1, 16, 1000);
    f->top[1] = found_of(2, 64, 1010);
    f->items[0] = (struct host_candidate){
        .model = found_of(2, 32, 1100),
        .rank = 7,
        .measured = {.timing = {.median_ns = 900, .spread = 0.0125, .samples = 31},
                     .max_error = 1e-7,
                     .allowed_error = 1e-6}};
    f->items[1] = (struct host_candidate){
        .model = f->top[0],
        .rank = 1,
        .measured = {.timing = {.median_ns = 1500, .spread = 0.02, .samples = 3, .fell_out = true},
                     .max_error = 2e-7,
                     .allowed_error = 1e-6}};
    f->items[2] =
        (struct host_candidate){.model = found_of(1, 32, 1200),
                                .rank = 9,
                                .measured = {.quarantine = "SIGSEGV while checking, \"at once\""}};
}

static void open_all(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->hw = (struct hardware){.name = "made up", .file = "/made/up.cfg", .cores = 1};
    f->hw.host = &f->host;
    f->hw.pipe_count = 1;
    strcpy(f->hw.pipes[0].name, "compute");
    f->problem = (struct problem){.op = &op, .size = {64}, .type = DTYPE_F32};
    f->space = (struct space){.kind = &kind, .hw = &f->hw, .axis_count = 2, .axes = axes};
    open_items(f);
    f->search = (struct search_result){.candidates = 4,
                                       .feasible = 4,
                                       .within_1_percent = {1, 1},
                                       .lower_bound_fs = 1000 * FS_PER_NS,
                                       .count = 1,
                                       .best = f->top};
    f->measured = (struct host_answer){.asked = 3, .seconds = 1};
    f->measured.tune = (struct host_tune){.count = 3,
                                          .items = f->items,
                                          .measured = 2,
                                          .quality = {.mean_error = 0.2,
                                                      .worst_error = 1.0 / 3,
                                                      .bias = 0.9,
                                                      .spearman = NAN,
                                                      .regret_first = 1500.0 / 900,
                                                      .regret_top = 1500.0 / 900},
                                          .noise = {.spread = 0.001}};
    f->answer = (struct tune_answer){.problem = &f->problem,
                                     .space = &f->space,
                                     .cores = 1,
                                     .threads = 1,
                                     .top = 1,
                                     .search = &f->search,
                                     .question = &f->question,
                                     .measured = &f->measured};
}

static char *written(tune_writer *writer, const struct tune_answer *answer)
{
    struct error error;
    char *text;
    size_t length;
    struct style style = text_style(false, TEXT_WIDTH);
    FILE *out = open_memstream(&text, &length);
    cr_assert_eq(writer(answer, &style, out, &error), STATUS_OK, "%s", error.text);
    fclose(out);
    cr_assert_null(strstr(text, "nan"));
    cr_assert_null(strstr(text, "inf"));
    return text;
}

static bool has_line(const char *text, const char *const words[])
{
    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        char copy[512];
        snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
        int found = 0;
        while (words[found] && strstr(copy, words[found]))
            found++;
        if (!words[found])
            return true;
    }
    return false;
}
#define expect_line(text, ...)                                                                     \
    cr_assert(has_line(text, (const char *const[]){__VA_ARGS__, NULL}), "%s", text)

Test(tune_measured, json)
{
    struct fixture f;
    open_all(&f);
    char *text = written(tune_write_json, &f.answer);
    json_t *json = json_loads(text, 0, NULL);
    json_t *measured = json_object_get(json, "measured"), *best = json_object_get(json, "best");
    json_t *validation = json_object_get(json, "validation");
    cr_assert_eq(json_array_size(measured), 3);
    cr_assert_eq(json_real_value(json_object_get(best, "measured_ns")), 900);
    cr_assert_eq(json_real_value(json_object_get(best, "time_ns")), 1100);
    cr_assert_float_eq(json_real_value(json_object_get(best, "measured_gflops")), 1e6 / 900, 1e-6);
    const json_t *good = json_array_get(measured, 0), *bad = json_array_get(measured, 2);
    cr_assert_eq(json_real_value(json_object_get(good, "time_ns")), 900);
    cr_assert_eq(json_real_value(json_object_get(good, "predicted_ns")), 1100);
    cr_assert_eq(json_integer_value(json_object_get(good, "rank")), 7);
    cr_assert(json_is_null(json_object_get(good, "quarantined")));
    cr_assert(json_is_true(json_object_get(json_array_get(measured, 1), "fell_out")));
    cr_assert(json_is_null(json_object_get(bad, "time_ns")));
    cr_assert(json_is_null(json_object_get(bad, "spread")));
    cr_assert(json_is_null(json_object_get(bad, "max_error")));
    cr_assert_str_eq(json_string_value(json_object_get(bad, "quarantined")),
                     f.items[2].measured.quarantine);
    cr_assert(json_is_null(json_object_get(validation, "spearman")));
    cr_assert_float_eq(json_real_value(json_object_get(validation, "regret_first")), 5.0 / 3, 1e-9);
    cr_assert_null(json_object_get(validation, "seed"));
    json_decref(json);
    free(text);
}

Test(tune_measured, json_of_a_sample_has_its_seed)
{
    struct fixture f;
    open_all(&f);
    f.question.is_sample = true;
    f.question.seed = 42;
    char *text = written(tune_write_json, &f.answer);
    json_t *json = json_loads(text, 0, NULL);
    cr_assert_eq(json_integer_value(json_object_get(json_object_get(json, "validation"), "seed")),
                 42);
    json_decref(json);
    free(text);
}

/* All in quarantine: there is no best, and the reasons are said. */
Test(tune_measured, none_runs)
{
    struct fixture f;
    open_all(&f);
    struct host_tune *tune = &f.measured.tune;
    tune->items = &f.items[2];
    tune->count = 1;
    tune->measured = 0;
    tune->quality.mean_error = tune->quality.regret_first = NAN;
    char *text = written(tune_write_json, &f.answer);
    json_t *json = json_loads(text, 0, NULL);
    cr_assert(json_is_null(json_object_get(json, "best")));
    cr_assert_eq(json_array_size(json_object_get(json, "top")), 1);
    json_decref(json);
    free(text);
    text = written(tune_write_table, &f.answer);
    expect_line(text, "none runs");
    expect_line(text, "quarantine", "SIGSEGV while checking");
    expect_line(text, "--set kind=one,tile=32");
    expect_line(text, "error unknown");
    free(text);
}

Test(tune_measured, table)
{
    struct fixture f;
    open_all(&f);
    char *text = written(tune_write_table, &f.answer);
    expect_line(text, "time", "900.0 ns", "measured", "spread 1.25 %", "the model says");
    expect_line(text, " 1.100 us, +22.2 %"); /* the same, wrapped */
    expect_line(text, "2 of 3 tilings");
    expect_line(text, "900.0 ns", "1.25 %", "1.100 us", "+22.2 %", "7", "1.0e-07 ", "32");
    expect_line(text, "1.500 us", "1.000 us", "-33.3 %", "2.0e-07*", "16");
    expect_line(text, "too slow to win");
    expect_line(text, "quarantine", "SIGSEGV");
    expect_line(text, "20.0 % on average, 33.3 % at worst", "correlation unknown");
    expect_line(text, "1.667 x of the best time");
    expect_line(text, "number 7 of the model");
    free(text);
}

/* What was measured first, then of the model's best those that were not. */
Test(tune_measured, csv)
{
    struct fixture f;
    open_all(&f);
    f.search.count = 2;
    char *text = written(tune_write_csv, &f.answer);
    int lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    cr_assert_eq(lines, 5, "%s", text);
    expect_line(text, "rank,", "measured_ns,spread,max_error,samples,model_rank,quarantined");
    expect_line(text, ",900,0.0125,1e-07,31,7,", "\"two, or more\"");
    expect_line(text, ",1500,0.02,2e-07,3,1,");
    expect_line(text, ",,,,,9,\"SIGSEGV while checking, \"\"at once\"\"\"");
    expect_line(text, "4,", "64,1,1010", ",,,,,,");
    free(text);
}

/* The model's proof is of its own first, not of what turned out to be faster. */
Test(tune_measured, only_the_models_first_is_proven)
{
    struct fixture f;
    open_all(&f);
    f.search.optimal = true;
    cr_expect_eq(tune_best(&f.answer), &f.items[0].model);
    cr_expect_not(tune_is_optimal(&f.answer));
    cr_expect_float_eq(tune_gap(&f.answer), 0.1 / 1.1, 1e-12);
    f.measured.tune.items = &f.items[1];
    cr_expect_eq(tune_best(&f.answer), &f.items[1].model);
    cr_expect(tune_is_optimal(&f.answer));
    f.measured.tune.items = &f.items[2];
    f.measured.tune.count = 1;
    f.measured.tune.measured = 0;
    cr_expect_null(tune_best(&f.answer));
    f.measured.tune.left_out = 2; /* whether they run is not known */
    cr_expect_eq(tune_best(&f.answer), &f.top[0]);
}

/* On a chip nothing of it is there. */
Test(tune_measured, chips_have_none)
{
    struct fixture f;
    open_all(&f);
    f.hw.host = NULL;
    f.answer.measured = NULL;
    char *text = written(tune_write_json, &f.answer);
    cr_assert_null(strstr(text, "measured"));
    cr_assert_null(strstr(text, "validation"));
    free(text);
    text = written(tune_write_csv, &f.answer);
    cr_assert_null(strstr(text, "measured"));
    free(text);
}
