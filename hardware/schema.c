/* Walks a tree beside the table of keys (schema_keys.c): unknown keys, then each key of the table
 * with the check of its kind, from another table, then the sources. Recursion goes as deep as
 * groups nest in the table. */
#include "hardware/schema.h"
#include "core/suggest.h"

#include "core/hardware.h"
#include "core/utf8.h"
#include "hardware/config_text.h"
#include "hardware/schema_keys.h"
#include "hardware/schema_twins.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

struct check {
    const struct tree *tree;
    struct error *error;
};

static enum status check_group(const struct check *check, const struct group *group,
                               const config_setting_t *setting);

static enum status check_number(const struct check *check, const struct key *key,
                                const config_setting_t *setting)
{
    struct number number;
    const char *what = key->kind == KIND_COUNT ? "whole number" : "number";
    if (tree_number(setting, &number) && (number.whole || key->kind == KIND_REAL) &&
        number.real >= key->low && number.real <= key->high)
        return STATUS_OK;
    return tree_expected(check->tree, setting, check->error, "a %s from %.15g to %.15g%s", what,
                         key->low, key->high, key->unit);
}

static enum status check_flag(const struct check *check, const struct key *key,
                              const config_setting_t *setting)
{
    (void)key;
    if (config_setting_type(setting) == CONFIG_TYPE_BOOL)
        return STATUS_OK;
    return tree_expected(check->tree, setting, check->error, "true or false");
}

static enum status check_text(const struct check *check, const struct key *key,
                              const config_setting_t *setting)
{
    const char *text = config_setting_get_string(setting);
    if (text && strlen(text) >= 1 && (double)strlen(text) <= key->high && utf8_is_shown(text))
        return STATUS_OK;
    return tree_expected(check->tree, setting, check->error, "a text of 1 to %.0f characters",
                         key->high);
}

static enum status check_identifier(const struct check *check, const struct key *key,
                                    const config_setting_t *setting)
{
    (void)key;
    const char *text = config_setting_get_string(setting);
    size_t length = text && isalpha((unsigned char)*text) ? 1 : 0;
    while (length && (isalnum((unsigned char)text[length]) || text[length] == '_'))
        length++;
    if (length && !text[length] && length < HARDWARE_NAME_SIZE)
        return STATUS_OK;
    return tree_expected(check->tree, setting, check->error,
                         "a letter, then letters, digits or _, %d characters at most",
                         HARDWARE_NAME_SIZE - 1);
}

static enum status check_source(const struct check *check, const struct key *key,
                                const config_setting_t *setting)
{
    static const char *const kinds[] = {"published", "derived", "measured", "assumed"};
    const char *text = config_setting_get_string(setting);
    for (size_t i = 0; text && i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i]);
        if (strncmp(text, kinds[i], length) == 0 && !isalnum((unsigned char)text[length]))
            return check_text(check, key, setting);
    }
    return tree_expected(check->tree, setting, check->error,
                         "a text that begins with published, derived, measured or assumed");
}

/* Is there an earlier element of the list with the same label? */
static enum status check_label(const struct check *check, const config_setting_t *list, int index)
{
    const config_setting_t *element = config_setting_get_elem(list, (unsigned)index);
    char digits[TREE_VALUE_SIZE], earlier_digits[TREE_VALUE_SIZE];
    const char *label = tree_label(element, digits);
    for (int i = 0; label && i < index; i++) {
        const config_setting_t *earlier = config_setting_get_elem(list, (unsigned)i);
        if (strcasecmp(label, tree_label(earlier, earlier_digits)) == 0)
            return tree_error(check->tree, element, NULL, check->error,
                              "given twice, expected once (line %u has it)",
                              (unsigned)config_setting_source_line(earlier));
    }
    return STATUS_OK;
}

static enum status check_list(const struct check *check, const struct key *key,
                              const config_setting_t *setting)
{
    static const char *const what[] = {
        [KIND_GROUPS] = "groups", [KIND_REALS] = "numbers", [KIND_TEXTS] = "texts"};
    int count = config_setting_length(setting);
    bool list = config_setting_is_list(setting) || config_setting_is_array(setting);
    if (list && count >= key->low && count <= key->high)
        return STATUS_OK;
    if (!list)
        return tree_expected(check->tree, setting, check->error, "a list of %s", what[key->kind]);
    return tree_expected(check->tree, setting, check->error, "%.0f to %.0f %s, not %d", key->low,
                         key->high, what[key->kind], count);
}

static enum status check_one_group(const struct check *check, const struct key *key,
                                   const config_setting_t *setting)
{
    return check_group(check, key->items, setting);
}

static enum status check_groups(const struct check *check, const struct key *key,
                                const config_setting_t *setting)
{
    TRY(check_list(check, key, setting));
    for (int i = 0; i < config_setting_length(setting); i++) {
        TRY(check_group(check, key->items, config_setting_get_elem(setting, (unsigned)i)));
        TRY(check_label(check, setting, i));
    }
    return STATUS_OK;
}

static enum status check_reals(const struct check *check, const struct key *key,
                               const config_setting_t *setting)
{
    TRY(check_list(check, key, setting));
    for (int i = 0; i < config_setting_length(setting); i++)
        TRY(check_number(check, &key->items->keys[0],
                         config_setting_get_elem(setting, (unsigned)i)));
    return STATUS_OK;
}

static enum status check_texts(const struct check *check, const struct key *key,
                               const config_setting_t *setting)
{
    static const struct key text = {"", KIND_TEXT, REQUIRED, 1, 1000, "", NULL};
    TRY(check_list(check, key, setting));
    for (int i = 0; i < config_setting_length(setting); i++)
        TRY(check_text(check, &text, config_setting_get_elem(setting, (unsigned)i)));
    return STATUS_OK;
}

static const struct {
    enum status (*run)(const struct check *check, const struct key *key,
                       const config_setting_t *setting);
    bool number;
} kinds[] = {
    [KIND_COUNT] = {check_number, true},     [KIND_REAL] = {check_number, true},
    [KIND_FLAG] = {check_flag, false},       [KIND_IDENTIFIER] = {check_identifier, false},
    [KIND_TEXT] = {check_text, false},       [KIND_SOURCE] = {check_source, false},
    [KIND_GROUP] = {check_one_group, false}, [KIND_GROUPS] = {check_groups, false},
    [KIND_REALS] = {check_reals, true},      [KIND_TEXTS] = {check_texts, false},
};

/* A number of the top level: { value = …; source = "…"; }. */
static enum status check_wrapped(const struct check *check, const struct key *key,
                                 const config_setting_t *setting)
{
    struct key value = *key;
    value.name = "value";
    const struct key keys[] = {value, schema_source};
    const struct group group = {false, 2, keys};
    if (config_setting_is_group(setting))
        return check_group(check, &group, setting);
    return tree_expected(check->tree, setting, check->error, "{ value = …; source = \"…\"; }");
}

static enum status unknown_key(const struct check *check, const struct group *group,
                               const config_setting_t *setting)
{
    char known[256] = "";
    struct suggestion like = suggest_for(config_setting_name(setting), -1);
    for (size_t i = 0; i < group->count; i++) {
        const struct twin *twin = twin_of(group->keys[i].name);
        text_append(known, sizeof known, group->keys[i].name);
        suggest_try(&like, group->keys[i].name);
        if (twin)
            suggest_try(&like, twin->cycles);
    }
    return tree_error(check->tree, setting, NULL, check->error, "unknown key, expected one of %s%s",
                      known, like.text);
}

static bool is_name_of(const struct key *key, const char *name)
{
    const struct twin *twin = twin_of(key->name);
    return strcmp(key->name, name) == 0 || (twin && strcmp(twin->cycles, name) == 0);
}

static enum status check_known(const struct check *check, const struct group *group,
                               const config_setting_t *setting)
{
    for (int i = 0; i < config_setting_length(setting); i++) {
        const config_setting_t *member = config_setting_get_elem(setting, (unsigned)i);
        size_t k = 0;
        while (k < group->count && !is_name_of(&group->keys[k], config_setting_name(member)))
            k++;
        if (k == group->count)
            return unknown_key(check, group, member);
    }
    return STATUS_OK;
}

/* A number that comes from elsewhere than its neighbours in a group. */
static bool has_own_source(const struct key *key, const config_setting_t *member)
{
    return member && config_setting_is_group(member) &&
           (key->kind == KIND_COUNT || key->kind == KIND_REAL);
}

static enum status check_present(const struct check *check, const struct group *group,
                                 const struct key *key, const config_setting_t *member)
{
    bool wrapped = (group->wrapped && kinds[key->kind].number) || has_own_source(key, member);
    return (wrapped ? check_wrapped : kinds[key->kind].run)(check, key, member);
}

/* The key of the same number in cycles: its range is that of ns at the description's clock. */
static struct key key_in_cycles(const config_setting_t *group, const struct key *key,
                                const struct twin *twin)
{
    struct key other = *key;
    double low = twin_convert(group, twin, true, key->low);
    double high = twin_convert(group, twin, true, key->high);
    other.name = twin->cycles;
    other.low = fmin(low, high);
    other.high = fmax(low, high);
    other.unit = twin->unit;
    return other;
}

static enum status check_member(const struct check *check, const struct group *group,
                                const struct key *key, const config_setting_t *setting)
{
    const struct twin *twin = twin_of(key->name);
    const config_setting_t *member = config_setting_get_member(setting, key->name);
    const config_setting_t *other = twin ? config_setting_get_member(setting, twin->cycles) : NULL;
    if (member && other)
        return tree_expected(check->tree, other, check->error, "either %s or %s, not both",
                             twin->key, twin->cycles);
    if (other) {
        const struct key in_cycles = key_in_cycles(setting, key, twin);
        return check_present(check, group, &in_cycles, other);
    }
    if (member)
        return check_present(check, group, key, member);
    if (key->need == REQUIRED)
        return tree_error(check->tree, setting, key->name, check->error, "missing, expected %s",
                          key->kind == KIND_SOURCE ? "where the number comes from: published …, "
                                                     "derived …, measured … or assumed …"
                                                   : "it here");
    return STATUS_OK;
}

/* `source` is optional where a group may do without numbers; with one it is not. (The top level and
 * groups below one with a source have none.) */
static enum status check_provenance(const struct check *check, const struct group *group,
                                    const config_setting_t *setting)
{
    bool has_source = false, has_number = false;
    for (size_t i = 0; i < group->count; i++) {
        has_source =
            has_source || (group->keys[i].kind == KIND_SOURCE && group->keys[i].need != INHERITED);
        has_number = has_number || (kinds[group->keys[i].kind].number &&
                                    schema_member(setting, group->keys[i].name));
    }
    if (!has_source || !has_number || config_setting_get_member(setting, schema_source.name))
        return STATUS_OK;
    return check_member(check, group, &schema_source, setting);
}

static enum status check_group(const struct check *check, const struct group *group,
                               const config_setting_t *setting)
{
    if (!config_setting_is_group(setting))
        return tree_expected(check->tree, setting, check->error, "a group { … }");
    TRY(check_known(check, group, setting));
    for (size_t i = 0; i < group->count; i++)
        TRY(check_member(check, group, &group->keys[i], setting));
    return check_provenance(check, group, setting);
}

bool schema_is_processor(const struct tree *tree)
{
    return config_setting_get_member(config_root_setting(tree->config), "host") != NULL;
}

enum status schema_check_description(const struct tree *tree, struct error *error)
{
    const struct check check = {tree, error};
    const config_setting_t *root = config_root_setting(tree->config);
    const struct group *group = schema_is_processor(tree) ? &schema_processor : &schema_description;
    return check_group(&check, group, root);
}

enum status schema_check_variant(const struct tree *tree, struct error *error)
{
    const struct check check = {tree, error};
    return check_group(&check, &schema_variant, config_root_setting(tree->config));
}

const config_setting_t *schema_member(const config_setting_t *group, const char *key)
{
    const struct twin *twin = twin_of(key);
    const config_setting_t *member = config_setting_get_member(group, key);
    return member || !twin ? member : config_setting_get_member(group, twin->cycles);
}

static struct number number_in(const config_setting_t *group, const char *key)
{
    struct number number = {false, 0, 0};
    const config_setting_t *member = schema_member(group, key);
    bool as_given = member && strcmp(config_setting_name(member), key) == 0;
    if (member && config_setting_is_group(member))
        member = config_setting_get_member(member, "value");
    if (member && as_given)
        tree_number(member, &number);
    else if (member)
        twin_number(member, &number);
    return number;
}

int64_t schema_count(const config_setting_t *group, const char *key)
{
    return number_in(group, key).count;
}

double schema_real(const config_setting_t *group, const char *key)
{
    return number_in(group, key).real;
}

bool schema_flag(const config_setting_t *group, const char *key)
{
    int value = 0;
    config_setting_lookup_bool(group, key, &value);
    return value;
}

const char *schema_text(const config_setting_t *group, const char *key)
{
    const char *text = NULL;
    config_setting_lookup_string(group, key, &text);
    return text;
}
