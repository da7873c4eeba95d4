/* Text: how it begins in a file, and what of it may be shown to people.
 *
 * Files are UTF-8. Names, sources, notes and comments in them are written by anybody, and so are
 * file names: control characters would steer a terminal, marks of direction would turn a line
 * around, invisible ones make two names look the same. None of them leaves the program as it is. */
#ifndef AUTOTUNE_CORE_UTF8_H
#define AUTOTUNE_CORE_UTF8_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* How a file of text begins, from its first `count` bytes (4, or all it has): *mark is the length
 * of a byte order mark, which is no part of the text, or 0. STATUS_INVALID with "file:1: …" for
 * UTF-16, UTF-32, archives and compressed data. */
enum status utf8_begin(const char *file, const void *bytes, size_t count, size_t *mark,
                       struct error *error);

/* The bytes of the character that begins here, of `length` at most; 0 where none does (RFC 3629).
 * Zero bytes are characters. */
size_t utf8_character(const char *text, size_t length);

/* The same, 0 also for what is not shown: control and format characters, line ends among them. */
size_t utf8_shown(const char *text, size_t length);

/* Where the character begins that byte `at` is of. */
size_t utf8_start(const char *text, size_t at);

/* Is all of it shown? */
bool utf8_is_shown(const char *text);

/* Makes one line of it that can be shown: '?' stands for what is not. */
void utf8_show(char *text);

/* Puts one line of it out, '?' for what is not shown; nowhere where `out` is NULL. Returns how many
 * characters that is. */
int utf8_put_line(const char *text, size_t length, FILE *out);

/* What is done with the lines of an answer on their way out. */
enum utf8_way {
    UTF8_TEXT,   /* '?' for what is not shown */
    UTF8_COLOUR, /* the same, but for the five escape sequences of our own styles */
    UTF8_JSON,   /* \u escapes, as all of it stands within strings */
};

/* Puts lines out; line ends and tabs stay. Returns how many bytes of `length` were taken: a
 * character that may go on behind them is left for the next call, unless this `is_last`. */
size_t utf8_put(const char *text, size_t length, bool is_last, enum utf8_way way, FILE *out);

#endif
