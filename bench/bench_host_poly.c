/* Polynomials on this processor: the best tiling that autotune finds, against what a user would
 * take instead: GSL's gsl_poly_eval in a loop, plain loops, and the
 * matrix form by OpenBLAS's sgemm. Medians of interleaved rounds.
 *
 *   bench_host_poly [NxKxJ…]
 *
 * The processor is measured first (some ten seconds); its loops rank the tilings, and the first
 * TRIED of them are timed. */
#include "bench/bench.h"
#include "bench/host_poly_plain.h"
#include "bench/libraries.h"
#include "costmodel/host_time.h"
#include "kernels/cubefx/cubefx.h"
#include "kernels/cubefx/host/poly.h"
#include "kernels/registry.h"
#include "validate/calibrate/host_calibration.h"
#include "validate/timing.h"

#include <gsl/gsl_poly.h>
#include <math.h>
#include <string.h>

enum { TRIED = 16 };
enum contender { OURS, GSL, PLAIN, VECTORS, BLAS, CONTENDERS };
static const char *const contender_names[CONTENDERS] = {"autotune", "gsl_poly_eval", "plain loop",
                                                        "terms outside", "powers + sgemm"};

static const char *const default_shapes[] = {
    "16384x8x1",   "16384x16x3",   "16384x16x16",  "16384x32x64",   "1000000x8x1",
    "1000000x8x3", "1000000x32x3", "1000000x8x16", "1000000x16x16", "1000000x32x64"};

struct shape {
    int64_t inputs, terms, functions;
    float *a, *x, *results, *powers;
    double *a_double; /* for GSL */
    const struct library *blas;
    struct library_call call;
    struct product product;
};

struct our_call {
    struct poly *poly;
    const struct shape *shape;
};

static void run_ours(void *context)
{
    const struct our_call *call = context;
    poly_run(call->poly, call->shape->a, call->shape->x, call->shape->results);
}

static void run_gsl(void *context)
{
    const struct shape *s = context;
    for (int64_t f = 0; f < s->functions; f++)
        for (int64_t i = 0; i < s->inputs; i++)
            s->results[f * s->inputs + i] =
                (float)gsl_poly_eval(s->a_double + f * s->terms, (int)s->terms, (double)s->x[i]);
}

static void run_plain(void *context)
{
    const struct shape *s = context;
    plain_horner(s->a, s->functions, s->terms, s->x, s->inputs, s->results);
}

static void run_vectors(void *context)
{
    const struct shape *s = context;
    plain_terms_outside(s->a, s->functions, s->terms, s->x, s->inputs, s->results);
}

static void run_blas(void *context)
{
    struct shape *s = context;
    plain_powers(s->terms, s->x, s->inputs, s->powers);
    library_run(&s->call);
}

static float *floats(int64_t count)
{
    float *list = aligned_alloc(64, (size_t)(count * 4 + 63) / 64 * 64);
    if (!list) {
        fprintf(stderr, "bench_host_poly: out of memory\n");
        exit(2);
    }
    memset(list, 0, (size_t)count * sizeof *list);
    return list;
}

static void open_shape(struct shape *s, const struct library *blas)
{
    int64_t coefficients = s->functions * s->terms;
    s->a = floats(coefficients);
    s->x = floats(s->inputs);
    s->results = floats(s->functions * s->inputs);
    s->powers = floats(s->terms * s->inputs);
    s->a_double = malloc((size_t)coefficients * sizeof *s->a_double);
    for (int64_t i = 0; s->a_double && i < coefficients; i++)
        s->a_double[i] = (double)(s->a[i] = (float)(i % 17) / 16 - 0.5F);
    for (int64_t i = 0; i < s->inputs; i++)
        s->x[i] = ((float)(i % 1009) / 1009 * 0.5F + 0.5F) * (i % 2 ? 1.0F : -1.0F);
    s->product = (struct product){s->functions, s->terms, s->inputs, s->a, s->powers, s->results};
    s->blas = library_prepare(blas, &s->product, &s->call) ? blas : NULL;
}

static void close_shape(struct shape *s)
{
    free(s->a);
    free(s->x);
    free(s->results);
    free(s->powers);
    free(s->a_double);
}

struct ranked {
    double ns;
    struct tiling tiling;
};

static int by_ns(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

/* All legal tilings in the order of their predicted times. */
static struct ranked *rank(const struct space *space, int *count)
{
    struct ranked *list = calloc((size_t)space->candidates, sizeof *list);
    *count = 0;
    if (!list) {
        fprintf(stderr, "bench_host_poly: out of memory\n");
        exit(2);
    }
    for (int64_t i = 0; i < space->candidates; i++) {
        struct host_work work;
        struct ranked *next = &list[*count];
        space_tiling(space, i, &next->tiling);
        if (!space->kind->legal(space, &next->tiling))
            continue;
        space->kind->ask(space, &next->tiling, &work);
        next->ns = host_time_ns(space->hw->host, &work);
        ++*count;
    }
    qsort(list, (size_t)*count, sizeof *list, by_ns);
    return list;
}

static struct poly *make(const struct space *space, const struct tiling *tiling)
{
    struct poly_plan plan;
    struct poly *poly;
    struct error error;
    cubefx_host_plan(space, tiling, &plan);
    bench_require(poly_new(&plan, poly_kernels_of(space->hw->host->isa), &poly, &error), &error);
    return poly;
}

/* The fastest of the first tilings, measured. */
static struct ranked choose(const struct space *space, const struct shape *shape, double *regret)
{
    int count, legal;
    struct ranked *list = rank(space, &legal);
    struct our_call calls[TRIED];
    struct timing_subject subjects[TRIED];
    struct timing timings[TRIED];
    struct timing_options options = {.rounds = 7, .threads = 1, .budget_s = 3};
    struct error error;
    for (count = 0; count < TRIED && count < legal; count++) {
        calls[count] = (struct our_call){make(space, &list[count].tiling), shape};
        subjects[count] = (struct timing_subject){run_ours, &calls[count]};
    }
    bench_require(timing_measure(subjects, count, &options, timings, &error), &error);
    int best = 0;
    for (int i = 0; i < count; i++) {
        best = timings[i].median_ns < timings[best].median_ns ? i : best;
        poly_free(calls[i].poly);
    }
    struct ranked chosen = list[best];
    *regret = timings[0].median_ns / timings[best].median_ns;
    free(list);
    return chosen;
}

static void print_tiling(const struct space *space, const struct tiling *tiling)
{
    char text[24];
    for (int a = 0; a < space->axis_count; a++)
        printf(" %s=%s", space->axes[a].name,
               axis_value_text(&space->axes[a], tiling->value[a], text));
    printf("\n");
}

static void compare(const struct space *space, struct shape *shape, const struct ranked *chosen,
                    double regret)
{
    struct our_call ours = {make(space, &chosen->tiling), shape};
    struct timing_subject subjects[CONTENDERS] = {
        [OURS] = {run_ours, &ours},       [GSL] = {run_gsl, shape},   [PLAIN] = {run_plain, shape},
        [VECTORS] = {run_vectors, shape}, [BLAS] = {run_blas, shape},
    };
    struct timing timings[CONTENDERS];
    struct timing_options options = {.threads = 1, .budget_s = 6};
    struct error error;
    int count = shape->blas ? CONTENDERS : BLAS;
    double flop = 2.0 * (double)shape->inputs * (double)shape->terms * (double)shape->functions;
    bench_require(timing_measure(subjects, count, &options, timings, &error), &error);
    poly_free(ours.poly);
    printf("\n%lld inputs, %lld terms, %lld functions:", (long long)shape->inputs,
           (long long)shape->terms, (long long)shape->functions);
    print_tiling(space, &chosen->tiling);
    for (int c = 0; c < count; c++) {
        double gflops = flop / timings[c].median_ns;
        printf("  %-14s %10.2f us  +-%4.1f %%  %6.1f GFLOP/s", contender_names[c],
               timings[c].median_ns / 1e3, 100 * timings[c].spread, gflops);
        if (c == OURS)
            printf("  %3.0f %% of peak; predicted %.2f us, first pick %.2f x\n",
                   100 * gflops / space->hw->host->peak_gflops, chosen->ns / 1e3, regret);
        else
            printf("  %6.2f x\n", timings[c].median_ns / timings[OURS].median_ns);
    }
}

static void bench_shape(const struct hardware *hw, const char *text, const struct library *blas)
{
    struct problem problem = {.op = &cubefx_operator, .type = DTYPE_F32};
    struct space space;
    struct error error;
    const char *at = text;
    for (int i = 0; i < CUBEFX_SIZES; i++, at++) {
        char *end;
        problem.size[i] = strtoll(at, &end, 10);
        at = end;
        if (problem.size[i] < 1 || *at != (i + 1 < CUBEFX_SIZES ? 'x' : 0)) {
            fprintf(stderr, "bench_host_poly: %s: expected NxKxJ\n", text);
            exit(2);
        }
    }
    bench_require(problem_settle(&problem, &error), &error);
    bench_require(space_open(&problem, &cubefx_host_space, hw, 1, &space, &error), &error);
    struct shape shape = {.inputs = problem.size[CUBEFX_N],
                          .terms = problem.size[CUBEFX_ORDER],
                          .functions = problem.size[CUBEFX_FUNCTIONS]};
    double regret;
    open_shape(&shape, blas);
    struct ranked chosen = choose(&space, &shape, &regret);
    compare(&space, &shape, &chosen, regret);
    close_shape(&shape);
    space_close(&space);
}

int main(int argc, char **argv)
{
    static struct host_calibration calibration;
    static struct hardware hw;
    struct calibrate_host_options options = {.threads = 1, .family_at = loop_family_at};
    struct library libraries[LIBRARY_COUNT];
    struct error error;
    char text[512];
    libraries_open(libraries, 1);
    bench_require(calibrate_host(&options, &calibration, &error), &error);
    hw.host = &calibration.host;
    snprintf(hw.name, sizeof hw.name, "%s", calibration.host.cpu);
    printf("%s, %s, one thread, peak %.1f GFLOP/s, noise %.2f %%\n", calibration.host.cpu,
           host_isa_name(calibration.host.isa), calibration.host.peak_gflops,
           100 * calibration.host.noise);
    const struct library *blas = &libraries[LIBRARY_OPENBLAS];
    library_describe(blas, text, sizeof text);
    printf("%s: %s\n", blas->name, text);
    int count = argc > 1 ? argc - 1 : (int)(sizeof default_shapes / sizeof *default_shapes);
    for (int i = 0; i < count; i++)
        bench_shape(&hw, argc > 1 ? argv[i + 1] : default_shapes[i], blas);
    return 0;
}
