/* Sweeps: what readers take and refuse, shards, running, and that answers survive the store. */
#include "jobs/sweep/sweep.h"
#include "jobs/sweep/sweep_merge.h"
#include "jobs/sweep/sweep_rows.h"
#include "jobs/tune/job_store.h"
#include "kernels/registry.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static gsl_rng *open_rng(unsigned long seed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    cr_assert(rng);
    gsl_rng_set(rng, seed);
    return rng;
}

static void init(void)
{
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
}

TestSuite(sweep, .init = init);

/* A file of the test's own; the name is static. */
static const char *write_file(const char *ending, const char *text)
{
    static char file[128];
    snprintf(file, sizeof file, "/tmp/autotune-sweep-%d%s", (int)getpid(), ending);
    FILE *out = fopen(file, "we");
    cr_assert(out);
    cr_assert((fputs(text, out) >= 0) & (fclose(out) == 0));
    return file;
}

static enum status read_text(const char *ending, const char *text, struct sweep *sweep,
                             struct error *error)
{
    struct sweep_source source = {.name = write_file(ending, text)};
    enum status status = sweep_read(&source, sweep, error);
    unlink(source.name);
    return status;
}

static void must_read(const char *ending, const char *text, struct sweep *sweep)
{
    struct error error = {0};
    cr_assert_eq(read_text(ending, text, sweep, &error), STATUS_OK, "%s", error.text);
}

/* ------------------------------------------------------------------ reading */

static const struct {
    const char *ending, *text, *expected;
    enum status status;
} refused[] = {
    {".csv", "", "empty, expected a header", STATUS_INVALID},
    {".csv", "op,shape\n", "no jobs", STATUS_INVALID},
    {".csv", "op,size\nmatmul,8x8x8\n", ":1: column 'size'", STATUS_INVALID},
    {".csv", "op,shape,op\n", ":1: column 'op' is there twice", STATUS_INVALID},
    {".csv", "op,top\nmatmul,1\n", "op,shape", STATUS_INVALID},
    {".csv", "op,shape\nmatmul,\"8x8x8\n", ":2: a quotation mark", STATUS_INVALID},
    {".cfg", "op = ", "libconfig syntax", STATUS_INVALID},
    {".cfg", "", "no jobs", STATUS_INVALID},
    {".cfg", "op = \"matmul\";\nshapes = ();", ":2: shapes: empty", STATUS_INVALID},
    {".cfg", "op = \"matmul\";\nshapes = [];", ":2: shapes: empty", STATUS_INVALID},
    {".cfg", "op = [];\nshapes = \"8x8x8\";", ":1: op: empty", STATUS_INVALID},
    {".cfg", "op = \"matmul\";\nshapes = [8, 16];", ":2: shapes.1: 8, expected a shape",
     STATUS_INVALID},
    {".cfg", "op = \"matmul\";\nshapes = { m = 8; k = 8; };", ":2: shapes: n is missing",
     STATUS_INVALID},
    {".cfg", "op = [\"matmul\", \"knn\"];\nshapes = { m = 8; k = 8; n = 8; };",
     "expected one operator", STATUS_INVALID},
    {".cfg", "shapes = { m = 8; k = 8; n = 8; };", "expected one operator", STATUS_INVALID},
    {".cfg", "op = \"matmul\"; colour = 3; shapes = \"8x8x8\";", "colour: expected an option",
     STATUS_INVALID},
    {".cfg", "op = \"matmul\";\nshapes = { m = { from = 4; to = 2; step = 1; }; k = 8; n = 8; };",
     "an empty range from 4 to 2", STATUS_INVALID},
    {".cfg", "op = \"matmul\";\nshapes = { m = { from = 4; to = 8; step = 0; }; k = 8; n = 8; };",
     "step: 0, expected a whole number from 1", STATUS_INVALID},
    {".cfg", "op = \"matmul\";\nshapes = { m = { from = 4; to = 8; factor = 1; }; k = 8; n = 8; };",
     "factor: 1, expected a whole number from 2", STATUS_INVALID},
    {".cfg", "op = \"matmul\";\nshapes = { m = { from = 4; to = 8; }; k = 8; n = 8; };",
     "expected a range", STATUS_INVALID},
    {".cfg",
     "op = \"matmul\";\nshapes = { m = { from = 4; to = 8; step = 1; by = 2; }; k = 8; n = 8; };",
     "expected a range", STATUS_INVALID},
    {".cfg", "op = \"matmul\";\nshapes = { m = { from = 4; to = 8; step = 1.5; }; k = 8; n = 8; };",
     "expected a whole number", STATUS_INVALID},
    {".cfg",
     "op = \"matmul\";\nshapes = { m = { from = 1; to = 1000; step = 1; };\n"
     "k = { from = 1; to = 1000; step = 1; }; n = { from = 1; to = 1000; step = 1; }; };",
     ":2: 1e+09 combinations", STATUS_TOO_LARGE},
    {".cfg",
     "op = \"matmul\"; shapes = { m = { from = 1; to = 9000000000000000000L; step = 1; }; "
     "k = 8; n = 8; };",
     "9e+18 combinations", STATUS_TOO_LARGE},
    {".cfg", "op = \"matmul\"; shapes = { m = 17179869184; k = 8; n = 8; };",
     "expected it with the suffix L", STATUS_INVALID},
    {".cfg", "op = \"matmul\"; shapes = \"\";", "1 to 511 characters", STATUS_INVALID},
    {".cfg", "op = \"matmul\"; shapes = ( ( \"8x8x8\" ) );", "expected a shape", STATUS_INVALID},
    {".cfg", "sets = \"no-such-set\";", "the name of a set", STATUS_INVALID},
    {".cfg", "sets = \"../hardware/ascend310\";", "the name of a set", STATUS_INVALID},
    {".cfg", "jobs = ( 3 );", "expected a group", STATUS_INVALID},
    {".cfg", "jobs = ();", "jobs: empty", STATUS_INVALID},
    {".cfg", "jobs = ( { jobs = ( { sets = \"bert-base\"; } ); } );", "only at the outermost",
     STATUS_INVALID},
    {".cfg", "title = 3; sets = \"bert-base\";", "expected a text", STATUS_INVALID},
    {".cfg", "sets = \"bert-base\"; hardware = { l1_kib = 0.0001; };", "whole bytes",
     STATUS_INVALID},
    {".cfg", "sets = \"bert-base\"; hardware = { l1_kib = \"many\"; };", "whole bytes",
     STATUS_INVALID},
    {".cfg", "sets = \"bert-base\"; hardware = { set = { key = \"a\"; }; };", "expected { key",
     STATUS_INVALID},
    {".cfg", "sets = \"bert-base\"; hardware = 3;", "a description's name", STATUS_INVALID},
};

Test(sweep, refuses_files_that_are_wrong)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct sweep sweep;
        struct error error = {0};
        enum status status = read_text(refused[i].ending, refused[i].text, &sweep, &error);
        cr_expect_eq(status, refused[i].status, "%zu: %s", i, error.text);
        cr_expect(strstr(error.text, refused[i].expected), "%zu: '%s' lacks '%s'", i, error.text,
                  refused[i].expected);
        cr_expect_eq(sweep.job_count, 0);
    }
}

/* One bad row does not stop the rest. */
static const struct {
    const char *row, *expected; /* NULL: it is a job */
} rows[] = {
    {"matmul,64x64x64,,,", NULL},
    {"matmul,0x64x64,,,", "--shape 0x64x64: expected MxKxN"},
    {"matmul,-1x64x64,,,", "--shape -1x64x64: expected MxKxN"},
    {"matmul,9223372036854775808x1x1,,,", "expected MxKxN"},
    {"matmul,4000000000x4000000000x4000000000,,,", "expected less than"},
    {"matmul,64x64,,,", "expected MxKxN"},
    {"matmul,64x64x64x64,,,", "expected MxKxN"},
    {"matmul,6 4x64x64,,,", "expected MxKxN"},
    {"conv,64x64x64,,,", "--op conv: expected one of"},
    {",64x64x64,,,", "--op is missing"},
    {"matmul,,,,", "--shape is missing"},
    {"matmul,64x64x64,0,,", "--top 0: expected a whole number"},
    {"matmul,64x64x64,1e3,,", "--top 1e3: expected a whole number"},
    {"matmul,64x64x64,,ascend999,", "ascend999"},
    {"matmul,64x64x64,,ascend910,40", "--cores 40: expected at most"},
    {"matmul,64x64x64,,ascend910,x", "--cores x: expected a whole number"},
    {"matmul,64x64x64,,", "4 fields, expected 5"},
    {"knn,64x64x64,,,", "--k is missing"},
    {"matmul,65x64x64,2,ascend910,4", NULL},
};

Test(sweep, names_bad_rows_by_their_line)
{
    enum { ROWS = sizeof rows / sizeof *rows };
    char text[4096] = "op,shape,top,hw,cores\n";
    struct sweep sweep;
    int64_t fault = 0, jobs = 0;
    for (int i = 0; i < ROWS; i++)
        strcat(strcat(text, rows[i].row), "\n");
    must_read(".csv", text, &sweep);
    for (int i = 0; i < ROWS; i++) {
        jobs += !rows[i].expected;
        if (!rows[i].expected)
            continue;
        cr_assert_lt(fault, sweep.fault_count);
        cr_expect_eq(sweep.faults[fault].line, i + 2);
        cr_expect(strstr(sweep.faults[fault].text, rows[i].expected), "line %d: %s", i + 2,
                  sweep.faults[fault].text);
        fault++;
    }
    cr_expect_eq(fault, sweep.fault_count);
    cr_expect_eq(jobs, sweep.job_count);
    sweep_clear(&sweep);
}

Test(sweep, multiplies_axes)
{
    struct sweep sweep;
    must_read(".cfg",
              "op = \"matmul\"; top = [1, 2];\n"
              "shapes = ( \"8x8x8\", { m = { from = 16; to = 64; factor = 2; }; k = [8, 24];\n"
              "  n = { from = 10; to = 21; step = 5; }; batch = 3; } );\n"
              "hardware = ( \"ascend910\", { l1_kib = [512, 1024]; cores = [1, 2];\n"
              "  set = ( { key = \"issue_ns\"; values = (20, 40.5); } ); } );",
              &sweep);
    cr_expect_eq(sweep.job_count, 2 * (1 + 3 * 2 * 3) * (1 + 2 * 2 * 2));
    cr_expect_eq(sweep.chip_count, 1 + 8);
    cr_expect_eq(sweep.fault_count, 0);
    for (int64_t i = 0; i < sweep.job_count; i++) {
        const struct sweep_job *job = &sweep.jobs[i];
        cr_expect(i == 0 || sweep.jobs[i - 1].cost <= job->cost);
        cr_expect(strcmp(job->key.shape, "8x8x8") == 0 ? !*job->key.options
                                                       : !strcmp(job->key.options, "batch=3"));
        cr_expect_str_eq(job->key.hardware, sweep.chips[job->chip].fingerprint);
    }
    sweep_clear(&sweep);
}

/* Changes of a chip are what --set-hw does, and the chip's own numbers are the chip. */
Test(sweep, changes_chips_as_set_hw_does)
{
    struct sweep config, table;
    must_read(".cfg",
              "op = \"matmul\"; shapes = \"64x64x64\"; hardware = { hw = \"ascend310\"; "
              "l1_kib = [512, 1024]; cores = [1, 2]; };",
              &config);
    must_read(".csv",
              "op,shape,set-hw,set-hw\n"
              "matmul,64x64x64,buffers.l1.capacity_bytes=524288,cores=1\n"
              "matmul,64x64x64,buffers.l1.capacity_bytes=524288,\n"
              "matmul,64x64x64,,cores=1\n"
              "matmul,64x64x64,,\n",
              &table);
    cr_assert_eq(config.job_count, 4);
    cr_assert_eq(table.job_count, 4);
    for (int i = 0; i < 4; i++) {
        bool found = false;
        for (int j = 0; j < 4; j++)
            found = found || store_compare(&config.jobs[i].key, &table.jobs[j].key) == 0;
        cr_expect(found);
    }
    cr_expect_float_eq(config.chips[0].buffer_bytes, 524288 + 65536 * 2 + 262144 + 253952, 0);
    sweep_clear(&config);
    sweep_clear(&table);
}

Test(sweep, leaves_duplicates_out)
{
    struct sweep sweep;
    must_read(".csv",
              "op,shape,strategy,time-limit,threads,batch\n"
              "matmul,64x64x64,,1,,\n"
              "MatMul,064x64x64,bound,,,1\n"
              "matmul,64x64x64,,2,2,\n"
              "matmul,64x64x64,exhaustive,,,\n"
              "matmul,64x64x64,,,,2\n",
              &sweep);
    cr_expect_eq(sweep.job_count, 3);
    cr_expect_eq(sweep.duplicates, 2);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(sweep.jobs[i].time_limit_s, 0, "the longest limit counts");
    sweep_clear(&sweep);
}

/* Whichever of two rows is kept for its longer limit. */
Test(sweep, calls_of_duplicates_add_up)
{
    struct sweep sweep;
    must_read(".csv",
              "op,shape,time-limit,count,baseline\n"
              "matmul,64x64x64,1,3,20\n"
              "matmul,64x64x64,9,4,\n"
              "matmul,64x64x64,2,,1.5\n"
              "matmul,32x32x32,,,\n"
              "matmul,32x32x32,,0,\n"
              "matmul,32x32x32,,1000000000001,\n"
              "matmul,32x32x32,,,0\n"
              "matmul,32x32x32,,,nan\n"
              "matmul,32x32x32,,,1e13\n",
              &sweep);
    cr_assert_eq(sweep.job_count, 2);
    cr_assert_eq(sweep.fault_count, 5);
    cr_expect_str_eq(sweep.faults[0].text,
                     "--count 0: expected a whole number from 1 to 1000000000000");
    cr_expect_str_eq(sweep.faults[2].text,
                     "--baseline 0: expected microseconds, more than 0 and at most 1e+12");
    cr_expect(sweep.has_calls);
    cr_expect_eq(sweep.jobs[0].calls, 1);
    cr_expect_eq(sweep.jobs[0].compared, 0);
    cr_expect_eq(sweep.jobs[1].time_limit_s, 9);
    cr_expect_eq(sweep.jobs[1].calls, 8);
    cr_expect_eq(sweep.jobs[1].compared, 4);
    cr_expect_float_eq(sweep.jobs[1].baseline_ns, 61500, 1e-6);
    sweep_clear(&sweep);
}

Test(sweep, inherits_from_the_outer_group)
{
    struct sweep sweep;
    must_read(".cfg",
              "op = \"matmul\"; batch = [2, 3];\n"
              "jobs = ( { shapes = \"8x8x8\"; }, { shapes = [\"9x9x9\"]; batch = 5; },\n"
              "{ op = \"knn\"; shapes = { m = 64; d = 32; n = 256; k = [4, 8]; }; batch = 1; } );",
              &sweep);
    cr_expect_eq(sweep.job_count, 3);
    cr_expect_eq(sweep.fault_count, 2, "knn has no batch: %s", sweep.faults[0].text);
    sweep_clear(&sweep);
}

Test(sweep, has_named_sets_without_a_bad_row)
{
    static const struct {
        const char *name;
        int64_t jobs;
    } sets[] = {
        {"bert-base", 18},           {"bert-large", 18},          {"llama-2-7b-prefill", 16},
        {"llama-2-7b-decode", 18},   {"llama-2-13b-prefill", 16}, {"llama-2-13b-decode", 18},
        {"llama-2-70b-prefill", 19}, {"llama-2-70b-decode", 21},  {"resnet-50", 21},
        {"deepbench", 83},           {"matmul-1000", 1000},       {"language-models-1000", 1000},
        {"ascend310-variants", 432}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        struct sweep_source source = {.name = sets[i].name};
        struct sweep sweep;
        struct error error;
        cr_assert_eq(sweep_read(&source, &sweep, &error), STATUS_OK, "%s", error.text);
        cr_expect_eq(sweep.job_count, sets[i].jobs, "%s: %lld", sets[i].name,
                     (long long)sweep.job_count);
        cr_expect_eq(sweep.fault_count, 0);
        cr_expect_eq(sweep.duplicates, 0, "%s", sets[i].name);
        sweep_clear(&sweep);
    }
}

/* ------------------------------------------------------------------ shards */

static void read_random(gsl_rng *rng, int count, struct sweep *sweep)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    fputs("op,shape\n", out);
    for (int i = 0; i < count; i++)
        fprintf(out, "matmul,%lux%lux%lu\n", 1 + gsl_rng_uniform_int(rng, 4000),
                1 + gsl_rng_uniform_int(rng, 4000), 1 + gsl_rng_uniform_int(rng, 4000));
    fclose(out);
    must_read(".csv", text, sweep);
    free(text);
}

static int64_t find_job(const struct sweep *sweep, const struct store_key *key)
{
    for (int64_t j = 0; j < sweep->job_count; j++)
        if (store_compare(&sweep->jobs[j].key, key) == 0)
            return j;
    return -1;
}

/* Rows count, whether they can be jobs or not; what is beyond the limit is not looked at. */
Test(sweep, refuses_a_table_of_too_many_rows_by_their_number)
{
    const char *texts[] = {
        "op,shape\nmatmul,8x8x8\nmatmul,8\nmatmul,9x8x8\n",
        "op,shape\nmatmul,8x8x8\nmatmul,8\n\nmatmul,9x8x8\nmatmul,9\n\"\n",
    };
    for (int t = 0; t < 2; t++) {
        struct sweep sweep;
        struct error error = {0};
        struct sweep_source source = {.name = write_file(".csv", texts[t]), .most_jobs = 3};
        enum status status = sweep_read(&source, &sweep, &error);
        unlink(source.name);
        cr_assert_eq(status, t == 0 ? STATUS_OK : STATUS_TOO_LARGE, "%s", error.text);
        if (t == 0) {
            cr_expect_eq(sweep.job_count, 2);
            cr_expect_eq(sweep.fault_count, 1);
            sweep_clear(&sweep);
        } else {
            cr_expect(strstr(error.text, ":6: expected at most 3 rows"), "%s", error.text);
        }
    }
}

Test(sweep, cuts_into_shards)
{
    gsl_rng *rng = open_rng(3);
    for (int round = 0; round < 12; round++) {
        unsigned long seed = gsl_rng_get(rng);
        int count = 1 + (int)gsl_rng_uniform_int(rng, 60);
        int shards = 1 + (int)gsl_rng_uniform_int(rng, 9);
        struct sweep whole;
        struct error error;
        gsl_rng_set(rng, seed);
        read_random(rng, count, &whole);
        int seen[64] = {0};
        int64_t most = 0, least = INT64_MAX, largest = whole.jobs[whole.job_count - 1].cost;
        for (int s = 1; s <= shards; s++) {
            struct sweep shard;
            int64_t cost = 0;
            gsl_rng_set(rng, seed);
            read_random(rng, count, &shard);
            cr_assert_eq(sweep_shard(&shard, s, shards, &error), STATUS_OK);
            for (int64_t j = 0; j < shard.job_count; j++) {
                int64_t at = find_job(&whole, &shard.jobs[j].key);
                cr_assert_geq(at, 0);
                seen[at]++;
                cost += shard.jobs[j].cost;
                cr_expect(j == 0 || shard.jobs[j - 1].cost <= shard.jobs[j].cost);
            }
            cr_expect_eq(cost, shard.total_cost);
            most = cost > most ? cost : most;
            least = cost < least ? cost : least;
            sweep_clear(&shard);
        }
        for (int64_t j = 0; j < whole.job_count; j++)
            cr_expect_eq(seen[j], 1);
        cr_expect_leq(most - least, largest);
        sweep_clear(&whole);
        gsl_rng_set(rng, seed + 1);
    }
    gsl_rng_free(rng);
}

/* Products that differ in their rows alone take searches that are alike: of ten such, in two parts,
 * neither part has all or nearly all. */
Test(sweep, cuts_jobs_that_are_alike_apart)
{
    struct sweep_source source = {.name = "matmul-1000"};
    struct sweep sweep;
    struct error error;
    static int shard_of[1000];
    cr_assert_eq(sweep_read(&source, &sweep, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(sweep.job_count, 1000);
    cr_assert_eq(sweep_shards(&sweep, 2, shard_of, &error), STATUS_OK);
    for (int64_t i = 0; i < sweep.job_count; i++) {
        const char *rest = strchr(sweep.jobs[i].key.shape, 'x');
        int alike = 0, of_first = 0;
        for (int64_t j = 0; j < sweep.job_count; j++) {
            bool same = strcmp(strchr(sweep.jobs[j].key.shape, 'x'), rest) == 0;
            alike += same;
            of_first += same && shard_of[j] == 0;
        }
        cr_expect_eq(alike, 10);
        cr_expect(of_first >= 3 && of_first <= 7, "%d of those with %s are in one part", of_first,
                  rest);
    }
    sweep_clear(&sweep);
}

Test(sweep, lines_between_powers_of_two_invert_each_other)
{
    for (int i = 0; i < 88; i++) {
        double x = pow(1.37, i);
        cr_expect_float_eq(exp2_by_lines(log2_by_lines(x)), x, 1e-9 * x);
        cr_expect_leq(fabs(log2_by_lines(x) - log2(x)), 0.0861);
    }
    cr_expect_eq(exp2_by_lines(-1), 0.5);
}

/* ------------------------------------------------------------------ answers as text, and back */

static void set(struct job *job, const char *name, const char *text)
{
    struct error error;
    cr_assert_eq(job_set(job, name, text, &error), STATUS_OK, "%s", error.text);
}

static void set_number(struct job *job, const char *name, unsigned long number)
{
    char text[32];
    snprintf(text, sizeof text, "%lu", number);
    set(job, name, text);
}

/* A k-NN whose distance stage is fastest on fewer cores than the selection. */
static void set_uneven(struct job *job)
{
    job_init(job);
    set(job, "op", "knn");
    set(job, "shape", "113x83x200");
    set(job, "k", "3");
    set(job, "hw", "ascend910");
}

/* Some job of any operator. */
static void draw_job(gsl_rng *rng, struct job *job)
{
    static const char *const chips[] = {"ascend310", "ascend910"};
    char shape[80];
    job_init(job);
    unsigned long a = 1 + gsl_rng_uniform_int(rng, 200), b = 1 + gsl_rng_uniform_int(rng, 100),
                  c = 16 + gsl_rng_uniform_int(rng, 300);
    snprintf(shape, sizeof shape, "%lux%lux%lu", a, b, c);
    unsigned long which = gsl_rng_uniform_int(rng, 4);
    if (which == 1 && !operator_find("cubefx"))
        which = 2;
    switch (which) {
    case 0:
        set(job, "op", "knn");
        set_number(job, "k", 1 + gsl_rng_uniform_int(rng, 8));
        break;
    case 1:
        set(job, "op", "cubefx");
        set_number(job, "order", 1 + gsl_rng_uniform_int(rng, 8));
        set_number(job, "functions", 1 + gsl_rng_uniform_int(rng, 8));
        snprintf(shape, sizeof shape, "%lu", 16 * c);
        break;
    default:
        set(job, "op", "matmul");
        set_number(job, "batch", 1 + gsl_rng_uniform_int(rng, 3));
    }
    set(job, "shape", shape);
    set(job, "hw", chips[gsl_rng_uniform_int(rng, 2)]);
    set_number(job, "top", 1 + gsl_rng_uniform_int(rng, 5));
}

static void expect_same_found(const struct job *job, const struct found *a, const struct found *b)
{
    cr_expect_eq(a->index, b->index);
    cr_expect_eq(a->cores_used, b->cores_used);
    cr_expect_eq(a->bound_fs, b->bound_fs);
    cr_expect_eq(a->part_count, b->part_count);
    cr_expect_eq(a->timeline.end_fs, b->timeline.end_fs);
    cr_expect_eq(a->timeline.blocked, b->timeline.blocked);
    cr_expect_arr_eq(a->tiling.value, b->tiling.value, sizeof a->tiling);
    cr_expect_arr_eq(a->bus_bytes, b->bus_bytes, sizeof *a->bus_bytes * job->hw->bus_count);
    cr_expect_arr_eq(a->timeline.busy_fs, b->timeline.busy_fs,
                     sizeof *a->timeline.busy_fs * job->hw->pipe_count);
    cr_expect_arr_eq(a->timeline.active_fs, b->timeline.active_fs,
                     sizeof *a->timeline.active_fs * job->hw->bus_count);
    cr_expect_arr_eq(a->part_fs, b->part_fs, sizeof *a->part_fs * a->part_count);
    cr_expect_arr_eq(a->part_weight, b->part_weight, sizeof *a->part_weight * a->part_count);
}

static void expect_same(const struct job *job, const struct search_result *a,
                        const struct search_result *b)
{
    cr_expect_eq(a->candidates, b->candidates);
    cr_expect_eq(a->feasible, b->feasible);
    cr_expect_eq(a->pruned, b->pruned);
    cr_expect_eq(a->simulated, b->simulated);
    cr_expect_eq(a->pruned_by[0], b->pruned_by[0]);
    cr_expect_eq(a->pruned_by[1], b->pruned_by[1]);
    cr_expect_eq(a->optimal, b->optimal);
    cr_expect_eq(a->lower_bound_fs, b->lower_bound_fs);
    cr_expect_eq(a->gap, b->gap);
    cr_expect_arr_eq(&a->within_1_percent, &b->within_1_percent, sizeof a->within_1_percent);
    cr_expect_arr_eq(&a->within_tolerance, &b->within_tolerance, sizeof a->within_tolerance);
    cr_assert_eq(a->count, b->count);
    for (int i = 0; i < a->count; i++)
        expect_same_found(job, &a->best[i], &b->best[i]);
}

Test(sweep, keeps_every_number_of_an_answer)
{
    gsl_rng *rng = open_rng(11);
    struct chips *chips;
    struct error error;
    cr_assert_eq(chips_open(NULL, &chips, &error), STATUS_OK);
    for (int round = 0; round < 40; round++) {
        struct job job;
        struct job_run how = {.threads = 1};
        struct job_result result, back;
        char *json, *again;
        if (round == 0)
            set_uneven(&job);
        else
            draw_job(rng, &job);
        if (job_open(&job, chips, &error) != STATUS_OK) {
            job_close(&job);
            continue;
        }
        cr_assert_eq(job_run(&job, &how, &result, &error), STATUS_OK, "%s", error.text);
        if (result.search.count) /* no number is too long */
            result.search.best[0].timeline.busy_fs[0] = INT64_MAX - round;
        cr_assert_eq(job_encode(&job, &result, &json, &error), STATUS_OK);
        cr_assert_eq(job_decode(&job, json, &back, &error), STATUS_OK, "%s\n%s", error.text, json);
        expect_same(&job, &result.search, &back.search);
        cr_assert_eq(job_encode(&job, &back, &again, &error), STATUS_OK);
        cr_expect_str_eq(json, again);
        free(json);
        free(again);
        job_result_clear(&result);
        job_result_clear(&back);
        job_close(&job);
    }
    chips_close(chips);
    gsl_rng_free(rng);
}

/* Whatever is changed in a text, it is refused or is an answer that can be printed. */
Test(sweep, reads_no_answer_that_is_damaged)
{
    gsl_rng *rng = open_rng(5);
    struct job job;
    struct job_run how = {.threads = 1};
    struct job_result result, back;
    struct error error;
    char *json;
    job_init(&job);
    set(&job, "op", "matmul");
    set(&job, "shape", "40x30x50");
    set(&job, "top", "2");
    cr_assert_eq(job_open(&job, NULL, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(job_run(&job, &how, &result, &error), STATUS_OK);
    cr_assert_eq(job_encode(&job, &result, &json, &error), STATUS_OK);
    size_t length = strlen(json);
    int refusals = 0;
    for (int round = 0; round < 3000; round++) {
        char *copy = strdup(json);
        for (int n = 1 + (int)gsl_rng_uniform_int(rng, 2); n > 0; n--)
            copy[gsl_rng_uniform_int(rng, length)] =
                "0919{}[],:-.\"e"[gsl_rng_uniform_int(rng, 14)];
        if (job_decode(&job, copy, &back, &error) != STATUS_OK) {
            refusals++;
        } else {
            for (int i = 0; i < back.search.count; i++) {
                struct tiling tiling;
                cr_expect_gt(back.search.best[i].timeline.end_fs, 0);
                space_tiling(&job.space, back.search.best[i].index, &tiling);
                for (int a = 0; a < job.space.axis_count; a++)
                    cr_expect_eq(tiling.value[a], back.search.best[i].tiling.value[a]);
            }
            job_result_clear(&back);
        }
        free(copy);
    }
    cr_expect_gt(refusals, 1000);
    static const char *const other[] = {"", "[]", "{}", "null", "{\"best\":[]}"};
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        cr_expect_eq(job_decode(&job, other[i], &back, &error), STATUS_INVALID);
    free(json);
    job_result_clear(&result);
    job_close(&job);
    gsl_rng_free(rng);
}

/* ------------------------------------------------------------------ running */

static const char *store_name(char name[64], const char *which)
{
    snprintf(name, 64, "/tmp/autotune-sweep-%d-%s.db", (int)getpid(), which);
    return name;
}

static void remove_store(const char *name)
{
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char file[300];
        snprintf(file, sizeof file, "%s%s", name, endings[i]);
        unlink(file);
    }
}

static enum status print_row(void *context, const struct store_row *row, struct error *error)
{
    (void)error;
    fprintf(context, "%s %s %s %s %s %s %s %d %s %s %.17g %d %.17g %s\n", row->key.op,
            row->key.shape, row->key.options, row->key.dtype, row->key.space, row->key.query,
            row->key.hardware, row->key.cores, row->hardware_name, row->tiling, row->time_ns,
            row->optimal, row->limit_s, row->answer);
    return STATUS_OK;
}

static char *content(const char *name)
{
    struct store *store;
    struct error error;
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert_eq(store_open(name, STORE_READ, &store, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(store_each(store, print_row, out, &error), STATUS_OK);
    store_close(store);
    fclose(out);
    return text;
}

static void run_sweep(const struct sweep *sweep, const char *name,
                      const struct sweep_options *options, struct sweep_counts *counts)
{
    struct store *store;
    struct error error;
    cr_assert_eq(store_open(name, STORE_WRITE, &store, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(sweep_run(sweep, store, options, counts, &error), STATUS_OK, "%s", error.text);
    store_close(store);
}

static const char small[] =
    "op = \"matmul\"; shapes = { m = [16, 48, 100]; k = [16, 70]; n = [33, 64]; };"
    "hardware = ( \"ascend310\", \"ascend910\" );";

Test(sweep, leaves_out_what_a_store_answers)
{
    char name[64];
    struct sweep whole, part;
    struct sweep_counts counts;
    struct sweep_options options = {.threads = 2};
    struct store *store;
    struct error error;
    int64_t dropped, cost = 0;
    must_read(".cfg", small, &part);
    cr_assert_eq(sweep_shard(&part, 2, 3, &error), STATUS_OK);
    run_sweep(&part, store_name(name, "part"), &options, &counts);
    must_read(".cfg", small, &whole);
    int64_t total = whole.job_count, total_cost = whole.total_cost;
    cr_assert_eq(store_open(name, STORE_READ, &store, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(sweep_drop_answered(&whole, store, &dropped, &error), STATUS_OK);
    store_close(store);
    unlink(name);
    cr_expect(dropped > 0 && dropped == part.job_count);
    cr_expect_eq(whole.job_count, total - dropped);
    cr_expect_eq(whole.total_cost, total_cost - part.total_cost);
    for (int64_t j = 0; j < whole.job_count; j++) {
        cr_expect_lt(find_job(&part, &whole.jobs[j].key), 0);
        cost += whole.jobs[j].cost;
    }
    cr_expect_eq(cost, whole.total_cost);
    sweep_counts_clear(&counts);
    sweep_clear(&part);
    sweep_clear(&whole);
}

Test(sweep, keeps_the_same_with_any_number_of_threads_and_shards)
{
    char names[4][64];
    struct sweep sweep;
    struct sweep_counts counts;
    struct merge_counts merged;
    struct error error;
    char *texts[3];
    must_read(".cfg", small, &sweep);
    for (int threads = 1; threads <= 2; threads++) {
        struct sweep_options options = {.threads = 3 * threads - 2};
        store_name(names[threads - 1], threads == 1 ? "one" : "four");
        run_sweep(&sweep, names[threads - 1], &options, &counts);
        cr_expect_eq(counts.searched, 24);
        cr_expect_eq(counts.from_store + counts.unfinished + counts.fault_count, 0);
        cr_expect(counts.search_s > 0 && counts.search_s <= options.threads * counts.seconds);
        cr_expect(counts.keep_s > 0 && counts.keep_s <= counts.seconds);
        texts[threads - 1] = content(names[threads - 1]);
        sweep_counts_clear(&counts);
    }
    sweep_clear(&sweep);
    const char *parts[2];
    for (int s = 0; s < 2; s++) {
        struct sweep_options options = {.threads = 1};
        must_read(".cfg", small, &sweep);
        cr_assert_eq(sweep_shard(&sweep, s + 1, 2, &error), STATUS_OK);
        parts[s] = store_name(names[2 + s], s ? "right" : "left");
        run_sweep(&sweep, parts[s], &options, &counts);
        sweep_counts_clear(&counts);
        sweep_clear(&sweep);
    }
    char all[64];
    store_name(all, "all");
    cr_assert_eq(merge_stores(all, parts, 2, &merged, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq(merged.added, 24);
    cr_expect_eq(merged.duplicates, 0);
    texts[2] = content(all);
    cr_expect_str_eq(texts[0], texts[1]);
    cr_expect_str_eq(texts[0], texts[2]);
    cr_assert_eq(merge_stores(all, parts, 2, &merged, &error), STATUS_OK);
    cr_expect_eq(merged.added, 0);
    cr_expect_eq(merged.duplicates, 24);
    cr_expect_eq(merge_stores(all, (const char *const[]){all}, 1, &merged, &error), STATUS_INVALID);
    for (int i = 0; i < 4; i++)
        remove_store(names[i]);
    remove_store(all);
    for (int i = 0; i < 3; i++)
        free(texts[i]);
}

struct stopper {
    volatile sig_atomic_t stop;
    int64_t after;
};

static void stop_after(void *context, const struct sweep_progress *progress)
{
    struct stopper *stopper = context;
    if (progress->done >= stopper->after)
        stopper->stop = 1;
}

Test(sweep, goes_on_where_it_ended)
{
    char name[64];
    struct sweep sweep;
    struct sweep_counts counts;
    struct stopper stopper = {.after = 0};
    struct sweep_options options = {
        .threads = 1, .stop = &stopper.stop, .progress = stop_after, .context = &stopper};
    must_read(".cfg", small, &sweep);
    store_name(name, "resume");
    stopper.stop = 1; /* before anything */
    run_sweep(&sweep, name, &options, &counts);
    cr_expect_eq(counts.searched, 0);
    cr_expect_eq(counts.unfinished, 24);
    sweep_counts_clear(&counts);
    int64_t before = 0;
    for (int round = 0; before < 24; round++) {
        cr_assert_lt(round, 40);
        stopper = (struct stopper){.after = before + 1};
        run_sweep(&sweep, name, &options, &counts);
        cr_expect_eq(counts.from_store, before);
        cr_expect_geq(counts.searched, 1);
        before += counts.searched;
        cr_expect_eq(counts.unfinished, 24 - before);
        sweep_counts_clear(&counts);
    }
    stopper = (struct stopper){.after = 1000};
    options.fresh = true;
    run_sweep(&sweep, name, &options, &counts);
    cr_expect_eq(counts.searched, 24);
    cr_expect_eq(counts.from_store, 0);
    sweep_counts_clear(&counts);
    sweep_clear(&sweep);
    remove_store(name);
}

Test(sweep, what_saves_most_comes_first)
{
    static const char *const shapes[] = {"32x32x32", "64x64x64", "16x16x16", "128x128x128"};
    char name[64];
    struct sweep sweep;
    struct sweep_counts counts;
    struct sweep_calls *calls;
    struct store *store;
    struct error error;
    int64_t count;
    const struct sweep_options options = {.threads = 1};
    must_read(".csv",
              "op,shape,count,baseline\n"
              "matmul,128x128x128,100,0.1\n"
              "matmul,16x16x16,,\n"
              "matmul,64x64x64,2,\n"
              "matmul,32x32x32,10,100\n",
              &sweep);
    store_name(name, "calls");
    run_sweep(&sweep, name, &options, &counts);
    cr_assert_eq(store_open(name, STORE_READ, &store, &error), STATUS_OK);
    cr_assert_eq(sweep_calls(&sweep, store, &calls, &count, &error), STATUS_OK);
    cr_assert_eq(count, 4);
    for (int i = 0; i < 4; i++) {
        const struct sweep_job *job = &sweep.jobs[calls[i].job];
        cr_expect_str_eq(job->key.shape, shapes[i]);
        cr_expect_float_eq(calls[i].total_ns, (double)job->calls * calls[i].time_ns, 1e-6);
    }
    cr_expect_float_eq(calls[0].saved_ns, 10 * (100e3 - calls[0].time_ns), 1e-6);
    cr_expect_eq(calls[1].saved_ns, 0);
    cr_expect_lt(calls[3].saved_ns, 0);
    free(calls);
    store_close(store);
    sweep_counts_clear(&counts);
    sweep_clear(&sweep);
    remove_store(name);
}

Test(sweep, goes_on_behind_jobs_that_fail)
{
    char name[64];
    struct sweep sweep;
    struct sweep_counts counts;
    struct sweep_options options = {.threads = 2};
    must_read(".csv",
              "op,shape,hw,strategy\n"
              "matmul,512x512x512,ascend910b1,exhaustive\n" /* too many tilings to list */
              "matmul,16x16x16,,\n",
              &sweep);
    store_name(name, "fault");
    run_sweep(&sweep, name, &options, &counts);
    cr_expect_eq(counts.searched, 1);
    cr_assert_eq(counts.fault_count, 1);
    cr_expect_eq(counts.faults[0].line, 2);
    cr_expect(strstr(counts.faults[0].text, "strategy exhaustive"));
    sweep_counts_clear(&counts);
    sweep_clear(&sweep);
    remove_store(name);
}

/* ------------------------------------------------------------------ what counts as an answer */

Test(sweep, cut_off_answers_are_done_again_with_more_time)
{
    static const struct {
        double limit_s, asked_s;
        bool optimal, answered;
    } cases[] = {{0, 0, true, true},   {0, 5, true, true},  {5, 0, false, false},
                 {5, 5, false, true},  {5, 4, false, true}, {5, 6, false, false},
                 {0, 4, false, false}, {0, 0, false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct store_row row = {.optimal = cases[i].optimal, .limit_s = cases[i].limit_s};
        cr_expect_eq(job_is_answered(&row, cases[i].asked_s), cases[i].answered, "%zu", i);
    }
    struct store_row proof = {.optimal = true, .time_ns = 5}, cut = {.limit_s = 2, .time_ns = 5},
                     longer = {.limit_s = 3, .time_ns = 9}, faster = {.limit_s = 2, .time_ns = 4};
    cr_expect(job_row_says_more(&proof, &cut) && !job_row_says_more(&cut, &proof));
    cr_expect(!job_row_says_more(&proof, &proof));
    cr_expect(job_row_says_more(&longer, &faster) && !job_row_says_more(&faster, &longer));
    cr_expect(job_row_says_more(&faster, &cut) && !job_row_says_more(&cut, &cut));
}

/* A row as a time limit leaves it; a sweep without one does the job again, a shorter one does not.
 */
Test(sweep, does_cut_off_jobs_again)
{
    static const struct {
        const char *limit;
        int searched;
    } cases[] = {{"", 1}, {"6", 1}, {"5", 0}, {"4", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[64], text[128];
        struct sweep sweep;
        struct sweep_counts counts;
        struct sweep_options options = {.threads = 1};
        struct store *store;
        struct error error;
        snprintf(text, sizeof text, "op,shape,time-limit\nmatmul,16x16x16,%s\n", cases[i].limit);
        must_read(".csv", text, &sweep);
        store_name(name, "cut");
        cr_assert_eq(store_open(name, STORE_WRITE, &store, &error), STATUS_OK);
        struct store_row row = {.key = sweep.jobs[0].key,
                                .hardware_name = "chip",
                                .tiling = "m_slice=16",
                                .time_ns = 1,
                                .limit_s = 5,
                                .answer = "{}"};
        cr_assert_eq(store_put(store, &row, &error), STATUS_OK, "%s", error.text);
        cr_assert_eq(store_commit(store, &error), STATUS_OK);
        store_close(store);
        run_sweep(&sweep, name, &options, &counts);
        cr_expect_eq(counts.searched, cases[i].searched, "limit '%s'", cases[i].limit);
        cr_expect_eq(counts.from_store, 1 - cases[i].searched);
        cr_expect_eq(counts.cut_off, 1 - cases[i].searched);
        sweep_counts_clear(&counts);
        sweep_clear(&sweep);
        remove_store(name);
    }
}

Test(sweep, keys_are_what_decides_an_answer)
{
    static const struct {
        const char *name, *text;
        bool other; /* another question than without it */
    } cases[] = {
        {"threads", "2", false},
        {"time-limit", "9", false},
        {"count", "48", false},
        {"baseline", "12.5", false},
        {"batch", "1", false},
        {"dtype", "F16", false},
        {"space", "thesis", false},
        {"cores", "2", false},
        {"top", "1", false},
        {"strategy", "bound", false},
        {"set-hw", "issue_ns=40", false},
        {"batch", "2", true},
        {"cores", "1", true},
        {"top", "2", true},
        {"strategy", "exhaustive", true},
        {"set-hw", "issue_ns=41", true},
        {"hw", "ascend310-l1-2m", true},
    };
    struct error error;
    struct job plain;
    struct job_key_texts texts;
    struct store_key key;
    job_init(&plain);
    set(&plain, "op", "matmul");
    set(&plain, "shape", "64x64x64");
    cr_assert_eq(job_open(&plain, NULL, &error), STATUS_OK, "%s", error.text);
    job_key(&plain, &texts, &key);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct job job;
        struct job_key_texts other_texts;
        struct store_key other;
        job_init(&job);
        set(&job, "op", "MATMUL");
        set(&job, "shape", "064x64x64");
        set(&job, cases[i].name, cases[i].text);
        cr_assert_eq(job_open(&job, NULL, &error), STATUS_OK, "%s", error.text);
        job_key(&job, &other_texts, &other);
        cr_expect_eq(store_compare(&key, &other) != 0, cases[i].other, "%s=%s", cases[i].name,
                     cases[i].text);
        job_close(&job);
    }
    job_close(&plain);
}
