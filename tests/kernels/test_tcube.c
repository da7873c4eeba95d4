/* Rules of TCubeTiling against their definition, and the reader of the tables that hold them. */
#include "formats/bank.h"
#include "hardware/load.h"
#include "kernels/tcube.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct hardware hw;
static gsl_rng *rng;

static void open_chip(void)
{
    struct error error;
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    cr_assert_eq(hardware_load("ascend910b1", NULL, &hw, &error), STATUS_OK, "%s", error.text);
    rng = gsl_rng_alloc(gsl_rng_taus);
}

static void close_chip(void)
{
    hardware_clear(&hw);
    gsl_rng_free(rng);
}

TestSuite(tcube, .init = open_chip, .fini = close_chip);

/* The vendor's choice for 8192 x 8192 x 8192 on 24 cores. */
static const struct tcube good = {
    .field = {[TCUBE_USED_CORES] = 24,
              [TCUBE_SINGLE_M] = 1024,
              [TCUBE_SINGLE_N] = 2731,
              [TCUBE_SINGLE_K] = 8192,
              [TCUBE_BASE_M] = 128,
              [TCUBE_BASE_N] = 256,
              [TCUBE_BASE_K] = 64,
              [TCUBE_DEPTH_A1] = 16,
              [TCUBE_DEPTH_B1] = 4,
              [TCUBE_STEP_M] = 1,
              [TCUBE_STEP_N] = 1,
              [TCUBE_STEP_KA] = 8,
              [TCUBE_STEP_KB] = 2,
              [TCUBE_DB_L0A] = 2,
              [TCUBE_DB_L0B] = 2,
              [TCUBE_DB_L0C] = 1},
    .type = DTYPE_F16,
};

static int judge(const struct tcube *tiling, struct tcube_breach breaches[TCUBE_MAX_BREACHES])
{
    struct error error;
    int count;
    cr_assert_eq(tcube_check(&hw, tiling, breaches, &count, &error), STATUS_OK);
    return count;
}

static bool has(const struct tcube_breach *breaches, int count, const char *rule, bool warning)
{
    for (int i = 0; i < count; i++)
        if (strcmp(breaches[i].rule, rule) == 0)
            return breaches[i].warning == warning;
    return false;
}

Test(tcube, a_shipped_tiling_is_legal)
{
    struct tcube_breach breaches[TCUBE_MAX_BREACHES];
    cr_expect_eq(judge(&good, breaches), 0);
}

/* One change to a legal tiling and the one rule that it breaks. */
Test(tcube, each_rule_is_named)
{
    static const struct {
        enum tcube_field field;
        int32_t value;
        const char *rule;
        bool warning;
    } cases[] = {
        {TCUBE_USED_CORES, 25, "cores", false},    {TCUBE_DB_L0A, 8, "l0a", false},
        {TCUBE_DB_L0B, 4, "l0b", false},           {TCUBE_DB_L0C, 2, "l0c", false},
        {TCUBE_BASE_M, 120, "base_m", false},      {TCUBE_BASE_N, 250, "base_n", false},
        {TCUBE_BASE_K, 40, "base_k", false},       {TCUBE_DEPTH_A1, 12, "depth_a1", false},
        {TCUBE_DEPTH_B1, 8, "depth_b1", true},     {TCUBE_DEPTH_B1, 6, "depth_b1", false},
        {TCUBE_DEPTH_A1, 32, "depth_a1", true},    {TCUBE_STEP_M, 2, "step_m", false},
        {TCUBE_STEP_N, 2, "step_n", false},        {TCUBE_STEP_KA, 3, "k_chunks", false},
        {TCUBE_DEPTH_A1, 2000000000, "l1", false},
    };
    struct tcube_breach breaches[TCUBE_MAX_BREACHES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tcube tiling = good;
        tiling.field[cases[i].field] = cases[i].value;
        int count = judge(&tiling, breaches);
        cr_expect(has(breaches, count, cases[i].rule, cases[i].warning), "%s = %d breaks %s",
                  bank_field_names[tcube_fields[cases[i].field]], cases[i].value, cases[i].rule);
    }
    struct tcube scaled = good; /* depths of 64 KiB and 448 KiB are all of L1 without scales */
    scaled.type = DTYPE_I8;
    scaled.field[TCUBE_DEPTH_A1] = scaled.field[TCUBE_STEP_KA] = 8;
    scaled.field[TCUBE_DEPTH_B1] = 28;
    scaled.field[TCUBE_STEP_KB] = 28;
    scaled.out_type = DTYPE_I32;
    cr_expect_not(has(breaches, judge(&scaled, breaches), "l1", false));
    scaled.out_type = DTYPE_F16;
    cr_expect(has(breaches, judge(&scaled, breaches), "l1", false));
    struct tcube biased = good;
    biased.bias = true;
    cr_expect_eq(judge(&biased, breaches), 0); /* 256 elements of 4 bytes */
    biased.field[TCUBE_BASE_N] = 272;
    cr_expect(has(breaches, judge(&biased, breaches), "bias_table", false));
}

static int32_t pick(int32_t least, int32_t most)
{
    return least + (int32_t)gsl_rng_uniform_int(rng, (unsigned long)(most - least) + 1);
}

static int64_t up(int64_t a, int64_t b)
{
    return b > 0 ? (a + b - 1) / b : a;
}

/* The rules as the documentation has them, in doubles, which hold these products exactly. */
static bool legal_by_definition(const struct tcube *t)
{
    const int32_t *f = t->field;
    double m = f[TCUBE_BASE_M], n = f[TCUBE_BASE_N], k = f[TCUBE_BASE_K];
    double size = dtype_bytes(t->type), bias = t->bias ? n * 4 : 0;
    double scales = t->type == DTYPE_I8 && t->out_type != DTYPE_I32 ? n * 8 : 0;
    int64_t a = (int64_t)f[TCUBE_STEP_M] * f[TCUBE_STEP_KA],
            b = (int64_t)f[TCUBE_STEP_N] * f[TCUBE_STEP_KB];
    int64_t chunks_a = up(f[TCUBE_SINGLE_K], (int64_t)f[TCUBE_BASE_K] * f[TCUBE_STEP_KA]);
    int64_t chunks_b = up(f[TCUBE_SINGLE_K], (int64_t)f[TCUBE_BASE_K] * f[TCUBE_STEP_KB]);
    int32_t da = f[TCUBE_DEPTH_A1], db = f[TCUBE_DEPTH_B1];
    bool ratio_a = da == a || da == 2 * a || da == 4 * a,
         ratio_b = db == b || db == 2 * b || db == 4 * b;
    return f[TCUBE_USED_CORES] <= 24 && m * k * size * f[TCUBE_DB_L0A] <= 65536 &&
           k * n * size * f[TCUBE_DB_L0B] <= 65536 && m * n * 4 * f[TCUBE_DB_L0C] <= 131072 &&
           bias <= 1024 && m * k * size * da + n * k * size * db + bias + scales <= 524288 &&
           ratio_a && ratio_b && f[TCUBE_BASE_M] % 16 == 0 && f[TCUBE_BASE_N] % 16 == 0 &&
           f[TCUBE_BASE_K] % (32 / (int)size) == 0 && (f[TCUBE_STEP_M] == 1 || chunks_a == 1) &&
           (f[TCUBE_STEP_N] == 1 || chunks_b == 1) &&
           (chunks_a % chunks_b == 0 || chunks_b % chunks_a == 0);
}

Test(tcube, random_tilings_by_definition)
{
    struct tcube_breach breaches[TCUBE_MAX_BREACHES];
    int legal = 0;
    for (int i = 0; i < 60000; i++) {
        static const enum dtype types[] = {DTYPE_F16, DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_I8};
        struct tcube t = {.type = types[pick(0, 4)], .bias = pick(0, 3) == 0};
        t.out_type = t.type == DTYPE_I8 && pick(0, 1) ? DTYPE_I32 : DTYPE_F16;
        for (int f = 0; f < TCUBE_FIELDS; f++)
            t.field[f] = pick(0, 2) ? pick(1, 2) : pick(1, 8);
        t.field[TCUBE_USED_CORES] = pick(1, 25);
        t.field[TCUBE_BASE_M] = pick(0, 9) ? 16 * pick(1, 12) : pick(1, 200);
        t.field[TCUBE_BASE_N] = pick(0, 9) ? 16 * pick(1, 12) : pick(1, 300);
        t.field[TCUBE_BASE_K] = pick(0, 9) ? 16 * pick(1, 8) : pick(1, 100);
        t.field[TCUBE_SINGLE_K] = pick(0, 1) ? pick(1, 200) : pick(1, 5000);
        t.field[TCUBE_DEPTH_A1] =
            t.field[TCUBE_STEP_M] * t.field[TCUBE_STEP_KA] * (pick(0, 9) ? pick(1, 2) : pick(1, 5));
        t.field[TCUBE_DEPTH_B1] =
            t.field[TCUBE_STEP_N] * t.field[TCUBE_STEP_KB] * (pick(0, 9) ? pick(1, 2) : pick(1, 5));
        int count = judge(&t, breaches), broken = 0;
        for (int b = 0; b < count; b++)
            broken += !breaches[b].warning;
        cr_assert_eq(broken == 0, legal_by_definition(&t), "tiling %d", i);
        legal += broken == 0;
    }
    cr_expect_gt(legal, 3000);
    cr_expect_lt(legal, 57000);
}

/* Nothing wraps. */
Test(tcube, huge_fields)
{
    struct tcube_breach breaches[TCUBE_MAX_BREACHES];
    struct tcube t = {.type = DTYPE_F32, .bias = true};
    for (int f = 0; f < TCUBE_FIELDS; f++)
        t.field[f] = INT32_MAX;
    int count = judge(&t, breaches);
    cr_expect(has(breaches, count, "l0a", false) && has(breaches, count, "l1", false));
}

struct seen {
    int rows, lines[8];
    int32_t first;
    bool bias;
};

static enum status see(void *context, const struct bank_row *row, struct error *error)
{
    struct seen *seen = context;
    (void)error;
    seen->lines[seen->rows++ % 8] = row->line;
    seen->first = row->number[BANK_USED_CORES];
    seen->bias = row->bias;
    return STATUS_OK;
}

static enum status read_text(const char *text, size_t length, struct seen *seen,
                             struct error *error)
{
    char file[] = "/tmp/autotune-kb-XXXXXX";
    int descriptor = mkstemp(file);
    FILE *out = fdopen(descriptor, "w");
    fwrite(text, 1, length, out);
    fclose(out);
    *seen = (struct seen){0};
    struct bank_reader reader = {.row = see, .context = seen, .tilings_only = true};
    enum status status = bank_read(file, BANK_RUNTIME_KB, &reader, NULL, error);
    unlink(file);
    return status;
}

#define INFO "\"info_dict\":{\"a_dtype\":1,\"bias_flag\":true,\"m\":8}"
#define KNOWLEDGE                                                                                  \
    "\"usedCoreNum\":24,\"singleCoreM\":16,\"singleCoreN\":16,\"singleCoreK\":16,\"baseM\":16,"    \
    "\"baseN\":16,\"baseK\":16,\"depthA1\":1,\"depthB1\":1,\"stepM\":1,\"stepN\":1,\"stepKa\":1,"  \
    "\"stepKb\":1,\"dbL0A\":1,\"dbL0B\":1"
#define ROW "{\"id\":7," INFO ",\"knowledge\":{" KNOWLEDGE ",\"dbL0C\":1},\"op\":\"MatMulV3\"}"

Test(tcube, rows_are_read)
{
    struct seen seen;
    struct error error;
    const char text[] = "\n" ROW "\r\n \t\n" ROW;
    cr_assert_eq(read_text(text, sizeof text - 1, &seen, &error), STATUS_OK, "%s", error.text);
    cr_expect(seen.rows == 2 && seen.lines[0] == 2 && seen.lines[1] == 4 && seen.first == 24 &&
              seen.bias);
    cr_expect_eq(read_text("", 0, &seen, &error), STATUS_OK);
    cr_expect_eq(seen.rows, 0);
}

Test(tcube, broken_rows_are_named)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{", ":1: "},
        {ROW "\n[1]", ":2: expected a JSON object"},
        {ROW ROW, ":1: "},
        {"{\"id\":7}", ":1: the row has no member 'info_dict'"},
        {"{" INFO "}", ":1: the row has no member 'knowledge'"},
        {"{" INFO ",\"knowledge\":{" KNOWLEDGE "}}", "knowledge has no member 'dbL0C'"},
        {"{" INFO ",\"knowledge\":{" KNOWLEDGE ",\"dbL0C\":0}}",
         "knowledge.dbL0C: expected a whole"},
        {"{" INFO ",\"knowledge\":{" KNOWLEDGE ",\"dbL0C\":1.5}}", "knowledge.dbL0C: expected"},
        {"{" INFO ",\"knowledge\":{" KNOWLEDGE ",\"dbL0C\":2147483648}}", "knowledge.dbL0C: "},
        {"{" INFO ",\"knowledge\":{" KNOWLEDGE ",\"dbL0C\":\"1\"}}", "knowledge.dbL0C: expected"},
        {"{" INFO ",\"knowledge\":[]}", "knowledge has no member 'usedCoreNum'"},
        {"{" INFO ",\"knowledge\":{\"baseM\":1,\"baseM\":2}}", ":1: duplicate"},
        {"{\"info_dict\":{\"bias_flag\":true},\"knowledge\":{}}", "no member 'a_dtype'"},
        {"{\"info_dict\":{\"a_dtype\":9},\"knowledge\":{}}", "a_dtype: 9, expected 1 (f16)"},
        {"{\"info_dict\":{\"a_dtype\":1},\"knowledge\":{}}", "no member 'bias_flag'"},
        {"{\"info_dict\":{\"a_dtype\":1,\"bias_flag\":1},\"knowledge\":{}}", "true or false"},
        {"null", ":1: "},
        {"\xff\xfe", ":1: "},
    };
    struct seen seen;
    struct error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(read_text(cases[i].text, strlen(cases[i].text), &seen, &error), STATUS_INVALID,
                     "%s", cases[i].text);
        cr_expect(strstr(error.text, cases[i].message), "%s: %s", cases[i].text, error.text);
        cr_expect_null(strchr(error.text, '\n'));
    }
    struct bank_reader reader = {.row = see, .context = &seen};
    cr_expect_eq(bank_read("/nowhere/x", BANK_RUNTIME_KB, &reader, NULL, &error), STATUS_IO);
}

/* Cut off or changed anywhere, a table is read or refused, never more. */
Test(tcube, random_changes)
{
    static const char row[] = ROW "\n" ROW "\n";
    struct seen seen;
    struct error error;
    for (int i = 0; i < 3000; i++) {
        char text[sizeof row];
        size_t length = sizeof row - 1;
        memcpy(text, row, sizeof row);
        for (int c = pick(0, 4); c > 0; c--)
            text[pick(0, (int32_t)length - 1)] = (char)pick(0, 255);
        if (pick(0, 2) == 0)
            length = (size_t)pick(0, (int32_t)length);
        enum status status = read_text(text, length, &seen, &error);
        cr_assert(status == STATUS_OK || (status == STATUS_INVALID && strchr(error.text, ':')));
    }
}
