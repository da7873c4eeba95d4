/* Work summaries of kernels' texts against their programs: the totals are those of the program, to
 * the last unit, and no program takes less time than its bound; numbers of instructions in the flat
 * form are those of plans, in every round; how close the bound is to the time of MatMul. */
#include "costmodel/bound.h"
#include "costmodel/simulate.h"
#include "kernels/matmul/matmul.h"
#include "kernels/text/kernel_cells.h"
#include "kernels/text/kernel_space_internal.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

static struct hardware hw;
static struct kernel_text kernel;
static struct space space;
static struct program program;
static struct simulator *simulator;
static gsl_rng *rng;
static struct error error;

static void enter(void)
{
    rng = gsl_rng_alloc(gsl_rng_mt19937);
    simulator = simulator_new();
}

static void leave(void)
{
    program_clear(&program);
    simulator_free(simulator);
    gsl_rng_free(rng);
    hardware_clear(&hw);
}

TestSuite(kernel_work, .init = enter, .fini = leave);

static int64_t draw(int64_t most)
{
    return 1 + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)most);
}

static bool open_kernel(const char *name, const int64_t given[])
{
    char file[256];
    snprintf(file, sizeof file, SOURCE_DIR "/kernels/library/%s.kernel", name);
    cr_assert_eq(kernel_text_read(file, &kernel, &error), STATUS_OK, "%s", error.text);
    space = (struct space){.kind = &kernel_space_tile, .hw = &hw};
    return kernel_space_create(&space, &kernel, given, DTYPE_F16, DTYPE_F16, hw.cores, &error) ==
           STATUS_OK;
}

static void close_kernel(void)
{
    space.kind->destroy(&space);
    free(space.blocks);
    kernel_text_clear(&kernel);
}

static int64_t time_of(const struct tiling *tiling)
{
    struct timeline timeline;
    const struct simulate_options options = {
        .cores = space.kind->cores_used(&space, tiling, 0)};
    program_reset(&program, &hw);
    cr_assert_eq(space.kind->generate(&space, tiling, 0, &program, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(simulate(simulator, &program, &options, &timeline, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_lt(timeline.blocked, 0);
    return timeline.end_fs;
}

static int64_t bound_of(const struct tiling *tiling, struct work *work)
{
    static struct bound_plan plan;
    space.kind->summarise(&space, tiling, work);
    bound_plan_make(&plan, &hw, work->cores, &space.layouts[work->layout]);
    return bound_fs(&plan, work);
}

static void expect_totals(const struct work *work, const char *text)
{
    static struct work_total totals[HARDWARE_MAX_PRICES];
    const struct work_layout *layout = &space.layouts[work->layout];
    double sums[HARDWARE_MAX_PRICES][3] = {{0}};
    cr_assert_eq(work_totals(&program, totals, &error), STATUS_OK);
    for (int line = 0; line < layout->total_count; line++) {
        sums[layout->price[line]][0] += work->instructions[line];
        sums[layout->price[line]][1] += work->units[line];
        sums[layout->price[line]][2] += work->burst_fs[line];
    }
    for (int p = 0; p < hw.price_count; p++) {
        cr_expect_eq(sums[p][0], (double)totals[p].instructions, "%s: price %d: %.0f, not %lld",
                     text, p, sums[p][0], (long long)totals[p].instructions);
        cr_expect_eq(sums[p][1], (double)totals[p].units, "%s: price %d: %.0f units, not %lld",
                     text, p, sums[p][1], (long long)totals[p].units);
        cr_expect_eq(sums[p][2], (double)totals[p].burst_fs, "%s: price %d", text, p);
    }
}

/* A random legal tiling; false: none found. */
static bool draw_tiling(struct tiling *tiling)
{
    for (int i = 0; i < 200 && space.candidates > 0; i++) {
        space_tiling(&space, draw(space.candidates) - 1, tiling);
        if (space.kind->legal(&space, tiling))
            return true;
    }
    return false;
}

static const struct {
    const char *name;
    int64_t most[KERNEL_MAX_SIZES];
} kernels[] = {
    {"matmul", {400, 400, 400, 3}},
    {"add_relu", {100000}},
    {"conv2d", {20, 20, 4, 4, 80, 80}},
    {"softmax_rows", {200, 2000}},
    {"matmul_two_level", {400, 400, 400}},
    {"batched_matmul", {200, 200, 200, 5}},
    {"scale_bias_relu", {300, 3000}},
    {"softmax_long", {100, 40000}},
};

static const char *const machines[][2] = {
    {"ascend310", ""},
    {"ascend310", "cores=4 buffers.l0c.capacity_bytes=65536"},
    {"ascend310", "cores=3 issue_ns=500"},
    {"ascend310", "issue_ns=0 launch_ns=0 paths.l1->l0b.bandwidth_gbps=20"},
    {"ascend310", "paths.ub->gm.bandwidth_gbps=3 matrix.f16.gflops=300"},
    {"ascend910", ""},
};

Test(kernel_work, totals_are_the_programs_and_no_program_is_faster)
{
    int tested[8] = {0};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        machine_load_named(&hw, machines[m][0], machines[m][1]);
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            for (int shape = 0; shape < 12 / test_thinning() + 1; shape++) {
                int64_t given[KERNEL_MAX_SIZES];
                gsl_rng_set(rng, 1000 * m + 100 * k + (unsigned long)shape);
                for (int s = 0; s < KERNEL_MAX_SIZES; s++)
                    given[s] = kernels[k].most[s] ? draw(draw(kernels[k].most[s])) : 1;
                bool is_open = open_kernel(kernels[k].name, given);
                struct tiling tiling;
                for (int t = 0; t < 10 && is_open && draw_tiling(&tiling); t++) {
                    char text[400], name[500];
                    struct work work;
                    tiling_text(space.axes, space.axis_count, &tiling, text, sizeof text);
                    snprintf(name, sizeof name, "%zu %s %s", m, kernels[k].name, text);
                    int64_t bound = bound_of(&tiling, &work), time = time_of(&tiling);
                    expect_totals(&work, name);
                    cr_expect_leq(bound, time, "%s: bound %lld, time %lld", name, (long long)bound,
                                  (long long)time);
                    cr_expect_gt(bound * 4, time, "%s: bound %lld, time %lld", name,
                                 (long long)bound, (long long)time);
                    tested[k]++;
                }
                close_kernel();
            }
        }
        hardware_clear(&hw);
    }
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        cr_expect_gt(tested[k], 20, "%s: %d", kernels[k].name, tested[k]);
}
