/* FP32 products on this processor: ours with a tuned table, through the library that users link,
 * and those of the libraries that they would take instead, timed in the same interleaved rounds.
 *
 *   bench_host_gemm [--table FILE] [--threads N] [--runs R] [--seconds S] [--json] [SHAPES]
 *
 * SHAPES are MxKxN…, or fourteen, and with --drawn N as many more from a fixed seed, which nobody
 * chose; --list names them. Of several runs over all shapes a contender's median counts.
 *
 * The ratio of a shape is the better library's median over ours: above 1, ours is faster. */
#include "bench/bench.h"
#include "bench/host_gemm.h"
#include "validate/random.h"

#include <float.h>
#include <getopt.h>
#include <math.h>
#include <string.h>

static const char *const default_shapes[] = {
    "256x256x256", "512x1024x512",   "1024x1024x1024", "2048x2048x2048", "4096x512x64",
    "64x512x4096", "1280x128x20480", "35x2560x700",    "5124x560x9124",  "7680x2560x16",
    "128x1024x1",  "3072x1024x48",   "17x129x33",      "64x64x64"};

enum { SAMPLED = 2048 };

struct bench {
    double seconds; /* for one shape */
    int drawn;
    bool json, list;
    struct autotune_sgemm *sgemm;
    struct gemm_results results;
};

struct our_call {
    struct autotune_sgemm *sgemm;
    const struct product *product;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_host_gemm: %s\n", what);
    exit(2);
}

static void run_ours(void *context)
{
    const struct our_call *call = context;
    const struct product *p = call->product;
    if (autotune_sgemm(call->sgemm, p->m, p->k, p->n, p->a, p->b, p->c) != AUTOTUNE_SGEMM_OK)
        die("out of memory");
}

static float *numbers(int64_t count, uint64_t seed)
{
    float *list = aligned_alloc(4096, (size_t)(count * 4 + 4095) / 4096 * 4096);
    gsl_rng *random = random_open(seed, NULL);
    if (!list || !random)
        die("out of memory");
    random_floats(random, list, count);
    gsl_rng_free(random);
    return list;
}

/* Element (i, j) in double, and the sum of its terms' magnitudes. */
static double exact(const struct product *p, int64_t i, int64_t j, double *magnitude)
{
    double sum = 0;
    *magnitude = 0;
    for (int64_t x = 0; x < p->k; x++) {
        double term = (double)p->a[i * p->k + x] * (double)p->b[x * p->n + j];
        sum += term;
        *magnitude += fabs(term);
    }
    return sum;
}

/* Runs a contender once into results that are NaN before; compares samples all over C. */
static double check(const struct timing_subject *subject, const struct product *p)
{
    int64_t count = p->m * p->n, stride = (count / SAMPLED) | 1;
    double worst = 0;
    for (int64_t i = 0; i < count; i++)
        p->c[i] = NAN;
    subject->run(subject->context);
    for (int64_t i = 0; i < count; i++)
        if (isnan(p->c[i]))
            return INFINITY;
    for (int64_t i = 0; i < count; i += stride) {
        double magnitude, sum = exact(p, i / p->n, i % p->n, &magnitude);
        worst = fmax(worst, fabs((double)p->c[i] - sum) / magnitude);
    }
    return worst;
}

/* What finding the plan costs, beside the product: of asking again for a shape that is known. */
static double time_lookup(struct bench *bench, const struct gemm_row *row)
{
    enum { ASKED = 1 << 20 };
    static volatile int answers;
    double start = bench_now();
    for (int i = 0; i < ASKED; i++)
        answers += (int)autotune_sgemm_explain(bench->sgemm, row->m, row->k, row->n, NULL);
    return (bench_now() - start) / ASKED * 1e9;
}

/* Libraries first, ours last, in the same rounds and the same memory. */
static void compare(struct bench *bench, struct gemm_row *row, const struct product *product)
{
    struct library_call calls[LIBRARY_COUNT];
    struct our_call ours = {bench->sgemm, product};
    struct timing_subject subjects[GEMM_CONTENDERS];
    struct timing timings[GEMM_CONTENDERS];
    int who[GEMM_CONTENDERS], count = 0;
    struct error error;
    for (int l = 0; l < LIBRARY_COUNT; l++)
        if (library_prepare(&bench->results.libraries[l], product, &calls[l])) {
            subjects[count] = (struct timing_subject){library_run, &calls[l]};
            who[count++] = l;
        }
    subjects[count] = (struct timing_subject){run_ours, &ours};
    who[count++] = GEMM_OURS;
    for (int i = 0; i < count; i++) {
        row->error[who[i]] = check(&subjects[i], product);
        if (!(row->error[who[i]] <= (double)product->k * FLT_EPSILON))
            die(who[i] == GEMM_OURS ? "ours computes wrongly" : "a library computes wrongly");
    }
    const struct timing_options options = {.threads = bench->results.threads,
                                           .budget_s = bench->seconds};
    bench_require(timing_measure(subjects, count, &options, timings, &error), &error);
    for (int i = 0; i < count; i++)
        row->timings[who[i]] = timings[i];
}

static void measure(struct bench *bench, struct gemm_row *row)
{
    float *a = numbers(row->m * row->k, 1), *b = numbers(row->k * row->n, 2),
          *c = numbers(row->m * row->n, 3);
    const struct product product = {row->m, row->k, row->n, a, b, c};
    if (autotune_sgemm_explain(bench->sgemm, row->m, row->k, row->n, &row->plan) !=
        AUTOTUNE_SGEMM_OK)
        die("a shape that cannot be multiplied");
    row->lookup_ns = time_lookup(bench, row);
    compare(bench, row, &product);
    free(a);
    free(b);
    free(c);
}

/* Of each contender the run whose median is the middle one of all runs'. */
static void take_middle_run(struct gemm_row *row, int runs)
{
    for (int who = 0; who < GEMM_CONTENDERS; who++)
        for (int run = 0; run < runs; run++) {
            int shorter = 0;
            for (int other = 0; other < runs; other++) {
                double difference = row->runs[other][who].median_ns - row->runs[run][who].median_ns;
                shorter += difference < 0 || (difference == 0 && other < run);
            }
            if (shorter == (runs - 1) / 2)
                row->timings[who] = row->runs[run][who];
        }
}

static void measure_all(struct bench *bench)
{
    struct gemm_results *all = &bench->results;
    for (int run = 0; run < all->runs; run++)
        for (int i = 0; i < all->count; i++) {
            struct gemm_row *row = &all->rows[i];
            measure(bench, row);
            memcpy(row->runs[run], row->timings, sizeof row->timings);
            if (run < all->runs - 1)
                continue;
            take_middle_run(row, all->runs);
            if (!bench->json)
                gemm_print_row(row);
        }
}

/* Sizes whose logarithms are uniform, of products that take from a microsecond to some tens of
 * milliseconds. */
static void draw_shapes(struct bench *bench)
{
    enum { LEAST = 8, MOST = 8192, SEED = 22 };
    const double least_volume = 1 << 15, most_volume = INT64_C(1) << 31;
    gsl_rng *random = random_open(SEED, NULL);
    if (!random)
        die("out of memory");
    for (int i = 0; i < bench->drawn;) {
        int64_t size[3];
        for (int s = 0; s < 3; s++)
            size[s] = llround(LEAST * pow((double)MOST / LEAST, gsl_rng_uniform(random)));
        double volume = (double)size[0] * (double)size[1] * (double)size[2];
        if (volume < least_volume || volume > most_volume)
            continue;
        bench->results.rows[bench->results.count++] =
            (struct gemm_row){.m = size[0], .k = size[1], .n = size[2]};
        i++;
    }
    gsl_rng_free(random);
}

static void list_shapes(const struct gemm_results *results)
{
    for (int i = 0; i < results->count; i++)
        printf("%lldx%lldx%lld\n", (long long)results->rows[i].m, (long long)results->rows[i].k,
               (long long)results->rows[i].n);
}

static void usage(int status)
{
    fputs(
        "usage: bench_host_gemm [--table FILE] [--threads N] [--runs R] [--seconds S] [--json]\n"
        "                       [--drawn N] [--list] [MxKxN...]\n"
        "FP32 products: tilings of a tuned table against OpenBLAS, BLIS and libxsmm\n"
        "  --table FILE   as autotune --op matmul --hw host --format csv writes it; default: none\n"
        "  --threads N    default 1\n"
        "  --runs R       over all shapes, of which the median counts; default 1\n"
        "  --seconds S    for each shape of a run at most; default 8\n"
        "  --drawn N      also N shapes drawn by a fixed seed\n"
        "  --list         prints the shapes and measures nothing\n"
        "  --json         instead of a table\n",
        status ? stderr : stdout);
    exit(status);
}

static int64_t positive(const char *text, char end, const char **rest)
{
    char *stop;
    long long number = text[0] >= '0' && text[0] <= '9' ? strtoll(text, &stop, 10) : 0;
    if (number < 1 || number > 1 << 20 || *stop != end)
        usage(2);
    *rest = stop + 1;
    return number;
}

static void parse_shape(const char *text, struct gemm_row *row)
{
    row->m = positive(text, 'x', &text);
    row->k = positive(text, 'x', &text);
    row->n = positive(text, '\0', &text);
}

static void parse_options(int argc, char **argv, struct bench *bench)
{
    static const struct option names[] = {
        {"table", required_argument, NULL, 't'},   {"tilings", required_argument, NULL, 't'},
        {"threads", required_argument, NULL, 'n'}, {"seconds", required_argument, NULL, 's'},
        {"runs", required_argument, NULL, 'r'},    {"drawn", required_argument, NULL, 'd'},
        {"list", no_argument, NULL, 'l'},          {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    const char *rest;
    for (int o = 0; (o = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (o == 't')
            bench->results.table = optarg;
        else if (o == 'n')
            bench->results.threads = (int)positive(optarg, '\0', &rest);
        else if (o == 's')
            bench->seconds = strtod(optarg, NULL);
        else if (o == 'r')
            bench->results.runs = (int)positive(optarg, '\0', &rest);
        else if (o == 'd')
            bench->drawn = (int)positive(optarg, '\0', &rest);
        else if (o == 'l')
            bench->list = true;
        else if (o == 'j')
            bench->json = true;
        else
            usage(o == 'h' ? 0 : 2);
    }
    bool given = optind < argc;
    const char *const *shapes = given ? (const char *const *)argv + optind : default_shapes;
    size_t count = given ? (size_t)(argc - optind) : sizeof default_shapes / sizeof *default_shapes;
    if (count + (size_t)bench->drawn > GEMM_MAX_SHAPES || bench->results.runs > GEMM_MAX_RUNS)
        usage(2);
    for (size_t i = 0; i < count; i++)
        parse_shape(shapes[i], &bench->results.rows[bench->results.count++]);
    draw_shapes(bench);
}

int main(int argc, char **argv)
{
    static struct bench bench = {.seconds = 8, .results = {.threads = 1, .runs = 1}};
    struct error error;
    char message[512];
    parse_options(argc, argv, &bench);
    if (bench.list) {
        list_shapes(&bench.results);
        return 0;
    }
    libraries_open(bench.results.libraries, bench.results.threads);
    bench.sgemm =
        autotune_sgemm_open(bench.results.table, bench.results.threads, message, sizeof message);
    if (!bench.sgemm)
        die(message);
    if (bench.results.threads == 1)
        timing_pin(0);
    bench_require(timing_noise(&bench.results.noise, &error), &error);
    if (!bench.json)
        gemm_print_head(&bench.results);
    measure_all(&bench);
    if (bench.json)
        gemm_print_json(&bench.results);
    else
        gemm_print_summary(&bench.results);
    autotune_sgemm_close(bench.sgemm);
    return 0;
}
