/* Each rule blames one setting: of two that contradict each other the one that was overridden, so
 * that the message names what the user has just changed. */
#include "hardware/rules.h"

#include "hardware/schema.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Of two settings that contradict each other, the one that was overridden is to blame. */
static const config_setting_t *to_blame(const config_setting_t *first,
                                        const config_setting_t *second)
{
    bool first_only = config_setting_get_hook(first) && !config_setting_get_hook(second);
    return first_only ? first : second;
}

enum status rule_bus(const struct tree *tree, const config_setting_t *group, const struct bus *bus,
                     struct error *error)
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

static int64_t count_at(const config_setting_t *numbers, int index)
{
    struct number number = {true, 0, 0};
    tree_number(config_setting_get_elem(numbers, (unsigned)index), &number);
    return number.count;
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
        if (c > 0 && count_at(limits, c) <= count_at(limits, c - 1))
            return tree_expected(tree, limit, error, "more than the limit before it");
        if (count_at(limits, c) != count_at(first, c))
            return tree_expected(tree, to_blame(config_setting_get_elem(first, (unsigned)c), limit),
                                 error, "the same in all rows");
    }
    return STATUS_OK;
}

enum status rule_bursts(const struct tree *tree, const config_setting_t *rows, struct error *error)
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

enum status rule_buffer(const struct tree *tree, const config_setting_t *group, struct error *error)
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

enum status rule_kind(const struct tree *tree, const config_setting_t *group,
                      const struct hardware *hw, const struct path *path, struct error *error)
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

enum status rule_cache(const struct tree *tree, const config_setting_t *group,
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

enum status rule_operation(const struct tree *tree, const config_setting_t *group,
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

enum status rule_name(const struct tree *tree, const config_setting_t *group, struct error *error)
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

enum status rule_matrix(const struct tree *tree, const config_setting_t *list, struct error *error)
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

enum status rule_repeat(const struct tree *tree, struct error *error)
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
