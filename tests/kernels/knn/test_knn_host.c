/* k-NN on the processor: every register tile, instruction set, loop order and selection against a
 * full sort of distances summed in the same order; the space, what it asks for, and the check of
 * answers. */
#include "kernels/knn/host/knn_code.h"
#include "kernels/knn/host/knn_host.h"
#include "kernels/knn/host/knn_tiled.h"
#include "tests/support/host_sample.h"
#include "validate/loops.h"
#include "validate/runner.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static gsl_rng *seeded(unsigned long seed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    return rng;
}

static int64_t draw(gsl_rng *rng, int64_t least, int64_t most)
{
    return least + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(most - least + 1));
}

/* Memory that ends where an inaccessible page begins. */
struct guarded {
    char *map;
    size_t bytes;
    void *data;
};

static struct guarded guard(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), all = (bytes + page - 1) / page * page + page;
    struct guarded g = {.bytes = all};
    /* cppcheck-suppress invalidFunctionArg ; mmap(2): -1 is right where there is no file */
    g.map = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(g.map != MAP_FAILED);
    cr_assert_eq(mprotect(g.map + all - page, page, PROT_NONE), 0);
    g.data = g.map + all - page - bytes;
    return g;
}

static void unguard(struct guarded *g)
{
    munmap(g->map, g->bytes);
}

/* ---- the answer ----------------------------------------------------------------------------- */

/* Kinds of numbers of points. */
enum kind { RANDOM, FEW_VALUES, EQUAL, WITH_NAN, WITH_INFINITY, HUGE_NUMBERS, KINDS };

static float number(gsl_rng *rng, enum kind kind)
{
    float x = (float)(2 * gsl_rng_uniform(rng) - 1);
    bool seldom = gsl_rng_uniform(rng) < 0.02;
    switch (kind) {
    case FEW_VALUES:
        return (float)draw(rng, -1, 1) / 4;
    case EQUAL:
        return 0.5F;
    case WITH_NAN:
        return seldom ? (x < 0 ? -NAN : NAN) : x;
    case WITH_INFINITY:
        return seldom ? copysignf(INFINITY, x) : x;
    case HUGE_NUMBERS:
        return x * 1e30F;
    default:
        return x;
    }
}

struct points {
    struct knn_problem problem;
    struct guarded tests, trainings, indices, distances;
};

static struct points draw_points(gsl_rng *rng, int64_t m, int64_t d, int64_t n, int64_t k,
                                 enum kind kind)
{
    struct points p = {.problem = {m, n, d, k},
                       .tests = guard((size_t)(m * d) * sizeof(float)),
                       .trainings = guard((size_t)(d * n) * sizeof(float)),
                       .indices = guard((size_t)(m * k) * sizeof(int64_t)),
                       .distances = guard((size_t)(m * k) * sizeof(float))};
    for (int64_t i = 0; i < m * d; i++)
        ((float *)p.tests.data)[i] = number(rng, kind);
    for (int64_t i = 0; i < d * n; i++)
        ((float *)p.trainings.data)[i] = number(rng, kind);
    return p;
}

static void free_points(struct points *p)
{
    unguard(&p->tests);
    unguard(&p->trainings);
    unguard(&p->indices);
    unguard(&p->distances);
}

struct item {
    float value;
    int64_t index;
};

static int by_value_then_index(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    int nan_a = !!isnan(a->value), nan_b = !!isnan(b->value);
    if (nan_a != nan_b)
        return nan_a - nan_b;
    if (!nan_a && a->value != b->value)
        return a->value < b->value ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

/* Volatile: a product must be rounded before it is added. */
static float plain_sum(float sum, float a, float b)
{
    volatile float product = a * b;
    return sum + product;
}

/* Kernels for whatever there is are built with FMA where that is the compiler's default. */
static bool fuses(enum host_isa isa)
{
#if defined __FMA__ || defined __aarch64__
    (void)isa;
    return true;
#else
    return isa != HOST_PORTABLE;
#endif
}

static void sort_row(const struct points *p, enum host_isa isa, int64_t row, struct item *items)
{
    const float *tests = p->tests.data, *trainings = p->trainings.data;
    int64_t d = p->problem.dimensions, n = p->problem.trainings;
    for (int64_t j = 0; j < n; j++) {
        float sum = 0;
        for (int64_t l = 0; l < d; l++) {
            float a = tests[row * d + l], b = trainings[l * n + j];
            sum = fuses(isa) ? fmaf(a, b, sum) : plain_sum(sum, a, b);
        }
        items[j] = (struct item){1 - sum, j};
    }
    qsort(items, (size_t)n, sizeof *items, by_value_then_index);
}

/* All answers, once a problem: rows × k. */
static struct item *sorted_answer(const struct points *p, enum host_isa isa)
{
    int64_t m = p->problem.tests, n = p->problem.trainings, k = p->problem.k;
    struct item *answer = calloc((size_t)(m * k), sizeof *answer);
    struct item *items = calloc((size_t)n, sizeof *items);
    cr_assert(answer && items);
    for (int64_t r = 0; r < m; r++) {
        sort_row(p, isa, r, items);
        memcpy(answer + r * k, items, (size_t)k * sizeof *items);
    }
    free(items);
    return answer;
}

static void expect_answer(const struct points *p, const struct knn_tiling *t, enum host_isa isa,
                          int threads, const struct item *answer)
{
    struct knn_tiled *tiled;
    struct error error;
    const int64_t *indices = p->indices.data;
    const float *distances = p->distances.data;
    memset(p->indices.data, 0xff, (size_t)(p->problem.tests * p->problem.k) * sizeof *indices);
    cr_assert_eq(knn_tiled_open(&p->problem, t, isa, threads, &tiled, &error), STATUS_OK, "%s",
                 error.text);
    knn_tiled_run(tiled, p->tests.data, p->trainings.data, p->indices.data, p->distances.data);
    knn_tiled_close(tiled);
    for (int64_t i = 0; i < p->problem.tests * p->problem.k; i++) {
        bool same =
            distances[i] == answer[i].value || (isnan(distances[i]) && isnan(answer[i].value));
        cr_assert(same && indices[i] == answer[i].index,
                  "%s %dx%d tiles %lldx%lldx%lld pack %d order %d select %d buffer %lld, problem "
                  "%lldx%lldx%lld k %lld: row %lld, result %lld: %lld (%g), expected %lld (%g)",
                  host_isa_name(isa), t->rows, t->vectors, (long long)t->m_tile,
                  (long long)t->n_tile, (long long)t->d_tile, t->pack, (int)t->order,
                  (int)t->select, (long long)t->buffer, (long long)p->problem.tests,
                  (long long)p->problem.dimensions, (long long)p->problem.trainings,
                  (long long)p->problem.k, (long long)(i / p->problem.k),
                  (long long)(i % p->problem.k), (long long)indices[i], (double)distances[i],
                  (long long)answer[i].index, (double)answer[i].value);
    }
}

static struct knn_tiling draw_tiling(gsl_rng *rng, const struct knn_problem *p, int rows,
                                     int vectors)
{
    return (struct knn_tiling){
        .rows = rows,
        .vectors = vectors,
        .m_tile = draw(rng, 1, p->tests + 3),
        .n_tile = draw(rng, 1, p->trainings + 20),
        .d_tile = draw(rng, 0, 1) ? p->dimensions : draw(rng, 1, p->dimensions + 2),
        .pack = draw(rng, 0, 1),
        .order = (enum knn_order)draw(rng, KNN_ORDER_PANELS, KNN_ORDER_ROWS),
        .select = (enum knn_select)draw(rng, KNN_SELECT_LIST, KNN_SELECT_BUFFER),
        .buffer = draw(rng, 1, 80),
    };
}

/* Every register tile there is, on sizes around its own. */
Test(knn_host, every_register_tile_answers_exactly)
{
    gsl_rng *rng = seeded(1);
    int tiles = 0;
    for (int isa = HOST_PORTABLE; isa < HOST_ISA_COUNT; isa++)
        for (int vectors = 1; vectors <= KNN_MAX_VECTORS; vectors++)
            for (int rows = 1; rows <= KNN_MAX_ROWS; rows++) {
                if (!knn_tiled_has((enum host_isa)isa, rows, vectors))
                    continue;
                int64_t n = draw(rng, 1, 300), k = draw(rng, 1, n < 40 ? n : 40);
                enum kind kind = (enum kind)draw(rng, 0, KINDS - 1);
                struct points p =
                    draw_points(rng, draw(rng, 1, 2 * rows + 2), draw(rng, 1, 24), n, k, kind);
                struct item *answer = sorted_answer(&p, (enum host_isa)isa);
                for (int i = 0; i < 3; i++, tiles++) {
                    struct knn_tiling t = draw_tiling(rng, &p.problem, rows, vectors);
                    expect_answer(&p, &t, (enum host_isa)isa, 1, answer);
                }
                free(answer);
                free_points(&p);
            }
    cr_assert_geq(tiles, 3 * 64);
    gsl_rng_free(rng);
}

/* All selections, orders and packings for every kind of data, k from 1 to N. */
Test(knn_host, every_kind_of_data_answers_exactly)
{
    gsl_rng *rng = seeded(2);
    for (int isa = HOST_PORTABLE; isa < HOST_ISA_COUNT; isa++) {
        if (!knn_code_of((enum host_isa)isa))
            continue;
        for (int c = 0; c < KINDS * 12; c++) {
            int64_t n = draw(rng, 1, 400), k = c % 3 == 0 ? 1 : c % 3 == 1 ? n : draw(rng, 1, n);
            struct points p =
                draw_points(rng, draw(rng, 1, 20), draw(rng, 1, 40), n, k, (enum kind)(c % KINDS));
            struct item *answer = sorted_answer(&p, (enum host_isa)isa);
            for (int way = 0; way < 12; way++) {
                struct knn_tiling t = draw_tiling(rng, &p.problem, (int)draw(rng, 1, 6), 2);
                t.pack = way & 1;
                t.order = way & 2 ? KNN_ORDER_ROWS : KNN_ORDER_PANELS;
                t.select = (enum knn_select)(KNN_SELECT_LIST + way / 4);
                expect_answer(&p, &t, (enum host_isa)isa, 1 + (int)draw(rng, 0, 2), answer);
            }
            free(answer);
            free_points(&p);
        }
    }
    gsl_rng_free(rng);
}

Test(knn_host, k_of_a_thousand)
{
    gsl_rng *rng = seeded(3);
    static const int64_t ks[] = {1023, 1024, 4096};
    for (int isa = HOST_PORTABLE; isa < HOST_ISA_COUNT; isa++)
        for (int i = 0; i < 3 && knn_code_of((enum host_isa)isa); i++) {
            struct points p = draw_points(rng, 3, 5, 5000, ks[i], i ? RANDOM : FEW_VALUES);
            struct item *answer = sorted_answer(&p, (enum host_isa)isa);
            for (int how = KNN_SELECT_LIST; how <= KNN_SELECT_BUFFER; how++) {
                struct knn_tiling t = {
                    3, 2, 3, 5000, 5, true, KNN_ORDER_PANELS, (enum knn_select)how, 512};
                expect_answer(&p, &t, (enum host_isa)isa, 1, answer);
            }
            free(answer);
            free_points(&p);
        }
    gsl_rng_free(rng);
}

/* The plain implementation has the same order; without FMA the same sums too. */
Test(knn_host, agrees_with_the_plain_reference)
{
    gsl_rng *rng = seeded(4);
    for (int c = 0; c < 30 && !fuses(HOST_PORTABLE); c++) {
        int64_t n = draw(rng, 1, 200), m = draw(rng, 1, 9), k = draw(rng, 1, n);
        struct points p = draw_points(rng, m, draw(rng, 1, 30), n, k, (enum kind)(c % KINDS));
        int64_t *expected = calloc((size_t)(m * k), sizeof *expected);
        const struct knn_options options = {m, n, {.tile_rows = m, .tile_columns = n}};
        struct knn_tiling t = draw_tiling(rng, &p.problem, 4, 3);
        struct knn_tiled *tiled;
        struct error error;
        cr_assert_eq(
            knn_f32(&p.problem, p.tests.data, p.trainings.data, &options, expected, NULL, &error),
            STATUS_OK, "%s", error.text);
        cr_assert_eq(knn_tiled_open(&p.problem, &t, HOST_PORTABLE, 1, &tiled, &error), STATUS_OK);
        knn_tiled_run(tiled, p.tests.data, p.trainings.data, p.indices.data, NULL);
        cr_assert_arr_eq(p.indices.data, expected, (size_t)(m * k) * sizeof *expected);
        knn_tiled_close(tiled);
        free(expected);
        free_points(&p);
    }
    gsl_rng_free(rng);
}

Test(knn_host, refuses_what_it_cannot_run)
{
    static const struct knn_problem good = {4, 8, 3, 2};
    static const struct knn_tiling tiling = {4, 2, 4, 8, 3, true, KNN_ORDER_PANELS, KNN_SELECT_HEAP,
                                             1};
    struct {
        struct knn_problem problem;
        struct knn_tiling tiling;
        int threads;
    } bad[] = {{good, tiling, 0}, {good, tiling, 1}, {good, tiling, 1}, {good, tiling, 1},
               {good, tiling, 1}, {good, tiling, 1}, {good, tiling, 1}, {good, tiling, 1}};
    struct knn_tiled *tiled = NULL;
    struct error error;
    bad[1].problem.k = 9;
    bad[2].problem.k = 0;
    bad[3].problem.trainings = INT64_C(1) << 31;
    bad[4].problem.dimensions = 0;
    bad[5].tiling.rows = 29;
    bad[6].tiling.vectors = 5;
    bad[7].tiling.buffer = 0;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        cr_assert_eq(knn_tiled_open(&bad[i].problem, &bad[i].tiling, HOST_PORTABLE, bad[i].threads,
                                    &tiled, &error),
                     STATUS_INVALID, "case %zu", i);
    cr_assert_null(tiled);
}

/* ---- entries -------------------------------------------------------------------------------- */

Test(knn_host, entries_are_in_the_order_of_results)
{
    static const float ascending[] = {-INFINITY, -3e38F, -1, -1e-45F, 0,        1e-45F,
                                      1e-30F,    1,      2,  3e38F,   INFINITY, NAN};
    enum { COUNT = sizeof ascending / sizeof *ascending };
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            cr_assert_eq(entry_of(ascending[i], 7) < entry_of(ascending[j], 7), i < j);
            cr_assert_eq(entry_of(ascending[i], 7) < entry_of(ascending[j], 8), i <= j);
        }
    for (int i = 0; i < COUNT - 1; i++)
        cr_assert_eq(entry_distance(entry_of(ascending[i], 5)), ascending[i]);
    cr_assert(isnan(entry_distance(entry_of(-NAN, 5))));
    cr_assert_eq(entry_of(-NAN, 5), entry_of(NAN, 5));
    cr_assert_lt(entry_of(NAN, INT32_MAX), ENTRY_NONE);
    cr_assert_eq(entry_index(entry_of(-1, INT32_MAX)), INT32_MAX);
}

static int by_size(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

Test(knn_host, select_and_sort_agree_with_qsort)
{
    gsl_rng *rng = seeded(5);
    uint64_t expected[600] = {0}, entries[600];
    for (int c = 0; c < 3000; c++) {
        int64_t n = draw(rng, 1, c % 10 ? 40 : 600), k = draw(rng, 1, n);
        uint64_t few = c % 3 == 0 ? 4 : UINT64_MAX;
        for (int64_t i = 0; i < n; i++)
            expected[i] = c % 3 == 1 ? (uint64_t)i : gsl_rng_get(rng) % few;
        memcpy(entries, expected, sizeof entries);
        qsort(expected, (size_t)n, sizeof *expected, by_size);
        entries_select(entries, n, k);
        cr_assert_eq(entries[k - 1], expected[k - 1]);
        qsort(entries, (size_t)k, sizeof *entries, by_size);
        cr_assert_arr_eq(entries, expected, (size_t)k * sizeof *entries);
        entries_sort(entries, n);
        cr_assert_arr_eq(entries, expected, (size_t)n * sizeof *entries);
    }
    gsl_rng_free(rng);
}

/* ---- the check ------------------------------------------------------------------------------ */

Test(knn_host, the_check_finds_every_kind_of_mistake)
{
    gsl_rng *rng = seeded(6);
    struct points p = draw_points(rng, 6, 12, 90, 5, RANDOM);
    struct knn_tiling t = draw_tiling(rng, &p.problem, 4, 2);
    struct knn_check *check;
    struct knn_tiled *tiled;
    struct error error;
    int64_t *indices = p.indices.data, index;
    float *distances = p.distances.data, distance;
    cr_assert_eq(knn_tiled_open(&p.problem, &t, HOST_PORTABLE, 1, &tiled, &error), STATUS_OK);
    cr_assert_eq(knn_check_new(&p.problem, p.tests.data, p.trainings.data, &check, &error),
                 STATUS_OK);
    knn_tiled_run(tiled, p.tests.data, p.trainings.data, indices, distances);
    cr_assert(!knn_check_sampled(check));
    double allowed = knn_allowed_error(12), error_now = knn_check_error(check, indices, distances);
    cr_assert_leq(error_now, allowed);
    cr_assert_gt(error_now, 0);
    index = indices[7], indices[7] = -1; /* out of range */
    cr_assert(isinf(knn_check_error(check, indices, distances)));
    indices[7] = 90;
    cr_assert(isinf(knn_check_error(check, indices, distances)));
    indices[7] = indices[8]; /* twice the same */
    cr_assert(isinf(knn_check_error(check, indices, distances)));
    indices[7] = index;
    distance = distances[29], distances[29] = NAN;
    cr_assert(isinf(knn_check_error(check, indices, distances)));
    distances[29] = distances[28] - 1e-3F; /* not in order */
    cr_assert(isinf(knn_check_error(check, indices, distances)));
    distances[29] = distance + 1e-3F; /* not that of its index */
    cr_assert_gt(knn_check_error(check, indices, distances), allowed);
    distances[29] = distance;
    /* the sixth nearest instead of the fifth, rightly measured */
    p.problem.k = 6;
    struct item *answer = sorted_answer(&p, HOST_PORTABLE);
    indices[29] = answer[35].index;
    distances[29] = answer[35].value;
    cr_assert_gt(knn_check_error(check, indices, distances), allowed);
    free(answer);
    knn_check_free(check);
    knn_tiled_close(tiled);
    free_points(&p);
    gsl_rng_free(rng);
}

/* ---- the space ------------------------------------------------------------------------------ */

struct machine {
    struct host host;
    struct hardware hw;
};

/* The sample processor with all loops of k-NN, round numbers for each. */
static void open_machine(struct machine *machine, enum host_isa isa)
{
    memset(machine, 0, sizeof *machine);
    host_sample(&machine->host);
    machine->hw.host = &machine->host;
    machine->host.isa = isa;
    machine->host.loop_count = 0;
    for (int i = 0; i < knn_loops.count; i++) {
        struct host_loop *loop = &machine->host.loops[machine->host.loop_count++];
        *loop = (struct host_loop){.step_ns = 0.5, .call_ns = 5};
        snprintf(loop->name, sizeof loop->name, "knn %s", knn_loops.variant(i));
    }
}

static void open_space(const struct machine *machine, const char *shape, const char *k, int threads,
                       struct space *space)
{
    struct problem problem;
    struct error error;
    cr_assert_eq(problem_parse(&knn_operator, shape, &problem, &error), STATUS_OK);
    cr_assert_eq(problem_set(&problem, "k", k, &error), STATUS_OK);
    cr_assert_eq(problem_settle(&problem, &error), STATUS_OK, "%s", error.text);
    problem.type = DTYPE_F32;
    cr_assert_eq(space_open(&problem, &knn_host_space, &machine->hw, threads, space, &error),
                 STATUS_OK, "%s", error.text);
}

/* Random problems, on one to three threads; of each many legal tilings are run and checked. */
Test(knn_host, every_legal_tiling_runs_and_is_right)
{
    gsl_rng *rng = seeded(7);
    static struct machine machine;
    int64_t ran = 0;
    for (int c = 0; c < 24; c++) {
        char shape[64], k[24];
        struct space space;
        struct error error;
        void *problem;
        enum host_isa isa = (enum host_isa)(c % HOST_ISA_COUNT);
        int64_t n = draw(rng, 1, 1200);
        if (!knn_code_of(isa))
            continue;
        open_machine(&machine, isa);
        snprintf(shape, sizeof shape, "%dx%dx%d", (int)draw(rng, 1, 120),
                 (int)draw(rng, 1, c % 4 ? 60 : 300), (int)n);
        snprintf(k, sizeof k, "%d", (int)draw(rng, 1, n < 150 ? n : 150));
        open_space(&machine, shape, k, 1 + c % 3, &space);
        cr_assert_eq(knn_runner.open(&space, 42, &problem, &error), STATUS_OK);
        for (int i = 0; i < 60; i++) {
            struct tiling tiling;
            struct host_check check;
            void *plan;
            space_tiling(&space, draw(rng, 0, space.candidates - 1), &tiling);
            if (!knn_host_space.legal(&space, &tiling))
                continue;
            ran++;
            cr_assert_eq(knn_runner.prepare(problem, &tiling, &plan, &error), STATUS_OK, "%s",
                         error.text);
            cr_assert_eq(knn_runner.check(plan, &check, &error), STATUS_OK);
            cr_assert_leq(check.max_error, check.allowed_error, "%s k %s", shape, k);
            knn_runner.run(plan);
            knn_runner.release(plan);
        }
        knn_runner.close(problem);
        space_close(&space);
    }
    cr_assert_gt(ran, 200);
    gsl_rng_free(rng);
}

static struct tiling tiling_from(const struct space *space, const char *text)
{
    struct tiling tiling;
    struct error error;
    cr_assert_eq(tiling_parse(space, text, &tiling, &error), STATUS_OK, "%s", error.text);
    return tiling;
}

Test(knn_host, says_why_a_tiling_is_illegal)
{
    static struct machine machine;
    static const struct {
        const char *limit, *tiling;
    } cases[] = {
        {NULL, "kernel=14x2,m_tile=84,n_tile=20480,d_tile=64,pack=yes,order=panels,select=heap,"
               "buffer=1"},
        {NULL, "kernel=14x2,m_tile=84,n_tile=3072,d_tile=64,pack=yes,order=rows,select=buffer,"
               "buffer=64"},
        {"kernel", "kernel=28x1,m_tile=20,n_tile=20480,d_tile=64,pack=yes,order=panels,select=heap,"
                   "buffer=1"},
        {"m_tile", "kernel=14x2,m_tile=129,n_tile=20480,d_tile=64,pack=yes,order=panels,"
                   "select=heap,buffer=1"},
        {"d_tile", "kernel=14x2,m_tile=84,n_tile=20480,d_tile=65,pack=yes,order=panels,select=heap,"
                   "buffer=1"},
        {"n_tile", "kernel=14x2,m_tile=84,n_tile=384,d_tile=64,pack=yes,order=panels,select=heap,"
                   "buffer=1"},
        {"n_tile", "kernel=14x2,m_tile=84,n_tile=400,d_tile=64,pack=yes,order=rows,select=heap,"
                   "buffer=1"},
        {"order", "kernel=14x2,m_tile=14,n_tile=384,d_tile=64,pack=yes,order=rows,select=heap,"
                  "buffer=1"},
        {"buffer", "kernel=14x2,m_tile=84,n_tile=20480,d_tile=64,pack=yes,order=panels,select=heap,"
                   "buffer=64"},
        {"buffer", "kernel=14x2,m_tile=84,n_tile=20480,d_tile=64,pack=yes,order=panels,"
                   "select=buffer,buffer=15"},
        {"select", "kernel=14x2,m_tile=84,n_tile=20480,d_tile=64,pack=yes,order=panels,select=list,"
                   "buffer=1"},
    };
    struct space space;
    struct violation list[MAX_VIOLATIONS];
    open_machine(&machine, HOST_AVX512);
    open_space(&machine, "128x64x20480", "200", 1, &space);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tiling tiling = tiling_from(&space, cases[i].tiling);
        int count = knn_host_space.violations(&space, &tiling, list);
        cr_assert_eq(count, cases[i].limit ? 1 : 0, "case %zu: %d, %s", i, count, list[0].text);
        cr_assert_eq(knn_host_space.legal(&space, &tiling), count == 0);
        if (cases[i].limit)
            cr_assert_str_eq(list[0].limit, cases[i].limit);
    }
    space_close(&space);
}

Test(knn_host, workspace_is_limited)
{
    static struct machine machine;
    struct space space;
    struct violation list[MAX_VIOLATIONS];
    open_machine(&machine, HOST_AVX512);
    open_space(&machine, "2000000000x1x500000", "4096", 1, &space);
    struct tiling tiling =
        tiling_from(&space, "kernel=14x2,m_tile=2000000000,n_tile=500000,d_tile=1,pack=yes,"
                            "order=panels,select=heap,buffer=1");
    cr_assert_eq(knn_host_space.violations(&space, &tiling, list), 1);
    cr_assert_str_eq(list[0].limit, "workspace");
    cr_assert_gt(list[0].needed_bytes, list[0].available_bytes);
    space_close(&space);
}

/* Tilings of a space differ in what they do: the numbers that the run is given. */
Test(knn_host, refuses_other_types_choices_and_uncalibrated_processors)
{
    static struct machine machine;
    struct problem problem;
    struct space space;
    struct error error;
    open_machine(&machine, HOST_AVX2);
    cr_assert_eq(problem_parse(&knn_operator, "8x8x8", &problem, &error), STATUS_OK);
    cr_assert_eq(problem_set(&problem, "k", "2", &error), STATUS_OK);
    cr_assert_eq(space_open(&problem, &knn_host_space, &machine.hw, 1, &space, &error),
                 STATUS_INVALID);
    problem.type = DTYPE_F32;
    problem.choice[KNN_LOOP] = KNN_LOOP_FULL;
    cr_assert_eq(space_open(&problem, &knn_host_space, &machine.hw, 1, &space, &error),
                 STATUS_INVALID);
    problem.choice[KNN_LOOP] = 0;
    machine.host.loop_count--;
    cr_assert_eq(space_open(&problem, &knn_host_space, &machine.hw, 1, &space, &error),
                 STATUS_INVALID);
    cr_assert(strstr(error.text, "calibrate"));
}

/* ---- what is asked -------------------------------------------------------------------------- */

static double phase_calls(const struct machine *machine, const struct host_work *work,
                          const char *loop, double *steps)
{
    int number = host_loop(&machine->host, loop);
    double calls = 0;
    *steps = 0;
    cr_assert_geq(number, 0);
    for (int i = 0; i < work->phase_count; i++)
        if (work->phases[i].loop == number) {
            calls += work->phases[i].calls;
            *steps += work->phases[i].steps;
        }
    return calls;
}

static struct knn_tiled_count count_run(const struct points *p, const struct tiling *tiling,
                                        enum host_isa isa)
{
    const struct knn_tiling meant = knn_tiling_of(tiling);
    struct knn_tiled_count count;
    struct knn_tiled *tiled;
    struct error error;
    cr_assert_eq(knn_tiled_open(&p->problem, &meant, isa, 1, &tiled, &error), STATUS_OK, "%s",
                 error.text);
    knn_tiled_run(tiled, p->tests.data, p->trainings.data, p->indices.data, NULL);
    knn_tiled_count(tiled, &count);
    knn_tiled_close(tiled);
    return count;
}

/* Calls and steps are those of a run; all that is asked is finite and not negative. */
Test(knn_host, asks_for_what_a_run_does)
{
    gsl_rng *rng = seeded(8);
    static struct machine machine;
    int64_t asked = 0;
    for (int c = 0; c < 30; c++) {
        char shape[64], k[24], name[HOST_NAME_SIZE];
        struct space space;
        struct points p = draw_points(rng, draw(rng, 1, 100), draw(rng, 1, c % 3 ? 9 : 300),
                                      draw(rng, 1, 900), 1, RANDOM);
        open_machine(&machine, HOST_PORTABLE);
        snprintf(shape, sizeof shape, "%dx%dx%d", (int)p.problem.tests, (int)p.problem.dimensions,
                 (int)p.problem.trainings);
        p.problem.k = 1;
        snprintf(k, sizeof k, "%d", (int)p.problem.k);
        open_space(&machine, shape, k, 1, &space);
        for (int i = 0; i < 40; i++) {
            struct tiling tiling;
            struct host_work work;
            double calls, steps;
            space_tiling(&space, draw(rng, 0, space.candidates - 1), &tiling);
            if (!knn_host_space.legal(&space, &tiling))
                continue;
            asked++;
            knn_host_space.ask(&space, &tiling, &work);
            struct knn_tiled_count count = count_run(&p, &tiling, HOST_PORTABLE);
            snprintf(name, sizeof name, "knn %s", knn_host_kernel(&tiling)->name);
            calls = phase_calls(&machine, &work, name, &steps);
            cr_assert_eq(calls, (double)count.tile_calls, "%g, ran %lld", calls,
                         (long long)count.tile_calls);
            cr_assert_eq(steps, (double)count.tile_steps);
            calls = phase_calls(&machine, &work, "knn pack", &steps);
            cr_assert_eq(calls, (double)count.pack_calls, "%g, ran %lld", calls,
                         (long long)count.pack_calls);
            cr_assert_eq(steps, (double)(count.pack_steps * knn_host_kernel(&tiling)->vectors));
            cr_assert_eq(work.threads, 1);
            cr_assert_eq(work.parallel_regions, 0);
            for (int f = 0; f < work.phase_count; f++) {
                cr_assert(isfinite(work.phases[f].calls) && work.phases[f].calls >= 0);
                cr_assert(isfinite(work.phases[f].steps) && work.phases[f].steps >= 0);
                for (int l = 0; l < HOST_MAX_LEVELS; l++) {
                    cr_assert(isfinite(work.phases[f].read_bytes[l]) &&
                              work.phases[f].read_bytes[l] >= 0);
                    cr_assert(isfinite(work.phases[f].write_bytes[l]) &&
                              work.phases[f].write_bytes[l] >= 0);
                }
            }
        }
        space_close(&space);
        free_points(&p);
    }
    cr_assert_gt(asked, 300);
    gsl_rng_free(rng);
}

/* Random training points: survivors, entries and cuts of a row are as many as expected. */
Test(knn_host, expects_as_many_near_points_as_there_are)
{
    static const struct {
        const char *k, *select;
        int buffer;
    } cases[] = {{"1", "heap", 1},     {"10", "list", 1},     {"100", "heap", 1},
                 {"10", "buffer", 16}, {"100", "buffer", 64}, {"500", "buffer", 512}};
    gsl_rng *rng = seeded(9);
    static struct machine machine;
    open_machine(&machine, HOST_PORTABLE);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct points p = draw_points(rng, 60, 6, 6000, strtol(cases[c].k, NULL, 10), RANDOM);
        struct space space;
        struct host_work work;
        char text[200];
        double calls, steps;
        open_space(&machine, "60x6x6000", cases[c].k, 1, &space);
        snprintf(text, sizeof text,
                 "kernel=6x2,m_tile=60,n_tile=6000,d_tile=6,pack=yes,order=panels,select=%s,"
                 "buffer=%d",
                 cases[c].select, cases[c].buffer);
        struct tiling tiling = tiling_from(&space, text);
        knn_host_space.ask(&space, &tiling, &work);
        struct knn_tiled_count count = count_run(&p, &tiling, HOST_PORTABLE);
        (void)phase_calls(&machine, &work, "knn collect", &steps);
        cr_assert_float_eq(steps, (double)count.keep.survivors, 0.08 * steps,
                           "case %zu: %g, ran %lld", c, steps, (long long)count.keep.survivors);
        if (cases[c].buffer > 1) {
            calls = phase_calls(&machine, &work, "knn compact", &steps) - 60;
            cr_assert_float_eq(calls, (double)count.keep.compactions, 0.15 * calls,
                               "case %zu: %g, ran %lld", c, calls,
                               (long long)count.keep.compactions);
        } else {
            calls = phase_calls(&machine, &work,
                                strcmp(cases[c].select, "heap") ? "knn list" : "knn heap", &steps);
            cr_assert_float_eq(calls, (double)count.keep.entered, 0.08 * calls,
                               "case %zu: %g, ran %lld", c, calls, (long long)count.keep.entered);
        }
        space_close(&space);
        free_points(&p);
    }
    gsl_rng_free(rng);
}

/* ---- loops for the calibration -------------------------------------------------------------- */

Test(knn_host, loops_stay_in_their_room)
{
    static const int64_t rooms[] = {16 << 10, 10 << 10, 4096, 640, 64, 0};
    int ran = 0;
    for (int isa = HOST_PORTABLE; isa < HOST_ISA_COUNT; isa++)
        for (int index = 0; index < knn_loops.count; index++)
            for (size_t r = 0; r < sizeof rooms / sizeof *rooms; r++)
                for (int64_t steps = 1; steps <= 128; steps = 2 * steps + 1) {
                    struct guarded room = guard((size_t)rooms[r]);
                    int64_t done =
                        knn_loops.run(index, (enum host_isa)isa, 3, steps, room.data, rooms[r]);
                    cr_assert_geq(done, 0);
                    ran += done > 0;
                    unguard(&room);
                }
    cr_assert_gt(ran, 500);
}

/* More steps asked for are more steps done, so that a line can be fitted. */
Test(knn_host, loops_have_a_slope)
{
    static char data[16 << 10] __attribute__((aligned(64)));
    for (int index = 0; index < knn_loops.count; index++) {
        int64_t few = knn_loops.run(index, HOST_PORTABLE, 1, 8, data, sizeof data);
        int64_t many = knn_loops.run(index, HOST_PORTABLE, 1, 128, data, sizeof data);
        cr_assert_gt(few, 0, "%s", knn_loops.variant(index));
        cr_assert_gt(many, few, "%s", knn_loops.variant(index));
    }
}
