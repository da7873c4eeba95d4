/* What a learned correction knows of a kernel (costmodel/features.h), by hand: bytes and pieces of
 * paths, and what misses the cache, of a program with a loop. */
#include "core/program_text.h"
#include "costmodel/features.h"
#include "costmodel/simulate.h"
#include "kernels/registry.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

static const char text[] = "MTE2 gm->l1 bytes=12288 bursts=96 dst=l1:0\n"
                           "loop i 4\n"
                           "  MTE2 hbm->l1 bytes=4096 dst=l1:16384\n"
                           "end\n";

static double time_ns(const struct hardware *hw, const char *source, struct program *program,
                      struct timeline *timeline)
{
    struct error error;
    struct simulator *simulator = simulator_new();
    const struct simulate_options options = {.cores = 1};
    cr_assert_eq(program_parse(hw, "test", source, strlen(source), program, &error), STATUS_OK,
                 "%s", error.text);
    cr_assert_eq(simulate(simulator, program, &options, timeline, &error), STATUS_OK);
    simulator_free(simulator);
    return (double)timeline->end_fs / FS_PER_NS;
}

/* How much longer a move in 96 pieces takes than one in a piece. */
static double pieces_ns(const struct hardware *hw)
{
    const char *const sources[] = {"MTE2 gm->l1 bytes=12288 bursts=96 dst=l1:0\n",
                                   "MTE2 gm->l1 bytes=12288 dst=l1:0\n"};
    double ns[2];
    for (int i = 0; i < 2; i++) {
        struct program program = {0};
        struct timeline timeline;
        ns[i] = time_ns(hw, sources[i], &program, &timeline);
        program_clear(&program);
    }
    return ns[0] - ns[1];
}

static double feature(const struct features *features, const char *name)
{
    for (int i = 0; i < features->count; i++)
        if (strcmp(features->name[i], name) == 0)
            return features->value[i];
    cr_assert_fail("no feature '%s'", name);
    return NAN;
}

#define expect(name, value)                                                                        \
    cr_expect_float_eq(feature(&features, name), value, 1e-9, name ": %.12g instead of %.12g",     \
                       feature(&features, name), value)

Test(features, of_a_program_by_hand)
{
    struct hardware hw;
    struct problem problem;
    struct space space;
    struct tiling tiling;
    struct program program = {0};
    struct timeline timeline;
    struct features features;
    struct error error;
    machine_load_named(&hw, "ascend910b2", "");
    const struct operator* op = operator_find("matmul");
    cr_assert_eq(problem_parse(op, "256x256x256", &problem, &error), STATUS_OK);
    cr_assert_eq(space_open(&problem, operator_space_find(op, "cann"), &hw, 1, &space, &error),
                 STATUS_OK);
    space_tiling(&space, 0, &tiling);
    double ns = time_ns(&hw, text, &program, &timeline), busy_ns[HARDWARE_MAX_PIPES] = {0};
    features_of(&(struct simulated_kernel){&problem, &space, &tiling, &program, 1, ns, busy_ns},
                &features);
    expect("time", log(ns));
    expect("bytes gm->l1", log(12288));
    expect("bytes hbm->l1", log(16384));
    expect("moves hbm->l1", log(4));
    expect("bytes a move hbm->l1", log(4096));
    expect("bytes a piece gm->l1", log(128));
    expect("pieces' share gm->l1", pieces_ns(&hw) / ns);
    expect("pieces' share hbm->l1", 0.0);
    expect("missed share", 16384.0 / (12288 + 16384));
    cr_expect(pieces_ns(&hw) > 0, "pieces cost something there");
    program_clear(&program);
    space_close(&space);
    hardware_clear(&hw);
}
