/* CANN's platform files as descriptions: what each generation becomes, what is filled in and said
 * about it, where names are looked up, and what broken files are told. */
#include "hardware/load.h"
#include "tests/hardware_files.h"

#include <math.h>

TestSuite(platform, .init = enter, .fini = leave);

/* Made up, in the form of the second generation: one key a line, so that lines can be counted. */
static const char unified[] =
    "# a comment\n"               /* 1 */
    "[version]\n"                 /* 2 */
    "SoC_version=Test Chip\n"     /* 3 */
    "\n"                          /* 4 */
    "[SoCInfo]\n"                 /* 5 */
    "ai_core_cnt=6\n"             /* 6 */
    "vector_core_cnt=3\n"         /* 7 */
    "memory_size=\n"              /* 8 */
    "l2_type=0\n"                 /* 9 */
    "l2_size=8388608\n"           /* 10 */
    "\n"                          /* 11 */
    "[AICoreSpec]\n"              /* 12 */
    "cube_freq=800\n"             /* 13 */
    "cube_m_size=16\n"            /* 14 */
    "cube_n_size=16\n"            /* 15 */
    "cube_k_size=16\n"            /* 16 */
    "vec_calc_size=64\n"          /* 17 */
    "l0_a_size=32768\n"           /* 18 */
    "l0_b_size=49152\n"           /* 19 */
    "l0_c_size=131072\n"          /* 20 */
    "l1_size=786432\n"            /* 21 */
    "ub_size=196608\n"            /* 22 */
    "\n"                          /* 23 */
    "[AICoreMemoryRates]\n"       /* 24 */
    "ddr_rate=20\n"               /* 25 */
    "ddr_read_rate=21\n"          /* 26 */
    "ddr_write_rate=22\n"         /* 27 */
    "l2_rate=60\n"                /* 28 */
    "l2_read_rate=61\n"           /* 29 */
    "l2_write_rate=62\n"          /* 30 */
    "l1_to_l0_a_rate=400\n"       /* 31 */
    "l1_to_l0_b_rate=200\n"       /* 32 */
    "l1_to_ub_rate=100\n"         /* 33 */
    "l0_c_to_ub_rate=220\n"       /* 34 */
    "ub_to_l2_rate=50\n"          /* 35 */
    "ub_to_ddr_rate=40\n"         /* 36 */
    "ub_to_l1_rate=110\n"         /* 37 */
    "\n"                          /* 38 */
    "[DtypeMKN]\n"                /* 39 */
    "Default=16,16,16\n"          /* 40 */
    "DT_INT8=16,32,16\n"          /* 41 */
    "DT_INT4=16,64,16\n"          /* 42 */
    "\n"                          /* 43 */
    "[AICoreintrinsicDtypeMap]\n" /* 44 */
    "0=Intrinsic_vrec|float16\n"  /* 45 */
    "0=Intrinsic_vadd|float16,int32\n" /* 46: twice, but nobody reads it */;

static const char split[] = "[version]\n"
                            "SoC_version=Test Split\n"
                            "[SoCInfo]\n"
                            "ai_core_cnt=5\n"
                            "cube_core_cnt=4\n"
                            "vector_core_cnt=8\n"
                            "l2_type=0\n"
                            "cube_vector_combine=split\n"
                            "[AICoreSpec]\n"
                            "cube_freq=2000\n"
                            "vec_calc_size=128\n"
                            "l0_a_size=65536\n"
                            "l0_b_size=65536\n"
                            "l0_c_size=131072\n"
                            "l1_size=524288\n"
                            "ub_size=196608\n"
                            "[AICoreMemoryRates]\n"
                            "ddr_rate=32\n"
                            "l2_rate=100\n"
                            "l2_read_rate=110\n"
                            "l2_write_rate=80\n"
                            "l1_to_l0_a_rate=512\n"
                            "l1_to_l0_b_rate=256\n"
                            "l0_c_to_ub_rate=256\n"
                            "ub_to_l2_rate=64\n"
                            "[DtypeMKN]\n"
                            "Default=16,16,16\n"
                            "DT_INT8=16,32,16\n";

static const char *const generations[] = {unified, split};

static const struct fact *fact_of(const struct hardware *hw, const char *key)
{
    for (size_t i = 0; i < hw->fact_count; i++)
        if (strcmp(hw->facts[i].key, key) == 0)
            return &hw->facts[i];
    return NULL;
}

static double value_of(const struct hardware *hw, const char *key)
{
    const struct fact *fact = fact_of(hw, key);
    cr_assert(fact, "%s has no %s", hw->name, key);
    return strtod(fact->value, NULL);
}

static void expect_value(const struct hardware *hw, const char *key, double value)
{
    cr_expect(fabs(value_of(hw, key) - value) < 1e-9 * (1 + fabs(value)),
              "%s of %s: %.15g, expected %.15g", key, hw->name, value_of(hw, key), value);
}

static void expect_source(const struct hardware *hw, const char *key, const char *source)
{
    const struct fact *fact = fact_of(hw, key);
    cr_assert(fact, "%s has no %s", hw->name, key);
    cr_expect_str_eq(fact->source, source, "%s: %s\nexpected %s", key, fact->source, source);
}

static const char *load_text(const char *text, struct hardware *hw)
{
    write_file("chip.ini", text);
    load_ok(in_folder("chip.ini"), NULL, hw);
    return in_folder("chip.ini");
}

static int path_between(const struct hardware *hw, const char *from, const char *to)
{
    return hardware_path(hw, hardware_buffer(hw, from, (int)strlen(from)),
                         hardware_buffer(hw, to, (int)strlen(to)));
}

/* What core/hardware.h promises, checked from its text alone. */
static void expect_rules(const struct hardware *hw)
{
    cr_expect(hw->cores >= 1 && hw->clock_hz >= 1000000 && hw->name[0]);
    cr_expect(hw->flag_registers >= 1 && hw->vector_repeat_bytes % 4 == 0);
    for (int b = 0; b < hw->bus_count; b++)
        for (int n = 2; n <= hw->buses[b].sharers; n++) {
            int64_t fewer = hw->buses[b].total_bytes_per_s[n - 2];
            int64_t total = hw->buses[b].total_bytes_per_s[n - 1];
            cr_expect(total >= fewer && total * (n - 1) <= fewer * n, "%s: total %d", hw->name, n);
        }
    for (int p = 0; p < hw->path_count; p++) {
        const struct path *path = &hw->paths[p];
        cr_expect(path->source >= 0 && path->source < hw->buffer_count && path->destination >= 0 &&
                  path->destination < hw->buffer_count);
        cr_expect(path->pipe >= 0 && path->pipe < hw->pipe_count && path->bus < hw->bus_count);
        cr_expect_not(hw->pipes[path->pipe].blocks_dispatch);
    }
    for (int p = 0; p < hw->price_count; p++)
        cr_expect(hw->prices[p].base_fs >= 0 && hw->prices[p].rate.fs >= 0 &&
                  hw->prices[p].rate.units > 0 && hw->prices[p].pipe >= 0);
    for (int i = 0; i < hw->buffer_count; i++)
        cr_expect_eq(hw->buffers[i].capacity_bytes == 0,
                     strcmp(hw->buffers[i].name, "gm") == 0 || i == hw->cache.behind);
    for (size_t i = 0; i < hw->fact_count; i++)
        cr_expect(*hw->facts[i].key && *hw->facts[i].value && *hw->facts[i].source);
}

/* ---- what each generation becomes ---- */

Test(platform, unified_cores)
{
    static const struct {
        const char *key;
        double value;
    } numbers[] = {
        {"cores", 6},
        {"clock_mhz", 800},
        {"vector_repeat_bytes", 128},
        {"launch_ns", 2050},
        {"core_skew_ns", 61},
        {"issue_ns", 34},
        {"host_call_ns", 120000},
        {"flag_registers", 8},
        {"buffers.l1.capacity_bytes", 786432},
        {"buffers.l0a.capacity_bytes", 32768},
        {"buffers.l0b.capacity_bytes", 49152},
        {"buffers.l0c.capacity_bytes", 131072},
        {"buffers.ub.capacity_bytes", 196608},
        {"buses.l2.total_gbps.1", 48.8},
        {"buses.l2.total_gbps.6", 292.8},
        {"paths.gm->l1.bandwidth_gbps", 48.8},
        {"paths.gm->l0a.bandwidth_gbps", 48.8},
        {"paths.gm->l0b.bandwidth_gbps", 48.8},
        {"paths.gm->ub.bandwidth_gbps", 48.8},
        {"paths.ub->gm.bandwidth_gbps", 40},
        {"paths.l1->l0a.bandwidth_gbps", 320},
        {"paths.l1->l0b.bandwidth_gbps", 160},
        {"paths.l0c->ub.bandwidth_gbps", 176},
        {"paths.l0c->ub.casts.f32:f16.bandwidth_gbps", 176},
        {"paths.ub->l1.bandwidth_gbps", 88},
        {"paths.l1->ub.bandwidth_gbps", 80},
        {"matrix.f16.block_flop", 8192},
        {"matrix.f16.gflops", 6553.6},
        {"matrix.i8.block_k", 32},
        {"matrix.i8.block_flop", 16384},
        {"matrix.i8.gflops", 13107.2},
        {"operations.relu.first_ns", 35.275},
        {"operations.relu.repeat_cycles", 1},
        {"operations.vecCmp.repeat_cycles", 13.6},
        {"operations.branch.each_ns", 52.19},
    };
    struct hardware hw;
    const char *file = load_text(unified, &hw);
    cr_expect_str_eq(hw.name, "Test Chip");
    cr_expect_str_eq(hw.file, file);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        expect_value(&hw, numbers[i].key, numbers[i].value);
    cr_expect_eq(hw.buses[0].sharers, 6);
    cr_expect_eq(hw.cores, 6);
    cr_expect_eq(hw.clock_hz, 800000000);
    cr_expect_eq(hw.issue_fs, 34000000);
    cr_expect_eq(hw.buses[0].total_bytes_per_s[5], 292800000000);
    expect_rules(&hw);
    hardware_clear(&hw);
}

/* Of f32 two. Which types there are is the defaults' matter. */
Test(platform, matrix_block_takes_one_cycle)
{
    for (size_t g = 0; g < 2; g++) {
        struct hardware hw;
        load_text(generations[g], &hw);
        for (int i = 0; i < hw.matrix_type_count; i++)
            cr_expect_eq(rate_ceil_fs(hw.prices[hw.matrix_types[i].price].rate, 1),
                         FS_PER_S / hw.clock_hz * (hw.matrix_types[i].type == DTYPE_F32 ? 2 : 1),
                         "%s", dtype_name(hw.matrix_types[i].type));
        cr_expect_eq(hw.matrix_type_count, generations[g] == split ? 4 : 2);
        hardware_clear(&hw);
    }
}

Test(platform, split_cores)
{
    static const struct {
        const char *from, *to, *pipe;
        int bus;
        double gbps;
    } paths[] = {
        {"gm", "l1", "MTE2", 0, 220},    {"gm", "l0a", "MTE2", 0, 220},
        {"gm", "l0b", "MTE2", 0, 220},   {"gm", "ub", "VMTE2", 0, 220},
        {"ub", "gm", "MTE3", 0, 128},    {"l0c", "gm", "FIXP", 0, 160},
        {"l1", "l0a", "MTE1", -1, 1024}, {"l1", "l0b", "MTE1", -1, 512},
    };
    static const char *const absent[][2] = {{"l0c", "ub"}, {"ub", "l1"}, {"l1", "ub"}};
    struct hardware hw;
    load_text(split, &hw);
    cr_expect_eq(hw.cores, 4);
    cr_expect_eq(hw.path_count, 8);
    cr_expect_eq(hw.launch_fs, 520000000);
    cr_expect_eq(hw.core_skew_fs, 32000000);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        int path = path_between(&hw, paths[i].from, paths[i].to);
        cr_assert_geq(path, 0, "%s->%s", paths[i].from, paths[i].to);
        const struct price *price = &hw.prices[hw.paths[path].price];
        struct rate rate = rate_reduce(FS_PER_S, (int64_t)(paths[i].gbps * 1e9));
        cr_expect_str_eq(hw.pipes[price->pipe].name, paths[i].pipe);
        cr_expect_eq(price->bus, paths[i].bus);
        cr_expect(price->rate.fs == rate.fs && price->rate.units == rate.units, "%s->%s",
                  paths[i].from, paths[i].to);
    }
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        cr_expect_eq(path_between(&hw, absent[i][0], absent[i][1]), -1);
    int drain = path_between(&hw, "l0c", "gm");
    cr_expect_geq(hardware_move_price(&hw, drain, DTYPE_F32, DTYPE_F16), 0);
    expect_value(&hw, "buses.l2.total_gbps.4", 880);
    expect_rules(&hw);
    hardware_clear(&hw);
}

Test(platform, which_chips_are_split)
{
    static const struct {
        const char *line;
        bool split;
    } lines[] = {
        {"", false},
        {"cube_vector_combine=\n", false},
        {"cube_vector_combine=split\n", true},
        {"cube_vector_combine=Split \n", true},
        {"cube_vector_combine=fuse\n", false},
        {"cube_vector_combine=fuse,split\n", false},
        {"cube_vector_combine=split,fuse\n", false},
        {"cubeVectorCombine=split\n", true},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct hardware hw;
        char *text = replaced(split, "cube_vector_combine=split\n", lines[i].line);
        load_text(text, &hw);
        cr_expect_eq(path_between(&hw, "l0c", "ub") < 0, lines[i].split, "%s", lines[i].line);
        cr_expect_eq(hw.cores, lines[i].split ? 4 : 5); /* cube_core_cnt or ai_core_cnt */
        hardware_clear(&hw);
        free(text);
    }
}

/* L2 beside the way to global memory: the DDR's rate, and one total for all. */
Test(platform, l2_as_a_buffer)
{
    struct hardware hw;
    char *text = replaced(unified, "l2_type=0", "l2_type=1");
    load_text(text, &hw);
    expect_value(&hw, "buses.l2.total_gbps.1", 16.8);
    cr_expect_eq(hw.buses[0].sharers, 1);
    expect_value(&hw, "paths.gm->l1.bandwidth_gbps", 16.8);
    expect_value(&hw, "paths.ub->gm.bandwidth_gbps", 32);
    expect_value(&hw, "paths.l1->l0a.bandwidth_gbps", 320);
    hardware_clear(&hw);
    free(text);
}

Test(platform, more_cores_than_totals)
{
    struct hardware hw;
    char *text = replaced(unified, "ai_core_cnt=6", "ai_core_cnt=4096");
    load_text(text, &hw);
    cr_expect_eq(hw.cores, 4096);
    cr_expect_eq(hw.buses[0].sharers, HARDWARE_MAX_SHARERS);
    expect_rules(&hw);
    hardware_clear(&hw);
    free(text);
}

/* ---- spellings ---- */

static void expect_same_facts(const struct hardware *a, const struct hardware *b)
{
    cr_assert_eq(a->fact_count, b->fact_count);
    for (size_t i = 0; i < a->fact_count; i++) {
        cr_expect_str_eq(a->facts[i].key, b->facts[i].key);
        cr_expect_str_eq(a->facts[i].value, b->facts[i].value, "%s", a->facts[i].key);
    }
}

Test(platform, spellings_and_line_ends)
{
    static const char *const changes[][2] = {
        {"cube_freq=800", "cubeFreq=800"},
        {"l0_a_size", "l0ASize"},
        {"ai_core_cnt", "aiCoreCnt"},
        {"l1_to_l0_a_rate=400", "l1ToL0ARate = 400"},
        {"[SoCInfo]", "\t[ socinfo ] "},
        {"cube_freq=800", "  cube_freq\t=\t800  "},
        {"cube_freq=800", "cube_freq=800.0"},
        {"# a comment", "; a comment\xff\xfe in any encoding"},
        {"l2_read_rate=61", "l2_read_rate=48800000000/800000000"},
        {"l2_read_rate=61", "l2_read_rate=61.0/1.0"},
        {"Default=16,16,16", "Default= 16 ,16,16"},
        {"Default=16,16,16", "DT_FLOAT16=16,16,16\nDefault=1,1,1"},
        {"\n\n", "\n# nothing\n"},
        {"[AICoreintrinsicDtypeMap]\n", "[Whatever]\n[Whatever]\n"},
    };
    struct hardware plain, changed;
    load_text(unified, &plain);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char *text = replaced(unified, changes[i][0], changes[i][1]);
        write_file("changed.ini", text);
        free(text);
        load_ok(in_folder("changed.ini"), NULL, &changed);
        expect_same_facts(&plain, &changed);
        hardware_clear(&changed);
    }
    hardware_clear(&plain);
}

Test(platform, carriage_returns_byte_order_mark_and_no_last_line_end)
{
    struct hardware plain, changed;
    char text[2 * sizeof unified + 3], *at = text;
    at += sprintf(at, "\xef\xbb\xbf");
    for (const char *from = unified; *from; from++)
        at += sprintf(at, *from == '\n' ? "\r\n" : "%c", *from);
    at[-2] = '\0';
    load_text(unified, &plain);
    write_file("windows.ini", text);
    load_ok(in_folder("windows.ini"), NULL, &changed);
    expect_same_facts(&plain, &changed);
    for (size_t i = 0; i < plain.fact_count; i++) /* lines too */
        cr_expect_str_eq(plain.facts[i].source, changed.facts[i].source);
    hardware_clear(&plain);
    hardware_clear(&changed);
}

/* ---- provenance and defaults ---- */

Test(platform, sources_of_what_the_file_has)
{
    struct hardware hw;
    load_text(unified, &hw);
    expect_source(&hw, "cores", "published in the platform file: ai_core_cnt=6 (line 6)");
    expect_source(&hw, "clock_mhz", "published in the platform file: cube_freq=800 (line 13)");
    expect_source(&hw, "vector_repeat_bytes",
                  "derived, 2 bytes an element, from the platform file: vec_calc_size=64 "
                  "(line 17)");
    expect_source(&hw, "buffers.ub.capacity_bytes",
                  "published in the platform file: ub_size=196608 (line 22)");
    expect_source(&hw, "paths.ub->gm.bandwidth_gbps",
                  "published in the platform file: ub_to_l2_rate=50 (line 35); bytes_per_cycle=50");
    expect_source(&hw, "buses.l2.total_gbps.3",
                  "derived, bytes a cycle times the clock, from the platform file: "
                  "l2_read_rate=61 (line 29), for each core");
    expect_source(&hw, "matrix.i8.gflops",
                  "derived, one block a cycle, from the platform file: DT_INT8=16,32,16 (line 41); "
                  "block_cycles=1");
    expect_source(&hw, "issue_ns", "assumed: default, as on the Ascend 310; issue_cycles=27.2");
    expect_source(&hw, "launch_ns", "assumed: default, as on the Ascend 310");
    hardware_clear(&hw);
}

/* Each key gone, and each key without its value: the default, said to be one. */
Test(platform, defaults)
{
    static const struct {
        const char *line, *key;
        double value;
    } lines[] = {
        {"vec_calc_size=64", "vector_repeat_bytes", 256},
        {"l0_a_size=32768", "buffers.l0a.capacity_bytes", 65536},
        {"l0_b_size=49152", "buffers.l0b.capacity_bytes", 65536},
        {"l0_c_size=131072", "buffers.l0c.capacity_bytes", 262144},
        {"l1_size=786432", "buffers.l1.capacity_bytes", 1048576},
        {"ub_size=196608", "buffers.ub.capacity_bytes", 253952},
        {"l1_to_l0_a_rate=400", "paths.l1->l0a.bandwidth_gbps", 512 * 0.8},
        {"l1_to_l0_b_rate=200", "paths.l1->l0b.bandwidth_gbps", 256 * 0.8},
        {"l1_to_ub_rate=100", "paths.l1->ub.bandwidth_gbps", 128 * 0.8},
        {"l0_c_to_ub_rate=220", "paths.l0c->ub.bandwidth_gbps", 256 * 0.8},
        {"l0_c_to_ub_rate=220", "paths.l0c->ub.casts.f32:f16.bandwidth_gbps", 256 * 0.8},
        {"ub_to_l1_rate=110", "paths.ub->l1.bandwidth_gbps", 128 * 0.8},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int empty = 0; empty < 2; empty++) {
            struct hardware hw;
            char said[128], name[64], kept[80] = "";
            snprintf(name, sizeof name, "%.*s", (int)strcspn(lines[i].line, "="), lines[i].line);
            if (empty)
                snprintf(kept, sizeof kept, "%s= ", name);
            char *text = replaced(unified, lines[i].line, kept);
            load_text(text, &hw);
            expect_value(&hw, lines[i].key, lines[i].value);
            snprintf(said, sizeof said, "; the platform file %s %s",
                     empty ? "has an empty" : "has no", name);
            const char *source = fact_of(&hw, lines[i].key)->source;
            cr_expect(strncmp(source, "assumed: default", 16) == 0, "%s", source);
            cr_expect(strstr(source, said), "%s\nexpected %s", source, said);
            hardware_clear(&hw);
            free(text);
        }
}

Test(platform, the_next_key_stands_in)
{
    static const char *const gone[] = {"l2_read_rate=61\n", "l2_rate=60\n", "ddr_read_rate=21\n",
                                       "ddr_rate=20\n"};
    static const double gbps[] = {60 * 0.8, 21 * 0.8, 20 * 0.8, 128 * 0.8};
    struct hardware hw;
    char *text = strdup(unified);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        char *shorter = replaced(text, gone[i], i % 2 ? "" : "\n");
        free(text);
        text = shorter;
        load_text(text, &hw);
        expect_value(&hw, "paths.gm->l1.bandwidth_gbps", gbps[i]);
        expect_value(&hw, "buses.l2.total_gbps.6", 6 * gbps[i]);
        hardware_clear(&hw);
    }
    free(text);
}

Test(platform, blocks_without_their_section)
{
    struct hardware hw;
    char *text = replaced(unified, "[DtypeMKN]", "[Nothing]");
    char *other = replaced(text, "cube_k_size=16", "cube_k_size=32");
    load_text(other, &hw);
    expect_value(&hw, "matrix.f16.block_k", 32);
    expect_value(&hw, "matrix.f16.gflops", 2 * 16 * 32 * 16 * 0.8);
    expect_source(&hw, "matrix.f16.block_k",
                  "published in the platform file: cube_m_size, cube_k_size, cube_n_size "
                  "(lines 14, 16, 15)");
    expect_value(&hw, "matrix.i8.gflops", 16384 * 0.8);
    cr_expect(strncmp(fact_of(&hw, "matrix.i8.gflops")->source, "assumed: default", 16) == 0);
    hardware_clear(&hw);
    free(other);
    other = replaced(text, "cube_m_size=16\n", "");
    load_text(other, &hw);
    expect_value(&hw, "matrix.f16.block_m", 16);
    expect_value(&hw, "matrix.f16.gflops", 8192 * 0.8);
    hardware_clear(&hw);
    free(other);
    free(text);
}

Test(platform, the_smallest_file)
{
    struct hardware hw;
    load_text("[SoCInfo]\nai_core_cnt=1\n[AICoreSpec]\ncube_freq=680\n[AICoreMemoryRates]", &hw);
    cr_expect_str_eq(hw.name, "chip"); /* the file's */
    expect_value(&hw, "paths.l1->l0a.bandwidth_gbps", 348.16);
    expect_value(&hw, "issue_ns", 40);
    expect_source(&hw, "issue_ns", "assumed: default, as on the Ascend 310; issue_cycles=27.2");
    expect_rules(&hw);
    hardware_clear(&hw);
}

/* ---- overrides and variants ---- */

/* Totals of a bus are alike: one of eight is enough. */
static bool is_tried(const char *key)
{
    const char *total = strstr(key, ".total_gbps.");
    return !total || strtol(total + strlen(".total_gbps."), NULL, 10) % 8 == 1;
}

Test(platform, facts_round_trip)
{
    for (size_t g = 0; g < 2; g++) {
        static struct hardware base, again;
        load_text(generations[g], &base);
        for (size_t i = 0; i < base.fact_count; i++) {
            char text[256];
            if (!is_tried(base.facts[i].key) || base.facts[i].is_words)
                continue;
            snprintf(text, sizeof text, "%s=%s", base.facts[i].key, base.facts[i].value);
            load_ok(in_folder("chip.ini"), text, &again);
            expect_same_facts(&base, &again);
            for (int p = 0; p < base.price_count; p++)
                cr_expect(base.prices[p].base_fs == again.prices[p].base_fs &&
                              base.prices[p].rate.fs == again.prices[p].rate.fs &&
                              base.prices[p].rate.units == again.prices[p].rate.units,
                          "%s", text);
            cr_expect(fact_is_override(&again.facts[i]));
            hardware_clear(&again);
        }
        hardware_clear(&base);
    }
}

Test(platform, measured_numbers_on_top)
{
    struct hardware hw;
    write_file("chip.ini", unified);
    write_file("better.cfg", "name = \"Better\"; base = \"chip.ini\"; source = \"measured here\";\n"
                             "set = [\"paths.l1->l0a.bandwidth_gbps=200\"];");
    load_ok(in_folder("better.cfg"), NULL, &hw);
    cr_expect_str_eq(hw.name, "Better");
    expect_value(&hw, "paths.l1->l0a.bandwidth_gbps", 200);
    expect_source(&hw, "paths.l1->l0a.bandwidth_gbps", "measured here (set in better.cfg:2)");
    expect_value(&hw, "paths.l1->l0b.bandwidth_gbps", 160);
    hardware_clear(&hw);
    expect_load_error(in_folder("chip.ini"), "buses.l2.total_gbps.2=1000", STATUS_INVALID,
                      "--set-hw buses.l2.total_gbps.2=1000: buses.l2.total_gbps.2: 1000, expected");
}

/* ---- names ---- */

static void make_folder(const char *name)
{
    cr_assert_eq(mkdir(in_folder(name), 0700), 0, "%s", name);
}

static void expect_found(const char *folders, const char *name, const char *file)
{
    struct hardware hw;
    struct error error = {0};
    char path[512];
    snprintf(path, sizeof path, "%s/%s", *file == '/' ? "" : folder, file);
    cr_assert_eq(hardware_load_from(folders, name, NULL, &hw, &error), STATUS_OK, "%s", error.text);
    cr_expect_str_eq(hw.file, *file == '/' ? file : path);
    hardware_clear(&hw);
}

struct names {
    char text[1024];
};

static void add_name(void *context, const char *name)
{
    struct names *names = context;
    strcat(names->text, name);
    strcat(names->text, "\n");
}

Test(platform, names)
{
    char here[256], both[600];
    struct error error;
    struct names names = {""};
    unsetenv("ASCEND_HOME_PATH");
    make_folder("cann");
    make_folder("cann/data");
    make_folder("cann/data/platform_config");
    make_folder("cann/compiler");
    make_folder("cann/compiler/data");
    make_folder("cann/compiler/data/platform_config");
    make_folder("cann/aarch64-linux");
    make_folder("cann/aarch64-linux/data");
    make_folder("cann/aarch64-linux/data/platform_config");
    make_folder("own");
    write_file("cann/data/platform_config/ChipA.ini", unified);
    write_file("cann/compiler/data/platform_config/ChipA.ini", split);
    write_file("cann/compiler/data/platform_config/ChipB.ini", unified);
    write_file("cann/aarch64-linux/data/platform_config/ChipC.INI", unified);
    write_file("cann/ChipD.ini", unified);
    write_file("cann/data/platform_config/Ascend310.ini", unified);
    write_file("own/ChipB.ini", split);
    write_file("own/.hidden.ini", split);
    snprintf(here, sizeof here, "%s", in_folder("cann"));
    snprintf(both, sizeof both, "%s:%s", in_folder("own"), here);
    expect_found(here, "chipa", "cann/data/platform_config/ChipA.ini");
    expect_found(here, "Chip B", "cann/compiler/data/platform_config/ChipB.ini");
    expect_found(here, "CHIPC", "cann/aarch64-linux/data/platform_config/ChipC.INI");
    expect_found(here, "chipd", "cann/ChipD.ini");
    expect_found(here, "ascend310", SHIPPED);
    expect_found(both, "chipb", "own/ChipB.ini");
    expect_load_error("chipa", NULL, STATUS_INVALID, "no hardware description is called \"chipa\"");
    setenv("ASCEND_HOME_PATH", here, 1);
    expect_found(NULL, "chipa", "cann/data/platform_config/ChipA.ini");
    expect_found(in_folder("own"), "chipb", "own/ChipB.ini");
    expect_found("::/nonexistent:", "chipb", "cann/compiler/data/platform_config/ChipB.ini");
    cr_assert_eq(hardware_each_from(both, add_name, &names, &error), STATUS_OK);
    const char *first = strstr(names.text, "ChipB\nChipA\nChipC\nChipD\n");
    cr_expect(first && !strstr(first + 5, "ChipB"), "%s", names.text);
    cr_expect_not(strstr(names.text, "Ascend310\n"));
    cr_expect_not(strstr(names.text, "hidden"));
    unsetenv("ASCEND_HOME_PATH");
}

Test(platform, in_the_shipped_folder)
{
    struct hardware hw;
    struct error error;
    struct names names = {""};
    char command[512];
    snprintf(command, sizeof command, "cp -r '%s/configs/platform' '%s/'", SOURCE_DIR, folder);
    cr_assert_eq(system(command), 0);
    make_folder("hardware");
    write_file("hardware/Own Chip.ini", unified);
    setenv("AUTOTUNE_CONFIGS", folder, 1);
    load_ok("ownchip", NULL, &hw);
    hardware_clear(&hw);
    cr_assert_eq(hardware_each_from(NULL, add_name, &names, &error), STATUS_OK);
    cr_expect_str_eq(names.text, "Own Chip\n");
}

Test(platform, the_description_below_is_missing)
{
    make_folder("hardware");
    write_file("chip.ini", unified);
    setenv("AUTOTUNE_CONFIGS", folder, 1);
    expect_load_error(in_folder("chip.ini"), NULL, STATUS_IO,
                      "platform/unified.cfg: cannot be read");
}

Test(platform, what_a_platform_file_is_called)
{
    cr_expect(find_is_platform("a.ini") && find_is_platform("/x/A.INI"));
    cr_expect_not(find_is_platform("a.cfg") || find_is_platform(".ini") ||
                  find_is_platform("ini") || find_is_platform("a.ini.cfg") || find_is_platform(""));
}

/* ---- the shipped descriptions ---- */

Test(platform, shipped_910)
{
    static const struct {
        const char *name, *key;
        double value;
    } numbers[] = {
        {"ascend910", "cores", 30},
        {"ascend910", "clock_mhz", 900},
        {"ascend910", "issue_ns", 24.3},
        {"ascend910", "buffers.ub.capacity_bytes", 253952},
        {"ascend910", "paths.gm->l1.bandwidth_gbps", 108.7},
        {"ascend910", "paths.gm->ub.bandwidth_gbps", 103.7},
        {"ascend910", "paths.ub->l1.bandwidth_gbps", 128 * 0.9},
        {"ascend910", "paths.l0c->ub.bandwidth_gbps", 256 * 0.9},
        {"ascend910", "buses.l2.total_gbps.27", 2850},
        {"ascend910", "matrix.f16.gflops", 8192 * 0.9},
        {"ascend910", "operations.vmul.repeat_cycles", 1},
        {"ascend910", "operations.vdiv.repeat_cycles", 8},
        {"ascend910", "operations.reduceSum.first_ns", (14 + 7 + 24) / 0.9},
        {"ascend910", "operations.vdiv.types.f32.repeat_cycles", 4},
        {"ascend910b1", "cores", 24},
        {"ascend910b1", "clock_mhz", 1850},
        {"ascend910b1", "paths.l1->l0a.bandwidth_gbps", 256 * 1.85},
        {"ascend910b1", "paths.l1->l0b.bandwidth_gbps", 128 * 1.85},
        {"ascend910b1", "paths.ub->gm.bandwidth_gbps", 64 * 1.85},
        {"ascend910b1", "paths.l0c->gm.bandwidth_gbps", 215.6},
        {"ascend910b1", "buses.l2.total_gbps.17", 5000},
        {"ascend910b2", "cores", 24},
        {"ascend910b2", "clock_mhz", 1500},
        {"ascend910b2", "matrix.f16.gflops", 12288}, /* 24 of them: 294.9 TFLOP/s */
        {"ascend910b2", "paths.gm->l1.bandwidth_gbps", 280},
        {"ascend910b2", "paths.l0c->gm.bandwidth_gbps", 193.4},
        {"ascend910b2", "paths.l1->l0a.bandwidth_gbps", 294.87},
        {"ascend910b2", "launch_ns", 617.69},
        {"ascend910b3", "cores", 20},
        {"ascend910b4", "cores", 20},
        {"ascend910b4", "clock_mhz", 1500},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct hardware hw;
        load_ok(numbers[i].name, NULL, &hw);
        expect_value(&hw, numbers[i].key, numbers[i].value);
        expect_rules(&hw);
        hardware_clear(&hw);
    }
}

/* ---- CANN's own files, where they are ---- */

struct sample {
    const char *name, *key;
    double value;
};

static const struct sample samples[] = {
    {"Ascend310", "cores", 2},
    {"Ascend310", "paths.l1->l0a.bandwidth_gbps", 348.16},
    {"Ascend310", "paths.l0c->ub.bandwidth_gbps", 174.08},
    {"Ascend310", "buses.l2.total_gbps.1", 45.56},
    {"Ascend310", "buffers.ub.capacity_bytes", 253952},
    {"Ascend310B1", "cores", 1},
    {"Ascend310B1", "paths.gm->l1.bandwidth_gbps", 256 * 1.224},
    {"Ascend310B1", "paths.l0c->ub.bandwidth_gbps", 128 * 1.224},
    {"Ascend310P3", "cores", 8},
    {"Ascend310P3", "paths.ub->l1.bandwidth_gbps", 256 * 1.06},
    {"Ascend310P3", "buses.l2.total_gbps.8", 8 * 114 * 1.06},
    {"Ascend910A", "cores", 32},
    {"Ascend910A", "paths.gm->l1.bandwidth_gbps", 110},
    {"Ascend910B", "cores", 30},
    {"Ascend910B", "clock_mhz", 900},
    {"Ascend910B", "paths.l0c->ub.bandwidth_gbps", 230.4}, /* unified, in spite of the name */
    {"Ascend910B1", "cores", 24},
    {"Ascend910B1", "paths.l0c->gm.bandwidth_gbps", 86 * 1.85},
    {"Ascend910B1", "buses.l2.total_gbps.24", 24 * 110 * 1.85},
    {"Ascend910B2", "clock_mhz", 1800},
    {"Ascend910B2", "matrix.f16.gflops", 8192 * 1.8},
    {"Ascend910B4", "cores", 20},
    {"Ascend910B4", "buffers.l1.capacity_bytes", 524288},
};

/* $AUTOTUNE_PLATFORM_FILES is a folder of them: they are Huawei's, and not part of this project. */
Test(platform, files_of_cann)
{
    const char *where = getenv("AUTOTUNE_PLATFORM_FILES");
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct hardware hw;
        struct error error = {0};
        char file[512];
        snprintf(file, sizeof file, "%s/%s.ini", where ? where : "", samples[i].name);
        if (!where || access(file, R_OK) != 0) {
            fprintf(stderr, "skipped: $AUTOTUNE_PLATFORM_FILES has no %s.ini\n", samples[i].name);
            cr_skip_test("no %s.ini", samples[i].name);
        }
        cr_assert_eq(hardware_load(file, NULL, &hw, &error), STATUS_OK, "%s", error.text);
        cr_expect_str_eq(hw.name, samples[i].name);
        expect_value(&hw, samples[i].key, samples[i].value);
        expect_rules(&hw);
        hardware_clear(&hw);
    }
}
