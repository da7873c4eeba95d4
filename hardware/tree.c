/* libconfig's own tree, with overrides hung on its settings as hooks. A dotted key is put together
 * on the way from the root, so a key is found by making that of every number: slow, but some
 * hundred numbers are looked at a few dozen times. */
#include "hardware/tree.h"

#include "core/utf8.h"
#include "hardware/config_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The texts of a hook stand in its own memory, so that libconfig can free it by itself. */
static struct override *copy_override(const struct override *override)
{
    size_t file_size = strlen(override->file) + 1, source_size = strlen(override->source) + 1;
    struct override *copy = malloc(sizeof *copy + file_size + source_size);
    if (!copy)
        return NULL;
    char *texts = (char *)(copy + 1);
    *copy = *override;
    copy->file = memcpy(texts, override->file, file_size);
    copy->source = memcpy(texts + file_size, override->source, source_size);
    return copy;
}

static enum status parse(struct tree *tree, const char *file, const char *text, struct error *error)
{
    tree->config = calloc(1, sizeof *tree->config);
    tree->file = strdup(file);
    enum status status = STATUS_OK;
    if (tree->config)
        config_init(tree->config);
    if (!tree->config || !tree->file)
        status = error_memory(error);
    else if (!config_read_string(tree->config, text))
        status = error_at(error, file, config_error_line(tree->config),
                          "%s, expected libconfig syntax", config_error_text(tree->config));
    if (status != STATUS_OK)
        tree_clear(tree);
    else
        config_set_destructor(tree->config, free);
    return status;
}

enum status tree_read(const char *file, struct tree *tree, struct error *error)
{
    memset(tree, 0, sizeof *tree);
    char *text;
    enum status status = text_read(file, &text, error);
    if (status == STATUS_OK)
        status = text_check(file, text, error);
    if (status == STATUS_OK)
        status = parse(tree, file, text, error);
    free(text);
    return status;
}

void tree_clear(struct tree *tree)
{
    if (tree->config)
        config_destroy(tree->config);
    free(tree->config);
    free(tree->file);
    memset(tree, 0, sizeof *tree);
}

bool tree_number(const config_setting_t *setting, struct number *number)
{
    const struct override *override = config_setting_get_hook(setting);
    int type = config_setting_type(setting);
    if (!config_setting_is_number(setting))
        return false;
    number->whole = type != CONFIG_TYPE_FLOAT;
    number->count = number->whole ? config_setting_get_int64(setting) : 0;
    number->real = number->whole ? (double)number->count : config_setting_get_float(setting);
    if (override)
        *number = override->number;
    return true;
}

const char *tree_source(const config_setting_t *number)
{
    const struct override *override = config_setting_get_hook(number);
    if (override)
        return override->source;
    const char *source = NULL;
    for (const config_setting_t *group = number; group && !source;
         group = config_setting_parent(group))
        if (config_setting_is_group(group))
            config_setting_lookup_string(group, "source", &source);
    return source ? source : "";
}

enum status tree_override(config_setting_t *number, const struct override *override,
                          struct error *error)
{
    struct override *copy = copy_override(override);
    if (!copy)
        return error_memory(error);
    free(config_setting_get_hook(number));
    config_setting_set_hook(number, copy);
    return STATUS_OK;
}

/* A whole number of a group as the file has it, bare or with a source of its own. */
static bool file_count(const config_setting_t *group, const char *key, long long *count)
{
    const config_setting_t *member = config_setting_get_member(group, key);
    if (member && config_setting_is_group(member))
        member = config_setting_get_member(member, "value");
    if (!member || !config_setting_is_number(member) ||
        config_setting_type(member) == CONFIG_TYPE_FLOAT)
        return false;
    *count = config_setting_get_int64(member);
    return true;
}

const char *tree_label(const config_setting_t *element, char digits[TREE_VALUE_SIZE])
{
    static const char *const labels[] = {"name", "path", "cast", "type"};
    const char *label = NULL;
    long long count;
    if (!config_setting_is_group(element))
        return NULL;
    for (size_t i = 0; i < sizeof labels / sizeof *labels && !label; i++)
        config_setting_lookup_string(element, labels[i], &label);
    if (label || !file_count(element, "align_bytes", &count))
        return label;
    snprintf(digits, TREE_VALUE_SIZE, "%lld", count);
    return digits;
}

/* Appends one part to a key; what does not fit is cut, which only broken files can bring about. */
static void append(char key[TREE_KEY_SIZE], const char *part)
{
    size_t length = strlen(key);
    snprintf(key + length, TREE_KEY_SIZE - length, "%s%s", length ? "." : "", part);
}

static void append_setting(const config_setting_t *setting, char key[TREE_KEY_SIZE])
{
    const char *name = config_setting_name(setting);
    char position[16], digits[TREE_VALUE_SIZE];
    const char *label = name ? NULL : tree_label(setting, digits);
    snprintf(position, sizeof position, "%d", config_setting_index(setting) + 1);
    if (!name)
        append(key, label ? label : position);
    else if (strcmp(name, "value") != 0)
        append(key, name);
}

void tree_key(const config_setting_t *setting, char key[TREE_KEY_SIZE])
{
    const config_setting_t *parent = config_setting_parent(setting);
    key[0] = '\0';
    if (!parent)
        return;
    tree_key(parent, key);
    append_setting(setting, key);
}

static void number_value(const struct number *number, char value[TREE_VALUE_SIZE])
{
    if (number->whole) {
        snprintf(value, TREE_VALUE_SIZE, "%lld", (long long)number->count);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(value, TREE_VALUE_SIZE, "%.*g", digits, number->real);
        if (strtod(value, NULL) == number->real)
            return;
    }
}

static void string_value(const char *text, char value[TREE_VALUE_SIZE])
{
    size_t length = strlen(text), most = TREE_VALUE_SIZE - 8;
    bool cut = length > most;
    if (cut)
        length = utf8_start(text, most);
    if (utf8_is_shown(text))
        snprintf(value, TREE_VALUE_SIZE, "\"%.*s%s\"", (int)length, text, cut ? "..." : "");
    else
        strcpy(value, "a text with unprintable characters");
}

void tree_value(const config_setting_t *setting, char value[TREE_VALUE_SIZE])
{
    struct number number;
    int type = config_setting_type(setting);
    if (tree_number(setting, &number) && isfinite(number.real))
        number_value(&number, value);
    else if (config_setting_is_number(setting))
        strcpy(value, "a number beyond all bounds");
    else if (type == CONFIG_TYPE_STRING)
        string_value(config_setting_get_string(setting), value);
    else if (type == CONFIG_TYPE_BOOL)
        strcpy(value, config_setting_get_bool(setting) ? "true" : "false");
    else
        strcpy(value, type == CONFIG_TYPE_GROUP ? "a group" : "a list");
}

bool tree_each_number(config_setting_t *setting,
                      bool (*visit)(void *context, config_setting_t *number), void *context)
{
    if (config_setting_is_number(setting))
        return visit(context, setting);
    int count = config_setting_is_aggregate(setting) ? config_setting_length(setting) : 0;
    for (int i = 0; i < count; i++)
        if (!tree_each_number(config_setting_get_elem(setting, (unsigned)i), visit, context))
            return false;
    return true;
}

struct lookup {
    const char *key;
    config_setting_t *found;
    struct suggestion *like;
};

static bool look(void *context, config_setting_t *number)
{
    struct lookup *lookup = context;
    char key[TREE_KEY_SIZE];
    tree_key(number, key);
    if (lookup->like)
        suggest_try(lookup->like, key);
    if (strcasecmp(key, lookup->key) == 0)
        lookup->found = number;
    return !lookup->found;
}

config_setting_t *tree_find_like(const struct tree *tree, const char *key, struct suggestion *like)
{
    struct lookup lookup = {key, NULL, like};
    tree_each_number(config_root_setting(tree->config), look, &lookup);
    return lookup.found;
}

config_setting_t *tree_find(const struct tree *tree, const char *key)
{
    return tree_find_like(tree, key, NULL);
}

static config_setting_t *find_group(config_setting_t *setting, const char *wanted)
{
    char key[TREE_KEY_SIZE];
    int count = config_setting_is_aggregate(setting) ? config_setting_length(setting) : -1;
    tree_key(setting, key);
    if (count >= 0 && strcasecmp(key, wanted) == 0)
        return setting;
    config_setting_t *found = NULL;
    for (int i = 0; i < count && !found; i++)
        found = find_group(config_setting_get_elem(setting, (unsigned)i), wanted);
    return found;
}

config_setting_t *tree_find_group(const struct tree *tree, const char *key)
{
    return find_group(config_root_setting(tree->config), key);
}

/* "key: TEXT" at the setting's place, or at the place of what overrides it. */
static enum status error_for(const struct tree *tree, const config_setting_t *setting,
                             const char *name, const char *text, struct error *error)
{
    const struct override *override = config_setting_get_hook(setting);
    char key[TREE_KEY_SIZE];
    tree_key(setting, key);
    if (name)
        append(key, name);
    return error_at(error, override ? override->file : tree->file,
                    override ? override->line : (int)config_setting_source_line(setting), "%s: %s",
                    key, text);
}

enum status tree_expected(const struct tree *tree, const config_setting_t *setting,
                          struct error *error, const char *format, ...)
{
    char value[TREE_VALUE_SIZE], expected[256], text[TREE_VALUE_SIZE + 280];
    va_list list;
    va_start(list, format);
    vsnprintf(expected, sizeof expected, format, list);
    va_end(list);
    tree_value(setting, value);
    snprintf(text, sizeof text, "%s, expected %s", value, expected);
    return error_for(tree, setting, NULL, text, error);
}

enum status tree_error(const struct tree *tree, const config_setting_t *setting, const char *name,
                       struct error *error, const char *format, ...)
{
    char text[256];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return error_for(tree, setting, name, text, error);
}
