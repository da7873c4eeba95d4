/* From a struct host to a description's tree: the reverse of build_host.c. */
#include "hardware/description.h"

#include <stdlib.h>
#include <string.h>

/* A tree that grows; once something fails, nothing more is added. */
struct growth {
    config_setting_t *at; /* the group or list that is being filled */
    bool failed;
};

static config_setting_t *add(struct growth *growth, const char *key, int type)
{
    config_setting_t *member = growth->failed ? NULL : config_setting_add(growth->at, key, type);
    growth->failed = growth->failed || !member;
    return member;
}

static void enter(struct growth *growth, const char *key, int type)
{
    config_setting_t *inner = add(growth, key, type);
    if (inner)
        growth->at = inner;
}

static void leave(struct growth *growth)
{
    if (!growth->failed)
        growth->at = config_setting_parent(growth->at);
}

static void add_text(struct growth *growth, const char *key, const char *text)
{
    config_setting_t *member = add(growth, key, CONFIG_TYPE_STRING);
    growth->failed = growth->failed || !config_setting_set_string(member, text);
}

static void add_real(struct growth *growth, const char *key, double value)
{
    config_setting_t *member = add(growth, key, CONFIG_TYPE_FLOAT);
    growth->failed = growth->failed || !config_setting_set_float(member, value);
}

static void add_count(struct growth *growth, const char *key, int64_t value)
{
    config_setting_t *member = add(growth, key, CONFIG_TYPE_INT64);
    growth->failed = growth->failed || !config_setting_set_int64(member, value);
}

static void add_reals(struct growth *growth, const char *key, const double *values, int count)
{
    enter(growth, key, CONFIG_TYPE_ARRAY);
    for (int i = 0; i < count; i++)
        add_real(growth, NULL, values[i]);
    leave(growth);
}

/* In braces where it comes from elsewhere than the group's other numbers. */
static void add_capacity(struct growth *growth, int64_t bytes, const char *source)
{
    if (!source) {
        add_count(growth, "capacity_bytes", bytes);
        return;
    }
    enter(growth, "capacity_bytes", CONFIG_TYPE_GROUP);
    add_count(growth, "value", bytes);
    add_text(growth, "source", source);
    leave(growth);
}

static void add_level(struct growth *growth, const struct host_level *level, const char *capacity)
{
    enter(growth, NULL, CONFIG_TYPE_GROUP);
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
    leave(growth);
}

static void add_loop(struct growth *growth, const struct host_loop *loop)
{
    enter(growth, NULL, CONFIG_TYPE_GROUP);
    add_text(growth, "name", loop->name);
    add_real(growth, "step_ns", loop->step_ns);
    add_real(growth, "call_ns", loop->call_ns);
    add_real(growth, "spread", loop->spread);
    if (loop->flops > 0)
        add_real(growth, "flops", loop->flops);
    leave(growth);
}

static void add_lists(struct growth *growth, const struct host *host,
                      const struct host_sources *sources)
{
    enter(growth, "levels", CONFIG_TYPE_LIST);
    for (int l = 0; l < host->level_count; l++)
        add_level(growth, &host->levels[l], sources->capacity[l]);
    leave(growth);
    enter(growth, "loops", CONFIG_TYPE_LIST);
    for (int i = 0; i < host->loop_count; i++)
        add_loop(growth, &host->loops[i]);
    leave(growth);
    enter(growth, "overlap", CONFIG_TYPE_GROUP);
    add_reals(growth, "exposed", host->overlap.exposed, host->level_count);
    add_reals(growth, "jump_ns", host->overlap.jump_ns, host->level_count);
    add_real(growth, "walk_ns", host->overlap.walk_ns);
    add_text(growth, "source", sources->overlap);
    leave(growth);
}

static void add_host(struct growth *growth, const struct host *host,
                     const struct host_sources *sources)
{
    enter(growth, "host", CONFIG_TYPE_GROUP);
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
    leave(growth);
}

static void add_root(struct growth *growth, const struct host *host, const char *name,
                     const struct host_sources *sources)
{
    add_text(growth, "name", name);
    enter(growth, "cores", CONFIG_TYPE_GROUP);
    add_count(growth, "value", host->threads);
    add_text(growth, "source", sources->all);
    leave(growth);
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
