/* The nest of a plan as a program for one core.
 *
 * Every buffer has two flags that go to and fro between the pipe that fills it and the pipe that
 * empties it ("full" and "free"); a buffer of two copies has two of each. Free flags are set
 * once before the loops and waited for once after them, so that all scopes are alike and no
 * register is ever set twice.
 *
 * A scope begins with what fills the buffer and ends with what frees it; what stands in between
 * is the rest of its loop's body. Loops stay loops: where a body begins a scope of two copies an
 * odd number of times, the loop runs over pairs of bodies, so that each knows its copy. The first
 * k-step of a tile of C starts it and the others add to it: it stands apart.
 *
 * Where L0C has a unit flag, that first step may begin as soon as the last tile of its copy has
 * begun to leave, and overwrites it block by block behind it; the second waits for its end. A
 * flag of its own says that the tile leaves. */
#include "kernels/matmul/matmul_cann_emitter.h"

#include <string.h>

static const char *const loop_names[CANN_ALL_LEVELS] = {"g", "h", "b", "x", "y", "i", "j",
                                                        "p", "q", "l", "u", "v", "w"};

/* ---- the nest ------------------------------------------------------------------------------- */

static bool begins(const struct cann_emitter *w, enum cann_live_range range, int level)
{
    return w->plan->scope[range].used && w->plan->scope[range].level == level;
}

/* Operands with two copies first: one that waits does not hold them back. */
static void begin_loads(struct cann_emitter *w, int level)
{
    for (int copies = 2; copies >= 1; copies--)
        for (int h = LIVE_A_L1; h <= LIVE_B_L1; h++)
            if (begins(w, (enum cann_live_range)h, level) && w->plan->scope[h].copies == copies)
                cann_load_operand(w, (enum cann_live_range)h);
    if (begins(w, LIVE_BIAS_L1, level))
        cann_load_rows(w);
}

/* A and B: what is fed out of what. */
static const enum cann_live_range fed_pairs[2][2] = {{LIVE_A_L1, LIVE_A_L0},
                                                     {LIVE_B_L1, LIVE_B_L0}};

/* The two ends of a loop. */
enum end { FIRST_BODY, LAST_BODY };

/* The levels within a part's scope up to that of its feeds; none where a slab is brought in loops
 * of its own, of which the part's scope is one. */
static void levels_fed(const struct cann_emitter *w, int operand, int *first, int *last)
{
    *first = w->plan->scope[fed_pairs[operand][0]].level + 1;
    *last = w->plan->scope[fed_pairs[operand][1]].level;
}

/* Is a feed in this body the first (or last) of its part? */
static bool is_outermost_feed(const struct cann_emitter *w, int operand, enum end end)
{
    int first, last;
    bool at_end = true;
    levels_fed(w, operand, &first, &last);
    for (int l = first; l <= last; l++)
        at_end = at_end && w->place[l].ends[end];
    return at_end && first <= last + 1;
}

/* Does a body of this level differ from others because the first (or last) feed of a part is in
 * it? All bodies around are the first (or last) of the part's scope then. */
static bool stands_apart(const struct cann_emitter *w, int level, enum end end)
{
    for (int i = 0; i < 2; i++) {
        int first, last;
        levels_fed(w, i, &first, &last);
        bool apart = first <= level && level <= last;
        for (int l = first; l < level && apart; l++)
            apart = w->place[l].ends[end];
        if (apart)
            return true;
    }
    return false;
}

/* Waits for a part before its first feed, or frees it after its last one; of one set, waits for
 * both before the first feed of any and frees both after the last of any. Which of them that is
 * follows from their scopes in L0: outer ones begin first. */
static void hand_over(struct cann_emitter *w, int operand, enum end end)
{
    const struct cann_scope *scope = w->plan->scope;
    int first = scope[LIVE_A_L0].level <= scope[LIVE_B_L0].level ? 0 : 1;
    bool one_set = w->plan->one_set;
    if (!is_outermost_feed(w, operand, end) ||
        (one_set && operand != (end == FIRST_BODY ? first : 1 - first)))
        return;
    for (int i = 0; i < 2; i++)
        if ((i == operand || one_set) && end == FIRST_BODY)
            cann_full_flag(w, fed_pairs[i][0], emit_wait);
        else if (i == operand || one_set)
            cann_free_flag(w, fed_pairs[i][0], emit_set);
}

/* MTE1 waits for a part right before its first feed of it, and frees it right after the last: no
 * flag holds back more than it has to, or than AscendC's template does. */
static void begin_feeds(struct cann_emitter *w, int level)
{
    for (int i = 0; i < 2; i++) {
        enum cann_live_range l1 = fed_pairs[i][0], l0 = fed_pairs[i][1];
        if (!begins(w, l0, level))
            continue;
        hand_over(w, i, FIRST_BODY);
        cann_feed(w, l1, l0);
        hand_over(w, i, LAST_BODY);
        cann_full_flag(w, l0, emit_wait);
    }
    if (level >= SLAB_N_L1 && begins(w, LIVE_B_L1, level))
        cann_full_flag(w, LIVE_B_L1, emit_wait);
    if (begins(w, LIVE_BIAS_L1, level))
        cann_feed_bias(w);
    if (begins(w, LIVE_C, level)) {
        cann_leaves_flag(w, emit_wait);
        if (!w->machine->unit_flag)
            cann_free_flag(w, LIVE_C, emit_wait);
    }
}

static void end_scopes(struct cann_emitter *w, int level)
{
    if (level >= SLAB_N_L1 && begins(w, LIVE_B_L1, level))
        cann_free_flag(w, LIVE_B_L1, emit_set);
    for (int h = LIVE_A_L0; h <= LIVE_B_L0; h++)
        if (begins(w, (enum cann_live_range)h, level))
            cann_free_flag(w, (enum cann_live_range)h, emit_set);
    if (begins(w, LIVE_C, level))
        cann_store(w);
    for (int h = 0; h < CANN_LIVE_RANGES; h++)
        if (begins(w, (enum cann_live_range)h, level))
            w->copy[h] = (w->copy[h] + 1) % w->plan->scope[h].copies;
}

static void emit_body(struct cann_emitter *w, int level)
{
    if (level == LEVEL_TILE)
        w->first_step = true;
    begin_loads(w, level);
    begin_feeds(w, level);
    if (level == LEVEL_STEP) {
        cann_multiply(w);
        w->first_step = false;
    } else if (level == SLAB_TILE) {
        cann_feed_slab_tile(w);
    } else {
        cann_emit_level(w, level + 1);
    }
    end_scopes(w, level);
}

/* Do two bodies in a row differ, because scopes of two copies begin in one an odd number of times?
 */
static bool alternates(const struct cann_emitter *w, int level)
{
    for (int h = 0; h < CANN_LIVE_RANGES; h++)
        if (w->plan->scope[h].copies == 2 &&
            cann_openings(w->plan, (enum cann_live_range)h, level, w->extent) % 2)
            return true;
    return false;
}

/* Bodies [first, last) of `count`, as a loop where that is shorter. */
static void repeat(struct cann_emitter *w, int level, int64_t first, int64_t last, int64_t count)
{
    int64_t pair = alternates(w, level) ? 2 : 1, rounds = (last - first) / pair;
    struct place *place = &w->place[level];
    if (rounds >= 2) {
        emit_loop(&w->emit, loop_names[level], rounds);
        for (int64_t u = 0; u < pair; u++) {
            *place = (struct place){true, {false, false}, first + u, pair, w->emit.depth - 1};
            emit_body(w, level);
        }
        emit_end(&w->emit);
        first += rounds * pair;
    }
    for (; first < last; first++) {
        *place =
            (struct place){.open = true, .ends = {first == 0, first == count - 1}, .first = first};
        emit_body(w, level);
    }
}

/* All of one level: full tiles, then the rest. */
void cann_emit_level(struct cann_emitter *w, int level)
{
    enum cann_direction direction = w->plan->level[level].direction;
    int64_t slice = w->plan->level[level].slice, extent = w->extent[direction];
    int64_t full = extent / slice, rest = extent % slice, count = full + (rest > 0);
    bool starts = direction == CANN_K && level < CANN_LEVELS && w->first_step;
    int64_t head = full > 0 && (starts || stands_apart(w, level, FIRST_BODY));
    int64_t tail = full - (full > head && !rest && stands_apart(w, level, LAST_BODY));
    w->extent[direction] = slice;
    repeat(w, level, 0, head, count);
    repeat(w, level, head, tail, count);
    repeat(w, level, tail, full, count);
    w->extent[direction] = rest;
    repeat(w, level, full, count, count);
    w->extent[direction] = extent;
    w->place[level].open = false;
}

enum status cann_generate(const struct space *space, const struct tiling *tiling, int part,
                          struct program *program, struct error *error)
{
    (void)part;
    struct cann_plan plan;
    struct tiling agreed = *tiling; /* one kernel, one program */
    const struct cann *cann = cann_of(space);
    cann_agree(space, &agreed);
    cann_plan_make(cann, &agreed, &plan);
    struct cann_emitter w = {
        .emit = {.program = program, .error = error},
        .cann = cann,
        .machine = &cann->machine,
        .plan = &plan,
    };
    memcpy(w.extent, plan.extent, sizeof w.extent);
    cann_all_free_flags(&w, emit_set);
    cann_all_leaves_flags(&w, emit_set);
    emit_body(&w, SCOPE_PROGRAM);
    cann_all_free_flags(&w, emit_wait);
    w.copy[LIVE_C] = 0;
    cann_all_leaves_flags(&w, emit_wait);
    if (plan.parts > 1)
        cann_add_parts(&w);
    return emit_close(&w.emit);
}
