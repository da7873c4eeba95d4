/* How long the search takes, with proof, on one and two threads: MatMul from 256x512x256 to
 * 4096x4096x4096 (space thesis) and beyond (space cann), Cube-fx, k-NN up to the thesis's
 * 1280x128x204800; and how many lower bounds a second one core computes. */
#include "bench/bench.h"
#include "hardware/load.h"
#include "kernels/registry.h"
#include "search/candidates.h"
#include "search/search.h"

#include <string.h>

/* Problems, with the sizes that have options of their own; a space and a chip where they are not
 * the first and the Ascend 310. */
static const struct {
    const char *op, *shape;
    const char *options[2][2];
    const char *space, *hardware;
} problems[] = {
    {"matmul", "256x512x256", {{NULL}}, NULL, NULL},
    {"matmul", "512x1024x512", {{NULL}}, NULL, NULL},
    {"matmul", "1024x1024x1024", {{NULL}}, NULL, NULL},
    {"matmul", "2048x2048x2048", {{NULL}}, NULL, NULL},
    {"matmul", "4096x4096x4096", {{NULL}}, NULL, NULL},
    {"cubefx", "1638400", {{"order", "12"}, {"functions", "9"}}, NULL, NULL},
    {"knn", "128x64x4096", {{"k", "8"}}, NULL, NULL},
    {"knn", "1280x128x204800", {{"k", "16"}}, NULL, NULL},
    {"matmul", "12288x768x3072", {{NULL}}, "cann", "ascend910b1"},
    {"matmul", "4096x4096x4096", {{NULL}}, "cann", "ascend910b1"},
    {"matmul", "8192x8192x8192", {{NULL}}, "cann", "ascend910b1"},
};

struct job {
    struct space space;
    struct search_options options;
    struct search_result result;
};

static void run(void *context)
{
    struct job *job = context;
    struct error error;
    search_result_clear(&job->result);
    bench_require(search(&job->space, &job->options, &job->result, &error), &error);
}

static void measure(const struct hardware *hw, int number, int threads)
{
    struct job job = {
        .options = {.strategy = "bound", .threads = threads, .top = 1, .time_limit_s = 60}};
    const struct operator* op = operator_find(problems[number].op);
    const char *shape = problems[number].shape;
    struct problem problem;
    struct error error;
    double best;
    bench_require(problem_parse(op, shape, &problem, &error), &error);
    const char *space = problems[number].space;
    for (int i = 0; i < 2 && problems[number].options[i][0]; i++)
        bench_require(problem_set(&problem, problems[number].options[i][0],
                                  problems[number].options[i][1], &error),
                      &error);
    const struct operator_space *kind = space ? operator_space_find(op, space) : op->spaces[0];
    bench_require(space_open(&problem, kind, hw, hw->cores, &job.space, &error), &error);
    double median = bench_median(run, &job, &best);
    printf("%-7s %-16s %7d %16lld %11lld %9lld %9.4f %9.4f  %s\n", op->name, shape, threads,
           (long long)job.result.candidates, (long long)job.result.feasible,
           (long long)job.result.simulated, median, best, job.result.optimal ? "proven" : "OPEN");
    search_result_clear(&job.result);
    space_close(&job.space);
}

/* Summary and bound of every legal tiling of one space, over and over. */
struct bounds {
    struct space space;
    struct bounder bounder;
    struct tiling *tilings;
    int64_t count, sum_fs;
};

static void bound_all(void *context)
{
    struct bounds *b = context;
    struct work work;
    for (int64_t i = 0; i < b->count; i++) {
        b->space.kind->summarise(&b->space, &b->tilings[i], &work);
        b->sum_fs ^= bounder_fs(&b->bounder, &work);
    }
}

static void measure_bounds(const struct hardware *hw)
{
    struct bounds b = {0};
    struct problem problem;
    struct candidates candidates;
    struct recorder recorder = {.threads = 1};
    struct error error;
    double best;
    bench_require(problem_parse(operators[0], "2048x2048x2048", &problem, &error), &error);
    bench_require(space_open(&problem, problem.op->spaces[0], hw, hw->cores, &b.space, &error),
                  &error);
    bench_require(bounder_open(&b.bounder, &b.space, &error), &error);
    bench_require(candidates_collect(&b.space, &b.bounder, &recorder, &candidates, &error), &error);
    b.count = candidates.count;
    b.tilings = malloc((size_t)b.count * sizeof *b.tilings);
    for (int64_t i = 0; b.tilings && i < b.count; i++)
        space_tiling(&b.space, candidates.items[i].index, &b.tilings[i]);
    double median = bench_median(bound_all, &b, &best);
    printf("\nsummary and lower bound, one core: median %.1f M/s, best %.1f M/s\n",
           (double)b.count / median / 1e6, (double)b.count / best / 1e6);
    free(b.tilings);
    free(candidates.items);
    bounder_close(&b.bounder);
    space_close(&b.space);
}

int main(void)
{
    struct hardware hw;
    struct error error;
    bench_require(hardware_load("ascend310", NULL, &hw, &error), &error);
    printf("%-7s %-16s %7s %16s %11s %9s %9s %9s\n", "op", "shape", "threads", "candidates",
           "feasible", "simulated", "median s", "best s");
    for (int p = 0; p < (int)(sizeof problems / sizeof *problems); p++) {
        struct hardware other;
        const char *name = problems[p].hardware ? problems[p].hardware : "ascend310";
        bench_require(hardware_load(name, NULL, &other, &error), &error);
        for (int threads = 1; threads <= 2; threads++)
            measure(&other, p, threads);
        hardware_clear(&other);
    }
    measure_bounds(&hw);
    hardware_clear(&hw);
}
