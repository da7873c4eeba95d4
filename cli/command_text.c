/* Words are quoted as POSIX shells take them: bare where all characters are harmless, else in
 * single quotes; with characters that no terminal may get, as $'...' with escapes. */
#include "cli/command_text.h"

#include "cli/options.h"
#include "formats/shell.h"
#include "hardware/load.h"

#include <stdlib.h>
#include <string.h>

char *cli_command_text(const char *word, int argc, char *const argv[])
{
    char *text = NULL;
    size_t length;
    FILE *out = cli_require_memory(open_memstream(&text, &length));
    fprintf(out, "autotune%s%s", word ? " " : "", word ? word : "");
    for (int i = 1; i < argc; i++) {
        fputc(' ', out);
        shell_word(argv[i], out);
    }
    cli_close_text(out);
    return text;
}

void cli_put_option(const char *name, const char *value, FILE *out)
{
    fprintf(out, " --%s ", name);
    shell_word(value, out);
}

void cli_put_change(const char *change, FILE *out)
{
    size_t length = strlen(HARDWARE_CACHE);
    if (strncmp(change, HARDWARE_CACHE, length) == 0)
        cli_put_option("cache", change + length, out);
    else
        cli_put_option("set-hw", change, out);
}

char *cli_file_command(const char *word, const struct common *common, const char *file)
{
    char *text = NULL;
    size_t length;
    FILE *out = cli_require_memory(open_memstream(&text, &length));
    fprintf(out, "autotune %s ", word);
    shell_word(file, out);
    if (common->hw_name)
        cli_put_option("hw", common->hw_name, out);
    if (*common->hw_folders)
        cli_put_option("hw-path", common->hw_folders, out);
    for (int i = 0; i < common->override_count; i++)
        cli_put_change(common->overrides[i], out);
    cli_close_text(out);
    return text;
}
