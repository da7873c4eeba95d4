/* Numbers in cycles: they follow the clock, are the same as in ns at it, and each key works in
 * either spelling. */
#include "hardware/description.h"
#include "hardware/schema.h"
#include "tests/hardware_files.h"

#include <math.h>

TestSuite(twins, .init = enter, .fini = leave);

/* A chip whose clock is 500 MHz: a cycle is 2 ns. */
#define TINY SOURCE_DIR "/docs/examples/tiny-chip.cfg"

/* The example with the first `from` of its text made `to`, as a file of the scratch folder. */
static const char *changed(const char *from, const char *to)
{
    char *text = read_file(TINY), *with = replaced(text, from, to);
    write_file("changed.cfg", with);
    free(text);
    free(with);
    return in_folder("changed.cfg");
}

static enum status load_with(const char *name, const char *const texts[2], struct hardware *hw,
                             struct error *error)
{
    struct hardware_overrides overrides = {texts, (size_t)((texts[0] != 0) + (texts[1] != 0))};
    return hardware_load(name, &overrides, hw, error);
}

static double value_of(const struct hardware *hw, const char *key)
{
    for (size_t i = 0; i < hw->fact_count; i++)
        if (strcmp(hw->facts[i].key, key) == 0)
            return strtod(hw->facts[i].value, NULL);
    return NAN;
}

/* What a change of one number, and then of the clock, leaves it at, in either order. */
Test(twins, the_clock_moves_what_stands_in_cycles)
{
    static const struct {
        const char *from, *to, *key;
        double before, after; /* at 500 MHz, and at 1000 */
    } numbers[] = {
        {"issue_ns ", "issue_cycles ", "issue_ns", 20, 10},
        {"dispatch_ns         = { value = 0.0", "dispatch_cycles = { value = 3", "dispatch_ns", 6,
         3},
        {"bandwidth_gbps = 64.0", "bytes_per_cycle = 128", "paths.l1->l0a.bandwidth_gbps", 64, 128},
        {"bandwidth_gbps = 64.0;", "bytes_per_cycle = 128; latency_cycles = 7;",
         "paths.l1->l0a.latency_ns", 14, 7},
        {"bandwidth_gbps = 64.0;", "bandwidth_gbps = 64.0; transposed_bytes_per_cycle = 96;",
         "paths.l1->l0a.transposed_gbps", 48, 96},
        {"gflops = 1024.0", "block_cycles = 4", "matrix.f16.gflops", 1024, 2048},
        {"gflops = 1024.0", "gflops = 1024.0; issue_cycles = 2.5", "matrix.f16.issue_ns", 5, 2.5},
        {"first_ns = 12.0", "first_cycles = 6.5", "operations.relu.first_ns", 13, 6.5},
        {"each_ns = 16.0", "each_cycles = 5.5", "operations.branch.each_ns", 11, 5.5},
        {"issue_ns ", "issue_ns ", "issue_ns", 10, 10},
        {"gflops = 1024.0", "gflops = 1024.0", "matrix.f16.gflops", 1024, 1024},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        static const char *const clocks[] = {NULL, "clock_mhz=1000"};
        const double expected[] = {numbers[i].before, numbers[i].after};
        const char *file = changed(numbers[i].from, numbers[i].to);
        for (int c = 0; c < 2; c++) {
            static struct hardware hw;
            struct error error = {0};
            const char *const texts[] = {clocks[c], NULL};
            cr_assert_eq(load_with(file, texts, &hw, &error), STATUS_OK, "%s", error.text);
            cr_expect_eq(value_of(&hw, numbers[i].key), expected[c], "%s: %g, expected %g",
                         numbers[i].to, value_of(&hw, numbers[i].key), expected[c]);
            hardware_clear(&hw);
        }
    }
}

/* A block of one cycle is one cycle exactly, whatever the clock and the size of a block. */
Test(twins, a_block_is_whole_cycles)
{
    static struct hardware hw;
    struct error error = {0};
    static const char *const clocks[] = {"clock_mhz=1537.345671", "clock_mhz=1.000003"};
    const char *file = changed("gflops = 1024.0", "block_cycles = 1");
    for (int c = 0; c < 2; c++) {
        const char *const texts[] = {clocks[c], NULL};
        cr_assert_eq(load_with(file, texts, &hw, &error), STATUS_OK, "%s", error.text);
        struct rate rate = hw.prices[hw.matrix_types[0].price].rate;
        cr_expect_eq((__int128)rate.fs * hw.clock_hz, (__int128)rate.units * FS_PER_S, "%s",
                     clocks[c]);
        hardware_clear(&hw);
    }
}

Test(twins, changes_in_either_spelling)
{
    static const struct {
        const char *texts[2], *key;
        double value;
    } changes[] = {
        {{"issue_cycles=4", NULL}, "issue_ns", 8},
        {{"Issue_Cycles=4", "clock_mhz=1000"}, "issue_ns", 4},
        {{"clock_mhz=1000", "issue_cycles=4"}, "issue_ns", 4},
        {{"issue_ns=4", "clock_mhz=1000"}, "issue_ns", 4},
        {{"issue_ns=4", "issue_cycles=4"}, "issue_ns", 8},
        {{"issue_cycles=4", "issue_ns=4"}, "issue_ns", 4},
        {{"paths.l1->l0a.bytes_per_cycle=100", "clock_mhz=750"},
         "paths.l1->l0a.bandwidth_gbps",
         75},
        {{"matrix.f16.block_cycles=2", "clock_mhz=250"}, "matrix.f16.gflops", 1024},
        {{"operations.relu.first_cycles=1", NULL}, "operations.relu.first_ns", 2},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        static struct hardware hw;
        struct error error = {0};
        cr_assert_eq(load_with(TINY, changes[i].texts, &hw, &error), STATUS_OK, "%s", error.text);
        cr_expect_eq(value_of(&hw, changes[i].key), changes[i].value, "%s: %g, expected %g",
                     changes[i].texts[0], value_of(&hw, changes[i].key), changes[i].value);
        for (size_t f = 0; f < hw.fact_count; f++)
            cr_expect(strcmp(hw.facts[f].key, changes[i].key) != 0 ||
                      fact_is_override(&hw.facts[f]));
        hardware_clear(&hw);
    }
}

Test(twins, what_is_refused)
{
    static const struct {
        const char *from, *to, *set, *message;
    } broken[] = {
        {"issue_ns            = {",
         "issue_cycles = { value = 5; source = \"assumed\"; };\nissue_ns = {", NULL,
         "changed.cfg:12: issue_cycles: a group, expected either issue_ns or issue_cycles, "
         "not both"},
        {"gflops = 1024.0", "gflops = 1024.0; block_cycles = 4", NULL,
         "matrix.f16.block_cycles: 4, expected either gflops or block_cycles, not both"},
        {"bandwidth_gbps = 64.0", "bytes_per_cycle = \"wide\"", NULL,
         "paths.l1->l0a.bytes_per_cycle: \"wide\", expected a number from 0.002 to 2000000 bytes a "
         "cycle"},
        {"bandwidth_gbps = 64.0", "bytes_per_cycles = 128", NULL, "did you mean bytes_per_cycle"},
        {"each_ns = 16.0", "first_cycles = 5", NULL,
         "operations.branch.first_cycles: 5, expected no such key for this class"},
        {"gflops = 1024.0", "block_cycles = 0", NULL, "matrix.f16.block_cycles: 0, expected"},
        {"", "", "issue_cycles=-1",
         "--set-hw issue_cycles=-1: issue_cycles: -1, expected a number "
         "from 0 to 500000 cycles"},
        {"", "", "paths.l1->l0a.bytes_per_cycl=1", "unknown key, expected a number"},
        {"", "", "cores.issue_cycles=1", "cores.issue_cycles: unknown key"},
        /* within the range of ns at the file's clock, but not at the slower one */
        {"issue_ns            = { value = 10.0", "issue_cycles = { value = 400000", "clock_mhz=100",
         "issue_cycles: 400000, expected a number from 0 to 100000 cycles"},
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        static struct hardware hw;
        struct error error = {0};
        const char *const texts[] = {broken[i].set, NULL};
        const char *file = *broken[i].from ? changed(broken[i].from, broken[i].to) : TINY;
        cr_expect_eq(load_with(file, texts, &hw, &error), STATUS_INVALID, "%s", broken[i].to);
        cr_expect(strstr(error.text, broken[i].message), "%s\ngives    %s\nexpected %s",
                  broken[i].to, error.text, broken[i].message);
    }
}

/* Written as it was given: the file follows the clock as the description did, and the variant. */
Test(twins, what_is_written_follows_the_clock)
{
    static const char *const set[] = {"clock_mhz=1800", NULL};
    static const char *const back[] = {"clock_mhz=1500", NULL};
    static struct hardware left, right;
    struct hardware_overrides overrides = {set, 1};
    struct description description;
    struct error error = {0};
    char *text;
    cr_assert_eq(description_read(NULL, "ascend910b2", &overrides, &description, &error),
                 STATUS_OK);
    cr_assert_eq(description_write(&description, "", &text, &error), STATUS_OK);
    description_clear(&description);
    write_file("written.cfg", text);
    cr_expect(strstr(text, "block_cycles = 1") && !strstr(text, "gflops ="));
    free(text);
    const char *const none[] = {NULL, NULL};
    cr_assert_eq(load_with("ascend910b2", none, &left, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(load_with(in_folder("written.cfg"), back, &right, &error), STATUS_OK, "%s",
                 error.text);
    cr_expect_eq(memcmp(left.prices, right.prices, sizeof left.prices), 0);
    hardware_clear(&left);
    hardware_clear(&right);
    write_file("variant.cfg", "name = \"v\"; base = \"ascend910b2\"; source = \"assumed\";\n"
                              "set = [\"clock_mhz=1800\"];\n");
    cr_assert_eq(load_with("ascend910b2", set, &left, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(load_with(in_folder("variant.cfg"), none, &right, &error), STATUS_OK, "%s",
                 error.text);
    cr_expect_eq(memcmp(left.prices, right.prices, sizeof left.prices), 0);
    hardware_clear(&left);
    hardware_clear(&right);
}

/* Both ends of a description's numbers in ns: read as that, and written in cycles. */
Test(twins, a_fit_speaks_of_ns_and_writes_cycles)
{
    struct description description;
    struct error error = {0};
    double value;
    char *text;
    const char *file = changed("bandwidth_gbps = 64.0", "bytes_per_cycle = 128");
    cr_assert_eq(description_read(NULL, file, NULL, &description, &error), STATUS_OK);
    cr_expect(description_get(&description, "paths.l1->l0a.bandwidth_gbps", &value) && value == 64);
    cr_assert_eq(description_set(&description, "clock_mhz", 1000, "measured", &error), STATUS_OK);
    cr_expect(description_get(&description, "paths.l1->l0a.bandwidth_gbps", &value) &&
              value == 128);
    cr_assert_eq(
        description_set(&description, "paths.l1->l0a.bandwidth_gbps", 100.25, "measured", &error),
        STATUS_OK);
    cr_expect(description_get(&description, "paths.l1->l0a.bandwidth_gbps", &value) &&
              value == 100.25);
    cr_assert_eq(description_write(&description, "", &text, &error), STATUS_OK);
    cr_expect(strstr(text, "bytes_per_cycle = { value = 100.25;"), "%s", text);
    free(text);
    description_clear(&description);
}

Test(twins, other_keys)
{
    char other[TREE_KEY_SIZE];
    cr_expect(twin_other_key("paths.l0c->ub.casts.f32:f16.bandwidth_gbps", other));
    cr_expect_str_eq(other, "paths.l0c->ub.casts.f32:f16.bytes_per_cycle");
    cr_expect(twin_other_key("issue_cycles", other));
    cr_expect_str_eq(other, "issue_ns");
    cr_expect_not(twin_other_key("cores", other));
    cr_expect_not(twin_other_key("issue_ns.value", other));
    cr_expect_null(twin_of(NULL));
}
