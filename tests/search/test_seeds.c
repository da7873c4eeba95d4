/* What is tried first (search/seeds.h): tilings of a grid of few values, good ones. */
#include "kernels/matmul/matmul_cann.h"
#include "search/nested.h"
#include "search/seeds.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>

static const struct {
    const char *chip;
    int64_t m, k, n;
} problems[] = {
    {"ascend910b1", 1, 4096, 4096},    {"ascend910b2", 1, 4096, 4096},
    {"ascend910b1", 32, 4096, 11008},  {"ascend910b2", 32, 4096, 11008},
    {"ascend910b1", 512, 1536, 24576}, {"ascend910b2", 512, 1536, 24576},
    {"ascend910b1", 4096, 4096, 4096}, {"ascend910b2", 1024, 4096, 4096},
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* Their times, ascending, and their indices: what is known before anything is opened. */
static void find_seeds(const struct space *space, int threads, struct search_run *run)
{
    static const struct search_options options = {.threads = 1, .top = 1, .best_only = true};
    struct error error;
    *run = (struct search_run){.space = space,
                               .options = &options,
                               .strategy = search_strategy_find(NULL),
                               .source = &nested_source,
                               .threads = threads};
    cr_assert_eq(search_run_open(run, &error), STATUS_OK);
    cr_assert_eq(seeds_find(run, &error), STATUS_OK, "%s", error.text);
    cr_assert_gt(run->simulated, 0);
}

/* The best of them as a multiple of the optimum. */
static double seeds_over_optimum(const struct space *space)
{
    struct search_options whole = {.threads = 2, .top = 1, .best_only = true};
    struct search_result best;
    struct search_run run;
    struct error error;
    find_seeds(space, 2, &run);
    cr_assert_eq(search(space, &whole, &best, &error), STATUS_OK);
    cr_assert(best.optimal);
    double ratio = (double)run.incumbents.time_fs[0] / (found_ns(&best.best[0]) * FS_PER_NS);
    cr_assert_geq(ratio, 1 - 1e-12);
    search_result_clear(&best);
    search_run_close(&run);
    return ratio;
}

Test(seeds, are_near_the_optimum)
{
    for (int i = 0; i < PROBLEMS; i++) {
        struct hardware hw;
        struct space space;
        struct error error;
        struct problem problem = {.op = &matmul_operator,
                                  .type = DTYPE_F16,
                                  .size = {problems[i].m, problems[i].k, problems[i].n, 1}};
        machine_load_named(&hw, problems[i].chip, "");
        cr_assert_eq(space_open(&problem, &matmul_cann, &hw, hw.cores, &space, &error), STATUS_OK);
        double ratio = seeds_over_optimum(&space);
        cr_assert_leq(ratio, 1.1, "%lldx%lldx%lld on %s: %.3f", (long long)problems[i].m,
                      (long long)problems[i].k, (long long)problems[i].n, problems[i].chip, ratio);
        space_close(&space);
        hardware_clear(&hw);
    }
}

/* Reports of progress, one a batch, and how many there had been when each time was found. */
struct course {
    int reports, count, found[64];
    int64_t time_fs[64];
};

static void follow(void *context, const struct search_progress *progress)
{
    struct course *course = context;
    int last = course->count - 1;
    if (progress->best_fs > 0 && (last < 0 || progress->best_fs < course->time_fs[last])) {
        cr_assert_lt(course->count, 64);
        course->found[course->count] = course->reports;
        course->time_fs[course->count++] = progress->best_fs;
    }
    course->reports++;
}

/* Where seeds are far from the optimum, a search is near it long before all is proven. */
Test(seeds, dives_find_what_is_good_long_before_the_proof)
{
    static const struct {
        const char *chip;
        int64_t m, k, n;
    } far[] = {{"ascend910b3", 1120, 16, 1467},
               {"ascend910b1", 768, 97, 1517},
               {"ascend910b1", 496, 4436, 452}};
    for (int i = 0; i < 3; i++) {
        struct hardware hw;
        struct space space;
        struct error error;
        struct search_result result;
        struct course course = {.count = 0};
        struct search_options options = {.threads = 2,
                                         .top = 1,
                                         .best_only = true,
                                         .uncounted = true,
                                         .progress = follow,
                                         .context = &course};
        struct problem problem = {
            .op = &matmul_operator, .type = DTYPE_F16, .size = {far[i].m, far[i].k, far[i].n, 1}};
        cr_assert_eq(problem_set(&problem, "transpose", "both", &error), STATUS_OK);
        machine_load_named(&hw, far[i].chip, "");
        cr_assert_eq(space_open(&problem, &matmul_cann, &hw, hw.cores, &space, &error), STATUS_OK);
        cr_assert_eq(search(&space, &options, &result, &error), STATUS_OK);
        int near = 0;
        while (course.time_fs[near] > course.time_fs[course.count - 1] * 21 / 20)
            near++;
        cr_expect_gt(near, 0);
        cr_expect_lt(course.found[near], course.reports / 3, "%lldx%lldx%lld: %d of %d",
                     (long long)far[i].m, (long long)far[i].k, (long long)far[i].n,
                     course.found[near], course.reports);
        search_result_clear(&result);
        space_close(&space);
        hardware_clear(&hw);
    }
}

/* Indices ascend, none twice; bounds hold; and threads change nothing. */
Test(seeds, are_the_same_for_any_threads)
{
    struct hardware hw;
    struct space space;
    struct error error;
    struct search_run one, three;
    struct problem problem = {
        .op = &matmul_operator, .type = DTYPE_F16, .size = {301, 501, 304, 1}};
    machine_load_named(&hw, "ascend910b1", "");
    cr_assert_eq(space_open(&problem, &matmul_cann, &hw, hw.cores, &space, &error), STATUS_OK);
    find_seeds(&space, 1, &one);
    find_seeds(&space, 3, &three);
    cr_assert_eq(one.simulated, three.simulated);
    for (int64_t i = 0; i < one.simulated; i++) {
        const struct candidate *a = &one.candidates.items[i], *b = &three.candidates.items[i];
        cr_assert(a->index == b->index && a->time_fs == b->time_fs && a->bound_fs == b->bound_fs);
        cr_assert_leq(a->bound_fs, a->time_fs);
        cr_assert(i == 0 || a[-1].index < a->index);
    }
    search_run_close(&one);
    search_run_close(&three);
    space_close(&space);
    hardware_clear(&hw);
}

Test(seeds, grids_are_parts_of_the_space)
{
    struct hardware hw;
    struct space space;
    struct grid grid;
    struct error error;
    struct problem problem = {
        .op = &matmul_operator, .type = DTYPE_F16, .size = {4096, 4096, 4096, 1}};
    machine_load_named(&hw, "ascend910b1", "");
    cr_assert_eq(space_open(&problem, &matmul_cann, &hw, hw.cores, &space, &error), STATUS_OK);
    cr_assert_eq(grid_make(&space, &grid, &error), STATUS_OK);
    cr_assert_lt(grid.space.candidates, space.candidates);
    const struct space_block *all = space.blocks, *few = grid.space.blocks;
    for (int a = 0; a < space.axis_count; a++) {
        cr_assert_gt(few->count[a], 0);
        cr_assert_eq(few->values[a][0], all->values[a][0]);
        cr_assert_eq(few->values[a][few->count[a] - 1], all->values[a][all->count[a] - 1]);
        for (int i = 0; i < few->count[a]; i++) {
            cr_assert(block_has(all, a, few->values[a][i]));
            cr_assert(i == 0 || few->values[a][i - 1] < few->values[a][i]);
        }
    }
    grid_clear(&grid);
    cr_assert_eq(grid_around(&space, space.candidates / 3, &grid, &error), STATUS_OK);
    const struct space_block *near = grid.space.blocks;
    struct tiling tiling;
    space_tiling(&space, space.candidates / 3, &tiling);
    cr_assert_eq(grid.space.block_count, 1);
    cr_assert_geq(space_index(&grid.space, &tiling), 0);
    for (int a = 0; a < space.axis_count; a++) {
        cr_assert(near->count[a] <= 7 || near->count[a] == all->count[a]);
        for (int i = 0; i < near->count[a]; i++)
            cr_assert(block_has(all, a, near->values[a][i]));
    }
    grid_clear(&grid);
    space_close(&space);
    hardware_clear(&hw);
}
