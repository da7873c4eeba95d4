/* How well the model of this processor predicts products that it has never seen.
 *
 *     bench_host_model --measure=FILE [SHAPE...]    appends timings to FILE
 *     bench_host_model --from=FILE [--fit=FILE]     judges the model by FILE
 *
 * Of each shape the model's first tilings and random ones are timed against each other. Then each
 * shape is predicted twice: by the calibration's overlap (with --fit by one that is fitted to that
 * file's timings), which was fitted to other products than these, and by an overlap that is fitted
 * to all the other shapes of the file (leave one out). $ALL prints each tiling. */
#include "bench/bench.h"
#include "costmodel/host_time.h"
#include "hardware/load.h"
#include "kernels/matmul/host/matmul_host.h"
#include "kernels/matmul/matmul.h"
#include "validate/host_fit.h"
#include "validate/measure.h"
#include "validate/model_quality.h"
#include "validate/random.h"
#include "validate/runner.h"

#include <string.h>

/* M×K×N with what is timed of each: random tilings, and seconds. */
static const struct plan {
    const char *shape;
    int random;
    double budget_s;
} plans[] = {
    {"256x256x256", 38, 4},     {"512x1024x512", 38, 5}, {"1024x1024x1024", 38, 9},
    {"2048x2048x2048", 20, 40}, {"4096x512x64", 38, 4},  {"64x512x4096", 38, 5},
    {"1280x128x20480", 30, 10}, {"35x2560x700", 38, 3},  {"5124x560x9124", 14, 60},
    {"7680x2560x16", 38, 6},    {"128x1024x1", 38, 3},   {"3072x1024x48", 38, 4},
    {"17x129x33", 38, 3},       {"64x64x64", 38, 3},
};

enum {
    PLANS = sizeof plans / sizeof *plans,
    FIRST = 10, /* of the model's order */
    MOST = 64,  /* tilings of a shape */
    SHAPES = 64,
    LINE_SIZE = 512,
};

/* A shape's timings. */
struct shape {
    char name[64];
    struct space space;
    int count;
    struct tiling tilings[MOST];
    struct host_timed timed[MOST];
    struct model_quality calibrated, left_out;
};

struct bench {
    struct hardware hw;
    int shape_count;
    struct shape shapes[SHAPES];
};

static void open_shape(const struct bench *bench, const char *name, struct space *space)
{
    struct problem problem;
    struct error error;
    bench_require(problem_parse(&matmul_operator, name, &problem, &error), &error);
    problem.type = DTYPE_F32;
    bench_require(space_open(&problem, &matmul_host_space, &bench->hw, 1, space, &error), &error);
}

static double predict(const struct host *host, const struct space *space,
                      const struct tiling *tiling)
{
    struct host_work work;
    space->kind->ask(space, tiling, &work);
    return host_time_ns(host, &work);
}

/* ------------------------------------------------------------------ measuring */

static void insert(struct tiling tilings[], double times[], int *count, int most,
                   const struct tiling *tiling, double time)
{
    if (*count == most && time >= times[most - 1])
        return;
    int at = *count < most ? (*count)++ : most - 1;
    for (; at > 0 && times[at - 1] > time; at--) {
        times[at] = times[at - 1];
        tilings[at] = tilings[at - 1];
    }
    times[at] = time;
    tilings[at] = *tiling;
}

static int choose_first(const struct bench *bench, const struct space *space,
                        struct tiling tilings[], double times[])
{
    int count = 0;
    for (int64_t i = 0; i < space->candidates; i++) {
        struct tiling tiling;
        space_tiling(space, i, &tiling);
        if (space->kind->legal(space, &tiling))
            insert(tilings, times, &count, FIRST, &tiling, predict(bench->hw.host, space, &tiling));
    }
    return count;
}

static bool among(const struct tiling tilings[], int count, const struct tiling *tiling)
{
    for (int i = 0; i < count; i++)
        if (memcmp(&tilings[i], tiling, sizeof *tiling) == 0)
            return true;
    return false;
}

/* Every kernel is as likely: some have many more tilings than others. */
static int choose_random(const struct bench *bench, const struct space *space, int wanted,
                         struct tiling tilings[], double times[], int count)
{
    struct error error;
    gsl_rng *random = random_open(20, &error);
    bench_require(random ? STATUS_OK : STATUS_NO_MEMORY, &error);
    int most = count + wanted < MOST ? count + wanted : MOST;
    for (int tries = 0; tries < 100000 && count < most; tries++) {
        const struct space_block *block = &space->blocks[random_below(random, space->block_count)];
        struct tiling *tiling = &tilings[count];
        *tiling = (struct tiling){{0}};
        for (int a = 0; a < space->axis_count; a++)
            tiling->value[a] = block->values[a][random_below(random, block->count[a])];
        if (!space->kind->legal(space, tiling) || among(tilings, count, tiling))
            continue;
        times[count++] = predict(bench->hw.host, space, tiling);
    }
    gsl_rng_free(random);
    return count;
}

static void print_timed(FILE *file, const char *shape, const struct tiling *tiling,
                        const struct measured *measured)
{
    fprintf(file, "%s", shape);
    for (int a = 0; a < HOST_MATMUL_AXES; a++)
        fprintf(file, "\t%lld", (long long)tiling->value[a]);
    fprintf(file, "\t%.6g\t%.3g\n", measured->timing.median_ns, measured->timing.spread);
}

static void measure_shape(struct bench *bench, const struct plan *plan, FILE *file)
{
    static struct tiling tilings[MOST];
    static struct measured measured[MOST];
    double times[MOST];
    struct space space;
    struct error error;
    struct measure_options options = {.timing = {.threads = 1, .budget_s = plan->budget_s},
                                      .seed = 1};
    open_shape(bench, plan->shape, &space);
    int count = choose_first(bench, &space, tilings, times);
    count = choose_random(bench, &space, plan->random, tilings, times, count);
    double begin = bench_now();
    bench_require(
        measure(matmul_operator.runner, &space, tilings, times, count, &options, measured, &error),
        &error);
    for (int i = 0; i < count; i++) {
        if (measured[i].quarantine[0])
            fprintf(stderr, "%s: left out: %s\n", plan->shape, measured[i].quarantine);
        else if (measured[i].timing.median_ns > 0)
            print_timed(file, plan->shape, &tilings[i], &measured[i]);
    }
    fprintf(stderr, "%-16s %3d tilings, %5.1f s\n", plan->shape, count, bench_now() - begin);
    space_close(&space);
}

/* Of shapes that are not in the table there are fewer. */
static const struct plan *plan_of(const char *shape, struct plan *other)
{
    for (int p = 0; p < PLANS; p++)
        if (strcmp(shape, plans[p].shape) == 0)
            return &plans[p];
    *other = (struct plan){shape, 14, 2};
    return other;
}

static int measure_shapes(struct bench *bench, const char *path, char **names)
{
    struct plan other;
    FILE *file = fopen(path, "a");
    if (!file) {
        perror(path);
        return 2;
    }
    for (int p = 0; p < PLANS && !*names; p++)
        measure_shape(bench, &plans[p], file);
    for (char **name = names; *name; name++)
        measure_shape(bench, plan_of(*name, &other), file);
    return fclose(file) == 0 ? 0 : 2;
}

/* ------------------------------------------------------------------ judging */

static struct shape *shape_called(struct bench *bench, const char *name)
{
    for (int s = 0; s < bench->shape_count; s++)
        if (strcmp(bench->shapes[s].name, name) == 0)
            return &bench->shapes[s];
    if (bench->shape_count == SHAPES)
        return NULL;
    struct shape *shape = &bench->shapes[bench->shape_count];
    snprintf(shape->name, sizeof shape->name, "%s", name);
    open_shape(bench, name, &shape->space);
    bench->shape_count++;
    return shape;
}

/* A line of the file; false where it is none. */
static bool read_line(struct bench *bench, const char *line)
{
    char name[64], *next;
    int length;
    if (sscanf(line, "%63s%n", name, &length) != 1)
        return false;
    struct shape *shape = shape_called(bench, name);
    if (!shape || shape->count == MOST)
        return false;
    struct tiling *tiling = &shape->tilings[shape->count];
    line += length;
    for (int a = 0; a < HOST_MATMUL_AXES; a++, line = next)
        tiling->value[a] = strtoll(line, &next, 10);
    if (!shape->space.kind->legal(&shape->space, tiling))
        return false;
    struct host_timed *timed = &shape->timed[shape->count++];
    timed->measured_ns = strtod(line, NULL);
    timed->shape = (int)(shape - bench->shapes);
    shape->space.kind->ask(&shape->space, tiling, &timed->work);
    return true;
}

static void read_file(struct bench *bench, const char *path)
{
    char line[LINE_SIZE];
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(2);
    }
    for (int number = 1; fgets(line, sizeof line, file); number++)
        if (!read_line(bench, line))
            fprintf(stderr, "%s:%d: left out\n", path, number);
    fclose(file);
}

static struct model_quality judge(const struct host *host, const struct shape *shape)
{
    double predicted[MOST], measured[MOST];
    struct model_quality quality;
    struct error error;
    for (int i = 0; i < shape->count; i++) {
        predicted[i] = host_time_ns(host, &shape->timed[i].work);
        measured[i] = shape->timed[i].measured_ns;
    }
    bench_require(model_quality(predicted, measured, shape->count, &quality, &error), &error);
    return quality;
}

/* The processor with an overlap fitted to all shapes but one. */
static void fit_without(const struct bench *bench, const struct shape *left_out, struct host *host)
{
    static struct host_timed timed[SHAPES * MOST];
    int count = 0;
    struct host_fit fit;
    struct error error;
    for (int s = 0; s < bench->shape_count; s++)
        for (int i = 0; i < bench->shapes[s].count && &bench->shapes[s] != left_out; i++)
            timed[count++] = bench->shapes[s].timed[i];
    *host = *bench->hw.host;
    bench_require(host_fit(host, timed, count, &fit, &error), &error);
}

static void print_tilings(const struct shape *shape, const struct host *host)
{
    for (int i = 0; i < shape->count; i++) {
        printf("    %12.0f ns predicted, %12.0f measured, %.3f:",
               host_time_ns(host, &shape->timed[i].work), shape->timed[i].measured_ns,
               host_time_ns(host, &shape->timed[i].work) / shape->timed[i].measured_ns);
        for (int a = 0; a < HOST_MATMUL_AXES; a++) {
            char text[24];
            const struct axis *axis = &shape->space.axes[a];
            printf(" %s=%s", axis->name, axis_value_text(axis, shape->tilings[i].value[a], text));
        }
        printf("\n");
    }
}

static void print_quality(const struct model_quality *q)
{
    printf(" %6.1f %% %6.1f %% %6.3f %6.3f %6.3f |", 100 * q->mean_error, 100 * q->median_error,
           q->spearman, q->regret_first, q->regret_top);
}

static void print_row(const char *name, int count, const struct model_quality *calibrated,
                      const struct model_quality *left_out)
{
    printf("%-16s %4d |", name, count);
    print_quality(calibrated);
    print_quality(left_out);
    printf("\n");
}

static int judge_shapes(struct bench *bench, bool all)
{
    static struct host host;
    struct model_quality calibrated[SHAPES], left_out[SHAPES];
    printf("%-16s %4s | %-38s | %-38s |\n%-16s %4s |", "", "", "as calibrated",
           "fitted to the other shapes", "shape", "n");
    for (int i = 0; i < 2; i++)
        printf(" %8s %8s %6s %6s %6s |", "error", "median", "rank", "first", "top 3");
    printf("\n");
    for (int s = 0; s < bench->shape_count; s++) {
        const struct shape *shape = &bench->shapes[s];
        calibrated[s] = judge(bench->hw.host, shape);
        fit_without(bench, shape, &host);
        left_out[s] = judge(&host, shape);
        print_row(shape->name, shape->count, &calibrated[s], &left_out[s]);
        if (all)
            print_tilings(shape, &host);
    }
    struct model_quality mean[] = {model_quality_mean(calibrated, bench->shape_count),
                                   model_quality_mean(left_out, bench->shape_count)};
    struct model_quality worst[] = {model_quality_worst(calibrated, bench->shape_count),
                                    model_quality_worst(left_out, bench->shape_count)};
    print_row("mean", mean[0].count, &mean[0], &mean[1]);
    print_row("worst", worst[0].count, &worst[0], &worst[1]);
    return 0;
}

/* Instead of the calibration's overlap. */
static void fit_to_file(struct bench *bench, const char *path)
{
    static struct host host;
    read_file(bench, path);
    fit_without(bench, NULL, &host);
    bench->hw.host->overlap = host.overlap;
    printf("%s: exposed %.3f %.3f, jump_ns %.2f %.1f, walk_ns %.1f, copying %.2f\n", path,
           host.overlap.exposed[1], host.overlap.exposed[2], host.overlap.jump_ns[1],
           host.overlap.jump_ns[2], host.overlap.walk_ns, host.overlap.copying);
    for (int s = 0; s < bench->shape_count; s++)
        space_close(&bench->shapes[s].space);
    bench->shape_count = 0;
    memset(bench->shapes, 0, sizeof bench->shapes);
}

static const char *value_of(const char *argument, const char *option)
{
    size_t length = strlen(option);
    return argument && strncmp(argument, option, length) == 0 ? argument + length : NULL;
}

int main(int argc, char **argv)
{
    static struct bench bench;
    struct error error;
    const char *hardware = getenv("AUTOTUNE_HOST");
    const char *measured = value_of(argv[1], "--measure="), *from = value_of(argv[1], "--from=");
    const char *fit = argc > 2 ? value_of(argv[2], "--fit=") : NULL;
    if (argc < 2 || (!measured && !from)) {
        fprintf(stderr,
                "usage: %s --measure=FILE [SHAPE...] | --from=FILE [--fit=FILE]\n"
                "$AUTOTUNE_HOST: the processor's description, else --hw host's\n",
                argv[0]);
        return 2;
    }
    bench_require(hardware_load(hardware ? hardware : HARDWARE_HOST_NAME, NULL, &bench.hw, &error),
                  &error);
    if (measured)
        return measure_shapes(&bench, measured, argv + 2);
    if (fit)
        fit_to_file(&bench, fit);
    read_file(&bench, from);
    return judge_shapes(&bench, getenv("ALL") != NULL);
}
