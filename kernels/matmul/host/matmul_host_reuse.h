/* From which level the operands of an FP32 product come: reuse distances, which is what a thread
 * touches between two uses of the same bytes, compared with the caches.
 *
 * The loops are the same for both orders with A's and B's parts exchanged, so they are called after
 * their place: the outer operand's panel is kept while all panels of the inner one's tile pass by.
 *
 *     for outer tile, for k tile, for inner tile, for outer panel, for inner panel: micro-kernel
 *
 * matmul_host_ask.c fills a struct walk; the functions add to a phase what it makes of it. */
#ifndef AUTOTUNE_KERNELS_MATMUL_HOST_MATMUL_HOST_REUSE_H
#define AUTOTUNE_KERNELS_MATMUL_HOST_MATMUL_HOST_REUSE_H

#include "kernels/matmul/host/matmul_host.h"

#define FLOAT ((double)sizeof(float))

enum { PAGE = 4096, LINE = 64 };

/* What is touched: bytes, and pages whose places have to be known. Packed operands are one piece in
 * large pages. */
struct touch {
    double bytes, pages;
};

static inline struct touch touch_both(struct touch a, struct touch b)
{
    return (struct touch){a.bytes + b.bytes, a.pages + b.pages};
}

static inline struct touch touch_times(double factor, struct touch a)
{
    return (struct touch){factor * a.bytes, factor * a.pages};
}

static inline double least(double a, double b)
{
    return a < b ? a : b;
}

/* Pieces of a row-major matrix, so many bytes from one to the next. */
static inline struct touch touch_of(double pieces, double piece, double distance)
{
    double pages = pieces * (piece < PAGE ? 1 : piece / PAGE);
    return (struct touch){pieces * piece, least(pages, pieces * distance / PAGE)};
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

/* Adds bytes that are used again after themselves (in a share of a cache's sets) and so many others
 * were touched. */
void walk_add(const struct walk *w, double to[HOST_MAX_LEVELS], double bytes, double own,
              double share, double others);

/* Pieces so many bytes apart use the sets at these places of a page only: all for any odd number of
 * lines, one for a whole page. Which pages, physical memory decides. */
double walk_page_places(double distance);
double walk_sets_share(double piece, double distance);

/* After how much else a tile of the operand is read from where it lies again; the first time it is
 * as in the run before. */
void walk_read_source(const struct walk *w, struct host_phase *phase, const struct operand *operand,
                      double reads, struct touch again);

/* An operand's tile as it is kept: packed, beside what it was packed from. */
struct touch touch_kept(const struct operand *operand, struct touch part);

/* What lies between two strips of an operand, and beside a tile that is kept. */
struct touch walk_between_strips(const struct walk *w);
struct touch walk_beside_tiles(const struct walk *w);

/* The reads of each operand. */
void walk_outer(const struct walk *w, struct host_phase *phase);
void walk_inner(const struct walk *w, struct host_phase *phase);

/* Rows of A whose lines need the same sets of the L1 lose them from one k to the next. */
void walk_thrash(struct host_phase *phase, const struct operand *a, double uses);

/* C comes and goes once a tile of k; what is written past the caches does not come. Its panel's
 * pages are needed again for the next panel. */
void walk_c(const struct walk *w, struct host_phase *phase, bool stream);

#endif
