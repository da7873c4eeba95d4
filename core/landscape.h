/* A map of a search: what is known of the time over two axes of the tiling.
 *
 * search/landscape_make.h makes one from the result of a search, results/landscape_write.h writes
 * it as JSON. Two kinds: a slice, where all other axes have the best tiling's values, so that a
 * cell is one tiling; and, of spaces that were listed, the best over all values of the other axes.
 *
 * To draw one: x to the right, y upwards, cells[y · count[0] + x]; axis_value_text(axis[a],
 * value[a][i], text) labels a row or column. Draw the first of these that is true of a cell:
 *
 *   time_fs != 0     a colour by time_fs / best_fs (1 is the best; most lie within 2)
 *   bound_fs != 0    pruned: hatched, the same colours by bound_fs / best_fs, which is how much
 *                    slower than the best it is at least
 *   points != 0      illegal: grey; `limit` says which limit forbids it
 *   else             empty: there is no such tiling in the space
 *
 * and a frame around cell (best[0], best[1]). */
#ifndef AUTOTUNE_CORE_LANDSCAPE_H
#define AUTOTUNE_CORE_LANDSCAPE_H

#include "core/space.h"

enum {
    LANDSCAPE_MAX_VALUES = 64, /* of an axis; of more, some evenly spaced ones are shown */
    LANDSCAPE_LIMIT_SIZE = 32,
};

enum landscape_kind {
    LANDSCAPE_SLICE,    /* the other axes as in the best tiling */
    LANDSCAPE_ENVELOPE, /* the best over all values of the other axes */
};

/* The tilings that share two values. */
struct landscape_cell {
    int64_t points;           /* of the space */
    int64_t legal, simulated; /* of `points`; by program or in closed form */
    int64_t time_fs;          /* the least of those simulated; 0: none was */
    int64_t bound_fs;         /* the least lower bound of legal ones not simulated; 0: none */
    char limit[LANDSCAPE_LIMIT_SIZE]; /* where none is legal: which limit is broken most often */
};

struct landscape {
    enum landscape_kind kind;
    const struct axis *axis[2]; /* x, y; the space's */
    int count[2];
    int64_t value[2][LANDSCAPE_MAX_VALUES]; /* ascending */
    int left_out[2];                        /* values of the axis that are not shown */
    int best[2];                            /* where the best tiling lies */
    int64_t best_fs;
    struct landscape_cell *cells; /* [count[1]][count[0]], owned */
};

static inline struct landscape_cell *landscape_at(const struct landscape *landscape, int x, int y)
{
    return &landscape->cells[y * landscape->count[0] + x];
}

#endif
