/* What is tried first (search/seeds.h): tilings of a grid of few values, good ones. */
#include "kernels/matmul/matmul_cann.h"
#include "search/search.h"
#include "search/thin.h"
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

/* The best of the grid after a short search, as a multiple of the optimum. */
static double seeds_over_optimum(const struct space *space)
{
    struct grid grid;
    struct search_options whole = {.threads = 2, .top = 1, .best_only = true}, hasty = whole;
    struct search_result best, seeds;
    struct error error;
    hasty.hasty = 48;
    cr_assert_eq(grid_make(space, &grid, &error), STATUS_OK);
    cr_assert_eq(search(&grid.space, &hasty, &seeds, &error), STATUS_OK);
    cr_assert_eq(search(space, &whole, &best, &error), STATUS_OK);
    cr_assert(best.optimal);
    cr_assert_gt(seeds.count, 0);
    cr_assert_geq(space_index(space, &seeds.best[0].tiling), 0);
    double ratio = found_ns(&seeds.best[0]) / found_ns(&best.best[0]);
    cr_assert_geq(ratio, 1);
    search_result_clear(&best);
    search_result_clear(&seeds);
    grid_clear(&grid);
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
        cr_assert_leq(ratio, 1.05, "%lldx%lldx%lld on %s: %.3f", (long long)problems[i].m,
                      (long long)problems[i].k, (long long)problems[i].n, problems[i].chip, ratio);
        space_close(&space);
        hardware_clear(&hw);
    }
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
    cr_assert(grid.is_thin);
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
    space_close(&space);
    hardware_clear(&hw);
}
