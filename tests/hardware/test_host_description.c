/* Descriptions of a processor as measured: what is read, what is refused, what is written. */
#include "core/host.h"
#include "hardware/description.h"
#include "tests/hardware_files.h"

#define HOST SOURCE_DIR "/tests/support/host.cfg"

TestSuite(host_description, .init = enter, .fini = leave);

Test(host_description, is_read)
{
    struct hardware hw;
    load_ok(HOST, NULL, &hw);
    const struct host *host = hw.host;
    cr_assert(host);
    cr_expect_str_eq(hw.name, "Test host");
    cr_expect_eq(hw.cores, 2);
    cr_expect_eq(host->threads, 2);
    cr_expect_eq(host->isa, HOST_AVX512);
    cr_expect_str_eq(host->cpu, "Test CPU of two cores");
    cr_expect_str_eq(host->date, "2026-01-31");
    cr_expect_eq(host->level_count, 4);
    cr_expect_eq(host->levels[1].capacity_bytes, 2097152);
    cr_expect_eq(host->levels[1].line_bytes, 64);
    cr_expect_eq(host->levels[3].capacity_bytes, 0);
    cr_expect_eq(host->levels[2].shared_count, 2);
    cr_expect_eq(host->levels[2].shared_gbps[1], 38.0);
    cr_expect_eq(host->levels[3].stream_gbps, 11.0);
    cr_expect_eq(host->loop_count, 14);
    cr_expect_eq(host->loops[host_loop(host, "sgemm 12x2")].step_ns, 4.8);
    cr_expect_eq(host->loops[host_loop(host, "sgemm 12x2")].flops, 768.0);
    cr_expect_eq(host->loops[host_loop(host, "pack b")].call_ns, 10.0);
    cr_expect_eq(host->parallel_ns, 1500.0);
    cr_expect_eq(host->overlap.exposed[3], 0.6);
    cr_expect_eq(host->overlap.jump_ns[3], 1.5);
    cr_expect_eq(host->overlap.walk_ns, 2.5);
    cr_expect_eq(host->overlap.copying, 1.5);
    hardware_clear(&hw);
}

/* What computing does not hide, level by level, between computing and calls. */
Test(host_description, pipes_are_components)
{
    static const char *const names[] = {"compute", "L2", "L3", "memory", "calls"};
    struct hardware hw;
    load_ok(HOST, NULL, &hw);
    cr_assert_eq(hw.pipe_count, 5);
    for (int p = 0; p < hw.pipe_count; p++)
        cr_expect_str_eq(hw.pipes[p].name, names[p]);
    cr_expect_eq(hw.buffer_count, 0);
    cr_expect_eq(hw.cache.behind, -1);
    cr_expect_eq(hw.matrix_pipe, -1);
    hardware_clear(&hw);
}

Test(host_description, single_numbers_can_be_set)
{
    struct hardware hw;
    load_ok(HOST, "host.loops.sgemm 12x2.step_ns=5.25", &hw);
    cr_expect_eq(hw.host->loops[host_loop(hw.host, "sgemm 12x2")].step_ns, 5.25);
    cr_expect(fact_is_override(find_fact(&hw, "host.loops.sgemm 12x2.step_ns")));
    hardware_clear(&hw);
    load_ok(HOST, "host.levels.L3.shared_gbps.2 = 30", &hw);
    cr_expect_eq(hw.host->levels[2].shared_gbps[1], 30.0);
    hardware_clear(&hw);
    expect_load_error(HOST, "host.levels.L3.shared_gbps.2=41", STATUS_INVALID,
                      "a share of each of 2 threads not above that of 1");
    expect_load_error(HOST, "host.levels.L2.capacity_bytes=49152", STATUS_INVALID,
                      "more than the level before, 49152 bytes");
    expect_load_error(HOST, "host.noise=11", STATUS_INVALID, "a number from 0 to 10");
}

/* One change of the test description each, and what is said of it at which line. */
static const struct {
    const char *from, *to, *at, *part;
} broken[] = {
    {"isa = \"avx512\"", "isa = \"sse\"", "isa =", "host.isa: \"sse\", expected \"portable\""},
    {"\"2026-01-31\"", "\"2026-1-31 \"", "date =", "expected a date as in 2026-01-31"},
    {"\"2026-01-31\"", "\"31.01.2026\"", "date =", "expected a date as in 2026-01-31"},
    {"parallel_ns = 1500.0; ", "", "host = {", "host.parallel_ns: missing"},
    {"noise = 0.005", "noise = -0.1", "noise =", "host.noise: -0.1, expected a number from 0"},
    {"noise = 0.005", "noise = 1e999", "noise =", "host.noise: a number beyond all bounds"},
    {"noise = 0.005", "nois = 0.005", "nois =", "unknown key, expected one of cpu"},
    {"cpu = \"Test CPU of two cores\"", "cpu = \"\"", "cpu =", "a text of 1 to 63 characters"},
    {"cpu = \"Test CPU of two cores\"", "cpu = 3", "cpu =", "a text of 1 to 63 characters"},
    {"capacity_bytes = 49152; ", "", "\"L1\"", "host.levels.L1.capacity_bytes: missing"},
    {"capacity_bytes = 49152", "capacity_bytes = 0", "\"L1\"", "a whole number from 1"},
    {"capacity_bytes = 2097152", "capacity_bytes = 4096", "\"L2\"", "more than the level before"},
    {"\"memory\"; threads", "\"memory\"; capacity_bytes = 1000000000000L; threads", "\"memory\"",
     "expected none: the last level is memory"},
    {"threads = 1; read_gbps = 250.0", "threads = 3; read_gbps = 250.0", "\"L1\"",
     "expected at most 2, all of the processor"},
    {"threads = 2; read_gbps = 12.0", "threads = 1; read_gbps = 12.0", "\"memory\"",
     "expected at least 2, as the level before"},
    {"read_gbps = 90.0", "read_gbps = 0.0", "read_gbps = 0.0", "a number from 0.001 to 1000000"},
    {"[ 250.0, 500.0 ]", "[ 250.0, 500.0, 700.0 ]", "[ 250.0", "at most 2 numbers, one a thread"},
    {"[ 250.0, 500.0 ]", "[ 250.0, 501.0 ]", "[ 250.0", "a share of each of 2 threads"},
    {"[ 250.0, 500.0 ]", "[ 250.0, \"x\" ]", "[ 250.0", "expected libconfig syntax"},
    {"\"sgemm 8x3\"", "\"sgemm 12x2\"", "step_ns = 5.1", "given twice, expected once"},
    {"step_ns = 5.1", "step_ns = -1.0", "step_ns = -1.0", "a number from 0 to"},
    {"step_ns = 5.1", "step_ns = \"5.1\"", "step_ns = \"5.1\"", "a number from 0 to"},
    {"{ name = \"sgemm 8x3\"; ", "{ ", "step_ns = 5.1", "name: missing"},
    {"\"sgemm 8x3\"", "\"a name of more than thirty-nine characters\"", "step_ns = 5.1",
     "a text of 1 to 39 characters"},
    {"[ 0.0, 0.2, 0.4, 0.6 ]", "[ 0.0, 0.2, 0.4 ]", "exposed", "expected 4 numbers, one a level"},
    {"[ 0.0, 0.2, 0.4, 0.6 ]", "[ 0.0, 0.2, 0.4, 1.5 ]", "exposed", "a number from 0 to 1"},
    {"[ 0.0, 0.5, 1.0, 1.5 ]", "[ 0.0 ]", "exposed", "expected 4 numbers, one a level"},
    {"[ 0.0, 0.5, 1.0, 1.5 ]", "[ 0.0, 0.5, 1.0, -1.5 ]", "exposed", "a number from 0 to 100"},
    {"value = 2;", "value = 257;", "cores =", "a whole number from 1 to 256 threads"},
    {"value = 2;", "value = 0;", "cores =", "a whole number from 1 to 256 threads"},
    {"name = \"Test host\";", "issue_ns = { value = 1.0; source = \"assumed\"; }; name = \"T\";",
     "issue_ns", "unknown key, expected one of name, cores, clock_mhz, host, fit"},
};

Test(host_description, what_is_wrong_is_named_with_its_line)
{
    char *text = read_file(HOST);
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char place[300];
        char *changed = replaced(text, broken[i].from, broken[i].to);
        write_file("broken.cfg", changed);
        snprintf(place, sizeof place, "%s:%d: ", in_folder("broken.cfg"),
                 line_of(changed, broken[i].at));
        expect_load_error(in_folder("broken.cfg"), NULL, STATUS_INVALID, broken[i].part);
        expect_load_error(in_folder("broken.cfg"), NULL, STATUS_INVALID, place);
        free(changed);
    }
    free(text);
}

/* Without a source somewhere above it no number is believed. */
Test(host_description, every_number_has_a_source)
{
    char *text = read_file(HOST);
    char *changed = replaced(text, "    source = \"assumed: for tests\";\n};", "};");
    write_file("broken.cfg", changed);
    expect_load_error(in_folder("broken.cfg"), NULL, STATUS_INVALID, "host.source: missing");
    free(changed);
    changed = replaced(
        text,
        "[ 0.0, 0.2, 0.4, 0.6 ]; jump_ns = [ 0.0, 0.5, 1.0, 1.5 ]; walk_ns = 2.5; copying = "
        "1.5; source = \"assumed: for tests\";",
        "[ 0.0, 0.2, 0.4, 0.6 ];");
    write_file("broken.cfg", changed);
    expect_load_error(in_folder("broken.cfg"), NULL, STATUS_INVALID, "host.overlap.source");
    free(changed);
    free(text);
}

/* Optional: nothing is then hidden, or shared. */
Test(host_description, without_what_is_optional)
{
    struct hardware hw;
    char *text = read_file(HOST);
    char *one =
        replaced(text,
                 "    overlap = { exposed = [ 0.0, 0.2, 0.4, 0.6 ]; jump_ns = [ 0.0, 0.5, "
                 "1.0, 1.5 ]; walk_ns = 2.5; copying = 1.5; source = \"assumed: for tests\"; };\n",
                 "");
    char *two = replaced(one, "shared_gbps = [ 250.0, 500.0 ];", "");
    char *three = replaced(two, "stream_gbps = 12.0; ", "");
    write_file("less.cfg", three);
    load_ok(in_folder("less.cfg"), NULL, &hw);
    for (int l = 0; l < 4; l++)
        cr_expect(hw.host->overlap.exposed[l] == 1.0 && hw.host->overlap.jump_ns[l] == 0.0 &&
                  hw.host->overlap.copying == 1.0);
    cr_expect_eq(hw.host->levels[0].shared_count, 0);
    cr_expect_eq(hw.host->levels[0].stream_gbps, 0.0);
    cr_expect_eq(hw.clock_hz, 0);
    hardware_clear(&hw);
    free(three);
    free(two);
    free(one);
    free(text);
}

static void expect_same(struct hardware *left, struct hardware *right)
{
    cr_assert_eq(left->fact_count, right->fact_count);
    for (size_t i = 0; i < left->fact_count; i++) {
        cr_expect_str_eq(left->facts[i].key, right->facts[i].key);
        cr_expect_str_eq(left->facts[i].value, right->facts[i].value, "%s", left->facts[i].key);
        cr_expect_str_eq(left->facts[i].source, right->facts[i].source, "%s", left->facts[i].key);
    }
    cr_expect_eq(memcmp(left->host, right->host, sizeof *left->host), 0);
    cr_expect_eq(memcmp(left->pipes, right->pipes, sizeof left->pipes), 0);
}

static void write_as(const struct description *description, const char *name)
{
    struct error error = {0};
    char *text;
    cr_assert_eq(description_write(description, "# a test\n", &text, &error), STATUS_OK, "%s",
                 error.text);
    write_file(name, text);
    free(text);
}

Test(host_description, load_write_load)
{
    struct error error = {0};
    struct description description;
    struct hardware first, second;
    cr_assert_eq(description_read(NULL, HOST, NULL, &description, &error), STATUS_OK);
    write_as(&description, "written.cfg");
    description_clear(&description);
    load_ok(HOST, NULL, &first);
    load_ok(in_folder("written.cfg"), NULL, &second);
    expect_same(&first, &second);
    hardware_clear(&first);
    hardware_clear(&second);
}

/* From a struct host without a file: what is written loads as the same. */
Test(host_description, write_load)
{
    struct error error = {0};
    const struct host_sources sources = {"measured for a test",
                                         "derived for a test",
                                         {"published for a test", NULL, "assumed for a test"}};
    struct description description;
    struct hardware first, second;
    load_ok(HOST, NULL, &first);
    first.host->levels[2].shared_gbps[1] = 37.123456789012345;
    memset(first.host->levels[1].shared_gbps, 0, sizeof first.host->levels[1].shared_gbps);
    first.host->levels[1].shared_count = 0; /* threads could not be measured together */
    cr_assert_eq(
        description_of_host(first.host, "A \"name\"", "test", &sources, &description, &error),
        STATUS_OK);
    write_as(&description, "written.cfg");
    description_clear(&description);
    load_ok(in_folder("written.cfg"), NULL, &second);
    cr_expect_str_eq(second.name, "A \"name\"");
    cr_expect_eq(memcmp(first.host, second.host, sizeof *first.host), 0);
    cr_expect_str_eq(find_fact(&second, "host.levels.L1.capacity_bytes")->source,
                     "published for a test");
    cr_expect_str_eq(find_fact(&second, "host.levels.L2.capacity_bytes")->source,
                     "measured for a test");
    cr_expect_str_eq(find_fact(&second, "host.levels.L3.capacity_bytes")->source,
                     "assumed for a test");
    cr_expect_str_eq(find_fact(&second, "host.overlap.exposed.1")->source, "derived for a test");
    hardware_clear(&first);
    hardware_clear(&second);
}

/* ---- the user's own folder ---- */

static void add_line(void *context, const char *name)
{
    strcat(strcat(context, name), "\n");
}

Test(host_description, found_in_the_users_folder)
{
    struct hardware hw;
    struct error error;
    char names[4096] = "";
    char *text = read_file(HOST);
    expect_load_error("host", NULL, STATUS_INVALID,
                      "--hw host: this processor has not been calibrated, expected a description "
                      "made by `autotune calibrate --hw host`");
    cr_assert_eq(mkdir(in_folder("autotune"), 0700), 0);
    cr_assert_eq(mkdir(in_folder("autotune/hardware"), 0700), 0);
    setenv("XDG_CONFIG_HOME", folder, 1);
    expect_load_error(" H ost", NULL, STATUS_INVALID, "not been calibrated");
    write_file("autotune/hardware/host.cfg", text);
    write_file("autotune/hardware/ascend310.cfg", text); /* does not stand in for a shipped one */
    load_ok("HO ST", NULL, &hw);
    cr_expect(hw.host && strstr(hw.file, "/autotune/hardware/host.cfg"));
    hardware_clear(&hw);
    load_ok("ascend310", NULL, &hw);
    cr_expect_null(hw.host);
    hardware_clear(&hw);
    cr_assert_eq(hardware_each_from(NULL, add_line, names, &error), STATUS_OK);
    cr_expect(strstr(names, "\nhost\n"));
    const char *chip = strstr(names, "ascend310\n");
    cr_expect(chip && !strstr(chip + 1, "ascend310\n"), "%s", names);
    free(text);
}

Test(host_description, where_the_users_folder_is)
{
    static const struct {
        const char *config, *home, *expected; /* NULL: not set */
    } cases[] = {
        {"/c", "/h", "/c/autotune/hardware"},
        {NULL, "/h", "/h/.config/autotune/hardware"},
        {"", "/h", "/h/.config/autotune/hardware"},
        {"relative", "/h", "/h/.config/autotune/hardware"},
        {"relative", NULL, NULL},
        {NULL, "relative", NULL},
        {NULL, NULL, NULL},
    };
    char path[256], small[8];
    struct error error;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsetenv("XDG_CONFIG_HOME");
        unsetenv("HOME");
        if (cases[i].config)
            setenv("XDG_CONFIG_HOME", cases[i].config, 1);
        if (cases[i].home)
            setenv("HOME", cases[i].home, 1);
        enum status status = config_user_folder("hardware", path, sizeof path, &error);
        cr_expect_eq(status, cases[i].expected ? STATUS_OK : STATUS_IO, "case %zu", i);
        if (cases[i].expected && status == STATUS_OK)
            cr_expect_str_eq(path, cases[i].expected);
    }
    setenv("XDG_CONFIG_HOME", "/config", 1);
    cr_expect_eq(config_user_folder("hardware", small, sizeof small, &error), STATUS_TOO_LARGE);
}
