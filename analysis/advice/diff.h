/* What a change makes of the text that a program was read from, line by line.
 *
 * A line that the change leaves alone stands as it stood, with its comment, indentation and
 * spelling; so does every line without an instruction. An instruction that only went elsewhere, or
 * is done once more, keeps spelling and comment and is indented as its new place is. All others are
 * printed as program_print does.
 *
 *   diff_programs(&source, &before, &after, &diff, &error);
 *   diff_write_text(&diff, out);                    the new text
 *   diff_write_unified(&diff, "kernel.txt", out);   what makes it of the old one
 *   diff_clear(&diff); */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_DIFF_H
#define AUTOTUNE_ANALYSIS_ADVICE_DIFF_H

#include "core/program_text.h"

#include <stddef.h>
#include <stdio.h>

/* Whose line it is, as a unified diff marks it. */
enum diff_side { DIFF_BOTH = ' ', DIFF_BEFORE = '-', DIFF_AFTER = '+' };

struct diff_line {
    char side;        /* enum diff_side */
    bool unended;     /* the last line of a text that ends without a newline */
    const char *text; /* without its newline; may hold any byte */
    size_t length;
};

struct diff {
    size_t count;
    struct diff_line *lines; /* owned; of neighbours that differ, those before come first */
    char *made;              /* owned; texts of lines that the source has not */
};

/* `after` was made of `before` (edit.h), which was read from `source`; the diff points into the
 * source's text. */
enum status diff_programs(const struct program_source *source, const struct program *before,
                          const struct program *after, struct diff *diff, struct error *error);
void diff_clear(struct diff *diff);

/* The text after the change. */
enum status diff_write_text(const struct diff *diff, FILE *out, struct error *error);

/* A unified diff with three lines of context, which `patch -p0` applies to the file of that name.
 * Nothing where nothing differs. */
enum status diff_write_unified(const struct diff *diff, const char *file, FILE *out,
                               struct error *error);

#endif
