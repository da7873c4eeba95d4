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

static enum status try_at(struct trial *trial, int32_t at, bool (*change)(struct edit *, int32_t),
                          bool *taken, struct error *error)
{
    struct edit edit;
    enum status status = edit_open(&edit, trial_program(trial), error);
    if (status == STATUS_OK && change(&edit, at))
        status = trial_try_synced(trial, &edit, taken, error);
    edit_close(&edit);
    return status;
}

enum status advice_mrt(struct trial *trial, struct error *error)
{
    for (int32_t at = 0; at < trial_program(trial)->count; at++) {
        bool taken = false;
        if (trial_program(trial)->items[at].kind != INSTRUCTION_MOVE || !trial_goes_on(trial))
            continue;
        TRY(try_at(trial, at, drop, &taken, error));
        if (!taken)
            TRY(try_at(trial, at, hoist, &taken, error));
    }
    return STATUS_OK;
}
