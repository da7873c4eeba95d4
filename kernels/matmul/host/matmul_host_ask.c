/* What a tiling of an FP32 product asks of the processor: micro-kernels by their panels' sizes,
 * packing, and from which level of the caches every operand comes; and a time that no tiling beats.
 * Counts are exact: kernels/matmul/host/sgemm.c walks the same loops.
 *
 * A cache holds what is used again if everything touched in between fits it beside (reuse
 * distances: Mattson et al. 1970). For each operand and each loop that comes back to it that is
 * summed up, compared with each level's capacity with a gradual edge (lost_share()), and the bytes
 * are divided among the levels. Beside bytes it counts what prefetchers do not foresee: jumps to
 * far pieces of data, and walks through tables of pages.
 *
 * The loops are the same for both orders with A's and B's parts exchanged, so they are called after
 * their place: the outer operand's panel is kept while all panels of the inner one's tile pass by.
 *
 *     for outer tile, for k tile, for inner tile, for outer panel, for inner panel: micro-kernel */
#include "kernels/matmul/host/matmul_host.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FLOAT ((double)sizeof(float))

enum { PAGE = 4096, LINE = 64 };

/* What is touched: bytes, and pages whose places have to be known. Packed operands are one piece in
 * large pages. */
struct touch {
    double bytes, pages;
};

static struct touch touch_both(struct touch a, struct touch b)
{
    return (struct touch){a.bytes + b.bytes, a.pages + b.pages};
}

static struct touch touch_times(double factor, struct touch a)
{
    return (struct touch){factor * a.bytes, factor * a.pages};
}

static double less_of(double a, double b)
{
    return a < b ? a : b;
}

/* Pieces of a row-major matrix, so many bytes from one to the next. */
static struct touch touch_of(double pieces, double piece, double distance)
{
    double pages = pieces * (piece < PAGE ? 1 : piece / PAGE);
    return (struct touch){pieces * piece, less_of(pages, pieces * distance / PAGE)};
}

/* A, B or C as its place in the loops has it. */
struct operand {
    double whole;             /* bytes of the thread's part */
    double tiles, panels;     /* along m or n; panels in all tiles */
    struct touch all, strip;  /* the thread's part; of all tiles, with one tile of k */
    struct touch tile, panel; /* on average */
    double piece, distance;   /* what lies in one piece of a panel, and from one to the next */
    double panel_share, tile_share; /* of a cache's sets that the pieces of a panel, and of a tile,
                                       can lie in */
    double thrashing;               /* share of A's numbers that the L1 loses between two steps */
    bool packed;
    double rows; /* of A: that are read side by side; B: 0 */
};

/* One thread's loops. */
struct walk {
    const struct host *host;
    int sharers;
    struct operand outer, inner;
    double k_tiles;
    double c_bytes, c_piece, c_distance;
    struct touch c, c_tile, c_panel, c_strip; /* C: the thread's; of a tile; of the outer panel in a
                                                 tile; of the outer tile in all inner ones */
    struct touch all;                         /* all that the thread touches */
};

/* A cache begins to miss before its capacity is used, since addresses do not spread evenly over its
 * sets and other things need room; and some of what is too large hits: of measured read rates by
 * footprint the misses grow about evenly between these shares of a cache. */
static const double fill_begin = 0.65, fill_end = 1.6;

/* The hardware's prefetchers stay within a page: they do not foresee a piece of data that is
 * further from the last one than half a page. A core has 10 to 16 lines in flight, and looks up up
 * to four pages at once. */
enum { JUMP_DISTANCE = PAGE / 2, IN_FLIGHT = 16, WALKERS = 4 };

/* Pages whose places a processor remembers in its second level are 1,024 to 2,048; each time that
 * there are twice as many, more of the tables that have to be read are far away themselves. */
static const double recent_pages = 1024;

/* In its first level it remembers 64 (older ones) to 96. */
static const double near_pages = 80;

/* The share of accesses that are lost when so much of what holds them is asked for. */
static double lost_share(double fill)
{
    if (fill <= fill_begin)
        return 0;
    return fill >= fill_end ? 1 : (fill - fill_begin) / (fill_end - fill_begin);
}

/* Adds bytes that are used again after themselves (in a share of a cache's sets) and so many others
 * were touched. */
static void walk_add(const struct walk *w, double to[HOST_MAX_LEVELS], double bytes, double own,
                     double share, double others)
{
    double left = 1;
    int last = w->host->level_count - 1;
    for (int l = 0; l <= last && left > 0; l++) {
        const struct host_level *level = &w->host->levels[l];
        int together = w->sharers < level->threads ? w->sharers : level->threads;
        double fill = (own / share + others) * together / (double)level->capacity_bytes;
        double next = l == last ? 0 : less_of(lost_share(fill), left);
        to[l] += bytes * (left - next);
        left = next;
    }
}

/* Pieces so many bytes apart use the sets at these places of a page only: all for any odd number of
 * lines, one for a whole page. Which pages, physical memory decides. */
static double walk_page_places(double distance)
{
    int64_t apart = (int64_t)distance, step = PAGE;
    while (step > LINE && apart % step)
        step /= 2;
    int64_t places = PAGE / step;
    return (double)places;
}

static double walk_sets_share(double piece, double distance)
{
    double lines = piece / LINE < 1 ? 1 : piece / LINE;
    return less_of(1, walk_page_places(distance) * lines * LINE / PAGE);
}

/* Prefetching does not follow. */
static bool is_far(double piece, double distance)
{
    return distance >= JUMP_DISTANCE && piece < distance;
}

/* Pieces of B and C are asked for one after the other without waiting: so many at once. Rows of A
 * are read side by side, line by line: all wait for the next lines together, which the L1's
 * prefetcher does not bring since there are too many rows; and at the beginning of pieces (or
 * pages), until the L2's prefetcher has begun. */
static void count_jumps(const struct walk *w, struct host_phase *phase, double piece,
                        double distance, double rows, const double from[HOST_MAX_LEVELS])
{
    bool far = is_far(piece, distance);
    double pairs = (1 + piece / LINE) / 2; /* of lines, which come together */
    for (int l = 1; l < w->host->level_count; l++)
        if (rows > 0)
            phase->jumps[l] += from[l] / rows / (l == 1 ? LINE : less_of(piece, PAGE));
        else if (l > 1 && far)
            phase->jumps[l] += from[l] / piece * pairs / IN_FLIGHT;
}

/* The pages that are entered, each as dear as there are pages to remember. */
static void count_walks(struct host_phase *phase, double bytes, double piece, double distance,
                        double at_once, double pages)
{
    bool far = is_far(piece, distance);
    double level = pages > recent_pages ? log2(pages / recent_pages) : 0;
    double page = far ? less_of(piece * (distance < PAGE ? PAGE / distance : 1), PAGE) : PAGE;
    phase->walks += bytes / page * level / at_once;
}

/* Reads of an operand as it lies in memory or packed; between two of the same it and others are
 * touched. B's pieces on pages that only the second level remembers wait a little each. */
static void read_operand(const struct walk *w, struct host_phase *phase,
                         const struct operand *operand, double bytes, struct touch own,
                         double share, struct touch others)
{
    double from[HOST_MAX_LEVELS] = {0};
    walk_add(w, from, bytes, own.bytes, operand->packed ? 1 : share, others.bytes);
    for (int l = 0; l < w->host->level_count; l++)
        phase->read_bytes[l] += from[l];
    if (operand->packed)
        return;
    count_jumps(w, phase, operand->piece, operand->distance, operand->rows, from);
    count_walks(phase, bytes, operand->piece, operand->distance, operand->rows > 0 ? 1 : WALKERS,
                own.pages + others.pages);
    if (operand->rows <= 0 && is_far(operand->piece, operand->distance))
        phase->jumps[1] +=
            bytes / operand->piece * lost_share((own.pages + others.pages) / near_pages) / WALKERS;
}

/* After how much else a tile of the operand is read from where it lies again; the first time it is
 * as in the run before. */
static void walk_read_source(const struct walk *w, struct host_phase *phase,
                             const struct operand *operand, double reads, struct touch again)
{
    const struct touch none = {0};
    struct operand source = *operand;
    source.packed = false;
    if (operand->packed && operand->rows > 0)
        source.rows = less_of(operand->rows, 4);
    read_operand(w, phase, &source, operand->whole, w->all, 1, none);
    if (reads > 1)
        read_operand(w, phase, &source, operand->whole * (reads - 1), again, 1, none);
}

/* An operand's tile as it is kept: packed, beside what it was packed from. */
static struct touch touch_kept(const struct operand *operand, struct touch part)
{
    struct touch packed = {2 * part.bytes, part.pages};
    return operand->packed ? packed : part;
}

/* What lies between two strips of an operand. */
static struct touch walk_between_strips(const struct walk *w)
{
    return touch_both(w->inner.all,
                      touch_times(1 / w->outer.tiles, touch_both(w->outer.all, w->c)));
}

/* … and beside a tile that is kept. */
static struct touch walk_beside_tiles(const struct walk *w)
{
    return touch_both(touch_kept(&w->inner, w->inner.tile), w->c_tile);
}

static void walk_outer(const struct walk *w, struct host_phase *phase)
{
    const struct operand *outer = &w->outer, *inner = &w->inner;
    const struct touch none = {0};
    double again = outer->whole * (inner->tiles - 1), kept_panels = inner->panels - inner->tiles;
    struct touch c = touch_times(inner->tiles / inner->panels, w->c_panel);
    if (outer->packed)
        read_operand(w, phase, outer, outer->whole, touch_times(2, outer->tile), 1, none);
    else
        walk_read_source(w, phase, outer, 1, none);
    read_operand(w, phase, outer, again, outer->tile, outer->tile_share, walk_beside_tiles(w));
    read_operand(w, phase, outer, outer->whole * kept_panels, outer->panel, outer->panel_share,
                 touch_both(inner->panel, c));
}

static void walk_inner(const struct walk *w, struct host_phase *phase)
{
    const struct operand *outer = &w->outer, *inner = &w->inner;
    const struct touch none = {0};
    if (inner->packed)
        read_operand(w, phase, inner, inner->whole * outer->tiles, touch_times(2, inner->tile), 1,
                     none);
    else
        walk_read_source(w, phase, inner, outer->tiles, walk_between_strips(w));
    read_operand(w, phase, inner, inner->whole * (outer->panels - outer->tiles), inner->tile,
                 inner->tile_share, touch_both(touch_times(2, outer->panel), w->c_panel));
}

/* Rows of A whose lines need the same sets of the L1 lose them from one k to the next. */
static void walk_thrash(struct host_phase *phase, const struct operand *a, double uses)
{
    if (!a->packed)
        phase->read_bytes[1] += a->whole * uses * LINE / FLOAT * a->thrashing;
}

/* C comes and goes once a tile of k; what is written past the caches does not come. Its panel's
 * pages are needed again for the next panel. */
static void walk_c(const struct walk *w, struct host_phase *phase, bool stream)
{
    double from[HOST_MAX_LEVELS] = {0};
    struct touch panel =
        touch_both(touch_both(w->inner.tile, touch_times(2, w->outer.panel)), w->c_panel);
    count_walks(phase, w->c_bytes * w->k_tiles, w->c_piece, w->c_distance, WALKERS, panel.pages);
    if (stream) {
        phase->stream_bytes = w->c_bytes;
        return;
    }
    walk_add(w, from, w->c_bytes, w->all.bytes, 1, 0);
    walk_add(w, from, w->c_bytes * (w->k_tiles - 1), w->c_strip.bytes, 1,
             touch_kept(&w->inner, w->inner.strip).bytes + w->outer.tile.bytes);
    for (int l = 0; l < w->host->level_count; l++)
        phase->write_bytes[l] += from[l];
    count_jumps(w, phase, w->c_piece, w->c_distance, 0, from);
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

static int64_t parts_of(int64_t size, int64_t unit)
{
    return size / unit + (size % unit > 0);
}

/* Panels of at most `most` units in tiles of a length, both in elements. */
static void find_panels(struct panels *panels, int64_t length, int64_t tile, int64_t unit,
                        int64_t most)
{
    *panels = (struct panels){0};
    int64_t whole_tiles = length / tile;
    count_tile(panels, parts_of(tile, unit), most, (double)whole_tiles);
    count_tile(panels, parts_of(length % tile, unit), most, 1);
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
        rows += m->times[i] * (double)(size < 4 ? 4 * size : 4 * parts_of(size, 4));
    }
    return rows;
}

/* `rows`: what is copied, of a unit as long as k. */
static void ask_packing(const struct walk *w, struct host_work *work, const struct operand *operand,
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
                 operand->whole * reads * (less_of(ceil(operand->rows / 4), 4) - 1),
                 operand->panel.bytes, 1, operand->panel.bytes * 4 / operand->rows);
}

/* One phase for every size of panels, one stretch together; returns the first. */
static struct host_phase *ask_multiplying(struct host_work *work,
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

static int64_t cut_to(int64_t tile, int64_t size)
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
    s->m_tile = cut_to(tiling->value[HOST_M_TILE], s->m);
    s->k_tile = cut_to(tiling->value[HOST_K_TILE], s->k);
    int64_t lanes = host_lanes(host->host->isa),
            n_tile = cut_to(tiling->value[HOST_N_TILE], host->n);
    s->n_tile = cut_to(parts_of(n_tile, lanes) * lanes, s->n); /* whole vectors, as it is run */
}

/* A (rows of k) or B (k rows): what does not depend on how it lies. */
static struct operand operand_of(const struct sizes *s, int64_t length, int64_t tile, double panels,
                                 bool packed)
{
    return (struct operand){
        .whole = (double)length * (double)s->k * FLOAT,
        .tiles = (double)parts_of(length, tile),
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
                       .k_tiles = (double)parts_of(s->k, s->k_tile)};
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
    ask_packing(&w, work, &w.outer, pack_outer, m_outer ? rows_a : rows_b, (double)s.k, 1, none);
    ask_packing(&w, work, &w.inner, pack_inner, m_outer ? rows_b : rows_a, (double)s.k,
                w.outer.tiles, walk_between_strips(&w));
    struct host_phase *phase =
        ask_multiplying(work, host->loops.tile, &m, &n, (double)s.k, w.k_tiles);
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
    ask_packing(&w, work, &w.inner, host->loops.pack_dot, (double)s.n, (double)s.k, 1, none);
    w.inner.panels = n.all;
    struct host_phase *phase = ask_multiplying(
        work, host->loops.dot, &m, &n, (double)parts_of(s.k, host_lanes(host->host->isa)), 1);
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

/* ---- no tiling is faster --------------------------------------------------------------------- */

static double rate_of(const struct matmul_host *host, int loop, int rows, int vectors, int lanes)
{
    double step_ns = loop >= 0 ? host->host->loops[loop].step_ns : INFINITY;
    return step_ns > 0 ? (double)(rows * vectors * lanes) / step_ns : INFINITY;
}

/* Products a ns of the fastest loop, those of panels at the edges included. */
static double peak(const struct matmul_host *host)
{
    double most = 0;
    int lanes = host_lanes(host->host->isa);
    for (int v = 0; v < HOST_MOST_VECTORS; v++)
        for (int r = 0; r < HOST_MOST_ROWS; r++) {
            most = fmax(most, rate_of(host, host->loops.tile[v][r], r + 1, v + 1, lanes));
            if (host->n <= HOST_DOT_MOST_COLUMNS)
                most = fmax(most, rate_of(host, host->loops.dot[v][r], r + 1, v + 1, lanes));
        }
    return most;
}

/* Bytes that are read or written at least once, with so many others before they are again: with
 * more of them, more would come from further out. */
static double least_move_ns(const struct walk *w, double bytes, double all,
                            const double ns[HOST_MAX_LEVELS])
{
    double from[HOST_MAX_LEVELS] = {0}, sum = 0;
    walk_add(w, from, bytes, all, 1, 0);
    for (int l = 1; l < w->host->level_count; l++)
        sum += from[l] * ns[l];
    return sum;
}

/* One of `threads` threads, which computes at least `rows` by `columns` of C. */
static double least_part_ns(const struct matmul_host *host, int threads, double rows,
                            double columns, double most)
{
    struct walk w = {.host = host->host, .sharers = host->threads};
    double reads_ns[HOST_MAX_LEVELS], writes_ns[HOST_MAX_LEVELS], k = (double)host->k;
    double operands = FLOAT * k * (rows + columns), c = FLOAT * rows * columns, all = operands + c;
    host_least_read_ns(host->host, threads, reads_ns);
    host_least_write_ns(host->host, threads, writes_ns);
    double moves =
        least_move_ns(&w, operands, all, reads_ns) +
        fmin(least_move_ns(&w, c, all, writes_ns), c / host_stream_rate(w.host, threads));
    return fmax(rows * k * columns / most, moves);
}

double matmul_host_roofline_ns(const struct space *space)
{
    const struct matmul_host *host = matmul_host_of(space);
    double m = (double)host->m, n = (double)host->n, most = peak(host), ns = INFINITY;
    for (int threads = 1; threads <= host->threads; threads++) {
        ns = fmin(ns, least_part_ns(host, threads, m / threads, n, most));
        ns = fmin(ns, least_part_ns(host, threads, m, n / threads, most));
    }
    return ns;
}
