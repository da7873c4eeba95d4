/* RUS, remove unnecessary synchronisation: barriers, and flags with all or one of their sets and
 * waits, whose removal leaves every two accesses to the same bytes ordered.
 *
 * It computes the same because happens-before still orders all conflicting accesses, and that only
 * shrinks: what had one order before has the same one now. Everything that can go goes, even where
 * that alone saves nothing: of two barriers side by side each hides the other. */
#include "analysis/advice_table.h"

static bool same_register(const struct instruction *one, const struct instruction *other)
{
    return one->from == other->from && one->to == other->to && one->flag == other->flag;
}

static bool is_flag(const struct instruction *in)
{
    return in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT;
}

/* Deletes every set and wait of line `at`'s register, where that is the first of them. */
static bool drop_register(struct edit *edit, int32_t at)
{
    struct instruction flag = edit->lines[at].in;
    if (!is_flag(&flag))
        return false;
    for (int32_t i = 0; i < at; i++)
        if (is_flag(&edit->lines[i].in) && same_register(&edit->lines[i].in, &flag))
            return false;
    for (int32_t i = edit->count - 1; i >= at; i--)
        if (is_flag(&edit->lines[i].in) && same_register(&edit->lines[i].in, &flag))
            edit_delete(edit, i, 1);
    return true;
}

/* Deletes a set and the wait that follows it in the same block. */
static bool drop_pair(struct edit *edit, int32_t at)
{
    struct instruction set = edit->lines[at].in;
    if (set.kind != INSTRUCTION_SET)
        return false;
    for (int32_t i = at + 1; i < edit->count; i++) {
        const struct instruction *in = &edit->lines[i].in;
        if (in->kind == INSTRUCTION_LOOP)
            i = edit_end(edit, i);
        else if (in->kind == INSTRUCTION_END)
            return false;
        else if (is_flag(in) && same_register(in, &set)) {
            if (in->kind == INSTRUCTION_SET)
                return false;
            edit_delete(edit, i, 1);
            edit_delete(edit, at, 1);
            return true;
        }
    }
    return false;
}

static bool drop_barrier(struct edit *edit, int32_t at)
{
    if (edit->lines[at].in.kind != INSTRUCTION_BARRIER)
        return false;
    edit_delete(edit, at, 1);
    return true;
}

/* Tries one way of deleting at every line in turn. */
static enum status drop_everywhere(struct trial *trial, bool (*drop)(struct edit *, int32_t),
                                   struct error *error)
{
    enum status status = STATUS_OK;
    for (int32_t at = 0; at < trial_program(trial)->count && status == STATUS_OK;) {
        struct edit edit;
        bool taken = false;
        status = edit_open(&edit, trial_program(trial), error);
        if (status == STATUS_OK && trial_goes_on(trial) && drop(&edit, at))
            status = trial_try(trial, &edit, TRIAL_NOT_SLOWER, &taken, error);
        edit_close(&edit);
        at += !taken;
    }
    return status;
}

enum status advice_rus(struct trial *trial, struct error *error)
{
    enum status status = drop_everywhere(trial, drop_barrier, error);
    if (status == STATUS_OK)
        status = drop_everywhere(trial, drop_register, error);
    if (status == STATUS_OK)
        status = drop_everywhere(trial, drop_pair, error);
    return status;
}
