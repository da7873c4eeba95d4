/* Loads, feeds, products and stores of a program of the space `cann`, and where in the buffers what
 * they move is. */
#include "kernels/matmul/matmul_cann_emitter.h"

#include <string.h>

/* ---- where things are ----------------------------------------------------------------------- */

/* Adds the way from the beginning of a scope to the present place along one direction, `bytes`
 * an element, to a region's offset. */
static void advance(const struct cann_emitter *w, struct region *region, int scope,
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

static int memory_of(const struct cann_emitter *w, enum cann_live_range range)
{
    const struct cann_machine *m = w->machine;
    const int buffers[CANN_LIVE_RANGES] = {m->l1, m->l1, m->l1, m->l0a, m->l0b, m->bt, m->l0c};
    return buffers[range];
}

/* What a part in L1 leaves of its copy: a smaller part stands at the end, so that it overwrites
 * what is fed last of the part before it. At the beginning it could be loaded earlier than its flag
 * says.
 */
static int64_t room_before(const struct cann_emitter *w, enum cann_live_range range)
{
    if (range > LIVE_B_L1)
        return 0;
    const int64_t *held = w->held[range];
    int64_t batch = range == LIVE_B_L1 && w->plan->one_b ? 1 : held[CANN_BATCH];
    int64_t across = held[range == LIVE_A_L1 ? CANN_M : CANN_N];
    return w->plan->scope[range].bytes - batch * across * held[CANN_K] * w->machine->type_bytes;
}

/* The beginning of the present copy. */
static struct region copy_of(const struct cann_emitter *w, enum cann_live_range range,
                             enum operand_role role)
{
    const struct cann_scope *scope = &w->plan->scope[range];
    return (struct region){.role = (uint8_t)role,
                           .buffer = (int8_t)memory_of(w, range),
                           .offset_bytes = scope->offset_bytes + w->copy[range] * scope->bytes +
                                           room_before(w, range)};
}

/* The tile at hand in a part that holds blocks one after the other, each cut along `across` (m or
 * n) into panels of L0 tiles, and these along k. */
static struct region tile_in(const struct cann_emitter *w, enum cann_live_range range,
                             enum operand_role role, enum cann_direction across)
{
    int scope = w->plan->scope[range].level, type = w->machine->type_bytes;
    const int64_t *held = w->held[range];
    struct region region = copy_of(w, range, role);
    if (across == CANN_M || !w->plan->one_b)
        advance(w, &region, scope, CANN_BATCH, held[across] * held[CANN_K] * type);
    advance(w, &region, scope, across, held[CANN_K] * type);
    advance(w, &region, scope, CANN_K, w->extent[across] * type);
    return region;
}

/* ---- moves ---------------------------------------------------------------------------------- */

static void move(struct cann_emitter *w, int path, int64_t bytes, int64_t pieces,
                 int64_t align_bytes)
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

/* Global memory to L1: a part of A or B. */
static void put_load(struct cann_emitter *w, enum cann_live_range range, int64_t bytes,
                     int64_t pieces, int64_t align_bytes)
{
    const struct cann_machine *m = w->machine;
    struct cann_load load = cann_load_split(w->plan->miss_share[range], bytes, pieces);
    memcpy(w->held[range], w->extent, sizeof w->extent);
    struct region target = copy_of(w, range, OPERAND_DST);
    cann_free_flag(w, range, emit_wait);
    if (load.hit_bytes) {
        move(w, m->load, load.hit_bytes, load.hit_pieces, align_bytes);
        emit_region(&w->emit, &target);
    }
    target.offset_bytes += load.hit_bytes;
    if (load.miss_bytes) {
        move(w, m->miss, load.miss_bytes, load.miss_pieces, align_bytes);
        emit_region(&w->emit, &target);
    }
    cann_full_flag(w, range, emit_set);
}

void cann_load_operand(struct cann_emitter *w, enum cann_live_range range)
{
    const int64_t *e = w->extent;
    bool is_a = range == LIVE_A_L1;
    enum cann_operand operand = is_a ? CANN_A : CANN_B;
    int64_t batch = !is_a && w->plan->one_b ? 1 : e[CANN_BATCH];
    put_load(w, range, batch * e[is_a ? CANN_M : CANN_N] * e[CANN_K] * w->machine->type_bytes,
             cann_pieces(w->cann, operand, e), cann_load_alignment(w->cann, w->plan, operand));
}

/* The rows of bias and scales of a tile of C. */
void cann_load_rows(struct cann_emitter *w)
{
    const int row_bytes[] = {w->cann->bias_bytes, w->cann->scale_bytes};
    struct region target = copy_of(w, LIVE_BIAS_L1, OPERAND_DST);
    cann_free_flag(w, LIVE_BIAS_L1, emit_wait);
    for (size_t i = 0; i < sizeof row_bytes / sizeof *row_bytes; i++) {
        int64_t bytes = w->extent[CANN_N] * row_bytes[i];
        if (bytes) {
            move(w, w->machine->load, bytes, 1, 0);
            emit_region(&w->emit, &target);
        }
        target.offset_bytes += bytes;
    }
    cann_full_flag(w, LIVE_BIAS_L1, emit_set);
}

/* L1 to L0, the tile at hand. */
static void feed_tile(struct cann_emitter *w, enum cann_live_range from, enum cann_live_range to,
                      const struct region *target)
{
    const struct cann_machine *m = w->machine;
    enum cann_direction across = from == LIVE_A_L1 ? CANN_M : CANN_N;
    int64_t tile[CANN_DIRECTIONS];
    memcpy(tile, w->extent, sizeof tile);
    struct region source = tile_in(w, from, OPERAND_SRC, across);
    bool is_a = to == LIVE_A_L0;
    emit(&w->emit, &(struct instruction){.kind = INSTRUCTION_MOVE,
                                         .what = (int16_t)(is_a ? m->feed_a : m->feed_b),
                                         .bytes = tile[across] * tile[CANN_K] * m->type_bytes,
                                         .type = (uint8_t)m->type,
                                         .to_type = (uint8_t)m->type,
                                         .transpose = is_a ? m->transpose_a : m->transpose_b});
    emit_region(&w->emit, &source);
    emit_region(&w->emit, target);
}

/* A scope in L0: one tile, or the loops that bring the slab. */
void cann_feed(struct cann_emitter *w, enum cann_live_range from, enum cann_live_range to)
{
    struct region target = copy_of(w, to, OPERAND_DST);
    memcpy(w->held[to], w->extent, sizeof w->extent);
    cann_free_flag(w, to, emit_wait);
    if (to == LIVE_B_L0 && w->plan->slab)
        cann_emit_level(w, SLAB_N_L1);
    else
        feed_tile(w, from, to, &target);
    cann_full_flag(w, to, emit_set);
}

void cann_feed_slab_tile(struct cann_emitter *w)
{
    struct region target = tile_in(w, LIVE_B_L0, OPERAND_DST, CANN_N);
    feed_tile(w, LIVE_B_L1, LIVE_B_L0, &target);
}

void cann_feed_bias(struct cann_emitter *w)
{
    const struct cann_machine *m = w->machine;
    cann_full_flag(w, LIVE_BIAS_L1, emit_wait);
    if (w->plan->scope[LIVE_BIAS_BT].used) {
        cann_free_flag(w, LIVE_BIAS_BT, emit_wait);
        move(w, m->feed_bias, w->extent[CANN_N] * w->cann->bias_bytes, 0, 0);
        struct region source = copy_of(w, LIVE_BIAS_L1, OPERAND_SRC);
        struct region target = copy_of(w, LIVE_BIAS_BT, OPERAND_DST);
        emit_region(&w->emit, &source);
        emit_region(&w->emit, &target);
        cann_full_flag(w, LIVE_BIAS_BT, emit_set);
        cann_full_flag(w, LIVE_BIAS_BT, emit_wait);
    }
    cann_free_flag(w, LIVE_BIAS_L1, emit_set);
}

void cann_multiply(struct cann_emitter *w)
{
    const struct cann_machine *m = w->machine;
    const int64_t *e = w->extent;
    struct region a = copy_of(w, LIVE_A_L0, OPERAND_A);
    struct region b =
        w->plan->slab ? tile_in(w, LIVE_B_L0, OPERAND_B, CANN_N) : copy_of(w, LIVE_B_L0, OPERAND_B);
    struct region c = copy_of(w, LIVE_C, OPERAND_DST);
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
    if (w->plan->scope[LIVE_BIAS_BT].used) /* the first product adds it */
        cann_free_flag(w, LIVE_BIAS_BT, emit_set);
    if (m->unit_flag)
        cann_free_flag(w, LIVE_C, emit_wait);
}

/* Where a tile is in the workspace: each has a place of its own. */
static void write_part(struct cann_emitter *w)
{
    const struct cann_machine *m = w->machine;
    int64_t bytes = m->accumulator_bytes;
    struct region part = {.role = OPERAND_DST, .buffer = m->hw->paths[m->store].destination};
    advance(w, &part, SCOPE_PROGRAM, CANN_M, w->plan->extent[CANN_N] * bytes);
    advance(w, &part, SCOPE_PROGRAM, CANN_N, w->extent[CANN_M] * bytes);
    emit_region(&w->emit, &part);
}

void cann_store(struct cann_emitter *w)
{
    const struct cann_machine *m = w->machine;
    enum cann_operand stored = cann_stored(w->plan->parts);
    struct region c = copy_of(w, LIVE_C, OPERAND_SRC);
    cann_full_flag(w, LIVE_C, emit_set);
    cann_full_flag(w, LIVE_C, emit_wait);
    cann_leaves_flag(w, emit_set);
    emit(&w->emit, &(struct instruction){
                       .kind = INSTRUCTION_MOVE,
                       .what = (int16_t)m->store,
                       .bytes = w->extent[CANN_M] * w->extent[CANN_N] * m->accumulator_bytes,
                       .bursts = cann_pieces(w->cann, stored, w->extent),
                       .align_bytes = cann_alignment(w->cann, stored),
                       .type = (uint8_t)m->accumulator,
                       .to_type = (uint8_t)(stored == CANN_PART ? m->accumulator : m->out),
                       .unit = m->unit_flag});
    emit_region(&w->emit, &c);
    if (stored == CANN_PART)
        write_part(w);
    cann_free_flag(w, LIVE_C, emit_set);
}
