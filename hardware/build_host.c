/* The group `host` of a description: a processor as measured. */
#include "core/host.h"
#include "hardware/build.h"
#include "hardware/schema.h"

#include <ctype.h>
#include <stdio.h>
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

static void fill_level(const config_setting_t *group, struct host_level *level)
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
        fill_level(group, level);
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
