/* Products with a tuned table: which entry a shape gets, how its tiling is made to fit, that the
 * results are right for many callers at once, and what hostile tables do. */
#include "kernels/matmul/host/matmul_host.h"
#include "runtime/autotune_sgemm.h"
#include "runtime/sgemm_table.h"
#include "validate/loops.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HEADER "m,k,n,threads,isa,kernel,m_tile,k_tile,n_tile,pack_a,pack_b,order,store,split\n"

static char *file_name(void)
{
    static char name[64];
    snprintf(name, sizeof name, "/dev/shm/autotune-table-%d.csv", (int)getpid());
    return name;
}

static const char *write_table(const char *text, size_t length)
{
    FILE *file = fopen(file_name(), "wb");
    cr_assert(file && fwrite(text, 1, length, file) == length);
    fclose(file);
    return file_name();
}

static struct autotune_sgemm *open_text(const char *text, int threads)
{
    char message[512] = "";
    struct autotune_sgemm *sgemm =
        autotune_sgemm_open(write_table(text, strlen(text)), threads, message, sizeof message);
    unlink(file_name());
    cr_assert(sgemm, "%s", message);
    return sgemm;
}

static enum status read_text(const char *text, struct table *table, struct error *error)
{
    enum status status = table_read(write_table(text, strlen(text)), matmul_host_axes,
                                    HOST_MATMUL_AXES, table, error);
    unlink(file_name());
    return status;
}

/* ---- reading -------------------------------------------------------------------------------- */

Test(runtime_sgemm, table_columns_are_found_by_name_and_others_left_alone)
{
    struct table table;
    struct error error;
    cr_assert_eq(
        read_text("time_ns,split,store,order,pack_b,pack_a,n_tile,k_tile,m_tile,kernel,n,k,"
                  "m\n1.5,n,stream,m,yes,no,7,6,5,12x2,3,2,1\n",
                  &table, &error),
        STATUS_OK, "%s", error.text);
    cr_assert_eq(table.count, 1);
    const struct table_entry *e = &table.entries[0];
    cr_assert(e->m == 1 && e->k == 2 && e->n == 3 && e->threads == 0 && e->isa == -1 &&
              e->line == 2);
    cr_assert_str_eq(matmul_host_kernels[e->tiling.value[HOST_KERNEL] - 1].name, "12x2");
    const int64_t values[] = {
        5, 6, 7, HOST_PACK_NO, HOST_PACK_YES, HOST_ORDER_M, HOST_STORE_STREAM, HOST_SPLIT_N};
    cr_assert_eq(memcmp(values, &e->tiling.value[HOST_M_TILE], sizeof values), 0);
    table_clear(&table);
}

/* Files one after the other, with their headers, in another order of columns too; the last entry
 * for a product counts, lesser ranks and quarantined ones do not. */
Test(runtime_sgemm, table_files_one_after_the_other_are_a_table)
{
    struct table table;
    struct error error;
    cr_assert_eq(
        read_text("rank," HEADER "1,8,8,8,1,avx2,4x1,8,8,8,no,no,n,cached,m\n"
                  "2,8,8,8,1,avx2,12x2,8,8,8,no,no,n,cached,m\n"
                  "1,9,8,8,1,avx2,4x1,8,8,8,no,no,n,cached,m\n"
                  "quarantined,n,k,m,isa,threads,kernel,m_tile,k_tile,n_tile,pack_a,pack_b,order,"
                  "store,split\n"
                  ",8,8,8,avx2,1,8x1,8,8,8,no,no,n,cached,m\n"
                  "killed by signal 11,8,8,8,avx2,1,28x1,8,8,8,no,no,n,cached,m\n",
                  &table, &error),
        STATUS_OK, "%s", error.text);
    cr_assert_eq(table.count, 2);
    cr_assert(table.entries[0].line == 4 && table.entries[1].line == 6);
    cr_assert_str_eq(matmul_host_kernels[table.entries[1].tiling.value[HOST_KERNEL] - 1].name,
                     "8x1");
    table_clear(&table);
}

static const struct {
    const char *text, *message; /* behind the file's name */
} broken[] = {
    {"", ":1: empty, expected a header with m, k, n and every axis of a tiling"},
    {"\n\n", ":1: empty, expected a header"},
    {"m,k\n", ":1: no column n, expected a header with m, k, n"},
    {"m,k,n\n", ":1: no column kernel, expected"},
    {"m,k,n,m\n", ":1: the column m twice, expected once"},
    {HEADER, ":2: no entry behind the header, expected some"},
    {HEADER "1,2\n", ":2: 2 fields, expected 14 as in the header"},
    {HEADER "0,8,8,1,avx2,4x1,8,8,8,no,no,n,cached,m\n", ":2: m: \"0\", expected a number from 1"},
    {HEADER "8,-8,8,1,avx2,4x1,8,8,8,no,no,n,cached,m\n", ":2: k: \"-8\", expected a number"},
    {HEADER "8,8,8e3,1,avx2,4x1,8,8,8,no,no,n,cached,m\n", ":2: n: \"8e3\", expected a number"},
    {HEADER "8,8,1073741825,1,avx2,4x1,8,8,8,no,no,n,cached,m\n",
     ":2: n: \"1073741825\", expected a number from 1 to 1073741824"},
    {HEADER "8,8,18446744073709551617,1,avx2,4x1,8,8,8,no,no,n,cached,m\n",
     ":2: n: \"18446744073709551617\", expected"},
    {HEADER "8,8,8,257,avx2,4x1,8,8,8,no,no,n,cached,m\n", ":2: threads: \"257\", expected"},
    {HEADER "8,8,8,1,mmx,4x1,8,8,8,no,no,n,cached,m\n",
     ":2: isa: \"mmx\", expected portable, neon, avx2 or avx512"},
    {HEADER "8,8,8,1,avx2,99x9,8,8,8,no,no,n,cached,m\n",
     ":2: kernel: \"99x9\", expected one of 4x1, 8x1,"},
    {HEADER "8,8,8,1,avx2,-,8,8,8,no,no,n,cached,m\n", ":2: kernel: \"-\", expected one of"},
    {HEADER "8,8,8,1,avx2,4x1,0,8,8,no,no,n,cached,m\n", ":2: m_tile: \"0\", expected a number"},
    {HEADER "8,8,8,1,avx2,4x1,8,9223372036854775807,8,no,no,n,cached,m\n",
     ":2: k_tile: \"9223372036854775807\", expected a number"},
    {HEADER "8,8,8,1,avx2,4x1,8,8,8,no,no,n,cached,diagonal\n",
     ":2: split: \"diagonal\", expected one of m, n"},
    {HEADER "8,8,8,1,avx2,4x1,8,8,8,no,no,n,cached,\"m\n", ":2: a quotation mark without its"},
    {"batch," HEADER "2,8,8,8,1,avx2,4x1,8,8,8,no,no,n,cached,m\n",
     ":2: batch: \"2\", expected a number from 1 to 1"},
    {"rank," HEADER "x,8,8,8,1,avx2,4x1,8,8,8,no,no,n,cached,m\n", ":2: rank: \"x\", expected"},
    {HEADER "8,8,8,1,avx2,4x1,8,8,8,no,no,n,cached,m\nm,k,n\n", ":3: no column kernel, expected"},
    {HEADER "8,8,8,1,avx2,4x1,8,8,8,no,no,n,cached,\033[31m\n", ":2: split: \"?[31m\", expected"},
};

Test(runtime_sgemm, table_broken_ones_are_refused_with_place_and_expectation)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char message[512] = "", wanted[512];
        snprintf(wanted, sizeof wanted, "%s%s", file_name(), broken[i].message);
        cr_assert_null(autotune_sgemm_open(write_table(broken[i].text, strlen(broken[i].text)), 1,
                                           message, sizeof message));
        cr_assert_eq(strncmp(message, wanted, strlen(wanted)), 0, "%s\nexpected %s", message,
                     wanted);
        unlink(file_name());
    }
}

Test(runtime_sgemm, table_what_cannot_be_opened_says_why)
{
    char message[512] = "";
    cr_assert_null(autotune_sgemm_open("/none/such.csv", 1, message, sizeof message));
    cr_assert(strstr(message, "/none/such.csv: cannot open it"), "%s", message);
    cr_assert_null(autotune_sgemm_open("/none/such.csv", 1, NULL, 0));
    for (int threads = 0; threads <= 257; threads += 257) {
        cr_assert_null(autotune_sgemm_open(NULL, threads, message, sizeof message));
        cr_assert(strstr(message, "threads, expected 1 to 256"), "%s", message);
    }
    autotune_sgemm_close(NULL);
}

/* ---- the nearest entry ---------------------------------------------------------------------- */

static int64_t draw_size(gsl_rng *rng)
{
    return 1 + (int64_t)pow(2, gsl_rng_uniform(rng) * 12);
}

/* Few different sizes, so that distances are often equal. */
static struct table_entry draw_entry(gsl_rng *rng, int line)
{
    static const int64_t sizes[] = {1, 2, 4, 8, 100, 1000};
    struct table_entry entry = {.line = line,
                                .threads = (int)gsl_rng_uniform_int(rng, 4),
                                .isa = (int)gsl_rng_uniform_int(rng, 4) - 1};
    entry.m = sizes[gsl_rng_uniform_int(rng, 6)];
    entry.k = sizes[gsl_rng_uniform_int(rng, 6)];
    entry.n = sizes[gsl_rng_uniform_int(rng, 6)];
    return entry;
}

static double distance_of(const struct table_entry *e, const struct table_wish *w)
{
    double threads = e->threads == 0 ? 0 : fabs(log(e->threads) - log(w->threads));
    return fabs(log((double)e->m) - log((double)w->m)) +
           fabs(log((double)e->k) - log((double)w->k)) +
           fabs(log((double)e->n) - log((double)w->n)) + threads;
}

/* Walking through a table visits every usable entry once, in order of distance and position. */
Test(runtime_sgemm, table_the_nearest_entries_come_in_order)
{
    enum { ENTRIES = 40 };
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 300; round++) {
        struct table_entry entries[ENTRIES];
        struct table table = {ENTRIES, entries};
        const struct table_wish wish = {draw_size(rng), draw_size(rng), draw_size(rng),
                                        1 + (int)gsl_rng_uniform_int(rng, 3),
                                        (int)gsl_rng_uniform_int(rng, HOST_ISA_COUNT)};
        int usable = 0, visited = 0;
        for (int i = 0; i < ENTRIES; i++) {
            entries[i] = draw_entry(rng, i);
            usable += entries[i].isa < 0 || entries[i].isa == wish.isa;
        }
        for (int64_t at = table_next(&table, &wish, -1), last = -1; at >= 0;
             last = at, at = table_next(&table, &wish, at), visited++) {
            double distance = distance_of(&entries[at], &wish);
            cr_assert(entries[at].isa < 0 || entries[at].isa == wish.isa);
            cr_assert_float_eq(table_distance(&entries[at], &wish), distance, 1e-12);
            if (last < 0)
                continue;
            double before = distance_of(&entries[last], &wish);
            cr_assert(before < distance + 1e-12);
            cr_assert(before < distance - 1e-12 || last < at ||
                      table_distance(&entries[last], &wish) < table_distance(&entries[at], &wish));
        }
        cr_assert_eq(visited, usable);
    }
    gsl_rng_free(rng);
}

static const char *best_isa(void)
{
    return host_isa_name(host_isa_best());
}

static void expect_plan(struct autotune_sgemm *sgemm, int64_t m, int64_t k, int64_t n,
                        enum autotune_sgemm_source source, int line)
{
    struct autotune_sgemm_plan plan;
    cr_assert_eq(autotune_sgemm_explain(sgemm, m, k, n, &plan), AUTOTUNE_SGEMM_OK);
    cr_assert(plan.source == source && plan.line == line,
              "%dx%dx%d: source %d, line %d; expected %d, %d", (int)m, (int)k, (int)n, plan.source,
              plan.line, source, line);
    cr_assert_eq(plan.reason[0] == 0, source == AUTOTUNE_SGEMM_EXACT);
    cr_assert_str_eq(plan.isa, best_isa());
}

Test(runtime_sgemm, a_shape_gets_its_entry_or_the_nearest_or_a_default)
{
    char text[1024];
    snprintf(text, sizeof text,
             HEADER "100,100,100,1,%1$s,4x1,100,100,100,no,no,n,cached,m\n"
                    "100,100,100,2,%1$s,8x1,50,100,100,no,no,n,cached,m\n"
                    "1000,100,100,1,%1$s,12x1,96,100,100,yes,no,n,cached,m\n",
             best_isa());
    struct autotune_sgemm *one = open_text(text, 1), *two = open_text(text, 2);
    expect_plan(one, 100, 100, 100, AUTOTUNE_SGEMM_EXACT, 2);
    expect_plan(two, 100, 100, 100, AUTOTUNE_SGEMM_EXACT, 3);
    expect_plan(one, 101, 100, 100, AUTOTUNE_SGEMM_NEAREST, 2);
    expect_plan(one, 317, 100, 100, AUTOTUNE_SGEMM_NEAREST, 4);
    expect_plan(one, 316, 100, 100, AUTOTUNE_SGEMM_NEAREST, 2);
    expect_plan(two, 1000, 100, 100, AUTOTUNE_SGEMM_NEAREST, 4);
    autotune_sgemm_close(one);
    autotune_sgemm_close(two);
    one = autotune_sgemm_open(NULL, 1, NULL, 0);
    expect_plan(one, 7, 8, 9, AUTOTUNE_SGEMM_DEFAULT, 0);
    autotune_sgemm_close(one);
}

Test(runtime_sgemm, a_table_of_another_instruction_set_is_not_used_and_it_says_so)
{
    struct autotune_sgemm_plan plan;
    char text[512];
    snprintf(text, sizeof text, HEADER "8,8,8,1,%s,4x1,8,8,8,no,no,n,cached,m\n",
             host_isa_best() == HOST_PORTABLE ? "avx2" : "portable");
    struct autotune_sgemm *sgemm = open_text(text, 1);
    expect_plan(sgemm, 8, 8, 8, AUTOTUNE_SGEMM_DEFAULT, 0);
    autotune_sgemm_explain(sgemm, 8, 8, 8, &plan);
    cr_assert(strstr(plan.reason, "no entry of the table was tuned for"), "%s", plan.reason);
    cr_assert(strstr(plan.reason, best_isa()), "%s", plan.reason);
    autotune_sgemm_close(sgemm);
}

/* Along each size there are more shapes than the plans have buckets; each finds its own again. The
 * default tilings of such thin products are one tile. */
Test(runtime_sgemm, shapes_do_not_get_each_others_plans)
{
    enum { MOST = 2048 };
    struct autotune_sgemm *sgemm = autotune_sgemm_open(NULL, 1, NULL, 0);
    for (int i = 0; i < 2 * 3 * MOST; i++) {
        int size[3] = {1, 1, 1};
        size[i % 3] = 1 + i / 3 % MOST;
        struct autotune_sgemm_plan plan;
        char wanted[64];
        cr_assert_eq(autotune_sgemm_explain(sgemm, size[0], size[1], size[2], &plan),
                     AUTOTUNE_SGEMM_OK);
        snprintf(wanted, sizeof wanted, ",m_tile=%d,k_tile=%d,n_tile=%d,", size[0], size[1],
                 size[2]);
        cr_assert(strstr(plan.tiling, wanted), "expected %s: %s", wanted, plan.tiling);
    }
    autotune_sgemm_close(sgemm);
}

/* What is shown can be given to --set, and an exact entry's tiling is not touched. */
Test(runtime_sgemm, an_exact_entry_is_taken_as_it_is)
{
    struct autotune_sgemm_plan plan;
    struct autotune_sgemm *sgemm =
        open_text("m,k,n,kernel,m_tile,k_tile,n_tile,pack_a,pack_b,order,store,split\n"
                  "100,90,64,4x4,33,90,64,yes,no,m,stream,n\n",
                  1);
    autotune_sgemm_explain(sgemm, 100, 90, 64, &plan);
    cr_assert_eq(plan.source, AUTOTUNE_SGEMM_EXACT);
    cr_assert_str_eq(plan.tiling, "kernel=4x4,m_tile=33,k_tile=90,n_tile=64,pack_a=yes,pack_b=no,"
                                  "order=m,store=stream,split=n");
    autotune_sgemm_explain(sgemm, 100, 90, 65, &plan);
    cr_assert_eq(plan.source, AUTOTUNE_SGEMM_NEAREST);
    cr_assert(strstr(plan.tiling, "store=cached"), "rows of 260 bytes: %s", plan.tiling);
    autotune_sgemm_close(sgemm);
}

/* ---- re-fitting ----------------------------------------------------------------------------- */

static struct tiling draw_tiling(gsl_rng *rng)
{
    struct tiling t = {
        .value = {[HOST_KERNEL] = 1 + (int64_t)gsl_rng_uniform_int(rng, MATMUL_HOST_KERNELS),
                  [HOST_M_TILE] = draw_size(rng),
                  [HOST_K_TILE] = draw_size(rng),
                  [HOST_N_TILE] = draw_size(rng)}};
    for (int a = HOST_PACK_A; a < HOST_MATMUL_AXES; a++)
        t.value[a] = 1 + (int64_t)gsl_rng_uniform_int(rng, 2);
    return t;
}

/* No tile exceeds its size or grows by more than half and a step, and the last is no sliver: all
 * are equal but for rounding to what a kernel does at once. */
static void expect_equal_tiles(const struct tiling *from, const struct tiling *to,
                               const struct table_wish *wish)
{
    const struct matmul_host_kernel *kernel = matmul_host_kernel(from);
    const int64_t sizes[] = {wish->m, wish->k, wish->n};
    const int64_t steps[] = {kernel->rows, 1,
                             kernel->vectors * (kernel->path == HOST_PATH_DOT
                                                    ? 1
                                                    : host_lanes((enum host_isa)wish->isa))};
    for (int i = 0; i < 3; i++) {
        int64_t tile = to->value[HOST_M_TILE + i], wanted = from->value[HOST_M_TILE + i];
        int64_t size = sizes[i];
        cr_assert(tile >= 1 && tile <= size);
        int64_t count = (size + tile - 1) / tile;
        cr_assert_leq((double)tile, 1.5 * (double)wanted + (double)steps[i]);
        cr_assert(tile == size || tile % steps[i] == 0);
        cr_assert_leq(tile, (size + count - 1) / count + steps[i] * count);
    }
}

Test(runtime_sgemm, refit_tilings_made_to_fit_are_legal_and_near)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int made = 0;
    for (int i = 0; i < 20000; i++) {
        const struct table_wish wish = {draw_size(rng), draw_size(rng), draw_size(rng),
                                        1 + (int)gsl_rng_uniform_int(rng, 4),
                                        (int)gsl_rng_uniform_int(rng, HOST_ISA_COUNT)};
        struct tiling from = draw_tiling(rng), to;
        refit(&from, &wish, 0, &to);
        expect_equal_tiles(&from, &to, &wish);
        refit_default(&wish, &to);
        cr_assert(refit_is_legal(&to, &wish));
        if (!refit_legal(&from, &wish, &to))
            continue;
        made++;
        cr_assert(refit_is_legal(&to, &wish));
        cr_assert_eq(to.value[HOST_KERNEL], from.value[HOST_KERNEL]);
        cr_assert(to.value[HOST_M_TILE] <= wish.m && to.value[HOST_K_TILE] <= wish.k &&
                  to.value[HOST_N_TILE] <= wish.n);
        cr_assert(to.value[HOST_STORE] == HOST_STORE_CACHED ||
                  (wish.n % 16 == 0 && to.value[HOST_K_TILE] == wish.k));
    }
    cr_assert_gt(made, 15000);
    gsl_rng_free(rng);
}

/* A product of few rows reads B once, as it lies; one column is dot products. Nothing is copied
 * where copies are read once. */
Test(runtime_sgemm, refit_thin_products_read_their_operands_once)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < 3000; i++) {
        struct table_wish wish = {1 + i % 4, draw_size(rng), draw_size(rng),
                                  1 + (int)gsl_rng_uniform_int(rng, 4),
                                  (int)gsl_rng_uniform_int(rng, HOST_ISA_COUNT)};
        struct tiling tiling;
        cr_assert(refit_is_thin(&wish));
        refit_default(&wish, &tiling);
        cr_assert(tiling.value[HOST_PACK_A] == HOST_PACK_NO &&
                  tiling.value[HOST_PACK_B] == HOST_PACK_NO);
        if (wish.n == 1)
            cr_assert_eq(matmul_host_kernel(&tiling)->path, HOST_PATH_DOT);
        else
            cr_assert_eq(matmul_host_kernel(&tiling)->path, HOST_PATH_TILE);
        wish.m = draw_size(rng);
        wish.n = 1;
        refit_default(&wish, &tiling);
        cr_assert_eq(matmul_host_kernel(&tiling)->path, HOST_PATH_DOT);
    }
    gsl_rng_free(rng);
}

/* The nearest entry packs and walks through B in columns: not for these. */
Test(runtime_sgemm, thin_products_take_no_other_shapes_tiling)
{
    char text[512];
    struct autotune_sgemm_plan plan;
    snprintf(text, sizeof text,
             HEADER "4,900,900,1,%1$s,12x2,4,900,900,yes,yes,n,cached,m\n"
                    "1,700,700,1,%1$s,4x1,1,700,700,no,yes,n,cached,n\n",
             best_isa());
    struct autotune_sgemm *sgemm = open_text(text, 1);
    expect_plan(sgemm, 1, 900, 900, AUTOTUNE_SGEMM_DEFAULT, 0);
    expect_plan(sgemm, 4, 901, 900, AUTOTUNE_SGEMM_DEFAULT, 0);
    expect_plan(sgemm, 900, 900, 1, AUTOTUNE_SGEMM_DEFAULT, 0);
    expect_plan(sgemm, 5, 900, 900, AUTOTUNE_SGEMM_NEAREST, 2);
    expect_plan(sgemm, 4, 900, 900, AUTOTUNE_SGEMM_EXACT, 2);
    expect_plan(sgemm, 1, 700, 700, AUTOTUNE_SGEMM_EXACT, 3);
    autotune_sgemm_explain(sgemm, 2, 3, 4, &plan);
    cr_assert(strstr(plan.reason, "others tell nothing of at most 4 rows or columns"), "%s",
              plan.reason);
    autotune_sgemm_close(sgemm);
}

/* ---- results -------------------------------------------------------------------------------- */

struct matrices {
    int64_t m, k, n;
    float *a, *b, *c;
};

static struct matrices draw_matrices(gsl_rng *rng, int64_t m, int64_t k, int64_t n)
{
    struct matrices x = {m,
                         k,
                         n,
                         calloc((size_t)(m * k), 4),
                         calloc((size_t)(k * n), 4),
                         calloc((size_t)(m * n), 4)};
    cr_assert(x.a && x.b && x.c);
    for (int64_t i = 0; i < m * k; i++)
        x.a[i] = (float)(gsl_rng_uniform(rng) - 0.5);
    for (int64_t i = 0; i < k * n; i++)
        x.b[i] = (float)(gsl_rng_uniform(rng) - 0.5);
    return x;
}

static void free_matrices(struct matrices *x)
{
    free(x->a);
    free(x->b);
    free(x->c);
}

static bool multiply_is_right(struct autotune_sgemm *sgemm, struct matrices *x)
{
    for (int64_t i = 0; i < x->m * x->n; i++)
        x->c[i] = NAN;
    if (autotune_sgemm(sgemm, x->m, x->k, x->n, x->a, x->b, x->c) != AUTOTUNE_SGEMM_OK)
        return false;
    for (int64_t i = 0; i < x->m; i++)
        for (int64_t j = 0; j < x->n; j++) {
            double sum = 0, magnitude = 0;
            for (int64_t p = 0; p < x->k; p++) {
                double term = (double)x->a[i * x->k + p] * (double)x->b[p * x->n + j];
                sum += term;
                magnitude += fabs(term);
            }
            if (!(fabs(x->c[i * x->n + j] - sum) <= magnitude * (double)x->k * 6e-8 + 1e-30))
                return false;
        }
    return true;
}

/* Entries of every kernel and for sizes about those asked for. */
static char *draw_table(gsl_rng *rng, int entries)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fputs(HEADER, out);
    for (int i = 0; i < entries; i++) {
        struct tiling t = draw_tiling(rng);
        fprintf(out, "%d,%d,%d,%d,%s", 1 + (int)gsl_rng_uniform_int(rng, 60),
                1 + (int)gsl_rng_uniform_int(rng, 60), 1 + (int)gsl_rng_uniform_int(rng, 60),
                (int)gsl_rng_uniform_int(rng, 3), best_isa());
        for (int a = 0; a < HOST_MATMUL_AXES; a++) {
            char value[24];
            fprintf(out, ",%s", axis_value_text(&matmul_host_axes[a], t.value[a], value));
        }
        fputc('\n', out);
    }
    fclose(out);
    return text;
}

Test(runtime_sgemm, products_are_right_by_any_entry)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int sources[3] = {0};
    for (int round = 0; round < 40; round++) {
        char *text = draw_table(rng, 30);
        struct autotune_sgemm *sgemm = open_text(text, 1 + round % 2);
        for (int i = 0; i < 10; i++) {
            struct matrices x = draw_matrices(rng, 1 + (int64_t)gsl_rng_uniform_int(rng, 60),
                                              1 + (int64_t)gsl_rng_uniform_int(rng, 60),
                                              1 + (int64_t)gsl_rng_uniform_int(rng, 60));
            struct autotune_sgemm_plan plan;
            cr_assert(multiply_is_right(sgemm, &x), "%dx%dx%d", (int)x.m, (int)x.k, (int)x.n);
            cr_assert(multiply_is_right(sgemm, &x), "again");
            autotune_sgemm_explain(sgemm, x.m, x.k, x.n, &plan);
            sources[plan.source]++;
            free_matrices(&x);
        }
        autotune_sgemm_close(sgemm);
        free(text);
    }
    cr_assert(sources[AUTOTUNE_SGEMM_NEAREST] > 300);
    gsl_rng_free(rng);
}

Test(runtime_sgemm, default_tilings_are_right)
{
    static const int64_t sizes[] = {1, 2, 5, 16, 33, 100};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct autotune_sgemm *sgemm = autotune_sgemm_open(NULL, 1, NULL, 0);
    for (int i = 0; i < 216; i++) {
        struct matrices x = draw_matrices(rng, sizes[i % 6], sizes[i / 6 % 6], sizes[i / 36]);
        cr_assert(multiply_is_right(sgemm, &x), "%dx%dx%d", (int)x.m, (int)x.k, (int)x.n);
        free_matrices(&x);
    }
    autotune_sgemm_close(sgemm);
    gsl_rng_free(rng);
}

/* Bit for bit, thin products and others, though small ones take fewer threads than there are. */
Test(runtime_sgemm, results_do_not_depend_on_threads)
{
    static const int64_t sizes[][3] = {{1, 700, 700}, {1, 90000, 3}, {2, 300, 900}, {3, 9, 33000},
                                       {4, 500, 129}, {300, 700, 1}, {200, 500, 3}, {40, 90, 130}};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct autotune_sgemm *one = autotune_sgemm_open(NULL, 1, NULL, 0);
    struct autotune_sgemm *more = autotune_sgemm_open(NULL, 3, NULL, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct matrices x = draw_matrices(rng, sizes[i][0], sizes[i][1], sizes[i][2]);
        size_t bytes = (size_t)(x.m * x.n) * sizeof *x.c;
        float *alone = malloc(bytes);
        cr_assert(alone && multiply_is_right(one, &x));
        memcpy(alone, x.c, bytes);
        cr_assert(multiply_is_right(more, &x));
        cr_assert_eq(memcmp(alone, x.c, bytes), 0, "%dx%dx%d", (int)x.m, (int)x.k, (int)x.n);
        free(alone);
        free_matrices(&x);
    }
    autotune_sgemm_close(one);
    autotune_sgemm_close(more);
    gsl_rng_free(rng);
}

Test(runtime_sgemm, sizes_that_are_no_product_are_refused)
{
    static const int64_t bad[][3] = {{0, 1, 1},
                                     {1, -1, 1},
                                     {1, 1, 0},
                                     {INT64_MAX, 2, 1},
                                     {1, INT64_MAX, INT64_MAX},
                                     {1LL << 31, 1, 1LL << 31},
                                     {INT64_MIN, INT64_MIN, 1}};
    struct autotune_sgemm *sgemm = autotune_sgemm_open(NULL, 1, NULL, 0);
    float c = 7;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(autotune_sgemm(sgemm, bad[i][0], bad[i][1], bad[i][2], &c, &c, &c),
                     AUTOTUNE_SGEMM_SIZE);
    cr_assert_eq(c, 7);
    autotune_sgemm_close(sgemm);
}

/* ---- many callers --------------------------------------------------------------------------- */

enum { CALLERS = 8, CALLS = 60, SHAPES = 12 };

struct caller {
    struct autotune_sgemm *sgemm;
    pthread_t thread;
    unsigned long seed;
    bool right;
};

static void *call_often(void *context)
{
    struct caller *caller = context;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, caller->seed);
    caller->right = true;
    for (int i = 0; i < CALLS; i++) {
        int64_t shape = 1 + (int64_t)gsl_rng_uniform_int(rng, SHAPES);
        struct matrices x = draw_matrices(rng, 7 * shape, 40, 5 * shape);
        caller->right = caller->right && multiply_is_right(caller->sgemm, &x);
        free_matrices(&x);
    }
    gsl_rng_free(rng);
    return NULL;
}

/* All tilings pack, so that all need workspaces, of different sizes. */
Test(runtime_sgemm, callers_at_once_get_right_products)
{
    struct caller callers[CALLERS];
    struct autotune_sgemm *sgemm = open_text(
        "m,k,n,kernel,m_tile,k_tile,n_tile,pack_a,pack_b,order,store,split\n"
        "7,40,5,4x1,4,16,16,yes,yes,n,cached,m\n84,40,60,12x2,24,40,32,yes,yes,m,cached,m\n",
        1);
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){.sgemm = sgemm, .seed = (unsigned long)i + 1};
        cr_assert_eq(pthread_create(&callers[i].thread, NULL, call_often, &callers[i]), 0);
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i].thread, NULL);
        cr_assert(callers[i].right, "caller %d", i);
    }
    autotune_sgemm_close(sgemm);
}
