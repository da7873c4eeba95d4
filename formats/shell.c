/* Quoting for shells: within single quotes all stands for itself but a single quote. */
#include "formats/shell.h"

#include "core/utf8.h"

#include <ctype.h>
#include <string.h>

void shell_quote(const char *text, FILE *out)
{
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
}

static void put_escaped(const char *text, FILE *out)
{
    fputs("$'", out);
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f)
            fprintf(out, "\\x%02x", (unsigned char)*text);
        else if (*text == '\'' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    fputc('\'', out);
}

void shell_word(const char *text, FILE *out)
{
    bool plain = *text;
    for (const char *c = text; *c; c++)
        plain = plain && (isalnum((unsigned char)*c) || strchr("-_=./,:+@%", *c));
    if (plain)
        fputs(text, out);
    else if (utf8_is_shown(text))
        shell_quote(text, out);
    else
        put_escaped(text, out);
}
