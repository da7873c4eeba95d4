/* Small pieces of text output: times and counts (core/quantity.h), bars, colours. */
#ifndef AUTOTUNE_FORMATS_TEXT_H
#define AUTOTUNE_FORMATS_TEXT_H

#include "core/hardware.h"
#include "core/quantity.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { BAR_WIDTH = 24, TEXT_WIDTH = 80, TEXT_LABEL = 15 };

/* What a file that was asked for is called: "standard input" for "-". */
const char *text_file_name(const char *file);

/* A text as one line that can be shown, '?' for what cannot; cut to `line`, which is returned. */
enum { TEXT_LINE_SIZE = 4096 };
const char *text_line(const char *text, char line[TEXT_LINE_SIZE]);

/* "[######------]" for a share from 0 to 1. Returns `text`. */
const char *text_bar(double share, char text[TEXT_SIZE]);

/* How text looks: terminal styles, empty strings without colour; and how long its lines are. */
struct style {
    const char *bold, *good, *warn, *dim, *end;
    int width;
};
struct style text_style(bool colour, int width);

/* Prints words, `column` columns of the line being taken, and continues on lines indented by as
 * many where they would pass the width. Ends without a newline. */
void text_put_wrapped(const char *words, int column, const struct style *style, FILE *out);

/* Prints "  label        text", the text from column TEXT_LABEL on and wrapped as above. */
void text_put_line(const char *label, const struct style *style, FILE *out, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Prints a command line, `column` columns of the line being taken, and continues it as a shell does
 * on indented lines, options with their values, where it would pass the width. */
void text_put_command(const char *command, int column, const struct style *style, FILE *out);

/* Prints one line of text within a comment of C: nothing in it ends the comment, begins another,
 * turns the direction of the line, or is taken for a trigraph or a line that goes on. */
void text_put_comment(const char *text, FILE *out);

/* The file that a description comes from, its cache's word where it has one, and what --set-hw
 * changed in it: one line each. The
 * second one ends them with an empty line. */
void text_put_hardware_lines(const struct hardware *hw, const struct style *style, FILE *out);
void text_put_hardware(const struct hardware *hw, const struct style *style, FILE *out);

#endif
