/* k-NN in FP32 on this processor: ours, against what a user would take instead, in the same
 * interleaved rounds.
 *
 *   bench_host_knn [--threads N] [--seconds S] [MxDxNxK…]
 *
 * naive: the whole product by OpenBLAS, then a partial sort of every row (a heap of k, as
 * std::partial_sort does it). faiss: knn_inner_product of libfaiss, with the same OpenBLAS; its
 * training points lie point by point, as it wants them. $AUTOTUNE_FAISS names another file. Ours is
 * the fastest of a few tilings in rounds of their own before. A ratio is the other's median over
 * ours: above 1, ours is faster. */
#include "bench/bench.h"
#include "bench/libraries.h"
#include "kernels/knn/host/knn_host.h"
#include "kernels/knn/host/knn_tiled.h"
#include "validate/loops.h"
#include "validate/random.h"
#include "validate/timing.h"

#include <dlfcn.h>
#include <math.h>
#include <string.h>

static const char *const default_shapes[] = {"128x64x20480x16", "1280x128x20480x16",
                                             "1280x128x20480x100", "100x768x50000x10",
                                             "1000x32x100000x1024"};

enum { MAX_TILINGS = 64 };

/* faiss::knn_inner_product(x, y, d, nx, ny, k, distances, indexes, sel), a C++ function. */
typedef void faiss_call(const float *tests, const float *trainings, size_t dimensions,
                        size_t test_count, size_t training_count, size_t k, float *products,
                        int64_t *indices, const void *selector);
static const char faiss_name[] = "_ZN5faiss17knn_inner_productEPKfS1_mmmmPfPlPKNS_10IDSelectorE";

struct bench {
    int threads;
    double seconds;
    struct library libraries[LIBRARY_COUNT];
    faiss_call *faiss;
};

struct task {
    const struct bench *bench;
    struct knn_problem problem;
    float *tests, *trainings, *points; /* M×d; d×N; N×d */
    float *products;                   /* M×N */
    float *distances;
    int64_t *indices;
    struct library_call product;
};

struct ours {
    const struct task *work;
    struct knn_tiled *tiled;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_host_knn: %s\n", what);
    exit(2);
}

static void run_ours(void *context)
{
    const struct ours *ours = context;
    const struct task *w = ours->work;
    knn_tiled_run(ours->tiled, w->tests, w->trainings, w->indices, w->distances);
}

static void run_product(void *context)
{
    struct task *w = context;
    library_run(&w->product);
}

static void partial_sort(const struct task *w, int64_t row, uint64_t *heap)
{
    int64_t n = w->problem.trainings, k = w->problem.k;
    const float *products = w->products + row * n;
    memset(heap, 0xff, (size_t)k * sizeof *heap);
    for (int64_t j = 0; j < n; j++) {
        uint64_t entry = entry_of(1 - products[j], j);
        if (entry < heap[0])
            heap_replace(heap, k, entry);
    }
    entries_sort(heap, k);
    for (int64_t i = 0; i < k; i++) {
        w->indices[row * k + i] = entry_index(heap[i]);
        w->distances[row * k + i] = entry_distance(heap[i]);
    }
}

static void run_naive(void *context)
{
    struct task *w = context;
    library_run(&w->product);
#pragma omp parallel num_threads(w->bench->threads)
    {
        uint64_t *heap = malloc((size_t)w->problem.k * sizeof *heap);
        if (!heap)
            die("out of memory");
#pragma omp for
        for (int64_t row = 0; row < w->problem.tests; row++)
            partial_sort(w, row, heap);
        free(heap);
    }
}

static void run_faiss(void *context)
{
    const struct task *w = context;
    w->bench->faiss(w->tests, w->points, (size_t)w->problem.dimensions, (size_t)w->problem.tests,
                    (size_t)w->problem.trainings, (size_t)w->problem.k, w->distances, w->indices,
                    NULL);
}

static float *floats(int64_t rows, int64_t columns)
{
    size_t bytes = (size_t)rows * (size_t)columns * sizeof(float);
    float *list = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    if (!list)
        die("out of memory");
    memset(list, 0, bytes);
    return list;
}

/* Points of norm 1, number l of point i at i·d + l. */
static void fill(float *points, int64_t count, int64_t d, uint64_t seed)
{
    gsl_rng *random = random_open(seed, NULL);
    if (!random)
        die("out of memory");
    random_floats(random, points, count * d);
    gsl_rng_free(random);
    for (int64_t i = 0; i < count; i++) {
        double squares = 0;
        for (int64_t l = 0; l < d; l++)
            squares += (double)points[i * d + l] * (double)points[i * d + l];
        for (int64_t l = 0; l < d; l++)
            points[i * d + l] *= (float)(1 / sqrt(squares));
    }
}

static void open_work(struct task *w, const struct bench *bench, const struct product *product)
{
    const struct knn_problem p = w->problem;
    w->bench = bench;
    w->tests = floats(p.tests, p.dimensions);
    w->points = floats(p.trainings, p.dimensions);
    w->trainings = floats(p.dimensions, p.trainings);
    w->products = product->c;
    w->distances = floats(p.tests, p.k);
    w->indices = (int64_t *)(void *)floats(p.tests, 2 * p.k);
    fill(w->tests, p.tests, p.dimensions, 1);
    fill(w->points, p.trainings, p.dimensions, 2);
    for (int64_t j = 0; j < p.trainings; j++)
        for (int64_t l = 0; l < p.dimensions; l++)
            w->trainings[l * p.trainings + j] = w->points[j * p.dimensions + l];
}

static void close_work(struct task *w)
{
    free(w->tests);
    free(w->points);
    free(w->trainings);
    free(w->products);
    free(w->distances);
    free(w->indices);
}

/* ---- our tilings ---------------------------------------------------------------------------- */

static int add_tilings(const struct knn_problem *p, int rows, int vectors, struct knn_tiling *list)
{
    struct knn_tiling t = {.rows = rows,
                           .vectors = vectors,
                           .m_tile = p->tests,
                           .n_tile = p->trainings,
                           .d_tile = p->dimensions,
                           .pack = true,
                           .order = KNN_ORDER_PANELS,
                           .buffer = 1};
    int count = 0;
    t.select = p->k <= 16 ? KNN_SELECT_LIST : KNN_SELECT_HEAP;
    list[count++] = t;
    t.select = KNN_SELECT_BUFFER;
    for (int64_t part = 1; part <= 4; part *= 2) {
        t.buffer = p->k / part < 16 ? 16 : p->k / part;
        list[count++] = t;
    }
    t.order = KNN_ORDER_ROWS;
    t.n_tile = 1536;
    list[count++] = t;
    return count;
}

static int make_tilings(const struct knn_problem *p, struct knn_tiling list[MAX_TILINGS])
{
    static const struct {
        int rows, vectors;
    } wide[] = {{14, 2}, {12, 2}, {9, 3}}, narrow[] = {{6, 2}, {4, 3}};
    bool many = host_isa_best() == HOST_AVX512;
    int count = 0;
    for (int i = 0; i < (many ? 3 : 2); i++)
        count += add_tilings(p, many ? wide[i].rows : narrow[i].rows,
                             many ? wide[i].vectors : narrow[i].vectors, list + count);
    return count;
}

static void time_all(const struct timing_subject *subjects, int count, const struct bench *bench,
                     double share, struct timing *timings)
{
    struct error error;
    const struct timing_options options = {.threads = bench->threads,
                                           .budget_s = bench->seconds * share,
                                           .keep_within = share < 1 ? 1.2 : 0};
    bench_require(timing_measure(subjects, count, &options, timings, &error), &error);
}

/* The fastest tiling, opened. */
static struct ours tune(const struct task *w, struct knn_tiling *best)
{
    struct knn_tiling list[MAX_TILINGS];
    struct ours ours[MAX_TILINGS] = {{0}};
    struct timing_subject subjects[MAX_TILINGS];
    struct timing timings[MAX_TILINGS];
    struct error error;
    int count = make_tilings(&w->problem, list), fastest = 0;
    for (int i = 0; i < count; i++) {
        ours[i].work = w;
        bench_require(knn_tiled_open(&w->problem, &list[i], host_isa_best(), w->bench->threads,
                                     &ours[i].tiled, &error),
                      &error);
        subjects[i] = (struct timing_subject){run_ours, &ours[i]};
    }
    time_all(subjects, count, w->bench, 0.5, timings);
    for (int i = 1; i < count; i++)
        if (timings[i].median_ns < timings[fastest].median_ns)
            fastest = i;
    for (int i = 0; i < count; i++)
        if (i != fastest)
            knn_tiled_close(ours[i].tiled);
    *best = list[fastest];
    return ours[fastest];
}

/* ---- the comparison ------------------------------------------------------------------------- */

enum { OURS, PRODUCT, NAIVE, FAISS, CONTENDERS };

/* faiss answers with products, and its order of equal ones is not ours. */
static void expect_right(const struct task *w, const struct timing_subject *subject, int who)
{
    struct knn_check *check;
    struct error error;
    bench_require(knn_check_new(&w->problem, w->tests, w->trainings, &check, &error), &error);
    subject->run(subject->context);
    for (int64_t i = 0; who == FAISS && i < w->problem.tests * w->problem.k; i++)
        w->distances[i] = 1 - w->distances[i];
    double wrong = knn_check_error(check, w->indices, w->distances);
    if (!(wrong <= knn_allowed_error(w->problem.dimensions)) && who != FAISS)
        die(who == OURS ? "ours answers wrongly" : "naive answers wrongly");
    knn_check_free(check);
}

static void print_row(const struct task *w, const struct knn_tiling *t,
                      const struct timing timings[CONTENDERS])
{
    const struct knn_problem *p = &w->problem;
    double ns = timings[OURS].median_ns;
    char shape[64];
    (void)snprintf(shape, sizeof shape, "%lldx%lldx%lld", (long long)p->tests,
                   (long long)p->dimensions, (long long)p->trainings);
    printf("%-15s %5lld %9.3f %5.1f%% %7.1f", shape, (long long)p->k, ns / 1e6,
           100 * timings[OURS].spread,
           2.0 * (double)p->tests * (double)p->dimensions * (double)p->trainings / ns);
    for (int c = PRODUCT; c < CONTENDERS; c++)
        if (timings[c].median_ns > 0)
            printf("   %6.2f %4.1f%%", timings[c].median_ns / ns, 100 * timings[c].spread);
        else
            printf("   %6s %5s", "-", "");
    printf("   %dx%d %s %s %lld\n", t->rows, t->vectors,
           t->order == KNN_ORDER_PANELS ? "panels" : "rows",
           t->select == KNN_SELECT_LIST   ? "list"
           : t->select == KNN_SELECT_HEAP ? "heap"
                                          : "buffer",
           (long long)t->buffer);
    (void)fflush(stdout);
}

static void measure(const struct bench *bench, const struct knn_problem *problem)
{
    struct task w = {.problem = *problem};
    struct product product = {
        .m = problem->tests, .k = problem->dimensions, .n = problem->trainings};
    struct knn_tiling tiling;
    struct timing_subject subjects[CONTENDERS];
    struct timing timings[CONTENDERS], of[CONTENDERS] = {{0}};
    int who[CONTENDERS], count = 0;
    product.c = floats(problem->tests, problem->trainings);
    open_work(&w, bench, &product);
    product.a = w.tests;
    product.b = w.trainings;
    struct ours ours = tune(&w, &tiling);
    subjects[count] = (struct timing_subject){run_ours, &ours};
    who[count++] = OURS;
    if (library_prepare(&bench->libraries[LIBRARY_OPENBLAS], &product, &w.product)) {
        subjects[count] = (struct timing_subject){run_product, &w};
        who[count++] = PRODUCT;
        subjects[count] = (struct timing_subject){run_naive, &w};
        who[count++] = NAIVE;
    }
    if (bench->faiss) {
        subjects[count] = (struct timing_subject){run_faiss, &w};
        who[count++] = FAISS;
    }
    for (int i = 0; i < count; i++)
        if (who[i] != PRODUCT)
            expect_right(&w, &subjects[i], who[i]);
    time_all(subjects, count, bench, 1, timings);
    for (int i = 0; i < count; i++)
        of[who[i]] = timings[i];
    print_row(&w, &tiling, of);
    knn_tiled_close(ours.tiled);
    close_work(&w);
}

static struct knn_problem parse_shape(const char *text)
{
    int64_t size[4];
    for (int i = 0; i < 4; i++) {
        char *end;
        long long value = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : 0;
        if (value < 1 || value > 1 << 24 || *end != (i < 3 ? 'x' : 0))
            die("expected shapes MxDxNxK");
        size[i] = value;
        text = end + 1;
    }
    if (size[3] > size[2])
        die("expected at most N as K");
    return (struct knn_problem){size[0], size[2], size[1], size[3]};
}

static void open_faiss(struct bench *bench)
{
    const char *file = getenv("AUTOTUNE_FAISS");
    void *library = dlopen(file ? file : FAISS_FILE, RTLD_NOW | RTLD_LOCAL);
    void *call = library ? dlsym(library, faiss_name) : NULL;
    if (call)
        memcpy(&bench->faiss, &call, sizeof call);
    printf("faiss: %s\n", call ? "loaded" : "not there (package libfaiss-dev, or $AUTOTUNE_FAISS)");
    /* cppcheck-suppress resourceLeak ; the library stays loaded */
}

static void print_head(const struct bench *bench)
{
    const struct library *blas = &bench->libraries[LIBRARY_OPENBLAS];
    struct timing_noise noise;
    struct error error;
    char text[512];
    bench_require(timing_noise(&noise, &error), &error);
    library_describe(blas, text, sizeof text);
    printf("OpenBLAS: %s\n", text);
    printf("ours: %s, %d threads; noise %.1f %%, %.0f %% of samples dropped\n",
           host_isa_name(host_isa_best()), bench->threads, 100 * noise.spread, 100 * noise.dropped);
    printf("%-15s %5s %9s %6s %7s   %-13s  %-13s  %-12s   ours is\n", "MxDxN", "k", "ours ms", "+-",
           "GFLOP/s", "product only", "naive", "faiss");
}

int main(int argc, char **argv)
{
    struct bench bench = {.threads = 1, .seconds = 6};
    int first = 1;
    for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2)
        if (strcmp(argv[first], "--threads") == 0)
            bench.threads = (int)strtol(argv[first + 1], NULL, 10);
        else if (strcmp(argv[first], "--seconds") == 0)
            bench.seconds = strtod(argv[first + 1], NULL);
        else
            die("usage: bench_host_knn [--threads N] [--seconds S] [MxDxNxK...]");
    if (bench.threads < 1 || bench.threads > HOST_MAX_THREADS || !(bench.seconds > 0))
        die("expected at least one thread and some seconds");
    libraries_open(bench.libraries, bench.threads);
    open_faiss(&bench);
    if (bench.threads == 1)
        timing_pin(0);
    print_head(&bench);
    int count = argc > first ? argc - first : (int)(sizeof default_shapes / sizeof *default_shapes);
    for (int i = 0; i < count; i++) {
        struct knn_problem problem =
            parse_shape(argc > first ? argv[first + i] : default_shapes[i]);
        measure(&bench, &problem);
    }
    return 0;
}
