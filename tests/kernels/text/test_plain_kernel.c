/* Random kernels parse, and the plain evaluator finds nothing wrong with them. */
#include "hardware/load.h"
#include "tests/kernels/text/plain_kernel.h"
#include "tests/kernels/text/random_case.h"
#include "tests/kernels/text/random_kernel.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct hardware hw;
static struct error error;

static void enter(void)
{
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    cr_assert_eq(hardware_load("ascend310", NULL, &hw, &error), STATUS_OK, "%s", error.text);
    random_case_chip(&hw);
}

static void leave(void)
{
    hardware_clear(&hw);
}

TestSuite(plain_kernel, .init = enter, .fini = leave);

Test(plain_kernel, random_kernels_are_what_they_should_be)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    struct kernel_values *values = malloc(sizeof *values);
    struct plain *plain = malloc(sizeof *plain);
    int counts[4] = {0};
    for (unsigned long seed = 1; seed <= 400; seed++) {
        struct kernel_text kernel;
        int64_t given[KERNEL_MAX_SIZES];
        char shown[RANDOM_TILING_SIZE];
        int used;
        gsl_rng_set(rng, seed);
        char *text = random_kernel_text(rng);
        cr_assert_eq(kernel_text_parse("random", text, strlen(text), &kernel, &error), STATUS_OK,
                     "%s\n%s", error.text, text);
        random_kernel_sizes(rng, &kernel, given);
        cr_assert_eq(kernel_values_set(values, &kernel, &hw, DTYPE_F16, given, &error), STATUS_OK);
        cr_assert(random_kernel_tiling(rng, 1 + (int)(seed % 2), values, &used), "%s", text);
        plain_run(values, plain);
        counts[plain->verdict]++;
        cr_assert(plain->verdict == PLAIN_FINE || plain->verdict == PLAIN_TOO_LONG ||
                      strstr(plain->why, "a part in pieces"),
                  "%s: %s\n%s", plain->why, random_kernel_show(values, given, shown), text);
        plain_clear(plain);
        kernel_text_clear(&kernel);
        free(text);
    }
    cr_assert_gt(counts[PLAIN_FINE], 300);
    free(plain);
    free(values);
    gsl_rng_free(rng);
}
