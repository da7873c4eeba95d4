/* Changes are overrides on the tree of libconfig, as --set-hw makes them; only a number that the
 * file has not is added as a setting of its own, with its source. */
#include "hardware/description.h"

#include "hardware/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool description_get(const struct description *description, const char *key, double *value)
{
    struct number number;
    const config_setting_t *setting = twin_find(&description->tree, key);
    if (!setting)
        return false;
    twin_number(setting, &number);
    *value = number.real;
    return true;
}

static bool add_text(config_setting_t *group, const char *key, const char *text)
{
    config_setting_t *member = config_setting_add(group, key, CONFIG_TYPE_STRING);
    return member && config_setting_set_string(member, text);
}

/* A new number in the group that the key names but for its last part; NULL without the group. */
static config_setting_t *add_number(struct tree *tree, const char *key, const char *source)
{
    char parent[TREE_KEY_SIZE];
    const char *point = strrchr(key, '.');
    size_t length = point ? (size_t)(point - key) : 0;
    if (length >= sizeof parent)
        return NULL;
    memcpy(parent, key, length);
    parent[length] = '\0';
    config_setting_t *group = tree_find_group(tree, parent);
    if (!group || !config_setting_is_group(group))
        return NULL;
    if (!config_setting_is_root(group))
        return config_setting_add(group, point + 1, CONFIG_TYPE_FLOAT);
    group = config_setting_add(group, key, CONFIG_TYPE_GROUP);
    config_setting_t *number = group ? config_setting_add(group, "value", CONFIG_TYPE_FLOAT) : NULL;
    return number && add_text(group, "source", source) ? number : NULL;
}

/* The value for a number that stands in cycles; one that is what the number was stays that. */
static double in_cycles(const config_setting_t *number, const struct twin *twin, double before,
                        double value)
{
    struct number old;
    char text[32];
    tree_number(number, &old);
    if (before == value)
        return old.real;
    snprintf(text, sizeof text, "%.6g", twin_convert(number, twin, true, value));
    return strtod(text, NULL);
}

enum status description_set(struct description *description, const char *key, double value,
                            const char *source, struct error *error)
{
    struct tree *tree = &description->tree;
    struct number before;
    config_setting_t *number = twin_find(tree, key);
    const struct twin *twin = number ? twin_number(number, &before) : NULL;
    if (twin)
        value = in_cycles(number, twin, before.real, value);
    bool whole = fabs(value) < 9007199254740992.0 && floor(value) == value;
    const struct override override = {
        {whole, whole ? (int64_t)value : 0, value}, tree->file, 0, source};
    if (!number)
        number = add_number(tree, key, source);
    if (!number)
        return error_set(error, STATUS_INVALID, "%s: there is no such number in %s", key,
                         tree->file);
    return tree_override(number, &override, error);
}

static bool add_real(config_setting_t *group, const char *key, double value)
{
    config_setting_t *member = config_setting_add(group, key, CONFIG_TYPE_FLOAT);
    return member && config_setting_set_float(member, value);
}

static bool add_spread(config_setting_t *list, const struct spread *spread)
{
    config_setting_t *group = config_setting_add(list, NULL, CONFIG_TYPE_GROUP);
    return group && add_text(group, "key", spread->key) &&
           add_real(group, "relative_error", spread->relative_error);
}

enum status description_set_fit(struct description *description, const struct fit *fit,
                                const char *source, struct error *error)
{
    config_setting_t *root = config_root_setting(description->tree.config);
    config_setting_remove(root, "fit");
    config_setting_t *group = config_setting_add(root, "fit", CONFIG_TYPE_GROUP);
    bool good = group && add_real(group, "error", fit->error) && add_text(group, "source", source);
    config_setting_t *list =
        good && fit->spread_count ? config_setting_add(group, "spreads", CONFIG_TYPE_LIST) : NULL;
    good = good && (list || !fit->spread_count);
    for (int i = 0; i < fit->spread_count && good; i++)
        good = add_spread(list, &fit->spreads[i]);
    return good ? STATUS_OK : error_memory(error);
}
