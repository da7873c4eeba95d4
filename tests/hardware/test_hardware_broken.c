/* Every class of broken description: the shipped one with one piece replaced must be refused with
 * the right line, key, value and expectation. */
#include "tests/hardware_files.h"
#include "tests/support/cases.h"

TestSuite(hardware_broken, .init = enter, .fini = leave);

struct broken {
    const char *from, *to; /* the first `from` of the shipped text becomes `to` */
    int line;              /* of the error, counted from the line of `from` */
    const char *message;   /* a part of it, right behind "file:line: " */
};

static void expect_broken(const char *text, const struct broken *broken)
{
    char *changed = replaced(text, broken->from, broken->to), expected[512];
    struct hardware hw;
    struct error error = {0};
    write_file("broken.cfg", changed);
    const char *path = in_folder("broken.cfg");
    snprintf(expected, sizeof expected, "%s:%d: %s", path,
             line_of(text, broken->from) + broken->line, broken->message);
    enum status status = hardware_load(path, NULL, &hw, &error);
    cr_expect_eq(status, STATUS_INVALID, "\"%s\" is taken", broken->to);
    cr_expect(strncmp(error.text, expected, strlen(expected)) == 0, "%s\ngives    %s\nexpected %s",
              broken->to, error.text, expected);
    cr_expect_eq(hw.fact_count, 0);
    cr_expect_null(hw.facts);
    free(changed);
}

/* Frees the text. */
static void expect_all_broken(char *text, const struct broken *broken, size_t count)
{
    for (size_t i = 0; i < count; i++)
        expect_broken(text, &broken[i]);
    free(text);
}

#define EXPECT_ALL_BROKEN(text, table)                                                             \
    expect_all_broken(text, table, sizeof(table) / sizeof *(table))

Test(hardware_broken, syntax_and_integers)
{
    static const struct broken broken[] = {
        {"cores = {", "cores = {{", 0, "syntax error, expected libconfig syntax"},
        {"name = \"l1\";", "name = \"l1\"; name = \"l1\";", 0, "duplicate setting name"},
        {"cores =", "@include \"/etc/passwd\"\ncores =", 0, "@include"},
        {"cores =", " \t@include \"/\"\ncores =", 0, "@include"},
        {"1048576", "17179869184", 0,
         "17179869184 does not fit 32 bits, expected it with the suffix L"},
        {"1048576", "4000000000", 0, "4000000000 does not fit 32 bits"},
        {"1048576", "4294967297", 0, "4294967297 does not fit 32 bits"},
        {"1048576", "0xFFFFFFFF", 0, "0xFFFFFFFF does not fit 32 bits"},
        {"1048576", "99999999999999999999L", 0, "99999999999999999999 does not fit 64 bits"},
        {"1048576", "/* 5000000000 */ 5000000001", 0, "5000000001 does not fit 32 bits"},
        {"# Ascend", "/* \n5000000000 # \" */ x = 3; #", 1, "x: unknown key"},
    };
    EXPECT_ALL_BROKEN(read_file(SHIPPED), broken);
}

Test(hardware_broken, keys)
{
    static const struct broken broken[] = {
        {"cores = {", "kernels = {", 0, "kernels: unknown key, expected one of name, cores"},
        {"{ value = 2; source", "{ valeu = 2; source", 0,
         "cores.valeu: unknown key, expected one of value, source"},
        {"value = 2; ", "", 0, "cores.value: missing"},
        {"capacity_bytes = 1048576", "capacity_kb = 1024", 0,
         "buffers.l1.capacity_kb: unknown key"},
        {"capacity_bytes = 1048576;", "", -1,
         "buffers.l1.capacity_bytes: missing, expected it or external"},
        {"cores = { value = 2;", "cores = 2; core = { value = 2;", 0, "core: unknown key"},
        {"issue_ns = { value = 40.0;", "issue_ns = 40.0; x = { value = 2;", 0, "x: unknown key"},
        {"pipe = \"MTE2\"; bus", "bus", -1, "paths.gm->l1.pipe: missing"},
        {"class = \"vector\";", "", -1, "operations.relu.class: missing"},
        {"first_ns = 41.5; repeat_cycles = 1;", "repeat_cycles = 1;", -1,
         "operations.relu.first_ns: missing"},
        {"first_ns = 41.5; repeat_cycles = 1;", "first_ns = 1;", -1,
         "operations.relu.repeat_ns: missing, expected it or repeat_cycles"},
        {"first_ns = 41.5; repeat_cycles = 1;", "first_ns = 1; repeat_cycles = 1; repeat_ns = 3;",
         0,
         "operations.relu.repeat_cycles: 1, expected either repeat_ns or repeat_cycles, not both"},
        {"repeat_cycles = 1;", "repeat_cycles = 1; each_ns = 3;", 0,
         "operations.relu.each_ns: 3, expected no such key for this class"},
        {"each_ns = 61.4;", "each_ns = 61.4; first_ns = 3;", 0,
         "operations.branch.first_ns: 3, expected no such key"},
        {"each_ns = 61.4;", "", -1, "operations.branch.each_ns: missing"},
        {"each_ns = 61.4;", "each_ns = 61.4; result = \"elements\";", 0,
         "operations.branch.result: \"elements\", expected no such key"},
        {"external = true", "external = false", 0, "buffers.gm.capacity_bytes: missing"},
        {"external = true", "external = true; capacity_bytes = 4; source = \"assumed\"", 0,
         "buffers.gm.capacity_bytes: 4, expected none for an external buffer"},
        {"name = \"Ascend 310\";", "name = \"Ascend 310\"; base = \"x\";", 2,
         "cores: unknown key, expected one of name, base, source, set"},
    };
    EXPECT_ALL_BROKEN(read_file(SHIPPED), broken);
}

Test(hardware_broken, types)
{
    static const struct broken broken[] = {
        {"{ value = 2;", "{ value = \"two\";", 0,
         "cores: \"two\", expected a whole number from 1 to 4096 cores"},
        {"cores = { value = 2;", "cores = 2; #", 0, "cores: 2, expected { value = "},
        {"{ value = 2;", "{ value = 2.5;", 0,
         "cores: 2.5, expected a whole number from 1 to 4096 cores"},
        {"{ value = 2;", "{ value = true;", 0, "cores: true, expected a whole number"},
        {"{ value = 2;", "{ value = [2];", 0, "cores: a list, expected a whole number"},
        {"value = 2050.0", "value = \"2050\"", 0,
         "launch_ns: \"2050\", expected a number from 0 to 1000000000 ns"},
        {"blocks_dispatch = true", "blocks_dispatch = 1", 0,
         "pipes.S.blocks_dispatch: 1, expected true or false"},
        {"{ name = \"V\"; }", "{ name = \"V\"; blocks_dispatch = true; }", 4,
         "pipes.S.blocks_dispatch: true, expected one such pipe at most: V is one"},
        {"external = true", "external = \"yes\"", 0,
         "buffers.gm.external: \"yes\", expected true or false"},
        {"name = \"l1\"", "name = 1", 0, "buffers.2.name: 1, expected a letter"},
        {"name = \"Ascend 310\"", "name = 310", 0,
         "name: 310, expected a text of 1 to 63 characters"},
        {"[28.0, 36.0, 40.0, 42.0]", "28.0", 0,
         "buses.interconnect.total_gbps: 28, expected a list of numbers"},
        {"[28.0, 36.0, 40.0, 42.0]", "[]", 0,
         "buses.interconnect.total_gbps: a list, expected 1 to 256 numbers, not 0"},
        {"[28.0, 36.0, 40.0, 42.0]", "(28, \"36\")", 0,
         "buses.interconnect.total_gbps.2: \"36\", expected a number"},
        {"[28.0, 36.0, 40.0, 42.0]", "[28.0, 36]", 0, "mismatched element type"},
        {"{ name = \"M\"; }", "\"M\"", 0, "pipes.1: \"M\", expected a group"},
        {"buses = (", "buses = 3; pipes = (", 0, "duplicate"},
        {"type = \"f16\"; acc", "type = \"f17\"; acc", 0,
         "matrix.f17.type: \"f17\", expected f16, f32, bf16, i8, u8, i16, u16, i32 or u32"},
        {"accumulator = \"f32\"", "accumulator = \"f31\"", 0,
         "matrix.f16.accumulator: \"f31\", expected f16, f32, "},
        {"class = \"vector\"", "class = \"tensor\"", 0,
         "operations.relu.class: \"tensor\", expected \"vector\" or \"scalar\""},
        {"result = \"per_repeat\"", "result = \"one\"", 0,
         "operations.reduceMin.result: \"one\", expected \"elements\", \"per_repeat\", "
         "\"spread\" or \"pairs\""},
        {"value = \"a\"; result = \"spread\"", "value = \"c\"; result = \"pairs\"", 0,
         "operations.vecDup: \"c\", expected a value of at most 2 sources"},
        {"first_ns = 41.5;", "with_number = \"relu\"; first_ns = 1;", 0,
         "operations.relu.with_number: \"relu\", expected a vector operation that stands above it"},
        {"first_ns = 41.5;",
         "types = ({ type = \"f33\"; first_ns = 1; repeat_ns = 1; }); first_ns = 1;", 0,
         "operations.relu.types.f33.type: \"f33\", expected f16, f32, "},
        {"first_ns = 41.5;", "types = ({ type = \"f32\"; first_ns = 1; }); first_ns = 1;", 0,
         "operations.relu.types.f32.repeat_ns: missing, expected it or repeat_cycles"},
    };
    EXPECT_ALL_BROKEN(read_file(SHIPPED), broken);
}

Test(hardware_broken, abilities)
{
#define VECTORS "expected vector operations that `operations` declares, each in one row; "
    static const struct broken broken[] = {
        {"a = \"l0a\";", "a = \"l0a l0q\";", 0,
         "operands.M.a: \"l0a l0q\", expected names of buffers that `buffers` declares"},
        {"pipe = \"V\"; src = \"ub\";", "pipe = \"W\"; src = \"ub\";", 0,
         "operands.W.pipe: \"W\", expected a pipe that `pipes` declares"},
        {"pipe = \"V\"; src = \"ub\";", "pipe = \"M\"; src = \"ub\";", -1,
         "operands.M: given twice, expected once"},
        {"dst = \"l0c\";", "c = \"l0c\";", 0,
         "operands.M.c: unknown key, expected one of pipe, a, b, src"},
        {"\"exp ln\"; takes", "\"exp lg\"; takes", 0,
         "types.2.operations: \"exp lg\", " VECTORS "'lg' is not"},
        {"\"exp ln\"; takes", "\"exp branch\"; takes", 0,
         "types.2.operations: \"exp branch\", " VECTORS "'branch' is not"},
        {"\"exp ln\"; takes", "\"exp relu\"; takes", 0,
         "types.2.operations: \"exp relu\", " VECTORS "'relu' is not"},
        {"\"exp ln\"; takes = \"f16\"", "\"exp ln\"; takes = \"f16 f17\"", 0,
         "types.2.takes: \"f16 f17\", expected types with blanks between"},
        {"\"exp ln\"; takes = \"f16\"", "\"exp ln\"; takes = \" \"", 0,
         "types.2.takes: \" \", expected types with blanks between"},
        {"\"exp ln\"; takes = \"f16\"", "\"exp ln\"; takes = \"f16:f32\"", 0,
         "types.2.takes: \"f16:f32\", expected types with blanks between"},
        {"converts = \"f32:f16 ", "converts = \"f32 ", 0, "types.8.converts: \"f32 "},
        {"\"exp ln\"; takes = \"f16\";", "\"exp ln\";", -1,
         "types.2: a group, expected either takes or converts"},
        {"converts = \"f32:f16 ", "takes = \"f16\"; converts = \"f32:f16 ", -2,
         "types.8: a group, expected either takes or converts"},
    };
    EXPECT_ALL_BROKEN(read_file(SHIPPED), broken);
}

Test(hardware_broken, ranges)
{
    static const struct broken broken[] = {
        {"value = 2;", "value = 0;", 0, "cores: 0, expected a whole number from 1 to 4096 cores"},
        {"value = 2;", "value = -2;", 0, "cores: -2, expected"},
        {"value = 2;", "value = 4097;", 0, "cores: 4097, expected"},
        {"value = 680.0", "value = 0", 0, "clock_mhz: 0, expected a number from 1 to 100000 MHz"},
        {"value = 680.0", "value = 1e400", 0, "clock_mhz: a number beyond all bounds, expected"},
        {"value = 680.0", "value = -680.0", 0, "clock_mhz: -680, expected"},
        {"value = 2050.0", "value = -0.1", 0, "launch_ns: -0.1, expected"},
        {"value = 2050.0", "value = 1e10", 0, "launch_ns: 10000000000, expected"},
        {"value = 40.0", "value = -40.0", 0, "issue_ns: -40, expected"},
        {"value = 61.0", "value = 1e9", 0, "core_skew_ns: 1000000000, expected"},
        {"value = 0.0", "value = -1", 0, "dispatch_ns: -1, expected"},
        {"value = 120000.0", "value = 1e300", 0, "host_call_ns: 1e+300, expected"},
        {"value = 8;", "value = 0;", 0, "flag_registers: 0, expected a whole number from 1 to 64"},
        {"value = 8;", "value = 65;", 0, "flag_registers: 65, expected"},
        {"value = 256;", "value = 255;", 0, "vector_repeat_bytes: 255, expected a multiple of 4"},
        {"value = 256;", "value = 0;", 0, "vector_repeat_bytes: 0, expected"},
        {"1048576", "0", 0, "buffers.l1.capacity_bytes: 0, expected a whole number from 1 to"},
        {"1048576", "-1048576", 0, "buffers.l1.capacity_bytes: -1048576, expected"},
        {"1048576", "1048576.0", 0, "buffers.l1.capacity_bytes: 1048576, expected a whole number"},
        {"1048576", "2000000000000L", 0, "buffers.l1.capacity_bytes: 2000000000000, expected"},
        {"bandwidth_gbps = 28.0", "bandwidth_gbps = 0.0", 0,
         "paths.gm->l1.bandwidth_gbps: 0, expected a number from 0.001"},
        {"bandwidth_gbps = 347.99", "bandwidth_gbps = 1e99", 0,
         "paths.l1->l0a.bandwidth_gbps: 1e+99, expected"},
        {"bandwidth_gbps = 174.09", "bandwidth_gbps = -1", 0,
         "paths.l0c->ub.casts.f32:f16.bandwidth_gbps: -1, expected"},
        {"[28.0, 36.0, 40.0, 42.0]", "[28.0, 0.0]", 0,
         "buses.interconnect.total_gbps.2: 0, expected"},
        {"block_k = 16", "block_k = 0", 0,
         "matrix.f16.block_k: 0, expected a whole number from 1 to 4096"},
        {"block_flop = 7936", "block_flop = 0", 0, "matrix.f16.block_flop: 0, expected"},
        {"gflops = 5390.32", "gflops = 0", 0, "matrix.f16.gflops: 0, expected"},
        {"first_ns = 41.5", "first_ns = -41.5", 0, "operations.relu.first_ns: -41.5, expected"},
        {"repeat_cycles = 1", "repeat_cycles = -1", 0,
         "operations.relu.repeat_cycles: -1, expected"},
        {"repeat_ns = 20.0", "repeat_ns = 1e7", 0,
         "operations.vecCmp.repeat_ns: 10000000, expected"},
        {"each_ns = 61.4", "each_ns = -1", 0, "operations.branch.each_ns: -1, expected"},
    };
    EXPECT_ALL_BROKEN(read_file(SHIPPED), broken);
}

Test(hardware_broken, sources)
{
    static const struct broken broken[] = {
        {"value = 2; source = \"published in the platform file (ai_core_cnt), used so in T 2.2\";",
         "value = 2;", 0, "cores.source: missing, expected where the number comes from"},
        {"\"published in the platform file (ai_core_cnt)", "\"the platform file", 0,
         "cores.source: \"the platform file, used so in T 2.2\", expected a text that begins with "
         "published, derived"},
        {"\"published in the platform file (ai_core_cnt)", "\"assumedly", 0,
         "cores.source: \"assumedly"},
        {"source = \"published in the platform file (cube_freq)\"", "source = \"\"", 0,
         "clock_mhz.source: \"\", expected"},
        {"source = \"published in the platform file (cube_freq)\"", "source = \"assumed\\x1b[31m\"",
         0, "clock_mhz.source: a text with unprintable"},
        {"source = \"published in the platform file (cube_freq)\"", "source = \"assumed \\xff\"", 0,
         "clock_mhz.source: a text with unprintable"},
        {"source = \"published in the platform file (cube_freq)\"", "source = 3", 0,
         "clock_mhz.source: 3, expected"},
        {"source = \"published in the platform file (l1_size); alignment assumed as in UB\";", "",
         -2, "buffers.l1.source: missing"},
        {"source = \"published in T Table 2.1 (one core)\";", "", -2,
         "paths.l0c->ub.source: missing"},
        {"source = \"published in T Table 2.1; that it counts source bytes is assumed\";", "", -2,
         "paths.l0c->ub.casts.f32:f16.source: missing"},
        {"source = \"assumed for 1, 2 and 3", "sauce = \"assumed for 1, 2 and 3", 0,
         "buses.interconnect.sauce: unknown key"},
        {"source = \"derived from T: issue_ns + one cycle", "source = \"derivative", 0,
         "operations.relu.source: \"derivative"},
    };
    EXPECT_ALL_BROKEN(read_file(SHIPPED), broken);
}

Test(hardware_broken, names)
{
    static const struct broken broken[] = {
        {"name = \"l0a\"", "name = \"L1\"", 0, "buffers.L1: given twice, expected once (line "},
        {"name = \"V\"", "name = \"m\"", 0, "pipes.m: given twice"},
        {"path = \"gm->ub\"", "path = \"gm->L1\"", -1, "paths.gm->L1: given twice"},
        {"name = \"vecDup\"", "name = \"RELU\"", -1, "operations.RELU: given twice"},
        {"name = \"l1\"", "name = \"1l\"", 0, "buffers.1l.name: \"1l\", expected a letter, then"},
        {"name = \"l1\"", "name = \"l 1\"", 0, "buffers.l 1.name: \"l 1\", expected a letter"},
        {"name = \"l1\"", "name = \"\"", 0, "buffers..name: \"\", expected a letter"},
        {"name = \"l1\"", "name = \"a23456789012345678901234567890ab\"", 0,
         "buffers.a23456789012345678901234567890ab.name: "},
        {"name = \"Ascend 310\"", "name = \"\"", 0,
         "name: \"\", expected a text of 1 to 63 characters"},
        {"name = \"Ascend 310\"", "name = \"a\\n\"", 0,
         "name: a text with unprintable characters, expected"},
        {"name = \"relu\"", "name = \"mmad\"", 0,
         "operations.mmad.name: \"mmad\", expected a name that is no word of program text"},
        {"name = \"relu\"", "name = \"SET\"", 0, "operations.SET.name: \"SET\", expected a name"},
        {"name = \"relu\"", "name = \"pipe_barrier\"", 0, "operations.pipe_barrier.name: "},
        {"name = \"M\"", "name = \"loop\"", 0, "pipes.loop.name: \"loop\", expected a name"},
        {"path = \"gm->l1\"", "path = \"gm->l2\"", 0,
         "paths.gm->l2.path: \"gm->l2\", expected two buffers"},
        {"path = \"gm->l1\"", "path = \"gm\"", 0,
         "paths.gm.path: \"gm\", expected two buffers that"},
        {"path = \"gm->l1\"", "path = \"gm -> l1\"", 0,
         "paths.gm -> l1.path: \"gm -> l1\", expected two"},
        {"pipe = \"MTE2\"", "pipe = \"MTE4\"", 0,
         "paths.gm->l1.pipe: \"MTE4\", expected a pipe that does not block dispatch: M, V, MTE1, "
         "MTE2, MTE3"},
        {"pipe = \"MTE2\"", "pipe = \"S\"", 0,
         "paths.gm->l1.pipe: \"S\", expected a pipe that does not"},
        {"bus = \"interconnect\"", "bus = \"noc\"", 0,
         "paths.gm->l1.bus: \"noc\", expected a bus that"},
        {"pipe = \"M\";", "pipe = \"cube\";", 0, "matrix.f16.pipe: \"cube\", expected a pipe"},
        {"class = \"vector\"; pipe = \"V\"", "class = \"vector\"; pipe = \"S\"", 0,
         "operations.relu.pipe: \"S\", expected a pipe that does not block"},
        {"class = \"scalar\"; pipe = \"S\"", "class = \"scalar\"; pipe = \"V\"", 0,
         "operations.branch.pipe: \"V\", expected a pipe that blocks dispatch: S"},
        {"\"f32:f16\"", "\"f32\"", 0,
         "paths.l0c->ub.casts.f32.cast: \"f32\", expected two different element types"},
        {"\"f32:f16\"", "\"f32:f32\"", 0, "paths.l0c->ub.casts.f32:f32.cast: "},
        {"\"f32:f16\"", "\"f32:f17\"", 0, "paths.l0c->ub.casts.f32:f17.cast: "},
    };
    EXPECT_ALL_BROKEN(read_file(SHIPPED), broken);
}

Test(hardware_broken, rules)
{
    static const struct broken broken[] = {
        {"36.0, 40.0, 42.0", "27.0", 0,
         "buses.interconnect.total_gbps.2: 27, expected a total for 2 transfers not below that for "
         "1"},
        {"36.0, 40.0, 42.0", "56.1", 0,
         "buses.interconnect.total_gbps.2: 56.1, expected a share of each of 2 transfers not above "
         "that of 1"},
        {"40.0, 42.0]", "54.1]", 0, "buses.interconnect.total_gbps.3: 54.1, expected a share"},
        {"source = \"published in T Table 2.1 (one core, 7936",
         "source = \"assumed\"; },\n{ type = \"i8\"; accumulator = \"i32\"; pipe = \"V\"; block_m "
         "= 1; block_k = 1; block_n = 1; block_flop = 1; gflops = 1; source = \"assumed",
         1, "matrix.i8.pipe: \"V\", expected M as for the other types"},
        {"block_flop = 7936;\n        gflops = 5390.32",
         "block_flop = 9999991; gflops = 5390.320000001", 0,
         "matrix.f16.gflops: 5390.320000001, expected fewer decimals"},
        {"casts = (", "casts = ({ cast = \"F32:F16\"; bandwidth_gbps = 1; source = \"assumed\"; },",
         1, "paths.l0c->ub.casts.f32:f16: given twice"},
    };
    EXPECT_ALL_BROKEN(read_file(SHIPPED), broken);
}

Test(hardware_broken, kinds_of_core)
{
    static const struct broken broken[] = {
        {"{ name = \"V\"; }", "{ name = \"V\"; per_core = 2; }", 0, "pipes.V.source: missing"},
        {"{ name = \"V\"; }", "{ name = \"V\"; per_core = 0; source = \"assumed\"; }", 0,
         "pipes.V.per_core: 0, expected a whole number from 1 to 16"},
        {"{ name = \"MTE3\"; }", "{ name = \"MTE3\"; per_core = 2; source = \"assumed\"; }", 32,
         "paths.ub->gm.pipe: \"MTE3\", expected a pipe of which a core has as many as of buffer ub "
         "(per_core)"},
        {"flag_registers = {",
         "core_flags = { value = 65; source = \"assumed\"; }; flag_registers = {", 0,
         "core_flags: 65, expected a whole number from 1 to 64"},
        {"flag_registers = {",
         "core_flag_ns = { value = -1; source = \"assumed\"; }; flag_registers = {", 0,
         "core_flag_ns: -1, expected a number from 0 to 1000000 ns"},
    };
    EXPECT_ALL_BROKEN(read_file(SHIPPED), broken);
}

Test(hardware_broken, moves)
{
    static const struct broken broken[] = {
        {"value = 32.0", "value = -1.0", 0, "launch_core_ns: -1, expected a number from 0 to"},
        {"value = 32.0", "value = 1e9", 0, "launch_core_ns: 1000000000, expected"},
        {"launch_core_ns = {", "launch_core_ns = 32.0; x = {", 0, "x: unknown key"},
        {"issue_ns = 28.0", "issue_ns = -28.0", 0, "paths.gm->l1.issue_ns: -28, expected"},
        {"latency_ns = 112.0", "latency_ns = -1", 0,
         "paths.gm->l1.latency_ns: -1, expected a number from 0 to 1000000 ns"},
        {"latency_ns = 112.0", "latency_ns = 1e7", 0, "paths.gm->l1.latency_ns: 10000000, "},
        {"bursts = (\n", "bursts = 1; x = (\n", 0, "paths.gm->l1.x: unknown key"},
        {"align_bytes = 32;", "align_bytes = 0;", 0,
         "paths.gm->l1.bursts.0.align_bytes: 0, expected a whole number from 1 to 1073741824"},
        {"align_bytes = 32;", "align_bytes = 48;", 0,
         "paths.gm->l1.bursts.48.align_bytes: 48, expected a power"},
        {"align_bytes = 32;", "align_bytes = 256;", 1,
         "paths.gm->l1.bursts.128.align_bytes: 128, expected more than in the row before"},
        {"align_bytes = 32;", "align_bytes = 128;", 1, "paths.gm->l1.bursts.128: given twice"},
        {"align_bytes = 32;", "", 0, "paths.gm->l1.bursts.1.align_bytes: missing"},
        {"up_to_bytes = [256, 512]; ns = [0.8", "up_to_bytes = [256, 256]; ns = [0.8", 0,
         "paths.gm->l1.bursts.32.up_to_bytes.2: 256, expected more than the limit before it"},
        {"up_to_bytes = [256, 512]; ns = [0.6", "up_to_bytes = [256, 511]; ns = [0.6", 0,
         "paths.gm->l1.bursts.128.up_to_bytes.2: 511, expected the same in all rows"},
        {"up_to_bytes = [256, 512]; ns = [0.6", "up_to_bytes = [256]; ns = [0.6", 0,
         "paths.gm->l1.bursts.128.up_to_bytes: a list, expected 2 numbers as in the first row"},
        {"up_to_bytes = [256, 512]; ns = [0.8", "up_to_bytes = [2.5, 512.0]; ns = [0.8", 0,
         "paths.gm->l1.bursts.32.up_to_bytes.1: 2.5, expected a whole number"},
        {"ns = [0.8, 1.5, 3.0]", "ns = [0.8, 1.5]", 0,
         "paths.gm->l1.bursts.32.ns: a list, expected 3 numbers, one more than up_to_bytes has"},
        {"ns = [0.8, 1.5, 3.0]", "ns = [0.8, 1.5, 3.0, 4.0]", 0,
         "paths.gm->l1.bursts.32.ns: a list, expected 3"},
        {"ns = [0.8, 1.5, 3.0]", "ns = [0.8, -1.5, 3.0]", 0,
         "paths.gm->l1.bursts.32.ns.2: -1.5, expected a number from 0 to 1000000 ns"},
        {"ns = [0.8, 1.5, 3.0]", "ns = 0.8", 0,
         "paths.gm->l1.bursts.32.ns: 0.8, expected a list of numbers"},
        {"source = \"assumed: for a test\"; }", "source = \"hearsay\"; }", 0,
         "paths.gm->l1.bursts.128.source: \"hearsay\", expected a text that begins"},
        {"latency_ns = 7.0", "latency_ns = -7.0", 0,
         "paths.l0c->ub.casts.f32:f16.latency_ns: -7, expected"},
        {"issue_ns = 3.6", "issue_ns = -3.6", 0, "matrix.f16.issue_ns: -3.6, expected"},
        {"latency_ns = 11.0", "latency_ns = -11.0", 0, "matrix.f16.latency_ns: -11, expected"},
        {"latency_ns = 11.0", "bursts = 11.0", 0, "matrix.f16.bursts: unknown key"},
        {"transposed_gbps = 50.5", "transposed_gbps = 0", 0,
         "paths.l1->l0b.transposed_gbps: 0, expected a number from"},
        {"transposed_gbps = 50.5", "transposed_gbps = true", 0,
         "paths.l1->l0b.transposed_gbps: true, expected a number"},
        {"latency_ns = 11.0", "transposed_gbps = 11.0", 0, "matrix.f16.transposed_gbps: unknown"},
    };
    EXPECT_ALL_BROKEN(full_description(), broken);
}

Test(hardware_broken, cache)
{
    static const struct broken broken[] = {
        {"cache = {", "cache = 3; x = {", 0, "x: unknown key"},
        {"cache = {\n", "cache = (); kache = {\n", 0, "kache: unknown key"},
        {"buffer = \"gm\"; ", "", -1, "cache.buffer: missing"},
        {"buffer = \"gm\"", "buffer = \"l2\"", 0,
         "cache.buffer: \"l2\", expected an external buffer that `buffers` declares"},
        {"buffer = \"gm\"", "buffer = \"ub\"", 0, "cache.buffer: \"ub\", expected an external"},
        {"behind = \"hbm\"", "behind = \"l1\"", 0,
         "cache.behind: \"l1\", expected another external buffer"},
        {"behind = \"hbm\"", "behind = \"GM\"", 0, "cache.behind: \"GM\", expected another"},
        {"behind = \"hbm\"", "behind = 3", 0, "cache.behind: 3, expected a letter"},
        {"all_hit_bytes = 1000", "all_hit_bytes = 3001", 1,
         "cache.all_miss_bytes: 3000, expected all_hit_bytes <= all_miss_bytes"},
        {"all_hit_bytes = 1000", "all_hit_bytes = -1", 0, "cache.all_hit_bytes: -1, expected"},
        {"all_miss_bytes = 3000;", "", -3, "cache.all_miss_bytes: missing"},
        {"all_miss_bytes = 3000;\n    source = \"measured for a test\";", "all_miss_bytes = 3000;",
         -3, "cache.source: missing, expected where the number comes from"},
    };
    EXPECT_ALL_BROKEN(full_description(), broken);
}

/* What is loaded through the cache must be loadable from behind it, by the same pipe. */
Test(hardware_broken, paths_from_behind_a_cache)
{
    char *text = full_description(), expected[256];
    static const char *const changes[][2] = {
        {"path = \"hbm->ub\"; pipe = \"MTE2\"", "path = \"ub->hbm\"; pipe = \"MTE2\""},
        {"path = \"hbm->ub\"; pipe = \"MTE2\"", "path = \"hbm->ub\"; pipe = \"MTE1\""},
    };
    snprintf(expected, sizeof expected,
             ":%d: cache.behind: \"hbm\", expected a buffer with a path on pipe MTE2 to where "
             "gm->ub leads",
             line_of(text, "behind ="));
    for (size_t i = 0; i < 2; i++) {
        char *changed = replaced(text, changes[i][0], changes[i][1]);
        write_file("broken.cfg", changed);
        expect_load_error(in_folder("broken.cfg"), NULL, STATUS_INVALID, expected);
        free(changed);
    }
    free(text);
}

/* What misses is nowhere faster than what hits. */
Test(hardware_broken, paths_from_behind_a_cache_that_are_faster)
{
    static const struct {
        const char *from, *to, *path;
    } changes[] = {
        {"latency_ns = 113.0", "latency_ns = 111.0", "gm->l1"},
        {"latency_ns = 113.0", "issue_ns = 27.0; latency_ns = 113.0", "gm->l1"},
        {"path = \"hbm->ub\"; pipe = \"MTE2\"; bandwidth_gbps = 1.0",
         "path = \"hbm->ub\"; pipe = \"MTE2\"; bandwidth_gbps = 500.0", "gm->ub"},
    };
    char *text = full_description(), expected[256];
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *changed = replaced(text, changes[i].from, changes[i].to);
        snprintf(expected, sizeof expected,
                 ":%d: cache.behind: \"hbm\", expected a buffer whose path to where %s leads is "
                 "nowhere faster",
                 line_of(changed, "behind ="), changes[i].path);
        write_file("broken.cfg", changed);
        expect_load_error(in_folder("broken.cfg"), NULL, STATUS_INVALID, expected);
        free(changed);
    }
    free(text);
}

Test(hardware_broken, scalar_operation_without_scalar_pipe)
{
    char *text = read_file(SHIPPED);
    char *changed = replaced(text, "blocks_dispatch = true", "blocks_dispatch = false");
    char expected[256];
    write_file("broken.cfg", changed);
    snprintf(expected, sizeof expected,
             ":%d: operations.branch.pipe: \"S\", expected a pipe that blocks dispatch: one that",
             line_of(text, "name = \"branch\""));
    expect_load_error(in_folder("broken.cfg"), NULL, STATUS_INVALID, expected);
    free(changed);
    free(text);
}

Test(hardware_broken, too_many)
{
    char *text = read_file(SHIPPED), *many = calloc(1, 65536), name[64];
    for (int i = 0; i < HARDWARE_MAX_PIPES - 5; i++) {
        snprintf(name, sizeof name, "{ name = \"P%d\"; },\n", i);
        strcat(many, name);
    }
    strcat(many, "{ name = \"M\"; }");
    char *changed = replaced(text, "{ name = \"M\"; }", many);
    write_file("many.cfg", changed);
    expect_load_error(in_folder("many.cfg"), NULL, STATUS_INVALID,
                      "pipes: a list, expected 1 to 16 groups, not 17");
    free(changed);
    strcpy(many, "[1.0");
    for (int i = 1; i < 257; i++)
        strcat(many, ", 1.0");
    strcat(many, "]");
    changed = replaced(text, "[28.0, 36.0, 40.0, 42.0]", many);
    write_file("many.cfg", changed);
    expect_load_error(in_folder("many.cfg"), NULL, STATUS_INVALID, "1 to 256 numbers, not 257");
    free(changed);
    free(many);
    free(text);
}

Test(hardware_broken, strange_files)
{
    enum { LARGE = 300 * 1024 };
    char *large = malloc(LARGE);
    memset(large, '\n', LARGE);
    write_bytes(in_folder("large.cfg"), large, LARGE);
    write_bytes(in_folder("lines.cfg"), large, 70000);
    free(large);
    write_bytes(in_folder("zero.cfg"), "x = 1;\0y", 8);
    write_file("empty.cfg", "");
    write_file("open.cfg", "x = \"");
    write_file("comment.cfg", "/* ");
    cr_assert_eq(mkfifo(in_folder("fifo.cfg"), 0600), 0);
    cr_assert_eq(mkdir(in_folder("folder.cfg"), 0700), 0);
    expect_load_error(in_folder("large.cfg"), NULL, STATUS_TOO_LARGE, "307200 bytes, expected");
    expect_load_error(in_folder("lines.cfg"), NULL, STATUS_INVALID, "more than 65535 lines");
    expect_load_error(in_folder("zero.cfg"), NULL, STATUS_INVALID, "a byte of 0");
    expect_load_error(in_folder("empty.cfg"), NULL, STATUS_INVALID, "name: missing");
    expect_load_error(in_folder("open.cfg"), NULL, STATUS_INVALID,
                      "open.cfg:1: \" is never closed");
    expect_load_error(in_folder("comment.cfg"), NULL, STATUS_INVALID, "/* is never closed");
    expect_load_error(in_folder("fifo.cfg"), NULL, STATUS_IO, "expected a regular file");
    expect_load_error(in_folder("folder.cfg"), NULL, STATUS_IO, "expected a regular file");
    expect_load_error(in_folder("none.cfg"), NULL, STATUS_IO, "No such file");
}

/* Cut or bent anywhere, a description is taken or refused: no crash, no leak, one line. */
Test(hardware_broken, cut_and_bent)
{
    static const char bends[] = {'{', '}', '(', ')', '"', ';', '9', '-', '\\', '@', '\x80'};
    char *text = read_file(SHIPPED);
    size_t length = strlen(text);
    for (size_t at = 0; at < length; at += 29 * (size_t)test_thinning()) {
        struct hardware hw;
        struct error error;
        char kept = text[at];
        write_bytes(in_folder("bent.cfg"), text, at);
        if (hardware_load(in_folder("bent.cfg"), NULL, &hw, &error) != STATUS_OK)
            cr_expect(*error.text && !strchr(error.text, '\n'));
        hardware_clear(&hw);
        text[at] = bends[at % sizeof bends];
        write_bytes(in_folder("bent.cfg"), text, length);
        if (hardware_load(in_folder("bent.cfg"), NULL, &hw, &error) != STATUS_OK)
            cr_expect(*error.text && !strchr(error.text, '\n'));
        hardware_clear(&hw);
        text[at] = kept;
    }
    free(text);
}
