/* Programs of kernels' texts: on random shapes and tilings check finds nothing in them, and nothing
 * superfluous once they are tidy. */
#include "analysis/check/check.h"
#include "analysis/check/oversync.h"
#include "core/program_text.h"
#include "costmodel/simulate.h"
#include "hardware/load.h"
#include "tests/kernels/text/kernel_texts.h"
#include "tests/support/cases.h"
#include "tests/support/kernel_case.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct hardware hw;
static gsl_rng *rng;
static struct simulator *simulator;

static void enter(void)
{
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    rng = gsl_rng_alloc(gsl_rng_taus2);
    simulator = simulator_new();
}

static void leave(void)
{
    gsl_rng_free(rng);
    simulator_free(simulator);
    hardware_clear(&hw);
}

TestSuite(kernel_program, .init = enter, .fini = leave);

static void load(const char *name)
{
    struct error error;
    cr_assert_eq(hardware_load(name, NULL, &hw, &error), STATUS_OK, "%s", error.text);
}

static int64_t time_of(const struct program *program)
{
    struct timeline timeline;
    struct error error;
    cr_assert_eq(
        simulate(simulator, program, &(struct simulate_options){.cores = 1}, &timeline, &error),
        STATUS_OK, "%s", error.text);
    cr_assert_lt(timeline.blocked, 0);
    return timeline.end_fs;
}

struct tally {
    int legal, over_sync, slower; /* programs; with superfluous flags; that cost time */
    double most;                  /* of it, at most: time with them by time without */
};

static void check_program(struct kernel_case *c, struct tally *tally)
{
    struct check check;
    struct error error;
    enum status status = program_check(&c->program, &check, &error);
    if (status == STATUS_TOO_LARGE)
        return;
    cr_assert_eq(status, STATUS_OK, "%s", error.text);
    tally->legal++;
    bool is_safe = check_is_safe(&check);
    if (!is_safe) {
        char *text = NULL;
        size_t length;
        FILE *out = open_memstream(&text, &length);
        program_print(&c->program, out, &error);
        fclose(out);
        cr_expect(is_safe, "%s\n%s: %s\n%s", kernel_case_text(c),
                  finding_kind_name(check.findings[0].kind), check.findings[0].text, text);
        free(text);
    }
    bool has_more = check.count > 0;
    check_clear(&check);
    if (!has_more || !is_safe)
        return;
    int64_t before = time_of(&c->program);
    cr_assert_eq(program_tidy(&c->program, NULL, &error), STATUS_OK, "%s", error.text);
    tally->over_sync++;
    int64_t after = time_of(&c->program);
    tally->slower += after != before;
    if ((double)before / (double)after > tally->most)
        tally->most = (double)before / (double)after;
}

/* Tilings of a text on random sizes: how many, sizes up to these; superfluous flags make programs
 * at most so much slower. */
static void check_kernel(const char *text, const int64_t most[], int count, double slowest)
{
    struct kernel_case *c = kernel_case_open(&hw, text);
    struct tally tally = {0};
    gsl_rng_set(rng, 1);
    count = test_cases(count);
    for (int tries = 0; tries < 50 * count && tally.legal < count; tries++) {
        int64_t sizes[KERNEL_MAX_SIZES];
        for (int s = 0; s < c->kernel.size_count; s++)
            sizes[s] = 1 + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)most[s]);
        if (kernel_case_set(c, sizes, NULL, rng) && kernel_case_make(c))
            check_program(c, &tally);
    }
    cr_log_info("%s: %d programs, %d with superfluous flags, %d slower for it, at most %.4f\n",
                c->kernel.name.text, tally.legal, tally.over_sync, tally.slower, tally.most);
    cr_expect_leq(tally.most, slowest, "%s", c->kernel.name.text);
    cr_expect_geq(tally.legal, count / 2, "%s: %s", c->kernel.name.text, c->error.text);
    kernel_case_close(c);
}

#define LIBRARY(name) SOURCE_DIR "/kernels/library/" name ".kernel"

Test(kernel_program, add_relu)
{
    load("ascend310");
    check_kernel(LIBRARY("add_relu"), (int64_t[]){40000}, 40, 1);
}

Test(kernel_program, matmul)
{
    load("ascend310");
    check_kernel(LIBRARY("matmul_thesis"), (int64_t[]){300, 300, 300, 4}, 200, 1.005);
}

Test(kernel_program, conv2d)
{
    load("ascend310");
    check_kernel(LIBRARY("conv2d"), (int64_t[]){20, 20, 3, 3, 60, 60, 2, 1, 1, 2, 1}, 80, 1.01);
}

/* Its tiles share room: flags that cost time are gone before anybody shows the program. */
Test(kernel_program, causal_attention)
{
    load("ascend310");
    check_kernel(LIBRARY("causal_attention"), (int64_t[]){2, 300, 64}, 20, 1);
}

/* ---- kernels that the library has not ---- */

#define OF_TEXT(name, slowest, ...)                                                                \
    Test(kernel_program, name)                                                                     \
    {                                                                                              \
        load("ascend310");                                                                         \
        check_kernel(name, (int64_t[KERNEL_MAX_SIZES]){__VA_ARGS__}, 80, slowest);                 \
    }

OF_TEXT(softmax_like, 1, 60, 700)
OF_TEXT(two_levels, 1, 200, 200, 200)
OF_TEXT(drained_inside, 1, 200, 200, 200)
OF_TEXT(side_by_side, 1.15, 100, 200)
OF_TEXT(skewed, 1, 100, 64)
OF_TEXT(stages_apart, 1.3, 400, 100)
OF_TEXT(kept_by_stages, 1.05, 800)
OF_TEXT(two_passes, 1.05, 20, 200)
OF_TEXT(through_gm, 1.1, 100, 200)
OF_TEXT(written_out, 1, 3000)
