/* RSD, reduce spatial dependency: a result that is written over its own input, or over what a
 * transfer is still to read, goes to a buffer of its own, so that the next input need not wait
 * until the result has left.
 *
 * The write and all reads of that value, up to the next write of the place in the same block, move
 * together to free room, and the flags are written anew (resync.h). It computes the same as far as
 * every read of the value is among them. */
#include "analysis/advice/advice_table.h"
#include "analysis/advice/alias.h"
#include "analysis/advice/tenant.h"

/* Moves what line `at` writes, and its reads, to `room` bytes further. */
static bool rename_value(struct edit *edit, int32_t at)
{
    struct region *dst = edit_operand(&edit->lines[at], OPERAND_DST);
    struct tenant tenant;
    if (!dst || edit->lines[at].in.accumulate || dst->bytes == 0 ||
        edit->hw->buffers[dst->buffer].capacity_bytes == 0 ||
        !alias_range(edit, at, dst, &tenant.low, &tenant.high))
        return false;
    tenant.buffer = dst->buffer;
    int64_t room = tenant_room(edit, &tenant, tenant.high - tenant.low);
    int32_t parent = edit_parent(edit, at), end = parent < 0 ? edit->count : edit_end(edit, parent);
    bool read = false;
    if (room < 0)
        return false;
    dst->offset_bytes += room - tenant.low;
    for (int32_t i = at + 1; i < end; i++) {
        bool writes = false;
        for (int r = 0; r < edit->lines[i].in.region_count; r++) {
            struct region *region = &edit->lines[i].regions[r];
            bool is_result = region->role == OPERAND_DST;
            if (!tenant_has(edit, i, region, &tenant))
                continue;
            writes |= is_result;
            if (is_result && !edit->lines[i].in.accumulate)
                continue;
            region->offset_bytes += room - tenant.low;
            read = true;
        }
        if (writes && !edit->lines[i].in.accumulate)
            break;
    }
    return read;
}

enum status advice_rsd(struct trial *trial, struct error *error)
{
    enum status status = STATUS_OK;
    for (int32_t at = 0; at < trial_program(trial)->count && status == STATUS_OK; at++) {
        const struct instruction *in = &trial_program(trial)->items[at];
        struct edit edit;
        bool taken;
        if ((in->kind != INSTRUCTION_VECTOR && in->kind != INSTRUCTION_MOVE) ||
            !trial_goes_on(trial))
            continue;
        status = edit_open(&edit, trial_program(trial), error);
        int32_t line = at;
        if (status == STATUS_OK && edit_parent(&edit, line) >= 0 && rename_value(&edit, line))
            status = trial_try_synced(trial, &edit, &taken, error);
        edit_close(&edit);
    }
    return status;
}
