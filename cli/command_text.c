#include "cli/command_text.h"

#include "cli/options.h"

#include <ctype.h>
#include <string.h>

void cli_put_word(const char *word, FILE *out)
{
    bool plain = *word;
    for (const char *c = word; *c; c++)
        plain = plain && (isalnum((unsigned char)*c) || strchr("-_=./,:+@%", *c));
    if (plain) {
        fputs(word, out);
        return;
    }
    fputc('\'', out);
    for (; *word; word++)
        fputs(*word == '\'' ? "'\\''" : (char[]){*word, 0}, out);
    fputc('\'', out);
}

char *cli_command_text(const char *word, int argc, char *const argv[])
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        cli_die("out of memory");
    fprintf(out, "autotune%s%s", word ? " " : "", word ? word : "");
    for (int i = 1; i < argc; i++) {
        fputc(' ', out);
        cli_put_word(argv[i], out);
    }
    if (fclose(out))
        cli_die("out of memory");
    return text;
}
