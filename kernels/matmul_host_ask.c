/* What a tiling of an FP32 product asks of the processor: micro-kernels by their panels' sizes,
 * packing, and from which level every operand comes.
 *
 * Counts are exact: validate/host/sgemm.c walks the same loops. Levels follow from reuse distances:
 * what a thread touches between two uses of the same bytes, compared with the caches. The loops are
 * the same for both orders with A's and B's parts exchanged, so below they are called after their
 * place: the outer operand's panel is kept while all panels of the inner one's tile pass by.
 *
 *     for outer tile, for k tile, for inner tile, for outer panel, for inner panel: micro-kernel */
#include "kernels/matmul_host.h"

#include <stdio.h>
#include <string.h>

#define FLOAT ((double)sizeof(float))

/* A cache begins to miss before its capacity is used, since addresses do not spread evenly over its
 * sets and other things need room; and some of what is too large hits: of measured read rates by
 * footprint the misses grow about evenly between these shares of a cache. */
static const double fill_begin = 0.65, fill_end = 1.6;

/* The hardware's prefetchers stay within a page and need a few lines to start: they do not follow
 * pieces that are further apart than half a page, for their first kilobyte. */
enum { PAGE = 4096, JUMP_DISTANCE = PAGE / 2, JUMP_LEAD = 1024, LINE = 64 };

/* ------------------------------------------------------------------ loops */

static int loop_called(const struct host *host, const char *format, int rows, int vectors)
{
    char name[HOST_NAME_SIZE];
    (void)snprintf(name, sizeof name, format, rows, vectors);
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
            loops->tile[v][r] = loop_called(host, "sgemm %dx%d", r + 1, v + 1);
            loops->dot[v][r] = loop_called(host, "sgemm dot %dx%d", r + 1, v + 1);
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
    double all; /* panels */
};

static void count_panels(struct panels *panels, int64_t size, double times)
{
    if (times <= 0)
        return;
    panels->all += times;
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
    count_tile(panels, up(tile, unit), most, (double)(length / tile));
    count_tile(panels, up(length % tile, unit), most, 1);
}

/* ------------------------------------------------------------------ where data come from */

/* An operand as its place in the loops has it; bytes. */
struct operand {
    double whole;  /* the thread's part */
    double tiles;  /* along m or n */
    double tile;   /* of the tiles, with k's */
    double panel;  /* on average */
    double panels; /* along m or n, in all tiles */
    double strip;  /* of all tiles, with k's tile */
    bool packed;
    double piece, distance; /* what lies in one piece of a panel, and from one to the next */
    double share;           /* of a cache's sets that the pieces can lie in */
};

/* One thread's loops. */
struct walk {
    const struct host *host;
    int sharers;
    struct operand outer, inner;
    double k_tiles;
    double c, c_tile, c_panel, c_strip; /* C: the thread's; of a tile; of the outer panel in a
                                           tile; of the outer tile in all inner ones */
    double all;                         /* all that the thread touches */
};

/* The share of accesses with a reuse distance that a level does not serve. */
static double misses(const struct walk *w, int level, double distance, double share)
{
    const struct host_level *l = &w->host->levels[level];
    if (level == w->host->level_count - 1)
        return 0;
    int together = w->sharers < l->threads ? w->sharers : l->threads;
    double fill = distance * together / (share * (double)l->capacity_bytes);
    if (fill <= fill_begin)
        return 0;
    return fill >= fill_end ? 1 : (fill - fill_begin) / (fill_end - fill_begin);
}

/* Adds bytes that are used again after so many others were touched. */
static void add(const struct walk *w, double to[HOST_MAX_LEVELS], double bytes, double distance,
                double share)
{
    double left = 1;
    for (int l = 0; l < w->host->level_count && left > 0; l++) {
        double next = misses(w, l, distance, share);
        next = next < left ? next : left;
        to[l] += bytes * (left - next);
        left = next;
    }
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* Pieces so many bytes apart use the sets at these places of a page only: all for any odd number of
 * lines, one for a whole page. Which pages, physical memory decides. */
static double sets_share(double piece, double distance)
{
    int64_t apart = (int64_t)distance, step = PAGE;
    while (step > LINE && apart % step)
        step /= 2;
    double places = (double)(PAGE / step), lines = piece / LINE < 1 ? 1 : piece / LINE;
    return least(1, places * lines * LINE / PAGE);
}

/* The part of reads from pieces that prefetching misses. */
static double jump_share(const struct operand *operand)
{
    bool far = operand->distance >= JUMP_DISTANCE && operand->piece < operand->distance;
    return far ? least(1, JUMP_LEAD / operand->piece) : 0;
}

/* Reads of an operand as it lies in memory or packed. */
static void read_operand(const struct walk *w, struct host_phase *phase,
                         const struct operand *operand, double bytes, double distance)
{
    double from[HOST_MAX_LEVELS] = {0}, jumps = operand->packed ? 0 : jump_share(operand);
    add(w, from, bytes, distance, operand->packed ? 1 : operand->share);
    for (int l = 0; l < w->host->level_count; l++) {
        phase->read_bytes[l] += from[l];
        phase->jump_bytes[l] += from[l] * jumps;
    }
}

/* After how many other bytes a tile of the operand is read from where it lies again; the first time
 * it is as in the run before. */
static void read_source(const struct walk *w, struct host_phase *phase,
                        const struct operand *operand, double times, double again)
{
    struct operand source = *operand;
    source.packed = false;
    read_operand(w, phase, &source, operand->whole, w->all);
    read_operand(w, phase, &source, operand->whole * (times - 1), again);
}

static double distance_between_strips(const struct walk *w)
{
    return w->inner.whole + w->outer.whole / w->outer.tiles + w->c / w->outer.tiles;
}

static double distance_between_tiles(const struct walk *w)
{
    return w->outer.tile + w->inner.tile * (w->inner.packed ? 2 : 1) + w->c_tile;
}

static void move_outer(const struct walk *w, struct host_phase *phase)
{
    const struct operand *outer = &w->outer, *inner = &w->inner;
    double again = outer->whole * (inner->tiles - 1);
    if (outer->packed)
        read_operand(w, phase, outer, outer->whole, 2 * outer->tile);
    else
        read_source(w, phase, outer, 1, 0);
    read_operand(w, phase, outer, again, distance_between_tiles(w));
    read_operand(w, phase, outer, outer->whole * (inner->panels - inner->tiles),
                 outer->panel + inner->panel + w->c_panel / (inner->panels / inner->tiles));
}

static void move_inner(const struct walk *w, struct host_phase *phase)
{
    const struct operand *outer = &w->outer, *inner = &w->inner;
    if (inner->packed)
        read_operand(w, phase, inner, inner->whole * outer->tiles, 2 * inner->tile);
    else
        read_source(w, phase, inner, outer->tiles, distance_between_strips(w));
    read_operand(w, phase, inner, inner->whole * (outer->panels - outer->tiles),
                 inner->tile + 2 * outer->panel + w->c_panel);
}

/* C comes and goes once a tile of k; what is written past the caches does not come. */
static void move_c(const struct walk *w, struct host_phase *phase, bool stream)
{
    if (stream) {
        phase->stream_bytes = w->c;
        return;
    }
    add(w, phase->write_bytes, w->c, w->all, 1);
    add(w, phase->write_bytes, w->c * (w->k_tiles - 1),
        w->inner.strip * (w->inner.packed ? 2 : 1) + w->outer.tile + w->c_strip, 1);
}

/* ------------------------------------------------------------------ phases */

static struct host_phase *next_phase(struct host_work *work, int loop)
{
    struct host_phase *phase = &work->phases[work->phase_count++];
    *phase = (struct host_phase){.loop = loop};
    return phase;
}

static void pack(const struct walk *w, struct host_work *work, const struct operand *operand,
                 int loop, double times, double again)
{
    if (!operand->packed)
        return;
    struct host_phase *phase = next_phase(work, loop);
    phase->calls = operand->panels * times * w->k_tiles;
    phase->steps = operand->whole * times / LINE;
    read_source(w, phase, operand, times, again);
    add(w, phase->write_bytes, operand->whole * times, distance_between_tiles(w), 1);
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
    s->n_tile = cut(tiling->value[HOST_N_TILE], s->n);
}

static struct operand operand_of(const struct sizes *s, int64_t length, int64_t tile, double panels,
                                 bool packed)
{
    double k = (double)s->k, k_tile = (double)s->k_tile;
    return (struct operand){
        .whole = (double)length * k * FLOAT,
        .tiles = (double)up(length, tile),
        .tile = (double)tile * k_tile * FLOAT,
        .panel = (double)length / panels * k_tile * FLOAT,
        .panels = panels,
        .strip = (double)length * k_tile * FLOAT,
        .packed = packed,
    };
}

static void find_walk(const struct matmul_host *host, const struct tiling *tiling,
                      const struct sizes *s, const struct panels *m, const struct panels *n,
                      struct walk *w)
{
    struct operand a =
        operand_of(s, s->m, s->m_tile, m->all, tiling->value[HOST_PACK_A] == HOST_PACK_YES);
    struct operand b =
        operand_of(s, s->n, s->n_tile, n->all, tiling->value[HOST_PACK_B] == HOST_PACK_YES);
    a.piece = (double)s->k_tile * FLOAT;
    a.distance = (double)s->k * FLOAT;
    b.piece = (double)s->n / n->all * FLOAT;
    b.distance = (double)s->n_whole * FLOAT;
    a.share = sets_share(a.piece, a.distance);
    b.share = sets_share(b.piece, b.distance);
    bool m_outer = tiling->value[HOST_ORDER] == HOST_ORDER_M;
    *w = (struct walk){.host = host->host,
                       .sharers = host->threads,
                       .outer = m_outer ? a : b,
                       .inner = m_outer ? b : a,
                       .k_tiles = (double)up(s->k, s->k_tile)};
    w->c = (double)s->m * (double)s->n * FLOAT;
    w->c_tile = (double)s->m_tile * (double)s->n_tile * FLOAT;
    w->c_panel = w->c_tile / (w->outer.panels / w->outer.tiles);
    w->c_strip = w->c / w->outer.tiles;
    w->all = a.whole + b.whole + w->c + (a.packed ? a.tile : 0) + (b.packed ? b.tile : 0);
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
    find_panels(&n, s.n, s.n_tile, host_lanes(host->host->isa), kernel->vectors);
    find_walk(host, tiling, &s, &m, &n, &w);
    bool m_outer = tiling->value[HOST_ORDER] == HOST_ORDER_M;
    int pack_outer = m_outer ? host->loops.pack_a : host->loops.pack_b;
    int pack_inner = m_outer ? host->loops.pack_b : host->loops.pack_a;
    pack(&w, work, &w.outer, pack_outer, 1, 0);
    pack(&w, work, &w.inner, pack_inner, w.outer.tiles, distance_between_strips(&w));
    struct host_phase *phase = multiply(work, host->loops.tile, &m, &n, (double)s.k, w.k_tiles);
    move_outer(&w, phase);
    move_inner(&w, phase);
    move_c(&w, phase, tiling->value[HOST_STORE] == HOST_STORE_STREAM);
}

/* ------------------------------------------------------------------ the dot path */

/* Rows of A outside, columns of B inside, each along all of k. */
static void ask_dot(const struct matmul_host *host, const struct tiling *tiling,
                    struct host_work *work)
{
    const struct matmul_host_kernel *kernel = matmul_host_kernel(tiling);
    struct sizes s;
    struct panels m, n;
    find_sizes(host, tiling, &s);
    find_panels(&m, s.m, s.m, 1, kernel->rows);
    find_panels(&n, s.n, s.n, 1, kernel->vectors);
    s.m_tile = s.m, s.k_tile = s.k, s.n_tile = s.n;
    struct operand a = operand_of(&s, s.m, s.m, m.all, false);
    struct operand b = operand_of(&s, s.n, s.n, n.all, s.n > 1);
    a.share = b.share = 1;
    struct walk w = {.host = host->host,
                     .sharers = host->threads,
                     .outer = a,
                     .inner = b,
                     .k_tiles = 1,
                     .c = (double)s.m * (double)s.n * FLOAT};
    w.all = a.whole + b.whole * (b.packed ? 2 : 1) + w.c;
    b.piece = (double)s.n * FLOAT;
    b.distance = (double)s.n_whole * FLOAT;
    if (b.packed) {
        w.inner = b;
        w.inner.panels = 1;
        pack(&w, work, &w.inner, host->loops.pack_dot, 1, 0);
    }
    struct host_phase *phase =
        multiply(work, host->loops.dot, &m, &n, (double)up(s.k, host_lanes(host->host->isa)), 1);
    w.inner.panels = n.all;
    read_source(&w, phase, &a, 1, 0);
    read_operand(&w, phase, &a, a.whole * (n.all - 1), a.panel + b.panel);
    if (b.packed)
        read_operand(&w, phase, &b, b.whole, 2 * b.whole);
    else
        read_source(&w, phase, &b, 1, 0);
    read_operand(&w, phase, &b, b.whole * (m.all - 1), b.whole + 2 * a.panel);
    add(&w, phase->write_bytes, w.c, w.all, 1);
}

void matmul_host_ask(const struct space *space, const struct tiling *tiling, struct host_work *work)
{
    const struct matmul_host *host = matmul_host_of(space);
    work->threads = space->kind->cores_used(space, tiling);
    work->parallel_regions = work->threads > 1;
    work->phase_count = 0;
    if (matmul_host_kernel(tiling)->path == HOST_PATH_DOT)
        ask_dot(host, tiling, work);
    else
        ask_blocked(host, tiling, work);
}
