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
#include "kernels/emit.h"
#include "kernels/matmul/matmul_cann_internal.h"

#include <string.h>

/* Registers of a pair of pipes: the copy is added. C's pair is its own. */
enum { FLAG_A = 0, FLAG_B = 2, FLAG_BIAS = 4, FLAG_C = 0, FLAG_C_LEAVES = 2 };

static const int hold_flags[CANN_HOLDS] = {
    [HOLD_A_L1] = FLAG_A, [HOLD_B_L1] = FLAG_B, [HOLD_BIAS_L1] = FLAG_BIAS,
    [HOLD_A_L0] = FLAG_A, [HOLD_B_L0] = FLAG_B, [HOLD_BIAS_BT] = FLAG_BIAS,
    [HOLD_C] = FLAG_C,
};

static const char *const loop_names[CANN_ALL_LEVELS] = {"g", "h", "b", "x", "y", "i", "j",
                                                        "p", "q", "l", "u", "v", "w"};

/* A loop's index as the program knows it: first + step · (index of the loop at `depth`). */
struct place {
    bool open;    /* are we within this level? */
    bool ends[2]; /* in its first body, in its last, which stand apart where that matters */
    int64_t first, step;
    int depth;
};

struct writer {
    struct emitter emit; /* first */
    const struct cann *cann;
    const struct cann_machine *machine;
    const struct cann_plan *plan;
    int64_t extent[CANN_DIRECTIONS]; /* of the tile at hand */
    struct place place[CANN_ALL_LEVELS];
    int copy[CANN_HOLDS]; /* that the next scope takes, or the present one has */
    int64_t held[CANN_HOLDS][CANN_DIRECTIONS]; /* extents when the scope began */
    bool first_step;                           /* of the tile of C */
};

/* ---- flags ---------------------------------------------------------------------------------- */

/* The pipes that fill and empty a buffer. */
static void ends_of(const struct writer *w, enum cann_hold hold, int *fills, int *empties)
{
    const struct cann_machine *m = w->machine;
    bool in_l1 = hold <= HOLD_BIAS_L1;
    *fills = in_l1 ? m->mte2 : hold == HOLD_C ? m->matrix : m->mte1;
    *empties = in_l1 ? m->mte1 : hold == HOLD_C ? m->fixp : m->matrix;
}

/* Does somebody read it? A bias only where there is a bias table. */
static bool handed_on(const struct writer *w, enum cann_hold hold)
{
    return hold != HOLD_BIAS_L1 || w->plan->scope[HOLD_BIAS_BT].used;
}

static void full_flag(struct writer *w, enum cann_hold hold,
                      void (*act)(struct emitter *, int, int, int))
{
    int fills, empties;
    if (!handed_on(w, hold))
        return;
    ends_of(w, hold, &fills, &empties);
    act(&w->emit, fills, empties, hold_flags[hold] + w->copy[hold]);
}

static void free_flag(struct writer *w, enum cann_hold hold,
                      void (*act)(struct emitter *, int, int, int))
{
    int fills, empties;
    if (!handed_on(w, hold))
        return;
    ends_of(w, hold, &fills, &empties);
    act(&w->emit, empties, fills, hold_flags[hold] + w->copy[hold]);
}

/* Before all loops and after them: every copy is free. */
static void all_free_flags(struct writer *w, void (*act)(struct emitter *, int, int, int))
{
    for (int h = 0; h < CANN_HOLDS; h++) {
        int copy = w->copy[h];
        for (w->copy[h] = 0; w->copy[h] < w->plan->scope[h].copies; w->copy[h]++)
            if (w->plan->scope[h].used)
                free_flag(w, (enum cann_hold)h, act);
        w->copy[h] = copy;
    }
}

/* The tile of C leaves through FIXP: from now on it may be overwritten behind it. */
static void leaves_flag(struct writer *w, void (*act)(struct emitter *, int, int, int))
{
    if (w->machine->unit_flag)
        act(&w->emit, w->machine->fixp, w->machine->matrix, FLAG_C_LEAVES + w->copy[HOLD_C]);
}

/* Before all loops and after them, as all_free_flags. */
static void all_leaves_flags(struct writer *w, void (*act)(struct emitter *, int, int, int))
{
    for (int copy = w->plan->scope[HOLD_C].copies; copy > 0; copy--) {
        leaves_flag(w, act);
        w->copy[HOLD_C] = (w->copy[HOLD_C] + 1) % w->plan->scope[HOLD_C].copies;
    }
}

/* ---- where things are ----------------------------------------------------------------------- */

/* Adds the way from the beginning of a scope to the present place along one direction, `bytes`
 * an element, to a region's offset. */
static void advance(const struct writer *w, struct region *region, int scope,
                    enum cann_direction direction, int64_t bytes)
{
    for (int l = scope + 1; l < CANN_ALL_LEVELS; l++) {
        const struct place *place = &w->place[l];
        if (!place->open || w->plan->level[l].direction != direction)
            continue;
        int64_t element = w->plan->level[l].slice * bytes;
        region->offset_bytes += place->first * element;
        if (place->step)
            region->loop_stride_bytes[place->depth] += place->step * element;
    }
}

static int memory_of(const struct writer *w, enum cann_hold hold)
{
    const struct cann_machine *m = w->machine;
    const int buffers[CANN_HOLDS] = {m->l1, m->l1, m->l1, m->l0a, m->l0b, m->bt, m->l0c};
    return buffers[hold];
}

/* What a part in L1 leaves of its copy: a smaller part stands at the end, so that it overwrites
 * what is fed last of the part before it. At the beginning it could be loaded earlier than its flag
 * says.
 */
static int64_t room_before(const struct writer *w, enum cann_hold hold)
{
    if (hold > HOLD_B_L1)
        return 0;
    const int64_t *held = w->held[hold];
    int64_t batch = hold == HOLD_B_L1 && w->plan->one_b ? 1 : held[CANN_BATCH];
    int64_t across = held[hold == HOLD_A_L1 ? CANN_M : CANN_N];
    return w->plan->scope[hold].bytes - batch * across * held[CANN_K] * w->machine->type_bytes;
}

/* The beginning of the present copy. */
static struct region copy_of(const struct writer *w, enum cann_hold hold, enum operand_role role)
{
    const struct cann_scope *scope = &w->plan->scope[hold];
    return (struct region){.role = (uint8_t)role,
                           .buffer = (int8_t)memory_of(w, hold),
                           .offset_bytes = scope->offset_bytes + w->copy[hold] * scope->bytes +
                                           room_before(w, hold)};
}

/* The tile at hand in a part that holds blocks one after the other, each cut along `across` (m or
 * n) into panels of L0 tiles, and these along k. */
static struct region tile_in(const struct writer *w, enum cann_hold hold, enum operand_role role,
                             enum cann_direction across)
{
    int scope = w->plan->scope[hold].level, type = w->machine->type_bytes;
    const int64_t *held = w->held[hold];
    struct region region = copy_of(w, hold, role);
    if (across == CANN_M || !w->plan->one_b)
        advance(w, &region, scope, CANN_BATCH, held[across] * held[CANN_K] * type);
    advance(w, &region, scope, across, held[CANN_K] * type);
    advance(w, &region, scope, CANN_K, w->extent[across] * type);
    return region;
}

/* ---- moves ---------------------------------------------------------------------------------- */

static void move(struct writer *w, int path, int64_t bytes, int64_t pieces, int64_t align_bytes)
{
    uint8_t type = (uint8_t)w->machine->type;
    emit(&w->emit, &(struct instruction){.kind = INSTRUCTION_MOVE,
                                         .what = (int16_t)path,
                                         .bytes = bytes,
                                         .bursts = pieces,
                                         .align_bytes = align_bytes,
                                         .type = type,
                                         .to_type = type});
}

/* Global memory to L1. */
static void load(struct writer *w, enum cann_hold hold, int64_t bytes, int64_t pieces,
                 int64_t align_bytes)
{
    const struct cann_machine *m = w->machine;
    struct cann_load load =
        cann_load_split(hold <= HOLD_B_L1 ? w->plan->miss_share[hold] : 0, bytes, pieces);
    memcpy(w->held[hold], w->extent, sizeof w->extent);
    struct region target = copy_of(w, hold, OPERAND_DST);
    free_flag(w, hold, emit_wait);
    if (load.hit_bytes) {
        move(w, m->load, load.hit_bytes, load.hit_pieces, align_bytes);
        emit_region(&w->emit, &target);
    }
    target.offset_bytes += load.hit_bytes;
    if (load.miss_bytes) {
        move(w, m->miss, load.miss_bytes, load.miss_pieces, align_bytes);
        emit_region(&w->emit, &target);
    }
    full_flag(w, hold, emit_set);
}

static void load_operand(struct writer *w, enum cann_hold hold)
{
    const int64_t *e = w->extent;
    bool is_a = hold == HOLD_A_L1;
    enum cann_operand operand = is_a ? CANN_A : CANN_B;
    int64_t batch = !is_a && w->plan->one_b ? 1 : e[CANN_BATCH];
    load(w, hold, batch * e[is_a ? CANN_M : CANN_N] * e[CANN_K] * w->machine->type_bytes,
         cann_pieces(w->cann, operand, e), cann_alignment(w->cann, operand));
}

/* L1 to L0, the tile at hand. */
static void feed_tile(struct writer *w, enum cann_hold from, enum cann_hold to,
                      const struct region *target)
{
    const struct cann_machine *m = w->machine;
    enum cann_direction across = from == HOLD_A_L1 ? CANN_M : CANN_N;
    int64_t tile[CANN_DIRECTIONS];
    memcpy(tile, w->extent, sizeof tile);
    struct region source = tile_in(w, from, OPERAND_SRC, across);
    bool is_a = to == HOLD_A_L0;
    emit(&w->emit, &(struct instruction){.kind = INSTRUCTION_MOVE,
                                         .what = (int16_t)(is_a ? m->feed_a : m->feed_b),
                                         .bytes = tile[across] * tile[CANN_K] * m->type_bytes,
                                         .type = (uint8_t)m->type,
                                         .to_type = (uint8_t)m->type,
                                         .transpose = is_a ? m->transpose_a : m->transpose_b});
    emit_region(&w->emit, &source);
    emit_region(&w->emit, target);
}

static void emit_level(struct writer *w, int level);

/* A scope in L0: one tile, or the loops that bring the slab. */
static void feed(struct writer *w, enum cann_hold from, enum cann_hold to)
{
    struct region target = copy_of(w, to, OPERAND_DST);
    memcpy(w->held[to], w->extent, sizeof w->extent);
    free_flag(w, to, emit_wait);
    if (to == HOLD_B_L0 && w->plan->slab)
        emit_level(w, SLAB_N_L1);
    else
        feed_tile(w, from, to, &target);
    full_flag(w, to, emit_set);
}

static void feed_slab_tile(struct writer *w)
{
    struct region target = tile_in(w, HOLD_B_L0, OPERAND_DST, CANN_N);
    feed_tile(w, HOLD_B_L1, HOLD_B_L0, &target);
}

static void feed_bias(struct writer *w)
{
    const struct cann_machine *m = w->machine;
    full_flag(w, HOLD_BIAS_L1, emit_wait);
    if (w->plan->scope[HOLD_BIAS_BT].used) {
        free_flag(w, HOLD_BIAS_BT, emit_wait);
        move(w, m->feed_bias, w->extent[CANN_N] * w->cann->bias_bytes, 0, 0);
        struct region source = copy_of(w, HOLD_BIAS_L1, OPERAND_SRC);
        struct region target = copy_of(w, HOLD_BIAS_BT, OPERAND_DST);
        emit_region(&w->emit, &source);
        emit_region(&w->emit, &target);
        full_flag(w, HOLD_BIAS_BT, emit_set);
        full_flag(w, HOLD_BIAS_BT, emit_wait);
    }
    free_flag(w, HOLD_BIAS_L1, emit_set);
}

static void multiply(struct writer *w)
{
    const struct cann_machine *m = w->machine;
    const int64_t *e = w->extent;
    struct region a = copy_of(w, HOLD_A_L0, OPERAND_A);
    struct region b =
        w->plan->slab ? tile_in(w, HOLD_B_L0, OPERAND_B, CANN_N) : copy_of(w, HOLD_B_L0, OPERAND_B);
    struct region c = copy_of(w, HOLD_C, OPERAND_DST);
    emit(&w->emit, &(struct instruction){.kind = INSTRUCTION_MATRIX,
                                         .type = (uint8_t)m->type,
                                         .m = (int32_t)e[CANN_M],
                                         .k = (int32_t)e[CANN_K],
                                         .n = (int32_t)e[CANN_N],
                                         .accumulate = !w->first_step,
                                         .unit = m->unit_flag});
    emit_region(&w->emit, &a);
    emit_region(&w->emit, &b);
    emit_region(&w->emit, &c);
    if (!w->first_step)
        return;
    if (w->plan->scope[HOLD_BIAS_BT].used) /* the first product adds it */
        free_flag(w, HOLD_BIAS_BT, emit_set);
    if (m->unit_flag)
        free_flag(w, HOLD_C, emit_wait);
}

static void store(struct writer *w)
{
    const struct cann_machine *m = w->machine;
    struct region c = copy_of(w, HOLD_C, OPERAND_SRC);
    full_flag(w, HOLD_C, emit_set);
    full_flag(w, HOLD_C, emit_wait);
    leaves_flag(w, emit_set);
    emit(&w->emit, &(struct instruction){.kind = INSTRUCTION_MOVE,
                                         .what = (int16_t)m->store,
                                         .bytes = w->extent[CANN_M] * w->extent[CANN_N] *
                                                  m->accumulator_bytes,
                                         .bursts = cann_pieces(w->cann, CANN_C, w->extent),
                                         .align_bytes = cann_alignment(w->cann, CANN_C),
                                         .type = (uint8_t)m->accumulator,
                                         .to_type = (uint8_t)m->out,
                                         .unit = m->unit_flag});
    emit_region(&w->emit, &c);
    free_flag(w, HOLD_C, emit_set);
}

/* ---- the nest ------------------------------------------------------------------------------- */

static bool begins(const struct writer *w, enum cann_hold hold, int level)
{
    return w->plan->scope[hold].used && w->plan->scope[hold].level == level;
}

/* Operands with two copies first: one that waits does not hold them back. */
static void begin_loads(struct writer *w, int level)
{
    for (int copies = 2; copies >= 1; copies--)
        for (int h = HOLD_A_L1; h <= HOLD_B_L1; h++)
            if (begins(w, (enum cann_hold)h, level) && w->plan->scope[h].copies == copies)
                load_operand(w, (enum cann_hold)h);
    if (begins(w, HOLD_BIAS_L1, level))
        load(w, HOLD_BIAS_L1, w->extent[CANN_N] * w->cann->bias_bytes, 1, 0);
}

/* A and B: what is fed out of what. */
static const enum cann_hold fed_pairs[2][2] = {{HOLD_A_L1, HOLD_A_L0}, {HOLD_B_L1, HOLD_B_L0}};

/* The two ends of a loop. */
enum end { FIRST_BODY, LAST_BODY };

/* The levels within a part's scope up to that of its feeds; none where a slab is brought in loops
 * of its own, of which the part's scope is one. */
static void levels_fed(const struct writer *w, int operand, int *first, int *last)
{
    *first = w->plan->scope[fed_pairs[operand][0]].level + 1;
    *last = w->plan->scope[fed_pairs[operand][1]].level;
}

/* Is a feed in this body the first (or last) of its part? */
static bool is_outermost_feed(const struct writer *w, int operand, enum end end)
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
static bool stands_apart(const struct writer *w, int level, enum end end)
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

/* MTE1 waits for a part right before its first feed of it, and frees it right after the last: no
 * flag holds back more than it has to. */
static void begin_feeds(struct writer *w, int level)
{
    for (int i = 0; i < 2; i++) {
        enum cann_hold l1 = fed_pairs[i][0], l0 = fed_pairs[i][1];
        if (!begins(w, l0, level))
            continue;
        if (is_outermost_feed(w, i, FIRST_BODY))
            full_flag(w, l1, emit_wait);
        feed(w, l1, l0);
        if (is_outermost_feed(w, i, LAST_BODY))
            free_flag(w, l1, emit_set);
        full_flag(w, l0, emit_wait);
    }
    if (level >= SLAB_N_L1 && begins(w, HOLD_B_L1, level))
        full_flag(w, HOLD_B_L1, emit_wait);
    if (begins(w, HOLD_BIAS_L1, level))
        feed_bias(w);
    if (begins(w, HOLD_C, level)) {
        leaves_flag(w, emit_wait);
        if (!w->machine->unit_flag)
            free_flag(w, HOLD_C, emit_wait);
    }
}

static void end_scopes(struct writer *w, int level)
{
    if (level >= SLAB_N_L1 && begins(w, HOLD_B_L1, level))
        free_flag(w, HOLD_B_L1, emit_set);
    for (int h = HOLD_A_L0; h <= HOLD_B_L0; h++)
        if (begins(w, (enum cann_hold)h, level))
            free_flag(w, (enum cann_hold)h, emit_set);
    if (begins(w, HOLD_C, level))
        store(w);
    for (int h = 0; h < CANN_HOLDS; h++)
        if (begins(w, (enum cann_hold)h, level))
            w->copy[h] = (w->copy[h] + 1) % w->plan->scope[h].copies;
}

static void emit_body(struct writer *w, int level)
{
    if (level == LEVEL_TILE)
        w->first_step = true;
    begin_loads(w, level);
    begin_feeds(w, level);
    if (level == LEVEL_STEP) {
        multiply(w);
        w->first_step = false;
    } else if (level == SLAB_TILE) {
        feed_slab_tile(w);
    } else {
        emit_level(w, level + 1);
    }
    end_scopes(w, level);
}

/* Do two bodies in a row differ, because scopes of two copies begin in one an odd number of times?
 */
static bool alternates(const struct writer *w, int level)
{
    for (int h = 0; h < CANN_HOLDS; h++)
        if (w->plan->scope[h].copies == 2 &&
            cann_openings(w->plan, (enum cann_hold)h, level, w->extent) % 2)
            return true;
    return false;
}

/* Bodies [first, last) of `count`, as a loop where that is shorter. */
static void repeat(struct writer *w, int level, int64_t first, int64_t last, int64_t count)
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
static void emit_level(struct writer *w, int level)
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
    struct writer w = {
        .emit = {.program = program, .error = error},
        .cann = cann,
        .machine = &cann->machine,
        .plan = &plan,
    };
    memcpy(w.extent, plan.extent, sizeof w.extent);
    all_free_flags(&w, emit_set);
    all_leaves_flags(&w, emit_set);
    emit_body(&w, SCOPE_PROGRAM);
    all_free_flags(&w, emit_wait);
    w.copy[HOLD_C] = 0;
    all_leaves_flags(&w, emit_wait);
    return emit_close(&w.emit);
}
