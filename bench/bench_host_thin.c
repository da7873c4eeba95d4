/* FP32 products of few rows or columns on this processor: ours, through the library that users
 * link, against plain loops, timed in the same interleaved rounds.
 *
 *   bench_host_thin [--table FILE] [--threads N] [MxKxN…]
 *
 * The ratio of a shape is the faster loop's median over ours: above 1, ours is faster. It is to be
 * so without a table, and with one that was tuned for other shapes. */
#include "bench/bench.h"
#include "bench/host_thin_plain.h"
#include "runtime/autotune_sgemm.h"
#include "validate/random.h"
#include "validate/timing.h"

#include <float.h>
#include <getopt.h>
#include <math.h>
#include <string.h>

static const char *const default_shapes[] = {
    "1x4096x4096", "1x1024x1024", "1x256x256",   "1x64x64",     "1x16x16",  "1x64x4096",
    "1x4096x64",   "1x1000x8",    "1x100000x3",  "2x4096x4096", "2x64x64",  "3x1000x1000",
    "4x1024x4096", "6x1000x1000", "8x4096x4096", "12x512x512",  "16x64x64", "5x16x16",
    "8x8x8",       "5x64x64",     "4x4x4",       "5x1000x5",    "1x3x4096", "1x1x1",
    "1x64x1",      "1x1000x1",    "1x1000000x1", "2x1000x1",    "3x1000x1", "4096x4096x1",
    "1000x1000x1", "64x64x1",     "4096x16x1",   "4096x4096x2", "64x64x2",  "1000x1000x4",
    "4096x1024x8"};

enum { OURS, ROWS, DOTS, CONTENDERS };

struct call {
    struct autotune_sgemm *sgemm;
    int64_t m, k, n;
    float *a, *b, *c;
};

static void die(const char *what)
{
    fprintf(stderr, "bench_host_thin: %s\n", what);
    exit(2);
}

static void run_ours(void *context)
{
    const struct call *s = context;
    if (autotune_sgemm(s->sgemm, s->m, s->k, s->n, s->a, s->b, s->c) != AUTOTUNE_SGEMM_OK)
        die("out of memory");
}

static void run_rows(void *context)
{
    const struct call *s = context;
    plain_rows(s->m, s->k, s->n, s->a, s->b, s->c);
}

static void run_dots(void *context)
{
    const struct call *s = context;
    if (s->n == 1)
        plain_vector(s->m, s->k, s->a, s->b, s->c);
    else
        plain_dots(s->m, s->k, s->n, s->a, s->b, s->c);
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

/* Greatest difference to sums in double, relative to the sum of the terms' magnitudes. */
static double error_of(const struct call *s)
{
    double worst = 0;
    for (int64_t i = 0; i < s->m; i++)
        for (int64_t j = 0; j < s->n; j++) {
            double sum = 0, magnitude = DBL_MIN;
            for (int64_t p = 0; p < s->k; p++) {
                double term = (double)s->a[i * s->k + p] * (double)s->b[p * s->n + j];
                sum += term;
                magnitude += fabs(term);
            }
            double off = fabs((double)s->c[i * s->n + j] - sum) / magnitude;
            worst = off <= worst ? worst : off;
        }
    return worst;
}

static void check(const struct timing_subject *subject, struct call *s)
{
    for (int64_t i = 0; i < s->m * s->n; i++)
        s->c[i] = NAN;
    subject->run(s);
    if (!(error_of(s) <= (double)s->k * FLT_EPSILON))
        die(subject->run == run_ours ? "ours computes wrongly" : "a plain loop computes wrongly");
}

/* Prints a row; returns its ratio. */
static double bench_shape(struct call *s, int threads)
{
    struct timing_subject subjects[CONTENDERS] = {{run_ours, s}, {run_rows, s}, {run_dots, s}};
    struct timing timings[CONTENDERS];
    struct autotune_sgemm_plan plan;
    struct error error;
    char shape[64];
    autotune_sgemm_explain(s->sgemm, s->m, s->k, s->n, &plan);
    for (int i = 0; i < CONTENDERS; i++)
        check(&subjects[i], s);
    /* A hopeless loop leaves: the caches that it walks through are the others' too. */
    const struct timing_options options = {.threads = threads, .budget_s = 4, .keep_within = 2};
    bench_require(timing_measure(subjects, CONTENDERS, &options, timings, &error), &error);
    double plain_ns = fmin(timings[ROWS].median_ns, timings[DOTS].median_ns);
    double ours_ns = timings[OURS].median_ns;
    snprintf(shape, sizeof shape, "%lldx%lldx%lld", (long long)s->m, (long long)s->k,
             (long long)s->n);
    printf("%-14s", shape);
    for (int i = 0; i < CONTENDERS; i++)
        printf(" %11.3f %5.1f", timings[i].median_ns / 1e3, 100 * timings[i].spread);
    printf(" %7.1f %7.1f  %6.3f  %s\n", 2 * (double)s->m * (double)s->k * (double)s->n / ours_ns,
           4 * (double)(s->m * s->k + s->k * s->n + s->m * s->n) / ours_ns, plain_ns / ours_ns,
           plan.tiling);
    (void)fflush(stdout);
    return plain_ns / ours_ns;
}

static bool parse_shape(const char *text, struct call *s)
{
    int64_t *const sizes[] = {&s->m, &s->k, &s->n};
    for (int i = 0; i < 3; i++) {
        char *end;
        *sizes[i] = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : 0;
        if (*sizes[i] < 1 || *sizes[i] > 1 << 20 || *end != (i < 2 ? 'x' : '\0'))
            return false;
        text = end + 1;
    }
    return true;
}

static double bench_text(const char *text, struct autotune_sgemm *sgemm, int threads)
{
    struct call s = {.sgemm = sgemm};
    if (!parse_shape(text, &s))
        die("expected shapes MxKxN");
    s.a = numbers(s.m * s.k, 1);
    s.b = numbers(s.k * s.n, 2);
    s.c = numbers(s.m * s.n, 3);
    double ratio = bench_shape(&s, threads);
    free(s.a);
    free(s.b);
    free(s.c);
    return ratio;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {{"table", required_argument, NULL, 't'},
                                          {"threads", required_argument, NULL, 'n'},
                                          {NULL, 0, NULL, 0}};
    const char *table = NULL;
    char message[512];
    int threads = 1;
    for (int o = 0; (o = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        if (o == 't')
            table = optarg;
        else if (o == 'n')
            threads = (int)strtol(optarg, NULL, 10);
        else
            die("expected [--table FILE] [--threads N] [MxKxN...]");
    }
    struct autotune_sgemm *sgemm = autotune_sgemm_open(table, threads, message, sizeof message);
    if (!sgemm)
        die(message);
    const char *const *shapes = optind < argc ? (const char *const *)argv + optind : default_shapes;
    int count = optind < argc ? argc - optind : (int)(sizeof default_shapes / sizeof *shapes);
    printf("# %d thread%s for ours, one for the loops; tilings: %s\n", threads,
           threads > 1 ? "s" : "", table ? table : "default ones, no table");
    printf("%-14s %11s %5s %11s %5s %11s %5s %7s %7s  %6s  %s\n", "shape", "ours us", "+-%",
           "rows us", "+-%", "dots us", "+-%", "GFLOP/s", "GB/s", "ratio", "tiling");
    double least = INFINITY;
    for (int i = 0; i < count; i++)
        least = fmin(least, bench_text(shapes[i], sgemm, threads));
    printf("# least ratio %.3f\n", least);
    autotune_sgemm_close(sgemm);
    return 0;
}
