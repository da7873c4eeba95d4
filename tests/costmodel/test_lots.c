/* What is done in whole lots: moves of paths with lot_bytes, and blocks of a single row, several at
 * once. All times by hand, on an Ascend 910 at 1000 MHz without issue and launch, where the paths
 * move 256 (l0c->ub) and 512 (ub->ub) bytes a cycle of 1 ns. */
#include "analysis/roofline.h"
#include "core/program_text.h"
#include "costmodel/bound.h"
#include "costmodel/simulate.h"
#include "hardware/fingerprint.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char quick[] = "clock_mhz=1000 launch_ns=0 issue_cycles=0";

static int64_t time_of(const struct hardware *hw, const char *text)
{
    struct error error;
    struct program program = {0};
    struct timeline timeline;
    struct simulator *simulator = simulator_new();
    const struct simulate_options options = {.cores = 1};
    struct work work;
    struct work_layout layout;
    cr_assert_eq(program_parse(hw, "test", text, strlen(text), &program, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(simulate(simulator, &program, &options, &timeline, &error), STATUS_OK);
    cr_assert_eq(work_of_program(&program, 1, &work, &layout, &error), STATUS_OK);
    struct bound_plan plan;
    bound_plan_make(&plan, hw, 1, &layout);
    cr_expect_leq(bound_fs(&plan, &work), timeline.end_fs, "%s", text);
    program_clear(&program);
    simulator_free(simulator);
    return timeline.end_fs;
}

static const struct {
    const char *text;
    int64_t ns;
} cases[] = {
    {"V l0c->ub bytes=0", 0},
    {"V l0c->ub bytes=1", 4},
    {"V l0c->ub bytes=1024", 4},
    {"V l0c->ub bytes=1025", 8},
    {"V l0c->ub bytes=1028 cast=f32:f16", 8},
    {"V ub->ub bytes=512", 1},
    {"V ub->ub bytes=513", 2},
    {"M mmad m=16 k=16 n=16 type=f16", 2},
    {"M mmad m=16 k=16 n=32 type=f16", 2},
    {"M mmad m=1 k=32 n=33 type=f16", 8},
    {"M mmad m=17 k=16 n=16 type=f16", 2},
    {"M mmad m=48 k=16 n=16 type=f16", 3},
};

Test(lots, moves_and_rows_of_blocks)
{
    struct hardware hw;
    machine_load_named(&hw, "ascend910", quick);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(time_of(&hw, cases[i].text), cases[i].ns * FS_PER_NS, "%s: %lld fs",
                     cases[i].text, (long long)time_of(&hw, cases[i].text));
    hardware_clear(&hw);
}

/* A lot of 1 is none; bytes are counted as they are. */
Test(lots, of_one)
{
    struct hardware hw, one;
    char whole[FINGERPRINT_SIZE], single[FINGERPRINT_SIZE];
    machine_load_named(&hw, "ascend910", quick);
    machine_load_named(&one, "ascend910",
                       "clock_mhz=1000 launch_ns=0 issue_cycles=0 paths.l0c->ub.lot_bytes=1 "
                       "matrix.f16.row_blocks_at_once=1");
    cr_expect_eq(time_of(&one, "V l0c->ub bytes=128"), FS_PER_NS / 2);
    cr_expect_eq(time_of(&one, "M mmad m=16 k=16 n=16 type=f16"), FS_PER_NS);
    hardware_fingerprint(&hw, whole);
    hardware_fingerprint(&one, single);
    cr_expect_str_neq(whole, single);
    hardware_clear(&hw);
    hardware_clear(&one);
}
