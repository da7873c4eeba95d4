/* The whole grammar of a description as data, inner groups before those that hold them: name, kind,
 * need, range and unit of every key. */
#include "hardware/schema_keys.h"

#include "core/hardware.h"
#include "core/host.h"

#define GROUP(table)                                                                               \
    {                                                                                              \
        .count = sizeof(table) / sizeof *(table), .keys = (table)                                  \
    }

const struct key schema_source = {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL};

/* Upper ends are what no chip reaches and what keeps sums of times within int64 femtoseconds. */
static const struct key buffer_keys[] = {
    {"name", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"capacity_bytes", KIND_COUNT, OPTIONAL, 1, 1099511627776.0, " bytes", NULL},
    {"alignment_bytes", KIND_COUNT, OPTIONAL, 1, 1073741824, " bytes", NULL},
    {"external", KIND_FLAG, OPTIONAL, 0, 0, "", NULL},
    {"unit_flag", KIND_FLAG, OPTIONAL, 0, 0, "", NULL},
    {"per_core", KIND_COUNT, OPTIONAL, 1, 16, "", NULL},
    {"source", KIND_SOURCE, OPTIONAL, 1, 1000, "", NULL},
};
static const struct group buffer_group = GROUP(buffer_keys);

static const struct key pipe_keys[] = {
    {"name", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"blocks_dispatch", KIND_FLAG, OPTIONAL, 0, 0, "", NULL},
    {"per_core", KIND_COUNT, OPTIONAL, 1, 16, "", NULL},
    {"source", KIND_SOURCE, OPTIONAL, 1, 1000, "", NULL},
};
static const struct group pipe_group = GROUP(pipe_keys);

/* A list of numbers is checked against the one key of its `items`, which has no name. */
static const struct key total_keys[] = {{"", KIND_REAL, REQUIRED, 1e-3, 1e6, " GB/s", NULL}};
static const struct group total_group = GROUP(total_keys);
static const struct key bus_keys[] = {
    {"name", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"total_gbps", KIND_REALS, REQUIRED, 1, HARDWARE_MAX_SHARERS, "", &total_group},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group bus_group = GROUP(bus_keys);

/* What a move costs beside its bandwidth; a cast without one of these has its path's. */
#define MOVE_KEYS                                                                                  \
    {"issue_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},                                        \
    {                                                                                              \
        "latency_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL                                     \
    }

static const struct key cast_keys[] = {
    {"cast", KIND_TEXT, REQUIRED, 1, 16, "", NULL},
    {"bandwidth_gbps", KIND_REAL, REQUIRED, 1e-3, 1e6, " GB/s", NULL},
    MOVE_KEYS,
    {"scale", KIND_FLAG, OPTIONAL, 0, 0, "", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group cast_group = GROUP(cast_keys);

/* Lengths and starts that no piece of a move has any more. */
static const struct key limit_keys[] = {{"", KIND_COUNT, REQUIRED, 1, 1073741824, " bytes", NULL}};
static const struct group limit_group = GROUP(limit_keys);
static const struct key piece_keys[] = {{"", KIND_REAL, REQUIRED, 0, 1e6, " ns", NULL}};
static const struct group piece_group = GROUP(piece_keys);
static const struct key burst_keys[] = {
    {"align_bytes", KIND_COUNT, REQUIRED, 1, 1073741824, " bytes", NULL},
    {"up_to_bytes", KIND_REALS, REQUIRED, 1, HARDWARE_MAX_BURST_LIMITS, "", &limit_group},
    {"ns", KIND_REALS, REQUIRED, 2, HARDWARE_MAX_BURST_LIMITS + 1, "", &piece_group},
    {"source", KIND_SOURCE, INHERITED, 1, 1000, "", NULL},
};
static const struct group burst_group = GROUP(burst_keys);

static const struct key path_keys[] = {
    {"path", KIND_TEXT, REQUIRED, 1, 2 * HARDWARE_NAME_SIZE, "", NULL},
    {"pipe", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"bus", KIND_IDENTIFIER, OPTIONAL, 0, 0, "", NULL},
    {"bandwidth_gbps", KIND_REAL, REQUIRED, 1e-3, 1e6, " GB/s", NULL},
    MOVE_KEYS,
    {"transposed_gbps", KIND_REAL, OPTIONAL, 1e-3, 1e6, " GB/s", NULL},
    {"lot_bytes", KIND_COUNT, OPTIONAL, 1, 1073741824, " bytes", NULL},
    {"relu", KIND_FLAG, OPTIONAL, 0, 0, "", NULL},
    {"bursts", KIND_GROUPS, OPTIONAL, 1, HARDWARE_MAX_BURST_ROWS, "", &burst_group},
    {"casts", KIND_GROUPS, OPTIONAL, 0, HARDWARE_MAX_CASTS, "", &cast_group},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group path_group = GROUP(path_keys);

static const struct key matrix_keys[] = {
    {"type", KIND_TEXT, REQUIRED, 1, 8, "", NULL},
    {"accumulator", KIND_TEXT, REQUIRED, 1, 8, "", NULL},
    {"pipe", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"block_m", KIND_COUNT, REQUIRED, 1, 4096, " elements", NULL},
    {"block_k", KIND_COUNT, REQUIRED, 1, 4096, " elements", NULL},
    {"block_n", KIND_COUNT, REQUIRED, 1, 4096, " elements", NULL},
    {"row_blocks_at_once", KIND_COUNT, OPTIONAL, 1, 4096, " blocks", NULL},
    {"block_flop", KIND_COUNT, REQUIRED, 1, 1e9, " operations", NULL},
    {"gflops", KIND_REAL, REQUIRED, 1e-3, 1e9, " GFLOP/s", NULL},
    {"issue_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"latency_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group matrix_group = GROUP(matrix_keys);

static const struct key type_price_keys[] = {
    {"type", KIND_TEXT, REQUIRED, 1, 8, "", NULL},
    {"first_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"repeat_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"repeat_cycles", KIND_REAL, OPTIONAL, 0, 1000, " cycles", NULL},
    {"source", KIND_SOURCE, INHERITED, 1, 1000, "", NULL},
};
static const struct group type_price_group = GROUP(type_price_keys);

static const struct key operation_keys[] = {
    {"name", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"class", KIND_TEXT, REQUIRED, 1, 16, "", NULL},
    {"pipe", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"result", KIND_TEXT, OPTIONAL, 1, 16, "", NULL},
    {"inputs", KIND_TEXT, OPTIONAL, 1, 16, "", NULL},
    {"value", KIND_TEXT, OPTIONAL, 1, FORMULA_TEXT_SIZE - 1, "", NULL},
    {"first_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"repeat_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"repeat_cycles", KIND_REAL, OPTIONAL, 0, 1000, " cycles", NULL},
    {"each_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"with_number", KIND_IDENTIFIER, OPTIONAL, 0, 0, "", NULL},
    {"types", KIND_GROUPS, OPTIONAL, 1, HARDWARE_MAX_TYPE_PRICES, "", &type_price_group},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group operation_group = GROUP(operation_keys);

static const struct key cache_keys[] = {
    {"buffer", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"behind", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"all_hit_bytes", KIND_COUNT, REQUIRED, 0, 1099511627776.0, " bytes", NULL},
    {"all_miss_bytes", KIND_COUNT, REQUIRED, 0, 1099511627776.0, " bytes", NULL},
    {"default", KIND_TEXT, OPTIONAL, 1, 8, "", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group cache_group = GROUP(cache_keys);

static const struct key spread_keys[] = {
    {"key", KIND_TEXT, REQUIRED, 1, HARDWARE_KEY_SIZE - 1, "", NULL},
    {"relative_error", KIND_REAL, REQUIRED, 0, 10, "", NULL},
};
static const struct group spread_group = GROUP(spread_keys);

static const struct key fit_keys[] = {
    {"error", KIND_REAL, REQUIRED, 0, 10, "", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
    {"spreads", KIND_GROUPS, OPTIONAL, 0, HARDWARE_MAX_SPREADS, "", &spread_group},
};
static const struct group fit_group = GROUP(fit_keys);

/* A processor: what the calibration of the host measures (core/host.h). */
static const struct key shared_keys[] = {{"", KIND_REAL, REQUIRED, 1e-3, 1e6, " GB/s", NULL}};
static const struct group shared_group = GROUP(shared_keys);
static const struct key level_keys[] = {
    {"name", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"capacity_bytes", KIND_COUNT, OPTIONAL, 1, 1099511627776.0, " bytes", NULL},
    {"line_bytes", KIND_COUNT, OPTIONAL, 1, 65536, " bytes", NULL},
    {"threads", KIND_COUNT, REQUIRED, 1, HOST_MAX_THREADS, " threads", NULL},
    {"read_gbps", KIND_REAL, REQUIRED, 1e-3, 1e6, " GB/s", NULL},
    {"write_gbps", KIND_REAL, REQUIRED, 1e-3, 1e6, " GB/s", NULL},
    {"stream_gbps", KIND_REAL, OPTIONAL, 1e-3, 1e6, " GB/s", NULL},
    {"shared_gbps", KIND_REALS, OPTIONAL, 1, HOST_MAX_THREADS, "", &shared_group},
    {"source", KIND_SOURCE, INHERITED, 1, 1000, "", NULL},
};
static const struct group level_group = GROUP(level_keys);

static const struct key loop_keys[] = {
    {"name", KIND_TEXT, REQUIRED, 1, HOST_NAME_SIZE - 1, "", NULL},
    {"step_ns", KIND_REAL, REQUIRED, 0, 1e9, " ns", NULL},
    {"call_ns", KIND_REAL, REQUIRED, 0, 1e9, " ns", NULL},
    {"spread", KIND_REAL, REQUIRED, 0, 10, "", NULL},
    {"flops", KIND_REAL, OPTIONAL, 0, 1e9, " operations", NULL},
    {"source", KIND_SOURCE, INHERITED, 1, 1000, "", NULL},
};
static const struct group loop_group = GROUP(loop_keys);

static const struct key exposed_keys[] = {{"", KIND_REAL, REQUIRED, 0, 1, "", NULL}};
static const struct group exposed_group = GROUP(exposed_keys);
static const struct key jump_keys[] = {{"", KIND_REAL, REQUIRED, 0, 1e6, " ns", NULL}};
static const struct group jump_group = GROUP(jump_keys);
static const struct key overlap_keys[] = {
    {"exposed", KIND_REALS, REQUIRED, 1, HOST_MAX_LEVELS, "", &exposed_group},
    {"jump_ns", KIND_REALS, OPTIONAL, 1, HOST_MAX_LEVELS, "", &jump_group},
    {"walk_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"copying", KIND_REAL, OPTIONAL, 1, 1e3, "", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group overlap_group = GROUP(overlap_keys);

static const struct key host_keys[] = {
    {"cpu", KIND_TEXT, REQUIRED, 1, 63, "", NULL},
    {"date", KIND_TEXT, REQUIRED, 10, 10, "", NULL},
    {"settings", KIND_TEXT, REQUIRED, 1, 159, "", NULL},
    {"isa", KIND_TEXT, REQUIRED, 1, 16, "", NULL},
    {"peak_gflops", KIND_REAL, OPTIONAL, 1e-3, 1e9, " GFLOP/s", NULL},
    {"parallel_ns", KIND_REAL, REQUIRED, 0, 1e9, " ns", NULL},
    {"noise", KIND_REAL, REQUIRED, 0, 10, "", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
    {"levels", KIND_GROUPS, REQUIRED, 2, HOST_MAX_LEVELS, "", &level_group},
    {"loops", KIND_GROUPS, REQUIRED, 0, HOST_MAX_LOOPS, "", &loop_group},
    {"overlap", KIND_GROUP, OPTIONAL, 0, 0, "", &overlap_group},
};
static const struct group host_group = GROUP(host_keys);

static const struct key processor_keys[] = {
    {"name", KIND_TEXT, REQUIRED, 1, 63, "", NULL},
    {"cores", KIND_COUNT, REQUIRED, 1, HOST_MAX_THREADS, " threads", NULL},
    {"clock_mhz", KIND_REAL, OPTIONAL, 1, 1e5, " MHz", NULL},
    {"host", KIND_GROUP, REQUIRED, 0, 0, "", &host_group},
    {"fit", KIND_GROUP, OPTIONAL, 0, 0, "", &fit_group},
};
const struct group schema_processor = {true, sizeof processor_keys / sizeof *processor_keys,
                                       processor_keys};

static const struct key description_keys[] = {
    {"name", KIND_TEXT, REQUIRED, 1, 63, "", NULL},
    {"cores", KIND_COUNT, REQUIRED, 1, 4096, " cores", NULL},
    {"clock_mhz", KIND_REAL, REQUIRED, 1, 1e5, " MHz", NULL},
    {"launch_ns", KIND_REAL, REQUIRED, 0, 1e9, " ns", NULL},
    {"launch_core_ns", KIND_REAL, OPTIONAL, 0, 1e5, " ns", NULL},
    {"core_skew_ns", KIND_REAL, REQUIRED, 0, 1e5, " ns", NULL},
    {"issue_ns", KIND_REAL, REQUIRED, 0, 1e6, " ns", NULL},
    {"dispatch_ns", KIND_REAL, REQUIRED, 0, 1e6, " ns", NULL},
    {"host_call_ns", KIND_REAL, REQUIRED, 0, 1e9, " ns", NULL},
    {"flag_registers", KIND_COUNT, REQUIRED, 1, HARDWARE_MAX_FLAGS, " registers", NULL},
    {"core_flags", KIND_COUNT, OPTIONAL, 1, HARDWARE_MAX_FLAGS, " registers", NULL},
    {"core_flag_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"vector_repeat_bytes", KIND_COUNT, REQUIRED, 4, 65536, " bytes", NULL},
    {"buffers", KIND_GROUPS, REQUIRED, 1, HARDWARE_MAX_BUFFERS, "", &buffer_group},
    {"pipes", KIND_GROUPS, REQUIRED, 1, HARDWARE_MAX_PIPES, "", &pipe_group},
    {"buses", KIND_GROUPS, OPTIONAL, 0, HARDWARE_MAX_BUSES, "", &bus_group},
    {"cache", KIND_GROUP, OPTIONAL, 0, 0, "", &cache_group},
    {"paths", KIND_GROUPS, REQUIRED, 1, HARDWARE_MAX_PATHS, "", &path_group},
    {"matrix", KIND_GROUPS, OPTIONAL, 0, HARDWARE_MAX_MATRIX_TYPES, "", &matrix_group},
    {"operations", KIND_GROUPS, OPTIONAL, 0, HARDWARE_MAX_OPERATIONS, "", &operation_group},
    {"fit", KIND_GROUP, OPTIONAL, 0, 0, "", &fit_group},
};
const struct group schema_description = {true, sizeof description_keys / sizeof *description_keys,
                                         description_keys};

static const struct key variant_keys[] = {
    {"name", KIND_TEXT, REQUIRED, 1, 63, "", NULL},
    {"base", KIND_TEXT, REQUIRED, 1, 1000, "", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
    {"set", KIND_TEXTS, REQUIRED, 1, 256, "", NULL},
};
const struct group schema_variant = GROUP(variant_keys);
