/* The texts of kernels/library: each is read, prints and reads back, has its file's name, and on
 * the chips that it says it is for legal tilings, of which the best is proven and checked. Whoever
 * adds one adds its row. */
#include "analysis/check/oversync.h"
#include "kernels/text/kernel_text.h"
#include "kernels/text/space/kernel_space.h"
#include "search/search.h"
#include "tests/support/cases.h"
#include "tests/support/expect_boxes.h"
#include "tests/support/expect_clean.h"
#include "tests/support/library.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What has to be in a space of a small problem on a chip: one legal tiling at least, and one of
 * those tried that is not, for a reason in words. */
static const struct row {
    const char *name, *chip;
    int64_t sizes[KERNEL_MAX_SIZES];
    int64_t small[KERNEL_MAX_SIZES]; /* of a space that is searched in no time */
    enum dtype type;                 /* f16 where none is said */
    bool lacks;                      /* it asks for operations that the chip has not */
} rows[] = {
    {"add_relu", "ascend310", {500000}, {5000}},
    {"add_relu", "ascend910b2", {500000}, {5000}},
    {"audio_features", "ascend310", {256, 8, 4, 16}, {20, 3, 2, 4}},
    {"audio_features", "ascend910", {256, 8, 4, 16}, {20, 3, 2, 4}},
    {"split/audio_features", "ascend910b1", {256, 8, 4, 16}, {20, 3, 2, 4}},
    {"average_pool", "ascend310", {4, 56, 56, 3, 3, 2, 1}, {3, 9, 7, 3, 2, 2, 1}},
    {"average_pool", "ascend910b2", {4, 56, 56, 3, 3, 2, 1}, {3, 9, 7, 3, 2, 2, 1}},
    {"batched_gemv", "ascend310", {8, 1024, 128}, {3, 200, 100}},
    {"batched_gemv", "ascend910b2", {8, 1024, 128}, {3, 200, 100}},
    {"batched_matmul", "ascend310", {6, 512, 512, 512}, {3, 48, 64, 40}},
    {"batched_matmul", "ascend910", {6, 512, 512, 512}, {40, 32, 48, 32}},
    {"batched_matmul", "ascend910b2", {6, 512, 512, 512}, {3, 48, 64, 40}},
    {"causal_attention", "ascend310", {1, 300, 64}, {1, 300, 32}},
    {"causal_attention", "ascend910", {1, 300, 64}, {1, 300, 32}},
    {"column_max", "ascend310", {3000, 500}, {70, 100}},
    {"column_max", "ascend910b2", {3000, 500}, {70, 100}},
    {"column_sum", "ascend310", {3000, 500}, {70, 100}},
    {"column_sum", "ascend910", {3000, 500}, {70, 100}},
    {"split/column_sum", "ascend910b2", {3000, 500}, {70, 100}},
    {"conv2d",
     "ascend310",
     {28, 28, 3, 3, 128, 128, 2, 1, 1, 2, 1},
     {6, 7, 3, 2, 20, 32, 2, 1, 2, 2}},
    {"conv2d",
     "ascend910b2",
     {28, 28, 3, 3, 128, 128, 1, 1, 2, 1},
     {6, 7, 3, 2, 20, 32, 1, 1, 1, 3, 1}},
    {"cubefx_pipeline", "ascend310", {256, 8, 4}, {20, 3, 2}},
    {"cubefx_pipeline", "ascend910", {256, 8, 4}, {20, 3, 2}},
    {"split/cubefx_pipeline", "ascend910b1", {256, 8, 4}, {20, 3, 2}},
    {"split/cubefx_pipeline", "ascend910b2", {256, 8, 4}, {20, 3, 2}},
    {"depthwise_conv2d", "ascend310", {4, 56, 56, 3, 3, 1, 1}, {3, 9, 7, 3, 2, 2, 1}},
    {"depthwise_conv2d", "ascend910b2", {4, 56, 56, 3, 3, 1, 1}, {3, 9, 7, 3, 2, 2, 1}},
    {"exp", "ascend310", {500000}, {5000}},
    {"exp", "ascend910b2", {500000}, {5000}},
    {"fft", "ascend310", {4, 64}, {2, 16}},
    {"fft", "ascend910b2", {4, 64}, {2, 16}},
    {"fft_passes", "ascend910", {3, 8, 512}, {3, 8, 32}},
    {"fft_passes", "ascend910b2", {3, 8, 512}, {3, 8, 32}},
    {"flash_attention", "ascend310", {4, 1024, 64}, {2, 300, 32}},
    {"flash_attention", "ascend910", {4, 1024, 64}, {2, 300, 32}},
    {"split/flash_attention", "ascend910b2", {4, 1024, 64}, {2, 300, 32}},
    {"gelu", "ascend310", {500000}, {5000}},
    {"gelu", "ascend910", {500000}, {5000}},
    {"gelu", "ascend910b2", {500000}, {5000}},
    {"layernorm", "ascend910", {300, 1000}, {30, 200}},
    {"layernorm", "ascend910b2", {300, 1000}, {30, 200}},
    {"layernorm_matrix", "ascend310", {300, 2000}, {50, 200}},
    {"layernorm_matrix", "ascend910", {300, 2000}, {50, 200}},
    {"layernorm_long", "ascend910", {5, 100000}, {3, 2000}},
    {"layernorm_long", "ascend910b2", {5, 100000}, {3, 2000}},
    {"matmul_thesis", "ascend310", {256, 512, 200, 2}, {64, 48, 80, 2}},
    {"matmul_thesis", "ascend910", {256, 512, 200, 2}, {64, 48, 80, 2}},
    {"matmul_two_level", "ascend310", {256, 512, 200, 1}, {32, 48, 32, 1}},
    {"matmul_two_level", "ascend910b2", {256, 512, 200, 1}, {32, 48, 32, 1}},
    {"max_pool", "ascend310", {4, 56, 56, 3, 3, 2, 1}, {3, 9, 7, 3, 2, 2, 1}},
    {"max_pool", "ascend910b2", {4, 56, 56, 3, 3, 2, 1}, {3, 9, 7, 3, 2, 2, 1}},
    {"maximum", "ascend310", {500000}, {5000}},
    {"maximum", "ascend910b2", {500000}, {5000}},
    {"mish", "ascend310", {500000}, {5000}},
    {"mish", "ascend910b2", {500000}, {5000}},
    {"nd_to_nz", "ascend310", {4096, 1024}, {100, 60}},
    {"nd_to_nz", "ascend910b2", {4096, 1024}, {100, 60}},
    {"rms_norm", "ascend310", {300, 4000}, {40, 200}},
    {"rms_norm", "ascend910", {300, 4000}, {40, 200}},
    {"rms_norm_long", "ascend910", {5, 100000}, {3, 2000}},
    {"rms_norm_long", "ascend910b2", {5, 100000}, {3, 2000}},
    {"rms_norm_rows", "ascend910", {300, 2000}, {30, 200}},
    {"rms_norm_rows", "ascend910b2", {300, 2000}, {30, 200}},
    {"rotary", "ascend310", {8, 500, 128}, {3, 40, 60}},
    {"rotary", "ascend910b2", {8, 500, 128}, {3, 40, 60}},
    {"row_max", "ascend310", {3000, 500}, {100, 300}},
    {"row_max", "ascend910b2", {3000, 500}, {100, 300}},
    {"row_sum", "ascend310", {3000, 500}, {100, 300}},
    {"row_sum", "ascend910", {3000, 500}, {100, 300}},
    {"split/row_sum", "ascend910b2", {3000, 500}, {100, 300}},
    {"scale_bias_relu", "ascend310", {300, 4000}, {30, 700}},
    {"scale_bias_relu", "ascend910b2", {300, 4000}, {30, 700}},
    {"sigmoid", "ascend310", {500000}, {5000}},
    {"sigmoid", "ascend910b2", {500000}, {5000}},
    {"softmax", "ascend910", {300, 2000}, {30, 200}},
    {"softmax", "ascend910b2", {300, 2000}, {30, 200}},
    {"softmax_long", "ascend310", {5, 100000}, {3, 2000}},
    {"softmax_long", "ascend910b2", {5, 100000}, {3, 2000}},
    {"softmax_rows", "ascend310", {300, 1000}, {0}, .lacks = true},
    {"softmax_rows", "ascend910", {300, 1000}, {30, 200}},
    {"softmax_rows", "ascend910b2", {300, 1000}, {30, 200}},
    {"swiglu", "ascend310", {300, 2000}, {20, 100}},
    {"swiglu", "ascend910b2", {300, 2000}, {20, 100}},
    {"transpose_2d", "ascend310", {2000, 500}, {100, 60}},
    {"transpose_2d", "ascend910b2", {2000, 500}, {100, 60}},
    {"split/matmul_epilogue",
     "ascend910b1",
     {64, 256, 512, 1, 1, 2, 1, 1},
     {16, 64, 96, 1, 1, 2, 1, 1}},
    {"split/matmul_epilogue", "ascend910b2", {64, 256, 512}, {16, 64, 96}},
    {"split/matmul_epilogue",
     "ascend910b2",
     {64, 256, 512, 1, 1, 1, 0, 1},
     {16, 64, 96, 1, 1, 1, 0, 1}},
    {"split/matmul_epilogue", "ascend910b3", {64, 256, 512, 0, 1, 2}, {16, 64, 96, 0, 1, 1, 1}},
    {"split/matmul_epilogue", "ascend910b4", {64, 256, 512, 1, 0, 1}, {16, 64, 96, 1, 0, 1}},
    {"matmul_epilogue", "ascend310", {64, 256, 512, 1, 1, 2, 1, 1}, {16, 64, 96, 1, 1, 2, 1, 1}},
    {"matmul_epilogue", "ascend310", {64, 256, 512}, {16, 64, 96}},
    {"matmul_epilogue", "ascend910", {64, 256, 512, 1, 1, 2, 1, 1}, {16, 64, 96, 1, 1, 2, 1, 1}},
    {"matmul_epilogue",
     "ascend910",
     {64, 256, 512, 1, 1, 1, 1},
     {16, 64, 96, 1, 1, 1, 1},
     .type = DTYPE_I8},
    {"weight_quant_matmul", "ascend310", {16, 2048, 2048, 8}, {16, 128, 96, 8}},
    {"weight_quant_matmul", "ascend910", {16, 2048, 2048, 8}, {16, 128, 96, 8}},
    {"quant_matmul", "ascend310", {128, 512, 1000, 1}, {40, 100, 90, 1}},
    {"quant_matmul", "ascend910", {128, 512, 1000}, {64, 256, 96}},
    {"quant_matmul", "ascend910", {128, 512, 1000, 1}, {40, 100, 90, 1}, .type = DTYPE_I8},
    {"split/weight_quant_matmul", "ascend910b1", {16, 2048, 2048, 8}, {16, 128, 96, 8}},
    {"split/weight_quant_matmul", "ascend910b2", {16, 2048, 2048, 4}, {16, 128, 96, 4}},
    {"split/weight_quant_matmul", "ascend910b3", {16, 2048, 2048, 8}, {16, 128, 96, 8}},
    {"split/weight_quant_matmul", "ascend910b4", {16, 2048, 2048, 4}, {16, 128, 96, 4}},
    {"split/quant_matmul", "ascend910b1", {128, 512, 1000, 1}, {64, 256, 96, 1}, .type = DTYPE_I8},
    {"split/quant_matmul", "ascend910b2", {128, 512, 1000}, {40, 100, 90}, .type = DTYPE_I8},
    {"split/quant_matmul", "ascend910b3", {128, 512, 1000, 1}, {64, 256, 96, 1}, .type = DTYPE_I8},
    {"split/quant_matmul", "ascend910b4", {128, 512, 1000, 1}, {64, 256, 96, 1}, .type = DTYPE_I8},
};
enum { ROWS = sizeof rows / sizeof *rows, TRIED = 3000 };

static char *print(const struct kernel_text *kernel)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    cr_assert(out);
    kernel_text_print(kernel, out);
    cr_assert_eq(fclose(out), 0);
    return text;
}

static void read_text(const char *name, struct kernel_text *kernel)
{
    char path[512];
    struct error error;
    snprintf(path, sizeof path, "%s/%s.kernel", LIBRARY, name);
    cr_assert_eq(kernel_text_read(path, kernel, &error), STATUS_OK, "%s\n%s", error.text,
                 error.excerpt);
}

static void expect_text(const char *name)
{
    struct kernel_text kernel, again;
    struct error error;
    read_text(name, &kernel);
    cr_expect_str_eq(kernel.name.text, library_kernel(name), "the file is called as the kernel");
    cr_expect(kernel.title[0], "%s has a title", name);
    char *printed = print(&kernel);
    cr_assert_eq(kernel_text_parse(name, printed, strlen(printed), &again, &error), STATUS_OK, "%s",
                 error.text);
    char *twice = print(&again);
    cr_expect_str_eq(printed, twice);
    free(twice);
    free(printed);
    kernel_text_clear(&again);
    kernel_text_clear(&kernel);
    int row = 0;
    while (row < ROWS && strcmp(rows[row].name, name) != 0)
        row++;
    cr_expect_lt(row, ROWS, "%s has a row above", name);
}

Test(kernel_library, every_text_reads_back_and_has_a_row)
{
    cr_expect_geq(library_each(expect_text), 8);
}

/* Opens the space of a row's sizes; of a row of the table with a cold cache, where there is one. */
static enum status open_row(const struct row *row, const int64_t sizes[],
                            struct kernel_text *kernel, struct hardware *hw, struct space *space,
                            struct error *error)
{
    bool is_cold = row->sizes[0] && strcmp(row->chip, "ascend910b2") == 0;
    machine_load_named(hw, row->chip, is_cold ? "cache.default=cold" : "");
    read_text(row->name, kernel);
    *space = (struct space){.kind = &kernel_space_tile, .hw = hw};
    return kernel_space_create(space, kernel, sizes, row->type, DTYPE_F16,
                               hw->cores < 3 ? hw->cores : 3, error);
}

static void close_row(struct kernel_text *kernel, struct hardware *hw, struct space *space)
{
    space->kind->destroy(space);
    free(space->blocks);
    kernel_text_clear(kernel);
    hardware_clear(hw);
}

static void expect_tilings(const struct row *row, const struct space *space)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    int legal = 0, refused = 0;
    cr_expect_gt(space->candidates, 10);
    for (int i = 0; i < TRIED && i < 5 * space->candidates; i++) {
        if (i >= test_cases(TRIED) && legal > 0 && refused > 0)
            break;
        struct violation list[MAX_VIOLATIONS];
        struct tiling tiling;
        space_tiling(space, (int64_t)((double)space->candidates * gsl_rng_uniform(rng)), &tiling);
        if (space->kind->agree)
            space->kind->agree(space, &tiling);
        bool is_legal = space->kind->legal(space, &tiling);
        int count = space->kind->violations(space, &tiling, list);
        legal += is_legal;
        refused += !is_legal;
        if (is_legal)
            cr_expect_eq(count, 0);
        else
            cr_expect(count > 0 && list[0].limit[0], "%s: a reason", row->name);
    }
    cr_expect(legal > 0 && refused > 0, "%s on %s: %d legal and %d refused", row->name, row->chip,
              legal, refused);
    gsl_rng_free(rng);
}

Test(kernel_library, texts_have_legal_tilings_on_their_chips)
{
    for (int r = 0; r < ROWS; r++) {
        struct kernel_text kernel;
        struct hardware hw;
        struct error error;
        struct space space;
        enum status status = open_row(&rows[r], rows[r].sizes, &kernel, &hw, &space, &error);
        if (rows[r].lacks)
            cr_expect(status == STATUS_INVALID && strstr(error.text, "has no vector operation"),
                      "%s", error.text);
        else if (status != STATUS_OK)
            cr_expect_fail("%s: %s", rows[r].name, error.text);
        else
            expect_tilings(&rows[r], &space);
        close_row(&kernel, &hw, &space);
    }
}

/* `autotune check` finds nothing in the program of a tiling. */
static void expect_safe(const struct space *space, const struct tiling *tiling, const char *name)
{
    struct program program = {0};
    struct error error;
    program_reset(&program, space->hw);
    cr_assert_eq(space->kind->generate(space, tiling, 0, &program, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(program_tidy(&program, NULL, &error), STATUS_OK, "%s", error.text);
    expect_clean(&program, name);
    program_clear(&program);
}

/* No tiling beats it, and it is no more than some factors away. */
static void expect_roofline(const struct space *space, const struct found *best,
                            const struct row *row)
{
    double fs = space->kind->roofline_ns(space) * FS_PER_NS;
    double best_fs = found_ns(best) * FS_PER_NS - (double)hardware_start_fs(space->hw, 1);
    cr_expect(fs > best_fs / 8 && fs <= best_fs, "%s on %s: %.3g of %.3g fs", row->name, row->chip,
              fs, best_fs);
}

static double product_roofline_ns(int64_t m, int64_t k, int64_t n, double *peak_per_ns)
{
    const struct row row = {"matmul_thesis", "ascend310", {m, k, n, 1}, {0}};
    struct kernel_text kernel;
    struct hardware hw;
    struct space space;
    struct error error;
    cr_assert_eq(open_row(&row, row.sizes, &kernel, &hw, &space, &error), STATUS_OK, "%s",
                 error.text);
    *peak_per_ns = hw.cores * hardware_matrix_peak(&hw, DTYPE_F16) / 1e9;
    double ns = space.kind->roofline_ns(&space);
    close_row(&kernel, &hw, &space);
    return ns;
}

/* Moves of tensors that do not fit in the cache go behind it, those of others do not. */
Test(kernel_library, what_the_cache_does_not_hold_comes_from_behind)
{
    static const struct {
        const char *name;
        int64_t sizes[KERNEL_MAX_SIZES];
        const char *memory;
    } cases[] = {
        {"maximum", {20000000}, "gm"}, /* 120 MB */
        {"maximum", {40000000}, "hbm"},
        {"batched_matmul", {10000, 64, 64, 64}, "hbm"}, /* 246 MB */
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct row row = {.name = cases[c].name, .chip = "ascend910b2"};
        struct program program = {0};
        struct kernel_text kernel;
        struct hardware hw;
        struct space space;
        struct error error;
        struct tiling tiling;
        cr_assert_eq(open_row(&row, cases[c].sizes, &kernel, &hw, &space, &error), STATUS_OK, "%s",
                     error.text);
        int64_t number = 0;
        do
            space_tiling(&space, number++, &tiling);
        while (!space.kind->legal(&space, &tiling));
        program_reset(&program, &hw);
        cr_assert_eq(space.kind->generate(&space, &tiling, 0, &program, &error), STATUS_OK);
        int memory = hardware_buffer(&hw, cases[c].memory, (int)strlen(cases[c].memory)), moves = 0;
        for (int i = 0; i < program.count; i++) {
            const struct instruction *in = &program.items[i];
            if (in->kind != INSTRUCTION_MOVE)
                continue;
            const struct path *path = &hw.paths[in->what];
            bool outside = !hw.buffers[path->source].capacity_bytes ||
                           !hw.buffers[path->destination].capacity_bytes;
            moves += outside;
            cr_expect(!outside || path->source == memory || path->destination == memory);
        }
        cr_expect_gt(moves, 0);
        program_clear(&program);
        close_row(&kernel, &hw, &space);
    }
}

/* It is no less than that of any product: padded operands and results over the bus, and padded
 * operations at the peak. */
Test(kernel_library, a_product_has_its_roofline)
{
    double peak_per_ns, ns = product_roofline_ns(512, 1024, 500, &peak_per_ns);
    double bytes = 2.0 * (512 * 1024 + 1024 * 512 + 512 * 512);
    cr_expect(ns > bytes / 42 && ns < 2 * bytes / 42, "%f, over the bus %f", ns, bytes / 42);
    ns = product_roofline_ns(1024, 1023, 1024, &peak_per_ns);
    double operations_ns = 2.0 * 1024 * 1024 * 1024 / peak_per_ns;
    cr_expect(ns > operations_ns && ns < 2 * operations_ns, "%f, at the peak %f", ns,
              operations_ns);
}

Test(kernel_library, texts_are_tuned_with_proof)
{
    for (int r = 0; r < ROWS; r++) {
        struct search_options how = {.threads = 2, .top = 3};
        struct search_result result;
        struct kernel_text kernel;
        struct hardware hw;
        struct space space;
        struct error error;
        if (rows[r].lacks)
            continue;
        cr_assert_eq(open_row(&rows[r], rows[r].small, &kernel, &hw, &space, &error), STATUS_OK,
                     "%s: %s", rows[r].name, error.text);
        cr_assert_eq(search(&space, &how, &result, &error), STATUS_OK, "%s: %s", rows[r].name,
                     error.text);
        cr_expect(result.optimal, "%s on %s", rows[r].name, rows[r].chip);
        cr_expect_gt(result.count, 0);
        expect_roofline(&space, &result.best[0], &rows[r]);
        for (int b = 0; b < result.count; b++)
            expect_safe(&space, &result.best[b].tiling, rows[r].name);
        search_result_clear(&result);
        close_row(&kernel, &hw, &space);
    }
}

/* The best of all legal tilings, each of them simulated. */
Test(kernel_library, what_bounds_find_is_the_best_of_all)
{
    static const char *const names[] = {"batched_matmul", "matmul_epilogue"}; /* ways to choose */
    for (int r = 0; r < ROWS; r++) {
        if (strcmp(rows[r].name, names[0]) != 0 && strcmp(rows[r].name, names[1]) != 0)
            continue;
        static const char *const strategies[] = {"bound", "exhaustive"};
        double best_ns[2];
        struct kernel_text kernel;
        struct hardware hw;
        struct error error;
        struct space space;
        for (int s = 0; s < 2; s++) {
            struct search_options how = {.strategy = strategies[s], .threads = 2, .top = 1};
            struct search_result result;
            cr_assert_eq(open_row(&rows[r], rows[r].small, &kernel, &hw, &space, &error), STATUS_OK,
                         "%s", error.text);
            cr_assert_eq(search(&space, &how, &result, &error), STATUS_OK, "%s", error.text);
            best_ns[s] = found_ns(&result.best[0]);
            search_result_clear(&result);
            close_row(&kernel, &hw, &space);
        }
        cr_expect_eq(best_ns[0], best_ns[1], "%s on %s: %f, the best %f", rows[r].name,
                     rows[r].chip, best_ns[0], best_ns[1]);
    }
}

/* Small problems by boxes and one by one; of the larger ones boxes alone. */
Test(kernel_library, boxes_bound_what_is_in_them, .timeout = 900)
{
    struct boxes_seen seen = {0};
    for (int r = 0; r < ROWS; r += 1 + 3 * (test_thinning() > 1)) {
        struct kernel_text kernel;
        struct hardware hw;
        struct space space;
        struct error error;
        if (rows[r].lacks)
            continue;
        cr_assert_eq(open_row(&rows[r], rows[r].small, &kernel, &hw, &space, &error), STATUS_OK,
                     "%s: %s", rows[r].name, error.text);
        expect_boxes(&space, (unsigned long)r, test_cases(100), &seen, rows[r].name);
        if (space.candidates < 3000)
            expect_same_by_boxes(&space, &seen, rows[r].name);
        close_row(&kernel, &hw, &space);
    }
    cr_log_info("%d spaces, %d boxes, %d empty, %d tilings; %d of %d alone are tight; %d searches "
                "simulated %d of %d",
                seen.spaces, seen.boxes, seen.empty, seen.members, seen.tight, seen.points,
                seen.searched, seen.simulated, seen.listed);
    cr_expect_gt(seen.spaces, ROWS / 8);
}
