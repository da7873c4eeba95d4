/* From a checked tree to a struct hardware, with the rules between keys that no single key's range
 * can express. Names become indices, numbers femtoseconds and exact rates; each price gets a row of
 * its own, which programs refer to. Each rule blames one setting: of two that contradict each other
 * the one that was overridden, so that the message names what the user has just changed. */
#include "hardware/abilities.h"
#include "hardware/description.h"

#include "core/array.h"
#include "core/number.h"
#include "hardware/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- rules ---- */

static double real_at(const config_setting_t *numbers, int index)
{
    struct number number = {false, 0, 0};
    tree_number(config_setting_get_elem(numbers, (unsigned)index), &number);
    return number.real;
}

static const config_setting_t *to_blame(const config_setting_t *first,
                                        const config_setting_t *second)
{
    bool first_only = config_setting_get_hook(first) && !config_setting_get_hook(second);
    return first_only ? first : second;
}

/* Total non-decreasing, total / n non-increasing. Without these more sharers could be faster than
 * fewer, and the lower bounds would be none. */
static enum status rule_bus(const struct tree *tree, const config_setting_t *group,
                            const struct bus *bus, struct error *error)
{
    const config_setting_t *totals = config_setting_get_member(group, "total_gbps");
    for (int n = 2; n <= bus->sharers; n++) {
        int64_t fewer = bus->total_bytes_per_s[n - 2], total = bus->total_bytes_per_s[n - 1];
        const config_setting_t *blamed =
            to_blame(config_setting_get_elem(totals, (unsigned)(n - 2)),
                     config_setting_get_elem(totals, (unsigned)(n - 1)));
        if (total < fewer)
            return tree_expected(tree, blamed, error,
                                 "a total for %d transfers not below that for %d", n, n - 1);
        if (total * (n - 1) > fewer * n)
            return tree_expected(tree, blamed, error,
                                 "a share of each of %d transfers not above that of %d", n, n - 1);
    }
    return STATUS_OK;
}

static enum status rule_burst_limits(const struct tree *tree, const config_setting_t *row,
                                     const config_setting_t *first_row, struct error *error)
{
    const config_setting_t *limits = config_setting_get_member(row, "up_to_bytes");
    const config_setting_t *first = config_setting_get_member(first_row, "up_to_bytes");
    const config_setting_t *ns = config_setting_get_member(row, "ns");
    int count = config_setting_length(limits);
    if (count != config_setting_length(first))
        return tree_expected(tree, limits, error, "%d numbers as in the first row",
                             config_setting_length(first));
    if (config_setting_length(ns) != count + 1)
        return tree_expected(tree, ns, error, "%d numbers, one more than up_to_bytes has",
                             count + 1);
    for (int c = 0; c < count; c++) {
        const config_setting_t *limit = config_setting_get_elem(limits, (unsigned)c);
        if (c > 0 && real_at(limits, c) <= real_at(limits, c - 1))
            return tree_expected(tree, limit, error, "more than the limit before it");
        if (real_at(limits, c) != real_at(first, c))
            return tree_expected(tree, to_blame(config_setting_get_elem(first, (unsigned)c), limit),
                                 error, "the same in all rows");
    }
    return STATUS_OK;
}

static enum status rule_bursts(const struct tree *tree, const config_setting_t *rows,
                               struct error *error)
{
    int64_t before = 0;
    for (int r = 0; r < config_setting_length(rows); r++) {
        const config_setting_t *row = config_setting_get_elem(rows, (unsigned)r);
        const config_setting_t *member = config_setting_get_member(row, "align_bytes");
        int64_t align = schema_count(row, "align_bytes");
        if (align & (align - 1))
            return tree_expected(tree, member, error, "a power of two");
        if (align <= before)
            return tree_expected(tree, member, error, "more than in the row before");
        before = align;
        TRY(rule_burst_limits(tree, row, config_setting_get_elem(rows, 0), error));
    }
    return STATUS_OK;
}

static enum status rule_buffer(const struct tree *tree, const config_setting_t *group,
                               struct error *error)
{
    const config_setting_t *capacity = config_setting_get_member(group, "capacity_bytes");
    bool external = schema_flag(group, "external");
    if (capacity && external)
        return tree_expected(tree, capacity, error, "none for an external buffer");
    const config_setting_t *alignment = config_setting_get_member(group, "alignment_bytes");
    if (alignment && external)
        return tree_expected(tree, alignment, error, "none for an external buffer");
    if (!capacity && !external)
        return tree_error(tree, group, "capacity_bytes", error,
                          "missing, expected it or external = true");
    return STATUS_OK;
}

static bool is_external(const struct hardware *hw, int buffer)
{
    return buffer >= 0 && hw->buffers[buffer].capacity_bytes == 0;
}

static enum status rule_kind(const struct tree *tree, const config_setting_t *group,
                             const struct hardware *hw, const struct path *path,
                             struct error *error)
{
    const struct pipe *pipe = &hw->pipes[path->pipe];
    const int ends[] = {path->source, path->destination};
    for (int e = 0; e < 2; e++)
        if (!is_external(hw, ends[e]) && hw->buffers[ends[e]].per_core != pipe->per_core)
            return tree_expected(tree, config_setting_get_member(group, "pipe"), error,
                                 "a pipe of which a core has as many as of buffer %s (per_core)",
                                 hw->buffers[ends[e]].name);
    return STATUS_OK;
}

/* Is a move over `miss` nowhere faster than one over `hit`? Lower bounds take it to hit. */
static bool never_faster(const struct hardware *hw, const struct price *miss,
                         const struct price *hit)
{
    const struct price *prices[] = {miss, hit};
    int64_t share[2];
    bool slower = miss->base_fs >= hit->base_fs && miss->latency_fs >= hit->latency_fs &&
                  miss->lot % hit->lot == 0;
    for (int n = 1; n <= hw->cores && slower; n++) {
        for (int i = 0; i < 2; i++)
            share[i] =
                prices[i]->bus >= 0
                    ? hardware_bus_share(hw, prices[i], n)
                    : llround((double)prices[i]->rate.units * 1e15 / (double)prices[i]->rate.fs);
        slower = share[0] <= share[1];
    }
    return slower;
}

/* Two external buffers; whatever is loaded through the first can be loaded by the same pipe from
 * behind it; hits end before misses begin. */
static enum status rule_cache(const struct tree *tree, const config_setting_t *group,
                              const struct hardware *hw, struct error *error)
{
    const struct cache *cache = &hw->cache;
    const config_setting_t *behind = config_setting_get_member(group, "behind");
    const config_setting_t *hit = config_setting_get_member(group, "all_hit_bytes");
    const config_setting_t *miss = config_setting_get_member(group, "all_miss_bytes");
    char name[2 * HARDWARE_NAME_SIZE + 3];
    if (!is_external(hw, cache->buffer))
        return tree_expected(tree, config_setting_get_member(group, "buffer"), error,
                             "an external buffer that `buffers` declares");
    if (!is_external(hw, cache->behind) || cache->behind == cache->buffer)
        return tree_expected(tree, behind, error,
                             "another external buffer that `buffers` declares");
    for (int p = 0; p < hw->path_count; p++) {
        int other = hardware_path(hw, cache->behind, hw->paths[p].destination);
        if (hw->paths[p].source == cache->buffer &&
            (other < 0 || hw->paths[other].pipe != hw->paths[p].pipe))
            return tree_expected(
                tree, behind, error, "a buffer with a path on pipe %s to where %s leads",
                hw->pipes[hw->paths[p].pipe].name, hardware_path_name(hw, p, name));
        if (hw->paths[p].source == cache->buffer &&
            !never_faster(hw, &hw->prices[hw->paths[other].price], &hw->prices[hw->paths[p].price]))
            return tree_expected(tree, behind, error,
                                 "a buffer whose path to where %s leads is nowhere faster",
                                 hardware_path_name(hw, p, name));
    }
    const config_setting_t *word = config_setting_get_member(group, "default");
    if (word && strcmp(config_setting_get_string(word), hardware_cache_word(hw)) != 0)
        return tree_expected(tree, word, error, "warm or cold");
    if (cache->all_miss_bytes < cache->all_hit_bytes)
        return tree_expected(tree, to_blame(hit, miss), error, "all_hit_bytes <= all_miss_bytes");
    return STATUS_OK;
}

static enum status only_one_of(const struct tree *tree, const config_setting_t *group,
                               const char *first, const char *second, struct error *error)
{
    const config_setting_t *both = config_setting_get_member(group, second);
    bool one = config_setting_get_member(group, first) != NULL;
    if (one && both)
        return tree_expected(tree, both, error, "either %s or %s, not both", first, second);
    if (!one && !both)
        return tree_error(tree, group, first, error, "missing, expected it or %s", second);
    return STATUS_OK;
}

static enum status rule_operation(const struct tree *tree, const config_setting_t *group,
                                  enum operation_class class, struct error *error)
{
    static const struct {
        const char *key;
        enum operation_class class;
    } keys[] = {
        {"each_ns", OPERATION_SCALAR},     {"first_ns", OPERATION_VECTOR},
        {"repeat_ns", OPERATION_VECTOR},   {"repeat_cycles", OPERATION_VECTOR},
        {"result", OPERATION_VECTOR},      {"inputs", OPERATION_VECTOR},
        {"value", OPERATION_VECTOR},       {"types", OPERATION_VECTOR},
        {"with_number", OPERATION_VECTOR},
    };
    static const char *const needed[] = {"first_ns", "each_ns"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const config_setting_t *member = schema_member(group, keys[i].key);
        if (member && keys[i].class != class)
            return tree_expected(tree, member, error, "no such key for this class");
    }
    if (!schema_member(group, needed[class]))
        return tree_error(tree, group, needed[class], error, "missing, expected it here");
    if (class == OPERATION_VECTOR)
        return only_one_of(tree, group, "repeat_ns", "repeat_cycles", error);
    return STATUS_OK;
}

static enum status rule_name(const struct tree *tree, const config_setting_t *group,
                             struct error *error)
{
    static const char *const words[] = {"mmad", "set",      "wait",        "barrier",
                                        "loop", "end",      "set_flag",    "wait_flag",
                                        "all",  "pipe_all", "pipe_barrier"};
    const char *name = schema_text(group, "name");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(name, words[i]) == 0)
            return tree_expected(tree, config_setting_get_member(group, "name"), error,
                                 "a name that is no word of program text");
    return STATUS_OK;
}

static enum status rule_matrix(const struct tree *tree, const config_setting_t *list,
                               struct error *error)
{
    const char *first = NULL;
    for (int i = 0; list && i < config_setting_length(list); i++) {
        const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);
        const char *pipe = schema_text(group, "pipe");
        if (first && strcasecmp(first, pipe) != 0)
            return tree_expected(tree, config_setting_get_member(group, "pipe"), error,
                                 "%s as for the other types", first);
        first = pipe;
    }
    return STATUS_OK;
}

/* Whole elements of every type in a repeat. */
static enum status rule_repeat(const struct tree *tree, struct error *error)
{
    const config_setting_t *group =
        config_setting_get_member(config_root_setting(tree->config), "vector_repeat_bytes");
    const config_setting_t *value = config_setting_get_member(group, "value");
    struct number number = {true, 0, 0};
    tree_number(value, &number);
    if (number.count % 4 == 0)
        return STATUS_OK;
    return tree_expected(tree, value, error, "a multiple of 4 bytes");
}

/* ---- the parts of a chip ---- */

struct builder {
    const struct tree *tree;
    struct hardware *hw;
    struct error *error;
};

/* Ranges are schema.c's: none of these conversions can overflow. */
static int64_t fs_of(const config_setting_t *group, const char *key)
{
    return llround(schema_real(group, key) * (double)FS_PER_NS);
}

enum { MOST_CYCLES = 1000 };

/* A unit of work in so many cycles of the clock, to a millionth; at most MOST_CYCLES. */
static struct rate rate_in_cycles(const struct builder *b, const config_setting_t *group,
                                  const char *key)
{
    const int64_t parts = 1000000;
    return rate_reduce(llround(schema_real(group, key) * (double)parts) * (FS_PER_S / parts),
                       b->hw->clock_hz);
}

static int64_t per_s_of(const config_setting_t *group, const char *key)
{
    return llround(schema_real(group, key) * 1e9);
}

static enum status add_price(struct builder *b, const config_setting_t *group, struct price price,
                             int16_t *index)
{
    if (b->hw->price_count == HARDWARE_MAX_PRICES)
        return tree_error(b->tree, group, NULL, b->error,
                          "expected at most %d paths, casts, types and operations together",
                          HARDWARE_MAX_PRICES);
    *index = (int16_t)b->hw->price_count;
    b->hw->prices[b->hw->price_count++] = price;
    return STATUS_OK;
}

/* "M, V, MTE1" for messages. */
static const char *pipe_names(const struct hardware *hw, bool blocking, char text[200])
{
    text[0] = '\0';
    for (int i = 0; i < hw->pipe_count; i++)
        if (hw->pipes[i].blocks_dispatch == blocking)
            text_append(text, 200, hw->pipes[i].name);
    return *text ? text : "one that `pipes` should declare";
}

/* Only scalar operations run on a pipe that blocks dispatch, and they run on no other. */
static enum status find_pipe(struct builder *b, const config_setting_t *group, bool blocking,
                             int8_t *pipe)
{
    char names[200];
    const char *name = schema_text(group, "pipe");
    int found = hardware_pipe(b->hw, name, (int)strlen(name));
    *pipe = (int8_t)found;
    if (found >= 0 && b->hw->pipes[found].blocks_dispatch == blocking)
        return STATUS_OK;
    return tree_expected(b->tree, config_setting_get_member(group, "pipe"), b->error,
                         "a pipe that %s dispatch: %s", blocking ? "blocks" : "does not block",
                         pipe_names(b->hw, blocking, names));
}

static enum status find_bus(struct builder *b, const config_setting_t *group, int8_t *bus)
{
    const char *name = schema_text(group, "bus");
    for (*bus = 0; name && *bus < b->hw->bus_count; (*bus)++)
        if (strcasecmp(b->hw->buses[*bus].name, name) == 0)
            return STATUS_OK;
    *bus = -1;
    if (!name)
        return STATUS_OK;
    return tree_expected(b->tree, config_setting_get_member(group, "bus"), b->error,
                         "a bus that `buses` declares");
}

static enum status find_type(struct builder *b, const config_setting_t *group, const char *key,
                             uint8_t *type)
{
    const char *name = schema_text(group, key);
    int found = dtype_find(name, (int)strlen(name));
    *type = (uint8_t)found;
    if (found >= 0)
        return STATUS_OK;
    char expected[DTYPE_LIST_SIZE];
    dtype_expected(name, -1, expected);
    return tree_expected(b->tree, config_setting_get_member(group, key), b->error, "%s", expected);
}

static int64_t count_or_1(const config_setting_t *group, const char *key)
{
    return config_setting_get_member(group, key) ? schema_count(group, key) : 1;
}

static enum status build_pipe(struct builder *b, const config_setting_t *group)
{
    struct pipe *pipe = &b->hw->pipes[b->hw->pipe_count++];
    snprintf(pipe->name, sizeof pipe->name, "%s", schema_text(group, "name"));
    pipe->blocks_dispatch = schema_flag(group, "blocks_dispatch");
    pipe->per_core = (uint8_t)count_or_1(group, "per_core");
    for (const struct pipe *other = b->hw->pipes; pipe->blocks_dispatch && other < pipe; other++)
        if (other->blocks_dispatch)
            return tree_expected(b->tree, config_setting_get_member(group, "blocks_dispatch"),
                                 b->error, "one such pipe at most: %s is one", other->name);
    return rule_name(b->tree, group, b->error);
}

static enum status build_buffer(struct builder *b, const config_setting_t *group)
{
    struct buffer *buffer = &b->hw->buffers[b->hw->buffer_count++];
    snprintf(buffer->name, sizeof buffer->name, "%s", schema_text(group, "name"));
    buffer->capacity_bytes = schema_count(group, "capacity_bytes");
    buffer->alignment_bytes = schema_count(group, "alignment_bytes");
    buffer->unit_flag = schema_flag(group, "unit_flag");
    buffer->per_core = (uint8_t)count_or_1(group, "per_core");
    return rule_buffer(b->tree, group, b->error);
}

static enum status build_bus(struct builder *b, const config_setting_t *group)
{
    struct bus *bus = &b->hw->buses[b->hw->bus_count++];
    const config_setting_t *totals = config_setting_get_member(group, "total_gbps");
    snprintf(bus->name, sizeof bus->name, "%s", schema_text(group, "name"));
    for (int i = 0; i < config_setting_length(totals); i++)
        bus->total_bytes_per_s[bus->sharers++] = llround(real_at(totals, i) * 1e9);
    return rule_bus(b->tree, group, bus, b->error);
}

/* What the group says of a move's price; the rest stays. */
static void set_move_price(const config_setting_t *group, struct price *price)
{
    price->rate = rate_reduce(FS_PER_S, per_s_of(group, "bandwidth_gbps"));
    if (schema_member(group, "issue_ns"))
        price->base_fs = fs_of(group, "issue_ns");
    if (schema_member(group, "latency_ns"))
        price->latency_fs = fs_of(group, "latency_ns");
}

/* The table of bursts of a path that has one. */
static enum status build_bursts(struct builder *b, const config_setting_t *path, int8_t *index)
{
    const config_setting_t *rows = config_setting_get_member(path, "bursts");
    *index = -1;
    if (!rows)
        return STATUS_OK;
    TRY(rule_bursts(b->tree, rows, b->error));
    *index = (int8_t)b->hw->burst_table_count;
    struct burst_table *table = &b->hw->burst_tables[b->hw->burst_table_count++];
    for (; table->row_count < config_setting_length(rows); table->row_count++) {
        const config_setting_t *row = config_setting_get_elem(rows, (unsigned)table->row_count);
        const config_setting_t *limits = config_setting_get_member(row, "up_to_bytes");
        const config_setting_t *ns = config_setting_get_member(row, "ns");
        table->limit_count = config_setting_length(limits);
        table->align_bytes[table->row_count] = schema_count(row, "align_bytes");
        for (int c = 0; c < table->limit_count; c++)
            table->up_to_bytes[c] = (int64_t)real_at(limits, c);
        for (int c = 0; c <= table->limit_count; c++)
            table->fs[table->row_count][c] = llround(real_at(ns, c) * (double)FS_PER_NS);
    }
    return STATUS_OK;
}

/* "f32:f16" */
static enum status build_cast(struct builder *b, const config_setting_t *group, struct path *path)
{
    const char *text = schema_text(group, "cast"), *colon = strchr(text, ':');
    int from = colon ? dtype_find(text, (int)(colon - text)) : -1;
    int to = colon ? dtype_find(colon + 1, (int)strlen(colon + 1)) : -1;
    if (from < 0 || to < 0 || from == to)
        return tree_expected(b->tree, config_setting_get_member(group, "cast"), b->error,
                             "two different element types as in \"f32:f16\"");
    struct cast *cast = &path->casts[path->cast_count++];
    *cast = (struct cast){(uint8_t)from, (uint8_t)to, schema_flag(group, "scale"), -1};
    struct price price = b->hw->prices[path->price];
    set_move_price(group, &price);
    return add_price(b, group, price, &cast->price);
}

/* "gm->l1" */
static enum status find_ends(struct builder *b, const config_setting_t *group, struct path *path)
{
    const char *text = schema_text(group, "path"), *arrow = strstr(text, "->");
    int from = arrow ? hardware_buffer(b->hw, text, (int)(arrow - text)) : -1;
    int to = arrow ? hardware_buffer(b->hw, arrow + 2, (int)strlen(arrow + 2)) : -1;
    path->source = (int8_t)from;
    path->destination = (int8_t)to;
    if (from >= 0 && to >= 0)
        return STATUS_OK;
    return tree_expected(b->tree, config_setting_get_member(group, "path"), b->error,
                         "two buffers that `buffers` declares, as in \"%s->%s\"",
                         b->hw->buffers[0].name, b->hw->buffers[b->hw->buffer_count - 1].name);
}

static enum status build_path(struct builder *b, const config_setting_t *group)
{
    struct path *path = &b->hw->paths[b->hw->path_count++];
    const config_setting_t *casts = config_setting_get_member(group, "casts");
    TRY(find_ends(b, group, path));
    TRY(find_pipe(b, group, false, &path->pipe));
    TRY(rule_kind(b->tree, group, b->hw, path, b->error));
    TRY(find_bus(b, group, &path->bus));
    struct price price = {
        .base_fs = b->hw->issue_fs, .pipe = path->pipe, .bus = path->bus, .burst_table = -1};
    price.lot = (int32_t)count_or_1(group, "lot_bytes");
    set_move_price(group, &price);
    TRY(build_bursts(b, group, &price.burst_table));
    TRY(add_price(b, group, price, &path->price));
    path->transposed_price = path->price;
    path->relu = schema_flag(group, "relu");
    if (schema_member(group, "transposed_gbps")) {
        price.rate = rate_reduce(FS_PER_S, per_s_of(group, "transposed_gbps"));
        TRY(add_price(b, group, price, &path->transposed_price));
    }
    for (int i = 0; casts && i < config_setting_length(casts); i++)
        TRY(build_cast(b, config_setting_get_elem(casts, (unsigned)i), path));
    return STATUS_OK;
}

/* block_flop ÷ gflops in fs, exactly: common factors go before the product is formed. */
static enum status block_rate(struct builder *b, const config_setting_t *group, struct rate *rate)
{
    const config_setting_t *cycles = config_setting_get_member(group, "block_cycles");
    if (cycles && schema_real(group, "block_cycles") <= MOST_CYCLES) {
        *rate = rate_in_cycles(b, group, "block_cycles");
        return STATUS_OK;
    }
    struct rate flop = rate_reduce(FS_PER_S, per_s_of(group, "gflops"));
    struct rate block = rate_reduce(schema_count(group, "block_flop"), flop.units);
    *rate = (struct rate){0, block.units};
    if (!__builtin_mul_overflow(flop.fs, block.fs, &rate->fs))
        return STATUS_OK;
    return tree_expected(b->tree, schema_member(group, "gflops"), b->error,
                         "fewer decimals: block_flop / gflops has no exact 64-bit fraction");
}

static enum status build_matrix(struct builder *b, const config_setting_t *group)
{
    struct matrix_type *matrix = &b->hw->matrix_types[b->hw->matrix_type_count++];
    struct price price = {.base_fs = b->hw->issue_fs,
                          .latency_fs = fs_of(group, "latency_ns"),
                          .bus = -1,
                          .burst_table = -1};
    if (schema_member(group, "issue_ns"))
        price.base_fs = fs_of(group, "issue_ns");
    matrix->block_m = (int)schema_count(group, "block_m");
    matrix->block_k = (int)schema_count(group, "block_k");
    matrix->block_n = (int)schema_count(group, "block_n");
    matrix->row_blocks_at_once = (int)count_or_1(group, "row_blocks_at_once");
    TRY(find_type(b, group, "type", &matrix->type));
    TRY(find_type(b, group, "accumulator", &matrix->accumulator));
    TRY(find_pipe(b, group, false, &price.pipe));
    TRY(block_rate(b, group, &price.rate));
    b->hw->matrix_pipe = price.pipe;
    return add_price(b, group, price, &matrix->price);
}

/* The member `key` as a position in `choices`; the first where the group does not have it. */
static enum status find_choice(struct builder *b, const config_setting_t *group, const char *key,
                               const char *const choices[], int count, uint8_t *choice)
{
    const char *text = schema_text(group, key);
    char expected[64];
    size_t used = 0;
    *choice = 0;
    if (!text)
        return STATUS_OK;
    for (; *choice < count; (*choice)++)
        if (strcmp(text, choices[*choice]) == 0)
            return STATUS_OK;
    *choice = 0;
    for (int i = 0; i < count && used < sizeof expected; i++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s\"%s\"",
                                 i == 0          ? ""
                                 : i < count - 1 ? ", "
                                                 : " or ",
                                 choices[i]);
    return tree_expected(b->tree, config_setting_get_member(group, key), b->error, "%s", expected);
}

static struct price operation_price(const struct builder *b, const config_setting_t *group,
                                    bool scalar)
{
    if (scalar)
        return (struct price){
            .rate = rate_reduce(fs_of(group, "each_ns"), 1), .bus = -1, .burst_table = -1};
    struct rate rate = config_setting_get_member(group, "repeat_cycles")
                           ? rate_in_cycles(b, group, "repeat_cycles")
                           : rate_reduce(fs_of(group, "repeat_ns"), 1);
    return (struct price){
        .base_fs = fs_of(group, "first_ns"), .rate = rate, .bus = -1, .burst_table = -1};
}

/* What folds a repeat is of two, what is spread of one, each of a pair of the source and its place.
 */
static enum status find_formula(struct builder *b, const config_setting_t *group,
                                struct operation *operation)
{
    static const int most[] = {[RESULT_ELEMENTS] = FORMULA_SOURCES,
                               [RESULT_ONE_PER_REPEAT] = 2,
                               [RESULT_SPREAD] = 1,
                               [RESULT_PAIRS] = 2};
    const char *text = schema_text(group, "value");
    const config_setting_t *member = config_setting_get_member(group, "value");
    struct formula formula;
    struct error reason;
    if (!text)
        return STATUS_OK;
    if (formula_parse(text, &formula, &reason) != STATUS_OK)
        return tree_expected(b->tree, member, b->error, "a value (%.120s)", reason.text);
    if (formula.sources > most[operation->result])
        return tree_expected(b->tree, member, b->error, "a value of at most %d sources",
                             most[operation->result]);
    snprintf(operation->value, sizeof operation->value, "%s", text);
    return STATUS_OK;
}

/* Prices of single types, on the pipe of the operation's own. */
static enum status build_types(struct builder *b, const config_setting_t *group, int8_t pipe,
                               struct operation *operation)
{
    const config_setting_t *types = config_setting_get_member(group, "types");
    for (int i = 0; types && i < config_setting_length(types); i++) {
        const config_setting_t *entry = config_setting_get_elem(types, (unsigned)i);
        struct type_price *of_type = &operation->types[operation->type_count++];
        struct price price = operation_price(b, entry, false);
        price.pipe = pipe;
        TRY(find_type(b, entry, "type", &of_type->type));
        TRY(rule_operation(b->tree, entry, OPERATION_VECTOR, b->error));
        TRY(add_price(b, entry, price, &of_type->price));
    }
    return STATUS_OK;
}

/* The operation that a row names stands above it. */
static enum status find_with_number(struct builder *b, const config_setting_t *group,
                                    struct operation *operation)
{
    const char *name = schema_text(group, "with_number");
    operation->with_number = -1;
    if (!name)
        return STATUS_OK;
    int found = hardware_operation(b->hw, name, (int)strlen(name));
    operation->with_number = (int8_t)found;
    if (found >= 0 && b->hw->operations[found].class == OPERATION_VECTOR &&
        &b->hw->operations[found] != operation)
        return STATUS_OK;
    return tree_expected(b->tree, config_setting_get_member(group, "with_number"), b->error,
                         "a vector operation that stands above it");
}

static enum status build_operation(struct builder *b, const config_setting_t *group)
{
    static const char *const classes[] = {"vector", "scalar"};
    static const char *const results[] = {"elements", "per_repeat", "spread", "pairs"};
    static const char *const inputs[] = {"src", "src src2", "src src2 src3"};
    struct operation *operation = &b->hw->operations[b->hw->operation_count++];
    snprintf(operation->name, sizeof operation->name, "%s", schema_text(group, "name"));
    TRY(rule_name(b->tree, group, b->error));
    TRY(find_choice(b, group, "class", classes, 2, &operation->class));
    TRY(find_choice(b, group, "result", results, 4, &operation->result));
    TRY(find_choice(b, group, "inputs", inputs, 3, &operation->inputs));
    operation->inputs += config_setting_get_member(group, "inputs") != NULL;
    TRY(rule_operation(b->tree, group, operation->class, b->error));
    TRY(find_formula(b, group, operation));
    TRY(find_with_number(b, group, operation));
    bool scalar = operation->class == OPERATION_SCALAR;
    struct price price = operation_price(b, group, scalar);
    TRY(find_pipe(b, group, scalar, &price.pipe));
    TRY(add_price(b, group, price, &operation->price));
    return build_types(b, group, price.pipe, operation);
}

/* Without the group there is no cache. */
static enum status build_cache(struct builder *b, const config_setting_t *group)
{
    struct cache *cache = &b->hw->cache;
    cache->buffer = cache->behind = -1;
    if (!group)
        return STATUS_OK;
    const char *buffer = schema_text(group, "buffer"), *behind = schema_text(group, "behind");
    cache->buffer = (int8_t)hardware_buffer(b->hw, buffer, (int)strlen(buffer));
    cache->behind = (int8_t)hardware_buffer(b->hw, behind, (int)strlen(behind));
    cache->all_hit_bytes = schema_count(group, "all_hit_bytes");
    cache->all_miss_bytes = schema_count(group, "all_miss_bytes");
    const char *word = schema_text(group, "default");
    cache->is_cold = word && strcmp(word, "cold") == 0;
    return rule_cache(b->tree, group, b->hw, b->error);
}

/* Without the group nothing is known of the description's quality. */
static enum status build_fit(struct builder *b, const config_setting_t *group)
{
    struct fit *fit = &b->hw->fit;
    if (!group)
        return STATUS_OK;
    const config_setting_t *spreads = config_setting_get_member(group, "spreads");
    fit->error = schema_real(group, "error");
    for (int i = 0; spreads && i < config_setting_length(spreads); i++) {
        const config_setting_t *element = config_setting_get_elem(spreads, (unsigned)i);
        const char *key = schema_text(element, "key");
        if (!twin_find(b->tree, key))
            return tree_expected(b->tree, config_setting_get_member(element, "key"), b->error,
                                 "the key of a number of this description");
        struct spread *spread = &fit->spreads[fit->spread_count++];
        snprintf(spread->key, sizeof spread->key, "%s", key);
        spread->relative_error = schema_real(element, "relative_error");
    }
    return STATUS_OK;
}

static void build_scalars(struct hardware *hw, const config_setting_t *root)
{
    snprintf(hw->name, sizeof hw->name, "%s", schema_text(root, "name"));
    hw->cores = (int)schema_count(root, "cores");
    hw->clock_hz = llround(schema_real(root, "clock_mhz") * 1e6);
    hw->launch_fs = fs_of(root, "launch_ns");
    hw->launch_core_fs = fs_of(root, "launch_core_ns");
    hw->core_skew_fs = fs_of(root, "core_skew_ns");
    hw->issue_fs = fs_of(root, "issue_ns");
    hw->dispatch_fs = fs_of(root, "dispatch_ns");
    hw->host_call_fs = fs_of(root, "host_call_ns");
    hw->flag_registers = (int)schema_count(root, "flag_registers");
    hw->core_flags = (int)schema_count(root, "core_flags");
    hw->core_flag_fs = fs_of(root, "core_flag_ns");
    hw->vector_repeat_bytes = (int)schema_count(root, "vector_repeat_bytes");
    hw->matrix_pipe = -1;
}

static enum status build_chip(const struct tree *tree, struct hardware *hw, struct error *error)
{
    /* In order of need, whatever the file's: paths look up pipes, buffers and buses. */
    static const struct {
        const char *key;
        enum status (*build)(struct builder *b, const config_setting_t *group);
    } lists[] = {{"pipes", build_pipe}, {"buffers", build_buffer}, {"buses", build_bus},
                 {"paths", build_path}, {"matrix", build_matrix},  {"operations", build_operation}};
    struct builder b = {tree, hw, error};
    const config_setting_t *root = config_root_setting(tree->config);
    build_scalars(hw, root);
    TRY(rule_repeat(tree, error));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const config_setting_t *list = config_setting_get_member(root, lists[i].key);
        for (int j = 0; list && j < config_setting_length(list); j++)
            TRY(lists[i].build(&b, config_setting_get_elem(list, (unsigned)j)));
    }
    TRY(abilities_build(tree, hw, error));
    TRY(build_cache(&b, config_setting_get_member(root, "cache")));
    TRY(build_fit(&b, config_setting_get_member(root, "fit")));
    return rule_matrix(tree, config_setting_get_member(root, "matrix"), error);
}

/* A processor's pipes are the parts that its kernels' times are made of. */
static enum status build_processor(const struct tree *tree, struct hardware *hw,
                                   struct error *error)
{
    struct builder b = {tree, hw, error};
    const config_setting_t *root = config_root_setting(tree->config);
    build_scalars(hw, root);
    hw->cache.buffer = hw->cache.behind = -1;
    hw->host = calloc(1, sizeof *hw->host);
    if (!hw->host)
        return error_memory(error);
    TRY(build_host(tree, hw->cores, hw->host, error));
    hw->pipe_count = host_component_count(hw->host);
    for (int p = 0; p < hw->pipe_count; p++) {
        hw->pipes[p].per_core = 1;
        snprintf(hw->pipes[p].name, sizeof hw->pipes[p].name, "%.31s",
                 host_component_name(hw->host, p));
    }
    return build_fit(&b, config_setting_get_member(root, "fit"));
}

struct listing {
    struct hardware *hw;
    bool out_of_memory;
};

static bool add_fact(void *context, config_setting_t *number)
{
    struct listing *listing = context;
    char in_ns[TREE_KEY_SIZE], given[TREE_KEY_SIZE], value[TREE_VALUE_SIZE];
    const char *source = tree_source(number);
    struct number resolved;
    const struct twin *twin = twin_number(number, &resolved);
    struct hardware *hw = listing->hw;
    bool fits = array_room(&hw->facts, (int64_t)hw->fact_count, sizeof *hw->facts);
    struct fact *fact = fits ? &hw->facts[hw->fact_count++] : NULL;
    tree_key(number, given);
    tree_value(number, value);
    if (fact && !twin)
        *fact = (struct fact){strdup(given), strdup(value), strdup(source), false};
    if (fact && twin) {
        char *text;
        if (asprintf(&text, "%s; %s=%s", source, twin->cycles, value) < 0)
            text = NULL;
        twin_other_key(given, in_ns);
        number_text(resolved.real, value);
        *fact = (struct fact){strdup(in_ns), strdup(value), text, false};
    }
    listing->out_of_memory = !fact || !fact->key || !fact->value || !fact->source;
    return !listing->out_of_memory;
}

static enum status list_facts(const struct tree *tree, struct hardware *hw, struct error *error)
{
    struct listing listing = {hw, false};
    tree_each_number(config_root_setting(tree->config), add_fact, &listing);
    return listing.out_of_memory ? error_memory(error) : abilities_list(tree, hw, error);
}

enum status description_build(const struct description *description, struct hardware *hw,
                              struct error *error)
{
    const struct tree *tree = &description->tree;
    memset(hw, 0, sizeof *hw);
    enum status status = schema_check_description(tree, error); /* again: numbers have changed */
    if (status == STATUS_OK)
        status = schema_is_processor(tree) ? build_processor(tree, hw, error)
                                           : build_chip(tree, hw, error);
    if (status == STATUS_OK)
        status = list_facts(tree, hw, error);
    if (description->name[0])
        memcpy(hw->name, description->name, sizeof hw->name);
    memcpy(hw->file, description->file, strlen(description->file) + 1);
    if (status != STATUS_OK)
        hardware_clear(hw);
    return status;
}
