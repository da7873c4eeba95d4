/* The whole grammar of a description is data: name, kind, need, range and unit of every key, inner
 * groups before those that hold them. A tree is walked beside that table: unknown keys, then each
 * key of the table with the check of its kind, from another table, then the sources. Recursion goes
 * as deep as groups nest in the table.
 *
 * Pairs of names are one table, and so is their conversion, which reads the clock from the root of
 * the tree at hand: a number in cycles has no value in ns but for the clock that the description
 * ends up with. Rounding keeps a decimal in ns what it was after it was written in cycles. */
#include "hardware/schema.h"

#include "core/hardware.h"
#include "core/host.h"
#include "core/suggest.h"
#include "core/utf8.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- numbers in cycles ---- */

static const struct twin twins[] = {
    {"issue_ns", "issue_cycles", " cycles", TWIN_TIME},
    {"latency_ns", "latency_cycles", " cycles", TWIN_TIME},
    {"dispatch_ns", "dispatch_cycles", " cycles", TWIN_TIME},
    {"first_ns", "first_cycles", " cycles", TWIN_TIME},
    {"each_ns", "each_cycles", " cycles", TWIN_TIME},
    {"bandwidth_gbps", "bytes_per_cycle", " bytes a cycle", TWIN_RATE},
    {"transposed_gbps", "transposed_bytes_per_cycle", " bytes a cycle", TWIN_RATE},
    {"gflops", "block_cycles", " cycles a block", TWIN_BLOCK},
};

const struct twin *twin_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof twins / sizeof *twins; i++)
        if (strcasecmp(name, twins[i].key) == 0 || strcasecmp(name, twins[i].cycles) == 0)
            return &twins[i];
    return NULL;
}

double twin_convert(const config_setting_t *place, const struct twin *twin, bool to_cycles,
                    double value)
{
    /* a femtosecond, a byte per second: what the description is built from */
    static const double finest[] = {[TWIN_TIME] = 1e6, [TWIN_RATE] = 1e9, [TWIN_BLOCK] = 1e9};
    char text[32];
    int64_t flop = 0;
    for (; !config_setting_is_root(place); place = config_setting_parent(place))
        flop = flop ? flop : schema_count(place, "block_flop");
    double cycles_per_ns = schema_real(place, "clock_mhz") / 1e3;
    if (twin->form == TWIN_BLOCK)
        value = (double)flop * cycles_per_ns / value;
    else if ((twin->form == TWIN_TIME) == to_cycles)
        value *= cycles_per_ns;
    else
        value /= cycles_per_ns;
    if (!to_cycles)
        return round(value * finest[twin->form]) / finest[twin->form];
    snprintf(text, sizeof text, "%.13g", value);
    return strtod(text, NULL);
}

/* The setting that has the number's name. */
static const config_setting_t *setting_with_name(const config_setting_t *number)
{
    const char *name = config_setting_name(number);
    return name && strcmp(name, "value") == 0 ? config_setting_parent(number) : number;
}

const struct twin *twin_number(const config_setting_t *number, struct number *value)
{
    const char *name = config_setting_name(setting_with_name(number));
    const struct twin *twin = twin_of(name);
    *value = (struct number){false, 0, 0};
    tree_number(number, value);
    if (!twin || strcmp(name, twin->cycles) != 0)
        return NULL;
    *value = (struct number){false, 0, twin_convert(number, twin, false, value->real)};
    return twin;
}

static const char *last_name(const char *key)
{
    const char *point = strrchr(key, '.');
    return point ? point + 1 : key;
}

bool twin_other_key(const char *key, char other[TREE_KEY_SIZE])
{
    const char *name = last_name(key);
    const struct twin *twin = twin_of(name);
    if (!twin)
        return false;
    int length = snprintf(other, TREE_KEY_SIZE, "%.*s%s", (int)(name - key), key,
                          strcasecmp(name, twin->key) == 0 ? twin->cycles : twin->key);
    return length > 0 && length < TREE_KEY_SIZE;
}

config_setting_t *twin_find(const struct tree *tree, const char *key)
{
    char other[TREE_KEY_SIZE];
    config_setting_t *found = tree_find(tree, key);
    return !found && twin_other_key(key, other) ? tree_find(tree, other) : found;
}

bool twin_respell(config_setting_t *number)
{
    config_setting_t *parent = config_setting_parent(number);
    config_setting_t *setting = setting_with_name(number) == number ? number : parent;
    const struct twin *twin = twin_of(setting->name);
    char *name = strdup(strcmp(setting->name, twin->key) == 0 ? twin->cycles : twin->key);
    if (!name)
        return false;
    free(setting->name); /* libconfig has no call for this, and frees it in the same way */
    setting->name = name;
    return true;
}

/* ---- members ---- */

const config_setting_t *schema_member(const config_setting_t *group, const char *key)
{
    const struct twin *twin = twin_of(key);
    const config_setting_t *member = config_setting_get_member(group, key);
    return member || !twin ? member : config_setting_get_member(group, twin->cycles);
}

static struct number number_in(const config_setting_t *group, const char *key)
{
    struct number number = {false, 0, 0};
    const config_setting_t *member = schema_member(group, key);
    bool as_given = member && strcmp(config_setting_name(member), key) == 0;
    if (member && config_setting_is_group(member))
        member = config_setting_get_member(member, "value");
    if (member && as_given)
        tree_number(member, &number);
    else if (member)
        twin_number(member, &number);
    return number;
}

int64_t schema_count(const config_setting_t *group, const char *key)
{
    return number_in(group, key).count;
}

double schema_real(const config_setting_t *group, const char *key)
{
    return number_in(group, key).real;
}

bool schema_flag(const config_setting_t *group, const char *key)
{
    int value = 0;
    config_setting_lookup_bool(group, key, &value);
    return value;
}

const char *schema_text(const config_setting_t *group, const char *key)
{
    const char *text = NULL;
    config_setting_lookup_string(group, key, &text);
    return text;
}

/* ---- the table of keys ---- */

enum kind {
    KIND_COUNT,      /* a whole number */
    KIND_REAL,       /* a number, whole or not */
    KIND_FLAG,       /* true or false */
    KIND_TEXT,       /* up to `high` characters */
    KIND_IDENTIFIER, /* as program text and dotted keys can hold it */
    KIND_SOURCE,     /* where the numbers of the group come from */
    KIND_GROUP,      /* one of `items` */
    KIND_GROUPS,     /* a list of `low`…`high` groups */
    KIND_REALS,      /* a list of `low`…`high` numbers within the range of the `items` key */
    KIND_TEXTS,      /* a list of `low`…`high` texts */
};

enum need {
    OPTIONAL,
    REQUIRED,
    INHERITED, /* a source that is the group's around unless it is here */
};

struct key {
    const char *name;
    enum kind kind;
    enum need need;
    double low, high; /* inclusive */
    const char *unit;
    const struct group *items;
};

struct group {
    bool wrapped; /* numbers stand as { value, source } */
    size_t count;
    const struct key *keys;
};

#define GROUP(table)                                                                               \
    {                                                                                              \
        .count = sizeof(table) / sizeof *(table), .keys = (table)                                  \
    }

static const struct key source_key = {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL};

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

/* Where operands of a pipe's instructions may lie: names of buffers. */
#define MEMORY_KEY(role)                                                                           \
    {                                                                                              \
        role, KIND_TEXT, OPTIONAL, 1, HARDWARE_MAX_BUFFERS *HARDWARE_NAME_SIZE, "", NULL           \
    }
static const struct key operand_keys[] = {
    {"pipe", KIND_IDENTIFIER, REQUIRED, 0, 0, "", NULL},
    MEMORY_KEY("a"),
    MEMORY_KEY("b"),
    MEMORY_KEY("src"),
    MEMORY_KEY("src2"),
    MEMORY_KEY("src3"),
    MEMORY_KEY("dst"),
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group operand_group = GROUP(operand_keys);

/* What operations take: types, or pairs of what they read and write. */
static const struct key type_keys[] = {
    {"operations", KIND_TEXT, REQUIRED, 1, HARDWARE_MAX_OPERATIONS *HARDWARE_NAME_SIZE, "", NULL},
    {"takes", KIND_TEXT, OPTIONAL, 1, 64, "", NULL},
    {"converts", KIND_TEXT, OPTIONAL, 1, 1000, "", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
};
static const struct group type_group = GROUP(type_keys);

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
static const struct group processor_group = {true, sizeof processor_keys / sizeof *processor_keys,
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
    {"operands", KIND_GROUPS, OPTIONAL, 0, HARDWARE_MAX_PIPES, "", &operand_group},
    {"types", KIND_GROUPS, OPTIONAL, 0, HARDWARE_MAX_OPERATIONS, "", &type_group},
    {"fit", KIND_GROUP, OPTIONAL, 0, 0, "", &fit_group},
};
static const struct group description_group = {
    true, sizeof description_keys / sizeof *description_keys, description_keys};

static const struct key variant_keys[] = {
    {"name", KIND_TEXT, REQUIRED, 1, 63, "", NULL},
    {"base", KIND_TEXT, REQUIRED, 1, 1000, "", NULL},
    {"source", KIND_SOURCE, REQUIRED, 1, 1000, "", NULL},
    {"set", KIND_TEXTS, REQUIRED, 1, 256, "", NULL},
};
static const struct group variant_group = GROUP(variant_keys);

/* ---- checks ---- */

struct check {
    const struct tree *tree;
    struct error *error;
};

static enum status check_group(const struct check *check, const struct group *group,
                               const config_setting_t *setting);

static enum status check_number(const struct check *check, const struct key *key,
                                const config_setting_t *setting)
{
    struct number number;
    const char *what = key->kind == KIND_COUNT ? "whole number" : "number";
    if (tree_number(setting, &number) && (number.whole || key->kind == KIND_REAL) &&
        number.real >= key->low && number.real <= key->high)
        return STATUS_OK;
    return tree_expected(check->tree, setting, check->error, "a %s from %.15g to %.15g%s", what,
                         key->low, key->high, key->unit);
}

static enum status check_flag(const struct check *check, const struct key *key,
                              const config_setting_t *setting)
{
    (void)key;
    if (config_setting_type(setting) == CONFIG_TYPE_BOOL)
        return STATUS_OK;
    return tree_expected(check->tree, setting, check->error, "true or false");
}

static enum status check_text(const struct check *check, const struct key *key,
                              const config_setting_t *setting)
{
    const char *text = config_setting_get_string(setting);
    if (text && strlen(text) >= 1 && (double)strlen(text) <= key->high && utf8_is_shown(text))
        return STATUS_OK;
    return tree_expected(check->tree, setting, check->error, "a text of 1 to %.0f characters",
                         key->high);
}

static enum status check_identifier(const struct check *check, const struct key *key,
                                    const config_setting_t *setting)
{
    (void)key;
    const char *text = config_setting_get_string(setting);
    size_t length = text && isalpha((unsigned char)*text) ? 1 : 0;
    while (length && (isalnum((unsigned char)text[length]) || text[length] == '_'))
        length++;
    if (length && !text[length] && length < HARDWARE_NAME_SIZE)
        return STATUS_OK;
    return tree_expected(check->tree, setting, check->error,
                         "a letter, then letters, digits or _, %d characters at most",
                         HARDWARE_NAME_SIZE - 1);
}

static enum status check_source(const struct check *check, const struct key *key,
                                const config_setting_t *setting)
{
    static const char *const kinds[] = {"published", "derived", "measured", "assumed"};
    const char *text = config_setting_get_string(setting);
    for (size_t i = 0; text && i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i]);
        if (strncmp(text, kinds[i], length) == 0 && !isalnum((unsigned char)text[length]))
            return check_text(check, key, setting);
    }
    return tree_expected(check->tree, setting, check->error,
                         "a text that begins with published, derived, measured or assumed");
}

/* Is there an earlier element of the list with the same label? */
static enum status check_label(const struct check *check, const config_setting_t *list, int index)
{
    const config_setting_t *element = config_setting_get_elem(list, (unsigned)index);
    char digits[TREE_VALUE_SIZE], earlier_digits[TREE_VALUE_SIZE];
    const char *label = tree_label(element, digits);
    for (int i = 0; label && i < index; i++) {
        const config_setting_t *earlier = config_setting_get_elem(list, (unsigned)i);
        if (strcasecmp(label, tree_label(earlier, earlier_digits)) == 0)
            return tree_error(check->tree, element, NULL, check->error,
                              "given twice, expected once (line %u has it)",
                              (unsigned)config_setting_source_line(earlier));
    }
    return STATUS_OK;
}

static enum status check_list(const struct check *check, const struct key *key,
                              const config_setting_t *setting)
{
    static const char *const what[] = {
        [KIND_GROUPS] = "groups", [KIND_REALS] = "numbers", [KIND_TEXTS] = "texts"};
    int count = config_setting_length(setting);
    bool list = config_setting_is_list(setting) || config_setting_is_array(setting);
    if (list && count >= key->low && count <= key->high)
        return STATUS_OK;
    if (!list)
        return tree_expected(check->tree, setting, check->error, "a list of %s", what[key->kind]);
    return tree_expected(check->tree, setting, check->error, "%.0f to %.0f %s, not %d", key->low,
                         key->high, what[key->kind], count);
}

static enum status check_one_group(const struct check *check, const struct key *key,
                                   const config_setting_t *setting)
{
    return check_group(check, key->items, setting);
}

static enum status check_groups(const struct check *check, const struct key *key,
                                const config_setting_t *setting)
{
    TRY(check_list(check, key, setting));
    for (int i = 0; i < config_setting_length(setting); i++) {
        TRY(check_group(check, key->items, config_setting_get_elem(setting, (unsigned)i)));
        TRY(check_label(check, setting, i));
    }
    return STATUS_OK;
}

static enum status check_reals(const struct check *check, const struct key *key,
                               const config_setting_t *setting)
{
    TRY(check_list(check, key, setting));
    for (int i = 0; i < config_setting_length(setting); i++)
        TRY(check_number(check, &key->items->keys[0],
                         config_setting_get_elem(setting, (unsigned)i)));
    return STATUS_OK;
}

static enum status check_texts(const struct check *check, const struct key *key,
                               const config_setting_t *setting)
{
    static const struct key text = {"", KIND_TEXT, REQUIRED, 1, 1000, "", NULL};
    TRY(check_list(check, key, setting));
    for (int i = 0; i < config_setting_length(setting); i++)
        TRY(check_text(check, &text, config_setting_get_elem(setting, (unsigned)i)));
    return STATUS_OK;
}

static const struct {
    enum status (*run)(const struct check *check, const struct key *key,
                       const config_setting_t *setting);
    bool number;
} kinds[] = {
    [KIND_COUNT] = {check_number, true},     [KIND_REAL] = {check_number, true},
    [KIND_FLAG] = {check_flag, false},       [KIND_IDENTIFIER] = {check_identifier, false},
    [KIND_TEXT] = {check_text, false},       [KIND_SOURCE] = {check_source, false},
    [KIND_GROUP] = {check_one_group, false}, [KIND_GROUPS] = {check_groups, false},
    [KIND_REALS] = {check_reals, true},      [KIND_TEXTS] = {check_texts, false},
};

/* A number of the top level: { value = …; source = "…"; }. */
static enum status check_wrapped(const struct check *check, const struct key *key,
                                 const config_setting_t *setting)
{
    struct key value = *key;
    value.name = "value";
    const struct key keys[] = {value, source_key};
    const struct group group = {false, 2, keys};
    if (config_setting_is_group(setting))
        return check_group(check, &group, setting);
    return tree_expected(check->tree, setting, check->error, "{ value = …; source = \"…\"; }");
}

static enum status unknown_key(const struct check *check, const struct group *group,
                               const config_setting_t *setting)
{
    char known[256] = "";
    struct suggestion like = suggest_for(config_setting_name(setting), -1);
    for (size_t i = 0; i < group->count; i++) {
        const struct twin *twin = twin_of(group->keys[i].name);
        text_append(known, sizeof known, group->keys[i].name);
        suggest_try(&like, group->keys[i].name);
        if (twin)
            suggest_try(&like, twin->cycles);
    }
    return tree_error(check->tree, setting, NULL, check->error, "unknown key, expected one of %s%s",
                      known, like.text);
}

static bool is_name_of(const struct key *key, const char *name)
{
    const struct twin *twin = twin_of(key->name);
    return strcmp(key->name, name) == 0 || (twin && strcmp(twin->cycles, name) == 0);
}

static enum status check_known(const struct check *check, const struct group *group,
                               const config_setting_t *setting)
{
    for (int i = 0; i < config_setting_length(setting); i++) {
        const config_setting_t *member = config_setting_get_elem(setting, (unsigned)i);
        size_t k = 0;
        while (k < group->count && !is_name_of(&group->keys[k], config_setting_name(member)))
            k++;
        if (k == group->count)
            return unknown_key(check, group, member);
    }
    return STATUS_OK;
}

/* A number that comes from elsewhere than its neighbours in a group. */
static bool has_own_source(const struct key *key, const config_setting_t *member)
{
    return member && config_setting_is_group(member) &&
           (key->kind == KIND_COUNT || key->kind == KIND_REAL);
}

static enum status check_present(const struct check *check, const struct group *group,
                                 const struct key *key, const config_setting_t *member)
{
    bool wrapped = (group->wrapped && kinds[key->kind].number) || has_own_source(key, member);
    return (wrapped ? check_wrapped : kinds[key->kind].run)(check, key, member);
}

/* The key of the same number in cycles: its range is that of ns at the description's clock. */
static struct key key_in_cycles(const config_setting_t *group, const struct key *key,
                                const struct twin *twin)
{
    struct key other = *key;
    double low = twin_convert(group, twin, true, key->low);
    double high = twin_convert(group, twin, true, key->high);
    other.name = twin->cycles;
    other.low = fmin(low, high);
    other.high = fmax(low, high);
    other.unit = twin->unit;
    return other;
}

static enum status check_member(const struct check *check, const struct group *group,
                                const struct key *key, const config_setting_t *setting)
{
    const struct twin *twin = twin_of(key->name);
    const config_setting_t *member = config_setting_get_member(setting, key->name);
    const config_setting_t *other = twin ? config_setting_get_member(setting, twin->cycles) : NULL;
    if (member && other)
        return tree_expected(check->tree, other, check->error, "either %s or %s, not both",
                             twin->key, twin->cycles);
    if (other) {
        const struct key in_cycles = key_in_cycles(setting, key, twin);
        return check_present(check, group, &in_cycles, other);
    }
    if (member)
        return check_present(check, group, key, member);
    if (key->need == REQUIRED)
        return tree_error(check->tree, setting, key->name, check->error, "missing, expected %s",
                          key->kind == KIND_SOURCE ? "where the number comes from: published …, "
                                                     "derived …, measured … or assumed …"
                                                   : "it here");
    return STATUS_OK;
}

/* `source` is optional where a group may do without numbers; with one it is not. (The top level and
 * groups below one with a source have none.) */
static enum status check_provenance(const struct check *check, const struct group *group,
                                    const config_setting_t *setting)
{
    bool has_source = false, has_number = false;
    for (size_t i = 0; i < group->count; i++) {
        has_source =
            has_source || (group->keys[i].kind == KIND_SOURCE && group->keys[i].need != INHERITED);
        has_number = has_number || (kinds[group->keys[i].kind].number &&
                                    schema_member(setting, group->keys[i].name));
    }
    if (!has_source || !has_number || config_setting_get_member(setting, source_key.name))
        return STATUS_OK;
    return check_member(check, group, &source_key, setting);
}

static enum status check_group(const struct check *check, const struct group *group,
                               const config_setting_t *setting)
{
    if (!config_setting_is_group(setting))
        return tree_expected(check->tree, setting, check->error, "a group { … }");
    TRY(check_known(check, group, setting));
    for (size_t i = 0; i < group->count; i++)
        TRY(check_member(check, group, &group->keys[i], setting));
    return check_provenance(check, group, setting);
}

bool schema_is_processor(const struct tree *tree)
{
    return config_setting_get_member(config_root_setting(tree->config), "host") != NULL;
}

enum status schema_check_description(const struct tree *tree, struct error *error)
{
    const struct check check = {tree, error};
    const config_setting_t *root = config_root_setting(tree->config);
    const struct group *group = schema_is_processor(tree) ? &processor_group : &description_group;
    return check_group(&check, group, root);
}

enum status schema_check_variant(const struct tree *tree, struct error *error)
{
    const struct check check = {tree, error};
    return check_group(&check, &variant_group, config_root_setting(tree->config));
}
