/* The command line as text: what made a table or a page. */
#ifndef AUTOTUNE_CLI_COMMAND_TEXT_H
#define AUTOTUNE_CLI_COMMAND_TEXT_H

#include "cli/options.h"

#include <stdio.h>

/* As a shell takes it, from argv[1] on; `word` is the command's, NULL: the main job. To be asked
 * for before argv is parsed, which orders it anew. To be freed. */
char *cli_command_text(const char *word, int argc, char *const argv[]);

/* "autotune WORD FILE" about the same chip, as a shell takes it. To be freed. */
char *cli_file_command(const char *word, const struct common *common, const char *file);

/* Writes " --name value" as a shell takes it. */
void cli_put_option(const char *name, const char *value, FILE *out);

/* Writes a change of the description, " --set-hw key=value" or " --cache word". */
void cli_put_change(const char *change, FILE *out);

#endif
