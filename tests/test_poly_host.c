/* Polynomials on the processor: every tiling, instruction set and size computes what the algorithm
 * defines for one input alone, touches nothing else, and does what its space says of it. */
#include "kernels/cubefx.h"
#include "kernels/cubefx_host.h"
#include "validate/host/loops.h"
#include "validate/host/poly.h"
#include "validate/host/runner.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A processor as if measured: every loop 1 ns a step. */
struct machine {
    struct hardware hw;
    struct host host;
};

static void make_machine(struct machine *m, enum host_isa isa, int threads)
{
    memset(m, 0, sizeof *m);
    snprintf(m->hw.name, sizeof m->hw.name, "test processor");
    m->hw.host = &m->host;
    m->host = (struct host){.isa = isa, .threads = threads, .level_count = 3};
    m->host.levels[0] = (struct host_level){"L1", 49152, 1, 200, 100, 0, 0, {0}};
    m->host.levels[1] = (struct host_level){"L2", 2 << 20, 1, 80, 50, 0, 0, {0}};
    m->host.levels[2] = (struct host_level){"memory", 0, threads, 10, 5, 8, 0, {0}};
    for (int i = 0; i < poly_loops.count; i++) {
        struct host_loop *loop = &m->host.loops[m->host.loop_count++];
        snprintf(loop->name, sizeof loop->name, "poly %s", poly_loops.variant(i));
        loop->step_ns = 1;
        loop->call_ns = 2;
    }
}

static void open_space(struct machine *m, int64_t n, int64_t order, int64_t functions,
                       struct space *space)
{
    struct error error;
    struct problem problem = {
        .op = &cubefx_operator, .type = DTYPE_F32, .size = {n, order, functions}};
    cr_assert_eq(space_open(&problem, &cubefx_host_space, &m->hw, m->host.threads, space, &error),
                 STATUS_OK, "%s", error.text);
}

/* Room that ends at a page that may not be touched, or begins after one. */
struct guarded {
    char *pages;
    size_t bytes;
    float *values;
};

static struct guarded guard(int64_t count, bool at_end)
{
    struct guarded g;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (size_t)count * sizeof(float);
    size_t inner = (bytes + page - 1) / page * page;
    g.bytes = inner + 2 * page;
    g.pages = mmap(NULL, g.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(g.pages, MAP_FAILED);
    cr_assert_eq(mprotect(g.pages + page, inner, PROT_READ | PROT_WRITE), 0);
    g.values = (float *)(g.pages + page + (at_end ? inner - bytes : 0));
    return g;
}

static void unguard(struct guarded *g)
{
    munmap(g->pages, g->bytes);
}

struct arrays {
    struct guarded coefficients, inputs, results;
};

static void same(float got, float expected, const char *what)
{
    if (isnan(expected))
        cr_assert(isnan(got), "%s: %g instead of NaN", what, (double)got);
    else
        cr_assert(memcmp(&got, &expected, sizeof got) == 0, "%s: %a instead of %a", what,
                  (double)got, (double)expected);
}

static void expect_scalar(const struct poly_plan *plan, enum host_isa isa, const struct arrays *a,
                          const char *what)
{
    for (int64_t f = 0; f < plan->functions; f++)
        for (int64_t i = 0; i < plan->inputs; i++) {
            float expected = poly_scalar(plan->algorithm, poly_kernels_of(isa)->fused,
                                         a->coefficients.values + f * plan->terms, plan->terms,
                                         a->inputs.values[i]);
            same(a->results.values[f * plan->inputs + i], expected, what);
        }
}

static void run_tiling(const struct space *space, const struct tiling *tiling, enum host_isa isa,
                       const struct arrays *a)
{
    struct poly_plan plan;
    struct poly *poly;
    struct error error;
    char what[200];
    const int64_t *v = tiling->value;
    cubefx_host_plan(space, tiling, &plan);
    snprintf(what, sizeof what, "%s N=%ld K=%ld J=%ld %d %ldx%ld tile %ld store %ld",
             host_isa_name(isa), plan.inputs, plan.terms, plan.functions, plan.algorithm, v[1],
             v[2], v[3], v[4]);
    cr_assert_eq(poly_new(&plan, poly_kernels_of(isa), &poly, &error), STATUS_OK, "%s", error.text);
    memset(a->results.values, 0xff, (size_t)(plan.inputs * plan.functions) * sizeof(float));
    poly_run(poly, a->coefficients.values, a->inputs.values, a->results.values);
    expect_scalar(&plan, isa, a, what);
    poly_free(poly);
}

static void fill(float *values, int64_t count, gsl_rng *rng)
{
    for (int64_t i = 0; i < count; i++)
        values[i] = (float)(gsl_rng_uniform(rng) * 4 - 2);
}

static const float specials[] = {NAN,   INFINITY, -INFINITY, 0, -0.0f, 1e-45f, -1e-40f,
                                 3e38f, -3e38f,   1e20f,     1, -1,    1e-20f};

static void add_specials(float *values, int64_t count, gsl_rng *rng)
{
    size_t kinds = sizeof specials / sizeof *specials;
    for (int64_t i = 0; i < count; i++)
        if (gsl_rng_uniform(rng) < 0.3)
            values[i] = specials[gsl_rng_uniform_int(rng, kinds)];
}

/* All legal tilings of one problem. */
static void run_problem(enum host_isa isa, int threads, const int64_t size[3], bool special,
                        bool at_end, gsl_rng *rng)
{
    struct machine m;
    struct space space;
    struct arrays a = {guard(size[1] * size[2], at_end), guard(size[0], at_end),
                       guard(size[0] * size[2], at_end)};
    make_machine(&m, isa, threads);
    open_space(&m, size[0], size[1], size[2], &space);
    fill(a.coefficients.values, size[1] * size[2], rng);
    fill(a.inputs.values, size[0], rng);
    if (special) {
        add_specials(a.coefficients.values, size[1] * size[2], rng);
        add_specials(a.inputs.values, size[0], rng);
    }
    int legal = 0;
    for (int64_t i = 0; i < space.candidates; i++) {
        struct tiling tiling;
        space_tiling(&space, i, &tiling);
        if (!space.kind->legal(&space, &tiling))
            continue;
        legal++;
        run_tiling(&space, &tiling, isa, &a);
    }
    cr_assert_gt(legal, 0);
    unguard(&a.coefficients);
    unguard(&a.inputs);
    unguard(&a.results);
    space_close(&space);
}

static const int64_t problems[][3] = {
    {1, 1, 1},   {1, 2, 1},    {3, 3, 2},    {15, 4, 3},   {16, 2, 9},  {17, 8, 5},   {31, 5, 1},
    {32, 7, 7},  {33, 3, 13},  {48, 1, 4},   {64, 6, 15},  {97, 4, 8},  {127, 3, 11}, {128, 2, 3},
    {200, 5, 6}, {255, 9, 10}, {256, 2, 31}, {300, 33, 4}, {513, 3, 2}, {1000, 4, 5},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

static void run_problems(bool special, int threads)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int isa = 0; isa <= (int)host_isa_best(); isa++)
        for (int p = 0; p < PROBLEMS; p++)
            run_problem((enum host_isa)isa, threads, problems[p], special, p % 2, rng);
    gsl_rng_free(rng);
}

Test(poly_host, every_tiling_of_every_size_is_its_scalar_definition)
{
    run_problems(false, 1);
}

Test(poly_host, special_values_follow_from_the_definition)
{
    run_problems(true, 1);
}

Test(poly_host, threads_change_nothing)
{
    run_problems(false, 3);
}
