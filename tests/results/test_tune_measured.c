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
static const int64_t sizes[] = {64};

struct fixture {
    struct host host;
    struct hardware hw;
    struct tune_row top;
    struct tune_measured measured[3];
    struct tune_validation validation;
    struct tune_answer answer;
};

static struct tune_row row_of(int64_t kind, int64_t tile, double ns)
{
    struct tune_row row = {.tiling = {{kind, tile}},
                           .cores_used = 1,
                           .time_ns = ns,
                           .lower_bound_ns = ns,
                           .launches = 1,
                           .operations = 1e6};
    row.busy_ns[0] = ns;
    return row;
}

static void open_all(struct fixture *f)
{
    memset(f, 0, sizeof *f);
    f->hw = (struct hardware){.name = "made up", .file = "/made/up.cfg", .cores = 1};
    f->hw.host = &f->host;
    f->hw.pipe_count = 1;
    strcpy(f->hw.pipes[0].name, "compute");
    f->top = row_of(1, 16, 1000);
    f->measured[0] = (struct tune_measured){.row = row_of(2, 32, 1100),
                                            .rank = 7,
                                            .measured_ns = 900,
                                            .spread = 0.0125,
                                            .max_error = 1e-7,
                                            .allowed_error = 1e-6,
                                            .samples = 31};
    f->measured[1] = (struct tune_measured){.row = f->top,
                                            .rank = 1,
                                            .measured_ns = 1500,
                                            .spread = 0.02,
                                            .max_error = 2e-7,
                                            .allowed_error = 1e-6,
                                            .fell_out = true,
                                            .samples = 3};
    f->measured[2] = (struct tune_measured){.row = row_of(1, 32, 1200),
                                            .rank = 9,
                                            .max_error = NAN,
                                            .quarantined = "SIGSEGV while checking, \"at once\""};
    f->validation = (struct tune_validation){.asked = 3,
                                             .measured = 2,
                                             .mean_error = 0.2,
                                             .worst_error = 1.0 / 3,
                                             .bias = 0.9,
                                             .spearman = NAN,
                                             .regret_first = 1500.0 / 900,
                                             .regret_top3 = 1500.0 / 900,
                                             .noise = 0.001,
                                             .seconds = 1};
    f->answer = (struct tune_answer){.op = "made-up",
                                     .space = "host",
                                     .shape_text = "64",
                                     .size_count = 1,
                                     .size_names = size_names,
                                     .sizes = sizes,
                                     .type = DTYPE_F32,
                                     .hw = &f->hw,
                                     .cores = 1,
                                     .axes = axes,
                                     .axis_count = 2,
                                     .candidates = 4,
                                     .feasible = 4,
                                     .within_1_percent = 1,
                                     .within_1_percent_at_most = 1,
                                     .lower_bound_ns = 1000,
                                     .gap = 0.1 / 1.1,
                                     .threads = 1,
                                     .top = 1,
                                     .count = 1,
                                     .rows = &f->top,
                                     .best = &f->measured[0].row,
                                     .on_processor = true,
                                     .measured_count = 3,
                                     .measured = f->measured,
                                     .validation = &f->validation};
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
                     f.measured[2].quarantined);
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
    f.validation.is_sample = true;
    f.validation.seed = 42;
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
    f.answer.measured = &f.measured[2];
    f.answer.measured_count = 1;
    f.answer.best = NULL;
    f.validation.measured = 0;
    f.validation.mean_error = f.validation.regret_first = NAN;
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
    struct tune_row rows[2] = {f.top, row_of(2, 64, 1010)};
    f.answer.rows = rows;
    f.answer.count = 2;
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

/* On a chip nothing of it is there. */
Test(tune_measured, chips_have_none)
{
    struct fixture f;
    open_all(&f);
    f.answer.on_processor = false;
    f.answer.validation = NULL;
    f.answer.measured_count = 0;
    f.answer.best = &f.top;
    char *text = written(tune_write_json, &f.answer);
    cr_assert_null(strstr(text, "measured"));
    cr_assert_null(strstr(text, "validation"));
    free(text);
    text = written(tune_write_csv, &f.answer);
    cr_assert_null(strstr(text, "measured"));
    free(text);
}
