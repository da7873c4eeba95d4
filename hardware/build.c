/* Lists are built in the order in which they need each other, whatever the file's: a table of key
 * and function. Names become indices, numbers femtoseconds and exact rates; each price gets a row
 * of its own, which programs refer to. Rules are asked for group by group (rules.c). */
#include "hardware/build_parts.h"

#include "core/host.h"
#include "hardware/config_text.h"
#include "hardware/rules.h"
#include "hardware/schema.h"
#include "hardware/schema_twins.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int64_t per_s_of(const config_setting_t *group, const char *key)
{
    return llround(schema_real(group, key) * 1e9);
}

static double real_at(const config_setting_t *numbers, int index)
{
    struct number number;
    tree_number(config_setting_get_elem(numbers, (unsigned)index), &number);
    return number.real;
}

enum status builder_add_price(struct builder *b, const config_setting_t *group, struct price price,
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
enum status builder_find_pipe(struct builder *b, const config_setting_t *group, bool blocking,
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

enum status builder_find_type(struct builder *b, const config_setting_t *group, const char *key,
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
        price->base_fs = builder_fs(group, "issue_ns");
    if (schema_member(group, "latency_ns"))
        price->latency_fs = builder_fs(group, "latency_ns");
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
    return builder_add_price(b, group, price, &cast->price);
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
    TRY(builder_find_pipe(b, group, false, &path->pipe));
    TRY(rule_kind(b->tree, group, b->hw, path, b->error));
    TRY(find_bus(b, group, &path->bus));
    struct price price = {
        .base_fs = b->hw->issue_fs, .pipe = path->pipe, .bus = path->bus, .burst_table = -1};
    price.lot = (int32_t)count_or_1(group, "lot_bytes");
    set_move_price(group, &price);
    TRY(build_bursts(b, group, &price.burst_table));
    TRY(builder_add_price(b, group, price, &path->price));
    path->transposed_price = path->price;
    path->relu = schema_flag(group, "relu");
    if (schema_member(group, "transposed_gbps")) {
        price.rate = rate_reduce(FS_PER_S, per_s_of(group, "transposed_gbps"));
        TRY(builder_add_price(b, group, price, &path->transposed_price));
    }
    for (int i = 0; casts && i < config_setting_length(casts); i++)
        TRY(build_cast(b, config_setting_get_elem(casts, (unsigned)i), path));
    return STATUS_OK;
}

/* block_flop ÷ gflops in fs, exactly: common factors go before the product is formed. */
static enum status block_rate(struct builder *b, const config_setting_t *group, struct rate *rate)
{
    const config_setting_t *cycles = config_setting_get_member(group, "block_cycles");
    if (cycles && schema_real(group, "block_cycles") <= BUILDER_MOST_CYCLES) {
        *rate = builder_cycles(b, group, "block_cycles");
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
                          .latency_fs = builder_fs(group, "latency_ns"),
                          .bus = -1,
                          .burst_table = -1};
    if (schema_member(group, "issue_ns"))
        price.base_fs = builder_fs(group, "issue_ns");
    matrix->block_m = (int)schema_count(group, "block_m");
    matrix->block_k = (int)schema_count(group, "block_k");
    matrix->block_n = (int)schema_count(group, "block_n");
    matrix->row_blocks_at_once = (int)count_or_1(group, "row_blocks_at_once");
    TRY(builder_find_type(b, group, "type", &matrix->type));
    TRY(builder_find_type(b, group, "accumulator", &matrix->accumulator));
    TRY(builder_find_pipe(b, group, false, &price.pipe));
    TRY(block_rate(b, group, &price.rate));
    b->hw->matrix_pipe = price.pipe;
    return builder_add_price(b, group, price, &matrix->price);
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
    hw->launch_fs = builder_fs(root, "launch_ns");
    hw->launch_core_fs = builder_fs(root, "launch_core_ns");
    hw->core_skew_fs = builder_fs(root, "core_skew_ns");
    hw->issue_fs = builder_fs(root, "issue_ns");
    hw->dispatch_fs = builder_fs(root, "dispatch_ns");
    hw->host_call_fs = builder_fs(root, "host_call_ns");
    hw->flag_registers = (int)schema_count(root, "flag_registers");
    hw->core_flags = (int)schema_count(root, "core_flags");
    hw->core_flag_fs = builder_fs(root, "core_flag_ns");
    hw->vector_repeat_bytes = (int)schema_count(root, "vector_repeat_bytes");
    hw->matrix_pipe = -1;
}

static enum status build_chip(const struct tree *tree, struct hardware *hw, struct error *error)
{
    /* In order of need, whatever the file's: paths look up pipes, buffers and buses. */
    static const struct {
        const char *key;
        enum status (*build)(struct builder *b, const config_setting_t *group);
    } lists[] = {{"pipes", build_pipe},    {"buffers", build_buffer},
                 {"buses", build_bus},     {"paths", build_path},
                 {"matrix", build_matrix}, {"operations", builder_operation}};
    struct builder b = {tree, hw, error};
    const config_setting_t *root = config_root_setting(tree->config);
    build_scalars(hw, root);
    TRY(rule_repeat(tree, error));
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const config_setting_t *list = config_setting_get_member(root, lists[i].key);
        for (int j = 0; list && j < config_setting_length(list); j++)
            TRY(lists[i].build(&b, config_setting_get_elem(list, (unsigned)j)));
    }
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

enum status hardware_build(const struct tree *tree, struct hardware *hw, struct error *error)
{
    return schema_is_processor(tree) ? build_processor(tree, hw, error)
                                     : build_chip(tree, hw, error);
}
