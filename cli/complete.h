/* What shells ask to complete a word: `autotune --complete WORD...` with the words of the line up
 * to the cursor, the last of which, "" too, is to be completed. Prints what it may become, one a
 * line, with its meaning behind a tab; nothing where files are expected. What there is to offer
 * comes from the tables that parse and that `list` shows. */
#ifndef AUTOTUNE_CLI_COMPLETE_H
#define AUTOTUNE_CLI_COMPLETE_H

#include "cli/options.h"

/* The word that main finds before, and that cli_parse finds in place of the command's. */
#define COMPLETE_WORD "--complete"

/* Commands that begin with `begin`. */
void complete_command(const char *begin) __attribute__((noreturn));

/* The last of the words, which are a command's. */
void complete_word(const struct argp *argp, const struct common *common, int argc, char **argv)
    __attribute__((noreturn));

#endif
