/* A table instead of code: section, keys in order of preference, unit, target, and for which kinds
 * of chips. Keys are those of CANN's files in data/platform_config; rates there are bytes a cycle,
 * and stay that within a core; what global memory delivers does not follow a core's clock, and
 * is the GB/s that it is at the file's. */
#include "hardware/platform_parts.h"

#define ALL     (ROW_UNIFIED | ROW_SPLIT | ROW_CACHE | ROW_BUFFER)
#define UNIFIED (ROW_UNIFIED | ROW_CACHE | ROW_BUFFER)
#define SPLIT   (ROW_SPLIT | ROW_CACHE | ROW_BUFFER)
#define CACHE   (ROW_UNIFIED | ROW_SPLIT | ROW_CACHE)
#define BUFFER  (ROW_UNIFIED | ROW_SPLIT | ROW_BUFFER)

/* Ranges of sizes, counts and the clock are those of their targets in schema_keys.c. */
static const struct row_unit cores = {"cores", 1, 4096, true, false, "published in"};
static const struct row_unit bytes = {"bytes", 1, 1099511627776.0, true, false, "published in"};
const struct row_unit row_unit_mhz = {"MHz", 1, 1e5, false, false, "published in"};
const struct row_unit row_unit_elements = {
    "elements of f16", 2, 32768, true, false, "derived, 2 bytes an element, from"};
const struct row_unit row_unit_per_cycle = {
    "bytes a cycle", 1e-3, 1e5, false, true, "derived, bytes a cycle times the clock, from"};
static const struct row_unit in_cycles = {"bytes a cycle", 1e-3, 1e5, false, true, "published in"};

const struct row platform_clock = {ALL,           true,          "AICoreSpec",
                                   {"cube_freq"}, &row_unit_mhz, "clock_mhz"};

#define SIZE(key, buffer)                                                                          \
    {                                                                                              \
        ALL, false, "AICoreSpec", {key}, &bytes, "buffers." buffer ".capacity_bytes"               \
    }
#define LOAD(kinds, path, ...)                                                                     \
    {                                                                                              \
        kinds, false, "AICoreMemoryRates", {__VA_ARGS__}, &row_unit_per_cycle,                     \
            "paths." path ".bandwidth_gbps"                                                        \
    }
#define RATE(kinds, path, ...)                                                                     \
    {                                                                                              \
        kinds, false, "AICoreMemoryRates", {__VA_ARGS__}, &in_cycles,                              \
            "paths." path ".bytes_per_cycle"                                                       \
    }
#define DRAIN(kinds, ...)                                                                          \
    RATE(kinds, "l0c->gm", __VA_ARGS__), RATE(kinds, "l0c->gm.casts.f32:f16", __VA_ARGS__),        \
        RATE(kinds, "l0c->gm.casts.f32:bf16", __VA_ARGS__),                                        \
        RATE(kinds, "l0c->gm.casts.i32:f16", __VA_ARGS__),                                         \
        RATE(kinds, "l0c->gm.casts.f32:i8", __VA_ARGS__),                                          \
        RATE(kinds, "l0c->gm.casts.i32:i8", __VA_ARGS__)
#define READS_L2  "l2_read_rate", "l2_rate", "ddr_read_rate", "ddr_rate"
#define READS_DDR "ddr_read_rate", "ddr_rate", "l2_read_rate", "l2_rate"

const struct row platform_rows[] = {
    {UNIFIED, true, "SoCInfo", {"ai_core_cnt"}, &cores, "cores"},
    {SPLIT, true, "SoCInfo", {"cube_core_cnt", "ai_core_cnt"}, &cores, "cores"},
    {ALL, false, "AICoreSpec", {"vec_calc_size"}, &row_unit_elements, "vector_repeat_bytes"},
    SIZE("l1_size", "l1"),
    SIZE("l0_a_size", "l0a"),
    SIZE("l0_b_size", "l0b"),
    SIZE("l0_c_size", "l0c"),
    SIZE("ub_size", "ub"),
    {ALL, false, "AICoreSpec", {"ubblock_size"}, &bytes, "buffers.ub.alignment_bytes"},
    LOAD(CACHE, "gm->l1", READS_L2),
    LOAD(CACHE, "gm->l0a", READS_L2),
    LOAD(CACHE, "gm->l0b", READS_L2),
    LOAD(CACHE, "gm->ub", READS_L2),
    LOAD(BUFFER, "gm->l1", READS_DDR),
    LOAD(BUFFER, "gm->l0a", READS_DDR),
    LOAD(BUFFER, "gm->l0b", READS_DDR),
    LOAD(BUFFER, "gm->ub", READS_DDR),
    RATE(CACHE, "ub->gm", "ub_to_l2_rate", "l2_write_rate", "l2_rate"),
    RATE(BUFFER, "ub->gm", "ub_to_ddr_rate", "ddr_write_rate", "ddr_rate"),
    RATE(ALL, "l1->l0a", "l1_to_l0_a_rate"),
    RATE(ALL, "l1->l0b", "l1_to_l0_b_rate"),
    RATE(UNIFIED, "l0c->ub", "l0_c_to_ub_rate"),
    RATE(UNIFIED, "l0c->ub.casts.f32:f16", "l0_c_to_ub_rate"),
    RATE(UNIFIED, "ub->l1", "ub_to_l1_rate"),
    RATE(UNIFIED, "l1->ub", "l1_to_ub_rate"),
    DRAIN(ROW_SPLIT | ROW_CACHE, "l2_write_rate", "l2_rate", "ddr_write_rate"),
    DRAIN(ROW_SPLIT | ROW_BUFFER, "ddr_write_rate", "ddr_rate", "l2_write_rate"),
};
const size_t platform_row_count = sizeof platform_rows / sizeof *platform_rows;
