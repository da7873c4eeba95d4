/* Values of settings as bundles of options; their products and sums. */
#include "jobs/sweep/sweep_bundles.h"
#include "hardware/tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ errors and memory */

int setting_line(const config_setting_t *setting)
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

enum status bundles_make(struct reading *reading, int64_t count, struct bundles *bundles,
                         struct error *error)
{
    *bundles = (struct bundles){
        0, sweep_allocate(reading->sweep, ((size_t)count + 1) * sizeof *bundles->items)};
    return bundles->items ? STATUS_OK : error_memory(error);
}

/* A bundle of one option, behind the last. */
enum status bundles_add(struct reading *reading, const char *name, const char *text, int line,
                        struct bundles *bundles, struct error *error)
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
int setting_count(const config_setting_t *setting)
{
    return is_list(setting) ? config_setting_length(setting) : 1;
}

const config_setting_t *setting_value(const config_setting_t *setting, int i)
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
enum status setting_text(const struct reading *reading, const config_setting_t *value,
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

enum status value_plain(const struct reading *reading, const char *name,
                        const config_setting_t *setting, const char *value, char text[768],
                        struct error *error)
{
    (void)reading, (void)name, (void)setting, (void)error;
    snprintf(text, 768, "%s", value);
    return STATUS_OK;
}

/* "l1_kib" -> "buffers.l1.capacity_bytes=…"; any other name is a key of --set-hw. */
enum status value_chip_change(const struct reading *reading, const char *name,
                              const config_setting_t *setting, const char *value, char text[768],
                              struct error *error)
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
enum status bundles_of_values(struct reading *reading, const config_setting_t *setting,
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
enum status bundles_multiply(struct reading *reading, const config_setting_t *setting,
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
enum status bundles_join(struct reading *reading, const config_setting_t *setting,
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
