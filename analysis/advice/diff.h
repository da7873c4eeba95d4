/* Which lines of text differ between two programs: the shortest list of changes. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_DIFF_H
#define AUTOTUNE_ANALYSIS_ADVICE_DIFF_H

#include "core/program.h"

#include <stddef.h>

/* A line that became another; "" on the side where there is none. */
struct diff_line {
    int32_t line; /* of the first program's text; of a new line: before which it stands */
    bool begins;  /* a block of neighbouring changes; each has as many lines as its longer side */
    char *before, *after;
};

struct diff {
    size_t count;
    struct diff_line *lines; /* owned: diff_clear; in the order of the text */
};

enum status diff_programs(const struct program *before, const struct program *after,
                          struct diff *diff, struct error *error);
void diff_clear(struct diff *diff);

#endif
