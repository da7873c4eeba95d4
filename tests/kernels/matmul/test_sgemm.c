/* FP32 products on the host: every micro-kernel, every edge, every way to tile computes the product
 * and touches nothing else; the space offers what can run and says why the rest cannot. */
#include "kernels/matmul/host/matmul_host.h"
#include "kernels/matmul/host/sgemm.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_cann.h"
#include "tests/support/cases.h"
#include "tests/support/guarded.h"
#include "tests/support/machine.h"
#include "validate/loops.h"
#include "validate/runner.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct product {
    int64_t m, k, n;
    struct guarded a, b, c;
    struct sgemm_check *check;
    struct error error;
};

static gsl_rng *new_rng(unsigned long seed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    return rng;
}

static int64_t pick(gsl_rng *rng, int64_t most)
{
    return 1 + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)most);
}

static enum host_isa pick_isa(gsl_rng *rng)
{
    int isa = (int)pick(rng, HOST_ISA_COUNT) - 1;
    while (!host_isa_has((enum host_isa)isa))
        isa--;
    return (enum host_isa)isa;
}

static void open_product(struct product *p, int64_t m, int64_t k, int64_t n, bool at_end,
                         gsl_rng *rng)
{
    *p = (struct product){.m = m, .k = k, .n = n};
    p->a = guarded_new((size_t)(m * k), at_end);
    p->b = guarded_new((size_t)(k * n), at_end);
    p->c = guarded_new((size_t)(m * n), at_end);
    cr_assert(p->a.data && p->b.data && p->c.data);
    for (int64_t i = 0; i < m * k; i++)
        p->a.data[i] = (float)(2 * gsl_rng_uniform(rng) - 1);
    for (int64_t i = 0; i < k * n; i++)
        p->b.data[i] = (float)(2 * gsl_rng_uniform(rng) - 1);
    enum status status = sgemm_check_new(m, k, n, p->a.data, p->b.data, 1, &p->check, &p->error);
    cr_assert_eq(status, STATUS_OK, "%s", p->error.text);
}

static void close_product(struct product *p)
{
    sgemm_check_free(p->check);
    guarded_free(&p->a);
    guarded_free(&p->b);
    guarded_free(&p->c);
}

static void expect_product(struct product *p, enum host_isa isa, int threads,
                           const struct tiling *tiling)
{
    const int64_t *v = tiling->value;
    struct sgemm_plan *plan;
    double error;
    bool sampled;
    enum status status = sgemm_plan(isa, p->m, p->k, p->n, threads, tiling, &plan, &p->error);
    cr_assert_eq(status, STATUS_OK, "%s", p->error.text);
    for (int64_t i = 0; i < p->m * p->n; i++)
        p->c.data[i] = NAN;
    sgemm_run(plan, p->a.data, p->b.data, p->c.data);
    sgemm_check_errors(p->check, p->c.data, &error, &sampled);
    cr_assert_leq(
        error, sgemm_allowed_error(p->k),
        "%s %lldx%lldx%lld kernel %s tiles %lld %lld %lld pack %lld %lld order %lld store "
        "%lld split %lld threads %d: error %g",
        host_isa_name(isa), (long long)p->m, (long long)p->k, (long long)p->n,
        matmul_host_kernel(tiling)->name, (long long)v[HOST_M_TILE], (long long)v[HOST_K_TILE],
        (long long)v[HOST_N_TILE], (long long)v[HOST_PACK_A], (long long)v[HOST_PACK_B],
        (long long)v[HOST_ORDER], (long long)v[HOST_STORE], (long long)v[HOST_SPLIT], threads,
        error);
    sgemm_free(plan);
}

/* ---- kernels -------------------------------------------------------------------------------- */

/* Packed or not, both orders; the tiles are whole. */
static void expect_variants(struct product *p, enum host_isa isa, int kernel)
{
    for (int variant = 0; variant < 8; variant++) {
        struct tiling tiling = {{kernel + 1, p->m, p->k, p->n, 1 + (variant & 1),
                                 1 + (variant >> 1 & 1), 1 + (variant >> 2), HOST_STORE_CACHED,
                                 HOST_SPLIT_M}};
        expect_product(p, isa, 1, &tiling);
    }
}

/* Every number of rows and columns up to one more than the register tile. */
static void expect_edges(enum host_isa isa, int kernel, gsl_rng *rng)
{
    static const int64_t depths[] = {1, 2, 3, 4, 5, 7, 8, 19};
    const struct matmul_host_kernel *k = &matmul_host_kernels[kernel];
    int64_t lanes = k->path == HOST_PATH_DOT ? 1 : host_lanes(isa);
    for (int64_t m = 1; m <= k->rows + 1; m++)
        for (int64_t n = 1; n <= k->vectors * lanes + 1; n += n % lanes > 1 ? lanes / 2 : 1) {
            struct product p;
            int64_t depth = depths[gsl_rng_uniform_int(rng, sizeof depths / sizeof *depths)];
            open_product(&p, m, depth, n, gsl_rng_uniform(rng) < 0.7, rng);
            expect_variants(&p, isa, kernel);
            close_product(&p);
        }
}

Test(sgemm, kernels_compute_every_edge)
{
    gsl_rng *rng = new_rng(1);
    for (int isa = 0; isa < HOST_ISA_COUNT; isa++)
        if (host_isa_has((enum host_isa)isa))
            for (int kernel = 0; kernel < MATMUL_HOST_KERNELS; kernel += test_thinning())
                expect_edges((enum host_isa)isa, kernel, rng);
    gsl_rng_free(rng);
}

/* Few rows by a B that is not packed are swept: of every number of rows, rest of k and of a vector,
 * by any number of threads. */
Test(sgemm, sweeps_compute_every_edge)
{
    gsl_rng *rng = new_rng(4);
    for (int i = 0; i < 4 * 9 * 40; i += test_thinning()) {
        int64_t m = 1 + i % 4, k = 1 + i / 4 % 9, n = pick(rng, i % 3 ? 40 : 200);
        struct product p;
        struct tiling tiling = {{1, 4, pick(rng, 9), pick(rng, n + 5), pick(rng, 2), HOST_PACK_NO,
                                 HOST_ORDER_N, HOST_STORE_CACHED, pick(rng, 2)}};
        open_product(&p, m, k, n, pick(rng, 3) > 1, rng);
        for (int isa = 0; isa < HOST_ISA_COUNT; isa++)
            if (host_isa_has((enum host_isa)isa))
                expect_product(&p, (enum host_isa)isa, (int)pick(rng, 4), &tiling);
        close_product(&p);
    }
    gsl_rng_free(rng);
}

/* Tiles of any size, any number of threads, streaming asked for where it cannot be: a plan makes
 * of it what can be run. */
Test(sgemm, any_values_compute_the_product)
{
    gsl_rng *rng = new_rng(2);
    for (int i = 0; i < test_cases(3000); i++) {
        int64_t m = pick(rng, i % 3 ? 40 : 150), k = pick(rng, i % 5 ? 60 : 300);
        int64_t n = i % 4 ? pick(rng, i % 3 ? 70 : 300) : 16 * pick(rng, 20);
        struct product p;
        struct tiling tiling = {{pick(rng, MATMUL_HOST_KERNELS), pick(rng, m + 5), pick(rng, k + 5),
                                 pick(rng, n + 5), pick(rng, 2), pick(rng, 2), pick(rng, 2),
                                 pick(rng, 2), pick(rng, 2)}};
        open_product(&p, m, k, n, pick(rng, 3) > 1, rng);
        expect_product(&p, pick_isa(rng), (int)pick(rng, 5), &tiling);
        close_product(&p);
    }
    gsl_rng_free(rng);
}

Test(sgemm, streaming_needs_aligned_results)
{
    gsl_rng *rng = new_rng(3);
    for (int offset = 0; offset < 16; offset++) {
        struct tiling tiling = {{10, 25, 31, 64, 1, 1, 1, HOST_STORE_STREAM, HOST_SPLIT_M}};
        struct product p;
        open_product(&p, 25, 31, 64, false, rng);
        struct guarded room = guarded_new(25 * 64 + 16, false), c = p.c;
        p.c.data = room.data + offset;
        for (int isa = 0; isa < HOST_ISA_COUNT; isa++)
            if (host_isa_has((enum host_isa)isa))
                expect_product(&p, (enum host_isa)isa, 1, &tiling);
        p.c = c;
        close_product(&p);
        guarded_free(&room);
    }
    gsl_rng_free(rng);
}

Test(sgemm, plans_refuse_what_is_no_tiling)
{
    const struct tiling good = {{1, 8, 8, 8, 1, 1, 1, 1, 1}};
    struct sgemm_plan *plan;
    struct error error;
    for (int axis = 0; axis < HOST_MATMUL_AXES; axis++)
        for (int64_t value = -1; value < 1; value++) {
            struct tiling bad = good;
            bad.value[axis] = axis == HOST_KERNEL && value == 0 ? MATMUL_HOST_KERNELS + 1 : value;
            enum status status = sgemm_plan(HOST_PORTABLE, 8, 8, 8, 1, &bad, &plan, &error);
            cr_assert_eq(status, STATUS_INVALID, "axis %d = %lld", axis, (long long)value);
            cr_assert_null(plan);
        }
    cr_assert_eq(sgemm_plan(HOST_PORTABLE, 0, 8, 8, 1, &good, &plan, &error), STATUS_INVALID);
    cr_assert_eq(sgemm_plan(HOST_PORTABLE, 8, 8, 8, 0, &good, &plan, &error), STATUS_INVALID);
    cr_assert_eq(
        sgemm_plan(HOST_PORTABLE, INT64_C(1) << 32, INT64_C(1) << 32, 8, 1, &good, &plan, &error),
        STATUS_INVALID);
    setenv("AUTOTUNE_ISA", "portable", 1);
    cr_assert_eq(host_isa_best(), HOST_PORTABLE);
    cr_assert_eq(sgemm_plan(HOST_AVX2, 8, 8, 8, 1, &good, &plan, &error), STATUS_INVALID);
    unsetenv("AUTOTUNE_ISA");
}

/* Operands that can be counted, with packed copies that cannot. */
Test(sgemm, workspaces_beyond_what_can_be_counted_are_refused)
{
    static const struct {
        int64_t m, k, n;
        int threads, pack_a, pack_b;
    } cases[] = {
        {INT64_C(1) << 40, 1 << 21, 1, 1, 2, 1}, /* 2^61 floats are 2^63 bytes */
        {1, 1 << 21, INT64_C(1) << 40, 1, 1, 2}, /* the same of B */
        {1, INT64_MAX / 2, 2, 1, 1, 2},          /* B with filled columns */
        {INT64_C(1) << 39, 1 << 20, 1, 4, 2, 1}, /* a copy a thread */
        {INT64_MAX, 1, 1, 1, 2, 1},              /* filled up to lines */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tiling tiling = {{1, cases[i].m, cases[i].k, cases[i].n, cases[i].pack_a,
                                       cases[i].pack_b, HOST_ORDER_N, HOST_STORE_CACHED,
                                       cases[i].m == 1 ? HOST_SPLIT_N : HOST_SPLIT_M}};
        struct sgemm_plan *plan;
        struct error error;
        cr_expect_eq(sgemm_plan_shared(HOST_PORTABLE, cases[i].m, cases[i].k, cases[i].n,
                                       cases[i].threads, &tiling, &plan, &error),
                     STATUS_NO_MEMORY, "case %zu", i);
        cr_expect_null(plan);
    }
    const struct tiling most = {{1, INT64_C(1) << 39, 1 << 20, 1, 2, 1, 1, 1, 1}};
    struct sgemm_plan *plan;
    struct error error;
    cr_assert_eq(
        sgemm_plan_shared(HOST_PORTABLE, INT64_C(1) << 39, 1 << 20, 1, 1, &most, &plan, &error),
        STATUS_OK);
    cr_expect_eq(sgemm_workspace_bytes(plan), INT64_C(1) << 61);
    sgemm_free(plan);
}

/* ---- the check ------------------------------------------------------------------------------ */

static double error_of(struct product *p)
{
    double error;
    bool sampled;
    sgemm_check_errors(p->check, p->c.data, &error, &sampled);
    return error;
}

/* One wrong result is seen, wherever it is, whether all are compared or rows are sampled. */
static void expect_finds(int64_t m, int64_t k, int64_t n, gsl_rng *rng)
{
    struct tiling tiling = {{10, m, k, n, 1, 1, 1, 1, 1}};
    struct product p;
    open_product(&p, m, k, n, true, rng);
    expect_product(&p, host_isa_best(), 1, &tiling);
    for (int i = 0; i < 6; i++) {
        float *c = &p.c.data[gsl_rng_uniform_int(rng, (unsigned long)(m * n))], good = *c;
        int64_t row = (c - p.c.data) / n;
        *c = i == 0 ? NAN : i == 1 ? INFINITY : good + p.a.data[row * k] * 0.5F;
        cr_assert_gt(error_of(&p), sgemm_allowed_error(k));
        *c = good;
    }
    cr_assert_leq(error_of(&p), sgemm_allowed_error(k));
    close_product(&p);
}

Test(sgemm, check_finds_one_wrong_result)
{
    gsl_rng *rng = new_rng(4);
    expect_finds(40, 50, 60, rng);
    expect_finds(2100, 3, 2048, rng);
    gsl_rng_free(rng);
}

/* ---- shares --------------------------------------------------------------------------------- */

Test(sgemm, shares_and_pieces_cover_a_size_once)
{
    for (int64_t size = 0; size < 60; size++)
        for (int64_t unit = 1; unit < 14; unit++) {
            struct host_pieces pieces = host_pieces(size, unit);
            cr_assert_eq(pieces.count, (size + unit - 1) / unit);
            cr_assert_eq(pieces.count * pieces.least + pieces.larger, size);
            cr_assert(size == 0 || pieces.least + (pieces.larger > 0) <= unit);
            for (int threads = 1; threads < 9; threads++) {
                int64_t at = 0, first = host_share(size, unit, threads, 0).length;
                int sharers = host_sharers(size, unit, threads);
                for (int t = 0; t < threads; t++) {
                    struct host_share share = host_share(size, unit, threads, t);
                    cr_assert_eq(share.length > 0, t < sharers);
                    cr_assert(share.length == 0 || share.start == at);
                    cr_assert_leq(share.length, first);
                    at += share.length;
                }
                cr_assert_eq(at, size);
            }
        }
}

/* ---- the space ------------------------------------------------------------------------------ */

struct machine {
    struct hardware hw;
    struct host host;
};

/* A processor on which every kernel was timed. */
static void make_machine(struct machine *machine, enum host_isa isa)
{
    memset(machine, 0, sizeof *machine);
    snprintf(machine->hw.name, sizeof machine->hw.name, "this processor");
    machine->hw.cores = 4;
    machine->hw.host = &machine->host;
    machine->host.isa = isa;
    machine->host.threads = 4;
    machine->host.level_count = 2;
    machine->host.levels[0] =
        (struct host_level){.name = "L1", .capacity_bytes = 49152, .threads = 1, .read_gbps = 200};
    machine->host.levels[1] =
        (struct host_level){.name = "memory", .threads = 4, .read_gbps = 10, .write_gbps = 10};
    machine->host.loop_count = MATMUL_HOST_KERNELS;
    for (int i = 0; i < MATMUL_HOST_KERNELS; i++) {
        struct host_loop *loop = &machine->host.loops[i];
        snprintf(loop->name, sizeof loop->name, "sgemm %s", matmul_host_kernels[i].name);
        loop->step_ns = 1;
    }
}

static enum status try_space(const struct hardware *hw, const struct problem *problem,
                             const struct operator_space *kind, int cores, struct error *error)
{
    struct space space;
    enum status status = space_open(problem, kind, hw, cores, &space, error);
    if (status == STATUS_OK)
        space_close(&space);
    return status;
}

static struct problem make_problem(int64_t m, int64_t k, int64_t n)
{
    return (struct problem){.op = &matmul_operator, .size = {m, k, n, 1}, .type = DTYPE_F32};
}

static void open_space(struct space *space, const struct machine *machine, int64_t m, int64_t k,
                       int64_t n, int cores)
{
    struct problem problem = make_problem(m, k, n);
    struct error error;
    enum status status =
        space_open(&problem, &matmul_host_space, &machine->hw, cores, space, &error);
    cr_assert_eq(status, STATUS_OK, "%s", error.text);
}

/* A random legal tiling computes its product, with as many threads as the space says. */
static void expect_space_runs(gsl_rng *rng, int64_t m, int64_t k, int64_t n)
{
    struct machine machine;
    struct space space;
    struct product p;
    int cores = (int)pick(rng, 4);
    enum host_isa isa = pick_isa(rng);
    make_machine(&machine, isa);
    open_space(&space, &machine, m, k, n, cores);
    open_product(&p, m, k, n, true, rng);
    for (int i = 0; i < 20; i++) {
        struct tiling tiling = {{0}};
        struct violation list[MAX_VIOLATIONS];
        int64_t index = pick(rng, space.candidates) - 1;
        space_tiling(&space, index, &tiling);
        cr_assert_eq(space_index(&space, &tiling), index);
        bool legal = space.kind->legal(&space, &tiling);
        cr_assert_eq(legal, space.kind->violations(&space, &tiling, list) == 0);
        cr_assert(!legal || space.kind->possible(&space, &tiling, HOST_MATMUL_AXES));
        cr_assert_leq(space.kind->cores_used(&space, &tiling, 0), cores);
        if (legal)
            expect_product(&p, isa, cores, &tiling);
    }
    close_product(&p);
    space_close(&space);
}

Test(sgemm, tilings_of_the_space_compute_the_product)
{
    gsl_rng *rng = new_rng(5);
    for (int i = 0; i < test_cases(120); i++)
        expect_space_runs(rng, pick(rng, 300), pick(rng, 400),
                          i % 3 ? pick(rng, i % 2 ? 20 : 400) : 16 * pick(rng, 20));
    gsl_rng_free(rng);
}

static int64_t count_legal(const struct space *space, int axis, int64_t value)
{
    int64_t count = 0;
    for (int64_t i = 0; i < space->candidates; i++) {
        struct tiling tiling = {{0}};
        space_tiling(space, i, &tiling);
        count += tiling.value[axis] == value && space->kind->legal(space, &tiling);
    }
    return count;
}

static int64_t count_dots(const struct space *space)
{
    int64_t count = 0;
    for (int b = 0; b < space->block_count; b++)
        count +=
            matmul_host_kernels[space->blocks[b].values[HOST_KERNEL][0] - 1].path == HOST_PATH_DOT;
    return count;
}

Test(sgemm, space_offers_what_suits)
{
    struct machine machine;
    struct space space;
    make_machine(&machine, HOST_AVX512);
    open_space(&space, &machine, 512, 1024, 512, 1);
    cr_assert_geq(space.candidates, 1000);
    cr_assert_leq(space.candidates, 100000);
    cr_assert_gt(count_legal(&space, HOST_STORE, HOST_STORE_STREAM), 0);
    cr_assert_eq(count_legal(&space, HOST_SPLIT, HOST_SPLIT_N), 0, "one thread shares nothing");
    cr_assert_eq(count_dots(&space), 0);
    space_close(&space);
    open_space(&space, &machine, 512, 1024, 500, 2);
    cr_assert_eq(count_legal(&space, HOST_STORE, HOST_STORE_STREAM), 0, "rows of 2000 bytes");
    cr_assert_gt(count_legal(&space, HOST_SPLIT, HOST_SPLIT_N), 0);
    space_close(&space);
    open_space(&space, &machine, 512, 1024, HOST_DOT_MOST_COLUMNS, 1);
    cr_assert_gt(count_dots(&space), 0);
    space_close(&space);
    open_space(&space, &machine, 512, 1024, HOST_DOT_MOST_COLUMNS + 1, 1);
    cr_assert_eq(count_dots(&space), 0);
    space_close(&space);
    open_space(&space, &machine, 3, 5, 16, 1);
    cr_assert_eq(space.block_count, 2, "4x1 stands for all that hold C; 1x8 takes row by row");
    space_close(&space);
}

Test(sgemm, space_knows_timed_kernels_only)
{
    struct machine machine;
    struct space space;
    struct error error;
    struct problem problem = make_problem(64, 64, 64);
    make_machine(&machine, HOST_AVX512);
    machine.host.loop_count = 3;
    open_space(&space, &machine, 64, 64, 64, 1);
    cr_assert_eq(space.block_count, 3);
    space_close(&space);
    machine.host.loop_count = 0;
    cr_assert_eq(try_space(&machine.hw, &problem, &matmul_host_space, 1, &error), STATUS_INVALID);
    cr_assert(strstr(error.text, "calibrate"), "%s", error.text);
}

static void expect_violation(const struct space *space, const char *text, const char *says)
{
    struct tiling tiling = {{0}};
    struct violation list[MAX_VIOLATIONS];
    struct error error;
    cr_assert_eq(tiling_parse(space, text, &tiling, &error), STATUS_OK, "%s", error.text);
    int count = space->kind->violations(space, &tiling, list);
    for (int i = 0; i < count; i++)
        if (strstr(list[i].text, says))
            return;
    cr_assert_fail("%s: %d violations, none says '%s'", text, count, says);
}

Test(sgemm, violations_say_why)
{
    struct machine machine;
    struct space space;
    make_machine(&machine, HOST_AVX512);
    open_space(&space, &machine, 300, 1024, 500, 1);
    expect_violation(&space,
                     "kernel=12x2,m_tile=300,k_tile=1024,n_tile=500,pack_a=no,pack_b=no,order=n,"
                     "store=stream,split=m",
                     "rows of C are 2000 bytes, expected a multiple of 64");
    expect_violation(&space,
                     "kernel=12x2,m_tile=300,k_tile=512,n_tile=500,pack_a=no,pack_b=no,order=n,"
                     "store=stream,split=m",
                     "expected k_tile=1024");
    expect_violation(&space,
                     "kernel=12x2,m_tile=7,k_tile=512,n_tile=500,pack_a=no,pack_b=no,order=n,"
                     "store=cached,split=m",
                     "m_tile=7");
    expect_violation(&space,
                     "kernel=12x2,m_tile=300,k_tile=512,n_tile=500,pack_a=no,pack_b=no,order=n,"
                     "store=cached,split=n",
                     "split=n");
    space_close(&space);
    open_space(&space, &machine, 300, 1024, 32, 1);
    expect_violation(&space,
                     "kernel=12x2,m_tile=300,k_tile=1024,n_tile=32,pack_a=no,pack_b=no,order=m,"
                     "store=cached,split=m",
                     "order=m");
    space_close(&space);
}

Test(sgemm, space_refuses_what_it_does_not_know)
{
    struct machine machine;
    struct hardware chip;
    struct error error;
    struct problem good = make_problem(64, 64, 64), problem = good;
    make_machine(&machine, HOST_PORTABLE);
    machine_load(&chip, "");
    cr_assert_eq(try_space(&machine.hw, &good, &matmul_host_space, 1, &error), STATUS_OK);
    cr_assert_eq(try_space(&chip, &good, &matmul_host_space, 1, &error), STATUS_INVALID);
    cr_assert_eq(try_space(&machine.hw, &good, &matmul_thesis, 1, &error), STATUS_INVALID);
    cr_assert_eq(operator_default_space(&matmul_operator, &machine.hw), &matmul_host_space);
    cr_assert_neq(operator_default_space(&matmul_operator, &chip), &matmul_host_space);
    problem.type = DTYPE_F16;
    cr_assert_eq(try_space(&machine.hw, &problem, &matmul_host_space, 1, &error), STATUS_INVALID);
    problem = good;
    problem.size[MATMUL_BATCH] = 2;
    cr_assert_eq(try_space(&machine.hw, &problem, &matmul_host_space, 1, &error), STATUS_INVALID);
    cr_assert(strstr(error.text, "--batch 2"), "%s", error.text);
    for (int c = 0; c < MATMUL_CHOICES; c++) {
        problem = good;
        problem.choice[c] = 1;
        cr_assert_eq(try_space(&machine.hw, &problem, &matmul_host_space, 1, &error),
                     STATUS_INVALID);
        cr_assert(strstr(error.text, matmul_operator.choices[c].name), "%s", error.text);
    }
    hardware_clear(&chip);
}

/* The largest micro-kernel, 28 rows of 16, takes a ns a k; 18 KiB fit the L1, 4 MiB do not. */
Test(sgemm, roofline_is_peak_or_bandwidth)
{
    struct machine machine;
    struct space space;
    make_machine(&machine, HOST_AVX512);
    open_space(&space, &machine, 32, 56, 32, 1);
    cr_assert_float_eq(space.kind->roofline_ns(&space), 32.0 * 56 * 32 / 448, 1e-9);
    space_close(&space);
    open_space(&space, &machine, 1024, 8, 1024, 1);
    cr_assert_float_eq(space.kind->roofline_ns(&space), 4.0 * (2 * 8192 + 1048576) / 10, 1e-6);
    space_close(&space);
}

/* ---- loops and runner ----------------------------------------------------------------------- */

Test(sgemm, loops_stay_within_their_data)
{
    enum { BYTES = 16384 };
    const struct loop_family *const families[] = {&sgemm_loops, &pack_loops};
    struct guarded room = guarded_new(BYTES / sizeof(float), true);
    for (int i = 0; i < BYTES / (int)sizeof(float); i++)
        room.data[i] = 0.5F;
    for (int f = 0; f < 2; f++)
        for (int i = 0; i < families[f]->count; i++)
            for (int isa = 0; isa < HOST_ISA_COUNT; isa++)
                if (host_isa_has((enum host_isa)isa))
                    for (int64_t steps = 2; steps < 5000; steps = steps * 3 + 1) {
                        int64_t done =
                            families[f]->run(i, (enum host_isa)isa, 2, steps, room.data, BYTES);
                        cr_assert(done > 0 && done <= steps, "%s %s: %lld of %lld steps",
                                  families[f]->name, families[f]->variant(i), (long long)done,
                                  (long long)steps);
                    }
    guarded_free(&room);
}

/* Plans of one problem pack into the same place: each must find it as large as it needs. */
static void expect_plans_side_by_side(const struct host_runner *runner, void *problem)
{
    const struct tiling tilings[] = {{{1, 8, 16, 16, 2, 2, 1, 1, 1}},
                                     {{5, 70, 90, 110, 2, 2, 2, 1, 1}},
                                     {{2, 70, 90, 110, 1, 1, 1, 1, 1}}};
    void *plans[3];
    struct error error;
    struct host_check check;
    for (int i = 0; i < 3; i++)
        cr_assert_eq(runner->prepare(problem, &tilings[i], &plans[i], &error), STATUS_OK);
    for (int i = 0; i < 6; i++) {
        cr_assert_eq(runner->check(plans[i % 3], &check, &error), STATUS_OK);
        cr_assert(check.max_error > 0 && check.max_error <= check.allowed_error);
    }
    for (int i = 0; i < 3; i++)
        runner->release(plans[i]);
}

Test(sgemm, runner_checks_and_runs)
{
    struct machine machine;
    struct space space;
    struct error error;
    struct tiling tiling = {{0}};
    struct host_check check;
    void *problem, *plan;
    const struct host_runner *runner = matmul_operator.runner;
    cr_assert_not_null(runner);
    make_machine(&machine, host_isa_best());
    open_space(&space, &machine, 70, 90, 110, 1);
    space_tiling(&space, 0, &tiling);
    cr_assert_eq(runner->open(&space, 7, &problem, &error), STATUS_OK);
    cr_assert_eq(runner->prepare(problem, &tiling, &plan, &error), STATUS_OK);
    cr_assert_eq(runner->check(plan, &check, &error), STATUS_OK);
    cr_assert(check.max_error > 0 && check.max_error <= check.allowed_error);
    cr_assert_not(check.sampled);
    runner->run(plan);
    runner->release(plan);
    expect_plans_side_by_side(runner, problem);
    tiling.value[HOST_KERNEL] = 0;
    cr_assert_eq(runner->prepare(problem, &tiling, &plan, &error), STATUS_INVALID);
    runner->close(problem);
    space_close(&space);
    open_space(&space, &machine, 1000000, 1000, 1000000, 1);
    cr_assert_eq(runner->open(&space, 7, &problem, &error), STATUS_NO_MEMORY);
    space_close(&space);
}
