/* network/operator_time: products as layouts tell them, what blocks and
 * rows count, where costs are looked up, and times of whatever sizes. */
#include "network/operator_time.h"
#include "network/read.h"
#include "tests/hardware_files.h"

#include <math.h>

TestSuite(operator_time, .init = enter, .fini = leave);

#define HEAD                                                                                       \
    "op_type,block_dim,in_shapes,in_formats,in_dtypes,out_shapes,out_formats,out_dtypes,count,"    \
    "mean_us\n"

/* The shipped description, where nothing was learned for it. */
static void load_chip(struct hardware *hw)
{
    struct error error;
    char command[512];
    snprintf(command, sizeof command, "cp '%s/configs/hardware/ascend910.cfg' %s/chip.cfg",
             SOURCE_DIR, folder);
    cr_assert_eq(system(command), 0);
    cr_assert_eq(hardware_load(in_folder("chip.cfg"), NULL, hw, &error), STATUS_OK, "%s",
                 error.text);
}

static void read_calls(const char *rows, struct network *network)
{
    struct error error = {0};
    char text[4096];
    snprintf(text, sizeof text, HEAD "%s", rows);
    write_file("n.csv", text);
    cr_assert_eq(network_read(in_folder("n.csv"), &(struct network_request){0}, network, &error),
                 STATUS_OK, "%s", error.text);
}

static const struct {
    const char *row;
    double m, n, k, batch;
    const char *family;
} products[] = {
    /* 6400 x 768 x 3072, and with the first operand transposed */
    {"MatMul,30,192x400x16x16;192x48x16x16,FRACTAL_NZ;FRACTAL_NZ,FLOAT;FLOAT,48x400x16x16,"
     "FRACTAL_NZ,FLOAT,1,\n",
     400, 48, 192, 1, "~MatMul"},
    {"FusionOp_MatMul_Mul,32,48x40x16x16;48x40x16x16;,FRACTAL_NZ;FRACTAL_NZ;DefaultFormat,FLOAT;"
     "FLOAT;FLOAT,48x48x16x16,FRACTAL_NZ,FLOAT16,1,\n",
     48, 48, 40, 1, "~MatMul"},
    {"MatMul,3,33x100;100x50,DefaultFormat;DefaultFormat,FLOAT;FLOAT,33x50,DefaultFormat,FLOAT,1,"
     "\n",
     3, 4, 7, 1, "~MatMul"},
    {"FusionOp_BatchMatMul_FusedMulAdd,30,256x12x4x8x16x16;256x12x4x8x16x16,FRACTAL_NZ;FRACTAL_NZ,"
     "FLOAT;FLOAT,256x12x8x8x16x16,FRACTAL_NZ,FLOAT,1,\n",
     8, 8, 4, 3072, "~BatchMatMul"},
    /* 3 x 3 of stride 2: 17 x 17 pixels are 19 blocks of an image, 35 x 35 are 77 */
    {"FusionOp_Conv2D_BNTrainingReduce,30,32x18x35x35x16;162x24x16x16,NC1HWC0;FracZ,FLOAT;FLOAT,"
     "32x24x17x17x16,NC1HWC0,FLOAT,1,\n",
     32 * 19, 24, 162, 1, "~Conv2D"},
    {"Conv2DBackpropInput,30,32x24x17x17x16;162x24x16x16,NC1HWC0;FracZ,FLOAT;FLOAT,32x18x35x35x16,"
     "NC1HWC0,FLOAT,1,\n",
     32 * 77, 18, 24 * 9, 1, "~Conv2DBackpropInput"},
    {"Conv2DBackpropFilter,32,32x24x17x17x16;32x18x35x35x16,NC1HWC0;NC1HWC0,FLOAT;FLOAT,"
     "162x24x16x16,FracZ,FLOAT16,1,\n",
     162, 24, 2 * 17 * 17, 1, "~Conv2DBackpropFilter"},
    {"FusedDbnDw,32,32x8x28x28x16;32x32x28x28x16;32x32x28x28x16;1x32x1x1x16,NC1HWC0;NC1HWC0;"
     "NC1HWC0;"
     "NC1HWC0,FLOAT;FLOAT;FLOAT;FLOAT16,32x32x28x28x16;8x32x16x16,NC1HWC0;FracZ,FLOAT;FLOAT16,1,\n",
     8, 32, 2 * 28 * 28, 1, "~FusedDbnDw"},
    {"FusionOp_Mul_Square,30,64x64,DefaultFormat,FLOAT,64x64,DefaultFormat,FLOAT,1,\n", 0, 0, 0, 0,
     "~Mul"},
};

Test(operator_time, products_as_layouts_tell_them)
{
    struct hardware hw;
    load_chip(&hw);
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        struct network network;
        struct call_sizes sizes;
        char kinds[CALL_LEVELS][CALL_KIND_SIZE];
        read_calls(products[i].row, &network);
        call_measure(&network.calls[0], &hw, &sizes);
        call_kinds(&network.calls[0], &sizes, kinds);
        cr_expect_eq(sizes.product.m, products[i].m, "%g: %s", sizes.product.m, products[i].row);
        cr_expect_eq(sizes.product.n, products[i].n, "%g: %s", sizes.product.n, products[i].row);
        cr_expect_eq(sizes.product.k, products[i].k, "%g: %s", sizes.product.k, products[i].row);
        cr_expect_eq(sizes.product.batch, products[i].batch);
        cr_expect_str_eq(kinds[1], products[i].family);
        cr_expect_str_eq(kinds[2], products[i].m > 0 ? "*cube" : "*vector");
        network_free(&network);
    }
    hardware_clear(&hw);
}

/* 32 blocks on 30 cores are two waves; unknown ones follow from the size. */
Test(operator_time, blocks_and_terms)
{
    struct hardware hw;
    struct network network;
    double terms[6][CALL_TERMS];
    static const double share[] = {16, 30, 1, 30, 16, 1};
    load_chip(&hw);
    read_calls("Mul,32,1024x1000,DefaultFormat,FLOAT16,1024x1000,DefaultFormat,FLOAT16,1,\n"
               "Mul,,1024x1000,DefaultFormat,FLOAT16,1024x1000,DefaultFormat,FLOAT16,1,\n"
               "Mul,,100,DefaultFormat,FLOAT16,100,DefaultFormat,FLOAT16,1,\n"
               "Softmax,30,3000x50,DefaultFormat,FLOAT,3000x50,DefaultFormat,FLOAT,1,\n"
               "Gather,16,100x8;64,DefaultFormat;DefaultFormat,FLOAT16;INT16,64x8,DefaultFormat,"
               "FLOAT16,1,\n"
               "AtomicAddrClean,1,1024x1024,DefaultFormat,FLOAT16,,,,1,\n",
               &network);
    for (int i = 0; i < 6; i++) {
        struct call_sizes sizes;
        call_measure(&network.calls[i], &hw, &sizes);
        call_fill_terms(&network.calls[i], &sizes, &hw, terms[i]);
        cr_expect_eq(sizes.share, share[i], "%d: %g", i, sizes.share);
    }
    cr_expect_eq(terms[0][0], 1);
    cr_expect_eq(terms[0][1], 30);
    cr_expect_float_eq(terms[0][3], 8.192, 1e-9); /* MB in and out */
    cr_expect_eq(terms[0][6], 0);                 /* no work by rows */
    cr_expect_float_eq(terms[3][6], 0.2, 1e-9);   /* 6000 rows on 30 cores, in thousands … */
    cr_expect_float_eq(terms[3][7], 0.2, 1e-9);   /* … none of which ends at 32 bytes */
    cr_expect_float_eq(terms[4][8], 0.004, 1e-9);
    cr_expect_float_eq(terms[4][3], 2 * 64 * 8 * 4 / 1e6, 1e-12); /* not the whole table */
    cr_expect_float_eq(terms[5][3], 48 * 1024 / 1e6, 1e-12);
    network_free(&network);
    hardware_clear(&hw);
}

/* 30 blocks of 32 images are two images for some and take as long as 16; so do 32 blocks of 48 NZ
 * columns, in two waves. What adds up over images does not divide them, and vectors divide alike.
 */
Test(operator_time, blocks_that_idle)
{
    static const struct {
        const char *row;
        double busy;
    } rows[] = {
        {"Conv2D,30,32x12x17x17x16;84x12x16x16,NC1HWC0;FracZ,FLOAT;FLOAT,32x12x17x17x16,NC1HWC0,"
         "FLOAT,1,\n",
         16},
        {"Conv2D,16,16x12x17x17x16;84x12x16x16,NC1HWC0;FracZ,FLOAT;FLOAT,16x12x17x17x16,NC1HWC0,"
         "FLOAT,1,\n",
         16},
        {"Conv2D,30,16x12x17x17x16;84x12x16x16,NC1HWC0;FracZ,FLOAT;FLOAT,16x12x17x17x16,NC1HWC0,"
         "FLOAT,1,\n",
         30},
        {"MatMul,32,48x512x16x16;48x48x16x16,FRACTAL_NZ;FRACTAL_NZ,FLOAT;FLOAT,48x512x16x16,"
         "FRACTAL_NZ,FLOAT,1,\n",
         12},
        {"Conv2DBackpropFilter,30,32x12x17x17x16;32x12x17x17x16,NC1HWC0;NC1HWC0,FLOAT;FLOAT,"
         "84x12x16x16,FracZ,FLOAT16,1,\n",
         30},
        {"Mul,30,32x12x17x17x16,NC1HWC0,FLOAT,32x12x17x17x16,NC1HWC0,FLOAT,1,\n", 30},
    };
    struct hardware hw;
    load_chip(&hw);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct network network;
        struct call_sizes sizes;
        read_calls(rows[i].row, &network);
        call_measure(&network.calls[0], &hw, &sizes);
        cr_expect_float_eq(sizes.busy, rows[i].busy, 1e-9, "%zu: %g", i, sizes.busy);
        network_free(&network);
    }
    hardware_clear(&hw);
}

/* The same call on a chip of twice the cores takes less, and its measured time plays no part. */
Test(operator_time, expected_costs_without_a_file)
{
    struct hardware hw;
    struct network network;
    struct error error;
    struct operator_time times[3];
    load_chip(&hw);
    read_calls("MatMul,,192x400x16x16;192x48x16x16,FRACTAL_NZ;FRACTAL_NZ,FLOAT;FLOAT,48x400x16x16,"
               "FRACTAL_NZ,FLOAT,3,1\n"
               "MatMul,,192x400x16x16;192x48x16x16,FRACTAL_NZ;FRACTAL_NZ,FLOAT;FLOAT,48x400x16x16,"
               "FRACTAL_NZ,FLOAT,1,999\n"
               "Nothing,,,,,,,,1,\n",
               &network);
    cr_assert_eq(operator_times(&network, &hw, times, &error), STATUS_OK);
    cr_expect_eq(times[0].predicted_ns, times[1].predicted_ns);
    cr_expect_gt(times[0].predicted_ns, 2.0 * 6400 * 768 * 3072 / 221184); /* the peak */
    cr_expect_lt(times[0].predicted_ns, 20 * 2.0 * 6400 * 768 * 3072 / 221184);
    cr_expect_eq(times[0].low_ns, times[0].predicted_ns / 2);
    cr_expect_eq(times[0].high_ns, times[0].predicted_ns * 2);
    cr_expect_geq(times[2].predicted_ns, CALL_LEAST_US * 1000);
    double fewer = times[0].predicted_ns;
    hw.cores *= 2;
    cr_assert_eq(operator_times(&network, &hw, times, &error), STATUS_OK);
    cr_expect_lt(times[0].predicted_ns, fewer);
    network_free(&network);
    hardware_clear(&hw);
}

Test(operator_time, a_sum_has_a_share_of_the_intervals)
{
    struct operator_call calls[2] = {{.count = 3}, {.count = 1}};
    const struct network network = {.call_count = 2, .calls = calls};
    const struct operator_time times[2] = {{100, 80, 140, 0.5}, {50, 10, 60, 0.25}};
    struct operator_time sum = network_interval(&network, times);
    cr_expect_float_eq(sum.predicted_ns, 350, 1e-9);
    cr_expect_float_eq(sum.low_ns, 350 - 30 - 10, 1e-9);
    cr_expect_float_eq(sum.high_ns, 350 + 60 + 2.5, 1e-9);
}

/* What ships: intervals hold their prediction, and no sizes that a file may claim break it. */
Test(operator_time, what_ships_takes_all_sizes)
{
    struct hardware hw;
    struct network network;
    struct error error;
    struct operator_time times[7];
    cr_assert_eq(hardware_load(SOURCE_DIR "/configs/hardware/ascend910.cfg", NULL, &hw, &error),
                 STATUS_OK);
    read_calls("MatMul,1048576,68719476736x1x16x16;1x1x16x16,FRACTAL_NZ;FRACTAL_NZ,UINT;UINT,"
               "1x1x16x16,FRACTAL_NZ,UINT,1,\n"
               "Conv2DBackpropFilter,1,1x1;1,NC1HWC0;FracZ,FLOAT;FLOAT,1,FracZ,FLOAT,1,\n"
               "Conv2DBackpropInput,7,,,,1x1x1x1x1,NC1HWC0,FLOAT,1,\n"
               "UnsortedSegmentSum,,1099511627776;1,DefaultFormat;DefaultFormat,UINT;INT16,1,"
               "DefaultFormat,UINT,1,\n"
               "MatMul,,,,,,,,1,\n"
               "Mul,30,640x768,DefaultFormat,FLOAT,640x768,DefaultFormat,FLOAT,1,\n"
               "Xul,30,640x768,DefaultFormat,FLOAT,640x768,DefaultFormat,FLOAT,1,\n",
               &network);
    cr_assert_eq(operator_times(&network, &hw, times, &error), STATUS_OK, "%s", error.text);
    for (int i = 0; i < 7; i++) {
        cr_expect(isfinite(times[i].predicted_ns) && times[i].predicted_ns > 0, "%d", i);
        cr_expect(isfinite(times[i].high_ns) && times[i].low_ns > 0, "%d", i);
        cr_expect_leq(times[i].low_ns, times[i].predicted_ns);
        cr_expect_geq(times[i].high_ns, times[i].predicted_ns);
    }
    cr_expect_lt(times[5].high_ns / times[5].low_ns, 4, "learned, and not the factor of two");
    cr_expect_gt(times[6].high_ns / times[6].low_ns, times[5].high_ns / times[5].low_ns * 1.2,
                 "less is known of another kind");
    network_free(&network);
    hardware_clear(&hw);
}

/* Costs of another count of terms, or of another chip. */
Test(operator_time, files_that_do_not_fit)
{
    static const char laws[] =
        "{\"schema\": 1, \"chip\": \"%s\", \"op\": \"network\", \"space\": \"library\","
        "\"model_version\": 1, \"fingerprint\": \"x\", \"clock_mhz\": 900, \"seed\": 1, \"banks\": "
        "[], \"cross_validated\": [], \"covers\": 0.8, \"margin\": 0, \"problems\": [],"
        "\"margin_unknown\": 0, \"together\": 0.5, \"laws\": [{\"kind\": \"*vector\", \"rows\": 1, "
        "\"spread\": 0, "
        "\"lean\": 0, \"costs_us\": [1, 2]}], \"features\": [], \"forests\": ["
        "{\"quantile\": 0.5, \"start\": 0, \"trees\": []}, {\"quantile\": 0.1, \"start\": 0, "
        "\"trees\": []}, {\"quantile\": 0.9, \"start\": 0, \"trees\": []}]}";
    struct hardware hw;
    struct correction learned;
    struct error error;
    char text[1024];
    load_chip(&hw);
    snprintf(text, sizeof text, laws, "Ascend 910");
    write_file("chip.network.json", text);
    cr_expect_eq(operator_times_open(&hw, &learned, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "laws[0].costs_us: expected 15 costs"), "%s", error.text);
    snprintf(text, sizeof text, laws, "Another");
    char *costs = strstr(text, "[1, 2]");
    cr_assert(costs);
    char rest[512];
    snprintf(rest, sizeof rest, "%s", costs + strlen("[1, 2]"));
    snprintf(costs, sizeof text - (size_t)(costs - text), "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]%s",
             rest);
    write_file("chip.network.json", text);
    cr_expect_eq(operator_times_open(&hw, &learned, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq(learned.law_count, 0, "it is of another chip");
    hardware_clear(&hw);
}
