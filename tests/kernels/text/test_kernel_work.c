/* Work summaries of kernels' texts against their programs: the totals are those of the program, to
 * the last unit, and no program takes less time than its bound; numbers of instructions in the flat
 * form are those of plans, in every round; how close the bound is to the time of MatMul. */
#include "costmodel/bound.h"
#include "costmodel/simulate.h"
#include "kernels/matmul/matmul.h"
#include "kernels/text/bounds/kernel_cells.h"
#include "kernels/text/space/kernel_space_internal.h"
#include "tests/support/cases.h"
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

/* Of the library, or a text. */
static bool open_kernel(const char *name, const int64_t given[])
{
    char file[256];
    snprintf(file, sizeof file, SOURCE_DIR "/kernels/library/%.40s.kernel", name);
    enum status status = strchr(name, '\n')
                             ? kernel_text_parse("k", name, strlen(name), &kernel, &error)
                             : kernel_text_read(file, &kernel, &error);
    cr_assert_eq(status, STATUS_OK, "%s", error.text);
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
    const struct simulate_options options = {.cores = space.kind->cores_used(&space, tiling, 0)};
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

/* Two nests, one after the other, of which each loads something once. */
#define TWO_PRODUCTS                                                                               \
    "kernel two\nsize M K N pad 16\n"                                                              \
    "tensor A[M,K] f16, B[K,N] f16, C[M,N] f16, X[M,K] f16, Y[K,N] f16, Z[M,N] f16\n"              \
    "axis tm = slices(M)\naxis tk = slices(K)\naxis tn = slices(N)\naxis bufs = 1, 2\n"            \
    "axis stay = both, a, none\ncores M\n"                                                         \
    "for i in M by tm\n  for j in N by tn\n    tile acc: l0c[i,j] f32\n    tile c: ub[i,j] f16\n"  \
    "    for l in K by tk\n      tile a1: l1[i,l] f16 x bufs at i if stay in (both, a) else l\n"   \
    "      tile b1: l1[l,j] f16 x bufs at top if stay == both else l\n"                            \
    "      tile a0: l0a[i,l] f16 x bufs\n      tile b0: l0b[l,j] f16\n"                            \
    "      load a1 <- A\n      load b1 <- B\n      load a0 <- a1\n      load b0 <- b1\n"           \
    "      mmad acc <- a0, b0\n    move c <- acc\n    store C <- c\n"                              \
    "for p in M by 32\n  for q in N by 48\n    tile sum: l0c[p,q] f32\n    tile z: ub[p,q] f16\n"  \
    "    for r in K by tk\n      tile x1: l1[p,r] f16 x bufs at p if stay == both else r\n"        \
    "      tile y1: l1[r,q] f16 x bufs\n      tile x0: l0a[p,r] f16\n"                             \
    "      tile y0: l0b[r,q] f16 x 2\n      load x1 <- X\n      load y1 <- Y\n"                    \
    "      load x0 <- x1\n      load y0 <- y1\n      mmad sum <- x0, y0\n"                         \
    "    move z <- sum\n    store Z <- z\n"

/* Rows of a tile that is read as a whole: its shape may change. */
#define ROWS                                                                                       \
    "kernel rows\nsize R\nsize C pad 16\ntensor X[R,C] f16, Y[R,C] f16\naxis tr = slices(R)\n"     \
    "axis bufs = 1, 2\naxis ybufs = 1, 2\nrequire tr <= 255 and C <= 16384\ncores R\n"             \
    "for i in R by tr\n  tile x: ub[i,C] f16 x bufs\n  tile y: ub[i,C] f16 x ybufs\n"              \
    "  load x <- X bursts=i\n  for r in i by 1\n    tile p: ub[up(cdiv(C, 128), 16)] f16\n"        \
    "    tile o: ub[16] f16\n    tile b: ub[C] f16\n    reduceMax p <- x\n    reduceMax o <- p\n"  \
    "    vecDup b <- o\n    vsub y <- x, b\n    exp y <- y\n  store Y <- y\n"

/* Conditions on rounds, and a stage. */
#define ENDS                                                                                       \
    "kernel ends\nsize N pad 16\ntensor X[N] f16, Y[N] f16\naxis t = slices(N)\naxis u = 2, 3\n"   \
    "axis s = 0, 1\ncores N\n"                                                                     \
    "for i in N by t\n  tile all: ub[t] f16 at i\n  vecDup all <- 0.0\n"                           \
    "  for j in i by 32\n    tile x: ub[j] f16 x u\n    tile y: ub[j] f16 x u\n"                   \
    "    load x <- X\n    vecDup all <- 1.0 if first(j) and not last(i)\n    relu y <- x\n"        \
    "    vadd y <- y, x if first(i)\n    vmul y <- y, y if not first(j) or last(i)\n"              \
    "    @s store Y <- y\n"

static const struct {
    const char *name;
    int64_t most[KERNEL_MAX_SIZES];
} kernels[] = {
    {TWO_PRODUCTS, {200, 200, 200}},
    {ROWS, {100, 1000}},
    {ENDS, {3000}},
    {"matmul_thesis", {400, 400, 400, 3}},
    {"add_relu", {100000}},
    {"conv2d", {20, 20, 4, 4, 80, 80, 2, 1, 2, 3, 1}},
    {"matmul_two_level", {400, 400, 400}},
    {"batched_matmul", {200, 200, 200, 5}},
    {"scale_bias_relu", {300, 3000}},
    {"softmax_long", {100, 40000}},
    {"split/flash_attention", {4, 300, 200}},
};

/* The last one's results are late. */
static const char *const machines[][2] = {
    {"ascend310", ""},
    {"ascend310", "cores=4 buffers.l0c.capacity_bytes=65536"},
    {"ascend310", "cores=3 issue_ns=500"},
    {"ascend310", "issue_ns=0 launch_ns=0 paths.l1->l0b.bandwidth_gbps=20"},
    {"ascend310", "paths.ub->gm.bandwidth_gbps=3 matrix.f16.gflops=300"},
    {"ascend910", ""},
    {"ascend910b2", ""},
    {"ascend910b2", "cache.default=cold"},
    {"ascend310", "core_kinds"},
    {"ascend310", "latencies"},
};

/* What no description of the chip has. */
static void load_machine(size_t m)
{
    bool kinds = strcmp(machines[m][1], "core_kinds") == 0,
         latencies = strcmp(machines[m][1], "latencies") == 0;
    machine_load_named(&hw, machines[m][0], kinds || latencies ? "" : machines[m][1]);
    for (int p = 0; latencies && p < hw.price_count; p++)
        hw.prices[p].latency_fs = p * 37 % 5 * 100 * FS_PER_NS;
    for (int p = 0; kinds && p < hw.pipe_count; p++)
        hw.pipes[p].per_core = strstr("V MTE3", hw.pipes[p].name) ? 2 : 1;
    hw.core_flags = kinds ? 11 : hw.core_flags;
    hw.core_flag_fs = kinds ? 100 * FS_PER_NS : hw.core_flag_fs;
}

Test(kernel_work, totals_are_the_programs_and_no_program_is_faster)
{
    int tested[sizeof kernels / sizeof *kernels] = {0};
    for (size_t m = 0; m < sizeof machines / sizeof *machines; m++) {
        load_machine(m);
        for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
            for (int shape = 0; shape < test_cases(6); shape++) {
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
                    snprintf(name, sizeof name, "%zu %.40s %s", m, kernels[k].name, text);
                    int64_t bound = bound_of(&tiling, &work), time = time_of(&tiling);
                    expect_totals(&work, name);
                    cr_expect_leq(bound, time, "%s: bound %lld, time %lld", name, (long long)bound,
                                  (long long)time);
                    tested[k]++;
                }
                close_kernel();
            }
        }
        hardware_clear(&hw);
    }
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++)
        cr_expect_gt(tested[k], test_cases(20), "%s: %d", kernels[k].name, tested[k]);
}

/* How close bounds are to times over all legal tilings of a shape, and how many are below the best
 * time: so many a search has to simulate. */
struct closeness {
    double sum;
    int count, open;
};

static struct closeness find_closeness(const int64_t shape[])
{
    struct closeness found = {.sum = 0};
    int64_t best = INT64_MAX;
    cr_assert(open_kernel("matmul_thesis", shape), "%s", error.text);
    int64_t *bounds = malloc((size_t)space.candidates * sizeof *bounds);
    for (int64_t i = 0; i < space.candidates; i++) {
        struct tiling tiling;
        struct work work;
        space_tiling(&space, i, &tiling);
        if (!space.kind->legal(&space, &tiling))
            continue;
        int64_t time = time_of(&tiling);
        bounds[found.count] = bound_of(&tiling, &work);
        found.sum += (double)bounds[found.count++] / (double)time;
        best = time < best ? time : best;
    }
    for (int i = 0; i < found.count; i++)
        found.open += bounds[i] < best;
    free(bounds);
    close_kernel();
    return found;
}

/* `most` is a tenth more than what the search in the hand-written space simulates. */
Test(kernel_work, bounds_of_matmul_are_close)
{
    static const struct {
        int64_t shape[4];
        int most;
    } cases[] = {{{784, 576, 128, 1}, 459},
                 {{128, 2048, 128, 1}, 267},
                 {{512, 1024, 512, 1}, 614},
                 {{200, 300, 700, 1}, 454},
                 {{1024, 64, 1024, 1}, 1848}};
    struct closeness all = {.sum = 0};
    machine_load(&hw, "");
    for (int c = 0; c < (test_thinning() > 1 ? 2 : 5); c++) {
        struct closeness found = find_closeness(cases[c].shape);
        cr_log_info("shape %d: bound / time is %.4f in the mean of %d tilings, %d open", c,
                    found.sum / found.count, found.count, found.open);
        cr_expect_leq(found.open, cases[c].most, "shape %d: %d open", c, found.open);
        all.sum += found.sum;
        all.count += found.count;
    }
    cr_expect_gt(all.count, 10000);
    cr_expect_geq(all.sum / all.count, 0.94, "%.4f", all.sum / all.count);
}
