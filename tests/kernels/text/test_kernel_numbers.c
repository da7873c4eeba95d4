/* What the library's texts compute, against plain references in double: on sizes that nothing
 * divides, for random tilings, of numbers drawn at random and of such as NaN, ±∞, ties and the
 * smallest and largest that a type has. Whoever adds a text adds its reference. */
#include "core/element.h"
#include "kernels/text/space/kernel_space.h"
#include "tests/kernels/text/references.h"
#include "tests/support/cases.h"
#include "tests/support/library.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TILINGS = 50, TRIED = 200000 };

static double draw(gsl_rng *rng, const struct reference *row, bool hostile)
{
    const double odd[] = {NAN, INFINITY,     -INFINITY,     0,       -0.0,   1,
                          -1,  row->largest, -row->largest, 5.96e-8, -6.1e-5};
    enum { ODD = sizeof odd / sizeof *odd };
    if (hostile && gsl_rng_uniform_int(rng, 16) == 0)
        return odd[gsl_rng_uniform_int(rng, ODD)];
    return (2 * gsl_rng_uniform(rng) - 1) * (row->largest > 8 ? 8 : row->largest);
}

static void give(struct numbers_run *run, const struct reference *row, gsl_rng *rng, bool hostile)
{
    for (int t = 0; t < run->tensor_count; t++) {
        struct numbers_tensor *tensor = &run->tensors[t];
        tensor->given = malloc((size_t)tensor->count * sizeof *tensor->given);
        for (int64_t i = 0; i < tensor->count; i++)
            tensor->given[i] =
                tensor->is_loaded ? element_round(tensor->type, draw(rng, row, hostile)) : 0;
    }
}

/* A sum in f32 may lie on the other side of where its result is rounded up. */
static bool is_near(const struct reference *row, enum dtype type, double got, double expected)
{
    const double of_sums = 1e-5;
    double nearest = element_round(type, expected);
    if (isnan(expected) || isnan(got) || got == nearest || row->relative == EXACT)
        return got == nearest || (isnan(expected) && isnan(got));
    if (got == element_round(type, expected * (1 + of_sums)) ||
        got == element_round(type, expected * (1 - of_sums)))
        return true;
    return fabs(got - nearest) <= row->absolute + row->relative * fabs(expected);
}

static int64_t count_not_stored(const double expected[], int64_t count)
{
    int64_t not_stored = 0;
    for (int64_t i = 0; i < count; i++)
        not_stored += expected[i] == NOT_STORED;
    return not_stored;
}

/* A tiling that is legal, drawn from all; false where none was met. */
static bool find_tiling(const struct space *space, gsl_rng *rng, struct tiling *tiling)
{
    for (int i = 0; i < TRIED && space->candidates; i++) {
        space_tiling(space, (int64_t)((double)space->candidates * gsl_rng_uniform(rng)), tiling);
        if (space->kind->agree)
            space->kind->agree(space, tiling);
        if (space->kind->legal(space, tiling))
            return true;
    }
    return false;
}

static int64_t most_elements(const struct numbers_run *run)
{
    int64_t most = 0;
    for (int t = 0; t < run->tensor_count; t++)
        most = run->tensors[t].count > most ? run->tensors[t].count : most;
    return most;
}

/* The first tensor of which something was stored. */
static int stored_first(const struct numbers_run *run)
{
    int out = 0;
    while (out < run->tensor_count &&
           (!run->tensors[out].is_stored || run->tensors[out].missed == run->tensors[out].count))
        out++;
    cr_assert_lt(out, run->tensor_count, "nothing is stored");
    return out;
}

static void check_problem(const struct reference *row, const struct space *space,
                          const int64_t size[], gsl_rng *rng, int *checked, bool hostile)
{
    struct numbers_run run;
    struct tiling tiling;
    struct error error;
    char text[TILING_TEXT_SIZE];
    cr_assert_eq(kernel_numbers.open(space, &run, &error), STATUS_OK, "%s", error.text);
    give(&run, row, rng, hostile);
    const struct reference_data data = {size, &run, tiling.value};
    if (row->prepare)
        row->prepare(&data);
    int64_t most = most_elements(&run);
    cr_assert_gt(most, 0);
    double *expected = malloc((size_t)most * sizeof *expected);
    for (int n = 0; n < 5 && find_tiling(space, rng, &tiling); n++) {
        int wrong = 0;
        row->compute(&data, expected);
        cr_assert_eq(kernel_numbers.play(space, &tiling, &run, &error), STATUS_OK, "%s: %s",
                     row->name, error.text);
        int out = stored_first(&run);
        tiling_text(space->axes, space->axis_count, &tiling, text, sizeof text);
        cr_expect_eq(run.tensors[out].missed, count_not_stored(expected, run.tensors[out].count),
                     "%s: not stored", row->name);
        for (int64_t i = 0; i < run.tensors[out].count && !wrong; i++) {
            wrong = expected[i] != NOT_STORED &&
                    !is_near(row, run.tensors[out].type, run.tensors[out].left[i], expected[i]);
            cr_expect(!wrong, "%s %lldx%lldx%lldx%lld %s: element %lld is %.9g, expected %.9g",
                      row->name, (long long)size[0], (long long)size[1], (long long)size[2],
                      (long long)size[3], text, (long long)i, run.tensors[out].left[i],
                      expected[i]);
        }
        ++*checked;
    }
    free(expected);
    for (int t = 0; t < run.tensor_count; t++)
        free(run.tensors[t].given);
    kernel_numbers.close(&run);
}

static int64_t draw_size(gsl_rng *rng, int64_t least, int64_t most)
{
    return least + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(most - least + 1));
}

static void check_chip(const struct reference *row, const char *chip, enum dtype type,
                       enum dtype result)
{
    struct hardware hw;
    struct kernel_text kernel;
    struct error error;
    char path[512];
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    int checked = 0, wanted = test_cases(TILINGS);
    snprintf(path, sizeof path, "%s/%s.kernel", LIBRARY, row->name);
    machine_load_named(&hw, chip, "");
    cr_assert_eq(kernel_text_read(path, &kernel, &error), STATUS_OK, "%s", error.text);
    for (int problem = 0; checked < wanted && problem < 4 * TILINGS; problem++) {
        int64_t size[KERNEL_MAX_SIZES] = {0};
        struct space space = {.kind = &kernel_space_tile, .hw = &hw};
        for (int s = 0; s < kernel.size_count; s++)
            size[s] = draw_size(rng, row->least[s] ? row->least[s] : 1, row->most[s]);
        if (row->fit)
            row->fit(size);
        int cores = 1 + (int)gsl_rng_uniform_int(rng, hw.cores < 3 ? 2 : 3);
        enum status status =
            kernel_space_create(&space, &kernel, size, type, result, cores, &error);
        if (status == STATUS_OK)
            check_problem(row, &space, size, rng, &checked, row->is_hostile && problem % 2);
        space.kind->destroy(&space);
        free(space.blocks);
    }
    cr_expect_geq(checked, wanted, "%s on %s: %d tilings", row->name, chip, checked);
    gsl_rng_free(rng);
    kernel_text_clear(&kernel);
    hardware_clear(&hw);
}

static bool multiplies(const char *chip, enum dtype type)
{
    struct hardware hw;
    machine_load_named(&hw, chip, "");
    bool does = hardware_matrix_type(&hw, type) != NULL;
    hardware_clear(&hw);
    return does;
}

static void check_row(const struct reference *row, enum dtype type, enum dtype result)
{
    char chips[64], *state = NULL;
    snprintf(chips, sizeof chips, "%s", row->chips);
    for (char *chip = strtok_r(chips, " ", &state); chip; chip = strtok_r(NULL, " ", &state))
        if (multiplies(chip, type))
            check_chip(row, chip, type, result);
}

Test(kernel_numbers, texts_compute_what_they_say)
{
    for (int r = 0; r < reference_count; r++)
        check_row(&references[r], DTYPE_F16, DTYPE_F16);
}

/* In each of the types that a text is for. */
Test(kernel_numbers, products_and_what_follows_compute_what_they_say)
{
    static const struct {
        const char *name;
        enum dtype type, result;
    } cases[] = {
        {"split/weight_quant_matmul", DTYPE_F16, DTYPE_F16},
        {"split/weight_quant_matmul", DTYPE_BF16, DTYPE_BF16},
        {"split/matmul_epilogue", DTYPE_F16, DTYPE_F16},
        {"split/matmul_epilogue", DTYPE_I8, DTYPE_I32},
        {"split/quant_matmul", DTYPE_I8, DTYPE_F16},
        {"split/quant_matmul", DTYPE_I8, DTYPE_BF16},
        {"weight_quant_matmul", DTYPE_F16, DTYPE_F16},
        {"matmul_epilogue", DTYPE_F16, DTYPE_F16},
        {"matmul_epilogue", DTYPE_I8, DTYPE_I32},
        {"quant_matmul", DTYPE_F16, DTYPE_F16},
        {"quant_matmul", DTYPE_I8, DTYPE_F16},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int r = 0; r < quant_reference_count; r++)
            if (strcmp(quant_references[r].name, cases[c].name) == 0)
                check_row(&quant_references[r], cases[c].type, cases[c].result);
}

static void expect_reference(const char *name)
{
    bool found = false;
    for (int r = 0; r < reference_count; r++)
        found |= strcmp(references[r].name, name) == 0;
    for (int r = 0; r < quant_reference_count; r++)
        found |= strcmp(quant_references[r].name, name) == 0;
    cr_expect(found, "%s", name);
}

Test(kernel_numbers, every_text_has_a_reference)
{
    library_each(expect_reference);
}
