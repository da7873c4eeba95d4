/* Prints JSON for people. How a value is printed follows from its JSON type and the ending of its
 * key, in one chain of cases (put_cell). Tables are laid out in two passes, the first of which
 * measures the columns; nothing is kept but the widths. */
#include "results/outline.h"

#include "core/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { CELL_SIZE = 512, MAX_COLUMNS = 16, INDENT = 2 };

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static bool is_share(const char *key)
{
    return strcmp(key, "share") == 0 || ends_in(key, "_share");
}

static bool is_relative_error(const char *key)
{
    return strcmp(key, "relative_error") == 0 || ends_in(key, "_relative_error") ||
           strcmp(key, "spread") == 0 || ends_in(key, "_spread");
}

static bool is_factor(const char *key)
{
    return strcmp(key, "slower") == 0 || ends_in(key, "_over_mean");
}

/* "tile_ns" reads "tile": its values carry the unit. */
static void put_heading(const char *key, char *text)
{
    snprintf(text, CELL_SIZE, "%s", key);
    if (ends_in(text, "_ns") || ends_in(text, "_us") || ends_in(text, "_fs"))
        text[strlen(text) - strlen("_ns")] = 0;
    for (char *at = text; *at; at++)
        if (*at == '_')
            *at = ' ';
}

/* A tiling is pasted into --set: its numbers have no separators. */
static void put_member(json_t *value, char *text);
static void put_cell(const char *key, json_t *value, char *text);

static void put_list(const char *key, json_t *array, char *text)
{
    size_t index, used = 0;
    json_t *value;
    text[0] = 0;
    json_array_foreach(array, index, value)
    {
        char one[CELL_SIZE];
        put_cell(key, value, one);
        if (used < CELL_SIZE)
            used += (size_t)snprintf(text + used, CELL_SIZE - used, "%s%s", index ? ", " : "", one);
    }
}

static void put_pairs(json_t *object, char *text)
{
    size_t used = 0;
    const char *key;
    json_t *value;
    text[0] = 0;
    json_object_foreach(object, key, value)
    {
        char one[CELL_SIZE];
        put_member(value, one);
        if (used < CELL_SIZE)
            used += (size_t)snprintf(text + used, CELL_SIZE - used, "%s%s=%s", used ? "," : "", key,
                                     one);
    }
}

static void put_member(json_t *value, char *text)
{
    if (json_is_integer(value))
        snprintf(text, CELL_SIZE, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        put_cell("", value, text);
}

static void put_string(const char *string, char *text)
{
    snprintf(text, CELL_SIZE, "%s", string);
    utf8_show(text);
}

static void put_cell(const char *key, json_t *value, char *text)
{
    char number[TEXT_SIZE];
    if (!value || json_is_null(value))
        snprintf(text, CELL_SIZE, "-");
    else if (json_is_string(value))
        put_string(json_string_value(value), text);
    else if (json_is_boolean(value))
        snprintf(text, CELL_SIZE, "%s", json_is_true(value) ? "yes" : "no");
    else if (json_is_number(value) && ends_in(key, "_ns"))
        snprintf(text, CELL_SIZE, "%s", text_time(json_number_value(value), number));
    else if (json_is_number(value) && ends_in(key, "_us"))
        snprintf(text, CELL_SIZE, "%s", text_time(1e3 * json_number_value(value), number));
    else if (json_is_number(value) && ends_in(key, "_fs"))
        snprintf(text, CELL_SIZE, "%s", text_time(json_number_value(value) / FS_PER_NS, number));
    else if (json_is_integer(value))
        snprintf(text, CELL_SIZE, "%s", text_count(json_integer_value(value), number));
    else if (json_is_real(value) && is_share(key))
        snprintf(text, CELL_SIZE, "%.1f %%", 100 * json_real_value(value));
    else if (json_is_real(value) && is_relative_error(key))
        snprintf(text, CELL_SIZE, "%.3g %%", 100 * json_real_value(value));
    else if (json_is_real(value) && is_factor(key))
        snprintf(text, CELL_SIZE, "%.4g x", json_real_value(value));
    else if (json_is_real(value)) /* + 0: a negative zero prints as zero */
        snprintf(text, CELL_SIZE, "%.4g", json_real_value(value) + 0.0);
    else if (json_is_array(value))
        put_list(key, value, text);
    else
        put_pairs(value, text);
}

struct column {
    const char *key;
    int width;
    bool left; /* words, not numbers */
};

static int find_columns(json_t *rows, struct column columns[MAX_COLUMNS])
{
    char text[CELL_SIZE];
    const char *key;
    json_t *value, *row;
    size_t index;
    int count = 0;
    json_object_foreach(json_array_get(rows, 0), key, value)
    {
        if (count == MAX_COLUMNS)
            break;
        struct column *column = &columns[count++];
        put_heading(key, text);
        *column = (struct column){key, (int)strlen(text), true};
        json_array_foreach(rows, index, row)
        {
            column->left = column->left && !json_is_number(json_object_get(row, key));
            put_cell(key, json_object_get(row, key), text);
            column->width = (int)strlen(text) > column->width ? (int)strlen(text) : column->width;
        }
    }
    return count;
}

/* The last column of words is not padded: no line ends in blanks. */
static void put_row(const struct column *columns, int count, int indent, char cells[][CELL_SIZE],
                    FILE *out)
{
    fprintf(out, "%*s", indent, "");
    for (int c = 0; c < count; c++) {
        int width = c + 1 == count && columns[c].left ? 0 : columns[c].width;
        fprintf(out, columns[c].left ? "%s%-*s" : "%s%*s", c && (*cells[c] || width) ? "  " : "",
                width, cells[c]);
    }
    fputc('\n', out);
}

static void put_table(json_t *rows, int indent, const struct style *style, FILE *out)
{
    struct column columns[MAX_COLUMNS];
    char cells[MAX_COLUMNS][CELL_SIZE];
    int count = find_columns(rows, columns);
    size_t index;
    json_t *row;
    for (int c = 0; c < count; c++)
        put_heading(columns[c].key, cells[c]);
    fputs(style->dim, out);
    put_row(columns, count, indent, cells, out);
    fputs(style->end, out);
    json_array_foreach(rows, index, row)
    {
        for (int c = 0; c < count; c++)
            put_cell(columns[c].key, json_object_get(row, columns[c].key), cells[c]);
        put_row(columns, count, indent, cells, out);
    }
}

static bool is_table(json_t *value)
{
    return json_is_array(value) && json_is_object(json_array_get(value, 0));
}

/* Members one a line, tables after them. */
static void put_members(json_t *object, const struct style *style, FILE *out)
{
    char heading[CELL_SIZE], text[CELL_SIZE];
    const char *key;
    json_t *value;
    int width = 0;
    json_object_foreach(object, key, value)
    {
        put_heading(key, heading);
        if (!is_table(value) && (int)strlen(heading) > width)
            width = (int)strlen(heading);
    }
    json_object_foreach(object, key, value)
    {
        put_heading(key, heading);
        if (is_table(value)) {
            fprintf(out, "%*s%s\n", 2 * INDENT, "", heading);
            put_table(value, 3 * INDENT, style, out);
            continue;
        }
        put_cell(key, value, text);
        fprintf(out, "%*s%-*s  ", 2 * INDENT, "", width, heading);
        if (strcmp(key, "file") == 0) /* whole, blanks and all, to be pasted */
            fputs(text, out);
        else
            text_put_wrapped(text, 2 * INDENT + width + 2, style, out);
        fputc('\n', out);
    }
}

void outline_write(json_t *object, const struct style *style, FILE *out)
{
    char heading[CELL_SIZE], text[CELL_SIZE];
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        put_heading(key, heading);
        bool pairs = ends_in(key, "tiling");
        if (pairs || (!json_is_object(value) && !is_table(value))) {
            put_cell(key, value, text);
            fprintf(out, "\n  %s%s%s\n%*s%s\n", style->bold, heading, style->end, 2 * INDENT, "",
                    text);
            continue;
        }
        fprintf(out, "\n  %s%s%s\n", style->bold, heading, style->end);
        if (json_is_object(value))
            put_members(value, style, out);
        else
            put_table(value, 2 * INDENT, style, out);
    }
}
