/* Which numbers of a description kernels are fitted by. */
#include "hardware/schema.h"
#include "jobs/calibrate/calibrate_fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What single instructions determine well (moves within a core) is not among them. A table of
 * bursts stands for all of its times. The clock is first: what stands in cycles is set by it. */
static const struct candidate candidates[] = {
    {"clock_mhz", "MHz", 1, 1e5, 0, "large kernels: the clock they ran at"},
    {"launch_ns", "ns", 1, 1e5, 0, "kernels that do little"},
    {"launch_core_ns", "ns", 0.01, 1e4, 30, "little kernels on few and on many cores"},
    {"matrix.f16.issue_ns", "ns", 0.01, 1e3, 1, "kernels of small L0 tiles"},
    {"paths.gm->l1.bandwidth_gbps", "GB/s", 1, 1e5, 0, "kernels on few cores"},
    {"paths.gm->l1.issue_ns", "ns", 0.01, 1e4, 10, "kernels of many small loads"},
    {"paths.gm->l1.latency_ns", "ns", 0.01, 1e4, 100, "kernels of few loads"},
    {"paths.gm->l1.bursts", "ns", 0.001, 1e3, 0, "operands in pieces"},
    {"paths.hbm->l1.bandwidth_gbps", "GB/s", 1, 1e5, 0, "kernels beyond the cache, few cores"},
    {"paths.l1->l0a.bandwidth_gbps", "GB/s", 1, 1e5, 0, "kernels of narrow results"},
    {"paths.l1->l0a.transposed_gbps", "GB/s", 1, 1e5, 0, "kernels of narrow results, A transposed"},
    {"paths.l1->l0b.bandwidth_gbps", "GB/s", 1, 1e5, 0, "kernels of flat results, B transposed"},
    {"paths.l1->l0b.transposed_gbps", "GB/s", 1, 1e5, 0, "kernels of flat results"},
    {"paths.l1->l0b.issue_ns", "ns", 0.01, 1e3, 1, "kernels of small L0 tiles"},
    {"paths.l0c->gm.bandwidth_gbps", "GB/s", 1, 1e5, 0, "kernels of little k"},
    {"paths.l0c->gm.issue_ns", "ns", 0.01, 1e4, 10, "kernels of many small results"},
    {"paths.l0c->gm.latency_ns", "ns", 0.01, 1e4, 50, "kernels of few results"},
    {"paths.l0c->gm.bursts", "ns", 0.001, 1e3, 0, "results in pieces"},
    {"buses.*.total_gbps", "GB/s", 1, 1e6, 0, "kernels on all cores"},
    {"cache.all_hit_bytes", "bytes", 1e5, 1e12, 0, "kernels about as large as the cache"},
    {"cache.all_miss_bytes", "bytes", 1e5, 1e12, 0, "kernels larger than the cache"},
};

/* Does an item of --fit's list name the key, or a group that has it? */
static bool names(const char *item, size_t length, const char *key)
{
    return strncasecmp(item, key, length) == 0 && (key[length] == '.' || !key[length]);
}

/* Is the key one of --fit's list? A list of none means all. */
static bool is_wanted(const char *keys, const char *key)
{
    for (const char *at = keys; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (names(at, strcspn(at, ","), key))
            return true;
    return !keys;
}

static void add_variable(struct kernel_fit *s, const struct candidate *candidate, const char *key,
                         int bus, double start)
{
    if (s->variable_count == SIMPLEX_MAX_VARIABLES || !is_wanted(s->options->keys, key))
        return;
    struct variable *variable = &s->variables[s->variable_count++];
    snprintf(variable->key, sizeof variable->key, "%s", key);
    variable->candidate = candidate;
    variable->bus = bus;
    variable->start = fmin(fmax(start, candidate->low), candidate->high);
    variable->before = start;
    const config_setting_t *number = twin_find(&s->calibration->description.tree, key);
    snprintf(variable->source, sizeof variable->source, "%.500s",
             number ? tree_source(number) : "assumed: no kernel here depends on it");
}

static void add_buses(struct kernel_fit *s, const struct candidate *candidate)
{
    const struct hardware *hw = &s->calibration->hw;
    for (int b = 0; b < hw->bus_count; b++) {
        char key[HARDWARE_KEY_SIZE];
        if (!s->proportional[b])
            continue;
        snprintf(key, sizeof key, "buses.%s.total_gbps", hw->buses[b].name);
        add_variable(s, candidate, key, b,
                     (double)hw->buses[b].total_bytes_per_s[hw->buses[b].sharers - 1] / 1e9);
    }
}

struct table {
    struct kernel_fit *search;
    const struct candidate *candidate;
};

static bool add_burst(void *context, config_setting_t *number)
{
    const struct table *table = (const struct table *)context;
    char key[TREE_KEY_SIZE];
    struct number value;
    tree_key(number, key);
    if (strstr(key, ".ns.") && tree_number(number, &value))
        add_variable(table->search, table->candidate, key, -1, value.real);
    return true;
}

/* All times of a table of bursts that the description has. */
static void add_bursts(struct kernel_fit *s, const struct candidate *candidate)
{
    struct table table = {s, candidate};
    config_setting_t *rows = tree_find_group(&s->calibration->description.tree, candidate->key);
    if (rows)
        tree_each_number(rows, add_burst, &table);
}

/* Does the description have the group of a key that it may lack? */
static bool has_group(const struct description *description, const char *key)
{
    char group[HARDWARE_KEY_SIZE];
    const char *point = strrchr(key, '.');
    snprintf(group, sizeof group, "%.*s", point ? (int)(point - key) : 0, key);
    return tree_find_group(&description->tree, group) != NULL;
}

void kernel_fit_numbers(struct kernel_fit *s)
{
    const struct description *description = &s->calibration->description;
    for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        double start = candidates[i].start;
        if (strchr(candidates[i].key, '*'))
            add_buses(s, &candidates[i]);
        else if (strstr(candidates[i].key, ".bursts"))
            add_bursts(s, &candidates[i]);
        else if (description_get(description, candidates[i].key, &start) ||
                 (start > 0 && has_group(description, candidates[i].key)))
            add_variable(s, &candidates[i], candidates[i].key, -1, start);
    }
}

enum status kernel_fit_check_keys(const struct kernel_fit *s)
{
    const char *at = s->options->keys;
    for (; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t length = strcspn(at, ",");
        int v = 0;
        while (v < s->variable_count && !names(at, length, s->variables[v].key))
            v++;
        if (v == s->variable_count)
            return error_set(s->error, STATUS_INVALID,
                             "--fit: \"%.*s\" is no number that kernels can be fitted by here; "
                             "`autotune calibrate --help` has the list",
                             (int)(length < 80 ? length : 80), at);
    }
    if (!s->variable_count)
        return error_set(s->error, STATUS_INVALID,
                         "the description has no number that kernels can be fitted by");
    return STATUS_OK;
}
