/* One instruction in place of several like it: moves and vector instructions whose operands lie
 * side by side. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_COALESCE_H
#define AUTOTUNE_ANALYSIS_ADVICE_COALESCE_H

#include "analysis/advice/edit.h"

/* Are both the same instruction, and does every operand of the one begin where that of the other
 * ends (or, in rows, at its next row)? */
bool coalesce_fits(const struct edit_line *one, const struct edit_line *other);

/* Makes `line` do what both do, where they fit. */
bool coalesce_lines(struct edit_line *line, const struct edit_line *next);

/* Makes `line` do at once what it does in `count` iterations of the loop at `depth` (0: outermost),
 * out of which it is then to be taken: every operand advances by its own length, or all of one
 * length advance alike, which makes them rows. */
bool coalesce_iterations(struct edit_line *line, int depth, int64_t count);

/* Takes a line out of the loop at `depth` without a change of what it does; false when an operand
 * advances with that loop. */
bool coalesce_invariant(struct edit_line *line, int depth);

#endif
