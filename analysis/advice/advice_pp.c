/* PP, ping-pong: a loop's buffers get a second half, and its iterations use them in turn, so that
 * one is filled while the other is in use.
 *
 * The loop's body is written twice, the second time with the buffers moved to free room. Flags
 * between the pipe that fills them and others get a second register for the second half, or all
 * flags are written anew (resync.h), whichever is faster. It computes the same where an iteration
 * writes a buffer before it reads it, so that nothing passes from one iteration to the next through
 * it; buffers in which something does (an accumulator) or that the loop only reads stay one. */
#include "analysis/advice/advice_table.h"
#include "analysis/advice/tenant.h"

/* What doubling made of a loop. */
struct doubled {
    int32_t loop, second, length; /* the copies begin behind `loop` and at `second` */
    uint32_t writers;             /* pipes that fill what has two halves now, as bits */
};

static uint32_t writers_of(const struct edit *edit, int32_t first, int32_t count,
                           const struct tenant *tenant)
{
    for (int32_t i = first; i < first + count; i++)
        for (int r = 0; r < edit->lines[i].in.region_count; r++) {
            const struct region *region = &edit->lines[i].regions[r];
            if (instruction_writes(&edit->lines[i].in, region->role) &&
                tenant_has(edit, i, region, tenant))
                return 1u << edit->lines[i].in.pipe; /* the first fills it */
        }
    return 0;
}

/* Gives the tenants of which `chosen` has the bit a second half; false when nothing changes. */
static bool double_up(struct edit *edit, int32_t loop, uint32_t chosen, struct doubled *doubled)
{
    struct tenant tenants[TENANT_MAX];
    int32_t length = edit_end(edit, loop) - loop - 1;
    int count = tenants_of(edit, loop + 1, loop + 1 + length, tenants);
    for (int t = 0; t < count; t++)
        if (!tenant_turns(edit, loop + 1, length, &tenants[t]))
            chosen &= ~(1u << t);
    if (count <= 0 || chosen == 0)
        return false;
    *doubled = (struct doubled){loop, edit_unroll(edit, loop), length, 0};
    for (int t = 0; t < count && doubled->second >= 0 && !edit->failed; t++) {
        int64_t at =
            chosen >> t & 1 ? tenant_room(edit, &tenants[t], tenants[t].high - tenants[t].low) : -1;
        if (at < 0)
            continue;
        doubled->writers |= writers_of(edit, loop + 1, length, &tenants[t]);
        tenant_shift(edit, doubled->second, doubled->second + length, &tenants[t],
                     at - tenants[t].low);
    }
    return doubled->writers != 0;
}

static bool is_flag_of(const struct instruction *in, uint32_t pipes)
{
    return (in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT) &&
           (pipes >> in->from & 1 || pipes >> in->to & 1);
}

/* A register of two pipes that no line uses; -1: none. */
static int free_register(const struct edit *edit, int from, int to)
{
    uint64_t used = 0;
    for (int32_t i = 0; i < edit->count; i++) {
        const struct instruction *in = &edit->lines[i].in;
        if (is_flag_of(in, UINT32_MAX) &&
            hardware_flags_shared(edit->hw, from, to, in->from, in->to))
            used |= 1ULL << in->flag;
    }
    int number = ~used ? __builtin_ctzll(~used) : HARDWARE_MAX_FLAGS;
    return number < hardware_flags(edit->hw, from, to) ? number : -1;
}

/* Gives the second copy's lines of one register another one; where the register is set before the
 * loop or waited for after it, the other is too. */
static bool split_register(struct edit *edit, struct doubled *doubled, const struct instruction *of)
{
    int number = free_register(edit, of->from, of->to);
    struct instruction flag = *of;
    for (int32_t i = edit->count - 1; i >= 0 && number >= 0; i--) {
        struct edit_line line = edit->lines[i];
        bool first = i > doubled->loop && i <= doubled->loop + doubled->length;
        if (!is_flag_of(&line.in, UINT32_MAX) || line.in.from != flag.from ||
            line.in.to != flag.to || line.in.flag != flag.flag || first)
            continue;
        line.in.flag = (uint8_t)number;
        if (i >= doubled->second && i < doubled->second + doubled->length) {
            edit->lines[i] = line;
            continue;
        }
        edit_insert(edit, i + 1, &line);
        doubled->loop += i < doubled->loop;
        doubled->second += i < doubled->second;
    }
    return number >= 0;
}

/* Each half has its own flags between who fills it and who uses it. */
static bool split_flags(struct edit *edit, struct doubled doubled)
{
    uint64_t done[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES] = {{0}};
    for (int32_t i = 0; i < doubled.length; i++) {
        struct instruction in = edit->lines[doubled.loop + 1 + i].in;
        if (!is_flag_of(&in, doubled.writers) || done[in.from][in.to] >> in.flag & 1)
            continue;
        done[in.from][in.to] |= 1ULL << in.flag;
        if (!split_register(edit, &doubled, &in))
            return false;
    }
    return true;
}

static enum status try_double(struct trial *trial, int32_t loop, uint32_t chosen, bool *taken,
                              struct error *error)
{
    struct edit edit;
    enum status status = edit_open(&edit, trial_program(trial), error);
    struct doubled doubled;
    bool better = false, synced = false;
    if (status == STATUS_OK && double_up(&edit, loop, chosen, &doubled)) {
        struct edit own = {.hw = edit.hw};
        status = edit_copy(&own, &edit, error);
        if (status == STATUS_OK && split_flags(&own, doubled))
            status = trial_try(trial, &own, TRIAL_FASTER, &better, error);
        edit_close(&own);
        if (status == STATUS_OK)
            status = trial_try_synced(trial, &edit, &synced, error);
    }
    *taken = better || synced;
    edit_close(&edit);
    return status;
}

/* Which tenants of a loop to double: all, those of one buffer, or one. False when there is no
 * choice of that number. */
static bool choose(const struct program *program, int32_t loop, int number, uint32_t *chosen,
                   struct error *error)
{
    struct tenant tenants[TENANT_MAX];
    struct edit edit;
    int count = -1, buffers = program->hw->buffer_count;
    if (edit_open(&edit, program, error) == STATUS_OK)
        count = tenants_of(&edit, loop + 1, edit_end(&edit, loop), tenants);
    edit_close(&edit);
    *chosen = 0;
    for (int t = 0; t < count; t++)
        if (number == 0 || tenants[t].buffer == number - 1 || t == number - 1 - buffers)
            *chosen |= 1u << t;
    return number <= buffers + count;
}

static enum status double_loop(struct trial *trial, int32_t loop, struct error *error)
{
    bool taken = false;
    uint32_t chosen;
    for (int number = 0; !taken && trial_goes_on(trial) &&
                         choose(trial_program(trial), loop, number, &chosen, error);
         number++)
        if (chosen)
            TRY(try_double(trial, loop, chosen, &taken, error));
    return STATUS_OK;
}

enum status advice_pp(struct trial *trial, struct error *error)
{
    for (int32_t at = trial_program(trial)->count - 1; at >= 0; at--)
        if (trial_program(trial)->items[at].kind == INSTRUCTION_LOOP)
            TRY(double_loop(trial, at, error));
    return STATUS_OK;
}
