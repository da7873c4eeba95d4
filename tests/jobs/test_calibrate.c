/* Curves in, numbers out: what is read, what is rejected and where, and whether numbers come out
 * that went in, with noise, with outliers and with a knee. */
#include "formats/csv.h"
#include "formats/curves.h"
#include "jobs/calibrate/calibrate.h"
#include "tests/hardware_files.h"
#include "validate/linear_fit.h"
#include "validate/simplex.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

TestSuite(calibrate, .init = enter, .fini = leave);

#define HEADER "kind,name,chip,x,value,unit_x,unit_value\n"
#define GIB    1073741824.0

static bool is_close(double value, double expected, double relative)
{
    return fabs(value - expected) <= relative * fabs(expected);
}

/* ---- the CSV ---- */

static void read_csv(const char *text, size_t length, struct csv *csv)
{
    struct error error;
    write_bytes(in_folder("a.csv"), text, length);
    cr_assert_eq(csv_open(in_folder("a.csv"), csv, &error), STATUS_OK);
}

static void expect_record(struct csv *csv, int line, int count, const char *const *fields)
{
    struct error error = {0};
    bool found = false;
    cr_assert_eq(csv_next(csv, &found, &error), STATUS_OK, "%s", error.text);
    cr_assert(found);
    cr_expect_eq(csv->line, line);
    cr_assert_eq(csv->field_count, count, "%d fields", csv->field_count);
    for (int i = 0; i < count; i++)
        cr_expect_str_eq(csv->fields[i], fields[i]);
}

Test(calibrate, csv_records)
{
    static const char text[] = "\xef\xbb\xbf"
                               "a,b\r\n\n\"x,\"\"y\"\"\nz\",\r\n,\r\rc";
    struct csv csv;
    struct error error;
    bool found;
    read_csv(text, sizeof text - 1, &csv);
    expect_record(&csv, 1, 2, (const char *[]){"a", "b"});
    expect_record(&csv, 3, 2, (const char *[]){"x,\"y\"\nz", ""});
    expect_record(&csv, 5, 2, (const char *[]){"", "\r\rc"});
    cr_expect_eq(csv_next(&csv, &found, &error), STATUS_OK);
    cr_expect_not(found);
    csv_close(&csv);
}

static void expect_csv_error(const char *text, size_t length, const char *part)
{
    struct csv csv;
    struct error error = {0};
    bool found = true;
    enum status status = STATUS_OK;
    read_csv(text, length, &csv);
    while (status == STATUS_OK && found)
        status = csv_next(&csv, &found, &error);
    cr_expect_eq(status, STATUS_INVALID);
    cr_expect(strstr(error.text, part), "%s\nexpected %s", error.text, part);
    csv_close(&csv);
}

Test(calibrate, csv_errors)
{
    char *large = malloc(CSV_MAX_RECORD_BYTES + 16);
    cr_assert(large);
    expect_csv_error("a\n\"b\nc", 6, ":2: a quotation mark without its partner");
    expect_csv_error("a\n\"b\"c", 6, ":2: text behind a closing quotation mark");
    expect_csv_error("a\nb\"c", 5, ":2: a quotation mark within a field");
    expect_csv_error("a\nb\0c", 5, ":2: a zero byte");
    memset(large, 'x', CSV_MAX_RECORD_BYTES + 1);
    expect_csv_error(large, CSV_MAX_RECORD_BYTES + 1, ":1: a record of more than");
    memset(large, ',', CSV_MAX_FIELDS);
    expect_csv_error(large, CSV_MAX_FIELDS, ":1: more than 256 fields");
    memset(large, '\n', 100);
    memcpy(large + 100, "\"\n\n\n\"x", 6);
    expect_csv_error(large, 106, ":104: text behind");
    free(large);
}

/* ---- curves ---- */

static enum status read_text(const char *text, struct curves *curves, struct error *error)
{
    write_file("c.csv", text);
    return curves_read(in_folder("c.csv"), curves, error);
}

Test(calibrate, curves_points)
{
    struct curves curves;
    struct error error = {0};
    cr_assert_eq(read_text("x,value,kind,name,chip,more,unit_x,unit_value\n"
                           "2,3,mov,GM_TO_L1_c1,c1,?,KiB,GB/s(GiB)\n"
                           "0.5,1,mov,GM_TO_L1_c1,c1,?,KiB,GB/s(GiB)\n"
                           "16x32x48,8,mmad,MM_c1,c1,?,MxKxN,ops_per_cycle(bytes*MAC)\n"
                           "3,4,mov_repeat,GM_TO_L1_c1,c1,?,repeat,GB/s\n"
                           "1,1,vec,VADD_c1,c1,?,elements,other\n",
                           &curves, &error),
                 STATUS_OK, "%s", error.text);
    cr_expect_eq(curves.curve_count, 3);
    cr_expect_eq(curves.rejected, 0);
    const struct curve *move = curves_find(&curves, CURVE_MOVE, "gm_to_l1", "C1");
    cr_assert(move && move->point_count == 2);
    cr_expect_eq(move->points[0].size[0], 512);
    cr_expect_eq(move->points[0].line, 3);
    cr_expect_eq(move->points[1].size[0], 2048);
    cr_expect_eq(move->points[1].rate, 3 * GIB);
    const struct curve *repeat = curves_find(&curves, CURVE_REPEAT, "GM_TO_L1", "c1");
    cr_assert(repeat && repeat->point_count == 1);
    cr_expect_eq(repeat->points[0].size[0], 3);
    const struct curve *mmad = curves_find(&curves, CURVE_MMAD, "MM", "c1");
    cr_assert(mmad && mmad->points[0].size[1] == 32 && mmad->points[0].rate == 8);
    cr_expect_null(curves_find(&curves, CURVE_MOVE, "GM_TO_L1", "c2"));
    curves_clear(&curves);
}

Test(calibrate, curves_reject_nonsense_with_its_line)
{
    static const char *const bad[] = {
        "0,1,KiB,GB/s(GiB)",   "-1,1,KiB,GB/s(GiB)", "1,0,KiB,GB/s(GiB)",  "1,-2,KiB,GB/s(GiB)",
        "1,nan,KiB,GB/s(GiB)", "1,inf,KiB,GB/s",     "1,1e999,KiB,GB/s",   "1,,KiB,GB/s",
        ",1,KiB,GB/s",         "1,1,bytes,GB/s",     "1,1,KiB,bananas",    "0x10,1,KiB,GB/s",
        "1e30,1,KiB,GB/s",     "0.0001,1,KiB,GB/s",  "2,1 ,KiB,GB/s(GiB)", "2,9,KiB,GB/s(GiB)",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct curves curves;
        struct error error = {0};
        char text[512];
        snprintf(text, sizeof text,
                 HEADER "mov,A_TO_B_c,c,2,1,KiB,GB/s(GiB)\nmov,A_TO_B_c,c,%s\n"
                        "mov,A_TO_B_c,c,4,1,KiB,GB/s(GiB)\n",
                 bad[i]);
        cr_assert_eq(read_text(text, &curves, &error), STATUS_OK, "%s", error.text);
        cr_expect_eq(curves.rejected, 1, "%s", bad[i]);
        cr_expect_eq(curves.first_rejected_line, 3, "%s: %d", bad[i], curves.first_rejected_line);
        cr_expect_eq(curves.curves[0].point_count, 2, "%s", bad[i]);
        cr_expect_eq(curves.curves[0].points[0].rate, GIB);
        curves_clear(&curves);
    }
}

Test(calibrate, curves_errors)
{
    static const char *const wrong[][2] = {
        {"", ":1: empty, expected a header"},
        {"kind,name,chip,x,value,unit_x\n", ":1: no column unit_value"},
        {"kind,kind,name,chip,x,value,unit_x,unit_value\n", ":1: the column kind twice"},
        {HEADER, "no point of a kind"},
        {HEADER "vec,V_c,c,1,1,a,b\n", "no point of a kind"},
        {HEADER "mov,A_c,c,1,1,KiB\n", ":2: 6 fields, expected 7"},
        {HEADER "mov,A-B,c,1,1,KiB,GB/s\n", ":2: name: \"A-B\", expected"},
        {HEADER "mov,A,a chip,1,1,KiB,GB/s\n", ":2: chip: \"a chip\", expected"},
        {HEADER "mov,\x1b[31m,c,1,1,KiB,GB/s\n", ":2: name: \"?[31m\", expected"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct curves curves;
        struct error error = {0};
        cr_expect_eq(read_text(wrong[i][0], &curves, &error), STATUS_INVALID, "%zu", i);
        cr_expect(strstr(error.text, wrong[i][1]), "%s\nexpected %s", error.text, wrong[i][1]);
        cr_expect_null(curves.curves);
    }
    struct curves curves;
    struct error error;
    cr_expect_eq(curves_read("/nonexistent/c.csv", &curves, &error), STATUS_IO);
}

/* As many curves as there may be, and one more. */
Test(calibrate, many_curves)
{
    enum { HEADER_SIZE = 64, LINE_SIZE = 40 };
    struct curves curves;
    struct error error = {0};
    char *text = malloc(HEADER_SIZE + LINE_SIZE * (CURVES_MAX_COUNT + 1));
    cr_assert(text);
    size_t length = (size_t)sprintf(text, HEADER);
    for (int i = 0; i < CURVES_MAX_COUNT; i++)
        length += (size_t)sprintf(text + length, "mov,A%d_c,c,1,1,KiB,GB/s(GiB)\n", i);
    cr_assert_eq(read_text(text, &curves, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq(curves.curve_count, CURVES_MAX_COUNT);
    curves_clear(&curves);
    sprintf(text + length, "mov,B_c,c,1,1,KiB,GB/s(GiB)\n");
    cr_expect_eq(read_text(text, &curves, &error), STATUS_TOO_LARGE);
    cr_expect(strstr(error.text, ":1026: more than 1024 curves"), "%s", error.text);
    free(text);
}

/* ---- the fits ---- */

Test(calibrate, linear_fit_with_noise_and_outliers)
{
    enum { POINTS = 60 };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    double terms[2 * POINTS], times[POINTS];
    struct linear_fit fit;
    struct error error = {0};
    for (int i = 0; i < POINTS; i++) {
        terms[2 * i] = 1;
        terms[2 * i + 1] = 1024.0 * (i + 1);
        times[i] = (120 + terms[2 * i + 1] / 200) * (1 + 0.01 * gsl_ran_gaussian(random, 1));
        if (i % 10 == 0)
            times[i] *= 3;
    }
    cr_assert_eq(linear_fit(terms, times, POINTS, 2, &fit, &error), STATUS_OK, "%s", error.text);
    cr_expect(is_close(fit.cost[0], 120, 0.02), "%g", fit.cost[0]);
    cr_expect(is_close(fit.cost[1], 1.0 / 200, 0.01), "%g", fit.cost[1]);
    cr_expect(fabs(fit.cost[0] - 120) < 4 * fit.error[0], "%g", fit.error[0]);
    cr_expect(fit.error[0] > 0.1 && fit.error[0] < 3, "%g", fit.error[0]);
    cr_expect_geq(fit.outlier_count, 6);
    cr_expect_leq(fit.outlier_count, 10);
    cr_expect(is_close(fit.max_error, 0.667, 0.03), "%g", fit.max_error);
    cr_expect(fit.median_error > 0.003 && fit.median_error < 0.012, "%g", fit.median_error);
    gsl_rng_free(random);
}

Test(calibrate, linear_fit_of_costs_that_are_none)
{
    double terms[20], times[10];
    struct linear_fit fit;
    struct error error = {0};
    for (int i = 0; i < 10; i++) {
        terms[2 * i] = 1;
        terms[2 * i + 1] = i + 1;
        times[i] = 2.0 * (i + 1) - 1;
    }
    cr_assert_eq(linear_fit(terms, times, 10, 2, &fit, &error), STATUS_OK, "%s", error.text);
    cr_expect(fit.cost[0] == 0 && fit.error[0] == 0, "%g", fit.cost[0]);
    cr_expect(fit.cost[1] > 1 && fit.cost[1] < 2, "%g", fit.cost[1]);
    cr_expect_eq(linear_fit(terms, times, 2, 2, &fit, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "2 points, expected more than 2"), "%s", error.text);
}

static bool bowl(void *context, const double at[], double *value)
{
    int *calls = context;
    *value = fabs(at[0] - 3) + 10 * fabs(at[1] + 2) + 1;
    return --*calls > 0;
}

Test(calibrate, simplex_finds_the_bottom_and_stops)
{
    const double steps[] = {0.5, -0.5};
    int calls = 100000;
    struct simplex simplex = {bowl, &calls, 2, steps, 1e-6, 1e-6, 20, 500};
    double at[2] = {0, 0}, value;
    enum simplex_end end;
    struct error error;
    cr_assert_eq(simplex_minimise(&simplex, at, &value, &end, &error), STATUS_OK);
    cr_expect(is_close(at[0], 3, 1e-3) && is_close(at[1], -2, 1e-3), "%g %g", at[0], at[1]);
    cr_expect(is_close(value, 1, 1e-3));
    cr_expect_eq(end, SIMPLEX_CONVERGED);
    calls = 30;
    at[0] = at[1] = 0;
    cr_assert_eq(simplex_minimise(&simplex, at, &value, &end, &error), STATUS_OK);
    cr_expect_eq(end, SIMPLEX_STOPPED);
    cr_expect(value < 24 && is_close(fabs(at[0] - 3) + 10 * fabs(at[1] + 2) + 1, value, 1e-12));
}

/* ---- from curves to a description ---- */

/* One curve as a function of size: fixed + each · moves + bytes / bandwidth, or a floor. */
struct made {
    const char *kind, *name;
    double fixed_ns, each_ns, gbps, floor_ns;
    int points;
};

static void put_curve(FILE *file, const struct made *made, gsl_rng *random)
{
    bool repeated = strcmp(made->kind, "mov_repeat") == 0;
    for (int x = 1; x <= made->points; x++) {
        double bytes = 1024.0 * x, moves = repeated ? x : 1;
        double ns = made->fixed_ns + made->each_ns * moves + bytes / made->gbps;
        ns = fmax(ns, made->floor_ns) * (1 + 0.003 * gsl_ran_gaussian(random, 1));
        fprintf(file, "%s,%s_c7,c7,%d,%.9g,%s,%s\n", made->kind, made->name, x,
                bytes / ns * 1e9 / GIB, repeated ? "repeat" : "KiB",
                repeated ? "GB/s" : "GB/s(GiB)");
    }
}

static void put_mmad(FILE *file, double issue_cycles, gsl_rng *random)
{
    for (int n = 16; n <= 1024; n += 16) {
        double cycles = issue_cycles + 2 * ceil(n / 16.0);
        cycles *= 1 + 0.002 * gsl_ran_gaussian(random, 1);
        fprintf(file,
                "mmad,MMAD_FP16_FP16_FP32_1_core_c7,c7,32x16x%d,%.9g,MxKxN,"
                "ops_per_cycle(bytes*MAC)\n",
                n, 32.0 * 16 * n * 2 / cycles);
    }
}

static void write_curves(const char *name)
{
    static const struct made all[] = {
        {"mov", "GM_TO_L1", 100, 0, 300, 0, 200},        {"mov", "L1_TO_L0A", 3, 2, 450, 0, 64},
        {"mov_repeat", "L1_TO_L0A", 3, 2, 450, 0, 64},   {"mov", "UB_TO_GM", 12, 0, 110, 300, 150},
        {"mov", "NOBODY_TO_NOWHERE", 12, 0, 110, 0, 20},
    };
    gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
    FILE *file = fopen(in_folder(name), "w");
    cr_assert(file);
    fputs(HEADER, file);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        put_curve(file, &all[i], random);
    put_mmad(file, 2.5, random);
    fputs("mov,GM_TO_L1_c7,c7,1,-3,KiB,GB/s(GiB)\n", file);
    fclose(file);
    gsl_rng_free(random);
}

static double number(const struct calibration *calibration, const char *key)
{
    double value = NAN;
    cr_assert(description_get(&calibration->description, key, &value), "%s", key);
    return value;
}

static void expect_number(const struct calibration *calibration, const char *key, double expected,
                          double relative)
{
    double value = number(calibration, key);
    cr_expect(is_close(value, expected, relative), "%s: %g, expected %g", key, value, expected);
}

Test(calibrate, what_went_into_curves_comes_out)
{
    struct calibration calibration;
    struct error error = {0};
    write_curves("made.csv");
    cr_assert_eq(calibration_open(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", NULL, "c7",
                                  &calibration, &error),
                 STATUS_OK, "%s", error.text);
    double issue_ns = number(&calibration, "issue_ns"), clock = 1.85;
    cr_assert_eq(calibrate_curves(&calibration, in_folder("made.csv"), &error), STATUS_OK, "%s",
                 error.text);
    expect_number(&calibration, "paths.gm->l1.latency_ns", 100 - issue_ns, 0.01);
    expect_number(&calibration, "paths.gm->l1.bandwidth_gbps", 300, 0.01);
    expect_number(&calibration, "paths.l1->l0a.issue_ns", 2, 0.01);
    expect_number(&calibration, "paths.l1->l0a.latency_ns", 3, 0.01);
    expect_number(&calibration, "paths.l1->l0a.bandwidth_gbps", 450, 0.01);
    expect_number(&calibration, "paths.ub->gm.bandwidth_gbps", 110, 0.01);
    expect_number(&calibration, "paths.ub->gm.latency_ns", 12 - issue_ns, 0.15);
    expect_number(&calibration, "matrix.f16.issue_ns", 2.5 / clock, 0.01);
    expect_number(&calibration, "matrix.f16.latency_ns", 0, 0);
    expect_number(&calibration, "matrix.f16.gflops", 8192 * clock, 0.01);
    cr_expect_eq(calibration.rejected_points, 1);
    cr_expect_eq(calibration.curves_without_path, 1);
    for (int i = 0; i < calibration.parameter_count; i++) {
        const struct parameter *p = &calibration.parameters[i];
        cr_expect(p->median_error < 0.005, "%s: %g", p->key, p->median_error);
        cr_expect(p->error <= 0.05 * p->value + 0.1, "%s: %g", p->key, p->error);
    }
    calibration_close(&calibration);
}

Test(calibrate, what_is_written_loads_with_sources_and_spreads)
{
    struct calibration calibration;
    struct hardware hw;
    struct error error = {0};
    char *text;
    write_curves("made.csv");
    cr_assert_eq(calibration_open(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", NULL, "c7",
                                  &calibration, &error),
                 STATUS_OK);
    cr_assert_eq(calibrate_curves(&calibration, in_folder("made.csv"), &error), STATUS_OK);
    cr_assert_eq(calibration_text(&calibration, &text, &error), STATUS_OK, "%s", error.text);
    write_file("made.cfg", text);
    load_ok(in_folder("made.cfg"), NULL, &hw);
    int path = hardware_path(&hw, hardware_buffer(&hw, "gm", 2), hardware_buffer(&hw, "l1", 2));
    const struct price *price = &hw.prices[hw.paths[path].price];
    cr_expect(is_close((double)price->latency_fs, (100 - 1.135) * FS_PER_NS, 0.01));
    cr_expect_eq(hw.fit.spread_count, calibration.parameter_count - 1); /* one is 0 */
    cr_expect(hw.fit.spreads[0].relative_error > 0 && hw.fit.spreads[0].relative_error < 0.01);
    bool found = false;
    for (size_t i = 0; i < hw.fact_count; i++)
        if (strcmp(hw.facts[i].key, "paths.gm->l1.latency_ns") == 0) {
            found = true;
            cr_expect(strstr(hw.facts[i].source,
                             "measured on c7: fitted to 200 points of made.csv's "
                             "GM_TO_L1, median error 0."),
                      "%s", hw.facts[i].source);
        }
    cr_expect(found);
    /* The bus still carries as much as any path on it, and no less than before in all. */
    cr_expect_geq(hw.buses[0].total_bytes_per_s[0], 300000000000);
    cr_expect_eq(hw.buses[0].total_bytes_per_s[hw.buses[0].sharers - 1], 5000000000000);
    hardware_clear(&hw);
    free(text);
    calibration_close(&calibration);
}

Test(calibrate, curves_that_do_not_apply)
{
    struct calibration calibration;
    struct error error = {0};
    write_curves("made.csv");
    cr_assert_eq(calibration_open(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", NULL, NULL,
                                  &calibration, &error),
                 STATUS_OK);
    cr_expect_str_eq(calibration.chip, "910b1");
    cr_expect_eq(calibrate_curves(&calibration, in_folder("made.csv"), &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "made.csv:2: no curve of chip 910b1, expected one of c7"), "%s",
              error.text);
    calibration_close(&calibration);
    write_file("few.csv", HEADER "mov,GM_TO_L1_910b1,910b1,1,9,KiB,GB/s(GiB)\n"
                                 "mov,A_TO_B_910b1,910b1,1,9,KiB,GB/s(GiB)\n");
    cr_assert_eq(calibration_open(NULL, SOURCE_DIR "/tests/support/split-chip.cfg", NULL, NULL,
                                  &calibration, &error),
                 STATUS_OK);
    cr_expect_eq(calibrate_curves(&calibration, in_folder("few.csv"), &error), STATUS_OK, "%s",
                 error.text);
    cr_expect_eq(calibration.parameter_count, 0);
    cr_expect(strstr(calibration.curves[0].note, "not used: 1 points, expected more than 2"), "%s",
              calibration.curves[0].note);
    calibration_close(&calibration);
}

/* ---- whole kernels ---- */

enum { ROWS = 32 };

/* Rows whose times are what the simulator says of a description with other numbers. */
static size_t made_rows(struct bank_row rows[], size_t capacity, const char *chip,
                        const char *const *truth, size_t truth_count)
{
    struct hardware hw;
    struct error error = {0};
    struct hardware_overrides overrides = {truth, truth_count};
    static struct prediction predictions[128];
    size_t count = 0;
    cr_assert_eq(hardware_load(chip, &overrides, &hw, &error), STATUS_OK, "%s", error.text);
    for (int m = 1; m <= 8 && count < capacity; m++)
        for (int k = 1; k <= 8 && count < capacity; k++) {
            struct bank_row *row = &rows[count++];
            *row = (struct bank_row){.format = BANK_TCUBETILING,
                                     .record = (int)count,
                                     .m = 128 * m,
                                     .k = 256 * k,
                                     .n = 256,
                                     .batch = 1,
                                     .batch_type = -1,
                                     .type = DTYPE_F16,
                                     .out_type = DTYPE_F16};
            const int32_t fields[] = {
                1 + m % 2, 128 * m, 256, 256 * k, 256 * k, m % 2 ? 64 * m : 128 * m,
                256,       256 * k, 64,  128,     64,      2,
                2,         1,       1};
            row->number[BANK_USED_CORES] = m % 2 ? 2 : 1;
            memcpy(row->number + 1, fields + 1, sizeof fields - sizeof *fields);
            row->number[BANK_STEP_KA] = row->number[BANK_STEP_KB] = 1;
            row->number[BANK_DB_L0A] = row->number[BANK_DB_L0B] = 2;
            row->number[BANK_DB_L0C] = 1;
            row->number[BANK_BATCH_COUNT] = 1;
        }
    cr_assert_eq(evaluate_rows(rows, count, &hw, 2, NULL, predictions, &error), STATUS_OK);
    for (size_t i = 0; i < count; i++) {
        cr_assert(predictions[i].predicted_ns > 0, "%zu: %s", i, predictions[i].reason);
        rows[i].measured_ns = predictions[i].predicted_ns;
    }
    hardware_clear(&hw);
    return count;
}

static void fit_ok(const struct bank_row rows[], size_t count, const char *chip, const char *keys,
                   int threads, struct calibration *calibration)
{
    struct error error = {0};
    struct kernel_options options = {
        .keys = keys, .from = "made rows", .held_out = 0.5, .rounds = 8, .threads = threads};
    cr_assert_eq(calibration_open(NULL, chip, NULL, NULL, calibration, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(calibrate_kernels(calibration, rows, count, &options, &error), STATUS_OK, "%s",
                 error.text);
}

Test(calibrate, what_kernels_were_made_with_comes_out)
{
    static struct bank_row rows[ROWS];
    static const char *const truth[] = {"launch_ns=900", "paths.gm->l1.bandwidth_gbps=120"};
    static const char keys[] = "launch_ns,paths.gm->l1.bandwidth_gbps";
    struct calibration one, two;
    size_t count = made_rows(rows, ROWS, SOURCE_DIR "/tests/support/split-chip-2.cfg", truth, 2);
    fit_ok(rows, count, SOURCE_DIR "/tests/support/split-chip-2.cfg", keys, 1, &one);
    expect_number(&one, "launch_ns", 900, 0.01);
    expect_number(&one, "paths.gm->l1.bandwidth_gbps", 120, 0.01);
    cr_expect(one.held_out.before.mean_log > 0.1, "%g", one.held_out.before.mean_log);
    cr_expect(one.held_out.after.mean_log < 0.005, "%g", one.held_out.after.mean_log);
    cr_expect_eq(one.held_out.after.used + one.fitted_half.after.used, (int64_t)count);
    cr_expect(one.held_out.after.used > ROWS / 4 && one.fitted_half.after.used > ROWS / 4);
    fit_ok(rows, count, SOURCE_DIR "/tests/support/split-chip-2.cfg", keys, 2, &two);
    char *first, *second;
    struct error error;
    cr_assert_eq(calibration_text(&one, &first, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(calibration_text(&two, &second, &error), STATUS_OK);
    cr_expect_str_eq(first, second);
    cr_expect(one.hw.fit.error > 0 && one.hw.fit.error < 0.005, "%g", one.hw.fit.error);
    free(first);
    free(second);
    calibration_close(&one);
    calibration_close(&two);
}

#define BURSTS                                                                                     \
    "bursts = ( { align_bytes = 32; up_to_bytes = [256]; ns = [2.0, 3.0]; }, "                     \
    "{ align_bytes = 128; up_to_bytes = [256]; ns = [2.0, 3.0]; } );"
#define BEHIND(to, pipe, bursts)                                                                   \
    "    { path = \"hbm->" to "\"; pipe = \"" pipe "\"; bandwidth_gbps = 50.0; " bursts            \
    " source = \"assumed\"; },\n"

/* A chip with a cache that holds all, and the same table for what hits it and what does not. */
static void write_strided_chip(void)
{
    static const char *const changes[][2] = {
        {"{ name = \"gm\"; external = true; },",
         "{ name = \"gm\"; external = true; }, { name = \"hbm\"; external = true; },"},
        {"path = \"gm->l1\";", "path = \"gm->l1\"; " BURSTS},
        {"paths = (\n",
         "cache = { buffer = \"gm\"; behind = \"hbm\"; all_hit_bytes = 1000000000;\n"
         "    all_miss_bytes = 2000000000; source = \"assumed\"; };\npaths = (\n" BEHIND(
             "l1", "MTE2", BURSTS) BEHIND("l0a", "MTE2", "") BEHIND("l0b", "MTE2", "")
             BEHIND("ub", "VMTE2", "")},
    };
    char *text = read_file(SOURCE_DIR "/tests/support/split-chip-2.cfg");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *changed = replaced(text, changes[i][0], changes[i][1]);
        free(text);
        text = changed;
    }
    write_file("strided.cfg", text);
    free(text);
}

/* The clock that a campaign ran at, to which all that stands in cycles follows. */
Test(calibrate, the_clock_comes_out)
{
    static struct bank_row rows[ROWS];
    static const char *const truth[] = {"clock_mhz=1650", "launch_ns=900"};
    struct calibration calibration;
    struct error error;
    double gflops, l0a, stays;
    size_t count = made_rows(rows, ROWS / 2, "ascend910b2", truth, 2);
    fit_ok(rows, count, "ascend910b2", "clock_mhz,launch_ns", 2, &calibration);
    expect_number(&calibration, "clock_mhz", 1650, 0.005);
    expect_number(&calibration, "launch_ns", 900, 0.01);
    const struct description *fitted = &calibration.description;
    cr_assert(description_get(fitted, "matrix.i8.gflops", &gflops));
    cr_assert(description_get(fitted, "paths.l1->l0a.bandwidth_gbps", &l0a));
    cr_assert(description_get(fitted, "paths.gm->l1.bandwidth_gbps", &stays));
    struct hardware base;
    cr_assert_eq(hardware_load("ascend910b2", NULL, &base, &error), STATUS_OK);
    double factor = (double)calibration.hw.clock_hz / (double)base.clock_hz;
    for (size_t i = 0; i < base.fact_count; i++) {
        double was = strtod(base.facts[i].value, NULL);
        if (strcmp(base.facts[i].key, "matrix.i8.gflops") == 0)
            cr_expect_float_eq(gflops / was, factor, 1e-9);
        if (strcmp(base.facts[i].key, "paths.l1->l0a.bandwidth_gbps") == 0)
            cr_expect_float_eq(l0a / was, factor, 1e-9);
        if (strcmp(base.facts[i].key, "paths.gm->l1.bandwidth_gbps") == 0)
            cr_expect_eq(stays, was);
    }
    hardware_clear(&base);
    calibration_close(&calibration);
}

/* Rows of A and B are pieces of 128 and 256 bytes that begin at multiples of that: one time of the
 * table. */
Test(calibrate, tables_of_bursts)
{
    static struct bank_row rows[ROWS];
    static const char *const truth[] = {"paths.gm->l1.bursts.128.ns.1=12"};
    struct calibration calibration;
    double value = 0;
    write_strided_chip();
    size_t count = made_rows(rows, ROWS, in_folder("strided.cfg"), truth, 1);
    fit_ok(rows, count, in_folder("strided.cfg"), "paths.gm->l1.bursts", 2, &calibration);
    expect_number(&calibration, "paths.gm->l1.bursts.128.ns.1", 12, 0.01);
    cr_expect_eq(calibration.parameter_count, 1);
    cr_expect(description_get(&calibration.description, "paths.hbm->l1.bursts.128.ns.1", &value));
    cr_expect(is_close(value, 12, 0.01), "%g", value);
    const char *others[] = {"paths.gm->l1.bursts.128.ns.2", "paths.hbm->l1.bursts.128.ns.2"};
    for (int i = 0; i < 2; i++) {
        config_setting_t *number = tree_find(&calibration.description.tree, others[i]);
        cr_expect(description_get(&calibration.description, others[i], &value) && value == 3);
        cr_expect_null(strstr(tree_source(number), "trial"), "%s", tree_source(number));
    }
    calibration_close(&calibration);
}

Test(calibrate, kernels_that_cannot_be_fitted)
{
    static struct bank_row rows[64];
    struct calibration calibration;
    struct error error = {0};
    struct kernel_options options = {
        .keys = "launch_ns,nope", .from = "x", .held_out = 0.5, .rounds = 1, .threads = 1};
    cr_assert_eq(calibration_open(NULL, SOURCE_DIR "/tests/support/split-chip-2.cfg", NULL, NULL,
                                  &calibration, &error),
                 STATUS_OK);
    cr_expect_eq(calibrate_kernels(&calibration, rows, 0, &options, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "--fit: \"nope\" is no number"), "%s", error.text);
    options.keys = "launch_ns";
    cr_expect_eq(calibrate_kernels(&calibration, rows, 0, &options, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "0 kernels that can be played"), "%s", error.text);
    calibration_close(&calibration);
}
