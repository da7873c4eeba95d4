/* Descriptions written back: what is written loads as the same chip, changed numbers carry their
 * own sources, and the fit is kept. */
#include "hardware/description.h"
#include "tests/hardware_files.h"

TestSuite(hardware_write, .init = enter, .fini = leave);

static void read_ok(const char *name, const char *set, struct description *description)
{
    struct error error = {0};
    const char *const texts[] = {set};
    struct hardware_overrides overrides = {texts, set ? 1 : 0};
    cr_assert_eq(description_read(NULL, name, &overrides, description, &error), STATUS_OK, "%s",
                 error.text);
}

static void set_ok(struct description *description, const char *key, double value,
                   const char *source)
{
    struct error error = {0};
    cr_assert_eq(description_set(description, key, value, source, &error), STATUS_OK, "%s",
                 error.text);
}

/* The text of the description, also left in the scratch folder as NAME; the caller frees it. */
static char *written(const struct description *description, const char *name)
{
    struct error error = {0};
    char *text;
    cr_assert_eq(description_write(description, "# a test\n", &text, &error), STATUS_OK, "%s",
                 error.text);
    write_file(name, text);
    return text;
}

/* The same in everything but the file. */
static void expect_same(struct hardware *left, struct hardware *right)
{
    cr_assert_eq(left->fact_count, right->fact_count);
    for (size_t i = 0; i < left->fact_count; i++) {
        const struct fact *a = &left->facts[i], *b = &right->facts[i];
        cr_expect_str_eq(a->key, b->key);
        cr_expect_str_eq(a->value, b->value, "%s: %s %s", a->key, a->value, b->value);
        cr_expect_str_eq(a->source, b->source, "%s: %s %s", a->key, a->source, b->source);
    }
    struct hardware a = *left, b = *right;
    a.facts = b.facts = NULL;
    memset(a.file, 0, sizeof a.file);
    memset(b.file, 0, sizeof b.file);
    cr_expect_eq(memcmp(&a, &b, sizeof a), 0, "%s", left->name);
}

static void expect_round_trip(const char *name)
{
    struct description description;
    struct hardware first, second;
    read_ok(name, NULL, &description);
    char *text = written(&description, "written.cfg");
    load_ok(name, NULL, &first);
    load_ok(in_folder("written.cfg"), NULL, &second);
    expect_same(&first, &second);
    description_clear(&description);

    read_ok(in_folder("written.cfg"), NULL, &description);
    char *again = written(&description, "again.cfg");
    cr_expect_str_eq(text, again, "%s", name);
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        cr_expect(strcspn(line, "\n") <= 100 || memchr(line, '"', strcspn(line, "\n")),
                  "%s: a line of %zu characters", name, strcspn(line, "\n"));
    description_clear(&description);
    hardware_clear(&first);
    hardware_clear(&second);
    free(text);
    free(again);
}

static void visit_round_trip(void *context, const char *name)
{
    ++*(int *)context;
    expect_round_trip(name);
}

Test(hardware_write, every_shipped_description)
{
    struct error error;
    int count = 0;
    cr_assert_eq(hardware_each(visit_round_trip, &count, &error), STATUS_OK);
    cr_expect_geq(count, 7);
    expect_round_trip(SOURCE_DIR "/configs/platform/unified.cfg");
    expect_round_trip(SOURCE_DIR "/configs/platform/split.cfg");
}

/* Whole lengths stay whole; a changed time gives its row a source of its own. */
Test(hardware_write, tables_of_bursts)
{
    struct description description;
    struct hardware hw;
    char *full = full_description();
    write_file("full.cfg", full);
    free(full);
    expect_round_trip(in_folder("full.cfg"));
    read_ok(in_folder("full.cfg"), NULL, &description);
    set_ok(&description, "paths.gm->l1.bursts.32.ns.3", 3.25, "measured on a test: one");
    set_ok(&description, "paths.l0c->ub.bursts.1.ns.1", 2.5, "measured on a test: two");
    set_ok(&description, "paths.l1->l0b.transposed_gbps", 60.25, "measured on a test: three");
    free(written(&description, "changed.cfg"));
    description_clear(&description);
    load_ok(in_folder("changed.cfg"), NULL, &hw);
    cr_expect_str_eq(find_fact(&hw, "paths.l1->l0b.transposed_gbps")->value, "60.25");
    cr_expect_str_eq(find_fact(&hw, "paths.gm->l1.bursts.32.ns.3")->source,
                     "measured on a test: one");
    cr_expect_str_eq(find_fact(&hw, "paths.l0c->ub.bursts.1.ns.1")->value, "2.5");
    cr_expect_str_eq(find_fact(&hw, "paths.l0c->ub.bursts.1.ns.2")->value, "4");
    cr_expect_str_eq(find_fact(&hw, "paths.gm->l1.bursts.128.ns.1")->source, "assumed: for a test");
    hardware_clear(&hw);
}

Test(hardware_write, a_platform_file)
{
    write_file("chip.ini",
               "[version]\nSoC_version=Test\n[SoCInfo]\nai_core_cnt=3\n[AICoreSpec]\n"
               "cube_freq=800\ncube_m_size=16\ncube_n_size=16\ncube_k_size=16\n"
               "vec_calc_size=128\nl0_a_size=65536\nl0_b_size=65536\nl0_c_size=262144\n"
               "l1_size=1048576\nub_size=262144\n[AICoreMemoryRates]\nddr_rate=17\nl2_rate=114\n"
               "l1_to_l0_a_rate=512\nl1_to_l0_b_rate=256\nl1_to_ub_rate=128\nl0_c_to_ub_rate=256\n"
               "ub_to_l2_rate=64\nub_to_ddr_rate=64\nub_to_l1_rate=128\n");
    expect_round_trip(in_folder("chip.ini"));
}

Test(hardware_write, changed_numbers_keep_their_own_sources)
{
    struct description description;
    struct hardware hw;
    double value;
    read_ok("ascend310", "buses.interconnect.total_gbps.1=27", &description);
    set_ok(&description, "paths.gm->l1.bandwidth_gbps", 12.5, "measured on a test: \"one\" \\");
    set_ok(&description, "paths.gm->l1.latency_ns", 90, "measured on a test: two");
    set_ok(&description, "launch_core_ns", 31.25, "measured on a test: three");
    set_ok(&description, "matrix.f16.issue_ns", 3, "measured on a test: four");
    cr_expect(description_get(&description, "paths.GM->L1.latency_ns", &value) && value == 90);
    cr_expect_not(description_get(&description, "paths.gm->l1.nope", &value));
    struct error error;
    cr_assert_eq(description_build(&description, &hw, &error), STATUS_OK, "%s", error.text);
    hardware_clear(&hw);
    free(written(&description, "changed.cfg"));
    description_clear(&description);
    load_ok(in_folder("changed.cfg"), NULL, &hw);
    static const struct {
        const char *key, *value, *source;
    } expected[] = {
        {"paths.gm->l1.bandwidth_gbps", "12.5", "measured on a test: \"one\" \\"},
        {"paths.gm->l1.latency_ns", "90", "measured on a test: two"},
        {"launch_core_ns", "31.25", "measured on a test: three"},
        {"matrix.f16.issue_ns", "3", "measured on a test: four"},
        {"buses.interconnect.total_gbps.1", "27", "assumed: set by --set-hw"},
        {"clock_mhz", "680", NULL},
    };
    for (size_t e = 0; e < sizeof expected / sizeof *expected; e++) {
        size_t i = 0;
        while (i < hw.fact_count && strcmp(hw.facts[i].key, expected[e].key) != 0)
            i++;
        cr_assert_lt(i, hw.fact_count, "%s", expected[e].key);
        cr_expect_str_eq(hw.facts[i].value, expected[e].value, "%s", expected[e].key);
        if (expected[e].source)
            cr_expect_str_eq(hw.facts[i].source, expected[e].source, "%s", expected[e].key);
    }
    int path = hardware_path(&hw, hardware_buffer(&hw, "gm", 2), hardware_buffer(&hw, "l1", 2));
    cr_expect_eq(hw.prices[hw.paths[path].price].latency_fs, 90 * FS_PER_NS);
    cr_expect_eq(hw.launch_core_fs, 31250000);
    hardware_clear(&hw);
}

Test(hardware_write, what_cannot_be_set)
{
    struct description description;
    struct hardware hw;
    struct error error = {0};
    read_ok("ascend310", NULL, &description);
    cr_expect_eq(description_set(&description, "paths.gm->l9.latency_ns", 1, "measured", &error),
                 STATUS_INVALID);
    cr_expect(strstr(error.text, "paths.gm->l9.latency_ns: there is no such number"), "%s",
              error.text);
    cr_expect_eq(description_set(&description, "cache.all_hit_bytes", 1, "measured", &error),
                 STATUS_INVALID);
    set_ok(&description, "paths.gm->l1.nope", 1, "measured");
    cr_expect_eq(description_build(&description, &hw, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "paths.gm->l1.nope: unknown key"), "%s", error.text);
    cr_expect_null(hw.facts);
    description_clear(&description);
    read_ok("ascend310", NULL, &description);
    set_ok(&description, "paths.gm->l1.latency_ns", -1, "measured");
    cr_expect_eq(description_build(&description, &hw, &error), STATUS_INVALID);
    cr_expect(strstr(error.text, "paths.gm->l1.latency_ns: -1, expected"), "%s", error.text);
    description_clear(&description);
}

Test(hardware_write, the_fit_is_kept)
{
    struct description description;
    struct hardware hw;
    struct error error;
    struct fit fit = {
        .error = 0.0625,
        .spread_count = 2,
        .spreads = {{"paths.gm->l1.bandwidth_gbps", 0.015625}, {"launch_ns", 0.5}},
    };
    read_ok("ascend310", NULL, &description);
    cr_assert_eq(description_set_fit(&description, &fit, "measured on nothing", &error), STATUS_OK);
    fit.error = 0.125; /* a second one replaces the first */
    cr_assert_eq(description_set_fit(&description, &fit, "measured on a test", &error), STATUS_OK);
    char *text = written(&description, "fit.cfg");
    description_clear(&description);
    load_ok(in_folder("fit.cfg"), NULL, &hw);
    cr_expect_eq(hw.fit.error, 0.125);
    cr_assert_eq(hw.fit.spread_count, 2);
    cr_expect_str_eq(hw.fit.spreads[0].key, "paths.gm->l1.bandwidth_gbps");
    cr_expect_eq(hw.fit.spreads[0].relative_error, 0.015625);
    cr_expect_str_eq(hw.fit.spreads[1].key, "launch_ns");
    cr_expect_eq(hw.fit.spreads[1].relative_error, 0.5);
    size_t last = hw.fact_count - 1;
    while (hw.facts[last].is_words)
        last--;
    cr_expect_str_eq(hw.facts[last].source, "measured on a test");
    hardware_clear(&hw);
    char *wrong = replaced(text, "key = \"launch_ns\"", "key = \"lunch_ns\"");
    write_file("wrong.cfg", wrong);
    expect_load_error(in_folder("wrong.cfg"), NULL, STATUS_INVALID,
                      "\"lunch_ns\", expected the key of a number of this description");
    free(wrong);
    wrong = replaced(text, "source = \"measured on a test\";", "");
    write_file("wrong.cfg", wrong);
    expect_load_error(in_folder("wrong.cfg"), NULL, STATUS_INVALID, "fit.source: missing");
    free(wrong);
    free(text);
    load_ok("ascend310", NULL, &hw);
    cr_expect(hw.fit.error == 0 && hw.fit.spread_count == 0);
    hardware_clear(&hw);
}
