/* The five features of an audio signal from end to end: coefficients from their expansions, the
 * kernel's text on numbers, and the signal's cosines themselves, windows summed one by one. */
#include "core/element.h"
#include "kernels/cubefx/cubefx_functions.h"
#include "kernels/text/space/kernel_space.h"
#include "tests/support/library.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 90, EDGE = 16, TERMS = 16, SINGLE = 4, WINDOW = 8, TILINGS = 12 };
enum { INPUTS = ROWS * EDGE };

static const char names[] = "amplitude,log-amplitude,power,gradient,autocorrelation:0.5:8";

static struct numbers_tensor *tensor(struct numbers_run *run, const char *name)
{
    for (int t = 0; t < run->tensor_count; t++)
        if (strcmp(run->tensors[t].name, name) == 0)
            return &run->tensors[t];
    cr_assert_fail("no tensor %s", name);
    return NULL;
}

/* Phases within a quarter of a wave; logarithms are of what is above 0. */
static double phase(int input)
{
    return element_round(DTYPE_F16, 0.05 + 0.9 * fabs(sin(0.37 * input)));
}

static void give(struct numbers_run *run, const struct cubefx_function *functions)
{
    for (int t = 0; t < run->tensor_count; t++)
        run->tensors[t].given =
            calloc((size_t)run->tensors[t].count, sizeof *run->tensors[t].given);
    for (int i = 0; i < INPUTS; i++)
        tensor(run, "X")->given[i] = phase(i);
    for (int f = 0; f <= SINGLE; f++) {
        double c[TERMS];
        cr_assert(cubefx_function_expand(&functions[f], 0, TERMS, c));
        for (int row = 0; row < EDGE * TERMS; row++) {
            double coefficient = element_round(DTYPE_F16, c[row % TERMS]);
            int column = row / TERMS;
            tensor(run, "E")->given[row * EDGE + column] = row % TERMS;
            if (f < SINGLE)
                tensor(run, "B")->given[(row * EDGE + column) * SINGLE + f] = coefficient;
            else
                tensor(run, "D")->given[row * EDGE + column] = coefficient;
        }
    }
}

static void expect_near(const char *what, int input, double got, double expected, double error)
{
    cr_expect(fabs(got - expected) <= error, "%s of input %d is %g, expected %g", what, input, got,
              expected);
}

static void expect_features(struct numbers_run *run, int merge)
{
    const double *y = tensor(run, "Y")->left, *v = tensor(run, "V")->left;
    for (int i = 0; i < INPUTS; i++) {
        int row = i / EDGE, column = i % EDGE;
        const double *of =
            y + ((int64_t)(column / merge) * ROWS + row) * EDGE * SINGLE + column % merge * SINGLE;
        double x = phase(i), sum = 0;
        expect_near("amplitude", i, of[0], cos(x), 0.004);
        expect_near("log-amplitude", i, of[1], log(cos(x)), 0.004);
        expect_near("power", i, of[2], cos(x) * cos(x), 0.004);
        expect_near("gradient", i, of[3], -sin(x), 0.004);
        for (int w = 0; w < WINDOW && row + w < ROWS; w++)
            sum += cos(phase(i + w * EDGE)) * cos(phase(i + w * EDGE) + 0.5);
        expect_near("autocorrelation", i, v[i], sum, 0.03);
    }
}

static void check_chip(const char *chip, const char *name)
{
    static const int64_t sizes[KERNEL_MAX_SIZES] = {ROWS, TERMS, SINGLE, WINDOW};
    struct cubefx_function functions[SINGLE + 1];
    struct kernel_text kernel;
    struct numbers_run run;
    struct hardware hw;
    struct tiling tiling;
    struct error error;
    char path[512];
    int count, checked = 0;
    cr_assert_eq(cubefx_functions_parse(names, SINGLE + 1, functions, &count, &error), STATUS_OK);
    snprintf(path, sizeof path, "%s/%s.kernel", LIBRARY, name);
    machine_load_named(&hw, chip, "");
    struct space space = {.kind = &kernel_space_tile, .hw = &hw};
    cr_assert_eq(kernel_text_read(path, &kernel, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(kernel_space_create(&space, &kernel, sizes, DTYPE_F16, DTYPE_F16, 2, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(kernel_numbers.open(&space, &run, &error), STATUS_OK, "%s", error.text);
    give(&run, functions);
    for (int64_t n = 0; n < space.candidates && checked < TILINGS; n += 1 + space.candidates / 97) {
        space_tiling(&space, n, &tiling);
        if (!space.kind->legal(&space, &tiling))
            continue;
        cr_assert_eq(kernel_numbers.play(&space, &tiling, &run, &error), STATUS_OK, "%s",
                     error.text);
        expect_features(&run, (int)tiling.value[0]);
        checked++;
    }
    cr_expect_geq(checked, TILINGS / 2, "%s: %d tilings", chip, checked);
    for (int t = 0; t < run.tensor_count; t++)
        free(run.tensors[t].given);
    kernel_numbers.close(&run);
    space.kind->destroy(&space);
    free(space.blocks);
    kernel_text_clear(&kernel);
    hardware_clear(&hw);
}

Test(audio_features, texts_give_what_the_signal_has)
{
    check_chip("ascend310", "audio_features");
    check_chip("ascend910", "audio_features");
    check_chip("ascend910b1", "split/audio_features");
}
