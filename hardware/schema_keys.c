#include "hardware/schema_keys.h"

#include "core/hardware.h"

#define GROUP(table)                                                                               \
    {                                                                                              \
        .count = sizeof(table) / sizeof *(table), .keys = (table)                                  \
    }

const struct key schema_source = {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL};

/* Upper ends are what no chip reaches and what keeps sums of times within int64 femtoseconds. */
static const struct key buffer_keys[] = {
    {"name", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"capacity_bytes", KIND_COUNT, OPTIONAL, 1, 1099511627776.0, " bytes", NULL},
    {"external", KIND_FLAG, OPTIONAL, 0, 0, "", NULL},
    {"source", KIND_SOURCE, OPTIONAL, 1, 1000, "", NULL},
};
static const struct group buffer_group = GROUP(buffer_keys);

static const struct key pipe_keys[] = {
    {"name", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"blocks_dispatch", KIND_FLAG, OPTIONAL, 0, 0, "", NULL},
    {"source", KIND_SOURCE, OPTIONAL, 1, 1000, "", NULL},
};
static const struct group pipe_group = GROUP(pipe_keys);

static const struct key total_keys[] = {{"", KIND_REAL, REQUIRED, 1e-3, 1e6, " GB/s", NULL}};
static const struct group total_group = GROUP(total_keys);
static const struct key bus_keys[] = {
    {"name", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"total_gbps", KIND_REALS, REQUIRED, 1, HARDWARE_MAX_SHARERS, "", &total_group},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group bus_group = GROUP(bus_keys);

static const struct key cast_keys[] = {
    {"cast", KIND_TEXT, REQUIRED, 1, 16, "", NULL},
    {"bandwidth_gbps", KIND_REAL, REQUIRED, 1e-3, 1e6, " GB/s", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group cast_group = GROUP(cast_keys);

static const struct key path_keys[] = {
    {"path", KIND_TEXT, REQUIRED, 1, 2 * HARDWARE_NAME_SIZE, "", NULL},
    {"pipe", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"bus", KIND_IDENTIFIER, OPTIONAL, 0, 0, "", NULL},
    {"bandwidth_gbps", KIND_REAL, REQUIRED, 1e-3, 1e6, " GB/s", NULL},
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
    {"block_flop", KIND_COUNT, REQUIRED, 1, 1e9, " operations", NULL},
    {"gflops", KIND_REAL, REQUIRED, 1e-3, 1e9, " GFLOP/s", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group matrix_group = GROUP(matrix_keys);

static const struct key operation_keys[] = {
    {"name", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"class", KIND_TEXT, REQUIRED, 1, 16, "", NULL},
    {"pipe", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    {"result", KIND_TEXT, OPTIONAL, 1, 16, "", NULL},
    {"first_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"repeat_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"repeat_cycles", KIND_REAL, OPTIONAL, 0, 1000, " cycles", NULL},
    {"each_ns", KIND_REAL, OPTIONAL, 0, 1e6, " ns", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group operation_group = GROUP(operation_keys);

static const struct key description_keys[] = {
    {"name", KIND_TEXT, REQUIRED, 1, 63, "", NULL},
    {"cores", KIND_COUNT, REQUIRED, 1, 4096, " cores", NULL},
    {"clock_mhz", KIND_REAL, REQUIRED, 1, 1e5, " MHz", NULL},
    {"launch_ns", KIND_REAL, REQUIRED, 0, 1e9, " ns", NULL},
    {"core_skew_ns", KIND_REAL, REQUIRED, 0, 1e5, " ns", NULL},
    {"issue_ns", KIND_REAL, REQUIRED, 0, 1e6, " ns", NULL},
    {"dispatch_ns", KIND_REAL, REQUIRED, 0, 1e6, " ns", NULL},
    {"host_call_ns", KIND_REAL, REQUIRED, 0, 1e9, " ns", NULL},
    {"flag_registers", KIND_COUNT, REQUIRED, 1, HARDWARE_MAX_FLAGS, " registers", NULL},
    {"vector_repeat_bytes", KIND_COUNT, REQUIRED, 4, 65536, " bytes", NULL},
    {"buffers", KIND_GROUPS, REQUIRED, 1, HARDWARE_MAX_BUFFERS, "", &buffer_group},
    {"pipes", KIND_GROUPS, REQUIRED, 1, HARDWARE_MAX_PIPES, "", &pipe_group},
    {"buses", KIND_GROUPS, OPTIONAL, 0, HARDWARE_MAX_BUSES, "", &bus_group},
    {"paths", KIND_GROUPS, REQUIRED, 1, HARDWARE_MAX_PATHS, "", &path_group},
    {"matrix", KIND_GROUPS, OPTIONAL, 0, HARDWARE_MAX_MATRIX_TYPES, "", &matrix_group},
    {"operations", KIND_GROUPS, OPTIONAL, 0, HARDWARE_MAX_OPERATIONS, "", &operation_group},
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
