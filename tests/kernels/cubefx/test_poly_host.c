/* Polynomials on the processor: every tiling, instruction set and size computes what the algorithm
 * defines for one input alone, touches nothing else, and does what its space says of it. */
#include "costmodel/host_time.h"
#include "kernels/cubefx/cubefx.h"
#include "kernels/cubefx/host/cubefx_host.h"
#include "kernels/cubefx/host/poly.h"
#include "validate/loops.h"
#include "validate/runner.h"

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
    m->host.levels[0] = (struct host_level){
        .name = "L1", .capacity_bytes = 49152, .threads = 1, .read_gbps = 200, .write_gbps = 100};
    m->host.levels[1] = (struct host_level){
        .name = "L2", .capacity_bytes = 2 << 20, .threads = 1, .read_gbps = 80, .write_gbps = 50};
    m->host.levels[2] = (struct host_level){
        .name = "memory", .threads = threads, .read_gbps = 10, .write_gbps = 5, .stream_gbps = 8};
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
    /* cppcheck-suppress invalidFunctionArg ; mmap(2): -1 is right where there is no file */
    g.pages = mmap(NULL, g.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(g.pages, MAP_FAILED);
    cr_assert_eq(mprotect(g.pages + page, inner, PROT_READ | PROT_WRITE), 0);
    g.values = (float *)(void *)(g.pages + page + (at_end ? inner - bytes : 0));
    return g;
}

static void unguard(struct guarded *g)
{
    munmap(g->pages, g->bytes);
}

struct arrays {
    struct guarded coefficients, inputs, results;
    float *expected[CUBEFX_HOST_MATRIX + 1]; /* results of each algorithm, or NULL */
};

static void same(float got, float expected, const char *what)
{
    if (isnan(expected))
        cr_assert(isnan(got), "%s: %g instead of NaN", what, (double)got);
    else
        cr_assert(memcmp(&got, &expected, sizeof got) == 0, "%s: %a instead of %a", what,
                  (double)got, (double)expected);
}

/* The results by the definition, made by the first tiling of an algorithm. */
static const float *scalar_results(const struct poly_plan *plan, enum host_isa isa,
                                   struct arrays *a)
{
    float *expected = a->expected[plan->algorithm];
    if (expected)
        return expected;
    expected = calloc((size_t)(plan->inputs * plan->functions), sizeof *expected);
    for (int64_t f = 0; f < plan->functions; f++)
        for (int64_t i = 0; i < plan->inputs; i++)
            expected[f * plan->inputs + i] = poly_scalar(
                plan->algorithm, poly_kernels_of(isa)->fused,
                a->coefficients.values + f * plan->terms, plan->terms, a->inputs.values[i]);
    a->expected[plan->algorithm] = expected;
    return expected;
}

static void expect_scalar(const struct poly_plan *plan, enum host_isa isa, struct arrays *a,
                          const char *what)
{
    const float *expected = scalar_results(plan, isa, a);
    size_t count = (size_t)(plan->inputs * plan->functions);
    if (memcmp(a->results.values, expected, count * sizeof *expected) == 0)
        return;
    for (size_t i = 0; i < count; i++)
        same(a->results.values[i], expected[i], what);
}

static void run_tiling(const struct space *space, const struct tiling *tiling, enum host_isa isa,
                       struct arrays *a)
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
    struct arrays a = {.coefficients = guard(size[1] * size[2], at_end),
                       .inputs = guard(size[0], at_end),
                       .results = guard(size[0] * size[2], at_end)};
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
    for (int algorithm = 0; algorithm <= CUBEFX_HOST_MATRIX; algorithm++)
        free(a.expected[algorithm]);
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
    for (int isa = 0; isa < HOST_ISA_COUNT; isa++)
        if (host_isa_has((enum host_isa)isa))
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

/* What kernels were called for, in place of doing it; and the order of it, as one number. */
static struct {
    int64_t tiles[POLY_SIZES][POLY_SIZES], steps[POLY_SIZES][POLY_SIZES], panels[POLY_SIZES];
    int64_t strips, stored;
    uint64_t order;
    const float *results;
} counted;

static void note(uint64_t value)
{
    counted.order = (counted.order ^ value) * UINT64_C(0x100000001b3);
}

static void count_strip(int f, int v, int kind, const struct poly_strip *strip)
{
    counted.tiles[f][v] += strip->tiles;
    counted.steps[f][v] += strip->tiles * strip->terms;
    counted.strips++;
    note((uint64_t)kind * 100 + (uint64_t)f * 10 + (uint64_t)v);
    note((uint64_t)strip->tiles);
    note(strip->pitch == 16 ? 1 : (uint64_t)(strip->results - counted.results));
    note(strip->stream);
}

#define COUNTER(f, v)                                                                              \
    static void horner_##f##v(const struct poly_strip *strip)                                      \
    {                                                                                              \
        count_strip(f, v, 1, strip);                                                               \
    }                                                                                              \
    static void matrix_##f##v(const struct poly_strip *strip)                                      \
    {                                                                                              \
        count_strip(f, v, 2, strip);                                                               \
    }
#define COUNTERS(f)                                                                                \
    COUNTER(f, 0)                                                                                  \
    COUNTER(f, 1)                                                                                  \
    COUNTER(f, 2)                                                                                  \
    COUNTER(f, 3)                                                                                  \
    COUNTER(f, 4)                                                                                  \
    COUNTER(f, 5)
#define POWERS_COUNTER(v)                                                                          \
    static void powers_##v(const float *inputs, int64_t panels, int64_t terms, float *powers)      \
    {                                                                                              \
        (void)inputs;                                                                              \
        (void)terms;                                                                               \
        (void)powers;                                                                              \
        counted.panels[v] += panels;                                                               \
        note(300 + (v));                                                                           \
        note((uint64_t)panels);                                                                    \
    }
COUNTERS(0)
COUNTERS(1)
COUNTERS(2)
COUNTERS(3)
COUNTERS(4)
COUNTERS(5)
POWERS_COUNTER(0)
POWERS_COUNTER(1)
POWERS_COUNTER(2)
POWERS_COUNTER(3)
#define ROW(k, f)                                                                                  \
    {                                                                                              \
        k##_##f##0, k##_##f##1, k##_##f##2, k##_##f##3, k##_##f##4, k##_##f##5                     \
    }
#define ALL(k)                                                                                     \
    {                                                                                              \
        ROW(k, 0), ROW(k, 1), ROW(k, 2), ROW(k, 3), ROW(k, 4), ROW(k, 5)                           \
    }

static void count_tiling(const struct space *space, const struct tiling *tiling, int lanes,
                         const struct arrays *a)
{
    static struct poly_kernels counters = {
        .horner = ALL(horner),
        .matrix = ALL(matrix),
        .powers = {powers_0, powers_1, powers_2, powers_3},
    };
    struct poly_plan plan;
    struct poly *poly;
    struct error error;
    counters.lanes = lanes;
    cubefx_host_plan(space, tiling, &plan);
    memset(&counted, 0, sizeof counted);
    counted.results = a->results.values;
    cr_assert_eq(poly_new(&plan, &counters, &poly, &error), STATUS_OK);
    poly_run(poly, a->coefficients.values, a->inputs.values, a->results.values);
    poly_free(poly);
}

static const struct host_phase *phase_of(const struct machine *m, const struct host_work *work,
                                         const char *name)
{
    static const struct host_phase none;
    const struct host_phase *found = &none;
    for (int i = 0; i < work->phase_count; i++)
        if (work->phases[i].loop == host_loop(&m->host, name)) {
            cr_assert_eq(found, &none, "%s has two phases", name);
            found = &work->phases[i];
        }
    return found;
}

static void expect_work(const struct machine *m, const struct space *space,
                        const struct tiling *tiling)
{
    struct host_work work;
    char name[HOST_NAME_SIZE];
    int phases = 2; /* strips, and coefficients */
    enum cubefx_host_algorithm algorithm =
        (enum cubefx_host_algorithm)tiling->value[CUBEFX_HOST_ALGORITHM];
    int64_t terms = 0;
    space->kind->ask(space, tiling, &work);
    for (int f = 0; f < POLY_SIZES; f++)
        for (int v = 0; v < POLY_SIZES; v++) {
            const struct host_phase *phase = phase_of(
                m, &work, poly_loop_name(algorithm, poly_functions[f], poly_vectors[v], name));
            cr_assert_float_eq(phase->calls, (double)counted.tiles[f][v], 0, "%s", name);
            cr_assert_float_eq(phase->steps, (double)counted.steps[f][v], 0, "%s", name);
            phases += counted.tiles[f][v] > 0;
            terms = counted.tiles[f][v] ? counted.steps[f][v] / counted.tiles[f][v] : terms;
        }
    for (int v = 0; v < POLY_SIZES; v++) {
        const struct host_phase *phase =
            phase_of(m, &work, poly_powers_loop_name(poly_vectors[v], name));
        cr_assert_float_eq(phase->calls, (double)counted.panels[v], 0, "%s", name);
        cr_assert_float_eq(phase->steps, (double)(counted.panels[v] * (terms - 1)), 0, "%s", name);
        phases += counted.panels[v] > 0;
    }
    cr_assert_float_eq(phase_of(m, &work, POLY_STRIP_LOOP)->calls, (double)counted.strips, 0);
    cr_assert_eq(work.phase_count, phases);
    cr_assert_leq(work.phase_count, HOST_MAX_PHASES);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Counts of all legal tilings are what they ask for, and no two do the same. */
static void count_problem(enum host_isa isa, const int64_t size[3])
{
    struct machine m;
    struct space space;
    struct arrays a = {.coefficients = guard(size[1] * size[2], true),
                       .inputs = guard(size[0], true),
                       .results = guard(size[0] * size[2], false)};
    make_machine(&m, isa, 1);
    open_space(&m, size[0], size[1], size[2], &space);
    uint64_t *orders = calloc((size_t)space.candidates, sizeof *orders);
    int legal = 0;
    for (int64_t i = 0; i < space.candidates; i++) {
        struct tiling tiling;
        space_tiling(&space, i, &tiling);
        if (!space.kind->legal(&space, &tiling))
            continue;
        count_tiling(&space, &tiling, poly_lanes(isa), &a);
        expect_work(&m, &space, &tiling);
        orders[legal++] = counted.order;
    }
    qsort(orders, (size_t)legal, sizeof *orders, by_value);
    for (int i = 1; i < legal; i++)
        cr_assert_neq(orders[i], orders[i - 1], "two tilings of %ld, K=%ld, J=%ld are one", size[0],
                      size[1], size[2]);
    free(orders);
    unguard(&a.coefficients);
    unguard(&a.inputs);
    unguard(&a.results);
    space_close(&space);
}

Test(poly_host, work_is_what_runs_and_no_two_tilings_do_the_same)
{
    for (int isa = 0; isa < HOST_ISA_COUNT; isa++)
        for (int p = 0; p < PROBLEMS; p++)
            count_problem((enum host_isa)isa, problems[p]);
}

/* Bytes that leave and come: all results once, each input and coefficient at least once. */
Test(poly_host, moves_cover_inputs_and_results)
{
    struct machine m;
    struct space space;
    make_machine(&m, HOST_AVX512, 1);
    open_space(&m, 1 << 20, 16, 24, &space);
    for (int64_t i = 0; i < space.candidates; i++) {
        struct tiling tiling;
        struct host_work work;
        double read = 0, written = 0, powers = 0;
        space_tiling(&space, i, &tiling);
        if (!space.kind->legal(&space, &tiling))
            continue;
        space.kind->ask(&space, &tiling, &work);
        for (int p = 0; p < work.phase_count; p++) {
            bool makes_powers =
                strncmp(m.host.loops[work.phases[p].loop].name, "poly powers", 11) == 0;
            for (int l = 0; l < m.host.level_count; l++) {
                read += work.phases[p].read_bytes[l];
                *(makes_powers ? &powers : &written) += work.phases[p].write_bytes[l];
            }
            written += work.phases[p].stream_bytes;
        }
        bool matrix = tiling.value[CUBEFX_HOST_ALGORITHM] == CUBEFX_HOST_MATRIX;
        cr_assert_float_eq(written, 4.0 * 24 * (1 << 20), 1);
        cr_assert_float_eq(powers, matrix ? 4.0 * 15 * (1 << 20) : 0, 1);
        cr_assert_geq(read, 4.0 * (1 << 20));
        cr_assert_geq(host_time_ns(&m.host, &work), space.kind->roofline_ns(&space) * (1 - 1e-9));
    }
    space_close(&space);
}

static int64_t draw_value(gsl_rng *rng)
{
    static const int64_t odd[] = {1, 2, 3, 5, 7, 9, INT64_MAX, INT64_C(1) << 40, INT64_MAX / 8};
    int64_t number = (int64_t)gsl_rng_uniform_int(rng, 4096) + 1;
    return gsl_rng_uniform(rng) < 0.5 ? odd[gsl_rng_uniform_int(rng, 9)] : number;
}

/* Every tiling is either legal or refused with a reason, whatever a user types. */
Test(poly_host, what_is_not_legal_has_a_reason)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int refused = 0;
    for (int p = 0; p < PROBLEMS; p++) {
        struct machine m;
        struct space space;
        make_machine(&m, (enum host_isa)(p % HOST_ISA_COUNT), 1 + p % 3);
        open_space(&m, problems[p][0], problems[p][1], problems[p][2], &space);
        for (int64_t i = 0; i < space.candidates + 2000; i++) {
            struct tiling tiling = {
                {1 + i % 3, draw_value(rng), draw_value(rng), draw_value(rng), 1 + i % 2}};
            struct violation list[MAX_VIOLATIONS];
            if (i < space.candidates)
                space_tiling(&space, i, &tiling);
            int count = space.kind->violations(&space, &tiling, list);
            cr_assert_leq(count, MAX_VIOLATIONS);
            cr_assert_eq(count == 0, space.kind->legal(&space, &tiling));
            for (int v = 0; v < count; v++) {
                cr_assert(list[v].text[0] && list[v].limit[0]);
                cr_assert_lt(strlen(list[v].text), sizeof list[v].text - 1);
            }
            refused += count > 0;
        }
        space_close(&space);
    }
    cr_assert_gt(refused, 1000);
    gsl_rng_free(rng);
}

static void expect_no_space(const struct hardware *hw, enum dtype type, const char *why)
{
    struct space space;
    struct error error;
    struct problem problem = {.op = &cubefx_operator, .type = type, .size = {100, 3, 2}};
    cr_assert_eq(space_open(&problem, &cubefx_host_space, hw, 1, &space, &error), STATUS_INVALID);
    cr_assert(strstr(error.text, why), "%s", error.text);
}

Test(poly_host, other_machines_types_and_uncalibrated_ones_are_refused)
{
    struct machine m;
    make_machine(&m, HOST_AVX2, 1);
    expect_no_space(&m.hw, DTYPE_F16, "f32");
    m.host.loop_count = 0;
    expect_no_space(&m.hw, DTYPE_F32, "autotune calibrate");
    m.hw.host = NULL;
    expect_no_space(&m.hw, DTYPE_F32, "processors");
    cr_assert_eq(operator_default_space(&cubefx_operator, &m.hw), &cubefx_segments);
    m.hw.host = &m.host;
    cr_assert_eq(operator_default_space(&cubefx_operator, &m.hw), &cubefx_host_space);
}

static void check_runner(enum host_isa isa, int64_t n, int64_t order, int64_t functions)
{
    struct machine m;
    struct space space;
    struct error error;
    void *problem, *plan;
    const struct host_runner *runner = cubefx_operator.runner;
    make_machine(&m, isa, 1);
    open_space(&m, n, order, functions, &space);
    cr_assert_eq(runner->open(&space, 1, &problem, &error), STATUS_OK, "%s", error.text);
    for (int64_t i = 0; i < space.candidates; i++) {
        struct tiling tiling;
        struct host_check check;
        space_tiling(&space, i, &tiling);
        if (!space.kind->legal(&space, &tiling))
            continue;
        cr_assert_eq(runner->prepare(problem, &tiling, &plan, &error), STATUS_OK);
        runner->run(plan);
        cr_assert_eq(runner->check(plan, &check, &error), STATUS_OK);
        cr_assert_leq(check.max_error, check.allowed_error);
        cr_assert_eq(check.max_error == 0, order == 1);
        cr_assert_lt(check.allowed_error, 1e-4);
        runner->release(plan);
    }
    runner->close(problem);
    space_close(&space);
}

Test(poly_host, runner_checks_every_tiling)
{
    for (int isa = 0; isa < HOST_ISA_COUNT; isa++) {
        if (!host_isa_has((enum host_isa)isa))
            continue;
        check_runner((enum host_isa)isa, 1000, 16, 5);
        check_runner((enum host_isa)isa, 77, 256, 1);
        check_runner((enum host_isa)isa, 5, 1, 3);
    }
}

/* 2^31 inputs of 4096 functions: 32 TiB, refused before anything is allocated. */
Test(poly_host, what_memory_does_not_hold_is_refused)
{
    struct machine m;
    struct space space;
    struct error error;
    void *problem = NULL;
    make_machine(&m, HOST_PORTABLE, 1);
    open_space(&m, INT64_C(1) << 31, 8, 4096, &space);
    cr_assert_eq(poly_runner.open(&space, 1, &problem, &error), STATUS_NO_MEMORY);
    cr_assert(strstr(error.text, "need 32 TiB"), "%s", error.text);
    cr_assert_null(problem);
    space_close(&space);
}

Test(poly_host, every_loop_of_the_calibration_runs)
{
    enum { BYTES = 16384 };
    float *data = aligned_alloc(64, BYTES);
    for (int isa = 0; isa < HOST_ISA_COUNT; isa++)
        if (host_isa_has((enum host_isa)isa))
            for (int l = 0; l < poly_loops.count; l++)
                for (int64_t steps = 8; steps <= 256; steps *= 2) {
                    for (int i = 0; i < BYTES / 4; i++)
                        data[i] = 0.5f;
                    int64_t done = poly_loops.run(l, (enum host_isa)isa, 100, steps, data, BYTES);
                    cr_assert(done > 0 && done <= steps, "%s: %ld", poly_loops.variant(l), done);
                }
    free(data);
    /* every register tile has one */
    struct machine m;
    char name[HOST_NAME_SIZE];
    make_machine(&m, HOST_AVX2, 1);
    for (int a = CUBEFX_HOST_HORNER; a <= CUBEFX_HOST_MATRIX; a++)
        for (int f = 0; f < POLY_SIZES; f++)
            for (int v = 0; v < POLY_SIZES; v++) {
                enum cubefx_host_algorithm algorithm = (enum cubefx_host_algorithm)a;
                bool exists = poly_tile_exists(algorithm, poly_functions[f], poly_vectors[v]);
                poly_loop_name(algorithm, poly_functions[f], poly_vectors[v], name);
                cr_assert_eq(host_loop(&m.host, name) >= 0,
                             exists || (algorithm == CUBEFX_HOST_SWEEP &&
                                        poly_tile_exists(CUBEFX_HOST_HORNER, poly_functions[f],
                                                         poly_vectors[v])),
                             "%s", name);
            }
    cr_assert_eq(poly_loops.count, m.host.loop_count);
}
