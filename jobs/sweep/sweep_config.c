/* Sweeps as libconfig files: groups of axes, of which every combination is a job; their words, and
 * the sets that they name, which are files themselves.
 *
 * A value of an axis is a bundle of options: {shape=…}, {hw=…, set-hw=…, set-hw=…}, or all options
 * of a job of a named set. So everything is one product, and products nest. Sizes of products are
 * known before any is made; all memory is the sweep's. Errors are STATUS_TOO_LARGE for more jobs
 * than a sweep may have, or name the file and line. */
#include "jobs/sweep/sweep_rows.h"

#include "hardware/tree.h"
#include "kernels/registry.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_AXES = 48, MAX_SET_DEPTH = 3 };

/* Options that belong together. */
struct bundle {
    int line, count;
    const struct sweep_option *options;
};

struct bundles {
    int64_t count;
    struct bundle *items; /* of the sweep's memory */
};

/* One file that is being read. */
struct reading {
    struct sweep *sweep;
    struct tree tree;
    int depth; /* of named sets within sets */
};

/* ------------------------------------------------------------------ errors and memory */

static int setting_line(const config_setting_t *setting)
{
    return (int)config_setting_source_line(setting);
}

static enum status too_many(const struct reading *reading, const config_setting_t *setting,
                            double count, struct error *error)
{
    return error_set(error, STATUS_TOO_LARGE,
                     "%s:%d: %.6g combinations, expected at most %lld jobs", reading->tree.file,
                     setting_line(setting), count, (long long)reading->sweep->most_jobs);
}

static enum status bundles_make(struct reading *reading, int64_t count, struct bundles *bundles,
                                struct error *error)
{
    *bundles = (struct bundles){
        0, sweep_allocate(reading->sweep, ((size_t)count + 1) * sizeof *bundles->items)};
    return bundles->items ? STATUS_OK : error_memory(error);
}

/* A bundle of one option, behind the last. */
static enum status bundles_add(struct reading *reading, const char *name, const char *text,
                               int line, struct bundles *bundles, struct error *error)
{
    struct sweep_option *option = sweep_allocate(reading->sweep, sizeof *option);
    const char *copy = sweep_copy(reading->sweep, text);
    if (!option || !copy)
        return error_memory(error);
    *option = (struct sweep_option){name, copy};
    bundles->items[bundles->count++] = (struct bundle){line, 1, option};
    return STATUS_OK;
}

/* ------------------------------------------------------------------ values */

static bool is_list(const config_setting_t *setting)
{
    return config_setting_is_list(setting) || config_setting_is_array(setting);
}

/* How many values a setting stands for, and which. */
static int setting_count(const config_setting_t *setting)
{
    return is_list(setting) ? config_setting_length(setting) : 1;
}

static const config_setting_t *setting_value(const config_setting_t *setting, int i)
{
    return is_list(setting) ? config_setting_get_elem(setting, (unsigned)i) : setting;
}

/* from … to, by steps or by a factor. */
struct range {
    int64_t from, to, step, factor; /* step or factor, the other is 0 */
};

static enum status read_range(const struct reading *reading, const config_setting_t *setting,
                              struct range *range, struct error *error)
{
    struct {
        const char *name;
        int64_t *value, least;
    } members[] = {{"from", &range->from, 1},
                   {"to", &range->to, 1},
                   {"step", &range->step, 1},
                   {"factor", &range->factor, 2}};
    enum { MEMBERS = sizeof members / sizeof *members };
    int seen = 0;
    *range = (struct range){0};
    for (int m = 0; m < MEMBERS; m++) {
        const config_setting_t *member = config_setting_get_member(setting, members[m].name);
        struct number number;
        if (!member)
            continue;
        if (!tree_number(member, &number) || !number.whole || number.count < members[m].least)
            return tree_expected(&reading->tree, member, error, "a whole number from %lld on",
                                 (long long)members[m].least);
        *members[m].value = number.count;
        seen++;
    }
    if (seen != 3 || config_setting_length(setting) != 3 || !range->from || !range->to)
        return tree_error(&reading->tree, setting, NULL, error,
                          "expected a range { from = …; to = …; step = … or factor = …; }");
    if (range->to < range->from)
        return tree_error(&reading->tree, setting, NULL, error, "an empty range from %lld to %lld",
                          (long long)range->from, (long long)range->to);
    return STATUS_OK;
}

static double range_count(const struct range *range)
{
    double from = (double)range->from, to = (double)range->to;
    return range->step ? floor((to - from) / (double)range->step) + 1
                       : floor(log(to / from) / log((double)range->factor) + 1e-9) + 1;
}

/* The next value, or one beyond the end. */
static int64_t range_next(const struct range *range, int64_t value)
{
    int64_t next;
    bool over = range->step ? __builtin_add_overflow(value, range->step, &next)
                            : __builtin_mul_overflow(value, range->factor, &next);
    return over ? INT64_MAX : next;
}

/* How many values a setting stands for, with its ranges. */
static enum status count_values(const struct reading *reading, const config_setting_t *setting,
                                double *count, struct error *error)
{
    *count = 0;
    for (int i = 0; i < setting_count(setting); i++) {
        const config_setting_t *value = setting_value(setting, i);
        struct range range;
        if (!config_setting_is_group(value)) {
            *count += 1;
            continue;
        }
        TRY(read_range(reading, value, &range, error));
        *count += range_count(&range);
    }
    if (*count < 1)
        return tree_error(&reading->tree, setting, NULL, error, "empty, expected at least one");
    if (*count > (double)reading->sweep->most_jobs)
        return too_many(reading, setting, *count, error);
    return STATUS_OK;
}

/* The text of a number, a text or true and false (yes and no). */
static enum status setting_text(const struct reading *reading, const config_setting_t *value,
                                char text[512], struct error *error)
{
    int type = config_setting_type(value);
    if (type == CONFIG_TYPE_BOOL)
        strcpy(text, config_setting_get_bool(value) ? "yes" : "no");
    else if (config_setting_is_number(value) && type != CONFIG_TYPE_STRING)
        tree_value(value, text);
    else if (type != CONFIG_TYPE_STRING ||
             snprintf(text, 512, "%s", config_setting_get_string(value)) >= 512 || !*text)
        return tree_expected(&reading->tree, value, error,
                             "a number or a text of 1 to 511 characters");
    return STATUS_OK;
}

/* What a value becomes as an option's text. */
typedef enum status value_writer(const struct reading *reading, const char *name,
                                 const config_setting_t *setting, const char *value, char text[768],
                                 struct error *error);

static enum status value_plain(const struct reading *reading, const char *name,
                               const config_setting_t *setting, const char *value, char text[768],
                               struct error *error)
{
    (void)reading, (void)name, (void)setting, (void)error;
    snprintf(text, 768, "%s", value);
    return STATUS_OK;
}

/* "l1_kib" -> "buffers.l1.capacity_bytes=…"; any other name is a key of --set-hw. */
static enum status value_chip_change(const struct reading *reading, const char *name,
                                     const config_setting_t *setting, const char *value,
                                     char text[768], struct error *error)
{
    size_t length = strlen(name);
    char *end;
    if (length <= 4 || strcmp(name + length - 4, "_kib") != 0) {
        snprintf(text, 768, "%.200s=%s", name, value);
        return STATUS_OK;
    }
    double kib = strtod(value, &end);
    if (*end || !(kib > 0 && kib <= 1e12) || floor(kib * 1024) < kib * 1024)
        return tree_error(&reading->tree, setting, NULL, error,
                          "%s KiB, expected a number of whole bytes", value);
    snprintf(text, 768, "buffers.%.*s.capacity_bytes=%.0f", (int)(length - 4), name, kib * 1024);
    return STATUS_OK;
}

/* One bundle a value. */
static enum status bundles_of_values(struct reading *reading, const config_setting_t *setting,
                                     const char *name, const char *option, value_writer *writer,
                                     struct bundles *bundles, struct error *error)
{
    char value[512], text[768];
    double count;
    TRY(count_values(reading, setting, &count, error));
    TRY(bundles_make(reading, (int64_t)count, bundles, error));
    for (int i = 0; i < setting_count(setting); i++) {
        const config_setting_t *at = setting_value(setting, i);
        struct range range = {0};
        if (config_setting_is_group(at))
            TRY(read_range(reading, at, &range, error));
        else
            TRY(setting_text(reading, at, value, error));
        for (int64_t v = range.from; v <= range.to; v = range.from ? range_next(&range, v) : 1) {
            if (range.from)
                snprintf(value, sizeof value, "%lld", (long long)v);
            TRY(writer(reading, name, at, value, text, error));
            TRY(bundles_add(reading, option, text, setting_line(at), bundles, error));
        }
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ products */

static enum status check_product(const struct reading *reading, const config_setting_t *setting,
                                 const struct bundles axes[], int count, int64_t *product,
                                 struct error *error)
{
    double total = 1;
    for (int a = 0; a < count; a++)
        total *= (double)axes[a].count;
    if (total > (double)reading->sweep->most_jobs)
        return too_many(reading, setting, total, error);
    *product = (int64_t)total;
    return STATUS_OK;
}

/* The options of one combination; the line is that of the axis that names a shape, else the last.
 */
static enum status combine(struct reading *reading, const struct bundles axes[], int count,
                           const int64_t at[], struct bundle *bundle, struct error *error)
{
    int options = 0, line = 0;
    bool has_shape = false;
    for (int a = 0; a < count; a++)
        options += axes[a].items[at[a]].count;
    struct sweep_option *all = sweep_allocate(reading->sweep, ((size_t)options + 1) * sizeof *all);
    if (!all)
        return error_memory(error);
    options = 0;
    for (int a = 0; a < count; a++) {
        const struct bundle *part = &axes[a].items[at[a]];
        for (int i = 0; i < part->count; i++) {
            bool is_shape = strcmp(part->options[i].name, "shape") == 0;
            line = is_shape || !has_shape ? part->line : line;
            has_shape = has_shape || is_shape;
            all[options++] = part->options[i];
        }
    }
    *bundle = (struct bundle){line, options, all};
    return STATUS_OK;
}

/* All combinations, the last axis fastest. */
static enum status bundles_multiply(struct reading *reading, const config_setting_t *setting,
                                    const struct bundles axes[], int count, struct bundles *bundles,
                                    struct error *error)
{
    int64_t at[MAX_AXES] = {0}, product = 0;
    enum status status = check_product(reading, setting, axes, count, &product, error);
    if (status == STATUS_OK)
        status = bundles_make(reading, product, bundles, error);
    while (status == STATUS_OK && bundles->count < product) {
        status = combine(reading, axes, count, at, &bundles->items[bundles->count], error);
        bundles->count++;
        for (int a = count - 1; a >= 0 && ++at[a] == axes[a].count; a--)
            at[a] = 0;
    }
    return status;
}

/* One list behind the other. */
static enum status bundles_join(struct reading *reading, const config_setting_t *setting,
                                const struct bundles lists[], int count, struct bundles *bundles,
                                struct error *error)
{
    int64_t total = 0;
    for (int i = 0; i < count; i++)
        total += lists[i].count;
    if (total > reading->sweep->most_jobs)
        return too_many(reading, setting, (double)total, error);
    TRY(bundles_make(reading, total, bundles, error));
    for (int i = 0; i < count; i++) {
        if (!lists[i].items)
            continue;
        memcpy(bundles->items + bundles->count, lists[i].items,
               (size_t)lists[i].count * sizeof *lists[i].items);
        bundles->count += lists[i].count;
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ axes with words of their own
 */

/* A group with what it inherits. */
struct scope {
    const config_setting_t *own, *outer; /* outer may be NULL */
};

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

/* ------------------------------------------------------------------ files */

/* All jobs of a group; groups and named sets are within each other. */
static enum status expand_group(struct reading *reading, struct scope scope,
                                struct bundles *bundles, struct error *error);

static enum status read_tree(struct reading *reading, const char *file, struct bundles *bundles,
                             struct error *error)
{
    enum status status = tree_read(file, &reading->tree, error);
    if (status != STATUS_OK)
        return status;
    status = expand_group(reading, (struct scope){config_root_setting(reading->tree.config), NULL},
                          bundles, error);
    tree_clear(&reading->tree);
    return status;
}

/* All jobs of a named set. Errors in its rows are found at the line that names it. */
static enum status read_set(struct reading *reading, const char *name,
                            const config_setting_t *setting, struct bundles *bundles,
                            struct error *error)
{
    struct reading inner = {.sweep = reading->sweep, .depth = reading->depth + 1};
    char folder[PATH_MAX], file[PATH_MAX];
    if (inner.depth > MAX_SET_DEPTH)
        return tree_error(&reading->tree, setting, NULL, error, "sets within sets, %d deep",
                          inner.depth);
    TRY(sweep_set_folder(folder, error));
    if (!sweep_set_file(folder, name, file))
        return tree_expected(&reading->tree, setting, error, "the name of a set, see %s", folder);
    TRY(read_tree(&inner, file, bundles, error));
    for (int64_t i = 0; i < bundles->count; i++)
        bundles->items[i].line = setting_line(setting);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ groups */

static enum status expand_set(struct reading *reading, const struct scope *scope,
                              const config_setting_t *value, struct bundles *bundles,
                              struct error *error)
{
    (void)scope;
    const char *name = config_setting_get_string(value);
    if (!name || !*name || strpbrk(name, "/."))
        return tree_expected(&reading->tree, value, error,
                             "the name of a set, such as \"bert-base\"");
    return read_set(reading, name, value, bundles, error);
}

static enum status expand_job(struct reading *reading, const struct scope *scope,
                              const config_setting_t *value, struct bundles *bundles,
                              struct error *error)
{
    if (!config_setting_is_group(value))
        return tree_expected(&reading->tree, value, error, "a group { … }");
    return expand_group(reading, (struct scope){value, scope->own}, bundles, error);
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

static enum status expand_group(struct reading *reading, struct scope scope,
                                struct bundles *bundles, struct error *error)
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

/* ------------------------------------------------------------------ all of it */

static enum status add_jobs(const struct sweep_source *source, struct sweep *sweep,
                            const struct bundles *bundles, struct error *error)
{
    for (int64_t i = 0; i < bundles->count; i++) {
        const struct bundle *bundle = &bundles->items[i];
        const struct sweep_option *row = bundle->options;
        if (source->option_count) {
            struct sweep_option *both = sweep_row(source, sweep, bundle->count);
            if (!both)
                return error_memory(error);
            memcpy(both + source->option_count, row, (size_t)bundle->count * sizeof *row);
            row = both;
        }
        TRY(sweep_add(sweep, bundle->line, row, source->option_count + bundle->count, error));
    }
    return STATUS_OK;
}

enum status sweep_read_config(const struct sweep_source *source, struct sweep *sweep,
                              struct error *error)
{
    struct reading reading = {.sweep = sweep};
    struct bundles bundles = {0};
    TRY(read_tree(&reading, source->name, &bundles, error));
    return add_jobs(source, sweep, &bundles, error);
}
