/* Strategies against inefficient instructions and redundant transfers (Zhou et al. 2025, section
 * 5): one large instruction in place of many small ones, or of one that does the same again and
 * again. Each says what it does to a program and why that computes the same.
 *
 * Two lines fit when they are alike but for addresses and every operand of one starts exactly where
 * that of the other would go on. Then only the amounts add up: bytes or elements, bursts, and each
 * operand's rows. A loop is the same with a product, the stride taking the place of the next line's
 * address. Where to merge is found by hill climbing: at every line of the kind, the changes of a
 * table are tried, large ones first (a whole loop, all iterations of a line, a run of lines, two
 * lines); the first that the trial takes is kept, and the search starts again at the top, until a
 * pass over the program takes nothing. */
#include "analysis/advice/advice.h"

#include "analysis/advice/alias.h"

#include <string.h>

/* ------------------------------------------------------------------ one line of several */

static int64_t *amount_of(struct instruction *in)
{
    return in->kind == INSTRUCTION_MOVE ? &in->bytes : &in->elements;
}

static bool can_grow(const struct instruction *in)
{
    return (in->kind == INSTRUCTION_MOVE && !in->transpose && !in->row_bytes) ||
           in->kind == INSTRUCTION_VECTOR;
}

/* How far an operand's next piece is from it: its length, or the way from its first row to the row
 * behind its last. */
static int64_t advance_of(const struct region *region)
{
    return region->rows > 1 ? region->rows * region->row_stride_bytes : region->bytes;
}

/* Adds the second line's amount; only rows of one length can be more rows. */
static bool add_amounts(struct edit_line *line, const struct edit_line *next)
{
    bool fits = !__builtin_add_overflow(*amount_of(&line->in),
                                        next->in.kind == INSTRUCTION_MOVE ? next->in.bytes
                                                                          : next->in.elements,
                                        amount_of(&line->in));
    if (line->in.bursts > 1)
        fits &= !__builtin_add_overflow(line->in.bursts, next->in.bursts, &line->in.bursts);
    for (int r = 0; r < line->in.region_count; r++) {
        struct region *region = &line->regions[r];
        fits &= !__builtin_add_overflow(region->bytes, next->regions[r].bytes, &region->bytes);
        if (region->rows > 1)
            fits &= !__builtin_add_overflow(region->rows, next->regions[r].rows, &region->rows);
    }
    return fits;
}

/* Makes the line `count` times as much; regions' bytes follow when the program is built. */
static bool multiply_amounts(struct edit_line *line, int64_t count, bool rows)
{
    bool fits = !__builtin_mul_overflow(*amount_of(&line->in), count, amount_of(&line->in));
    if (line->in.kind == INSTRUCTION_MOVE && (rows || line->in.bursts > 1)) {
        int64_t bursts = line->in.bursts > 1 ? line->in.bursts : 1;
        fits &= !__builtin_mul_overflow(bursts, count, &line->in.bursts);
    }
    for (int r = 0; r < line->in.region_count; r++) {
        struct region *region = &line->regions[r];
        fits &= !__builtin_mul_overflow(region->bytes, count, &region->bytes);
        if (region->rows > 1 || rows)
            fits &= !__builtin_mul_overflow(region->rows, count, &region->rows);
    }
    return fits;
}

static void drop_stride(struct region *region, int depth)
{
    for (int d = depth; d + 1 < PROGRAM_MAX_DEPTH; d++)
        region->loop_stride_bytes[d] = region->loop_stride_bytes[d + 1];
    region->loop_stride_bytes[PROGRAM_MAX_DEPTH - 1] = 0;
}

static bool regions_follow(const struct region *one, const struct region *next)
{
    return one->buffer == next->buffer && one->role == next->role &&
           (one->rows > 1) == (next->rows > 1) &&
           (one->rows <= 1 || one->bytes / one->rows == next->bytes / next->rows) &&
           one->row_stride_bytes == next->row_stride_bytes && one->pieces == next->pieces &&
           one->piece_stride_bytes == next->piece_stride_bytes &&
           next->offset_bytes - one->offset_bytes == advance_of(one) &&
           memcmp(one->loop_stride_bytes, next->loop_stride_bytes, sizeof one->loop_stride_bytes) ==
               0;
}

/* Is `next` the same instruction on what lies behind? */
static bool does_follow(const struct edit_line *line, const struct edit_line *next)
{
    const struct instruction *a = &line->in, *b = &next->in;
    if (!can_grow(a) || a->kind != b->kind || a->what != b->what || a->type != b->type ||
        a->to_type != b->to_type || a->unit != b->unit || b->transpose ||
        (a->bursts > 1) != (b->bursts > 1) || a->align_bytes != b->align_bytes ||
        a->region_count != b->region_count || a->region_count == 0)
        return false;
    for (int r = 0; r < a->region_count; r++)
        if (!regions_follow(&line->regions[r], &next->regions[r]))
            return false;
    return true;
}

/* Are both the same instruction, and does every operand of the one begin where that of the other
 * ends (or, in rows, at its next row)? */
static bool coalesce_fits(const struct edit_line *one, const struct edit_line *other)
{
    return does_follow(one, other) || does_follow(other, one);
}

/* Makes `line` do what both do, where they fit. */
static bool coalesce_lines(struct edit_line *line, const struct edit_line *next)
{
    if (!coalesce_fits(line, next))
        return false;
    for (int r = 0; r < line->in.region_count; r++)
        if (next->regions[r].offset_bytes < line->regions[r].offset_bytes)
            line->regions[r].offset_bytes = next->regions[r].offset_bytes;
    return add_amounts(line, next);
}

/* Do all operands advance by `stride` and have the same length, as rows of one line must? */
static bool are_rows(const struct edit_line *line, int depth, int64_t stride)
{
    for (int r = 0; r < line->in.region_count; r++) {
        const struct region *region = &line->regions[r];
        if (region->loop_stride_bytes[depth] != stride || region->rows != 1 ||
            region->bytes != line->regions[0].bytes || stride <= region->bytes)
            return false;
    }
    return true;
}

/* Makes `line` do at once what it does in `count` iterations of the loop at `depth` (0: outermost),
 * out of which it is then to be taken: every operand advances by its own length, or all of one
 * length advance alike, which makes them rows. */
static bool coalesce_iterations(struct edit_line *line, int depth, int64_t count)
{
    if (!can_grow(&line->in) || line->in.region_count == 0 || count < 1)
        return false;
    int64_t stride = line->regions[0].loop_stride_bytes[depth];
    bool rows = are_rows(line, depth, stride);
    for (int r = 0; r < line->in.region_count && !rows; r++)
        if (line->regions[r].loop_stride_bytes[depth] != advance_of(&line->regions[r]))
            return false;
    for (int r = 0; r < line->in.region_count; r++) {
        drop_stride(&line->regions[r], depth);
        if (rows)
            line->regions[r].row_stride_bytes = stride;
    }
    return multiply_amounts(line, count, rows);
}

/* Takes a line out of the loop at `depth` without a change of what it does; false when an operand
 * advances with that loop. */
static bool coalesce_invariant(struct edit_line *line, int depth)
{
    for (int r = 0; r < line->in.region_count; r++)
        if (line->regions[r].loop_stride_bytes[depth])
            return false;
    for (int r = 0; r < line->in.region_count; r++)
        drop_stride(&line->regions[r], depth);
    return true;
}

/* ------------------------------------------------------------------ where to grow */

enum {
    LONGEST_RUN = 256
}; /* lines that are merged at once: a place's change costs so many passes */

static bool is_flag(const struct instruction *in)
{
    return in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT ||
           in->kind == INSTRUCTION_BARRIER;
}

/* The next line of the block that can be merged into line `at`; -1: none. Loops are passed. */
static int32_t find_next(const struct edit *edit, int32_t at)
{
    for (int32_t i = at + 1; i < edit->count; i++) {
        if (edit->lines[i].in.kind == INSTRUCTION_LOOP)
            i = edit_end(edit, i);
        else if (edit->lines[i].in.kind == INSTRUCTION_END)
            return -1;
        else if (coalesce_fits(&edit->lines[at], &edit->lines[i]))
            return i;
    }
    return -1;
}

static bool has_next(const struct edit *edit, int32_t at)
{
    return find_next(edit, at) >= 0;
}

/* Merges the line with up to `most` such lines, at the first one's place; how many there were. */
static int merge_at_first(struct edit *edit, int32_t at, int most)
{
    int merged = 0;
    for (int32_t next; merged < most && (next = find_next(edit, at)) >= 0; merged++) {
        if (!coalesce_lines(&edit->lines[at], &edit->lines[next]))
            return 0;
        edit_delete(edit, next, 1);
    }
    return merged;
}

/* The same at the last one's place. */
static int merge_at_last(struct edit *edit, int32_t at, int most)
{
    int merged = 0;
    for (int32_t next; merged < most && (next = find_next(edit, at)) >= 0; merged++) {
        if (!coalesce_lines(&edit->lines[at], &edit->lines[next]))
            return 0;
        edit->lines[next] = edit->lines[at];
        edit_delete(edit, at, 1);
        at = next - 1;
    }
    return merged;
}

static bool run_at_first(struct edit *edit, int32_t at)
{
    return merge_at_first(edit, at, LONGEST_RUN) > 1;
}

static bool run_at_last(struct edit *edit, int32_t at)
{
    return merge_at_last(edit, at, LONGEST_RUN) > 1;
}

static bool pair_at_first(struct edit *edit, int32_t at)
{
    return merge_at_first(edit, at, 1) > 0;
}

static bool pair_at_second(struct edit *edit, int32_t at)
{
    return merge_at_last(edit, at, 1) > 0;
}

/* The line in all iterations of the loop around it. */
static bool all_iterations(const struct edit *edit, int32_t at, int32_t *loop,
                           struct edit_line *merged)
{
    *loop = edit_parent(edit, at);
    if (*loop < 0)
        return false;
    *merged = edit->lines[at];
    return coalesce_iterations(merged, edit_depth(edit, *loop), edit->lines[*loop].in.count);
}

/* A loop that has only flags left does nothing. */
static void drop_if_empty(struct edit *edit, int32_t loop)
{
    int32_t end = edit_end(edit, loop);
    for (int32_t i = loop + 1; i < end; i++)
        if (!is_flag(&edit->lines[i].in))
            return;
    edit_delete(edit, loop, end - loop + 1);
}

static bool before_loop(struct edit *edit, int32_t at)
{
    struct edit_line merged;
    int32_t loop;
    if (!all_iterations(edit, at, &loop, &merged))
        return false;
    edit_delete(edit, at, 1);
    drop_if_empty(edit, loop);
    edit_insert(edit, loop, &merged);
    return true;
}

static bool behind_loop(struct edit *edit, int32_t at)
{
    struct edit_line merged;
    int32_t loop;
    if (!all_iterations(edit, at, &loop, &merged))
        return false;
    edit_insert(edit, edit_end(edit, loop) + 1, &merged);
    edit_delete(edit, at, 1);
    drop_if_empty(edit, loop);
    return true;
}

/* Every line of the loop in all iterations, one after the other. */
static bool whole_loop(struct edit *edit, int32_t at)
{
    int32_t loop = edit_parent(edit, at);
    if (loop < 0)
        return false;
    int32_t end = edit_end(edit, loop), work = 0;
    int depth = edit_depth(edit, loop);
    for (int32_t i = loop + 1; i < end; i++) {
        struct edit_line *line = &edit->lines[i];
        if (is_flag(&line->in))
            continue;
        work++;
        if (!coalesce_iterations(line, depth, edit->lines[loop].in.count))
            return false;
    }
    edit_delete(edit, end, 1);
    edit_delete(edit, loop, 1);
    return work > 1;
}

static bool is_in_loop(const struct edit *edit, int32_t at)
{
    return edit_parent(edit, at) >= 0;
}

/* Does `find` tell of a line that `make` may be tried there? A change costs a copy of all lines. */
static const struct {
    bool (*find)(const struct edit *edit, int32_t at);
    bool (*make)(struct edit *edit, int32_t at);
} changes[] = {
    {is_in_loop, whole_loop},   {is_in_loop, before_loop}, {is_in_loop, behind_loop},
    {has_next, run_at_first},   {has_next, run_at_last},   {has_next, pair_at_first},
    {has_next, pair_at_second},
};

static enum status grow_at(struct trial *trial, const struct edit *now, int32_t at, bool *taken,
                           struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t c = 0; c < sizeof changes / sizeof *changes && status == STATUS_OK && !*taken;
         c++) {
        struct edit edit;
        if (!trial_goes_on(trial) || !changes[c].find(now, at))
            continue;
        status = edit_copy(&edit, now, error);
        if (status == STATUS_OK && changes[c].make(&edit, at))
            status = trial_try_synced(trial, &edit, taken, error);
        edit_close(&edit);
    }
    return status;
}

/* Tries at each line, until one change is taken. */
static enum status grow_once(struct trial *trial, enum instruction_kind kind, bool *taken,
                             struct error *error)
{
    struct edit now;
    *taken = false;
    enum status status = edit_open(&now, trial_program(trial), error);
    for (int32_t at = 0; at < now.count && status == STATUS_OK && !*taken && trial_goes_on(trial);
         at++)
        if (now.lines[at].in.kind == kind)
            status = grow_at(trial, &now, at, taken, error);
    edit_close(&now);
    return status;
}

/* Makes one instruction of `kind` (a move or a vector operation) of several wherever that helps. It
 * computes the same when no line between the old places and the new one touches what the line
 * writes, or writes what it reads: the proof on trial decides that. */
static enum status grow_all(struct trial *trial, enum instruction_kind kind, struct error *error)
{
    bool taken = true;
    while (taken)
        TRY(grow_once(trial, kind, &taken, error));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ AIP */

/* AIP, adjust instruction parameters: vector instructions of few repeats, in a loop or one after
 * the other, become one of many, which pays for its start once. Where scalar
 * instructions work on data, vector instructions may take a scalar register, which the text does
 * not show, so they stay. */

enum status advice_aip(struct trial *trial, struct error *error)
{
    for (int32_t i = 0; i < trial->first->count; i++)
        if (trial->first->items[i].kind == INSTRUCTION_SCALAR &&
            trial->first->items[i].region_count > 0)
            return STATUS_OK;
    return grow_all(trial, INSTRUCTION_VECTOR, error);
}

/* ------------------------------------------------------------------ ITG */

/* ITG, increase transfer granularity: several small moves become one large one, which pays for its
 * issue once.
 *
 * Moves side by side or in a loop are merged as grow_all does. Where a loop uses its buffers
 * anew in each iteration, two iterations are done at a time: the body is written twice, the second
 * time with buffers right behind the first ones, and then what each copy moves is moved at once.
 * That computes the same where an iteration writes a buffer before it reads it, as for PP. */

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
    enum status status = grow_all(trial, INSTRUCTION_MOVE, error);
    for (int32_t at = trial_program(trial)->count - 1; at >= 0 && status == STATUS_OK; at--) {
        bool taken = false;
        if (trial_program(trial)->items[at].kind == INSTRUCTION_LOOP)
            status = try_pairs(trial, at, &taken, error);
        if (taken) /* and once more: four iterations at a time, eight … */
            at = trial_program(trial)->count;
    }
    return status;
}

/* ------------------------------------------------------------------ MRT */

/* MRT, minimise redundant transfer: a move whose operands do not change in a loop goes before it,
 * and one that brings what is there already goes away.
 *
 * It computes the same where nothing in the loop writes the move's source or destination: then
 * every iteration after the first would move the same bytes to where they are. */

static bool hoist_move(struct edit *edit, int32_t at)
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

static bool drop_move(struct edit *edit, int32_t at)
{
    edit_delete(edit, at, 1);
    return true;
}

enum status advice_mrt(struct trial *trial, struct error *error)
{
    return trial_moves(trial, drop_move, hoist_move, error);
}
