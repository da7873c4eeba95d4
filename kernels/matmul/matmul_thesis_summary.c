/* What a tiling does, in closed form: for lower bounds and the roofline. docs/bounds.md shows for
 * each chain why its instructions never overlap. */
#include "kernels/matmul/matmul_thesis.h"

#include <math.h>
#include <string.h>

/* Lines of the summary. The first seven are the whole program; the rest are the instructions that
 * must run before the first, or after the last, of a pipe's. */
enum line {
    LOAD_A,
    LOAD_B,
    FEED_A,
    FEED_B,
    MULTIPLY,
    DRAIN,
    STORE,
    TOTALS,
    FIRST_LOAD_A = TOTALS,
    FIRST_LOAD_B,
    FIRST_FEED_B,
    FIRST_TILE,
    LAST_FEED_B,
    LAST_MULTIPLY,
    LAST_DRAIN,
    LAST_STORE,
    AFTER_LOADS,
    AFTER_LOADS_DRAIN,
    LINES,
};

#define LINE(line) (UINT64_C(1) << (line))

static int layout_number(int64_t buffers, int64_t resident, bool many_rows)
{
    return (int)(((buffers - 1) * RESIDENT_KINDS + resident) * 2 + many_rows);
}

static void make_chains(int buffers, int64_t resident, bool many_rows, struct work_layout *layout)
{
    const uint64_t start = LINE(FIRST_LOAD_A) | LINE(FIRST_LOAD_B) | LINE(FIRST_FEED_B);
    const uint64_t end = LINE(LAST_MULTIPLY) | LINE(LAST_DRAIN) | LINE(LAST_STORE);
    bool early = resident == RESIDENT_BOTH && many_rows;
    uint64_t *chain = layout->chains;
    *chain++ = LINE(LOAD_A) | LINE(LOAD_B) | LINE(LAST_STORE) |
               (early ? LINE(AFTER_LOADS) | LINE(AFTER_LOADS_DRAIN) : LINE(LAST_FEED_B) | end);
    *chain++ = LINE(FIRST_LOAD_A) | LINE(FEED_A) | LINE(FEED_B) | end;
    /* L0C is single: products and drains take turns */
    *chain++ = start | LINE(MULTIPLY) | LINE(DRAIN) | LINE(LAST_STORE);
    /* UB is single: drains and stores take turns */
    *chain++ = start | LINE(FIRST_TILE) | LINE(DRAIN) | LINE(STORE);
    if (buffers == 1) { /* so are L0A and L0B, and what is reloaded in L1 */
        *chain++ = LINE(FIRST_LOAD_A) | LINE(FEED_A) | LINE(FEED_B) | LINE(MULTIPLY) |
                   LINE(LAST_DRAIN) | LINE(LAST_STORE);
        if (!keeps_b(resident))
            *chain++ = LINE(FIRST_LOAD_A) | LINE(LOAD_B) | LINE(FEED_B) | end;
    }
    layout->chain_count = (int)(chain - layout->chains);
}

void thesis_make_layouts(struct thesis *thesis)
{
    const struct matmul_machine *m = &thesis->machine;
    const int prices[LINES] = {
        [LOAD_A] = m->load_price,
        [LOAD_B] = m->load_price,
        [FEED_A] = m->feed_a_price,
        [FEED_B] = m->feed_b_price,
        [MULTIPLY] = m->matrix_price,
        [DRAIN] = m->drain_price,
        [STORE] = m->store_price,
        [FIRST_LOAD_A] = m->load_price,
        [FIRST_LOAD_B] = m->load_price,
        [FIRST_FEED_B] = m->feed_b_price,
        [FIRST_TILE] = m->matrix_price,
        [LAST_FEED_B] = m->feed_b_price,
        [LAST_MULTIPLY] = m->matrix_price,
        [LAST_DRAIN] = m->drain_price,
        [LAST_STORE] = m->store_price,
        [AFTER_LOADS] = m->matrix_price,
        [AFTER_LOADS_DRAIN] = m->drain_price,
    };
    for (int buffers = 1; buffers <= 2; buffers++)
        for (int resident = 0; resident < RESIDENT_KINDS; resident++)
            for (int rows = 0; rows < 2; rows++) {
                struct work_layout *layout =
                    &thesis->layouts[layout_number(buffers, resident, rows)];
                layout->total_count = TOTALS;
                layout->line_count = LINES;
                memcpy(layout->price, prices, sizeof prices);
                make_chains(buffers, resident, rows, layout);
            }
}

/* Sizes of one core's work as doubles; `k_tiles` and so on count tiles. */
struct counts {
    double m, k, n, batch; /* of the slab */
    double m_tiles, k_tiles, n_tiles;
    double m_slice, k_slice, n_slice;
    double m_last, k_last, n_last;
    double type, accumulator, out; /* bytes */
    double per_block;              /* blocks per multiplication */
    bool a_resident, b_resident;
};

static void put(struct work *work, enum line line, double instructions, double units)
{
    work->instructions[line] = instructions;
    work->units[line] = units;
    work->burst_fs[line] = 0; /* whole pieces */
}

static void put_totals(const struct counts *c, struct work *work)
{
    double tiles = c->batch * c->m_tiles * c->n_tiles, steps = tiles * c->k_tiles;
    double a = c->batch * c->m * c->k * c->type, b = c->batch * c->k * c->n * c->type;
    double a_loads = c->a_resident ? 1 : c->n_tiles, b_loads = c->b_resident ? 1 : c->m_tiles;
    double out = c->batch * c->m * c->n;
    put(work, LOAD_A, c->batch * c->m_tiles * c->k_tiles * a_loads, a * a_loads);
    put(work, LOAD_B, c->batch * c->n_tiles * c->k_tiles * b_loads, b * b_loads);
    put(work, FEED_A, steps, a * c->n_tiles);
    put(work, FEED_B, steps, b * c->m_tiles);
    put(work, MULTIPLY, steps, out * c->k * c->per_block);
    put(work, DRAIN, tiles, out * c->accumulator);
    put(work, STORE, tiles, out * c->out);
}

static void put_ends(const struct counts *c, struct work *work)
{
    double first_b = c->k_slice * c->n_slice * c->type, last = c->m_last * c->n_last;
    put(work, FIRST_LOAD_A, 1, c->m_slice * c->k_slice * c->type);
    put(work, FIRST_LOAD_B, 1, first_b);
    put(work, FIRST_FEED_B, 1, first_b);
    put(work, FIRST_TILE, c->k_tiles, c->m_slice * c->n_slice * c->k * c->per_block);
    put(work, LAST_FEED_B, 1, c->k_last * c->n_last * c->type);
    put(work, LAST_MULTIPLY, 1, last * c->k_last * c->per_block);
    put(work, LAST_DRAIN, 1, last * c->accumulator);
    put(work, LAST_STORE, 1, last * c->out);
}

/* With everything resident and more than one row, the last load is the last tile of the last
 * panel of A: all later columns of that row are still to come, products and drains in turn. */
static void put_after_loads(const struct counts *c, struct work *work)
{
    double products = c->m_last * (c->k_last * c->n_slice + c->k * (c->n - c->n_slice));
    put(work, AFTER_LOADS, 1 + (c->n_tiles - 1) * c->k_tiles, products * c->per_block);
    put(work, AFTER_LOADS_DRAIN, c->n_tiles, c->m_last * c->n * c->accumulator);
}

void thesis_summarise(const struct space *space, const struct tiling *tiling, struct work *work)
{
    const struct thesis *thesis = thesis_of(space);
    const struct matmul_slab *slab = thesis_slab(space, tiling);
    const int64_t *v = tiling->value;
    struct tiles m = tiles_of(slab->m, v[THESIS_M]), k = tiles_of(slab->k, v[THESIS_K]),
                 n = tiles_of(slab->n, v[THESIS_N]);
    double block = thesis->machine.block, block_k = thesis->machine.block_k;
    struct counts c = {
        .m = (double)slab->m,
        .k = (double)slab->k,
        .n = (double)slab->n,
        .batch = (double)slab->batch,
        .m_tiles = (double)m.count,
        .k_tiles = (double)k.count,
        .n_tiles = (double)n.count,
        .m_slice = (double)m.slice,
        .k_slice = (double)k.slice,
        .n_slice = (double)n.slice,
        .m_last = (double)m.last,
        .k_last = (double)k.last,
        .n_last = (double)n.last,
        .type = thesis->machine.type_bytes,
        .accumulator = thesis->machine.accumulator_bytes,
        .out = thesis->machine.out_bytes,
        .per_block = 1 / (block * block * block_k),
        .a_resident = keeps_a(v[THESIS_RESIDENT]),
        .b_resident = keeps_b(v[THESIS_RESIDENT]),
    };
    work->cores = slab->cores_used;
    work->layout = layout_number(v[THESIS_BUFFERS], v[THESIS_RESIDENT], m.count > 1);
    put_totals(&c, work);
    put_ends(&c, work);
    put_after_loads(&c, work);
}

/* One tile of everything, all of it resident, without the instructions at the ends, and in the
 * layout that has no chains but those of all: no tiling on so many cores does less. */
void thesis_least(const struct space *space, const struct space_block *block, struct work *work)
{
    const struct tiling any = {{[THESIS_SPLIT] = block->values[THESIS_SPLIT][0],
                                [THESIS_CORES] = block->values[THESIS_CORES][0]}};
    const struct matmul_slab *slab = thesis_slab(space, &any);
    struct tiling least = any;
    least.value[THESIS_M] = slab->m;
    least.value[THESIS_K] = slab->k;
    least.value[THESIS_N] = slab->n;
    least.value[THESIS_BUFFERS] = 2;
    least.value[THESIS_RESIDENT] = RESIDENT_BOTH;
    thesis_summarise(space, &least, work);
    for (int line = TOTALS; line < LINES; line++)
        put(work, (enum line)line, 0, 0);
    work->layout = layout_number(2, RESIDENT_NONE, false);
}

/* Compulsory traffic: A and B in and C out, once; on one bus they share it. */
double matmul_thesis_roofline_ns(const struct matmul_machine *m, const struct matmul_slab *whole,
                                 int cores)
{
    const struct price *prices = m->hw->prices, *matrix = &prices[m->matrix_price];
    const struct price *load = &prices[m->load_price], *store = &prices[m->store_price];
    double block = m->block, rows = (double)whole->m, k = (double)whole->k;
    double n = (double)whole->n, batch = (double)whole->batch;
    double load_fs = price_least_fs(m->hw, load, cores, (rows * k + k * n) * batch * m->type_bytes);
    double store_fs = price_least_fs(m->hw, store, cores, rows * n * batch * m->out_bytes);
    double memory_fs =
        load->bus >= 0 && load->bus == store->bus ? load_fs + store_fs : fmax(load_fs, store_fs);
    double compute_fs = rows * k * n * batch / (block * block * m->block_k) / cores *
                        (double)matrix->rate.fs / (double)matrix->rate.units;
    return fmax(compute_fs, memory_fs) / 1e6;
}

double thesis_roofline_ns(const struct space *space)
{
    const struct thesis *thesis = thesis_of(space);
    return matmul_thesis_roofline_ns(&thesis->machine, &thesis->whole, thesis->cores);
}
