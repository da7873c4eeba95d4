/* Strategies against insufficient parallelism (Zhou et al. 2025, section 5): what waits for nothing
 * that it needs is let go on. Each says what it does to a program and why that computes the same.
 */
#include "analysis/advice/advice.h"

#include "analysis/advice/alias.h"
#include "analysis/advice/resync.h"

#include <string.h>

/* ------------------------------------------------------------------ RUS */

/* RUS, remove unnecessary synchronisation: barriers and flags that order nothing new go
 *, even where that alone saves nothing: of two barriers side by side each hides the
 * other. Where that is faster, all that is left is written anew as flags of the data's own needs
 *: a barrier that orders two pipes holds up the others for nothing.
 *
 * It computes the same because happens-before still orders all conflicting accesses, and as the
 * lines stand: what had one order before has the same one now. */

enum status advice_rus(struct trial *trial, struct error *error)
{
    struct edit edit;
    bool taken = false;
    enum status status = tidy(trial, TRIAL_NOT_SLOWER, error);
    if (status != STATUS_OK || trial->safety.unnamed_line)
        return status;
    status = edit_open(&edit, trial_program(trial), error);
    if (status == STATUS_OK && resync(&edit))
        status = trial_try(trial, &edit, TRIAL_FASTER, &taken, error);
    edit_close(&edit);
    if (status == STATUS_OK && taken)
        status = tidy(trial, TRIAL_NOT_SLOWER, error);
    return status;
}

/* ------------------------------------------------------------------ AIS */

/* AIS, adjust the instruction sequence: a transfer goes ahead of instructions and loops of other
 * pipes that stand before it, so that it is dispatched earlier and no scalar instruction holds it
 * up.
 *
 * It stays in its block, and behind what its own pipe does before it. It computes the same where no
 * instruction that it passes conflicts with it unordered: flags and barriers that stay behind it
 * order less, and a conflict that they ordered shows as a hazard, which is refused. */

/* The lines that go together: a transfer, and the flags of its pipe right around it. */
struct group {
    int32_t first, count;
    int pipe;
};

static bool is_on(const struct edit *edit, int32_t at, int pipe)
{
    const struct instruction *in = &edit->lines[at].in;
    return in->kind <= INSTRUCTION_WAIT && in->pipe == pipe;
}

static struct group find_group(const struct edit *edit, int32_t at, bool with_flags)
{
    struct group group = {at, 1, edit->lines[at].in.pipe};
    while (with_flags && group.first > 0 &&
           edit->lines[group.first - 1].in.kind == INSTRUCTION_WAIT &&
           is_on(edit, group.first - 1, group.pipe)) {
        group.first--;
        group.count++;
    }
    while (with_flags && group.first + group.count < edit->count &&
           edit->lines[group.first + group.count].in.kind == INSTRUCTION_SET &&
           is_on(edit, group.first + group.count, group.pipe))
        group.count++;
    return group;
}

/* The loop that ends before line `at`; does the pipe do anything in it? */
static int32_t pass_loop(const struct edit *edit, int32_t at, int pipe, bool *passes)
{
    int32_t loop = at - 1;
    int depth = 0;
    *passes = true;
    do {
        depth += edit->lines[loop].in.kind == INSTRUCTION_END;
        depth -= edit->lines[loop].in.kind == INSTRUCTION_LOOP;
        *passes &= !is_on(edit, loop, pipe);
    } while (depth > 0 && loop-- > 0);
    return loop;
}

/* The first line to which the group can go: behind the last work of its pipe, within its block. */
static int32_t earliest_place(const struct edit *edit, const struct group *group)
{
    int32_t to = group->first;
    bool passes = true;
    while (to > 0 && edit->lines[to - 1].in.kind != INSTRUCTION_LOOP &&
           !is_on(edit, to - 1, group->pipe)) {
        int32_t next = to - 1;
        if (edit->lines[next].in.kind == INSTRUCTION_END)
            next = pass_loop(edit, to, group->pipe, &passes);
        if (!passes)
            break;
        to = next;
    }
    return to;
}

/* Takes `count` lines from `from` and puts them before line `to` (<= from), in their order. */
static void move_lines(struct edit *edit, int32_t from, int32_t count, int32_t to)
{
    for (int32_t moved = 0; moved < count; moved++) {
        struct edit_line line = edit->lines[from + moved];
        memmove(&edit->lines[to + moved + 1], &edit->lines[to + moved],
                (size_t)(from - to) * sizeof *edit->lines);
        edit->lines[to + moved] = line;
    }
}

static bool bring_forward(struct edit *edit, int32_t at, bool with_flags)
{
    struct group group = find_group(edit, at, with_flags);
    int32_t to = earliest_place(edit, &group);
    if (to < group.first)
        move_lines(edit, group.first, group.count, to);
    return to < group.first;
}

static bool bring_with_flags(struct edit *edit, int32_t at)
{
    return bring_forward(edit, at, true);
}

static bool bring_alone(struct edit *edit, int32_t at)
{
    return bring_forward(edit, at, false);
}

enum status advice_ais(struct trial *trial, struct error *error)
{
    return trial_moves(trial, bring_with_flags, bring_alone, error);
}

/* ------------------------------------------------------------------ RSD */

/* RSD, reduce spatial dependency: a result that is written over its own input, or over what a
 * transfer is still to read, goes to a buffer of its own, so that the next input need not wait
 * until the result has left.
 *
 * The write and all reads of that value, up to the next write of the place in the same block, move
 * together to free room, and the flags are written anew. It computes the same as far as
 * every read of the value is among them. */

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

/* ------------------------------------------------------------------ PP */

/* PP, ping-pong: a loop's buffers get a second half, and its iterations use them in turn, so that
 * one is filled while the other is in use.
 *
 * The loop's body is written twice, the second time with the buffers moved to free room. Flags
 * between the pipe that fills them and others get a second register for the second half, or all
 * flags are written anew, whichever is faster. It computes the same where an iteration
 * writes a buffer before it reads it, so that nothing passes from one iteration to the next through
 * it; buffers in which something does (an accumulator) or that the loop only reads stay one. */

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
static bool choose_tenants(const struct program *program, int32_t loop, int number,
                           uint32_t *chosen, struct error *error)
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
                         choose_tenants(trial_program(trial), loop, number, &chosen, error);
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
