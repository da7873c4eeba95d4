/* Sweeps as libconfig files: groups of axes, of which every combination is a job; here are their
 * words, and sets within sets. */
#include "jobs/sweep/sweep_config.h"
#include "kernels/registry.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ axes with words of their own
 */

static const config_setting_t *scope_get(const struct scope *scope, const char *name)
{
    const config_setting_t *member = config_setting_get_member(scope->own, name);
    return member || !scope->outer ? member : config_setting_get_member(scope->outer, name);
}

typedef enum status value_expander(struct reading *reading, const struct scope *scope,
                                   const config_setting_t *value, struct bundles *bundles,
                                   struct error *error);

/* The bundles of all values of a setting. */
static enum status expand_each(struct reading *reading, const struct scope *scope,
                               const config_setting_t *setting, value_expander *expand,
                               struct bundles *bundles, struct error *error)
{
    int count = setting_count(setting);
    if (count == 0)
        return tree_error(&reading->tree, setting, NULL, error, "empty, expected at least one");
    struct bundles *parts = calloc((size_t)count, sizeof *parts);
    enum status status = STATUS_OK;
    if (!parts)
        return error_memory(error);
    for (int i = 0; i < count && status == STATUS_OK; i++)
        status = expand(reading, scope, setting_value(setting, i), &parts[i], error);
    if (status == STATUS_OK)
        status = bundles_join(reading, setting, parts, count, bundles, error);
    free(parts);
    return status;
}

/* A text where one is expected, as a bundle of one option. */
static enum status one_text(struct reading *reading, const config_setting_t *value,
                            const char *option, const char *expected, struct bundles *bundles,
                            struct error *error)
{
    char text[512];
    if (config_setting_type(value) != CONFIG_TYPE_STRING)
        return tree_expected(&reading->tree, value, error, "%s", expected);
    TRY(setting_text(reading, value, text, error));
    TRY(bundles_make(reading, 1, bundles, error));
    return bundles_add(reading, option, text, setting_line(value), bundles, error);
}

/* The only value of a member of the scope, or NULL. */
static const char *scope_name(const struct scope *scope, const char *member)
{
    const config_setting_t *named = scope_get(scope, member);
    return named && setting_count(named) == 1 ? config_setting_get_string(setting_value(named, 0))
                                              : NULL;
}

/* The operator that a group of sizes is for, by the scope's `op` or `kernel`. */
static enum status find_operator(struct reading *reading, const struct scope *scope,
                                 const config_setting_t *value, const struct operator** op,
                                 struct error *error)
{
    const char *name = scope_name(scope, "op"), *kernel = scope_name(scope, "kernel");
    struct error why;
    if (kernel && kernels_get(reading->sweep->kernels, kernel, false, op, &why) != STATUS_OK)
        return tree_error(&reading->tree, value, NULL, error, "%s", why.text);
    if (kernel)
        return STATUS_OK;
    *op = name ? operator_find(name) : NULL;
    return *op ? STATUS_OK
               : tree_error(&reading->tree, value, NULL, error,
                            "sizes by name, expected one operator in `op` beside them");
}

/* "64" "128" "64" -> shape=64x128x64, behind the other options of the bundle. */
static enum status join_shape(struct reading *reading, const struct bundle *sizes, int count,
                              struct bundle *bundle, struct error *error)
{
    char shape[OPERATOR_MAX_SIZES * 25] = "";
    struct sweep_option *options =
        sweep_allocate(reading->sweep, ((size_t)sizes->count + 1) * sizeof *options);
    for (int i = 0; i < count; i++) {
        size_t used = strlen(shape);
        snprintf(shape + used, sizeof shape - used, "%s%.24s", i ? "x" : "",
                 sizes->options[i].text);
    }
    const char *copy = sweep_copy(reading->sweep, shape);
    if (!options || !copy)
        return error_memory(error);
    options[0] = (struct sweep_option){"shape", copy};
    for (int i = count; i < sizes->count; i++)
        options[1 + i - count] = sizes->options[i];
    bundle->options = options;
    bundle->count = sizes->count - count + 1;
    return STATUS_OK;
}

/* Beside a kernel it may be a size of that. */
static const char *option_name(struct reading *reading, const struct scope *scope,
                               const config_setting_t *member, struct error *error)
{
    const char *name = config_setting_name(member);
    if (!job_has_option(name) && !scope_get(scope, "kernel")) {
        tree_error(&reading->tree, member, NULL, error,
                   "expected an option of the main job, or what docs/sweeps.md lists%s",
                   job_option_like(name).text);
        return NULL;
    }
    name = sweep_copy(reading->sweep, name);
    if (!name)
        error_memory(error);
    return name;
}

static bool is_size(const struct operator* op, const char *name)
{
    for (int i = 0; i < op->shape_sizes; i++)
        if (strcmp(op->size_names[i], name) == 0)
            return true;
    return false;
}

/* Axes for members that are options, behind `count` others. */
static enum status expand_options(struct reading *reading, const struct scope *scope,
                                  const config_setting_t *group,
                                  bool (*skip)(const struct operator*, const char *),
                                  const struct operator* op, struct bundles axes[], int *count,
                                  struct error *error)
{
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        if (skip(op, config_setting_name(member)))
            continue;
        const char *name = option_name(reading, scope, member, error);
        if (!name)
            return error ? error->status : STATUS_INVALID;
        if (*count == MAX_AXES)
            return tree_error(&reading->tree, group, NULL, error, "more than %d axes", MAX_AXES);
        TRY(bundles_of_values(reading, member, name, name, value_plain, &axes[(*count)++], error));
    }
    return STATUS_OK;
}

/* { m = [64, 128]; k = 64; n = { from = …; }; batch = 2; } */
static enum status expand_sizes(struct reading *reading, const struct scope *scope,
                                const config_setting_t *value, struct bundles *bundles,
                                struct error *error)
{
    const struct operator* op = NULL;
    struct bundles axes[MAX_AXES];
    int count = 0;
    enum status status = find_operator(reading, scope, value, &op, error);
    if (status != STATUS_OK || !op)
        return status;
    for (; status == STATUS_OK && count < op->shape_sizes; count++) {
        const char *name = op->size_names[count];
        const config_setting_t *member = config_setting_get_member(value, name);
        if (!member)
            return tree_error(&reading->tree, value, NULL, error, "%s is missing, expected %s",
                              name, op->shape_form);
        status = bundles_of_values(reading, member, name, name, value_plain, &axes[count], error);
    }
    if (status == STATUS_OK)
        status = expand_options(reading, scope, value, is_size, op, axes, &count, error);
    if (status == STATUS_OK)
        status = bundles_multiply(reading, value, axes, count, bundles, error);
    for (int64_t i = 0; status == STATUS_OK && i < bundles->count; i++) {
        bundles->items[i].line = setting_line(value);
        status =
            join_shape(reading, &bundles->items[i], op->shape_sizes, &bundles->items[i], error);
    }
    return status;
}

static enum status expand_shape(struct reading *reading, const struct scope *scope,
                                const config_setting_t *value, struct bundles *bundles,
                                struct error *error)
{
    if (config_setting_is_group(value))
        return expand_sizes(reading, scope, value, bundles, error);
    return one_text(reading, value, "shape",
                    "a shape such as \"512x1024x512\", or its sizes in { }", bundles, error);
}

/* { key = "paths.gm->l1.bandwidth_gbps"; values = [28, 56]; } */
static enum status expand_change(struct reading *reading, const struct scope *scope,
                                 const config_setting_t *value, struct bundles *bundles,
                                 struct error *error)
{
    const char *key;
    (void)scope;
    const config_setting_t *values =
        config_setting_is_group(value) ? config_setting_get_member(value, "values") : NULL;
    if (!values || !config_setting_lookup_string(value, "key", &key) ||
        config_setting_length(value) != 2)
        return tree_error(&reading->tree, value, NULL, error,
                          "expected { key = \"…\"; values = […]; }");
    return bundles_of_values(reading, values, key, "set-hw", value_chip_change, bundles, error);
}

/* Every element of `set` is an axis of its own. */
static enum status expand_changes(struct reading *reading, const config_setting_t *setting,
                                  struct bundles axes[], int *count, struct error *error)
{
    for (int i = 0; i < setting_count(setting); i++) {
        if (*count == MAX_AXES)
            return tree_error(&reading->tree, setting, NULL, error, "more than %d axes", MAX_AXES);
        TRY(expand_change(reading, NULL, setting_value(setting, i), &axes[(*count)++], error));
    }
    return STATUS_OK;
}

/* { hw = "ascend310"; cores = [20, 24]; l1_kib = [512, 1024]; set = ( … ); } */
static enum status expand_variants(struct reading *reading, const config_setting_t *group,
                                   struct bundles *bundles, struct error *error)
{
    struct bundles axes[MAX_AXES];
    int count = 0;
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        const char *name = config_setting_name(member);
        if (count == MAX_AXES)
            return tree_error(&reading->tree, group, NULL, error, "more than %d axes", MAX_AXES);
        if (strcmp(name, "set") == 0)
            TRY(expand_changes(reading, member, axes, &count, error));
        else if (strcmp(name, "hw") == 0)
            TRY(bundles_of_values(reading, member, name, "hw", value_plain, &axes[count++], error));
        else
            TRY(bundles_of_values(reading, member, name, "set-hw", value_chip_change,
                                  &axes[count++], error));
    }
    return bundles_multiply(reading, group, axes, count, bundles, error);
}

static enum status expand_hardware(struct reading *reading, const struct scope *scope,
                                   const config_setting_t *value, struct bundles *bundles,
                                   struct error *error)
{
    (void)scope;
    if (config_setting_is_group(value))
        return expand_variants(reading, value, bundles, error);
    return one_text(reading, value, "hw", "a description's name, or its changes in { }", bundles,
                    error);
}

static enum status expand_set(struct reading *reading, const struct scope *scope,
                              const config_setting_t *value, struct bundles *bundles,
                              struct error *error)
{
    (void)scope;
    const char *name = config_setting_get_string(value);
    if (!name || !*name || strpbrk(name, "/."))
        return tree_expected(&reading->tree, value, error,
                             "the name of a set, such as \"bert-base\"");
    return sweep_read_set(reading, name, value, bundles, error);
}

static enum status expand_job(struct reading *reading, const struct scope *scope,
                              const config_setting_t *value, struct bundles *bundles,
                              struct error *error)
{
    if (!config_setting_is_group(value))
        return tree_expected(&reading->tree, value, error, "a group { … }");
    return sweep_expand_group(reading, (struct scope){value, scope->own}, bundles, error);
}

/* ------------------------------------------------------------------ groups */

static const struct {
    const char *name;
    value_expander *expand;
} words[] = {
    {"shapes", expand_shape},
    {"hardware", expand_hardware},
    {"sets", expand_set},
    {"jobs", expand_job},
};
enum { WORDS = sizeof words / sizeof *words };

static bool is_remark(const char *name)
{
    return strcmp(name, "title") == 0 || strcmp(name, "source") == 0;
}

static enum status expand_member(struct reading *reading, const struct scope *scope,
                                 const config_setting_t *member, struct bundles *bundles,
                                 struct error *error)
{
    for (int w = 0; w < WORDS; w++)
        if (strcmp(words[w].name, config_setting_name(member)) == 0)
            return expand_each(reading, scope, member, words[w].expand, bundles, error);
    const char *name = option_name(reading, scope, member, error);
    if (!name)
        return error ? error->status : STATUS_INVALID;
    return bundles_of_values(reading, member, name, name, value_plain, bundles, error);
}

/* Members of the group, then those of the outer one that it does not have itself. */
static enum status expand_members(struct reading *reading, const struct scope *scope,
                                  const config_setting_t *group, bool inherited,
                                  struct bundles axes[], int *count, struct error *error)
{
    for (int i = 0; group && i < config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        const char *name = config_setting_name(member);
        if (is_remark(name)) {
            if (config_setting_type(member) != CONFIG_TYPE_STRING)
                return tree_expected(&reading->tree, member, error, "a text");
            continue;
        }
        if (inherited && (strcmp(name, "jobs") == 0 || config_setting_get_member(scope->own, name)))
            continue;
        if (!inherited && scope->outer && strcmp(name, "jobs") == 0)
            return tree_error(&reading->tree, member, NULL, error,
                              "expected only at the outermost level");
        if (*count == MAX_AXES)
            return tree_error(&reading->tree, group, NULL, error, "more than %d axes", MAX_AXES);
        TRY(expand_member(reading, scope, member, &axes[(*count)++], error));
    }
    return STATUS_OK;
}

enum status sweep_expand_group(struct reading *reading, struct scope scope, struct bundles *bundles,
                               struct error *error)
{
    struct bundles axes[MAX_AXES];
    int count = 0;
    const config_setting_t *jobs =
        scope.outer ? NULL : config_setting_get_member(scope.own, "jobs");
    if (jobs) /* what stands beside them is theirs */
        return expand_each(reading, &scope, jobs, expand_job, bundles, error);
    TRY(expand_members(reading, &scope, scope.own, false, axes, &count, error));
    TRY(expand_members(reading, &scope, scope.outer, true, axes, &count, error));
    if (count == 0)
        return error_at(error, reading->tree.file, setting_line(scope.own),
                        "no jobs, expected op and shapes, or sets");
    return bundles_multiply(reading, scope.own, axes, count, bundles, error);
}
