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
static const config_setting_t *named(const config_setting_t *number)
{
    const char *name = config_setting_name(number);
    return name && strcmp(name, "value") == 0 ? config_setting_parent(number) : number;
}

const struct twin *twin_number(const config_setting_t *number, struct number *value)
{
    const char *name = config_setting_name(named(number));
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
    config_setting_t *setting = named(number) == number ? number : parent;
    const struct twin *twin = twin_of(setting->name);
    char *name = strdup(strcmp(setting->name, twin->key) == 0 ? twin->cycles : twin->key);
    if (!name)
        return false;
    free(setting->name); /* libconfig has no call for this, and frees it in the same way */
    setting->name = name;
    return true;
}
