/* kernels/matmul_host_ask: what it says of a tiling against a walk through the loops that counts
 * every call, and what must hold of where bytes come from. */
#include "core/hardware.h"
#include "core/least.h"
#include "kernels/matmul/host/matmul_host.h"
#include "kernels/matmul/matmul.h"
#include "tests/support/host_sample.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_ROWS = 28, MOST_COLUMNS = 8 };

/* The sample with a loop for every kernel; all loops differ. */
static void fill_host(struct host *host)
{
    static const int tile_rows[] = {28, 14, 9, 6, 5, 4, 3, 3},
                     dot_rows[] = {8, 8, 8, 6, 5, 4, 3, 3};
    host_sample(host);
    host->loop_count = 0;
    for (int v = 1; v <= 8; v++)
        for (int r = 1; r <= tile_rows[v - 1]; r++)
            (void)snprintf(host->loops[host->loop_count++].name, HOST_NAME_SIZE, "sgemm %dx%d", r,
                           v);
    for (int v = 1; v <= 8; v++)
        for (int r = 1; r <= dot_rows[v - 1]; r++)
            (void)snprintf(host->loops[host->loop_count++].name, HOST_NAME_SIZE, "sgemm dot %dx%d",
                           r, v);
    static const char *const packs[] = {"pack a", "pack b", "pack b for dot"};
    for (int i = 0; i < 3; i++)
        (void)snprintf(host->loops[host->loop_count++].name, HOST_NAME_SIZE, "%s", packs[i]);
    for (int i = 0; i < host->loop_count; i++) {
        host->loops[i].step_ns = 1 + 0.01 * i;
        host->loops[i].call_ns = 5 + 0.01 * i;
    }
}

/* ------------------------------------------------------------------ the walk */

/* What the loops do, by the loop's index; bytes. */
struct counted {
    double calls[HOST_MAX_LOOPS], steps[HOST_MAX_LOOPS];
    double kernel_reads, pack_reads, c_writes;
};

struct walking {
    const struct host *host;
    const struct tiling *tiling;
    int64_t m, k, n, lanes, rows, vectors;
    struct counted *counted;
};

/* The length of panel `panel` of `size` cut into the fewest of at most `most`, as equal as can be.
 */
static int64_t panel_length(int64_t size, int64_t most, int64_t panel)
{
    int64_t count = (size + most - 1) / most;
    return (size + count - 1 - panel) / count;
}

static int64_t panel_count(int64_t size, int64_t most)
{
    return (size + most - 1) / most;
}

static int loop_of(const struct host *host, const char *form, int64_t rows, int64_t vectors)
{
    char name[HOST_NAME_SIZE];
    (void)snprintf(name, sizeof name, "sgemm %s%dx%d", form, (int)rows, (int)vectors);
    int loop = host_loop(host, name);
    cr_assert_geq(loop, 0, "%s", name);
    return loop;
}

static void walk_kernels(const struct walking *w, int64_t rows, int64_t columns, int64_t depth)
{
    int64_t vectors = (columns + w->lanes - 1) / w->lanes;
    for (int64_t i = 0; i < panel_count(rows, w->rows); i++) {
        int64_t left = columns, height = panel_length(rows, w->rows, i);
        for (int64_t j = 0; j < panel_count(vectors, w->vectors); j++) {
            int64_t wide = panel_length(vectors, w->vectors, j);
            int loop = loop_of(w->host, "", height, wide);
            w->counted->calls[loop]++;
            w->counted->steps[loop] += (double)depth;
            w->counted->kernel_reads +=
                4.0 * (double)depth * (double)(height + least_of(wide * w->lanes, left));
            left -= wide * w->lanes;
        }
    }
    w->counted->c_writes += 4.0 * (double)rows * (double)columns;
}

static void walk_pack_a(const struct walking *w, int64_t rows, int64_t depth)
{
    int loop = host_loop(w->host, "pack a");
    for (int64_t i = 0; i < panel_count(rows, w->rows); i++) {
        int64_t height = panel_length(rows, w->rows, i);
        int64_t turned = height < 4 ? 4 * height : (height + 3) / 4 * 4;
        w->counted->calls[loop]++;
        w->counted->steps[loop] += (double)(turned * depth) / 16;
    }
    w->counted->pack_reads += 4.0 * (double)rows * (double)depth;
}

static void walk_pack_b(const struct walking *w, int64_t columns, int64_t depth)
{
    int loop = host_loop(w->host, "pack b");
    int64_t vectors = (columns + w->lanes - 1) / w->lanes;
    w->counted->calls[loop] += (double)panel_count(vectors, w->vectors);
    w->counted->steps[loop] += (double)(columns * depth) / 16;
    w->counted->pack_reads += 4.0 * (double)columns * (double)depth;
}

static void walk_blocked(const struct walking *w)
{
    const int64_t *v = w->tiling->value;
    bool m_outer = v[HOST_ORDER] == HOST_ORDER_M;
    int64_t outer = m_outer ? w->m : w->n, inner = m_outer ? w->n : w->m;
    int64_t outer_tile = least_of(v[m_outer ? HOST_M_TILE : HOST_N_TILE], outer);
    int64_t inner_tile = least_of(v[m_outer ? HOST_N_TILE : HOST_M_TILE], inner);
    bool pack_a = v[HOST_PACK_A] == HOST_PACK_YES, pack_b = v[HOST_PACK_B] == HOST_PACK_YES;
    for (int64_t o = 0; o < outer; o += outer_tile) {
        int64_t o_size = least_of(outer_tile, outer - o);
        for (int64_t p = 0; p < w->k; p += v[HOST_K_TILE]) {
            int64_t depth = least_of(v[HOST_K_TILE], w->k - p);
            if (m_outer && pack_a)
                walk_pack_a(w, o_size, depth);
            if (!m_outer && pack_b)
                walk_pack_b(w, o_size, depth);
            for (int64_t i = 0; i < inner; i += inner_tile) {
                int64_t i_size = least_of(inner_tile, inner - i);
                if (m_outer && pack_b)
                    walk_pack_b(w, i_size, depth);
                if (!m_outer && pack_a)
                    walk_pack_a(w, i_size, depth);
                walk_kernels(w, m_outer ? o_size : i_size, m_outer ? i_size : o_size, depth);
            }
        }
    }
}

static void walk_dot(const struct walking *w)
{
    if (w->n > 1) {
        int loop = host_loop(w->host, "pack b for dot");
        w->counted->calls[loop] = 1;
        w->counted->steps[loop] = (double)(w->n * w->k) / 16;
        w->counted->pack_reads = 4.0 * (double)w->n * (double)w->k;
    }
    for (int64_t i = 0; i < panel_count(w->m, w->rows); i++)
        for (int64_t j = 0; j < panel_count(w->n, w->vectors); j++) {
            int64_t height = panel_length(w->m, w->rows, i);
            int64_t wide = panel_length(w->n, w->vectors, j);
            int loop = loop_of(w->host, "dot ", height, wide);
            w->counted->calls[loop]++;
            w->counted->steps[loop] += (double)panel_count(w->k, w->lanes);
            w->counted->kernel_reads += 4.0 * (double)w->k * (double)(height + wide);
        }
    w->counted->c_writes = 4.0 * (double)w->m * (double)w->n;
}

/* The busiest thread's part: whole kernels, as evenly as can be. */
static int64_t part(int64_t size, int64_t unit, int threads)
{
    int64_t units = (size + unit - 1) / unit;
    return least_of(size, (units + threads - 1) / threads * unit);
}

static void count(const struct space *space, const struct tiling *tiling, struct counted *counted)
{
    const struct matmul_host *product = matmul_host_of(space);
    const struct matmul_host_kernel *kernel = matmul_host_kernel(tiling);
    bool dot = kernel->path == HOST_PATH_DOT;
    int64_t lanes = host_lanes(product->host->isa);
    struct walking w = {product->host, tiling,       product->m,      product->k, product->n,
                        lanes,         kernel->rows, kernel->vectors, counted};
    memset(counted, 0, sizeof *counted);
    if (tiling->value[HOST_SPLIT] == HOST_SPLIT_M)
        w.m = part(w.m, kernel->rows, product->threads);
    else
        w.n = part(w.n, dot ? kernel->vectors : kernel->vectors * lanes, product->threads);
    (dot ? walk_dot : walk_blocked)(&w);
}

/* ------------------------------------------------------------------ comparison */

static double sum(const double values[HOST_MAX_LEVELS])
{
    double all = 0;
    for (int l = 0; l < HOST_MAX_LEVELS; l++)
        all += values[l];
    return all;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void expect_same(const struct host *host, const struct host_work *work,
                        const struct counted *counted, const char *text)
{
    static struct counted said;
    memset(&said, 0, sizeof said);
    for (int i = 0; i < work->phase_count; i++) {
        const struct host_phase *phase = &work->phases[i];
        bool moved = phase->stream_bytes > 0 || sum(phase->write_bytes) > 0;
        cr_assert(phase->loop >= 0 && phase->loop < host->loop_count, "%s", text);
        said.calls[phase->loop] += phase->calls;
        said.steps[phase->loop] += phase->steps;
        *(phase->copying ? &said.pack_reads : &said.kernel_reads) += sum(phase->read_bytes);
        if (!phase->copying && moved)
            said.c_writes += phase->stream_bytes + sum(phase->write_bytes);
    }
    for (int i = 0; i < host->loop_count; i++)
        cr_expect(near(said.calls[i], counted->calls[i]) && near(said.steps[i], counted->steps[i]),
                  "%s: %s: %g calls and %g steps, counted %g and %g", text, host->loops[i].name,
                  said.calls[i], said.steps[i], counted->calls[i], counted->steps[i]);
    cr_expect(near(said.kernel_reads, counted->kernel_reads), "%s: kernels read %g, counted %g",
              text, said.kernel_reads, counted->kernel_reads);
    cr_expect(near(said.pack_reads, counted->pack_reads), "%s: packing reads %g, counted %g", text,
              said.pack_reads, counted->pack_reads);
    cr_expect(near(said.c_writes, counted->c_writes), "%s: C %g, counted %g", text, said.c_writes,
              counted->c_writes);
}

static enum status open_space(struct hardware *hw, const char *shape, int cores,
                              struct space *space)
{
    struct problem problem;
    struct error error;
    cr_assert_eq(problem_parse(&matmul_operator, shape, &problem, &error), STATUS_OK);
    problem.type = DTYPE_F32;
    enum status status = space_open(&problem, &matmul_host_space, hw, cores, space, &error);
    cr_assert_eq(status, STATUS_OK, "%s: %s", shape, error.text);
    return status;
}

/* A row of A never as long as a multiple of so many floats that its lines collide in the L1. */
static void draw_shape(gsl_rng *rng, char text[64])
{
    int64_t m = 1 + (int64_t)exp(gsl_rng_uniform(rng) * 6.5);
    int64_t k = 1 + (int64_t)exp(gsl_rng_uniform(rng) * 6.5);
    int64_t n = 1 + (int64_t)exp(gsl_rng_uniform(rng) * 6.5);
    (void)snprintf(text, 64, "%dx%dx%d", (int)m, (int)(k | 1), (int)n);
}

Test(matmul_host_ask, agrees_with_a_walk)
{
    static struct host host;
    static struct counted counted;
    struct hardware hw = {.host = &host};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    fill_host(&host);
    int compared = 0;
    for (int round = 0; round < 400; round++) {
        char text[64];
        struct space space;
        draw_shape(rng, text);
        host.isa = (enum host_isa)gsl_rng_uniform_int(rng, HOST_ISA_COUNT);
        open_space(&hw, text, 1 + (int)gsl_rng_uniform_int(rng, 5), &space);
        for (int i = 0; i < 12; i++) {
            struct tiling tiling;
            struct host_work work;
            space_tiling(&space, (int64_t)(gsl_rng_uniform(rng) * (double)space.candidates),
                         &tiling);
            if (!space.kind->legal(&space, &tiling))
                continue;
            memset(&work, 0xff, sizeof work); /* all of it that counts is filled */
            space.kind->ask(&space, &tiling, &work);
            count(&space, &tiling, &counted);
            expect_same(&host, &work, &counted, text);
            cr_expect_eq(work.threads, space.kind->cores_used(&space, &tiling, 0));
            cr_expect_eq(work.parallel_regions, work.threads > 1);
            compared++;
        }
        space_close(&space);
    }
    cr_expect_gt(compared, 2000);
    gsl_rng_free(rng);
}

/* ------------------------------------------------------------------ levels */

static void ask(struct hardware *hw, const char *shape, const struct tiling *tiling,
                struct host_work *work)
{
    struct space space;
    open_space(hw, shape, 1, &space);
    matmul_host_ask(&space, tiling, work);
    space_close(&space);
}

static int kernel_called(const char *name)
{
    for (int i = 0; i < MATMUL_HOST_KERNELS; i++)
        if (strcmp(matmul_host_kernels[i].name, name) == 0)
            return i + 1;
    return 0;
}

static struct tiling tiling_of(const char *kernel, int64_t m, int64_t k, int64_t n, int packed)
{
    return (struct tiling){{kernel_called(kernel), m, k, n, packed, packed, HOST_ORDER_N,
                            HOST_STORE_CACHED, HOST_SPLIT_M}};
}

/* 48 KiB of operands in an L1 of 32 KiB and an L2 of 1 MiB. */
Test(matmul_host_ask, levels_by_size)
{
    static struct host host;
    struct hardware hw = {.host = &host};
    struct host_work work;
    fill_host(&host);
    struct tiling small = tiling_of("6x2", 24, 24, 24, HOST_PACK_NO);
    ask(&hw, "24x24x24", &small, &work);
    for (int l = 1; l < host.level_count; l++)
        cr_expect(work.phases[0].read_bytes[l] == 0 && work.phases[0].write_bytes[l] == 0 &&
                  work.phases[0].jumps[l] == 0);
    struct tiling middle = tiling_of("6x2", 72, 72, 72, HOST_PACK_NO);
    ask(&hw, "72x72x72", &middle, &work);
    cr_expect(work.phases[0].read_bytes[1] > 0 && work.phases[0].jumps[1] > 0);
    cr_expect(work.phases[0].read_bytes[2] == 0 && work.phases[0].walks == 0);
    struct tiling large = tiling_of("6x2", 3000, 3000, 3000, HOST_PACK_NO);
    ask(&hw, "3000x3000x3000", &large, &work);
    cr_expect(work.phases[0].read_bytes[3] > 0 && work.phases[0].walks > 0);
}

/* Tiles that fit the caches are read from nearer than those that do not. */
Test(matmul_host_ask, tiles_are_read_from_nearer)
{
    static struct host host;
    struct hardware hw = {.host = &host};
    struct host_work whole, tiled;
    fill_host(&host);
    struct tiling one = tiling_of("6x2", 1992, 2000, 2000, HOST_PACK_YES);
    struct tiling many = tiling_of("6x2", 96, 256, 2000, HOST_PACK_YES);
    ask(&hw, "1992x2000x2000", &one, &whole);
    ask(&hw, "1992x2000x2000", &many, &tiled);
    double far[2] = {0};
    for (int i = 0; i < 2; i++) {
        const struct host_work *work = i ? &tiled : &whole;
        for (int p = 0; p < work->phase_count; p++)
            if (!work->phases[p].copying)
                far[i] += work->phases[p].read_bytes[2] + work->phases[p].read_bytes[3];
    }
    cr_expect_lt(far[1], far[0] / 4);
}

/* Rows of 4,096 bytes side by side need the same places of the L1; those of 4,160 do not. */
Test(matmul_host_ask, rows_that_collide)
{
    static struct host host;
    struct hardware hw = {.host = &host};
    struct host_work colliding, other;
    fill_host(&host);
    struct tiling tiling = tiling_of("28x1", 28, 1024, 16, HOST_PACK_NO);
    ask(&hw, "28x1024x16", &tiling, &colliding);
    tiling.value[HOST_K_TILE] = 1040;
    ask(&hw, "28x1040x16", &tiling, &other);
    cr_expect_gt(colliding.phases[0].read_bytes[1], 2 * other.phases[0].read_bytes[1]);
}

/* Rows of B of 132 bytes: of 32-byte vectors seven in sixteen lie in two lines; of 128 bytes none.
 */
Test(matmul_host_ask, vectors_across_lines)
{
    static struct host host;
    struct hardware hw = {.host = &host};
    struct host_work work;
    fill_host(&host);
    struct tiling tiling = tiling_of("6x2", 6, 10, 33, HOST_PACK_NO);
    ask(&hw, "6x10x33", &tiling, &work);
    cr_expect_float_eq(work.phases[0].splits, 5 * 10 * 7 / 16.0, 1e-9);
    ask(&hw, "6x10x32", &tiling, &work);
    cr_expect_eq(work.phases[0].splits, 0);
    tiling.value[HOST_PACK_B] = HOST_PACK_YES;
    ask(&hw, "6x10x33", &tiling, &work);
    for (int i = 0; i < work.phase_count; i++)
        cr_expect(i == 0 || work.phases[i].splits == 0);
}

/* A kernel whose loop was not timed counts as the smallest timed one that holds it. */
Test(matmul_host_ask, loops_that_were_not_timed)
{
    static struct host host;
    struct matmul_host_loops loops;
    host_sample(&host);
    host.loop_count = 3;
    (void)snprintf(host.loops[0].name, HOST_NAME_SIZE, "sgemm 6x2");
    (void)snprintf(host.loops[1].name, HOST_NAME_SIZE, "sgemm 4x4");
    (void)snprintf(host.loops[2].name, HOST_NAME_SIZE, "sgemm 8x1");
    matmul_host_find_loops(&host, &loops);
    cr_expect_eq(loops.tile[0][7], 2);
    cr_expect_eq(loops.tile[0][2], 2);
    cr_expect_eq(loops.tile[1][4], 0);
    cr_expect_eq(loops.tile[2][3], 1);
    cr_expect_eq(loops.tile[1][6], -1);
    cr_expect_eq(loops.tile[4][0], -1);
    cr_expect(loops.dot[0][0] == -1 && loops.pack_a == -1);
}
