/* A description as text, laid out as people write them. */
#include "hardware/description.h"

#include "core/hardware.h"
#include "core/text_stream.h"
#include "hardware/tree.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, INDENT = 4 };

/* What stands above a list, since its keys do not say it. */
static const struct {
    const char *key, *comment;
} comments[] = {
    {"buses", "The n-th total is what n transfers move together, over all cores; the last holds "
              "for more."},
    {"paths",
     "A move takes its issue, what `bursts` says for each of several pieces, and its bytes "
     "at the\n# bandwidth; its result is there a latency later. What is in cycles follows "
     "clock_mhz."},
    {"operations", "A vector operation costs first_ns or first_cycles for its first "
                   "vector_repeat_bytes and\n# repeat_cycles or repeat_ns for each further ones; a "
                   "scalar one each_ns or each_cycles. These\n# replace the issue."},
    {"operands", "Where operands lie, by their keys in program text: those of moves as their path "
                 "says."},
    {"types", "What operations take, in their operands and results alike, and what they convert."},
    {"host", "A thread's rates at each level, what n threads that read at once get together; loops "
             "take\n# calls times call_ns and steps times step_ns with their data in the L1."},
    {"fit", "The median error of predicted kernels, and the standard errors of fitted numbers."},
};

static void put_setting(const config_setting_t *setting, int indent, FILE *out);

static void put_text(const char *text, FILE *out)
{
    putc('"', out);
    for (; *text; text++)
        fprintf(out, "%s%c", *text == '"' || *text == '\\' ? "\\" : "", *text);
    putc('"', out);
}

/* Is it an array with a number that is not whole? */
static bool holds_reals(const config_setting_t *array)
{
    struct number number = {.whole = true};
    bool reals = false;
    for (int i = 0; config_setting_is_array(array) && i < config_setting_length(array); i++)
        if (tree_number(config_setting_get_elem(array, (unsigned)i), &number))
            reals = reals || !number.whole;
    return reals;
}

/* libconfig tells whole numbers from others by their look, and an array holds one kind only. */
static void put_number(const config_setting_t *setting, FILE *out)
{
    char text[TREE_VALUE_SIZE];
    struct number number;
    tree_value(setting, text);
    tree_number(setting, &number);
    bool real = !number.whole || holds_reals(config_setting_parent(setting));
    fputs(text, out);
    if (number.whole && !real && (number.count > INT_MAX || number.count < INT_MIN))
        fputs("L", out);
    if (real && !strpbrk(text, ".eE"))
        fputs(".0", out);
}

static const char *source_of(const config_setting_t *number)
{
    const char *source = tree_source(number);
    return strcmp(source, FACT_OVERRIDE_SOURCE) == 0 ? "assumed: " FACT_OVERRIDE_SOURCE : source;
}

/* The source of the group itself, or of what has replaced its value or the numbers of its arrays;
 * NULL without one. */
static const char *group_source(const config_setting_t *group)
{
    const char *source = NULL;
    config_setting_lookup_string(group, "source", &source);
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        const char *name = config_setting_name(member);
        int count = config_setting_is_array(member) || config_setting_is_list(member)
                        ? config_setting_length(member)
                        : 0;
        for (int j = 0; j < count; j++)
            if (config_setting_get_hook(config_setting_get_elem(member, (unsigned)j)))
                return source_of(config_setting_get_elem(member, (unsigned)j));
        if (name && strcmp(name, "value") == 0 && config_setting_get_hook(member))
            return source_of(member);
    }
    return source;
}

/* Does a number of a group come from elsewhere than the group's others? */
static bool has_own_source(const config_setting_t *number)
{
    const char *name = config_setting_name(number);
    if (!name || !strcmp(name, "value") || !config_setting_get_hook(number))
        return false;
    const char *around = group_source(config_setting_parent(number));
    return !around || strcmp(around, source_of(number)) != 0;
}

/* Starts the next line, indented, or goes on in the same one. */
static void put_break(int indent, FILE *out)
{
    if (indent < 0)
        putc(' ', out);
    else
        fprintf(out, "\n%*s", indent, "");
}

/* "{ value = …; source = "…"; }" */
static void put_wrapped(const config_setting_t *number, int indent, FILE *out)
{
    int inner = indent < 0 ? -1 : indent + INDENT;
    putc('{', out);
    put_break(inner, out);
    fputs("value = ", out);
    put_number(number, out);
    putc(';', out);
    put_break(inner, out);
    fputs("source = ", out);
    put_text(source_of(number), out);
    putc(';', out);
    put_break(indent, out);
    putc('}', out);
}

/* "key = value;" */
static void put_member(const config_setting_t *member, int indent, FILE *out)
{
    fprintf(out, "%s = ", config_setting_name(member));
    if (config_setting_is_number(member) && has_own_source(member)) {
        put_wrapped(member, indent, out);
    } else {
        put_setting(member, indent, out);
    }
    putc(';', out);
}

/* A member as it stands in one line, to be freed; NULL without memory. */
static char *member_text(const config_setting_t *member)
{
    char *text = NULL;
    size_t size;
    FILE *out = text_stream_open(&text, &size);
    if (!out)
        return NULL;
    put_member(member, -1, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

static bool is_source(const config_setting_t *member)
{
    return strcmp(config_setting_name(member), "source") == 0;
}

static void put_source(const config_setting_t *group, FILE *out)
{
    fputs("source = ", out);
    put_text(group_source(group), out);
    putc(';', out);
}

/* Members behind each other; indent < 0: in one line, else as many to a line as there is room. */
static void put_members(const config_setting_t *group, int indent, FILE *out)
{
    int column = 0;
    for (int i = 0; i < config_setting_length(group); i++) {
        const config_setting_t *member = config_setting_get_elem(group, (unsigned)i);
        if (is_source(member))
            continue;
        char *text = member_text(member);
        int length = text ? (int)strlen(text) : WIDTH;
        if (indent < 0) {
            putc(' ', out);
            put_member(member, -1, out);
        } else if (column && column + 1 + length <= WIDTH) {
            putc(' ', out);
            put_member(member, -1, out);
            column += 1 + length;
        } else {
            fprintf(out, "\n%*s", indent, "");
            put_member(member, indent + length <= WIDTH ? -1 : indent, out);
            column = indent + length <= WIDTH ? indent + length : WIDTH;
        }
        free(text);
    }
    if (!group_source(group))
        return;
    put_break(indent, out);
    put_source(group, out);
}

static void put_group(const config_setting_t *group, int indent, FILE *out)
{
    putc('{', out);
    put_members(group, indent < 0 ? -1 : indent + INDENT, out);
    put_break(indent, out);
    putc('}', out);
}

/* An element of a list, in one line where it fits. */
static void put_element(const config_setting_t *element, int indent, FILE *out)
{
    char *text = NULL;
    size_t size = 0;
    FILE *line = indent < 0 ? NULL : text_stream_open(&text, &size);
    if (line) {
        put_setting(element, -1, line);
        fclose(line);
    }
    put_setting(element, text && indent + (int)size + 1 <= WIDTH ? -1 : indent, out);
    free(text);
}

/* ( … ) of groups one below the other, [ … ] of numbers filled into lines. */
static void put_list(const config_setting_t *list, int indent, FILE *out)
{
    bool groups = config_setting_is_list(list);
    int count = config_setting_length(list), column = WIDTH;
    fputc(groups ? '(' : '[', out);
    for (int i = 0; i < count; i++) {
        const config_setting_t *element = config_setting_get_elem(list, (unsigned)i);
        bool breaks = indent >= 0 && (groups || column + 14 > WIDTH);
        if (breaks)
            fprintf(out, "\n%*s", indent + INDENT, "");
        else if (i > 0)
            putc(' ', out);
        column = breaks ? indent + INDENT : column + 14;
        put_element(element, indent < 0 ? -1 : indent + INDENT, out);
        fputs(i + 1 < count ? "," : "", out);
    }
    if (indent >= 0)
        fprintf(out, "\n%*s", indent, "");
    fputc(groups ? ')' : ']', out);
}

/* A value; indent < 0: in one line. */
static void put_setting(const config_setting_t *setting, int indent, FILE *out)
{
    if (config_setting_is_group(setting))
        put_group(setting, indent, out);
    else if (config_setting_is_aggregate(setting))
        put_list(setting, indent, out);
    else if (config_setting_is_number(setting))
        put_number(setting, out);
    else if (config_setting_type(setting) == CONFIG_TYPE_BOOL)
        fputs(config_setting_get_bool(setting) ? "true" : "false", out);
    else
        put_text(config_setting_get_string(setting), out);
}

static void put_top(const config_setting_t *member, FILE *out)
{
    const char *name = config_setting_name(member);
    bool list =
        config_setting_is_list(member) || strcmp(name, "fit") == 0 || strcmp(name, "host") == 0;
    fputs(list ? "\n" : "", out);
    for (size_t i = 0; i < sizeof comments / sizeof *comments; i++)
        if (strcmp(comments[i].key, name) == 0)
            fprintf(out, "# %s\n", comments[i].comment);
    char *text = member_text(member);
    put_member(member, !list && text && strlen(text) <= WIDTH ? -1 : 0, out);
    putc('\n', out);
    free(text);
}

enum status description_write(const struct description *description, const char *heading,
                              char **text, struct error *error)
{
    const config_setting_t *root = config_root_setting(description->tree.config);
    size_t size;
    *text = NULL;
    FILE *out = text_stream_open(text, &size);
    if (!out)
        return error_memory(error);
    fprintf(out, "%s%s", heading, *heading ? "\n" : "");
    for (int i = 0; i < config_setting_length(root); i++) {
        const config_setting_t *member = config_setting_get_elem(root, (unsigned)i);
        if (strcmp(config_setting_name(member), "name") != 0 || !description->name[0]) {
            put_top(member, out);
            continue;
        }
        fputs("name = ", out);
        put_text(description->name, out);
        fputs(";\n", out);
    }
    bool failed = ferror(out);
    if (fclose(out) == 0 && !failed)
        return STATUS_OK;
    free(*text);
    *text = NULL;
    return error_memory(error);
}
