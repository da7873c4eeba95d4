/* PP, ping-pong: a loop's buffers get a second half, and its iterations use them in turn, so that
 * one is filled while the other is in use.
 *
 * The loop's body is written twice, the second time with the buffers moved to free room, and the
 * flags are written anew (resync.h). It computes the same where an iteration writes a buffer before
 * it reads it, so that nothing passes from one iteration to the next through it; buffers in which
 * something does (an accumulator) or that the loop only reads stay one. */
#include "analysis/advice_table.h"
#include "analysis/tenant.h"

/* Gives the tenants of which `chosen` has the bit a second half; false when nothing changes. */
static bool double_up(struct edit *edit, int32_t loop, uint32_t chosen)
{
    struct tenant tenants[TENANT_MAX];
    int32_t end = edit_end(edit, loop);
    int count = tenants_of(edit, loop + 1, end, tenants);
    int32_t copied = end - loop - 1;
    for (int t = 0; t < count; t++)
        if (!tenant_turns(edit, loop + 1, copied, &tenants[t]))
            chosen &= ~(1u << t);
    if (count < 0 || chosen == 0)
        return false;
    int32_t second = edit_unroll(edit, loop);
    if (second < 0 || edit->failed)
        return false;
    bool moved = false;
    for (int t = 0; t < count; t++) {
        int64_t at = chosen >> t & 1
                         ? tenant_room(edit, &tenants[t], tenants[t].high - tenants[t].low)
                         : -1;
        if (at >= 0)
            tenant_shift(edit, second, second + copied, &tenants[t], at - tenants[t].low);
        moved |= at >= 0;
    }
    return moved;
}

static enum status try_double(struct trial *trial, int32_t loop, uint32_t chosen, bool *taken,
                              struct error *error)
{
    struct edit edit;
    enum status status = edit_open(&edit, trial_program(trial), error);
    if (status == STATUS_OK && double_up(&edit, loop, chosen))
        status = trial_try_synced(trial, &edit, taken, error);
    edit_close(&edit);
    return status;
}

enum status advice_pp(struct trial *trial, struct error *error)
{
    enum status status = STATUS_OK;
    for (int32_t at = trial_program(trial)->count - 1; at >= 0 && status == STATUS_OK; at--) {
        bool taken = false;
        if (trial_program(trial)->items[at].kind != INSTRUCTION_LOOP || !trial_goes_on(trial))
            continue;
        status = try_double(trial, at, UINT32_MAX, &taken, error);
        for (int t = 0; t < TENANT_MAX && status == STATUS_OK && !taken && trial_goes_on(trial);
             t++)
            status = try_double(trial, at, 1u << t, &taken, error);
    }
    return status;
}
