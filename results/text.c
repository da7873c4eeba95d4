#include "results/text.h"

#include "core/utf8.h"

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

struct style text_style(bool colour)
{
    if (!colour)
        return (struct style){"", "", "", "", ""};
    return (struct style){"\033[1m", "\033[32m", "\033[33m", "\033[2m", "\033[0m"};
}

void text_put_hardware_lines(const struct hardware *hw, const struct style *style, FILE *out)
{
    char line[TEXT_LINE_SIZE];
    fprintf(out, "%s%s%s\n", style->dim, text_line(hw->file, line), style->end);
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

void text_put_wrapped(const char *words, int column, FILE *out)
{
    int at = column;
    while (*words) {
        int length = (int)strcspn(words, " ");
        if (at > column && at + 1 + length > TEXT_WIDTH) {
            fprintf(out, "\n%*s", column, "");
            at = column;
        }
        at += fprintf(out, at > column ? " %.*s" : "%.*s", length, words);
        words += length;
        words += strspn(words, " ");
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
