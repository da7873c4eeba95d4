/* Programs of MatMul's text take the time of those that are written by hand. */
#include "costmodel/simulate.h"
#include "hardware/load.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_thesis.h"
#include "tests/support/kernel_case.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct times {
    int equal, faster, slower;
    double most, least; /* text's time by hand's */
};

static int64_t time_of(struct simulator *simulator, const struct program *program)
{
    struct timeline timeline;
    struct error error;
    cr_assert_eq(
        simulate(simulator, program, &(struct simulate_options){.cores = 1}, &timeline, &error),
        STATUS_OK, "%s", error.text);
    return timeline.end_fs;
}

/* One tiling on one core. */
static void compare(struct simulator *simulator, struct kernel_case *c, const struct space *space,
                    const struct tiling *tiling, struct times *times)
{
    struct error error;
    struct program by_hand = {.hw = c->hw};
    if (!kernel_case_make(c)) {
        cr_expect(false, "%s", kernel_case_text(c));
        return;
    }
    cr_assert_eq(space->kind->generate(space, tiling, 0, &by_hand, &error), STATUS_OK, "%s",
                 error.text);
    int64_t text = time_of(simulator, &c->program), hand = time_of(simulator, &by_hand);
    double ratio = (double)text / (double)hand;
    times->equal += text == hand;
    times->faster += text < hand;
    times->slower += text > hand;
    times->most = ratio > times->most ? ratio : times->most;
    times->least = ratio < times->least ? ratio : times->least;
    if (text > hand && getenv("KERNEL_WHY"))
        cr_log_warn("%.4f %s\n", ratio, kernel_case_text(c));
    program_clear(&by_hand);
}

Test(kernel_thesis, programs_take_the_time_of_those_by_hand)
{
    struct hardware hw;
    struct simulator *simulator = simulator_new();
    struct times times = {.most = 0, .least = 10};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus2);
    machine_load_named(&hw, "ascend310", "");
    struct kernel_case *c = kernel_case_open(&hw, SOURCE_DIR "/kernels/library/matmul.kernel");
    for (int n = 0; n < 2000; n++) {
        struct problem problem = {.op = &matmul_operator, .type = DTYPE_F16};
        struct error error;
        struct space space;
        struct tiling tiling;
        for (int s = 0; s < 3; s++)
            problem.size[s] = 1 + (int64_t)gsl_rng_uniform_int(rng, n % 2 ? 1000 : 300);
        problem.size[MATMUL_BATCH] = 1 + (int64_t)gsl_rng_uniform_int(rng, 3);
        cr_assert_eq(space_open(&problem, &matmul_thesis, &hw, 1, &space, &error), STATUS_OK, "%s",
                     error.text);
        for (int tries = 0; tries < 1000; tries++) {
            space_tiling(&space, (int64_t)gsl_rng_uniform_int(rng, (unsigned long)space.candidates),
                         &tiling);
            if (space.kind->legal(&space, &tiling))
                break;
        }
        if (space.kind->legal(&space, &tiling)) {
            cr_assert(kernel_case_set(c, problem.size, NULL, rng));
            for (int a = 0; a < c->kernel.axis_count; a++)
                c->values.axes[a] = tiling.value[a];
            compare(simulator, c, &space, &tiling, &times);
        }
        space_close(&space);
    }
    cr_log_warn("%d equal, %d faster, %d slower; %.4f to %.4f\n", times.equal, times.faster,
                times.slower, times.least, times.most);
    kernel_case_close(c);
    gsl_rng_free(rng);
    simulator_free(simulator);
    hardware_clear(&hw);
}
