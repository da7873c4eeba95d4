/* What a tiling of an FP32 product asks of the processor: micro-kernels by their panels' sizes,
 * packing, and from which level every operand comes (matmul_host_reuse.h). Counts are exact:
 * kernels/matmul/host/sgemm.c walks the same loops. */
#include "kernels/matmul/host/matmul_host_reuse.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------ loops */

static int loop_called(const struct host *host, const char *path, int rows, int vectors)
{
    char name[HOST_NAME_SIZE];
    (void)snprintf(name, sizeof name, "sgemm %s%dx%d", path, rows, vectors);
    return host_loop(host, name);
}

/* Loops of kernels that were not timed: the smallest timed one that holds as much. */
static void fill_up(int loops[HOST_MOST_VECTORS][HOST_MOST_ROWS])
{
    for (int v = HOST_MOST_VECTORS - 1; v >= 0; v--)
        for (int r = HOST_MOST_ROWS - 1; r >= 0; r--) {
            if (loops[v][r] < 0 && r + 1 < HOST_MOST_ROWS)
                loops[v][r] = loops[v][r + 1];
            if (loops[v][r] < 0 && v + 1 < HOST_MOST_VECTORS)
                loops[v][r] = loops[v + 1][r];
        }
}

void matmul_host_find_loops(const struct host *host, struct matmul_host_loops *loops)
{
    for (int v = 0; v < HOST_MOST_VECTORS; v++)
        for (int r = 0; r < HOST_MOST_ROWS; r++) {
            loops->tile[v][r] = loop_called(host, "", r + 1, v + 1);
            loops->dot[v][r] = loop_called(host, "dot ", r + 1, v + 1);
        }
    fill_up(loops->tile);
    fill_up(loops->dot);
    loops->pack_a = host_loop(host, "pack a");
    loops->pack_b = host_loop(host, "pack b");
    loops->pack_dot = host_loop(host, "pack b for dot");
}

/* ------------------------------------------------------------------ panels */

/* How often panels of each size occur along m or n: a tile has two sizes, and so has the last. */
struct panels {
    int count;
    int64_t size[4];
    double times[4];
    double all, units; /* panels; rows or vectors */
};

static void count_panels(struct panels *panels, int64_t size, double times)
{
    if (times <= 0)
        return;
    panels->all += times;
    panels->units += times * (double)size;
    for (int i = 0; i < panels->count; i++)
        if (panels->size[i] == size) {
            panels->times[i] += times;
            return;
        }
    panels->size[panels->count] = size;
    panels->times[panels->count++] = times;
}

static void count_tile(struct panels *panels, int64_t size, int64_t most, double tiles)
{
    struct host_pieces pieces = host_pieces(size, most);
    count_panels(panels, pieces.least + 1, tiles * (double)pieces.larger);
    count_panels(panels, pieces.least, tiles * (double)(pieces.count - pieces.larger));
}

static int64_t up(int64_t size, int64_t unit)
{
    return size / unit + (size % unit > 0);
}

/* Panels of at most `most` units in tiles of a length, both in elements. */
static void find_panels(struct panels *panels, int64_t length, int64_t tile, int64_t unit,
                        int64_t most)
{
    *panels = (struct panels){0};
    int64_t whole_tiles = length / tile;
    count_tile(panels, up(tile, unit), most, (double)whole_tiles);
    count_tile(panels, up(length % tile, unit), most, 1);
}

/* ------------------------------------------------------------------ phases */

static struct host_phase *next_phase(struct host_work *work, int loop)
{
    struct host_phase *phase = &work->phases[work->phase_count++];
    *phase = (struct host_phase){.loop = loop};
    return phase;
}

/* Rows of a panel of A are turned four at a time, the last four overlapping those before; fewer
 * than four one number at a time, which takes about four times as long. */
static double turned_rows(const struct panels *m)
{
    double rows = 0;
    for (int i = 0; i < m->count; i++) {
        int64_t size = m->size[i];
        rows += m->times[i] * (double)(size < 4 ? 4 * size : 4 * up(size, 4));
    }
    return rows;
}

/* `rows`: what is copied, of a unit as long as k. */
static void pack(const struct walk *w, struct host_work *work, const struct operand *operand,
                 int loop, double rows, double k, double reads, struct touch again)
{
    if (!operand->packed)
        return;
    struct host_phase *phase = next_phase(work, loop);
    phase->copying = true;
    phase->calls = operand->panels * reads * w->k_tiles;
    phase->steps = rows * k * reads * FLOAT / LINE;
    walk_read_source(w, phase, operand, reads, again);
    walk_add(w, phase->write_bytes, operand->whole * reads, w->outer.tile.bytes, 1,
             walk_beside_tiles(w).bytes);
    if (operand->rows > 4) /* every four rows fill a part of all lines of the panel */
        walk_add(w, phase->write_bytes,
                 operand->whole * reads * (least(ceil(operand->rows / 4), 4) - 1),
                 operand->panel.bytes, 1, operand->panel.bytes * 4 / operand->rows);
}

/* One phase for every size of panels, one stretch together; returns the first. */
static struct host_phase *multiply(struct host_work *work,
                                   const int loops[HOST_MOST_VECTORS][HOST_MOST_ROWS],
                                   const struct panels *m, const struct panels *n, double k,
                                   double k_tiles)
{
    struct host_phase *first = &work->phases[work->phase_count];
    for (int i = 0; i < m->count; i++)
        for (int j = 0; j < n->count; j++) {
            struct host_phase *phase = next_phase(work, loops[n->size[j] - 1][m->size[i] - 1]);
            double panels = m->times[i] * n->times[j];
            phase->joined = phase != first;
            phase->calls = panels * k_tiles;
            phase->steps = panels * k;
        }
    return first;
}

/* ------------------------------------------------------------------ the blocked path */

/* The share of a row's vectors that lie in two lines, over rows so many bytes apart; the first one
 * is aligned. */
static double split_share(int64_t distance, int64_t vector)
{
    int64_t step = LINE, split = 0;
    while (distance % step)
        step /= 2;
    for (int64_t at = 0; at < LINE; at += step)
        split += at + vector > LINE;
    return (double)(split * step) / LINE;
}

struct sizes {
    int64_t m, k, n;                /* of the busiest thread's part */
    int64_t m_tile, k_tile, n_tile; /* not larger */
    int64_t n_whole;                /* of B's and C's rows */
};

static int64_t cut(int64_t tile, int64_t size)
{
    return tile < size ? tile : size;
}

static void find_sizes(const struct matmul_host *host, const struct tiling *tiling, struct sizes *s)
{
    const struct matmul_host_kernel *kernel = matmul_host_kernel(tiling);
    int64_t split = tiling->value[HOST_SPLIT];
    int64_t unit = matmul_host_unit(kernel, host->host->isa, split);
    *s = (struct sizes){.m = host->m, .k = host->k, .n = host->n, .n_whole = host->n};
    if (split == HOST_SPLIT_M)
        s->m = host_share(host->m, unit, host->threads, 0).length;
    else
        s->n = host_share(host->n, unit, host->threads, 0).length;
    s->m_tile = cut(tiling->value[HOST_M_TILE], s->m);
    s->k_tile = cut(tiling->value[HOST_K_TILE], s->k);
    int64_t lanes = host_lanes(host->host->isa), n_tile = cut(tiling->value[HOST_N_TILE], host->n);
    s->n_tile = cut(up(n_tile, lanes) * lanes, s->n); /* whole vectors, as it is run */
}

/* A (rows of k) or B (k rows): what does not depend on how it lies. */
static struct operand operand_of(const struct sizes *s, int64_t length, int64_t tile, double panels,
                                 bool packed)
{
    return (struct operand){
        .whole = (double)length * (double)s->k * FLOAT,
        .tiles = (double)up(length, tile),
        .panels = panels,
        .packed = packed,
        .panel_share = 1,
        .tile_share = 1,
    };
}

static void lay_a(const struct sizes *s, const struct host *host, double panels, bool packed,
                  struct operand *a)
{
    double k = (double)s->k * FLOAT, piece = (double)s->k_tile * FLOAT,
           rows = (double)s->m / panels;
    *a = operand_of(s, s->m, s->m_tile, panels, packed);
    a->rows = rows;
    a->piece = piece;
    a->distance = k;
    a->all = touch_of((double)s->m, k, k);
    a->strip = touch_of((double)s->m, piece, k);
    a->tile = touch_of((double)s->m_tile, piece, k);
    a->panel = touch_of(rows, piece, k);
    a->panel_share = a->tile_share = walk_sets_share(piece, k);
    double ways = (double)host->levels[0].capacity_bytes / PAGE,
           wanted = rows / walk_page_places(k);
    a->thrashing = wanted > ways ? (1 - ways / wanted) / 2 : 0;
}

static void lay_b(const struct sizes *s, double panels, bool packed, struct operand *b)
{
    double n = (double)s->n_whole * FLOAT, piece = (double)s->n / panels * FLOAT;
    double tile = (double)s->n_tile * FLOAT, part = (double)s->n * FLOAT;
    *b = operand_of(s, s->n, s->n_tile, panels, packed);
    b->piece = piece;
    b->distance = n;
    b->all = touch_of((double)s->k, part, n);
    b->strip = touch_of((double)s->k_tile, part, n);
    b->tile = touch_of((double)s->k_tile, tile, n);
    b->panel = touch_of((double)s->k_tile, piece, n);
    b->panel_share = walk_sets_share(piece, n);
    b->tile_share = walk_sets_share(tile, n);
}

/* C's part that an outer panel, and an outer tile, has to do with. */
static void lay_c(const struct sizes *s, bool m_outer, struct walk *w)
{
    double n = (double)s->n_whole * FLOAT, part = (double)s->n * FLOAT;
    double tile = (double)s->n_tile * FLOAT, panels = w->outer.panels;
    w->c_bytes = (double)s->m * part;
    w->c_distance = n;
    w->c_piece = m_outer ? tile : part / panels;
    w->c = touch_of((double)s->m, part, n);
    w->c_tile = touch_of((double)s->m_tile, tile, n);
    w->c_panel = m_outer ? touch_of((double)s->m / panels, tile, n)
                         : touch_of((double)s->m_tile, w->c_piece, n);
    w->c_strip = m_outer ? touch_of((double)s->m_tile, part, n) : touch_of((double)s->m, tile, n);
}

static void find_walk(const struct matmul_host *host, const struct tiling *tiling,
                      const struct sizes *s, const struct panels *m, const struct panels *n,
                      struct walk *w)
{
    struct operand a, b;
    bool m_outer = tiling->value[HOST_ORDER] == HOST_ORDER_M;
    lay_a(s, host->host, m->all, tiling->value[HOST_PACK_A] == HOST_PACK_YES, &a);
    lay_b(s, n->all, tiling->value[HOST_PACK_B] == HOST_PACK_YES, &b);
    *w = (struct walk){.host = host->host,
                       .sharers = host->threads,
                       .outer = m_outer ? a : b,
                       .inner = m_outer ? b : a,
                       .k_tiles = (double)up(s->k, s->k_tile)};
    lay_c(s, m_outer, w);
    w->all = touch_both(touch_both(a.all, b.all), w->c);
    w->all.bytes += (a.packed ? a.tile.bytes : 0) + (b.packed ? b.tile.bytes : 0);
}

static void ask_blocked(const struct matmul_host *host, const struct tiling *tiling,
                        struct host_work *work)
{
    const struct matmul_host_kernel *kernel = matmul_host_kernel(tiling);
    struct sizes s;
    struct panels m, n;
    struct walk w;
    find_sizes(host, tiling, &s);
    find_panels(&m, s.m, s.m_tile, 1, kernel->rows);
    int64_t lanes = host_lanes(host->host->isa);
    find_panels(&n, s.n, s.n_tile, lanes, kernel->vectors);
    find_walk(host, tiling, &s, &m, &n, &w);
    bool m_outer = tiling->value[HOST_ORDER] == HOST_ORDER_M;
    int pack_outer = m_outer ? host->loops.pack_a : host->loops.pack_b;
    int pack_inner = m_outer ? host->loops.pack_b : host->loops.pack_a;
    double rows_a = turned_rows(&m), rows_b = (double)s.n;
    const struct touch none = {0};
    pack(&w, work, &w.outer, pack_outer, m_outer ? rows_a : rows_b, (double)s.k, 1, none);
    pack(&w, work, &w.inner, pack_inner, m_outer ? rows_b : rows_a, (double)s.k, w.outer.tiles,
         walk_between_strips(&w));
    struct host_phase *phase = multiply(work, host->loops.tile, &m, &n, (double)s.k, w.k_tiles);
    walk_outer(&w, phase);
    walk_inner(&w, phase);
    walk_thrash(phase, m_outer ? &w.outer : &w.inner, n.all);
    if (tiling->value[HOST_PACK_B] != HOST_PACK_YES)
        phase->splits =
            split_share(s.n_whole * (int64_t)sizeof(float), lanes * (int64_t)sizeof(float)) *
            m.all * n.units * (double)s.k;
    walk_c(&w, phase, tiling->value[HOST_STORE] == HOST_STORE_STREAM);
}

/* ------------------------------------------------------------------ the dot path */

/* B as it lies is one column, or it is packed column by column. */
static void lay_columns(const struct sizes *s, double panels, struct operand *b)
{
    double n = (double)s->n_whole * FLOAT;
    *b = operand_of(s, s->n, s->n, panels, s->n > 1);
    b->piece = (double)s->n * FLOAT;
    b->distance = n;
    b->all = b->strip = b->tile = touch_of((double)s->k, b->piece, n);
    b->panel = touch_times(1 / panels, b->all);
}

/* Rows of A outside, columns of B inside, each along all of k. */
static void ask_dot(const struct matmul_host *host, const struct tiling *tiling,
                    struct host_work *work)
{
    const struct matmul_host_kernel *kernel = matmul_host_kernel(tiling);
    const struct touch none = {0};
    struct sizes s;
    struct panels m, n;
    struct walk w = {.host = host->host, .sharers = host->threads, .k_tiles = 1};
    find_sizes(host, tiling, &s);
    s.m_tile = s.m, s.k_tile = s.k, s.n_tile = s.n;
    find_panels(&m, s.m, s.m, 1, kernel->rows);
    find_panels(&n, s.n, s.n, 1, kernel->vectors);
    lay_a(&s, host->host, m.all, false, &w.outer);
    w.outer.rows = 0; /* whole lines at once, which the prefetchers follow */
    w.outer.thrashing = 0;
    lay_columns(&s, n.all, &w.inner);
    lay_c(&s, true, &w);
    w.all = touch_both(touch_both(w.outer.all, touch_kept(&w.inner, w.inner.all)), w.c);
    w.inner.panels = 1; /* packed in one go */
    pack(&w, work, &w.inner, host->loops.pack_dot, (double)s.n, (double)s.k, 1, none);
    w.inner.panels = n.all;
    struct host_phase *phase =
        multiply(work, host->loops.dot, &m, &n, (double)up(s.k, host_lanes(host->host->isa)), 1);
    walk_outer(&w, phase);
    walk_inner(&w, phase);
    walk_c(&w, phase, false);
}

void matmul_host_ask(const struct space *space, const struct tiling *tiling, struct host_work *work)
{
    const struct matmul_host *host = matmul_host_of(space);
    work->threads = space->kind->cores_used(space, tiling, 0);
    work->parallel_regions = work->threads > 1;
    work->phase_count = 0;
    if (matmul_host_kernel(tiling)->path == HOST_PATH_DOT)
        ask_dot(host, tiling, work);
    else
        ask_blocked(host, tiling, work);
}
