/* What a command says beside its answer, on standard error, and how it ends. */
#ifndef AUTOTUNE_CLI_SAY_H
#define AUTOTUNE_CLI_SAY_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Exit statuses: a contract. */
enum { EXIT_ANSWER = 0, EXIT_NONE = 1, EXIT_BAD = 2 };

/* Prints "autotune: text" and exits with status 2. */
void cli_die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Prints "autotune: text", and goes on. */
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the text alone: what --verbose adds. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Is all out? A reader that left has seen enough. */
bool cli_flushed(FILE *file);

/* Exits with status 0 once all that was printed is out. */
void cli_exit_printed(void) __attribute__((noreturn));

/* Is it a terminal that understands escape sequences? */
bool cli_is_terminal(int descriptor);

/* How long the lines of an answer may be: those of a terminal, or of COLUMNS where it is set; what
 * goes anywhere else has TEXT_WIDTH, the same for everybody. */
int cli_width(int descriptor);

/* Returns what was allocated or opened in memory; ends the program where it is NULL. */
void *cli_require_memory(void *memory) __attribute__((returns_nonnull));

/* Ends a text in memory (open_memstream). */
void cli_close_text(FILE *text);

/* Exits with the error's text when status is not STATUS_OK, and with the line that it shows. */
void cli_require(enum status status, const struct error *error);

/* The same for an error about a file that its text does not name. */
void cli_require_of(const char *file, enum status status, const struct error *error);

/* A whole number >= 1 for an option, or death. */
int64_t cli_count(const char *option, const char *text, int64_t largest);

/* The same >= 0. */
int64_t cli_count_or_none(const char *option, const char *text, int64_t largest);

/* A finite number; NaN when `text` is none. */
double cli_number(const char *text);

/* Seconds, more than 0, for an option, or death. */
double cli_seconds(const char *option, const char *text);

#endif
