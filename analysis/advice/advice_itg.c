/* ITG, increase transfer granularity: several small moves become one large one, which pays for its
 * issue once.
 *
 * Moves side by side or in a loop are merged as advice_grow.h says. Where a loop uses its buffers
 * anew in each iteration, two iterations are done at a time: the body is written twice, the second
 * time with buffers right behind the first ones, and then what each copy moves is moved at once.
 * That computes the same where an iteration writes a buffer before it reads it, as for PP. */
#include "analysis/advice/advice_grow.h"
#include "analysis/advice/advice_table.h"
#include "analysis/advice/coalesce.h"
#include "analysis/advice/tenant.h"

enum { AWAY_BYTES = 1 << 30 }; /* beyond every buffer, while room is looked for */

/* Puts the first copy's tenants where both fit side by side, and the second's behind them. */
static bool place_pairs(struct edit *edit, int32_t first, int32_t second, int32_t length)
{
    struct tenant tenants[TENANT_MAX];
    int count = tenants_of(edit, first, first + length, tenants);
    bool placed = false;
    for (int t = 0; t < count; t++) {
        struct tenant tenant = tenants[t], away = tenant;
        int64_t bytes = tenant.high - tenant.low;
        if (!tenant_turns(edit, first, length, &tenant))
            continue;
        away.low += AWAY_BYTES;
        away.high += AWAY_BYTES;
        tenant_shift(edit, 0, edit->count, &tenant, AWAY_BYTES);
        int64_t room = tenant_room(edit, &tenant, 2 * bytes);
        int64_t to = room < 0 ? tenant.low : room;
        tenant_shift(edit, second, second + length, &away, to - away.low + (room < 0 ? 0 : bytes));
        tenant_shift(edit, 0, edit->count, &away, to - away.low);
        placed |= room >= 0;
    }
    return placed;
}

/* Merges the moves of both copies: at the first's place where they load, at the second's where
 * they store. How many were. */
static int merge_pairs(struct edit *edit, int32_t first, int32_t second, int32_t length)
{
    int merged = 0;
    for (int32_t i = length - 1; i >= 0; i--) {
        struct edit_line both = edit->lines[first + i];
        const struct region *dst = edit_operand(&both, OPERAND_DST);
        if (both.in.kind != INSTRUCTION_MOVE || !dst ||
            !coalesce_lines(&both, &edit->lines[second + i]))
            continue;
        bool stores = edit->hw->buffers[dst->buffer].capacity_bytes == 0;
        edit->lines[stores ? second + i : first + i] = both;
        edit_delete(edit, stores ? first + i : second + i, 1);
        second -= stores;
        merged++;
    }
    return merged;
}

static bool pair_iterations(struct edit *edit, int32_t loop)
{
    int32_t length = edit_end(edit, loop) - loop - 1, second = edit_unroll(edit, loop);
    return second >= 0 && !edit->failed && place_pairs(edit, loop + 1, second, length) &&
           merge_pairs(edit, loop + 1, second, length) > 0;
}

static enum status try_pairs(struct trial *trial, int32_t loop, bool *taken, struct error *error)
{
    struct edit edit;
    enum status status = edit_open(&edit, trial_program(trial), error);
    if (status == STATUS_OK && trial_goes_on(trial) && pair_iterations(&edit, loop))
        status = trial_try_synced(trial, &edit, taken, error);
    edit_close(&edit);
    return status;
}

enum status advice_itg(struct trial *trial, struct error *error)
{
    enum status status = advice_grow(trial, INSTRUCTION_MOVE, error);
    for (int32_t at = trial_program(trial)->count - 1; at >= 0 && status == STATUS_OK; at--) {
        bool taken = false;
        if (trial_program(trial)->items[at].kind == INSTRUCTION_LOOP)
            status = try_pairs(trial, at, &taken, error);
        if (taken) /* and once more: four iterations at a time, eight … */
            at = trial_program(trial)->count;
    }
    return status;
}
