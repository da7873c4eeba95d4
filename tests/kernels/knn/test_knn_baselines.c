/* The selections that k-NN is compared with are clean programs on every shipped chip. */
#include "kernels/knn/knn.h"
#include "tests/support/cases.h"
#include "tests/support/expect_clean.h"

#include <criterion/criterion.h>

enum { TRIES = 100 };

static int programs;

static void try_selections(gsl_rng *rng, const struct hardware *hw)
{
    struct knn_machine machine;
    struct program program = {0};
    struct error error;
    if (knn_machine_find(hw, DTYPE_F16, &machine, &error) != STATUS_OK)
        return;
    int ub = hardware_buffer(hw, "ub", 2);
    for (int t = 0; t < test_cases(TRIES); t++) {
        struct knn_tile tile = {.rows = log_uniform(rng, 100),
                                .columns = log_uniform(rng, 1000),
                                .k = log_uniform(rng, 40),
                                .type = DTYPE_F16};
        if (knn_bitonic_ub_bytes(&machine, &tile) <= hw->buffers[ub].capacity_bytes) {
            program_reset(&program, hw);
            programs++;
            expect_clean_baseline(&program, knn_bitonic_program(&machine, &tile, &program, &error),
                                  &error, "bitonic");
        }
        if (knn_heap_ub_bytes(&machine, &tile) <= hw->buffers[ub].capacity_bytes) {
            int64_t rebuilds = (int64_t)gsl_rng_uniform_int(rng, (unsigned long)tile.columns + 1);
            program_reset(&program, hw);
            programs++;
            expect_clean_baseline(&program,
                                  knn_heap_program(&machine, &tile, rebuilds, &program, &error),
                                  &error, "heap");
        }
    }
    program_clear(&program);
}

Test(knn_baselines, are_clean)
{
    each_chip(try_selections);
    cr_expect_gt(programs, test_cases(50), "%d", programs);
}
