/* Says which level of the caches an operand's bytes come from. A cache holds what is used again if
 * everything touched in between fits it beside (reuse distances: Mattson et al. 1970). For each
 * operand and each loop that comes back to it that is summed up, compared with each level's
 * capacity with a gradual edge (lost()), and the bytes are divided among the levels. Beside bytes
 * it counts what prefetchers do not foresee: jumps to far pieces of data, and walks through tables
 * of pages. */
#include "kernels/matmul/host/matmul_host_reuse.h"

#include <math.h>

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
static double lost(double fill)
{
    if (fill <= fill_begin)
        return 0;
    return fill >= fill_end ? 1 : (fill - fill_begin) / (fill_end - fill_begin);
}

void walk_add(const struct walk *w, double to[HOST_MAX_LEVELS], double bytes, double own,
              double share, double others)
{
    double left = 1;
    int last = w->host->level_count - 1;
    for (int l = 0; l <= last && left > 0; l++) {
        const struct host_level *level = &w->host->levels[l];
        int together = w->sharers < level->threads ? w->sharers : level->threads;
        double fill = (own / share + others) * together / (double)level->capacity_bytes;
        double next = l == last ? 0 : least(lost(fill), left);
        to[l] += bytes * (left - next);
        left = next;
    }
}

double walk_page_places(double distance)
{
    int64_t apart = (int64_t)distance, step = PAGE;
    while (step > LINE && apart % step)
        step /= 2;
    int64_t places = PAGE / step;
    return (double)places;
}

double walk_sets_share(double piece, double distance)
{
    double lines = piece / LINE < 1 ? 1 : piece / LINE;
    return least(1, walk_page_places(distance) * lines * LINE / PAGE);
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
            phase->jumps[l] += from[l] / rows / (l == 1 ? LINE : least(piece, PAGE));
        else if (l > 1 && far)
            phase->jumps[l] += from[l] / piece * pairs / IN_FLIGHT;
}

/* The pages that are entered, each as dear as there are pages to remember. */
static void count_walks(struct host_phase *phase, double bytes, double piece, double distance,
                        double at_once, double pages)
{
    bool far = is_far(piece, distance);
    double level = pages > recent_pages ? log2(pages / recent_pages) : 0;
    double page = far ? least(piece * (distance < PAGE ? PAGE / distance : 1), PAGE) : PAGE;
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
            bytes / operand->piece * lost((own.pages + others.pages) / near_pages) / WALKERS;
}

void walk_read_source(const struct walk *w, struct host_phase *phase, const struct operand *operand,
                      double reads, struct touch again)
{
    const struct touch none = {0};
    struct operand source = *operand;
    source.packed = false;
    if (operand->packed && operand->rows > 0)
        source.rows = least(operand->rows, 4);
    read_operand(w, phase, &source, operand->whole, w->all, 1, none);
    if (reads > 1)
        read_operand(w, phase, &source, operand->whole * (reads - 1), again, 1, none);
}

struct touch touch_kept(const struct operand *operand, struct touch part)
{
    struct touch packed = {2 * part.bytes, part.pages};
    return operand->packed ? packed : part;
}

struct touch walk_between_strips(const struct walk *w)
{
    return touch_both(w->inner.all,
                      touch_times(1 / w->outer.tiles, touch_both(w->outer.all, w->c)));
}

struct touch walk_beside_tiles(const struct walk *w)
{
    return touch_both(touch_kept(&w->inner, w->inner.tile), w->c_tile);
}

void walk_outer(const struct walk *w, struct host_phase *phase)
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

void walk_inner(const struct walk *w, struct host_phase *phase)
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

void walk_thrash(struct host_phase *phase, const struct operand *a, double uses)
{
    if (!a->packed)
        phase->read_bytes[1] += a->whole * uses * LINE / FLOAT * a->thrashing;
}

void walk_c(const struct walk *w, struct host_phase *phase, bool stream)
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
