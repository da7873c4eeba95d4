/* Texts as words of a shell's command line. */
#ifndef AUTOTUNE_FORMATS_SHELL_H
#define AUTOTUNE_FORMATS_SHELL_H

#include <stdio.h>

/* In quotes, whatever it holds: for scripts of a POSIX shell. */
void shell_quote(const char *text, FILE *out);

/* For people: quoted only where it has to be; what no terminal may get is escaped ($'...' of bash,
 * zsh and ksh). */
void shell_word(const char *text, FILE *out);

#endif
