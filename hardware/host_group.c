/* The group `host` of a description, a processor as measured: from its tree to a struct host, and
 * the reverse. */
#include "hardware/description.h"
#include "hardware/schema.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double real_at(const config_setting_t *numbers, int index)
{
    struct number number = {false, 0, 0};
    tree_number(config_setting_get_elem(numbers, (unsigned)index), &number);
    return number.real;
}

/* What each of n threads gets never rises with n: the model's times would fall with more work. */
static enum status rule_shared(const struct tree *tree, const config_setting_t *list, int threads,
                               struct error *error)
{
    int count = config_setting_length(list);
    if (count > threads)
        return tree_expected(tree, list, error, "at most %d numbers, one a thread, not %d", threads,
                             count);
    for (int n = 2; n <= count; n++)
        if (real_at(list, n - 1) / n > real_at(list, n - 2) / (n - 1) * (1 + 1e-12))
            return tree_expected(tree, config_setting_get_elem(list, (unsigned)(n - 1)), error,
                                 "a share of each of %d threads not above that of %d", n, n - 1);
    return STATUS_OK;
}

/* Caches grow outwards and have a capacity; memory is last and has none. */
static enum status rule_capacity(const struct tree *tree, const config_setting_t *group, bool last,
                                 const struct host_level *level, struct error *error)
{
    const config_setting_t *capacity = config_setting_get_member(group, "capacity_bytes");
    bool first = config_setting_index(group) == 0;
    if (last && capacity)
        return tree_expected(tree, capacity, error, "none: the last level is memory");
    if (!last && !capacity)
        return tree_error(tree, group, "capacity_bytes", error,
                          "missing, expected it for every level but the last, memory");
    if (!last && !first && level->capacity_bytes <= level[-1].capacity_bytes)
        return tree_expected(tree, capacity, error, "more than the level before, %lld bytes",
                             (long long)level[-1].capacity_bytes);
    return STATUS_OK;
}

static enum status rule_threads(const struct tree *tree, const config_setting_t *group, int threads,
                                const struct host_level *level, struct error *error)
{
    const config_setting_t *member = config_setting_get_member(group, "threads");
    if (level->threads > threads)
        return tree_expected(tree, member, error, "at most %d, all of the processor", threads);
    if (config_setting_index(group) > 0 && level->threads < level[-1].threads)
        return tree_expected(tree, member, error, "at least %d, as the level before",
                             level[-1].threads);
    return STATUS_OK;
}

static void build_level(const config_setting_t *group, struct host_level *level)
{
    const config_setting_t *shared = config_setting_get_member(group, "shared_gbps");
    snprintf(level->name, sizeof level->name, "%s", schema_text(group, "name"));
    level->capacity_bytes = schema_count(group, "capacity_bytes");
    level->line_bytes = (int)schema_count(group, "line_bytes");
    level->threads = (int)schema_count(group, "threads");
    level->read_gbps = schema_real(group, "read_gbps");
    level->write_gbps = schema_real(group, "write_gbps");
    level->stream_gbps = schema_real(group, "stream_gbps");
    level->shared_count = shared ? config_setting_length(shared) : 0;
    for (int n = 0; n < level->shared_count; n++)
        level->shared_gbps[n] = real_at(shared, n);
}

static enum status build_levels(const struct tree *tree, const config_setting_t *list, int threads,
                                struct host *host, struct error *error)
{
    int count = config_setting_length(list);
    while (host->level_count < count) {
        const config_setting_t *group = config_setting_get_elem(list, (unsigned)host->level_count);
        const config_setting_t *shared = config_setting_get_member(group, "shared_gbps");
        struct host_level *level = &host->levels[host->level_count++];
        if (shared)
            TRY(rule_shared(tree, shared, threads, error));
        build_level(group, level);
        TRY(rule_capacity(tree, group, host->level_count == count, level, error));
        TRY(rule_threads(tree, group, threads, level, error));
    }
    return STATUS_OK;
}

static void build_loops(const config_setting_t *list, struct host *host)
{
    for (int i = 0; i < config_setting_length(list); i++) {
        const config_setting_t *group = config_setting_get_elem(list, (unsigned)i);
        struct host_loop *loop = &host->loops[host->loop_count++];
        snprintf(loop->name, sizeof loop->name, "%s", schema_text(group, "name"));
        loop->step_ns = schema_real(group, "step_ns");
        loop->call_ns = schema_real(group, "call_ns");
        loop->spread = schema_real(group, "spread");
        loop->flops = schema_real(group, "flops");
    }
}

/* One number a level; those that the group does not have are `missing`. */
static enum status build_numbers(const struct tree *tree, const config_setting_t *group,
                                 const char *key, double missing, int count, double *numbers,
                                 struct error *error)
{
    const config_setting_t *list = group ? config_setting_get_member(group, key) : NULL;
    if (list && config_setting_length(list) != count)
        return tree_expected(tree, list, error, "%d numbers, one a level", count);
    for (int l = 0; l < count; l++)
        numbers[l] = list ? real_at(list, l) : missing;
    return STATUS_OK;
}

/* Without the group nothing of the traffic is hidden, and jumps cost no more. */
static enum status build_overlap(const struct tree *tree, const config_setting_t *group,
                                 struct host *host, struct error *error)
{
    struct host_overlap *overlap = &host->overlap;
    TRY(build_numbers(tree, group, "exposed", 1, host->level_count, overlap->exposed, error));
    overlap->walk_ns = group ? schema_real(group, "walk_ns") : 0;
    overlap->copying =
        group && config_setting_get_member(group, "copying") ? schema_real(group, "copying") : 1;
    return build_numbers(tree, group, "jump_ns", 0, host->level_count, overlap->jump_ns, error);
}

/* "2026-11-22" */
static bool is_date(const char *text)
{
    static const char form[] = "dddd-dd-dd";
    size_t i = 0;
    while (text[i] && (form[i] == 'd' ? isdigit((unsigned char)text[i]) != 0 : text[i] == form[i]))
        i++;
    return !text[i] && !form[i];
}

static enum status build_words(const struct tree *tree, const config_setting_t *group,
                               struct host *host, struct error *error)
{
    int isa = host_isa_find(schema_text(group, "isa"));
    if (isa < 0)
        return tree_expected(tree, config_setting_get_member(group, "isa"), error,
                             "\"portable\", \"avx2\" or \"avx512\"");
    if (!is_date(schema_text(group, "date")))
        return tree_expected(tree, config_setting_get_member(group, "date"), error,
                             "a date as in 2026-01-31");
    host->isa = (enum host_isa)isa;
    snprintf(host->cpu, sizeof host->cpu, "%s", schema_text(group, "cpu"));
    snprintf(host->date, sizeof host->date, "%s", schema_text(group, "date"));
    snprintf(host->settings, sizeof host->settings, "%s", schema_text(group, "settings"));
    return STATUS_OK;
}

enum status build_host(const struct tree *tree, int threads, struct host *host, struct error *error)
{
    const config_setting_t *root = config_root_setting(tree->config);
    const config_setting_t *group = config_setting_get_member(root, "host");
    host->threads = threads;
    host->peak_gflops = schema_real(group, "peak_gflops");
    host->parallel_ns = schema_real(group, "parallel_ns");
    host->noise = schema_real(group, "noise");
    TRY(build_words(tree, group, host, error));
    TRY(build_levels(tree, config_setting_get_member(group, "levels"), threads, host, error));
    build_loops(config_setting_get_member(group, "loops"), host);
    return build_overlap(tree, config_setting_get_member(group, "overlap"), host, error);
}

/* ---- the reverse ---- */

/* A tree that grows; once something fails, nothing more is added. */
struct growth {
    config_setting_t *at; /* the group or list that is being filled */
    bool failed;
};

static config_setting_t *add_member(struct growth *growth, const char *key, int type)
{
    config_setting_t *member = growth->failed ? NULL : config_setting_add(growth->at, key, type);
    growth->failed = growth->failed || !member;
    return member;
}

static void enter_group(struct growth *growth, const char *key, int type)
{
    config_setting_t *inner = add_member(growth, key, type);
    if (inner)
        growth->at = inner;
}

static void leave_group(struct growth *growth)
{
    if (!growth->failed)
        growth->at = config_setting_parent(growth->at);
}

static void add_text(struct growth *growth, const char *key, const char *text)
{
    config_setting_t *member = add_member(growth, key, CONFIG_TYPE_STRING);
    growth->failed = growth->failed || !config_setting_set_string(member, text);
}

static void add_real(struct growth *growth, const char *key, double value)
{
    config_setting_t *member = add_member(growth, key, CONFIG_TYPE_FLOAT);
    growth->failed = growth->failed || !config_setting_set_float(member, value);
}

static void add_count(struct growth *growth, const char *key, int64_t value)
{
    config_setting_t *member = add_member(growth, key, CONFIG_TYPE_INT64);
    growth->failed = growth->failed || !config_setting_set_int64(member, value);
}

static void add_reals(struct growth *growth, const char *key, const double *values, int count)
{
    enter_group(growth, key, CONFIG_TYPE_ARRAY);
    for (int i = 0; i < count; i++)
        add_real(growth, NULL, values[i]);
    leave_group(growth);
}

/* In braces where it comes from elsewhere than the group's other numbers. */
static void add_capacity(struct growth *growth, int64_t bytes, const char *source)
{
    if (!source) {
        add_count(growth, "capacity_bytes", bytes);
        return;
    }
    enter_group(growth, "capacity_bytes", CONFIG_TYPE_GROUP);
    add_count(growth, "value", bytes);
    add_text(growth, "source", source);
    leave_group(growth);
}

static void add_level(struct growth *growth, const struct host_level *level, const char *capacity)
{
    enter_group(growth, NULL, CONFIG_TYPE_GROUP);
    add_text(growth, "name", level->name);
    if (level->capacity_bytes > 0)
        add_capacity(growth, level->capacity_bytes, capacity);
    if (level->line_bytes > 0)
        add_count(growth, "line_bytes", level->line_bytes);
    add_count(growth, "threads", level->threads);
    add_real(growth, "read_gbps", level->read_gbps);
    add_real(growth, "write_gbps", level->write_gbps);
    if (level->stream_gbps > 0)
        add_real(growth, "stream_gbps", level->stream_gbps);
    if (level->shared_count > 0)
        add_reals(growth, "shared_gbps", level->shared_gbps, level->shared_count);
    leave_group(growth);
}

static void add_loop(struct growth *growth, const struct host_loop *loop)
{
    enter_group(growth, NULL, CONFIG_TYPE_GROUP);
    add_text(growth, "name", loop->name);
    add_real(growth, "step_ns", loop->step_ns);
    add_real(growth, "call_ns", loop->call_ns);
    add_real(growth, "spread", loop->spread);
    if (loop->flops > 0)
        add_real(growth, "flops", loop->flops);
    leave_group(growth);
}

static void add_lists(struct growth *growth, const struct host *host,
                      const struct host_sources *sources)
{
    enter_group(growth, "levels", CONFIG_TYPE_LIST);
    for (int l = 0; l < host->level_count; l++)
        add_level(growth, &host->levels[l], sources->capacity[l]);
    leave_group(growth);
    enter_group(growth, "loops", CONFIG_TYPE_LIST);
    for (int i = 0; i < host->loop_count; i++)
        add_loop(growth, &host->loops[i]);
    leave_group(growth);
    enter_group(growth, "overlap", CONFIG_TYPE_GROUP);
    add_reals(growth, "exposed", host->overlap.exposed, host->level_count);
    add_reals(growth, "jump_ns", host->overlap.jump_ns, host->level_count);
    add_real(growth, "walk_ns", host->overlap.walk_ns);
    add_real(growth, "copying", host->overlap.copying);
    add_text(growth, "source", sources->overlap);
    leave_group(growth);
}

static void add_host(struct growth *growth, const struct host *host,
                     const struct host_sources *sources)
{
    enter_group(growth, "host", CONFIG_TYPE_GROUP);
    add_text(growth, "cpu", host->cpu);
    add_text(growth, "date", host->date);
    add_text(growth, "settings", host->settings);
    add_text(growth, "isa", host_isa_name(host->isa));
    if (host->peak_gflops > 0)
        add_real(growth, "peak_gflops", host->peak_gflops);
    add_real(growth, "parallel_ns", host->parallel_ns);
    add_real(growth, "noise", host->noise);
    add_text(growth, "source", sources->all);
    add_lists(growth, host, sources);
    leave_group(growth);
}

static void add_root(struct growth *growth, const struct host *host, const char *name,
                     const struct host_sources *sources)
{
    add_text(growth, "name", name);
    enter_group(growth, "cores", CONFIG_TYPE_GROUP);
    add_count(growth, "value", host->threads);
    add_text(growth, "source", sources->all);
    leave_group(growth);
    add_host(growth, host, sources);
}

enum status description_of_host(const struct host *host, const char *name, const char *file,
                                const struct host_sources *sources, struct description *description,
                                struct error *error)
{
    memset(description, 0, sizeof *description);
    struct tree *tree = &description->tree;
    tree->config = calloc(1, sizeof *tree->config);
    if (tree->config) {
        config_init(tree->config);
        config_set_destructor(tree->config, free);
    }
    tree->file = strdup(file);
    description->file = strdup(file);
    struct growth growth = {tree->config ? config_root_setting(tree->config) : NULL,
                            !tree->config || !tree->file || !description->file};
    add_root(&growth, host, name, sources);
    if (!growth.failed)
        return STATUS_OK;
    description_clear(description);
    return error_memory(error);
}
