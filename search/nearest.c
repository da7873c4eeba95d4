#include "search/nearest.h"

#include "search/candidates.h"

#include <stdlib.h>

struct distance {
    int changed;
    double change;
    int64_t index;
};

static struct distance measure(const struct space *space, const struct tiling *wanted,
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

static bool closer(const struct distance *a, const struct distance *b)
{
    if (a->changed != b->changed)
        return a->changed < b->changed;
    if (a->change < b->change || a->change > b->change)
        return a->change < b->change;
    return a->index < b->index;
}

static bool never(void *context)
{
    (void)context;
    return false;
}

enum status search_nearest(const struct space *space, const struct tiling *wanted,
                           struct tiling *nearest, bool *found, struct error *error)
{
    struct bounder bounder;
    struct candidates candidates;
    struct distance best = {0};
    *found = false;
    enum status status = bounder_open(&bounder, space, error);
    if (status == STATUS_OK)
        status = candidates_collect(space, &bounder, 1, never, NULL, &candidates, error);
    for (int64_t i = 0; status == STATUS_OK && i < candidates.count; i++) {
        struct tiling tiling;
        space_tiling(space, candidates.items[i].index, &tiling);
        struct distance distance = measure(space, wanted, &tiling, candidates.items[i].index);
        if (*found && !closer(&distance, &best))
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
