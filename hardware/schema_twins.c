/* One table of pairs of names, and one conversion, which reads the clock from the root of the tree
 * at hand: a number in cycles has no value in ns but for the clock that the description ends up
 * with. Rounding keeps a decimal in ns what it was after it was written in cycles. */
#include "hardware/schema_twins.h"

#include "hardware/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct twin twins[] = {
    {"issue_ns", "issue_cycles", " cycles", TWIN_TIME},
    {"latency_ns", "latency_cycles", " cycles", TWIN_TIME},
    {"dispatch_ns", "dispatch_cycles", " cycles", TWIN_TIME},
    {"first_ns", "first_cycles", " cycles", TWIN_TIME},
    {"each_ns", "each_cycles", " cycles", TWIN_TIME},
    {"bandwidth_gbps", "bytes_per_cycle", " bytes a cycle", TWIN_RATE},
    {"transposed_gbps", "transposed_bytes_per_cycle", " bytes a cycle", TWIN_RATE},
    {"gflops", "block_cycles", " cycles", TWIN_BLOCK},
};

const struct twin *twin_of(const char *name)
{
    for (size_t i = 0; name && i < sizeof twins / sizeof *twins; i++)
        if (strcasecmp(name, twins[i].key) == 0 || strcasecmp(name, twins[i].cycles) == 0)
            return &twins[i];
    return NULL;
}

double twin_convert(const config_setting_t *group, const struct twin *twin, bool to_cycles,
                    double value)
{
    /* a femtosecond, a byte per second: what the description is built from */
    static const double finest[] = {[TWIN_TIME] = 1e6, [TWIN_RATE] = 1e9, [TWIN_BLOCK] = 1e9};
    char text[32];
    const config_setting_t *root = group;
    while (!config_setting_is_root(root))
        root = config_setting_parent(root);
    double cycles_per_ns = schema_real(root, "clock_mhz") / 1e3;
    if (twin->form == TWIN_BLOCK)
        value = (double)schema_count(group, "block_flop") * cycles_per_ns / value;
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
static const config_setting_t *named(const config_setting_t *number)
{
    const char *name = config_setting_name(number);
    return name && strcmp(name, "value") == 0 ? config_setting_parent(number) : number;
}

config_setting_t *twin_group(const config_setting_t *number)
{
    return config_setting_parent(named(number));
}

const struct twin *twin_number(const config_setting_t *number, struct number *value)
{
    const char *name = config_setting_name(named(number));
    const struct twin *twin = twin_of(name);
    *value = (struct number){false, 0, 0};
    tree_number(number, value);
    if (!twin || strcmp(name, twin->cycles) != 0)
        return NULL;
    *value = (struct number){false, 0, twin_convert(twin_group(number), twin, false, value->real)};
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

config_setting_t *twin_respell(config_setting_t *number)
{
    const config_setting_t *old = named(number);
    config_setting_t *group = twin_group(number), *added;
    const char *before = config_setting_name(old), *source = NULL;
    const struct twin *twin = twin_of(before);
    const char *after = strcmp(before, twin->key) == 0 ? twin->cycles : twin->key;
    bool good = true;
    if (old == number) {
        added = config_setting_add(group, after, CONFIG_TYPE_FLOAT);
    } else {
        config_setting_t *wrapped = config_setting_add(group, after, CONFIG_TYPE_GROUP);
        added = wrapped ? config_setting_add(wrapped, "value", CONFIG_TYPE_FLOAT) : NULL;
        if (added && config_setting_lookup_string(old, "source", &source)) {
            config_setting_t *text = config_setting_add(wrapped, "source", CONFIG_TYPE_STRING);
            good = text && config_setting_set_string(text, source);
        }
    }
    config_setting_remove(group, before);
    return good ? added : NULL;
}
