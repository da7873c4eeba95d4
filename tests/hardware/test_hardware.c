/* Descriptions in and out: the shipped numbers, variants, overrides, facts and names. */
#include "tests/hardware_files.h"

TestSuite(hardware, .init = enter, .fini = leave);

static const struct price *move_price(const struct hardware *hw, const char *from, const char *to)
{
    int path = hardware_path(hw, hardware_buffer(hw, from, (int)strlen(from)),
                             hardware_buffer(hw, to, (int)strlen(to)));
    cr_assert_geq(path, 0, "%s->%s", from, to);
    return &hw->prices[hw->paths[path].price];
}

static const struct price *operation_price(const struct hardware *hw, const char *name)
{
    int operation = hardware_operation(hw, name, (int)strlen(name));
    cr_assert_geq(operation, 0, "%s", name);
    return &hw->prices[hw->operations[operation].price];
}

static void expect_rate(struct rate rate, int64_t fs, int64_t units)
{
    cr_expect(rate.fs == fs && rate.units == units, "%lld/%lld, expected %lld/%lld",
              (long long)rate.fs, (long long)rate.units, (long long)fs, (long long)units);
}

/* ---- the shipped Ascend 310 ---- */

Test(hardware, ascend310_scalars)
{
    struct hardware hw;
    load_ok("ascend310", NULL, &hw);
    cr_expect_str_eq(hw.name, "Ascend 310");
    cr_expect_str_eq(hw.file, SHIPPED);
    cr_expect_eq(hw.cores, 2);
    cr_expect_eq(hw.clock_hz, 680000000);
    cr_expect_eq(hw.launch_fs, 2050000000);
    cr_expect_eq(hw.core_skew_fs, 61000000);
    cr_expect_eq(hw.issue_fs, 40000000);
    cr_expect_eq(hw.dispatch_fs, 0);
    cr_expect_eq(hw.host_call_fs, 120000000000);
    cr_expect_eq(hw.flag_registers, 8);
    cr_expect_eq(hw.vector_repeat_bytes, 256);
    cr_expect_eq(hw.pipe_count, 6);
    cr_expect(hw.pipes[hardware_pipe(&hw, "s", 1)].blocks_dispatch);
    cr_expect_not(hw.pipes[hardware_pipe(&hw, "mte2", 4)].blocks_dispatch);
    hardware_clear(&hw);
}

Test(hardware, ascend310_buffers_and_bus)
{
    static const struct {
        const char *name;
        int64_t bytes;
    } buffers[] = {{"l1", 1 << 20}, {"l0a", 65536},      {"l0b", 65536},
                   {"l0c", 262144}, {"ub", 248L * 1024}, {"gm", 0}};
    static const int64_t totals[] = {28000000000, 36000000000, 40000000000, 42000000000};
    struct hardware hw;
    load_ok("ascend310", NULL, &hw);
    cr_expect_eq(hw.buffer_count, 6);
    for (size_t i = 0; i < 6; i++) {
        int found = hardware_buffer(&hw, buffers[i].name, (int)strlen(buffers[i].name));
        cr_expect_eq(hw.buffers[found].capacity_bytes, buffers[i].bytes, "%s", buffers[i].name);
    }
    cr_expect_eq(hw.bus_count, 1);
    cr_expect_str_eq(hw.buses[0].name, "interconnect");
    cr_expect_eq(hw.buses[0].sharers, 4);
    cr_expect_arr_eq(hw.buses[0].total_bytes_per_s, totals, sizeof totals);
    hardware_clear(&hw);
}

Test(hardware, ascend310_paths)
{
    static const struct {
        const char *from, *to, *pipe;
        int bus;
        int64_t bytes_per_s;
    } paths[] = {
        {"gm", "l1", "MTE2", 0, 28000000000},    {"gm", "ub", "MTE2", 0, 28000000000},
        {"gm", "l0a", "MTE2", 0, 28000000000},   {"gm", "l0b", "MTE2", 0, 28000000000},
        {"ub", "gm", "MTE3", 0, 28000000000},    {"l1", "l0a", "MTE1", -1, 347990000000},
        {"l1", "l0b", "MTE1", -1, 174370000000}, {"l0c", "ub", "V", -1, 174060000000},
        {"ub", "l1", "MTE3", -1, 87040000000},   {"l1", "ub", "MTE1", -1, 87040000000},
    };
    struct hardware hw;
    load_ok("ascend310", NULL, &hw);
    cr_expect_eq(hw.path_count, 10);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        const struct price *price = move_price(&hw, paths[i].from, paths[i].to);
        struct rate expected = rate_reduce(FS_PER_S, paths[i].bytes_per_s);
        cr_expect_str_eq(hw.pipes[price->pipe].name, paths[i].pipe);
        cr_expect_eq(price->bus, paths[i].bus, "%s->%s", paths[i].from, paths[i].to);
        cr_expect_eq(price->base_fs, 40000000);
        expect_rate(price->rate, expected.fs, expected.units);
    }
    /* 8192 bytes at 347.99 GB/s: 23540.906... ps */
    cr_expect_eq(rate_ceil_fs(move_price(&hw, "l1", "l0a")->rate, 8192), 23540907);
    int path = hardware_path(&hw, hardware_buffer(&hw, "l0c", 3), hardware_buffer(&hw, "ub", 2));
    int cast = hardware_move_price(&hw, path, DTYPE_F32, DTYPE_F16);
    cr_assert_geq(cast, 0);
    expect_rate(hw.prices[cast].rate, 100000000, 17409);
    cr_expect_eq(hardware_move_price(&hw, path, DTYPE_F16, DTYPE_F32), -1);
    hardware_clear(&hw);
}

Test(hardware, ascend310_matrix)
{
    struct hardware hw;
    load_ok("ascend310", NULL, &hw);
    const struct matrix_type *f16 = hardware_matrix_type(&hw, DTYPE_F16);
    cr_assert(f16);
    cr_expect_eq(f16->accumulator, DTYPE_F32);
    cr_expect(f16->block_m == 16 && f16->block_k == 16 && f16->block_n == 16);
    cr_expect_str_eq(hw.pipes[hw.matrix_pipe].name, "M");
    /* 7936 / 5390.32e9 s = 7936e6 / 5390.32 fs a block, in lowest terms */
    expect_rate(hw.prices[f16->price].rate, 99200000000, 67379);
    cr_expect_eq(hw.prices[f16->price].base_fs, 40000000);
    cr_expect_null(hardware_matrix_type(&hw, DTYPE_F32));
    hardware_clear(&hw);
}

Test(hardware, ascend310_operations)
{
    static const struct {
        const char *name;
        int64_t first_fs;
        int cycles; /* a repeat; 0: 20 ns */
    } vectors[] = {
        {"relu", 41500000, 1},      {"vecDup", 36300000, 1}, {"reduceMin", 38400000, 1},
        {"reduceMax", 38400000, 1}, {"vecCmp", 78800000, 0}, {"vecSel", 80100000, 0},
        {"vadd", 41500000, 2},      {"vsub", 41500000, 2},   {"vmul", 41500000, 2},
        {"vmax", 41500000, 2},      {"vmin", 41500000, 2},   {"vand", 41500000, 2},
        {"vor", 41500000, 2},       {"vnot", 41500000, 1},   {"exp", 41500000, 2},
        {"ln", 41500000, 2},        {"cast", 41500000, 1},
    };
    struct hardware hw;
    load_ok("ascend310", NULL, &hw);
    cr_expect_eq(hw.operation_count, 20);
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        const struct price *price = operation_price(&hw, vectors[i].name);
        struct rate rate = rate_reduce(vectors[i].cycles * FS_PER_S, 680000000);
        cr_expect_eq(price->base_fs, vectors[i].first_fs, "%s", vectors[i].name);
        expect_rate(price->rate, vectors[i].cycles ? rate.fs : 20000000,
                    vectors[i].cycles ? rate.units : 1);
        cr_expect_str_eq(hw.pipes[price->pipe].name, "V");
    }
    expect_rate(operation_price(&hw, "branch")->rate, 61400000, 1);
    expect_rate(operation_price(&hw, "assign")->rate, 39000000, 1);
    expect_rate(operation_price(&hw, "nop")->rate, 40000000, 1);
    cr_expect_eq(operation_price(&hw, "nop")->base_fs, 0);
    cr_expect_str_eq(hw.pipes[operation_price(&hw, "nop")->pipe].name, "S");
    cr_expect_eq(hw.operations[hardware_operation(&hw, "REDUCEMIN", 9)].result,
                 RESULT_ONE_PER_REPEAT);
    cr_expect_eq(hw.operations[hardware_operation(&hw, "relu", 4)].result, RESULT_ELEMENTS);
    cr_expect_eq(hw.operations[hardware_operation(&hw, "vecDup", 6)].result, RESULT_SPREAD);
    hardware_clear(&hw);
}

Test(hardware, operations_have_prices_of_types)
{
    struct hardware hw;
    load_ok("ascend910b2", NULL, &hw);
    int exp = hardware_operation(&hw, "exp", 3), relu = hardware_operation(&hw, "relu", 4);
    const struct price *f16 = &hw.prices[hardware_operation_price(&hw, exp, DTYPE_F16)];
    const struct price *f32 = &hw.prices[hardware_operation_price(&hw, exp, DTYPE_F32)];
    expect_rate(f16->rate, 8000000, 3); /* 4 cycles at 1.5 GHz */
    expect_rate(f32->rate, 4000000, 3);
    cr_expect_lt(f32->base_fs, f16->base_fs);
    cr_expect_eq(f32->pipe, f16->pipe);
    int vmul = hardware_operation(&hw, "vmul", 4);
    cr_expect_eq(hw.operations[vmul].with_number, hardware_operation(&hw, "vmuls", 5));
    cr_expect_eq(hw.operations[relu].with_number, -1);
    cr_expect_eq(hardware_operation_price(&hw, relu, DTYPE_F32),
                 hardware_operation_price(&hw, relu, DTYPE_F16));
    hardware_clear(&hw);
    load_ok("ascend910b2", "operations.exp.types.f32.repeat_cycles=3", &hw);
    expect_rate(hw.prices[hardware_operation_price(&hw, exp, DTYPE_F32)].rate, 2000000, 1);
    hardware_clear(&hw);
}

Test(hardware, large_integers_with_suffix)
{
    char *text = read_file(SHIPPED), *changed = replaced(text, "1048576", "17179869184L");
    struct hardware hw;
    write_file("large.cfg", changed);
    load_ok(in_folder("large.cfg"), NULL, &hw);
    cr_expect_eq(hw.buffers[hardware_buffer(&hw, "l1", 2)].capacity_bytes, 17179869184);
    cr_expect_str_eq(find_fact(&hw, "buffers.l1.capacity_bytes")->value, "17179869184");
    hardware_clear(&hw);
    free(changed);
    changed = replaced(text, "value = 680.0", "value = 680"); /* whole where a real is expected */
    write_file("whole.cfg", changed);
    load_ok(in_folder("whole.cfg"), NULL, &hw);
    cr_expect_eq(hw.clock_hz, 680000000);
    hardware_clear(&hw);
    free(changed);
    free(text);
}

/* ---- variants ---- */

Test(hardware, shipped_variant)
{
    struct hardware hw;
    load_ok("ASCEND310-L1-2M", NULL, &hw);
    cr_expect_str_eq(hw.name, "Ascend 310 with 2 MiB of L1");
    cr_expect_str_eq(hw.file, SOURCE_DIR "/configs/hardware/ascend310-l1-2m.cfg");
    cr_expect_eq(hw.buffers[hardware_buffer(&hw, "l1", 2)].capacity_bytes, 2097152);
    const struct fact *fact = find_fact(&hw, "buffers.l1.capacity_bytes");
    cr_expect_str_eq(fact->value, "2097152");
    cr_expect_str_eq(fact->source,
                     "assumed: a chip that nobody has built (set in ascend310-l1-2m.cfg:5)");
    hardware_clear(&hw);
}

static void write_variant(const char *file, const char *base, const char *set)
{
    char text[512];
    snprintf(text, sizeof text,
             "name = \"%s\";\nbase = \"%s\";\nsource = \"assumed for %s\";\nset = [\n%s];\n", file,
             base, file, set);
    write_file(file, text);
}

Test(hardware, chain_of_variants)
{
    struct hardware hw;
    write_variant("a.cfg", "Ascend 310", "\"cores=4\", \"issue_ns=50\"");
    write_variant("b.cfg", "A", "\"cores = 8\"");
    write_variant("c.cfg", "./b.cfg", "\"launch_ns=1\"");
    load_ok(in_folder("c.cfg"), "cores=16", &hw);
    cr_expect_str_eq(hw.name, "c.cfg");
    cr_expect_eq(hw.cores, 16);
    cr_expect_eq(hw.issue_fs, 50000000);
    cr_expect_eq(hw.launch_fs, 1000000);
    cr_expect_str_eq(find_fact(&hw, "cores")->source, "set by --set-hw");
    cr_expect_str_eq(find_fact(&hw, "issue_ns")->source, "assumed for a.cfg (set in a.cfg:5)");
    hardware_clear(&hw);
    load_ok(in_folder("b.cfg"), NULL, &hw);
    cr_expect_eq(hw.cores, 8);
    cr_expect_str_eq(find_fact(&hw, "cores")->source, "assumed for b.cfg (set in b.cfg:5)");
    hardware_clear(&hw);
}

Test(hardware, broken_variants)
{
    write_variant("self.cfg", "self", "\"cores=1\"");
    write_variant("a.cfg", "b", "\"cores=1\"");
    write_variant("b.cfg", "a", "\"cores=1\"");
    write_variant("lost.cfg", "ascend311", "\"cores=1\"");
    write_variant("gone.cfg", "./gone/base.cfg", "\"cores=1\"");
    write_variant("key.cfg", "ascend310", "\"cores=1\",\n\"core=1\"");
    write_variant("value.cfg", "ascend310", "\"cores=1\",\n\"issue_ns=-1\"");
    write_variant("type.cfg", "ascend310", "1");
    write_variant("none.cfg", "ascend310", "");
    expect_load_error(in_folder("self.cfg"), NULL, STATUS_INVALID,
                      "self.cfg:2: base: \"self\", expected a description that does not lead back");
    expect_load_error(in_folder("a.cfg"), NULL, STATUS_INVALID,
                      "b.cfg:2: base: \"a\", expected a description that does not lead back");
    expect_load_error(in_folder("lost.cfg"), NULL, STATUS_INVALID,
                      "lost.cfg:2: base: no hardware description is called \"ascend311\"");
    expect_load_error(in_folder("gone.cfg"), NULL, STATUS_IO, "gone/base.cfg: cannot be read");
    expect_load_error(in_folder("key.cfg"), NULL, STATUS_INVALID, "key.cfg:6: core: unknown key");
    expect_load_error(in_folder("value.cfg"), NULL, STATUS_INVALID,
                      "value.cfg:6: issue_ns: -1, expected a number from 0");
    expect_load_error(in_folder("type.cfg"), NULL, STATUS_INVALID,
                      "type.cfg:5: set.1: 1, expected a text");
    expect_load_error(in_folder("none.cfg"), NULL, STATUS_INVALID, "none.cfg:4: set: a list");
    write_file("nosource.cfg", "name = \"x\"; base = \"ascend310\"; set = [\"cores=1\"];");
    expect_load_error(in_folder("nosource.cfg"), NULL, STATUS_INVALID, "source: missing");
    write_file("extra.cfg", "name = \"x\"; base = \"ascend310\"; source = \"assumed\";\n"
                            "cores = 3; set = [\"cores=1\"];");
    expect_load_error(in_folder("extra.cfg"), NULL, STATUS_INVALID, "extra.cfg:2: cores: unknown");
}

Test(hardware, deep_variants)
{
    char name[32], base[32] = "ascend310", file[32] = "";
    struct hardware hw;
    for (int i = 1; i <= 17; i++) {
        snprintf(name, sizeof name, "v%d", i);
        snprintf(file, sizeof file, "v%d.cfg", i);
        write_variant(file, base, "\"cores=1\"");
        strcpy(base, name);
    }
    expect_load_error(in_folder("v17.cfg"), NULL, STATUS_INVALID, "v1.cfg:2: base: \"ascend310\"");
    load_ok(in_folder("v16.cfg"), NULL, &hw);
    hardware_clear(&hw);
}

/* ---- what moves cost beside their bandwidth ---- */

static void load_full(struct hardware *hw)
{
    char *text = full_description();
    write_file("full.cfg", text);
    free(text);
    load_ok(in_folder("full.cfg"), NULL, hw);
}

static void expect_move(const struct price *price, int64_t base_fs, int64_t latency_fs,
                        bool has_table)
{
    cr_expect_eq(price->base_fs, base_fs);
    cr_expect_eq(price->latency_fs, latency_fs);
    cr_expect_eq(price->burst_table >= 0, has_table);
}

Test(hardware, moves_of_the_shipped_chip_are_plain)
{
    struct hardware hw;
    load_ok("ascend310", NULL, &hw);
    for (int p = 0; p < hw.path_count; p++)
        expect_move(&hw.prices[hw.paths[p].price], 40000000, 0, false);
    for (int p = 0; p < hw.price_count; p++)
        cr_expect_eq(hw.prices[p].burst_table, -1);
    cr_expect_eq(hw.launch_core_fs, 0);
    cr_expect_eq(hardware_start_fs(&hw, 2), 2050000000);
    cr_expect_eq(hw.cache.behind, -1);
    cr_expect_eq(hardware_miss_share(&hw, 1e18), 0);
    hardware_clear(&hw);
}

Test(hardware, issue_and_latency)
{
    struct hardware hw;
    load_full(&hw);
    expect_move(move_price(&hw, "gm", "l1"), 28000000, 112000000, true);
    expect_move(move_price(&hw, "hbm", "l1"), 40000000, 113000000, false);
    expect_move(move_price(&hw, "l0c", "ub"), 20000000, 5000000, true);
    int drain = hardware_path(&hw, hardware_buffer(&hw, "l0c", 3), hardware_buffer(&hw, "ub", 2));
    /* A cast has its path's, but for what it says itself. */
    expect_move(&hw.prices[hardware_move_price(&hw, drain, DTYPE_F32, DTYPE_F16)], 20000000,
                7000000, true);
    const struct price *matrix = &hw.prices[hw.matrix_types[0].price];
    cr_expect_eq(matrix->base_fs, 3600000);
    cr_expect_eq(matrix->latency_fs, 11000000);
    cr_expect_str_eq(find_fact(&hw, "paths.gm->l1.latency_ns")->value, "112");
    cr_expect_str_eq(find_fact(&hw, "launch_core_ns")->source, "measured for a test");
    hardware_clear(&hw);
    load_ok(in_folder("full.cfg"), "issue_ns=29", &hw);
    cr_expect_eq(move_price(&hw, "gm", "l1")->base_fs, 28000000);
    cr_expect_eq(move_price(&hw, "hbm", "l1")->base_fs, 29000000);
    hardware_clear(&hw);
}

Test(hardware, bursts_cost_by_length_and_alignment)
{
    static const int64_t cases[][3] = {
        /* bytes, alignment, fs */
        {1, 32, 800000},    {256, 32, 800000},           {257, 32, 1500000},
        {512, 64, 1500000}, {513, 64, 6000000},          {0, 1, 800000},
        {256, 16, 800000},  {256, 128, 600000},          {257, 256, 1000000},
        {513, 0, 4000000},  {1024, 64, 6000000},         {1025, 64, 9000000},
        {256, 0, 600000},   {INT64_MAX, 128, INT64_MAX},
    };
    struct hardware hw;
    load_full(&hw);
    const struct price *load = move_price(&hw, "gm", "l1"), *drain = move_price(&hw, "l0c", "ub");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(hardware_burst_fs(&hw, load, cases[i][0], cases[i][1]), cases[i][2],
                     "%lld bytes at %lld", (long long)cases[i][0], (long long)cases[i][1]);
    cr_expect_eq(hardware_burst_fs(&hw, drain, 65, 1), 8000000);
    cr_expect_eq(hardware_burst_fs(&hw, move_price(&hw, "hbm", "l1"), 65, 1), 0);
    int path = hardware_path(&hw, hardware_buffer(&hw, "l0c", 3), hardware_buffer(&hw, "ub", 2));
    int cast = hardware_move_price(&hw, path, DTYPE_F32, DTYPE_F16);
    cr_expect_eq(hw.prices[cast].burst_table, drain->burst_table);
    cr_expect_str_eq(find_fact(&hw, "paths.gm->l1.bursts.32.ns.3")->value, "3");
    cr_expect_str_eq(find_fact(&hw, "paths.gm->l1.bursts.32.ns.3")->source,
                     find_fact(&hw, "paths.gm->l1.bandwidth_gbps")->source);
    cr_expect_str_eq(find_fact(&hw, "paths.gm->l1.bursts.128.up_to_bytes.2")->value, "512");
    cr_expect_str_eq(find_fact(&hw, "paths.gm->l1.bursts.128.ns.1")->source, "assumed: for a test");
    hardware_clear(&hw);
}

/* Rows keep the name that the file gives them. */
Test(hardware, bursts_overridden)
{
    static const char *const texts[] = {"paths.gm->l1.bursts.128.ns.2=7.5",
                                        "paths.gm->l1.bursts.128.align_bytes=64",
                                        "paths.l0c->ub.bursts.1.up_to_bytes.1=65"};
    struct hardware_overrides overrides = {texts, 3};
    struct hardware hw;
    struct error error;
    load_full(&hw);
    hardware_clear(&hw);
    cr_assert_eq(hardware_load(in_folder("full.cfg"), &overrides, &hw, &error), STATUS_OK, "%s",
                 error.text);
    cr_expect_eq(hardware_burst_fs(&hw, move_price(&hw, "gm", "l1"), 512, 64), 7500000);
    cr_expect_eq(hardware_burst_fs(&hw, move_price(&hw, "gm", "l1"), 512, 32), 1500000);
    cr_expect_eq(hardware_burst_fs(&hw, move_price(&hw, "l0c", "ub"), 65, 32), 2000000);
    cr_expect_str_eq(find_fact(&hw, "paths.gm->l1.bursts.128.align_bytes")->value, "64");
    hardware_clear(&hw);
}

/* Only the rate of a move that transposes may be another; without the key it is the same. */
Test(hardware, moves_that_transpose)
{
    struct hardware hw;
    load_full(&hw);
    int l1 = hardware_buffer(&hw, "l1", 2);
    const struct path *b = &hw.paths[hardware_path(&hw, l1, hardware_buffer(&hw, "l0b", 3))];
    const struct path *a = &hw.paths[hardware_path(&hw, l1, hardware_buffer(&hw, "l0a", 3))];
    const struct price *plain = &hw.prices[b->price], *turned = &hw.prices[b->transposed_price];
    expect_rate(plain->rate, 100000000, 17437);
    expect_rate(turned->rate, 2000000, 101);
    expect_move(turned, plain->base_fs, plain->latency_fs, false);
    cr_expect_eq(turned->pipe, plain->pipe);
    cr_expect_eq(turned->bus, plain->bus);
    cr_expect_eq(a->transposed_price, a->price);
    hardware_clear(&hw);
    load_ok(in_folder("full.cfg"), "paths.l1->l0b.transposed_gbps=25", &hw);
    expect_rate(hw.prices[b->transposed_price].rate, 40000, 1);
    expect_rate(hw.prices[b->price].rate, 100000000, 17437);
    cr_expect(fact_is_override(find_fact(&hw, "paths.l1->l0b.transposed_gbps")));
    hardware_clear(&hw);
}

Test(hardware, launch_of_each_core)
{
    struct hardware hw;
    load_full(&hw);
    cr_expect_eq(hw.launch_core_fs, 32000000);
    cr_expect_eq(hardware_start_fs(&hw, 1), 2082000000);
    cr_expect_eq(hardware_start_fs(&hw, 24), 2050000000 + 24 * INT64_C(32000000));
    hardware_clear(&hw);
}

/* Of what a kernel loads: nothing up to 1000 bytes, all from 3000 on. */
Test(hardware, share_of_misses)
{
    static const double shares[][2] = {{0, 0},      {1000, 0},   {1001, 0.0005}, {1500, 0.25},
                                       {2000, 0.5}, {3000, 1.0}, {4000, 1},      {1e18, 1}};
    struct hardware hw;
    load_full(&hw);
    cr_expect_str_eq(hw.buffers[hw.cache.buffer].name, "gm");
    cr_expect_str_eq(hw.buffers[hw.cache.behind].name, "hbm");
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        cr_expect_float_eq(hardware_miss_share(&hw, shares[i][0]), shares[i][1], 1e-15, "%g bytes",
                           shares[i][0]);
    cr_expect_str_eq(find_fact(&hw, "cache.all_hit_bytes")->value, "1000");
    cr_expect_str_eq(find_fact(&hw, "cache.all_miss_bytes")->source, "measured for a test");
    hardware_clear(&hw);
    load_ok(in_folder("full.cfg"), "cache.all_hit_bytes=3000", &hw); /* a step */
    cr_expect_eq(hardware_miss_share(&hw, 3000), 0);
    cr_expect_eq(hardware_miss_share(&hw, 3001), 1);
    hardware_clear(&hw);
    expect_load_error(in_folder("full.cfg"), "cache.all_miss_bytes=999", STATUS_INVALID,
                      "--set-hw cache.all_miss_bytes=999: cache.all_miss_bytes: 999, expected "
                      "all_hit_bytes <= all_miss_bytes");
    expect_load_error(in_folder("full.cfg"), "cache.all_hit_bytes=3001", STATUS_INVALID,
                      "cache.all_hit_bytes: 3001, expected all_hit_bytes <= all_miss_bytes");
}

/* ---- overrides and facts ---- */

Test(hardware, overrides_change_what_they_name)
{
    struct hardware hw;
    load_ok("ascend310", "clock_mhz=1000", &hw);
    expect_rate(operation_price(&hw, "vadd")->rate, 2000000, 1);
    expect_rate(operation_price(&hw, "vecCmp")->rate, 20000000, 1);
    hardware_clear(&hw);
    load_ok("ascend310", " Paths.GM->L1.bandwidth_gbps = 2.5e1 ", &hw);
    expect_rate(move_price(&hw, "gm", "l1")->rate, 40000, 1);
    cr_expect_eq(move_price(&hw, "gm", "ub")->rate.units, 7);
    hardware_clear(&hw);
    load_ok("ascend310", "buses.interconnect.total_gbps.2=30", &hw);
    cr_expect_eq(hw.buses[0].total_bytes_per_s[1], 30000000000);
    hardware_clear(&hw);
    load_ok("ascend310", "matrix.f16.gflops=7936", &hw);
    expect_rate(hw.prices[hw.matrix_types[0].price].rate, 1000000, 1);
    hardware_clear(&hw);
    load_ok("ascend310", "issue_ns=0", &hw);
    cr_expect_eq(move_price(&hw, "gm", "l1")->base_fs, 0);
    cr_expect_eq(hw.prices[hw.matrix_types[0].price].base_fs, 0);
    cr_expect_eq(operation_price(&hw, "relu")->base_fs, 41500000);
    hardware_clear(&hw);
    load_ok("ascend310", "buffers.l1.capacity_bytes=17179869184", &hw);
    cr_expect_eq(hw.buffers[hardware_buffer(&hw, "l1", 2)].capacity_bytes, 17179869184);
    hardware_clear(&hw);
}

Test(hardware, broken_overrides)
{
    static const char *const broken[][2] = {
        {"cores=0", "--set-hw cores=0: cores: 0, expected a whole number from 1 to 4096 cores"},
        {"cores=1.5", "cores: 1.5, expected a whole number"},
        {"cores", "--set-hw cores: \"cores\", expected key=value"},
        {"", "expected key=value"},
        {"=3", "unknown key"},
        {"cores=", "cores: \"\", expected a number"},
        {"cores=two", "cores: \"two\", expected a number"},
        {"cores=2x", "expected a number"},
        {"cores=2 3", "expected a number"},
        {"cores=0x10", "expected a number"},
        {"clock_mhz=nan", "expected a number"},
        {"clock_mhz=inf", "expected a number"},
        {"clock_mhz=-", "expected a number"},
        {"clock_mhz=1e999", "clock_mhz: a number beyond all bounds, expected"},
        {"cores=99999999999999999999", "expected a whole number from 1 to 4096"},
        {"core=1", "core: unknown key, expected a number of the description; did you mean cores"},
        {"l1.capacity_bytes=1", "did you mean buffers.l1.capacity_bytes"},
        {"paths.gm->l1=1", "did you mean paths.gm->"},
        {"operations.relu.repeat_ns=1", "did you mean operations.relu."},
        {"name=3", "name: unknown key"},
        {"buses.interconnect.total_gbps.5=42", "unknown key"},
        {"buses.interconnect.total_gbps.0=42", "unknown key"},
        {"buses.interconnect.total_gbps.1=10", "--set-hw buses.interconnect.total_gbps.1=10: "
                                               "buses.interconnect.total_gbps.1: 10, expected a "
                                               "share"},
        {"buses.interconnect.total_gbps.3=35", "buses.interconnect.total_gbps.3: 35, expected a "
                                               "total"},
        {"paths.l0c->ub.casts.f32:f16.bandwidth_gbps=0", "f32:f16.bandwidth_gbps: 0, expected"},
        {"vector_repeat_bytes=6", "vector_repeat_bytes: 6, expected a multiple of 4"},
    };
    char huge[3000];
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++)
        expect_load_error("ascend310", broken[i][0], STATUS_INVALID, broken[i][1]);
    memset(huge, 'k', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    expect_load_error("ascend310", huge, STATUS_INVALID, "expected key=value");
    huge[1000] = '=';
    expect_load_error("ascend310", huge, STATUS_INVALID, "expected key=value");
    memset(huge, '1', sizeof huge - 1);
    memcpy(huge, "cores=", 6);
    expect_load_error("ascend310", huge, STATUS_INVALID, "expected a number");
}

static bool same_price(const struct price *a, const struct price *b)
{
    return a->base_fs == b->base_fs && a->burst_table == b->burst_table &&
           a->latency_fs == b->latency_fs && a->rate.fs == b->rate.fs &&
           a->rate.units == b->rate.units && a->pipe == b->pipe && a->bus == b->bus;
}

/* Prices one by one, since they have padding; the rest has none that is ever written. */
static void expect_same(const struct hardware *a, const struct hardware *b, const char *what)
{
    static struct hardware plain_a, plain_b;
    memcpy(&plain_a, a, sizeof plain_a);
    memcpy(&plain_b, b, sizeof plain_b);
    for (int i = 0; i < a->price_count; i++)
        cr_expect(same_price(&a->prices[i], &b->prices[i]), "%s: price %d", what, i);
    memset(plain_a.prices, 0, sizeof plain_a.prices);
    memset(plain_b.prices, 0, sizeof plain_b.prices);
    plain_a.facts = plain_b.facts = NULL;
    cr_expect_eq(memcmp(&plain_a, &plain_b, sizeof plain_a), 0, "%s", what);
    for (size_t i = 0; i < a->fact_count; i++)
        cr_expect_str_eq(a->facts[i].value, b->facts[i].value, "%s", what);
}

static void expect_facts_round_trip(const char *name)
{
    static struct hardware base, again;
    load_ok(name, NULL, &base);
    cr_expect_gt(base.fact_count, 60);
    cr_expect_str_eq(base.facts[0].key, "cores");
    for (size_t i = 0; i < base.fact_count; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s=%s", base.facts[i].key, base.facts[i].value);
        cr_expect_str_neq(base.facts[i].source, "");
        if (base.facts[i].is_words)
            continue;
        load_ok(name, text, &again);
        expect_same(&base, &again, text);
        cr_expect_str_eq(again.facts[i].source, "set by --set-hw");
        hardware_clear(&again);
    }
    hardware_clear(&base);
}

Test(hardware, facts_round_trip)
{
    struct hardware full;
    expect_facts_round_trip("ascend310");
    load_full(&full);
    expect_facts_round_trip(in_folder("full.cfg"));
    hardware_clear(&full);
}

/* ---- names and folders ---- */

struct names {
    char text[1024];
};

static void add_name(void *context, const char *name)
{
    struct names *names = context;
    strcat(names->text, name);
    strcat(names->text, "\n");
}

Test(hardware, names)
{
    static const char *const spellings[] = {"ascend310", "Ascend310", "Ascend 310",
                                            " ASCEND\t310 "};
    struct hardware hw;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++) {
        load_ok(spellings[i], NULL, &hw);
        cr_expect_str_eq(hw.file, SHIPPED);
        hardware_clear(&hw);
    }
    expect_load_error("ascend 311", NULL, STATUS_INVALID,
                      "no hardware description is called \"ascend 311\", expected "
                      "ascend310, ascend310-l1-2m");
    expect_load_error("", NULL, STATUS_INVALID, "no hardware description");
    expect_load_error("ascend310.cfg", NULL, STATUS_IO, "ascend310.cfg: cannot be read");
    load_ok(SHIPPED, NULL, &hw);
    hardware_clear(&hw);
}

Test(hardware, each_in_order)
{
    struct names names = {""};
    struct error error;
    cr_assert_eq(hardware_each(add_name, &names, &error), STATUS_OK);
    cr_expect(strstr(names.text, "ascend310\n") && strstr(names.text, "ascend310-l1-2m\n"));
    setenv("AUTOTUNE_CONFIGS", folder, 1);
    cr_expect_eq(hardware_each(add_name, &names, &error), STATUS_IO);
    cr_assert_eq(mkdir(in_folder("hardware"), 0700), 0);
    write_file("hardware/b.cfg", "");
    write_file("hardware/a.cfg", "");
    write_file("hardware/c.ini", "");
    names.text[0] = '\0';
    cr_assert_eq(hardware_each(add_name, &names, &error), STATUS_OK);
    cr_expect_str_eq(names.text, "a\nb\n");
}

Test(hardware, every_shipped_description_loads)
{
    struct names names = {""};
    struct hardware hw;
    cr_assert_eq(hardware_each(add_name, &names, NULL), STATUS_OK);
    char *state = NULL;
    for (char *name = strtok_r(names.text, "\n", &state); name;
         name = strtok_r(NULL, "\n", &state)) {
        load_ok(name, NULL, &hw);
        hardware_clear(&hw);
    }
}

Test(hardware, folder)
{
    char found[512], small[4];
    struct error error;
    cr_assert_eq(hardware_folder(found, sizeof found, &error), STATUS_OK);
    cr_expect_str_eq(found, SOURCE_DIR "/configs");
    cr_expect_eq(hardware_folder(small, sizeof small, &error), STATUS_IO);
    setenv("AUTOTUNE_CONFIGS", "/nonexistent", 1);
    cr_expect_eq(hardware_folder(found, sizeof found, &error), STATUS_IO);
    cr_expect(strstr(error.text, "AUTOTUNE_CONFIGS: /nonexistent"));
    expect_load_error("ascend310", NULL, STATUS_IO, "/nonexistent");
}
