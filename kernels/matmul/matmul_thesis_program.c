/* Algorithm 3 of Tang 2024 as a program for one core.
 *
 * For each tile (i, j) of C the k-tiles l run through: load A(i,l) and B(l,j) from global memory
 * where they are not resident, feed both to L0, multiply; then drain the tile of C and store it.
 * A running counter over all k-tiles, modulo the number of buffers, is the phase: it picks L0
 * halves, reload buffers in L1 and flag registers, so that loads of the next tile overlap with the
 * end of this one.
 *
 * Every buffer has two flags that go to and fro between the pipe that fills it and the pipe that
 * empties it ("full" and "free"); free flags are set once before the loops and waited for once
 * after them, so that the loop bodies are all alike and no register is ever set twice.
 *
 * Loops stay loops. Where a body changes the phase, the loop runs over pairs of bodies. */
#include "kernels/emit.h"
#include "kernels/matmul/matmul.h"

/* Registers between MTE1 and MTE2; the phase is added to the first two kinds. */
enum { FLAG_A = 0, FLAG_B = 2, FLAG_ROW = 4, FLAG_PRODUCT = 5 };

/* A tile index as the program knows it: first + step · (index of the loop at `depth`). */
struct tile_index {
    int64_t first, step;
    int depth;
};

struct thesis_emitter {
    struct emitter emit; /* first */
    const struct matmul_machine *machine;
    struct tiles m, k, n;
    int64_t batch;
    int buffers, phase;
    bool a_resident, b_resident;
    bool flag_first, flag_rows, flag_products; /* see "Handing panels on" */
    /* the place in the loops */
    bool first_column;
    struct tile_index row;       /* i */
    int64_t m_now, k_now, n_now; /* size of the tile at hand, in elements */
    bool first_k;
    struct tile_index column, step; /* j and l */
    int64_t l1_b;                   /* where B begins in L1, bytes */
};

/* Adds `index · bytes` to a region's offset. */
static void advance(struct region *region, const struct tile_index *index, int64_t bytes)
{
    region->offset_bytes += index->first * bytes;
    if (index->step)
        region->loop_stride_bytes[index->depth] += index->step * bytes;
}

static int64_t a_bytes(const struct thesis_emitter *e)
{
    return e->m_now * e->k_now * e->machine->type_bytes;
}

static int64_t b_bytes(const struct thesis_emitter *e)
{
    return e->k_now * e->n_now * e->machine->type_bytes;
}

/* A(i,l) in L1: the panel of row i, tile after tile, or the reload buffer of this phase. */
static struct region a_in_l1(const struct thesis_emitter *e, enum operand_role role)
{
    struct region region = {.role = (uint8_t)role, .buffer = (int8_t)e->machine->l1};
    int type = e->machine->type_bytes;
    if (e->a_resident)
        advance(&region, &e->step, e->m_now * e->k.slice * type);
    else
        region.offset_bytes = e->phase * e->m.slice * e->k.slice * type;
    return region;
}

/* B(l,j) in L1: all of B, column panel after column panel, or the reload buffer of this phase. */
static struct region b_in_l1(const struct thesis_emitter *e, enum operand_role role)
{
    struct region region = {
        .role = (uint8_t)role, .buffer = (int8_t)e->machine->l1, .offset_bytes = e->l1_b};
    int type = e->machine->type_bytes;
    int64_t k_size = (e->k.count - 1) * e->k.slice + e->k.last;
    if (e->b_resident) {
        advance(&region, &e->column, k_size * e->n.slice * type);
        advance(&region, &e->step, e->k.slice * e->n_now * type);
    } else {
        region.offset_bytes += e->phase * e->k.slice * e->n.slice * type;
    }
    return region;
}

/* Global memory to L1. */
static void load(struct thesis_emitter *e, int reg, int64_t bytes, struct region target)
{
    const struct matmul_machine *m = e->machine;
    emit_wait(&e->emit, m->mte1, m->mte2, reg + e->phase);
    emit_move(&e->emit, m->load, bytes, m->type, m->type);
    emit_region(&e->emit, &target);
    emit_set(&e->emit, m->mte2, m->mte1, reg + e->phase);
}

/* L1 to L0. A reload buffer is free once it has been read; a resident tile stays, and its flag
 * only paces the loads. */
static void feed(struct thesis_emitter *e, int path, int reg, bool loaded, bool resident,
                 int64_t bytes, struct region source, int l0, int64_t l0_offset)
{
    const struct matmul_machine *m = e->machine;
    if (loaded)
        emit_wait(&e->emit, m->mte2, m->mte1, reg + e->phase);
    if (loaded && resident)
        emit_set(&e->emit, m->mte1, m->mte2, reg + e->phase);
    emit_move(&e->emit, path, bytes, m->type, m->type);
    emit_region(&e->emit, &source);
    emit_operand(&e->emit, OPERAND_DST, l0, l0_offset);
    if (loaded && !resident)
        emit_set(&e->emit, m->mte1, m->mte2, reg + e->phase);
}

static void multiply(struct thesis_emitter *e, int64_t a_offset, int64_t b_offset)
{
    const struct matmul_machine *m = e->machine;
    emit_wait(&e->emit, m->mte1, m->matrix, e->phase);
    emit_matrix(&e->emit, m->type, e->m_now, e->k_now, e->n_now, !e->first_k);
    emit_operand(&e->emit, OPERAND_A, m->l0a, a_offset);
    emit_operand(&e->emit, OPERAND_B, m->l0b, b_offset);
    emit_operand(&e->emit, OPERAND_DST, m->l0c, 0);
    emit_set(&e->emit, m->matrix, m->mte1, e->phase);
}

static bool first_row(const struct thesis_emitter *e)
{
    return e->row.first == 0 && e->row.step == 0;
}

/* One k-tile. */
static void emit_step(struct thesis_emitter *e)
{
    const struct matmul_machine *m = e->machine;
    bool load_a = !e->a_resident || e->first_column, load_b = !e->b_resident || first_row(e);
    int64_t a_offset = e->phase * e->m.slice * e->k.slice * m->type_bytes;
    int64_t b_offset = e->phase * e->k.slice * e->n.slice * m->type_bytes;
    if (load_a)
        load(e, FLAG_A, a_bytes(e), a_in_l1(e, OPERAND_DST));
    if (load_b)
        load(e, FLAG_B, b_bytes(e), b_in_l1(e, OPERAND_DST));
    emit_wait(&e->emit, m->matrix, m->mte1, e->phase);
    feed(e, m->feed_a, FLAG_A, load_a, e->a_resident, a_bytes(e), a_in_l1(e, OPERAND_SRC), m->l0a,
         a_offset);
    feed(e, m->feed_b, FLAG_B, load_b, e->b_resident, b_bytes(e), b_in_l1(e, OPERAND_SRC), m->l0b,
         b_offset);
    emit_set(&e->emit, m->mte1, m->matrix, e->phase);
    multiply(e, a_offset, b_offset);
    e->phase = (e->phase + 1) % e->buffers;
}

/* Bodies of `steps` k-tiles that one body of a loop holds: where they change the phase, a pair. */
static int64_t pair_of(const struct thesis_emitter *e, int64_t steps)
{
    return steps % e->buffers ? 2 : 1;
}

/* How many of `count` such bodies run in a loop; the others stand alone. */
static int64_t looped(const struct thesis_emitter *e, int64_t count, int64_t steps)
{
    int64_t pair = pair_of(e, steps);
    return count / pair >= 2 ? count / pair * pair : 0;
}

/* The body for tiles [first, first + count) of one direction, as a loop where that is shorter. */
static void repeat(struct thesis_emitter *e, const char *name, struct tile_index *index,
                   int64_t first, int64_t count, int64_t steps,
                   void (*body)(struct thesis_emitter *e))
{
    int64_t pair = pair_of(e, steps), in_loop = looped(e, count, steps);
    if (in_loop) {
        emit_loop(&e->emit, name, in_loop / pair);
        for (int64_t u = 0; u < pair; u++) {
            *index = (struct tile_index){first + u, pair, e->emit.depth - 1};
            body(e);
        }
        emit_end(&e->emit);
    }
    for (int64_t u = in_loop; u < count; u++) {
        *index = (struct tile_index){first + u, 0, 0};
        body(e);
    }
}

/* One tile of C. */
static void emit_tile(struct thesis_emitter *e)
{
    const struct matmul_machine *m = e->machine;
    int64_t edge = e->k.count > 1 && e->k.last != e->k.slice;
    emit_wait(&e->emit, m->vector, m->matrix, 0);
    e->first_k = true;
    e->k_now = e->k.slice;
    repeat(e, "l", &e->step, 0, 1, 1, emit_step);
    e->first_k = false;
    repeat(e, "l", &e->step, 1, e->k.count - 1 - edge, 1, emit_step);
    e->k_now = e->k.last;
    repeat(e, "l", &e->step, e->k.count - 1, edge, 1, emit_step);
    emit_set(&e->emit, m->matrix, m->vector, 0);
    int64_t elements = e->m_now * e->n_now;
    emit_wait(&e->emit, m->matrix, m->vector, 0);
    emit_wait(&e->emit, m->mte3, m->vector, 0);
    emit_move(&e->emit, m->drain, elements * m->accumulator_bytes, m->accumulator, m->out);
    emit_operand(&e->emit, OPERAND_SRC, m->l0c, 0);
    emit_operand(&e->emit, OPERAND_DST, m->ub, 0);
    emit_set(&e->emit, m->vector, m->matrix, 0);
    emit_set(&e->emit, m->vector, m->mte3, 0);
    emit_wait(&e->emit, m->vector, m->mte3, 0);
    emit_move(&e->emit, m->store, elements * m->out_bytes, m->out, m->out);
    emit_operand(&e->emit, OPERAND_SRC, m->ub, 0);
    emit_set(&e->emit, m->mte3, m->vector, 0);
}

/* ---- Handing panels on ----------------------------------------------------------------------
 *
 * A resident tile is overwritten in the next row (A) or product (B), once MTE1 has fed it for the
 * last time. Mostly that is so without further ado: steps (k-tiles, all counted on) load and feed
 * in turn, and a load waits until the step `buffers` before its own has been fed. Only where that
 * is not enough, because few steps lie between or because nothing is loaded in the meantime, a flag
 * is set after the last feed of a row or product, and waited for before the first load of the next;
 * anywhere else it would order nothing new and hold loads back. */

/* The tile of A that stood, in a row of `rows_before` elements, at the end of tile l of a row of
 * `rows`. */
static int64_t overwritten(const struct thesis_emitter *e, int64_t l, int64_t rows,
                           int64_t rows_before)
{
    int64_t k_end = l == e->k.count - 1 ? l * e->k.slice + e->k.last : (l + 1) * e->k.slice;
    int64_t tile = (k_end * rows - 1) / (e->k.slice * rows_before);
    return tile < e->k.count ? tile : e->k.count - 1;
}

/* Does every tile of A in a new row follow the feed of what it overwrites, when each step of the
 * row before had a load, and each of the new row has (`now`)? From step `buffers` on, A's own loads
 * wait for steps of the new row. */
static bool loads_order_a(const struct thesis_emitter *e, int64_t rows, int64_t rows_before,
                          bool now)
{
    bool ordered = true;
    for (int64_t l = 0; l < e->buffers && l < e->k.count; l++) {
        int64_t fed = e->k.count - 1 - e->buffers + (now ? l : 0);
        ordered = ordered && overwritten(e, l, rows, rows_before) <= fed;
    }
    return ordered;
}

/* A loop over rows has one answer for all of them, and the flags before and behind it belong to its
 * own. Where a row loads neither operand in each step, nothing orders the next row's loads. */
static void find_flags(struct thesis_emitter *e)
{
    int64_t steps = e->k.count * e->n.count, second = e->m.count == 2 ? e->m.last : e->m.slice;
    bool loads = !e->b_resident || e->n.count == 1; /* in each step of rows after the first */
    bool last_loads = loads || !e->a_resident || e->m.count == 1;
    e->flag_rows = e->a_resident && (!loads || !loads_order_a(e, e->m.slice, e->m.slice, true));
    e->flag_first = looped(e, e->m.count - 2, steps)
                        ? e->flag_rows
                        : e->a_resident && !loads_order_a(e, second, e->m.slice, loads);
    e->flag_products =
        e->batch > 1 && (!last_loads || (e->b_resident && steps <= e->buffers) ||
                         (e->a_resident && !loads_order_a(e, e->m.slice, e->m.last, true)));
}

/* Is there a flag between this row and the next? */
static bool flag_after(const struct thesis_emitter *e, int64_t row)
{
    if (row < 0 || row >= e->m.count - 1)
        return false;
    return row == 0 ? e->flag_first : e->flag_rows;
}

/* One row of tiles. The first column is apart where it loads the panel of A. */
static void emit_row(struct thesis_emitter *e)
{
    const struct matmul_machine *m = e->machine;
    int64_t edge = e->n.count > 1 && e->n.last != e->n.slice, apart = e->a_resident;
    if (flag_after(e, e->row.first - 1))
        emit_wait(&e->emit, m->mte1, m->mte2, FLAG_ROW);
    e->first_column = true;
    e->n_now = e->n.slice;
    repeat(e, "j", &e->column, 0, apart, e->k.count, emit_tile);
    e->first_column = false;
    repeat(e, "j", &e->column, apart, e->n.count - apart - edge, e->k.count, emit_tile);
    e->n_now = e->n.last;
    repeat(e, "j", &e->column, e->n.count - 1, edge, e->k.count, emit_tile);
    if (flag_after(e, e->row.first))
        emit_set(&e->emit, m->mte1, m->mte2, FLAG_ROW);
}

/* One product of the batch. Its first row is apart where it loads all of B; with flags between rows
 * the first has none before it and the last none after it. */
static void emit_product(struct thesis_emitter *e)
{
    const struct matmul_machine *m = e->machine;
    bool flags = e->flag_first || e->flag_rows;
    int64_t last = e->m.count > 1 && (e->m.last != e->m.slice || flags);
    int64_t apart = e->b_resident || flags, steps = e->k.count * e->n.count;
    if (e->flag_products)
        emit_wait(&e->emit, m->mte1, m->mte2, FLAG_PRODUCT);
    e->m_now = e->m.slice;
    repeat(e, "i", &e->row, 0, apart, steps, emit_row);
    repeat(e, "i", &e->row, apart, e->m.count - apart - last, steps, emit_row);
    e->m_now = e->m.last;
    repeat(e, "i", &e->row, e->m.count - 1, last, steps, emit_row);
    if (e->flag_products)
        emit_set(&e->emit, m->mte1, m->mte2, FLAG_PRODUCT);
}

/* Every "free" flag: set before the loops, waited for after them. */
static void each_free_flag(struct thesis_emitter *e, void (*act)(struct emitter *, int, int, int))
{
    const struct matmul_machine *m = e->machine;
    for (int p = 0; p < e->buffers; p++) {
        act(&e->emit, m->mte1, m->mte2, FLAG_A + p);
        act(&e->emit, m->mte1, m->mte2, FLAG_B + p);
        act(&e->emit, m->matrix, m->mte1, p);
    }
    if (e->flag_products)
        act(&e->emit, m->mte1, m->mte2, FLAG_PRODUCT);
    act(&e->emit, m->vector, m->matrix, 0);
    act(&e->emit, m->mte3, m->vector, 0);
}

enum status matmul_thesis_program(const struct matmul_machine *machine,
                                  const struct matmul_slab *slab, const struct tiling *tiling,
                                  struct program *program, struct error *error)
{
    int64_t resident = tiling->value[THESIS_RESIDENT];
    struct thesis_emitter e = {
        .machine = machine,
        .emit = {.program = program, .error = error},
        .m = tiles_of(slab->m, tiling->value[THESIS_M]),
        .k = tiles_of(slab->k, tiling->value[THESIS_K]),
        .n = tiles_of(slab->n, tiling->value[THESIS_N]),
        .batch = slab->batch,
        .buffers = (int)tiling->value[THESIS_BUFFERS],
        .a_resident = resident == RESIDENT_A || resident == RESIDENT_BOTH,
        .b_resident = resident == RESIDENT_B || resident == RESIDENT_BOTH,
    };
    struct tile_index product;
    e.l1_b = (e.a_resident ? e.m.slice * slab->k : e.buffers * e.m.slice * e.k.slice) *
             machine->type_bytes;
    find_flags(&e);
    each_free_flag(&e, emit_set);
    repeat(&e, "b", &product, 0, e.batch, e.m.count * e.k.count * e.n.count, emit_product);
    each_free_flag(&e, emit_wait);
    return emit_close(&e.emit);
}
