/* Of a list the nearest by comparison; in spaces too large to list by iterative deepening (Korf
 * 1985) over the number of changed values, with prefixes that begin no tiling left out. */
#include "search/nearest.h"

#include "search/candidates.h"
#include "search/prefix.h"

#include <stdlib.h>

/* Prefixes that are looked at in a space too large to list. */
#define NEAREST_MOST INT64_C(20000000)

/* Tilings that a space takes to be possible and that are not, which are left out; a kernel's text
 * whose first ones are such has a mistake that takes long to look for in all. */
#define NEAREST_TRIES 16

static bool is_legal(const struct space *space, const struct tiling *tiling, int *tries)
{
    bool legal = *tries < NEAREST_TRIES && space->kind->legal(space, tiling);
    *tries += !legal;
    return legal;
}

struct distance {
    int changed;
    double change;
    int64_t index;
};

static struct distance distance_to(const struct space *space, const struct tiling *wanted,
                                   const struct tiling *tiling, int64_t index)
{
    struct distance distance = {.index = index};
    for (int a = 0; a < space->axis_count; a++) {
        if (tiling->value[a] == wanted->value[a])
            continue;
        double step = (double)tiling->value[a] - (double)wanted->value[a];
        distance.changed++;
        distance.change += space->axes[a].value_names ? 1 : step < 0 ? -step : step;
    }
    return distance;
}

static bool is_closer(const struct distance *a, const struct distance *b)
{
    if (a->changed != b->changed)
        return a->changed < b->changed;
    if (a->change < b->change || a->change > b->change)
        return a->change < b->change;
    return a->index < b->index;
}

/* ---- spaces too large to list --------------------------------------------------------------- */

/* A walk over all tilings with up to so many changed values, in order of index. */
struct neighbours {
    const struct space *space;
    const struct space_block *block;
    const struct tiling *wanted;
    struct tiling tiling, *nearest;
    double least_change;
    int64_t looked_at;
    int tries;
    bool found;
};

static double change_of(const struct space *space, int axis, int64_t value, int64_t wanted)
{
    double step = (double)value - (double)wanted;
    return space->axes[axis].value_names ? step != 0 : step < 0 ? -step : step;
}

/* `changes` values may still change, and will: fewer have been tried before. */
static void visit_neighbours(struct neighbours *n, int axis, int changes, double change)
{
    if (axis == n->space->axis_count) {
        if (!is_legal(n->space, &n->tiling, &n->tries))
            return;
        *n->nearest = n->tiling;
        n->least_change = change;
        n->found = true;
        return;
    }
    int64_t wanted = n->wanted->value[axis];
    for (int i = 0; i < n->block->count[axis] && n->looked_at < NEAREST_MOST; i++) {
        int64_t value = n->block->values[axis][i];
        double total = change + change_of(n->space, axis, value, wanted);
        if ((value != wanted && changes == 0) || (n->found && total >= n->least_change))
            continue;
        n->tiling.value[axis] = value;
        n->looked_at++;
        enum prefix_verdict some = prefix_begins(n->space, &n->tiling, axis + 1);
        if (some == BEGINS_NONE)
            break;
        if (some == BEGINS_SOME)
            visit_neighbours(n, axis + 1, changes - (value != wanted), total);
    }
}

static bool find_neighbour(const struct space *space, const struct tiling *wanted,
                           struct tiling *nearest)
{
    struct neighbours n = {.space = space, .wanted = wanted, .nearest = nearest};
    for (int changes = 0; changes <= space->axis_count && !n.found; changes++)
        for (int b = 0; b < space->block_count; b++) {
            n.block = &space->blocks[b];
            for (int a = 0; a < space->axis_count; a++) /* a block's own may be asked of any */
                n.tiling.value[a] = n.block->values[a][0];
            visit_neighbours(&n, 0, changes, 0);
        }
    return n.found;
}

enum status search_nearest(const struct space *space, const struct tiling *wanted,
                           struct tiling *nearest, bool *found, struct error *error)
{
    struct bounder bounder;
    struct candidates candidates;
    struct recorder recorder = {.threads = 1};
    struct distance best = {0};
    int tries = 0;
    *found = false;
    if (space->kind->nesting || space->candidates > LISTED_MOST) {
        *found = find_neighbour(space, wanted, nearest);
        return STATUS_OK;
    }
    enum status status = bounder_open(&bounder, space, error);
    if (status == STATUS_OK)
        status = candidates_collect(space, &bounder, &recorder, &candidates, error);
    for (int64_t i = 0; status == STATUS_OK && i < candidates.count; i++) {
        struct tiling tiling;
        space_tiling(space, candidates.items[i].index, &tiling);
        struct distance distance = distance_to(space, wanted, &tiling, candidates.items[i].index);
        if ((*found && !is_closer(&distance, &best)) || !is_legal(space, &tiling, &tries))
            continue;
        best = distance;
        *nearest = tiling;
        *found = true;
    }
    if (status == STATUS_OK)
        free(candidates.items);
    bounder_close(&bounder);
    return status;
}
