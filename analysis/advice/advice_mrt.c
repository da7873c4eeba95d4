/* MRT, minimise redundant transfer: a move whose operands do not change in a loop goes before it,
 * and one that brings what is there already goes away.
 *
 * It computes the same where nothing in the loop writes the move's source or destination: then
 * every iteration after the first would move the same bytes to where they are. */
#include "analysis/advice/advice_table.h"
#include "analysis/advice/coalesce.h"

static bool hoist(struct edit *edit, int32_t at)
{
    int32_t loop = edit_parent(edit, at);
    if (loop < 0 || edit->lines[loop].in.count < 1)
        return false;
    struct edit_line line = edit->lines[at];
    if (!coalesce_invariant(&line, edit_depth(edit, loop)))
        return false;
    edit_delete(edit, at, 1);
    edit_insert(edit, loop, &line);
    return true;
}

static bool drop(struct edit *edit, int32_t at)
{
    edit_delete(edit, at, 1);
    return true;
}

enum status advice_mrt(struct trial *trial, struct error *error)
{
    return trial_moves(trial, drop, hoist, error);
}
