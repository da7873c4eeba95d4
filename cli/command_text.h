/* The command line as text: what made a table or a page. */
#ifndef AUTOTUNE_CLI_COMMAND_TEXT_H
#define AUTOTUNE_CLI_COMMAND_TEXT_H

#include <stdio.h>

/* As a shell takes it, from argv[1] on; `word` is the command's, NULL: the main job. To be asked
 * for before argv is parsed, which orders it anew. To be freed. */
char *cli_command_text(const char *word, int argc, char *const argv[]);

/* Writes a word as a shell takes it. */
void cli_put_word(const char *word, FILE *out);

#endif
