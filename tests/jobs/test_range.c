/* Ranges of sizes against brute force: every size searched by itself, every tiling simulated there,
 * and the least number of parts by a table over all pairs of ends. */
#include "jobs/range/range.h"
#include "kernels/registry.h"
#include "search/search.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct asked {
    const char *op, *shape, *hw, *cores, *space;
    double regret;
    int64_t tilings;
};

struct made {
    struct job job;
    struct range_question question;
    struct range_answer answer;
};

static void begin_range(const struct asked *asked, int threads, struct made *made)
{
    struct error error;
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    job_init(&made->job);
    made->question = (struct range_question){
        .job = &made->job, .tilings = asked->tilings, .regret = asked->regret, .threads = threads};
    cr_assert_eq(shape_range_parse(asked->shape, &made->question.range, &error), STATUS_OK);
    const char *options[][2] = {{operator_find(asked->op) ? "op" : "kernel", asked->op},
                                {"hw", asked->hw},
                                {"shape", made->question.range.first},
                                {"cores", asked->cores},
                                {"space", asked->space}};
    if (strcmp(asked->op, "cubefx") == 0) {
        cr_assert_eq(job_set(&made->job, "order", "4", &error), STATUS_OK);
        cr_assert_eq(job_set(&made->job, "functions", "2", &error), STATUS_OK);
    }
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i][1])
            cr_assert_eq(job_set(&made->job, options[i][0], options[i][1], &error), STATUS_OK);
    cr_assert_eq(job_open(&made->job, NULL, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(range_check(&made->question, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(range_find(&made->question, &made->answer, &error), STATUS_OK, "%s", error.text);
}

static void end_range(struct made *made)
{
    range_clear(&made->answer);
    job_close(&made->job);
}

/* The problem of one size, opened by itself. */
static void open_size(const struct made *made, int64_t size, struct space *space)
{
    struct error error;
    struct problem problem = made->job.problem;
    problem.size[made->question.range.size] = size;
    cr_assert_eq(problem_settle(&problem, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(space_open(&problem, operator_space_find(problem.op, made->job.space.kind->name),
                            made->job.hw, made->job.cores, space, &error),
                 STATUS_OK, "%s", error.text);
}

static int64_t fastest_fs(const struct space *space)
{
    struct error error;
    struct search_result result;
    struct search_options options = {.threads = 2, .top = 1, .best_only = true};
    cr_assert_eq(search(space, &options, &result, &error), STATUS_OK, "%s", error.text);
    cr_assert(result.optimal);
    int64_t fs = result.best[0].timeline.end_fs;
    search_result_clear(&result);
    return fs;
}

/* NOT_LEGAL, or its time. */
static int64_t time_fs(const struct space *space, const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    struct tiling_simulator simulator;
    struct timeline timeline;
    struct error error;
    if (space->kind->violations(space, tiling, list))
        return NOT_LEGAL;
    cr_assert_eq(tiling_simulator_open(&simulator, &error), STATUS_OK);
    cr_assert_eq(tiling_simulator_run(&simulator, space, tiling, 0, &timeline, &error), STATUS_OK,
                 "%s", error.text);
    tiling_simulator_close(&simulator);
    return timeline.end_fs;
}

/* The part that a size is in; parts follow each other without a gap. */
static const struct range_part *part_of(const struct range_answer *answer, int64_t size, int *run)
{
    for (int p = 0; p < answer->part_count; p++) {
        const struct range_part *part = &answer->parts[p];
        cr_assert_eq(part->first, p ? answer->parts[p - 1].last + 1 : 0);
        for (*run = part->first; *run <= part->last; ++*run)
            if (answer->runs[*run].from <= size && size <= answer->runs[*run].to)
                return part;
    }
    cr_assert_fail("size %lld is in no part", (long long)size);
    return NULL;
}

/* Every size of the range, one after the other. */
static void expect_regret(const struct made *made, double most)
{
    const struct range_answer *answer = &made->answer;
    cr_assert_leq(answer->regret, most);
    for (int64_t size = made->question.range.from; size <= made->question.range.to; size++) {
        struct space space;
        int run;
        const struct range_part *part = part_of(answer, size, &run);
        const struct range_class *class = &answer->classes[answer->runs[run].class];
        open_size(made, size, &space);
        int64_t fastest = fastest_fs(&space);
        int64_t time = time_fs(&space, &answer->transfer.tiling[part->tiling]);
        cr_assert_neq(time, NOT_LEGAL, "at %lld", (long long)size);
        cr_assert_eq(time, range_time_fs(answer, part, run), "at %lld", (long long)size);
        cr_assert_leq((double)(time - fastest), answer->regret * (double)fastest * (1 + 1e-12),
                      "at %lld", (long long)size);
        cr_assert_leq(part->regret, answer->regret);
        cr_assert_leq(class->least_fs, fastest, "at %lld", (long long)size);
        cr_assert_geq(class->best_fs, fastest, "at %lld", (long long)size);
        space_close(&space);
    }
}

/* Regrets of all tilings that were looked at, by what is known, by tiling and run. */
static double *all_regrets(const struct range_answer *answer)
{
    double *regrets =
        calloc((size_t)(answer->transfer.tilings * answer->run_count), sizeof *regrets);
    for (int64_t t = 0; t < answer->transfer.tilings; t++)
        for (int run = 0; run < answer->run_count; run++) {
            const struct range_class *class = &answer->classes[answer->runs[run].class];
            int64_t fs = time_fs(&class->space, &answer->transfer.tiling[t]);
            double least = (double)class->best_fs;
            regrets[t * answer->run_count + run] =
                fs == NOT_LEGAL ? HUGE_VAL : ((double)fs - least) / least;
        }
    return regrets;
}

/* The least regret of so many parts, or fewer: for every end of the last part all its beginnings.
 */
static double least_regret(const struct range_answer *answer, const double *regrets, int parts)
{
    int runs = answer->run_count;
    double *before = malloc((size_t)(runs + 1) * sizeof *before);
    double *now = malloc((size_t)(runs + 1) * sizeof *now);
    for (int end = 0; end <= runs; end++)
        before[end] = end ? HUGE_VAL : 0;
    for (int p = 0; p < parts; p++) {
        memcpy(now, before, (size_t)(runs + 1) * sizeof *now);
        for (int end = 1; end <= runs; end++)
            for (int64_t t = 0; t < answer->transfer.tilings; t++) {
                double worst = 0;
                for (int first = end - 1; first >= 0; first--) {
                    worst = fmax(worst, regrets[t * runs + first]);
                    now[end] = fmin(now[end], fmax(before[first], worst));
                }
            }
        memcpy(before, now, (size_t)(runs + 1) * sizeof *now);
    }
    double least = before[runs];
    free(before);
    free(now);
    return least;
}

static void expect_fewest(const struct made *made, double most)
{
    const struct range_answer *answer = &made->answer;
    double *regrets = all_regrets(answer);
    cr_assert_leq(least_regret(answer, regrets, answer->part_count), most + 1e-12);
    if (answer->part_count > 1 && !made->question.tilings)
        cr_assert_gt(least_regret(answer, regrets, answer->part_count - 1), most - 1e-12);
    if (made->question.tilings)
        cr_assert_float_eq(least_regret(answer, regrets, (int)made->question.tilings), most, 2e-6);
    free(regrets);
}

static double worst_known(const struct range_answer *answer)
{
    double worst = 0;
    for (int p = 0; p < answer->part_count; p++)
        worst = fmax(worst, answer->parts[p].regret_known);
    return worst;
}

static const struct asked ranges[] = {
    {"matmul", "1..70x64x96", "ascend310", NULL, NULL, 0.05, 0},
    {"matmul", "48x1..60x80", "ascend310", NULL, NULL, 0.02, 0},
    {"matmul", "3..50x64x64", "ascend310", NULL, NULL, 0, 0},
    {"matmul", "17..64x64x32", "ascend910b1", "3", NULL, 0.10, 0},
    {"matmul", "20x32x1..40", "ascend910b1", "2", NULL, 0.05, 0},
    {"matmul", "20..60x32x64", "ascend910b1", "2", "tcube", 0.05, 0},
    {"cubefx", "200..700", "ascend310", NULL, NULL, 0.05, 0},
    {"add_relu", "1000..1060", "ascend310", NULL, NULL, 0.05, 0},
    {"batched_gemv", "2x1..40x64", "ascend310", NULL, NULL, 0.05, 0},
};
enum { RANGES = sizeof ranges / sizeof *ranges };

/* An operator may have been taken out. */
static bool is_there(const struct asked *asked)
{
    return strcmp(asked->op, "cubefx") != 0 || operator_find("cubefx");
}

Test(range, every_size_keeps_its_regret)
{
    for (int i = 0; i < RANGES; i++) {
        if (!is_there(&ranges[i]))
            continue;
        struct made made;
        begin_range(&ranges[i], 2, &made);
        cr_assert(!made.answer.cut_short);
        expect_regret(&made, ranges[i].regret);
        end_range(&made);
    }
}

Test(range, no_fewer_tilings_do)
{
    for (int i = 0; i < RANGES; i++) {
        if (!is_there(&ranges[i]))
            continue;
        struct made made;
        begin_range(&ranges[i], 2, &made);
        expect_fewest(&made, ranges[i].regret);
        end_range(&made);
    }
}

Test(range, so_many_tilings_have_the_least_regret)
{
    for (int tilings = 1; tilings <= 4; tilings++) {
        struct asked asked = {.op = "matmul",
                              .shape = "1..100x32x64",
                              .hw = "ascend910b1",
                              .cores = "4",
                              .tilings = tilings};
        struct made made;
        begin_range(&asked, 2, &made);
        cr_assert_leq(made.answer.part_count, tilings);
        expect_regret(&made, made.answer.regret);
        expect_fewest(&made, worst_known(&made.answer));
        end_range(&made);
    }
}

Test(range, threads_change_nothing)
{
    for (int i = 0; i < RANGES; i++) {
        if (!is_there(&ranges[i]))
            continue;
        struct made one, three;
        begin_range(&ranges[i], 1, &one);
        begin_range(&ranges[i], 3, &three);
        const struct range_answer *a = &one.answer, *b = &three.answer;
        cr_assert_eq(a->part_count, b->part_count);
        cr_assert_eq(a->transfer.tilings, b->transfer.tilings);
        cr_assert_eq(a->bounded, b->bounded);
        cr_assert_eq(a->simulated, b->simulated);
        for (int p = 0; p < a->part_count; p++) {
            cr_assert_eq(a->parts[p].last, b->parts[p].last);
            cr_assert_eq(a->parts[p].tiling, b->parts[p].tiling);
            cr_assert_eq(a->parts[p].regret, b->parts[p].regret);
        }
        end_range(&one);
        end_range(&three);
    }
}

/* Told to stop at once it has nothing, and does not say that nothing is legal. */
Test(range, cut_short)
{
    static const volatile sig_atomic_t told = 1;
    struct made made;
    struct error error;
    begin_range(&ranges[3], 2, &made);
    struct range_question question = made.question;
    struct range_answer answer;
    question.stop = &told;
    cr_assert_eq(range_find(&question, &answer, &error), STATUS_OK, "%s", error.text);
    cr_assert(answer.cut_short);
    cr_assert_eq(answer.part_count, 0);
    range_clear(&answer);
    end_range(&made);
}
