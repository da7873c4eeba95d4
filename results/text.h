/* Small pieces of text output: times and counts (core/quantity.h), bars, colours. */
#ifndef AUTOTUNE_RESULTS_TEXT_H
#define AUTOTUNE_RESULTS_TEXT_H

#include "core/hardware.h"
#include "core/quantity.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { BAR_WIDTH = 24 };

/* What a file that was asked for is called: "standard input" for "-". */
const char *text_file_name(const char *file);

/* A text as one line that can be shown, '?' for what cannot; cut to `line`, which is returned. */
enum { TEXT_LINE_SIZE = 4096 };
const char *text_line(const char *text, char line[TEXT_LINE_SIZE]);

/* "[######------]" for a share from 0 to 1. Returns `text`. */
const char *text_bar(double share, char text[TEXT_SIZE]);

enum { TEXT_WIDTH = 110 };

/* Prints words, `column` columns of the line being taken, and continues on lines indented by as
 * many where they would pass TEXT_WIDTH. Ends without a newline. */
void text_put_wrapped(const char *words, int column, FILE *out);

/* Prints one line of text within a comment of C: nothing in it ends the comment, begins another,
 * turns the direction of the line, or is taken for a trigraph or a line that goes on. */
void text_put_comment(const char *text, FILE *out);

/* Terminal styles; empty strings without colour. */
struct style {
    const char *bold, *good, *warn, *dim, *end;
};
struct style text_style(bool colour);

/* The file that a description comes from, and what --set-hw changed in it: one line each. The
 * second one ends them with an empty line. */
void text_put_hardware_lines(const struct hardware *hw, const struct style *style, FILE *out);
void text_put_hardware(const struct hardware *hw, const struct style *style, FILE *out);

#endif
