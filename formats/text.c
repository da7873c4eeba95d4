/* Lines are filled greedily, word by word, counting columns without escape sequences; a command
 * line is cut only between options, so that a value stays with its name. */
#include "formats/text.h"

#include "core/utf8.h"

#include <stdarg.h>
#include <string.h>

const char *text_file_name(const char *file)
{
    return strcmp(file, "-") == 0 ? "standard input" : file;
}

const char *text_line(const char *text, char line[TEXT_LINE_SIZE])
{
    snprintf(line, TEXT_LINE_SIZE, "%s", text);
    utf8_show(line);
    return line;
}

const char *text_bar(double share, char text[TEXT_SIZE])
{
    int filled = (int)(share * BAR_WIDTH + 0.5);
    filled = filled < 0 ? 0 : filled > BAR_WIDTH ? BAR_WIDTH : filled;
    text[0] = '[';
    memset(text + 1, '#', (size_t)filled);
    memset(text + 1 + filled, '-', (size_t)(BAR_WIDTH - filled));
    strcpy(text + 1 + BAR_WIDTH, "]");
    return text;
}

struct style text_style(bool colour, int width)
{
    if (!colour)
        return (struct style){"", "", "", "", "", width};
    return (struct style){"\033[1m", "\033[32m", "\033[33m", "\033[2m", "\033[0m", width};
}

void text_put_hardware_lines(const struct hardware *hw, const struct style *style, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    fprintf(out, "%s%s%s\n", style->dim, text_line(hw->file, line), style->end);
    if (hw->cache.behind >= 0 && !hw->host)
        fprintf(out, "%scache: %s%s\n", style->dim, hardware_cache_word(hw), style->end);
    for (size_t i = 0; i < hw->fact_count; i++)
        if (fact_is_override(&hw->facts[i]))
            fprintf(out, "%schanged: %s=%s%s\n", style->warn, hw->facts[i].key, hw->facts[i].value,
                    style->end);
}

void text_put_hardware(const struct hardware *hw, const struct style *style, FILE *out)
{
    text_put_hardware_lines(hw, style, out);
    fputc('\n', out);
}

/* To the next blank, which one before "%" is not. */
static int word_length(const char *words)
{
    int length = (int)strcspn(words, " ");
    return strncmp(words + length, " %", 2) == 0
               ? length + 2 + (int)strcspn(words + length + 2, " ")
               : length;
}

/* Columns that a text takes: escape sequences take none. */
static int columns_of(const char *text, int length)
{
    int columns = 0;
    for (int i = 0; i < length; i++)
        if (text[i] == '\033')
            i += (int)strcspn(text + i, "m");
        else
            columns++;
    return columns;
}

void text_put_wrapped(const char *words, int column, const struct style *style, FILE *out)
{
    int at = column;
    while (*words) {
        int gap = (int)strspn(words, " "), length = word_length(words + gap);
        int columns = columns_of(words + gap, length);
        if (at > column && gap + columns > style->width - at) {
            fprintf(out, "\n%*s", column, "");
            at = column;
            words += gap;
            gap = 0;
        }
        fprintf(out, "%.*s", gap + length, words);
        at += gap + columns;
        words += gap + length;
    }
}

void text_put_line(const char *label, const struct style *style, FILE *out, const char *format, ...)
{
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    fprintf(out, "  %s%*s", label, TEXT_LABEL - 2 - columns_of(label, (int)strlen(label)), "");
    text_put_wrapped(text, TEXT_LABEL, style, out);
    fputc('\n', out);
}

/* How long is the next option with its value, in quotes or not? */
static int option_length(const char *command)
{
    bool quoted = false;
    int length = 0;
    for (; command[length]; length++) {
        quoted = quoted != (command[length] == '\'');
        if (length && !quoted && strncmp(command + length, " --", 3) == 0)
            break;
    }
    return length;
}

void text_put_command(const char *command, int column, const struct style *style, FILE *out)
{
    const int end = 2; /* " \\" */
    int at = column;
    while (*command) {
        int length = option_length(command);
        bool last = !command[length];
        if (at > column && at + length > style->width - (last ? 0 : end)) {
            fprintf(out, " \\\n%*s", column + 1, "");
            at = column + 1;
        }
        fprintf(out, "%.*s", length, command);
        at += length;
        command += length;
    }
}

void text_put_comment(const char *text, FILE *out)
{
    for (char before = 0; *text; before = *text++) {
        unsigned char c = (unsigned char)*text;
        bool joins = (before == '*' && c == '/') || (before == '/' && c == '*') ||
                     (before == '?' && c == '?');
        if (joins)
            fputc(' ', out);
        fputc(c < ' ' || c >= 127 || c == '\\' ? '?' : c, out);
    }
}
