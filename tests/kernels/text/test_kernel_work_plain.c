/* Work summaries against the plain evaluator: per price as many instructions, units and bursts, and
 * a bound that is not below what the busiest pipe has to do. */
#include "costmodel/bound.h"
#include "hardware/load.h"
#include "kernels/text/bounds/kernel_work.h"
#include "tests/kernels/text/odd_kernels.h"
#include "tests/kernels/text/random_case.h"
#include "tests/support/cases.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

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

TestSuite(kernel_work_plain, .init = enter, .fini = leave);

struct total {
    double instructions, units, burst_fs;
};

static void compare(const struct random_case *random, const struct work_layout *layout,
                    const struct work *work)
{
    struct total expected[HARDWARE_MAX_PRICES] = {{0, 0, 0}},
                 found[HARDWARE_MAX_PRICES] = {{0, 0, 0}};
    for (int e = 0; e < random->plain.event_count; e++) {
        const struct instruction *in = &random->plain.events[e].in;
        expected[in->price].instructions++;
        expected[in->price].units += (double)in->units;
        expected[in->price].burst_fs += (double)in->burst_fs;
    }
    for (int l = 0; l < layout->total_count; l++) {
        found[layout->price[l]].instructions += work->instructions[l];
        found[layout->price[l]].units += work->units[l];
        found[layout->price[l]].burst_fs += work->burst_fs[l];
    }
    for (int p = 0; p < hw.price_count; p++) {
        cr_assert_float_eq(found[p].instructions, expected[p].instructions, 1e-6,
                           "price %d: %.0f instructions, expected %.0f\n%s", p,
                           found[p].instructions, expected[p].instructions, random->shown);
        cr_assert_float_eq(found[p].units, expected[p].units, 1e-6 + 1e-12 * expected[p].units,
                           "price %d: %.0f units, expected %.0f\n%s", p, found[p].units,
                           expected[p].units, random->shown);
        cr_assert_float_eq(found[p].burst_fs, expected[p].burst_fs, 1 + 1e-9 * expected[p].burst_fs,
                           "price %d: %.0f fs, expected %.0f\n%s", p, found[p].burst_fs,
                           expected[p].burst_fs, random->shown);
    }
}

static bool play_case(struct random_case *random)
{
    struct kernel_plan *plan = calloc(1, sizeof *plan);
    struct kernel_work *summary;
    struct work work;
    bool fine = random && random->plain.verdict == PLAIN_FINE &&
                kernel_plan_make(&random->values, plan, &error) == STATUS_OK;
    if (fine) {
        cr_assert_eq(kernel_work_make(plan, &summary, &error), STATUS_OK, "%s\n%s", error.text,
                     random->shown);
        cr_assert_eq(kernel_summarise(summary, &random->values, random->used, &work, &error),
                     STATUS_OK, "%s\n%s", error.text, random->shown);
        const struct work_layout *layout =
            kernel_work_layout(summary, (enum work_variant)work.layout);
        compare(random, layout, &work);
        struct bound_plan bound;
        bound_plan_make(&bound, &hw, random->used, layout);
        double least = plain_least_fs(&random->plain, random->used);
        double fs = (double)bound_fs(&bound, &work);
        cr_assert(fs * (1 + 1e-9) + 1000 >= least, "a bound of %.0f fs, expected %.0f\n%s", fs,
                  least, random->shown);
        kernel_work_free(summary);
    }
    kernel_plan_clear(plan);
    free(plan);
    if (random)
        random_case_close(random);
    return fine;
}

Test(kernel_work_plain, summaries_count_what_the_plain_evaluator_does)
{
    unsigned long fine = 0, cases = random_cases(200);
    for (unsigned long seed = 1; seed <= cases; seed++)
        fine += play_case(random_case_open(seed, &hw));
    cr_assert_gt(2 * fine, cases);
}

Test(kernel_work_plain, of_odd_kernels)
{
    for (int n = 0; odd_kernels[n]; n++)
        for (int seed = 1; seed <= test_cases(8); seed++)
            play_case(random_case_of(odd_kernels[n], (unsigned long)seed, &hw));
}
