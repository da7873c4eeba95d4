/* Banks: what is read, what is refused, how rows become problems and tilings and back, what comes
 * out is what went in. Every record here is made up. */
#include "formats/bank.h"
#include "formats/bank_write.h"
#include "hardware/load.h"
#include "jobs/evaluate/evaluation.h"
#include "jobs/tune/export.h"
#include "kernels/matmul/matmul_bank.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ------------------------------------------------------------------ texts */

#define SHAPE(a, b, more)                                                                          \
    "{\"A_shape\":" a ",\"B_shape\":" b ",\"A_dtype\":\"float16\",\"B_dtype\":\"float16\","        \
    "\"C_dtype\":\"float16\",\"bias_flag\":false" more "}"
/* m 320, k 96, n 128, batch 1 */
#define USUAL SHAPE("[1,6,20,16,16]", "[96,8,1,1,16]", ",\"dilationH\":3,\"batch_type\":0")
#define TILING(al1, bl1, bl0)                                                                      \
    "[2,0,1,4,1," al1 ",1,1,1,null,0,0,0,1,false,2," bl1 ",1,1,1,null,0,0,0,2,2,1,1,1,1," bl0      \
    ",1,1,2,2,4,1,1,1,1,1,1,1,false,1,0,0,0]"
#define REPOSITORY                                                                                 \
    "{\"shape\":" USUAL ",\"tiling\":" TILING("32,2", "[],1", "1,4") ",\"cost_time\":12.5}"
#define LISTS(al1, bl0)                                                                            \
    "\"AL1_shape\":" al1 ",\"BL1_shape\":[],\"AL0_matrix\":[2,1,16,16,1,1,0],\"BL0_matrix\":" bl0  \
    ",\"CL0_matrix\":[4,2,16,16,1,1,0],\"block_dim\":[1,2,4,1,0]"
#define PINGPONG                                                                                   \
    "\"manual_pingpong_buffer\":{\"AL1_pbuffer\":2,\"BL1_pbuffer\":1,\"AL0_pbuffer\":2,"           \
    "\"BL0_pbuffer\":1,\"CL0_pbuffer\":2}"
#define KERNEL                                                                                     \
    "{\"knowledge\":{" LISTS("[32,2,1,1,0]", "[1,4,16,16,1,1,0]") "," PINGPONG                     \
                                                                  "},\"info_dict\":" USUAL         \
                                                                  ",\"cost_time\":12.5}"
#define FIELDS(cores, single_k)                                                                    \
    "\"usedCoreNum\":" cores ",\"singleCoreM\":80,\"singleCoreN\":64,\"singleCoreK\":" single_k    \
    ",\"baseM\":32,\"baseN\":64,\"baseK\":16,\"depthA1\":8,\"depthB1\":6,\"stepM\":2,\"stepN\":1," \
    "\"stepKa\":2,\"stepKb\":6,\"dbL0A\":2,\"dbL0B\":1,\"dbL0C\":2,\"iterateOrder\":0"
#define INFO                                                                                       \
    "{\"a_dtype\":1,\"b_dtype\":1,\"out_dtype\":1,\"bias_flag\":false,\"m\":320,\"k\":96,\"n\":"   \
    "128,"                                                                                         \
    "\"trans_a_flag\":false,\"trans_b_flag\":true,\"a_format\":29,\"b_format\":29,"                \
    "\"out_format\":29}"
#define RUNTIME                                                                                    \
    "{\"id\":77,\"info_dict\":" INFO ",\"knowledge\":{" FIELDS(                                    \
        "8", "96") ",\"l2MTileCnt\":3, \"tilingEnable\":0},\"op\":\"MatMulV3\"}"
#define CUBE "{" FIELDS("8", "96") ",\"M\":320,\"N\":128,\"Ka\":96,\"Kb\":96}"

/* ------------------------------------------------------------------ reading */

enum { SEEN = 16 };

struct seen {
    int rows, bad;
    struct bank_row row[SEEN];
    char text[SEEN][2048], key[SEEN][64], why[SEEN][512];
};

static enum status see(void *context, const struct bank_row *row, struct error *error)
{
    struct seen *seen = context;
    (void)error;
    if (seen->rows < SEEN) {
        seen->row[seen->rows] = *row;
        snprintf(seen->text[seen->rows], 2048, "%.*s", (int)row->text_length, row->text);
        snprintf(seen->key[seen->rows], 64, "%s", row->key ? row->key : "");
    }
    seen->rows++;
    return STATUS_OK;
}

static enum status note(void *context, int record, int line, const struct error *why)
{
    struct seen *seen = context;
    cr_expect(record >= 0 && line > 0);
    if (seen->bad < SEEN)
        snprintf(seen->why[seen->bad], 512, "%s", why->text);
    seen->bad++;
    return STATUS_OK;
}

static char *scratch(const char *text, size_t length)
{
    char *file = strdup("/tmp/autotune-bank-XXXXXX");
    FILE *out = fdopen(mkstemp(file), "w");
    fwrite(text, 1, length, out);
    fclose(out);
    return file;
}

static enum status read_bytes(const char *text, size_t length, int format, bool keep_going,
                              struct seen *seen, enum bank_format *found, struct error *error)
{
    struct bank_reader reader = {.row = see, .bad = keep_going ? note : NULL, .context = seen};
    char *file = scratch(text, length);
    memset(seen, 0, sizeof *seen);
    enum status status = bank_read(file, format, &reader, found, error);
    unlink(file);
    free(file);
    return status;
}

static enum status read_text(const char *text, bool keep_going, struct seen *seen,
                             enum bank_format *found, struct error *error)
{
    return read_bytes(text, strlen(text), BANK_AUTO, keep_going, seen, found, error);
}

static struct seen seen; /* large */

static const struct bank_row *one(const char *text, enum bank_format format)
{
    struct error error = {0};
    enum bank_format found;
    cr_assert_eq(read_text(text, false, &seen, &found, &error), STATUS_OK, "%s", error.text);
    cr_assert(seen.rows == 1 && found == format);
    return &seen.row[0];
}

/* The three kinds of rows that say the same product. */
static void expect_usual(const struct bank_row *row)
{
    cr_expect(row->m == 320 && row->k == 96 && row->n == 128 && row->batch == 1);
    cr_expect(!row->transpose_a && row->transpose_b && !row->bias && !row->share_b);
    cr_expect(row->type == DTYPE_F16 && row->out_type == DTYPE_F16);
    cr_expect(row->nz_a && row->nz_b && row->nz_c);
    cr_expect_null(row->unfit);
}

Test(bank, every_form_is_recognised_and_read)
{
    const struct bank_row *row = one("\n" REPOSITORY "\r\n\n", BANK_REPOSITORY);
    expect_usual(row);
    cr_expect(row->line == 2 && row->record == 1 && row->batch_type == 0);
    cr_expect_float_eq(row->measured_ns, 12500, 1e-9);
    cr_expect(row->number[BANK_AL1_K] == 32 && row->number[BANK_AL1_M] == 2 &&
              row->number[BANK_BL1_K] == BANK_WHOLE && row->number[BANK_AUB_SHAPE] == BANK_ABSENT);
    cr_expect(row->number[BANK_N_DIM] == 2 && row->number[BANK_CL0_N] == 4);
    cr_expect_str_eq(seen.text[0], REPOSITORY "\r");
    int32_t numbers[BANK_NUMBERS];
    memcpy(numbers, row->number, sizeof numbers);

    row = one("{ \"0a\" : [" KERNEL "]}", BANK_STATIC);
    expect_usual(row);
    cr_expect_str_eq(seen.key[0], "0a");
    cr_expect_str_eq(seen.text[0], KERNEL);
    static const int same[] = {BANK_AL1_BUFFERS, BANK_BATCH_DIM, BANK_M_DIM,       BANK_N_DIM,
                               BANK_AL1_K,       BANK_AL1_M,     BANK_BL1_BUFFERS, BANK_BL1_K,
                               BANK_AL0_BUFFERS, BANK_AL0_M,     BANK_AL0_K,       BANK_BL0_BUFFERS,
                               BANK_BL0_K,       BANK_BL0_N,     BANK_CL0_BUFFERS, BANK_CL0_M,
                               BANK_CL0_N};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        cr_expect_eq(row->number[same[i]], numbers[same[i]], "number %d", same[i]);

    row = one(RUNTIME, BANK_RUNTIME_KB);
    expect_usual(row);
    cr_expect(row->measured_ns == 0 && row->number[BANK_L2_M_TILES] == 3 &&
              row->number[BANK_DEPTH_B1] == 6);
    row = one("[\n" CUBE "]", BANK_TCUBETILING);
    cr_expect(row->m == 320 && row->k == 96 && row->n == 128 && row->line == 2);
    one(CUBE, BANK_TCUBETILING);
    one("{\"a\\\"]}[{\\\\\": [" KERNEL "]}", BANK_STATIC); /* brackets and quotes in a text */
    cr_expect_str_eq(seen.key[0], "a\"]}[{\\");
}

Test(bank, times_layouts_and_batches)
{
    static const struct {
        const char *more, *cost;
        double ns;
        bool unfit, nz_operands, nz_result, share;
    } cases[] = {
        {",\"batch_type\":0", "2000", 2e6, false, true, true, false},
        {"", "2000", 2000, false, true, true, false}, /* an old row: nanoseconds */
        {"", "1000", 1e6, false, true, true, false},
        {",\"batch_type\":2", "7", 7000, false, true, true, true},
        {",\"batch_type\":3", "1e17", 0, true, true, true, false},
        {",\"kernel_name\":\"te_trans_data_trans_data_mat_mul_fix_pipe_1\"", "7", 7000, false,
         false, false, false},
        {",\"kernel_name\":\"te_mat_mul_fix_pipe_1\"", "7", 7000, false, true, false, false},
        {",\"fused_double_operand_num\":1", "7", 7000, true, true, true, false},
        {",\"fused_double_operand_num\":0", "7", 7000, false, true, true, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 "{\"cost_time\":%s,\"shape\":" SHAPE("[5,6,20,16,16]", "[96,8,1,1,16]",
                                                      ",\"dilationH\":4%s") ",\"tiling\":%s}",
                 cases[i].cost, cases[i].more, TILING("[],1", "[],1", "[],1"));
        const struct bank_row *row = one(text, BANK_REPOSITORY);
        cr_expect_float_eq(row->measured_ns, cases[i].ns, 1e-9, "case %zu", i);
        cr_expect(!row->unfit == !cases[i].unfit && row->share_b == cases[i].share);
        cr_expect(row->nz_a == cases[i].nz_operands && row->nz_b == cases[i].nz_operands &&
                  row->nz_c == cases[i].nz_result);
        cr_expect(row->batch == 5 && row->transpose_a && row->transpose_b);
    }
}

/* A kernel that does more than a product is no measurement of one. */
Test(bank, fused_operations_are_left_out_by_name)
{
    static const struct {
        const char *operands, *name, *why;
    } cases[] = {
        {"0", "te_fused_op_mat_mul_fix_pipe_1", NULL},
        {"0.0", "te_fused_op_mat_mul_mul_1", NULL},
        {"1", "te_fused_op_mat_mul_tanh_cea1_1", "a fused operation: tanh"},
        {"2", "te_fused_op_mat_mul_fix_pipe_add_62_1", "a fused operation: add"},
        {"2", "te_fused_op_mat_mul_add_n_82ce_1", "a fused operation: add"},
        {"2", "te_fused_op_mat_mul_mul_d8f1_1", "a fused operation: mul"},
        {"2", "te_fused_op_mat_mul_1", "a fused operation without a name"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            "{\"cost_time\":7,\"shape\":" SHAPE("[5,6,20,16,16]", "[96,8,1,1,16]",
                                                ",\"dilationH\":1,\"fused_double_operand_num\":%s,"
                                                "\"kernel_name\":\"%s\"") ","
                                                                          "\"tiling\":%s}",
            cases[i].operands, cases[i].name, TILING("[],1", "[],1", "[],1"));
        const char *why = one(text, BANK_REPOSITORY)->unfit;
        cr_expect(cases[i].why ? why && strstr(why, cases[i].why) : !why, "case %zu: %s", i,
                  why ? why : "none");
    }
}

#define ROW_OF(shape, tiling, cost)                                                                \
    "{\"shape\":" shape ",\"tiling\":" tiling ",\"cost_time\":" cost "}"
#define GOOD_TILING TILING("32,2", "[],1", "1,4")

static const struct {
    const char *text, *message;
} broken[] = {
    {"", ":1: expected a bank"},
    {"null", ":1: expected a bank"},
    {"{\"what\":1}", ":1: expected a bank"},
    {REPOSITORY "\n{\"shape\":", ":2: "},
    {REPOSITORY "\n\n[1]", ":3: expected a JSON object"},
    {REPOSITORY REPOSITORY, ":1: "},
    {"{\"tiling\":[]}", ":1: the row has no member 'shape'"},
    {"{\"shape\":[],\"tiling\":[]}", ":1: shape: expected an object"},
    {ROW_OF(USUAL, "[1,2]", "1"), "tiling: expected a list of 51 numbers"},
    {ROW_OF(USUAL, TILING("-1,2", "[],1", "1,4"), "1"), "tiling[5]: expected a whole number"},
    {ROW_OF(USUAL, TILING("1.5,2", "[],1", "1,4"), "1"), "tiling[5]: "},
    {ROW_OF(USUAL, TILING("[1],2", "[],1", "1,4"), "1"), "tiling[5]: "},
    {ROW_OF(USUAL, TILING("2147483648,2", "[],1", "1,4"), "1"), "tiling[5]: "},
    {ROW_OF(USUAL, TILING("99999999999999999999999,2", "[],1", "1,4"), "1"), ":1: too big"},
    {ROW_OF(USUAL, GOOD_TILING, "0"), "cost_time: expected a number above 0"},
    {ROW_OF(USUAL, GOOD_TILING, "-1"), "cost_time: expected a number above 0"},
    {ROW_OF(USUAL, GOOD_TILING, "\"1\""), "cost_time: expected a number above 0"},
    {ROW_OF(USUAL, GOOD_TILING, "NaN"), ":1: "},
    {ROW_OF(USUAL, GOOD_TILING, "1e400"), ":1: "},
    {ROW_OF(USUAL, GOOD_TILING, "1e15"), "cost_time: expected at most"},
    {"{\"shape\":" USUAL ",\"tiling\":" GOOD_TILING "}", "no member 'cost_time'"},
    {"{\"shape\":1,\"shape\":2}", "duplicate"},
    {ROW_OF(SHAPE("[1,6,20,16]", "[96,8,1,1,16]", ",\"dilationH\":1"), GOOD_TILING, "1"),
     "shape.A_shape: expected a list of 5"},
    {ROW_OF("{\"op_type\":\"MatMulV2\"}", GOOD_TILING, "1"), "shape has no member 'A_shape'"},
    {ROW_OF(SHAPE("[1,0,20,16,16]", "[96,8,1,1,16]", ",\"dilationH\":1"), GOOD_TILING, "1"),
     "shape.A_shape: expected whole numbers"},
    {ROW_OF(SHAPE("[1,6,2147483647,16,16]", "[96,8,1,1,16]", ",\"dilationH\":1"), GOOD_TILING, "1"),
     "below 2^31"},
    {ROW_OF(SHAPE("[1,6,20,16,16]", "[96,8,1,1,16]", ",\"dilationH\":5"), GOOD_TILING, "1"),
     "shape.dilationH: expected a whole number from 1 to 4"},
    {ROW_OF(SHAPE("[1,6,20,16,16]", "[96,8,1,1,16]", ",\"dilationH\":1,\"kernel_name\":3"),
            GOOD_TILING, "1"),
     "kernel_name: expected a text"},
    {"{\"a\":[" KERNEL "]", ":1: the file ends after record 1, expected ',' or '}'"},
    {"{\"a\":[" KERNEL ",{\"knowledge\"", ":1: the file ends within it"},
    {"{\"a\":[" KERNEL "] \"b\"", ":1: byte 0x22 after record 1"},
    {"{\"a\":[" KERNEL "],\"a\":[]}", "the key \"a\" again"},
    {"{\"a\":[" KERNEL "]} x", "expected the end of the file"},
    {"{\"a\":[\n" KERNEL ",\n{}]}", ":3: record 2: the kernel has no member 'info_dict'"},
    {"{\"a\":[1]}", ":1: record 1: "},
    {"{\"a\":{}}", ":1: expected a bank"},
    {"{\"info_dict\":" INFO ",\"knowledge\":{" FIELDS("0", "96") "}}", "knowledge.usedCoreNum"},
    {"{\"info_dict\":{\"a_dtype\":1,\"b_dtype\":1,\"bias_flag\":true},\"knowledge\":{" FIELDS(
         "1", "96") "}}",
     "info_dict has no member 'm'"},
    {"[" CUBE "," CUBE, "the file ends after record 2"},
    {"[{" FIELDS("8", "96") ",\"M\":320,\"N\":128,\"Ka\":96,\"Kb\":95}]", "expected Ka = Kb"},
    {"[{" FIELDS("8", "96") ",\"M\":320,\"N\":128,\"Ka\":96}]", "no member 'Kb'"},
};

Test(bank, what_is_broken_is_named)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct error error = {0};
        cr_expect_eq(read_text(broken[i].text, false, &seen, NULL, &error), STATUS_INVALID, "%s",
                     broken[i].text);
        cr_expect(strstr(error.text, broken[i].message), "%s: %s", broken[i].text, error.text);
        cr_expect_null(strchr(error.text, '\n'));
    }
    struct error error;
    struct bank_reader reader = {.row = see, .context = &seen};
    cr_expect_eq(bank_read("/nowhere/x", BANK_AUTO, &reader, NULL, &error), STATUS_IO);
    cr_expect_eq(bank_read("/", BANK_AUTO, &reader, NULL, &error), STATUS_IO);
}

/* Bad records are told and passed over; what cannot be cut any more is told, and is the last. */
Test(bank, goes_on_after_bad_records)
{
    struct error error;
    static const struct {
        const char *text;
        int rows, bad;
    } cases[] = {
        {"nonsense\n" REPOSITORY "\n{\"shape\":1}\n" REPOSITORY "\n{\"shape", 2, 3},
        {"{\"a\":[" KERNEL ",{},[]," KERNEL "],\"b\":[" KERNEL "]}", 3, 2},
        {"{\"a\":[" KERNEL ",{},", 1, 2},
        {"[" CUBE ",{\"M\":[1,2]}," CUBE "]", 2, 1},
        {RUNTIME "\n{}\n" RUNTIME, 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_eq(read_text(cases[i].text, true, &seen, NULL, &error), STATUS_OK, "case %zu", i);
        cr_expect(seen.rows == cases[i].rows && seen.bad == cases[i].bad, "case %zu: %d, %d", i,
                  seen.rows, seen.bad);
    }
}

Test(bank, huge_and_deep_records)
{
    size_t length = BANK_MAX_RECORD + 4096;
    char *text = malloc(2 * length);
    struct error error;
    int used = sprintf(text, "{\"shape\":\"");
    memset(text + used, 'x', length);
    strcpy(text + used + length, "\"}\n" REPOSITORY "\n");
    cr_expect_eq(read_text(text, false, &seen, NULL, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, ":1: a record of more than"), "%s", error.text);
    cr_expect_eq(read_text(text, true, &seen, NULL, &error), STATUS_OK);
    cr_expect(seen.rows == 1 && seen.bad == 1);
    used = sprintf(text, "{\"shape\":");
    memset(text + used, '[', 500000);
    text[used + 500000] = 0;
    cr_expect_eq(read_text(text, false, &seen, NULL, &error), STATUS_INVALID);
    free(text);
}

static uint64_t state = 88172645463325252u;

static int pick(int low, int high)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return low + (int)(state % (uint64_t)(high - low + 1));
}

/* Cut off or changed anywhere, a bank is read or refused, never more. */
Test(bank, random_changes)
{
    static const char *const banks[] = {REPOSITORY "\n" REPOSITORY "\n",
                                        "{\"a\":[" KERNEL "],\"b\":[" KERNEL "]}",
                                        RUNTIME "\n" RUNTIME "\n", "[" CUBE "," CUBE "]"};
    struct error error = {0};
    for (int i = 0; i < 8000; i++) {
        const char *bank = banks[i % 4];
        size_t length = strlen(bank);
        char text[4096];
        memcpy(text, bank, length + 1);
        for (int c = pick(0, 4); c > 0; c--)
            text[pick(0, (int)length - 1)] =
                (char)(pick(0, 1) ? pick(0, 255) : "[]{},:\"0"[pick(0, 7)]);
        if (pick(0, 2) == 0)
            length = (size_t)pick(0, (int)length);
        bool keep_going = pick(0, 1);
        int format = pick(0, BANK_FORMATS);
        enum status status = read_bytes(text, length, format, keep_going, &seen, NULL, &error);
        cr_assert(status == STATUS_OK || (status == STATUS_INVALID && strchr(error.text, ':')));
        cr_assert(!keep_going || format == BANK_AUTO || status == STATUS_OK, "%s", error.text);
    }
}

/* ------------------------------------------------------------------ rows and tilings */

static const char *const axis_names[CANN_AXES] = {
    "single_m",     "single_n", "split_k", "cores",   "outer",  "base_m", "base_n",
    "base_k",       "holds",    "step_ka", "step_kb", "step_m", "step_n", "step_batch_a",
    "step_batch_b", "l1a",      "l1b",     "l0a",     "l0b",    "l0c"};

static struct tiling tiling_of(const struct bank_row *row, struct problem *problem)
{
    struct tiling tiling = {{0}};
    struct error error = {0};
    cr_assert_eq(matmul_bank_problem(row, problem, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(matmul_bank_tiling(row, problem, &tiling, &error), STATUS_OK, "%s", error.text);
    return tiling;
}

static void expect_tiling(const struct bank_row *row, const int64_t wanted[CANN_AXES])
{
    struct problem problem;
    struct tiling tiling = tiling_of(row, &problem);
    for (int a = 0; a < CANN_AXES; a++)
        cr_expect_eq(tiling.value[a], wanted[a], "%s is %lld, expected %lld", axis_names[a],
                     (long long)tiling.value[a], (long long)wanted[a]);
}

/* m: 20 blocks over 4 cores are 5 each; B stands whole in L1: 6 steps of k by 4/4 of n. */
Test(bank, rows_become_tilings)
{
    static const int64_t wanted[CANN_AXES] = {80, 64, 1, 8, OUTER_N, 32, 64, 16, HOLDS_TILE, 2,
                                              6,  2,  1, 1, 1,       2,  1,  2,  1,          2};
    expect_tiling(one(REPOSITORY, BANK_REPOSITORY), wanted);
    expect_tiling(one("{\"a\":[" KERNEL "]}", BANK_STATIC), wanted);
    expect_tiling(one(RUNTIME, BANK_RUNTIME_KB), wanted);
    expect_tiling(one(CUBE, BANK_TCUBETILING), wanted);
    struct bank_row row = *one(REPOSITORY, BANK_REPOSITORY);
    int64_t slab[CANN_AXES];
    memcpy(slab, wanted, sizeof slab);
    row.number[BANK_BL0_K] = row.number[BANK_AL1_K] = BANK_WHOLE;
    slab[CANN_L0B_HOLDS] = HOLDS_SLAB;
    slab[CANN_STEP_KA] = 6;
    slab[CANN_STEP_M] = 3;
    expect_tiling(&row, slab);
    row = *one(RUNTIME, BANK_RUNTIME_KB);
    row.number[BANK_ITERATE_ORDER] = 1;
    row.number[BANK_USED_CORES] = 24; /* 8 blocks are there */
    memcpy(slab, wanted, sizeof slab);
    slab[CANN_OUTER] = OUTER_M;
    expect_tiling(&row, slab);
}

/* L1 tiles of A and of B in elements of m and n: 5 of 64 by 4 of 32, then 10 of 32 by 2 of 64. */
Test(bank, kernels_of_a_bank_choose_the_order_of_loops)
{
    struct problem problem;
    struct bank_row row = *one(REPOSITORY, BANK_REPOSITORY);
    row.number[BANK_M_DIM] = row.number[BANK_N_DIM] = 1;
    row.number[BANK_BL1_K] = 32;                                        /* 64 of n: 2 tiles */
    cr_expect_eq(tiling_of(&row, &problem).value[CANN_OUTER], OUTER_N); /* 768 < 960 */
    row.number[BANK_CL0_N] = 2; /* 32 of n: 4 tiles: 1408 > 960 */
    cr_expect_eq(tiling_of(&row, &problem).value[CANN_OUTER], OUTER_M_N);
    row.number[BANK_AL1_M] = 10; /* all of m in one tile */
    cr_expect_eq(tiling_of(&row, &problem).value[CANN_OUTER], OUTER_N);
}

Test(bank, batches_share_cores_evenly)
{
    struct problem problem;
    struct bank_row row = *one(REPOSITORY, BANK_REPOSITORY);
    row.batch = 10;
    row.number[BANK_BATCH_DIM] = 4; /* 3 rounds: 4 groups, the last with one */
    row.number[BANK_M_DIM] = row.number[BANK_N_DIM] = 1;
    row.number[BANK_AL1_BATCH] = 3;
    struct tiling tiling = tiling_of(&row, &problem);
    cr_expect_eq(tiling.value[CANN_CORES], 4);
    cr_expect_eq(tiling.value[CANN_STEP_BATCH_A], 1); /* batch_type 0: one by one */
    row.batch_type = 3;
    row.number[BANK_BATCH_DIM] = 7; /* 2 rounds: 5 groups work */
    tiling = tiling_of(&row, &problem);
    cr_expect(tiling.value[CANN_CORES] == 5 && tiling.value[CANN_STEP_BATCH_A] == 3);
}

Test(bank, what_the_space_cannot_say)
{
    static const struct {
        enum bank_format format;
        int number, value;
        const char *message;
    } cases[] = {
        {BANK_REPOSITORY, BANK_AL1_K, BANK_ABSENT, "by way of L1"},
        {BANK_REPOSITORY, BANK_CL0_N, 0, "nc = 0"},
        {BANK_REPOSITORY, BANK_CL0_M, BANK_WHOLE, "mc = -1"},
        {BANK_REPOSITORY, BANK_AL0_K, 0, "ka = 0"},
        {BANK_REPOSITORY, BANK_M_DIM, 0, "m_dim = 0"},
        {BANK_REPOSITORY, BANK_CL0_BUFFERS, 3, "CL0_pbuffer = 3"},
        {BANK_RUNTIME_KB, BANK_SINGLE_K, 95, "singleCoreK = 95 with tilingEnable = 0"},
        {BANK_RUNTIME_KB, BANK_DEPTH_A1, 5, "depthA1, expected stepM·stepKa once or twice"},
        {BANK_RUNTIME_KB, BANK_DEPTH_B1, 24, "depthB1"},
        {BANK_RUNTIME_KB, BANK_DB_L0C, 3, "dbL0C = 3"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool fields = cases[i].format == BANK_RUNTIME_KB;
        struct bank_row row = *one(fields ? RUNTIME : REPOSITORY, cases[i].format);
        struct problem problem;
        struct tiling tiling;
        struct error error = {0};
        row.number[cases[i].number] = cases[i].value;
        cr_assert_eq(matmul_bank_problem(&row, &problem, &error), STATUS_OK);
        cr_expect_eq(matmul_bank_tiling(&row, &problem, &tiling, &error), STATUS_INVALID);
        cr_expect(strstr(error.text, cases[i].message), "%s", error.text);
    }
}

/* 64x16384x64 in 16 parts of k, as MatMulV3's kernel for them takes it. */
static struct bank_row row_of_parts(enum bank_format format)
{
    struct bank_row row = {.format = format,
                           .m = 64,
                           .k = 16384,
                           .n = 64,
                           .batch = 1,
                           .type = DTYPE_F16,
                           .out_type = DTYPE_F16};
    static const int fields[][2] = {
        {BANK_USED_CORES, 16}, {BANK_SINGLE_M, 64}, {BANK_SINGLE_N, 64}, {BANK_SINGLE_K, 1024},
        {BANK_BASE_M, 128},    {BANK_BASE_N, 128},  {BANK_BASE_K, 128},  {BANK_DEPTH_A1, 8},
        {BANK_DEPTH_B1, 4},    {BANK_STEP_M, 1},    {BANK_STEP_N, 1},    {BANK_STEP_KA, 4},
        {BANK_STEP_KB, 4},     {BANK_DB_L0A, 2},    {BANK_DB_L0B, 2},    {BANK_DB_L0C, 1},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        row.number[fields[i][0]] = fields[i][1];
    row.number[BANK_TILING_ENABLE] = format == BANK_RUNTIME_KB ? 3 : 0;
    return row;
}

/* What of it is read, and what is not for a reason. */
Test(bank, parts_of_k)
{
    static const struct {
        enum bank_format format;
        int field, value;
        const char *message; /* NULL: read, as 16 parts */
    } cases[] = {
        {BANK_RUNTIME_KB, BANK_TILING_ENABLE, 3, NULL},
        {BANK_RUNTIME_KB, BANK_TILING_ENABLE, 2013, NULL}, /* other digits say something else */
        {BANK_TCUBETILING, BANK_BASE_M, 128, NULL},
        {BANK_TCUBETILING, BANK_BASE_M, 32, NULL}, /* a kernel of one's own */
        {BANK_RUNTIME_KB, BANK_TILING_ENABLE, 0, "k is not split"},
        {BANK_RUNTIME_KB, BANK_TILING_ENABLE, 1, "no form of split K"},
        {BANK_RUNTIME_KB, BANK_TILING_ENABLE, 2, "a core adds up parts of its k in memory"},
        {BANK_RUNTIME_KB, BANK_TILING_ENABLE, 4, "atomic additions, in no fixed order"},
        {BANK_RUNTIME_KB, BANK_TILING_ENABLE, 5, "a core adds up parts of its k in memory"},
        {BANK_RUNTIME_KB, BANK_TILING_ENABLE, 9, "no form of split K"},
        {BANK_RUNTIME_KB, BANK_SINGLE_M, 32, "with several blocks"},
        {BANK_RUNTIME_KB, BANK_SINGLE_N, 16, "with several blocks"},
        {BANK_RUNTIME_KB, BANK_SINGLE_K, 16384, "expected less than k = 16384"},
        {BANK_RUNTIME_KB, BANK_SINGLE_K, 1023, "usedCoreNum is 16"},
        {BANK_RUNTIME_KB, BANK_SINGLE_K, 1088, "expected 1024 for 16 parts"},
        {BANK_RUNTIME_KB, BANK_USED_CORES, 8, "16 parts of 1 blocks, and usedCoreNum is 8"},
        {BANK_RUNTIME_KB, BANK_USED_CORES, 17, "usedCoreNum is 17"},
        {BANK_RUNTIME_KB, BANK_BASE_M, 64, "the kernel's are 128x128, 128 of k"},
        {BANK_RUNTIME_KB, BANK_BASE_N, 256, "the kernel's are 128x128, 128 of k"},
        {BANK_RUNTIME_KB, BANK_BASE_K, 64, "the kernel's are 128x128, 128 of k"},
        {BANK_TCUBETILING, BANK_USED_CORES, 1, "a core adds up several of them"},
        {BANK_TCUBETILING, BANK_SINGLE_M, 32, "16 parts of 2 blocks, and usedCoreNum is 16"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct bank_row row = row_of_parts(cases[c].format);
        struct problem problem;
        struct tiling tiling;
        struct error error = {0};
        row.number[cases[c].field] = cases[c].value;
        cr_assert_eq(matmul_bank_problem(&row, &problem, &error), STATUS_OK);
        enum status status = matmul_bank_tiling(&row, &problem, &tiling, &error);
        cr_expect_eq(status, cases[c].message ? STATUS_INVALID : STATUS_OK, "%zu: %s", c,
                     error.text);
        if (cases[c].message)
            cr_expect(strstr(error.text, cases[c].message), "%zu: %s", c, error.text);
        else
            cr_expect(tiling.value[CANN_SPLIT_K] == 16 && tiling.value[CANN_CORES] == 16 &&
                      tiling.value[CANN_BASE_K] == 128);
    }
}

/* Parts that a TCubeTiling has no words for, and those that it has, as they were read. */
Test(bank, parts_of_k_become_rows_again)
{
    static const struct {
        int axis;
        int64_t value;
    } cases[] = {{CANN_SINGLE_M, 32}, {CANN_BASE_M, 32}, {CANN_BASE_N, 48},
                 {CANN_BASE_K, 64},   {CANN_SPLIT_K, 8}, {CANN_CORES, 32}};
    static const enum bank_format forms[] = {BANK_RUNTIME_KB, BANK_TCUBETILING};
    for (int f = 0; f < 2; f++) {
        struct bank_row row = row_of_parts(forms[f]), back;
        struct problem problem;
        struct tiling tiling;
        struct error error;
        cr_assert_eq(matmul_bank_problem(&row, &problem, &error), STATUS_OK);
        cr_assert_eq(matmul_bank_tiling(&row, &problem, &tiling, &error), STATUS_OK);
        cr_assert_eq(matmul_bank_row(&problem, &tiling, forms[f], &back, &error), STATUS_OK);
        for (int field = BANK_SINGLE_M; field <= BANK_STEP_N; field++)
            cr_expect_eq(back.number[field], row.number[field], "%s", bank_field_names[field]);
        cr_expect_eq(back.number[BANK_USED_CORES], 16);
        cr_expect_eq(back.number[BANK_TILING_ENABLE], row.number[BANK_TILING_ENABLE]);
        for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
            struct tiling changed = tiling;
            changed.value[cases[c].axis] = cases[c].value;
            cr_expect_eq(matmul_bank_row(&problem, &changed, forms[f], &back, &error),
                         STATUS_INVALID, "%zu", c);
            cr_expect(strstr(error.text, "--space tcube"), "%s", error.text);
        }
    }
}

/* Whatever a row says, the tiling that it becomes says the row again. */
Test(bank, tilings_become_rows_again)
{
    int written = 0;
    for (int i = 0; i < 3000; i++) {
        bool fields = i % 2;
        struct bank_row row =
            *one(fields ? RUNTIME : REPOSITORY, fields ? BANK_RUNTIME_KB : BANK_REPOSITORY);
        int32_t *v = row.number;
        row.m = 16 * pick(1, 40);
        row.n = 16 * pick(1, 40);
        row.k = 16 * pick(1, 40);
        row.batch = pick(0, 3) ? 1 : pick(2, 9);
        row.bias = pick(0, 1);
        row.batch_type = row.batch > 1 ? 3 * pick(0, 1) : 0;
        v[BANK_SINGLE_K] = fields ? (int32_t)row.k : v[BANK_SINGLE_K];
        if (!fields) {
            v[BANK_M_DIM] = pick(1, 6);
            v[BANK_N_DIM] = pick(1, 6);
            v[BANK_BATCH_DIM] = pick(1, 4);
            v[BANK_AL1_K] = pick(0, 3) ? 16 * pick(1, 6) : BANK_WHOLE;
            v[BANK_BL0_K] = pick(0, 3) ? 1 : BANK_WHOLE;
            v[BANK_BL1_BATCH] = pick(1, 2);
            v[BANK_CL0_M] = v[BANK_AL0_M] = pick(1, 4);
        } else {
            v[BANK_SINGLE_M] = 16 * pick(1, 20);
            v[BANK_USED_CORES] = pick(1, 24);
            v[BANK_ITERATE_ORDER] = pick(0, 1);
            v[BANK_BASE_M] = 16 * pick(1, 4);
        }
        struct problem problem, again;
        struct tiling tiling = tiling_of(&row, &problem), same;
        struct bank_row back;
        struct error error = {0};
        enum bank_format format = fields ? BANK_RUNTIME_KB : BANK_STATIC;
        if (matmul_bank_row(&problem, &tiling, format, &back, &error) != STATUS_OK) {
            cr_assert(!fields && strstr(error.text, "no grid"), "%s", error.text);
            continue;
        }
        written++;
        same = tiling_of(&back, &again);
        cr_assert_eq(memcmp(&problem.size, &again.size, sizeof problem.size), 0);
        cr_assert_eq(memcmp(&problem.choice, &again.choice, sizeof problem.choice), 0);
        for (int a = 0; a < CANN_AXES; a++)
            cr_assert_eq(tiling.value[a], same.value[a], "%s", axis_names[a]);
    }
    cr_expect_gt(written, 2500);
}

/* ------------------------------------------------------------------ out again */

static char *write_rows(bank_writer *write, const struct bank_row *rows, int count,
                        const double *simulated_ns)
{
    char *text = NULL;
    size_t length;
    struct error error = {0};
    FILE *out = open_memstream(&text, &length);
    struct bank_export bank = {rows, count, simulated_ns, "matmul 320x96x128 on a chip"};
    cr_assert_eq(write(&bank, out, &error), STATUS_OK, "%s", error.text);
    fclose(out);
    return text;
}

Test(bank, imported_rows_come_out_as_they_were)
{
    struct bank_row rows[2];
    const char text[] = RUNTIME "\n" RUNTIME "\n";
    struct error error;
    cr_assert_eq(read_text(text, false, &seen, NULL, &error), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        rows[i] = seen.row[i];
        rows[i].text = seen.text[i];
    }
    char *out = write_rows(bank_write_runtime_kb, rows, 2, NULL);
    cr_expect_str_eq(out, text);
    free(out);
    const char bank[] = "{\"a\": [" KERNEL ", " KERNEL "]}";
    cr_assert_eq(read_text(bank, false, &seen, NULL, &error), STATUS_OK);
    for (int i = 0; i < 2; i++) {
        rows[i] = seen.row[i];
        rows[i].text = seen.text[i];
        rows[i].key = seen.key[i];
    }
    out = write_rows(bank_write_static, rows, 2, NULL);
    cr_expect_str_eq(out, bank);
    free(out);
}

Test(bank, new_rows_read_back)
{
    static const struct {
        enum bank_format format;
        bank_writer *write;
    } forms[] = {{BANK_RUNTIME_KB, bank_write_runtime_kb},
                 {BANK_STATIC, bank_write_static},
                 {BANK_TCUBETILING, bank_write_tcubetiling_json}};
    struct problem problem, again;
    struct bank_row recorded = *one(REPOSITORY, BANK_REPOSITORY);
    struct tiling tiling = tiling_of(&recorded, &problem);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct bank_row row;
        struct error error;
        double simulated_ns = 5000;
        cr_assert_eq(matmul_bank_row(&problem, &tiling, forms[i].format, &row, &error), STATUS_OK);
        char *text = write_rows(forms[i].write, &row, 1, &simulated_ns);
        const struct bank_row *back = one(text, forms[i].format);
        cr_expect_eq(back->measured_ns, 0); /* simulated is not measured */
        struct tiling same = tiling_of(back, &again);
        cr_expect_eq(memcmp(&tiling, &same, sizeof tiling), 0, "%s", text);
        if (forms[i].format != BANK_TCUBETILING) /* which knows no layouts */
            expect_usual(back);
        cr_expect(!back->transpose_a && back->transpose_b);
        if (forms[i].format == BANK_RUNTIME_KB) {
            cr_expect(strstr(text, "{\"id\":0,\"info_dict\":{\"a_dtype\":1,"));
            cr_expect(strstr(text, "\"l2MTileCnt\":1,\"l2NTileCnt\":1,\"l2MTileBlock\":4,"
                                   "\"l2NTileBlock\":2,\"l2IterateOrder\":0,\"tilingEnable\":0}"),
                      "%s", text);
        }
        free(text);
    }
}

/* What TCubeTilings have no words for would be read as another kernel. */
Test(bank, tilings_without_words_are_refused)
{
    static const enum bank_format forms[] = {BANK_TCUBETILING, BANK_RUNTIME_KB};
    static const struct {
        int axis;
        int64_t value;
    } cases[] = {{CANN_L0B_HOLDS, HOLDS_SLAB}, {CANN_STEP_BATCH_A, 2}, {CANN_STEP_BATCH_B, 2}};
    struct problem problem;
    struct tiling tiling = tiling_of(one(REPOSITORY, BANK_REPOSITORY), &problem);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
            struct tiling changed = tiling;
            struct bank_row row;
            struct error error;
            changed.value[CANN_L0B_HOLDS] = HOLDS_TILE;
            cr_assert_eq(matmul_bank_row(&problem, &changed, forms[f], &row, &error), STATUS_OK);
            changed.value[cases[c].axis] = cases[c].value;
            cr_expect_eq(matmul_bank_row(&problem, &changed, forms[f], &row, &error),
                         STATUS_INVALID);
            cr_expect(strstr(error.text, "--space tcube"), "%s", error.text);
        }
}

/* What a file in a form says about types, all of it. */
static void expect_types(enum bank_format format, const struct problem *p, const char *text)
{
    enum dtype out = problem_choice_type(p, MATMUL_OUT_TYPE);
    const struct {
        const char *member;
        enum bank_format format;
        enum dtype type;
    } said[] = {{"a_dtype", BANK_RUNTIME_KB, p->type},
                {"b_dtype", BANK_RUNTIME_KB, p->type},
                {"out_dtype", BANK_RUNTIME_KB, out},
                {"A_dtype", BANK_STATIC, p->type},
                {"B_dtype", BANK_STATIC, p->type},
                {"C_dtype", BANK_STATIC, out},
                {"mad_dtype", BANK_STATIC, dtype_accumulator(p->type)},
                {"a_dtype", BANK_TCUBETILING, p->type},
                {"out_dtype", BANK_TCUBETILING, out}};
    bool silent = format == BANK_TCUBETILING && p->type == DTYPE_F16 && out == DTYPE_F16;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        char wanted[64];
        if (said[i].format != format)
            continue;
        if (format == BANK_RUNTIME_KB)
            snprintf(wanted, sizeof wanted, "\"%s\":%d,", said[i].member,
                     dtype_cann_number(said[i].type));
        else
            snprintf(wanted, sizeof wanted, "\"%s\": \"%s\"", said[i].member,
                     dtype_cann_name(said[i].type));
        cr_expect_eq(strstr(text, wanted) == NULL, silent, "%s in %s", wanted, text);
    }
}

/* Every type of operands, with both types of results, in every form: the same problem again, and
 * the same tiling. */
Test(bank, every_type_comes_back)
{
    static const struct {
        enum bank_format format;
        bank_writer *write;
    } forms[] = {{BANK_RUNTIME_KB, bank_write_runtime_kb},
                 {BANK_STATIC, bank_write_static},
                 {BANK_TCUBETILING, bank_write_tcubetiling_json}};
    struct bank_row row = *one(REPOSITORY, BANK_REPOSITORY);
    struct problem problem, again;
    struct error error;
    row.transpose_b = row.nz_a = row.nz_b = row.nz_c = false;
    struct tiling same, tiling = tiling_of(&row, &problem);
    tiling.value[CANN_BASE_K] = 32; /* whole blocks of every type */
    tiling.value[CANN_STEP_KA] = 2;
    tiling.value[CANN_STEP_KB] = 3;
    for (int i = 0; i < DTYPE_COUNT * CHOICE_TYPES * 3; i++) {
        enum bank_format format = forms[i % 3].format;
        bool layouts = format == BANK_STATIC; /* which has blocks only */
        problem_set_type(&problem, (enum dtype)(i / 3 % DTYPE_COUNT));
        cr_assert_eq(problem_set(&problem, "out-type", choice_types[i / 3 / DTYPE_COUNT], &error),
                     STATUS_OK);
        for (int c = MATMUL_A_LAYOUT; c <= MATMUL_C_LAYOUT; c++)
            problem.choice[c] = layouts;
        cr_assert_eq(matmul_bank_row(&problem, &tiling, format, &row, &error), STATUS_OK, "%s",
                     error.text);
        char *text = write_rows(forms[i % 3].write, &row, 1, NULL);
        expect_types(format, &problem, text);
        /* cost_time of what was not measured is no cost */
        char *cost = strstr(text, "\"cost_time\": 0.0");
        if (cost)
            cost[strlen("\"cost_time\": ")] = '1';
        same = tiling_of(one(text, format), &again);
        cr_expect_eq(again.type, problem.type, "%s", text);
        cr_expect_eq(memcmp(again.choice, problem.choice, sizeof again.choice), 0, "%s", text);
        cr_expect_eq(memcmp(again.size, problem.size, sizeof again.size), 0, "%s", text);
        cr_expect_eq(memcmp(&same, &tiling, sizeof same), 0, "%s", text);
        free(text);
        text = write_rows(bank_write_tcubetiling_header, &row, 1, NULL);
        char wanted[64];
        snprintf(wanted, sizeof wanted, "{ /* operands in %s, results in %s */",
                 dtype_name(problem.type), problem_choice_name(&problem, MATMUL_OUT_TYPE));
        bool f16 = row.type == DTYPE_F16 && row.out_type == DTYPE_F16;
        cr_expect_eq(strstr(text, wanted) == NULL, f16, "%s", text);
        free(text);
    }
}

/* Names and numbers that no type has, those that have no business there, and types that contradict
 * each other: named with what was expected. */
Test(bank, types_that_are_not_known)
{
    static const struct {
        const char *text, *from, *to, *message;
    } cases[] = {
        {REPOSITORY, "\"A_dtype\":\"float16\"", "\"A_dtype\":\"half\"",
         ":1: shape.A_dtype: \"half\", expected float16, float32, bfloat16, int8, "},
        {REPOSITORY, "\"B_dtype\":\"float16\"", "\"B_dtype\":\"int8\"",
         "shape.B_dtype: i8, expected f16"},
        {REPOSITORY, "\"B_dtype\":\"float16\",", "", "shape has no member 'B_dtype'"},
        {REPOSITORY, "\"C_dtype\":\"float16\"", "\"C_dtype\":1",
         "shape.C_dtype: 1, expected float16"},
        {REPOSITORY, "\"C_dtype\":\"float16\"", "\"C_dtype\":\"int64\"",
         "C_dtype: \"int64\", expected"},
        {REPOSITORY, "\"bias_flag\"", "\"mad_dtype\":\"int32\",\"bias_flag\"",
         "shape.mad_dtype: i32, expected f32"},
        {"{\"a\":[" KERNEL "]}", "\"C_dtype\":\"float16\"", "\"C_dtype\":\"int4\"",
         ":1: record 1: info_dict.C_dtype: \"int4\", expected float16"},
        {RUNTIME, "\"a_dtype\":1", "\"a_dtype\":28",
         ":1: info_dict.a_dtype: 28, expected 1 (f16), 0 (f32), 27 (bf16), 2 (i8), 4 (u8)"},
        {RUNTIME, "\"a_dtype\":1", "\"a_dtype\":\"float16\"",
         "a_dtype: \"float16\", expected 1 (f16)"},
        {RUNTIME, "\"out_dtype\":1", "\"out_dtype\":9", "info_dict.out_dtype: 9, expected"},
        {RUNTIME, "\"out_dtype\":1", "\"out_dtype\":null", "out_dtype: another value, expected"},
        {RUNTIME, "\"b_dtype\":1", "\"b_dtype\":2", "info_dict.b_dtype: i8, expected f16"},
        {RUNTIME, "\"b_dtype\":1,", "", "info_dict has no member 'b_dtype'"},
        {CUBE, "\"Kb\":96", "\"Kb\":96,\"a_dtype\":\"int5\",\"out_dtype\":\"int8\"",
         "the tiling.a_dtype: \"int5\", expected"},
        {CUBE, "\"Kb\":96", "\"Kb\":96,\"a_dtype\":\"int8\"", "has no member 'out_dtype'"},
        {CUBE, "\"Kb\":96", "\"Kb\":96,\"transpose_b\":1", "transpose_b: expected true or false"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error error = {0};
        char text[2048];
        const char *at = strstr(cases[i].text, cases[i].from);
        cr_assert(at, "%s", cases[i].from);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - cases[i].text), cases[i].text,
                 cases[i].to, at + strlen(cases[i].from));
        cr_expect_eq(read_text(text, false, &seen, NULL, &error), STATUS_INVALID, "%s", text);
        cr_expect(strstr(error.text, cases[i].message), "%s\nexpected %s", error.text,
                  cases[i].message);
    }
}

Test(bank, the_fifty_fields_are_in_order)
{
    struct problem problem;
    struct bank_row row, recorded = *one(REPOSITORY, BANK_REPOSITORY);
    struct tiling tiling = tiling_of(&recorded, &problem);
    struct error error;
    cr_assert_eq(matmul_bank_row(&problem, &tiling, BANK_TCUBETILING, &row, &error), STATUS_OK);
    bank_writer *const writers[] = {bank_write_tcubetiling_json, bank_write_tcubetiling_header};
    for (int w = 0; w < 2; w++) {
        char *text = write_rows(writers[w], &row, 1, NULL);
        const char *at = strstr(text, w ? "autotune_tilings[autotune_tiling_count]" : "{");
        for (int f = 0; f < BANK_TCUBE_FIELDS; f++) {
            char wanted[64];
            snprintf(wanted, sizeof wanted, w ? "%d, /* %s */\n" : "\"%2$s\": %1$d", row.number[f],
                     bank_field_names[f]);
            at = strstr(at, wanted);
            cr_assert(at, "%s is missing or out of order in:\n%s", wanted, text);
        }
        cr_expect(w == 0 || strstr(text, " * matmul 320x96x128 on a chip\n"));
        free(text);
    }
    cr_expect_str_eq(bank_field_names[0], "usedCoreNum");
    cr_expect_str_eq(bank_field_names[32], "dbL0C");
    cr_expect_str_eq(bank_field_names[48], "BatchNum");
    cr_expect_eq(BANK_TCUBE_FIELDS, 50);
}

/* ------------------------------------------------------------------ accuracy */

Test(bank, accuracy_by_hand)
{
    enum { N = 5 };
    struct bank_row rows[N] = {0};
    struct prediction p[N] = {0};
    static const double measured[N] = {1000, 2000, 20000, 40000, 0};
    static const double predicted[N] = {1100, 1000, 20000, 60000, 7};
    struct accuracy a;
    struct error error;
    for (int i = 0; i < N; i++) {
        rows[i] = (struct bank_row){.m = 128, .k = 128, .n = 128, .measured_ns = measured[i]};
        p[i].predicted_ns = predicted[i];
    }
    cr_assert_eq(accuracy_of(rows, p, N, NULL, &a, &error), STATUS_OK);
    cr_expect_eq(a.used, 4);
    cr_expect_float_eq(a.mape, (0.1 + 0.5 + 0 + 0.5) / 4, 1e-12);
    cr_expect_float_eq(a.median_ape, 0.3, 1e-12);
    cr_expect_float_eq(a.bias, 0.1 / 4, 1e-12);
    cr_expect_float_eq(a.mean_log, (log(1.1) + log(2) + log(1.5)) / 4, 1e-12);
    cr_expect_float_eq(a.spearman, 0.8, 1e-12); /* ranks 2 1 3 4: 1 − 6·2/60 */
    cr_assert_eq(accuracy_of(rows, p, N, row_is_ge_10us, &a, &error), STATUS_OK);
    cr_expect(a.used == 2 && fabs(a.mape - 0.25) < 1e-12 && fabs(a.spearman - 1) < 1e-12);
    rows[2].batch_type = 3;
    cr_assert_eq(accuracy_of(rows, p, N, row_is_large_plain, &a, &error), STATUS_OK);
    cr_expect(a.used == 1 && isnan(a.spearman) && a.median_ape == 0.5);
    rows[3].k = 127;
    cr_assert_eq(accuracy_of(rows, p, N, row_is_large_plain, &a, &error), STATUS_OK);
    cr_expect(a.used == 0 && isnan(a.mape) && isnan(a.median_ape) && isnan(a.bias));
    p[1].predicted_ns = 1100; /* a tie: ranks 1.5 1.5 3 4 */
    cr_assert_eq(accuracy_of(rows, p, N, NULL, &a, &error), STATUS_OK);
    cr_expect_float_eq(a.spearman, 4.5 / sqrt(5 * 4.5), 1e-12);
}

Test(bank, order_within_a_problem)
{
    enum { N = 6 };
    struct bank_row rows[N] = {0};
    struct prediction p[N] = {0};
    static const double measured[N] = {10, 20, 30, 5, 5, 8}, predicted[N] = {1, 3, 2, 1, 2, 9};
    static const int k[N] = {16, 16, 16, 32, 32, 64};
    struct pairs pairs;
    struct error error;
    for (int i = 0; i < N; i++) {
        rows[i] = (struct bank_row){.m = 1, .k = k[i], .n = 1, .measured_ns = measured[i]};
        p[i].predicted_ns = predicted[i];
    }
    cr_assert_eq(pairs_of(rows, p, N, &pairs, &error), STATUS_OK);
    cr_expect(pairs.groups == 2 && pairs.pairs == 3 && pairs.right == 2);
    rows[1].transpose_a = true;
    cr_assert_eq(pairs_of(rows, p, N, &pairs, &error), STATUS_OK);
    cr_expect(pairs.groups == 2 && pairs.pairs == 1 && pairs.right == 1);
}

static void load_910b2(struct hardware *hw)
{
    struct error error = {0};
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    cr_assert_eq(hardware_load("ascend910b2", NULL, hw, &error), STATUS_OK, "%s", error.text);
}

Test(bank, rows_are_played)
{
    enum { N = 40 };
    static struct bank_row rows[N];
    static struct prediction one_thread[N], three_threads[N];
    struct hardware hw;
    struct error error = {0};
    load_910b2(&hw);
    for (int i = 0; i < N; i++) {
        rows[i] = *one(REPOSITORY, BANK_REPOSITORY);
        rows[i].m = 320 + 16 * i;
        rows[i].number[BANK_AL1_K] = 96;
    }
    rows[1].unfit = "did not run";
    rows[2].number[BANK_CL0_M] = rows[2].number[BANK_CL0_N] = 40; /* beyond L0C */
    rows[2].number[BANK_M_DIM] = rows[2].number[BANK_N_DIM] = 1;
    rows[3].number[BANK_M_DIM] = 23; /* 46 cores */
    rows[4].out_type = DTYPE_I32;
    cr_assert_eq(evaluate_rows(rows, N, &hw, 1, NULL, one_thread, &error), STATUS_OK);
    cr_assert_eq(evaluate_rows(rows, N, &hw, 3, NULL, three_threads, &error), STATUS_OK);
    cr_expect_eq(memcmp(one_thread, three_threads, sizeof one_thread), 0);
    cr_expect(one_thread[0].predicted_ns > 0 && one_thread[0].cores_used == 8 &&
                  !one_thread[0].reason[0],
              "%s, %d cores", one_thread[0].reason, one_thread[0].cores_used);
    static const char *const reasons[] = {"did not run", "illegal here: l0", "cores of", "f16 or"};
    for (int i = 0; i < 4; i++) {
        cr_expect(strstr(one_thread[i + 1].reason, reasons[i]), "%s", one_thread[i + 1].reason);
        cr_expect_eq(one_thread[i + 1].predicted_ns, 0, "row %d", i + 1);
    }
    const sig_atomic_t stop = 1;
    cr_assert_eq(evaluate_rows(rows, N, &hw, 2, &stop, one_thread, &error), STATUS_OK);
    cr_expect_str_eq(one_thread[0].reason, "interrupted");
    hardware_clear(&hw);
}

/* ------------------------------------------------------------------ files that are not ours */

/* $AUTOTUNE_BANK_FILES is a folder with measured/ and runtime_kb/ of banks: they are others', and
 * not part of this project. */
static bool find_bank(const char *name, char path[4096])
{
    const char *where = getenv("AUTOTUNE_BANK_FILES");
    snprintf(path, 4096, "%s/%s", where ? where : "", name);
    if (where && access(path, R_OK) == 0)
        return true;
    fprintf(stderr, "skipped: $AUTOTUNE_BANK_FILES has no %s\n", name);
    return false;
}

/* What somebody else decoded from the same rows, as "batch,M,N,K,…,us,…" lines. */
Test(bank, decoded_by_others)
{
    char path[4096], line[512];
    struct bank bank;
    struct error error = {0};
    if (!find_bank("measured/Ascend910B2_matmul_repository.jsonl", path))
        return;
    cr_assert_eq(bank_load(path, BANK_AUTO, false, &bank, &error), STATUS_OK, "%s", error.text);
    cr_assert(find_bank("measured/Ascend910B2_matmul_decoded.csv", path));
    FILE *in = fopen(path, "r");
    cr_assert(in && fgets(line, sizeof line, in));
    int matched = 0, lines = 0;
    while (fgets(line, sizeof line, in)) {
        long batch, m, n, k, kb, variant, type = -1, bdim, mdim, ndim;
        char bias[8], out[16], rest[256], type_text[8] = "";
        int fields = /* NOLINTNEXTLINE(cert-err34-c): a count of 13 is asked for */
            sscanf(line, "%ld,%ld,%ld,%ld,%ld,%ld,%7[^,],%7[^,],%15[^,],%ld,%ld,%ld,%255s", &batch,
                   &m, &n, &k, &kb, &variant, type_text, bias, out, &bdim, &mdim, &ndim, rest);
        lines++;
        if (fields != 13)
            continue; /* no batch_type */
        type = strtol(type_text, NULL, 10);
        const char *last = strrchr(rest, ',');
        char *time = rest;
        for (char *c = rest; c < last; c++)
            if (*c == ',')
                time = c + 1;
        double us = strtod(time, NULL);
        for (size_t i = 0; i < bank.count; i++) {
            const struct bank_row *row = &bank.rows[i];
            if (row->batch == batch && row->m == m && row->n == n && row->k == k &&
                fabs(row->measured_ns - us * 1e3) < 1 && row->batch_type == type &&
                1 + row->transpose_a + 2 * row->transpose_b == variant &&
                row->bias == (strcmp(bias, "True") == 0) &&
                (row->out_type == DTYPE_F32) == (strcmp(out, "float32") == 0) &&
                row->number[BANK_BATCH_DIM] == bdim && row->number[BANK_M_DIM] == mdim &&
                row->number[BANK_N_DIM] == ndim) {
                matched++;
                break;
            }
        }
    }
    fclose(in);
    cr_expect(lines >= 1600 && matched >= lines - 10, "%d of %d lines", matched, lines);
    bank_clear(&bank);
}

static enum status copy_row(void *context, const struct bank_row *row, struct error *error)
{
    struct bank_export bank = {.rows = row, .count = 1};
    return bank_write_runtime_kb(&bank, context, error);
}

Test(bank, a_shared_runtime_table_comes_out_byte_for_byte)
{
    char path[4096];
    struct error error = {0};
    char *out = NULL, *in = NULL;
    size_t out_length, in_length = 0;
    if (!find_bank("runtime_kb/Ascend910B1_24_AiCore_MatMulV3_runtime_kb.json", path))
        return;
    FILE *stream = open_memstream(&out, &out_length), *file = fopen(path, "r");
    struct bank_reader reader = {.row = copy_row, .context = stream};
    cr_assert_eq(bank_read(path, BANK_AUTO, &reader, NULL, &error), STATUS_OK, "%s", error.text);
    fclose(stream);
    cr_assert(getdelim(&in, &in_length, EOF, file) > 0);
    fclose(file);
    cr_expect_str_eq(out, in);
    free(out);
    free(in);
}
