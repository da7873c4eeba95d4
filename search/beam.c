/* Beam search (Lowerre 1976) over prefixes of tilings: of each length those of least bound are
 * kept, few of them from the same shorter one, lest all be alike where a bound says little; the
 * whole tilings that are left are simulated. */
#include "search/beam.h"

#include "core/array.h"
#include "core/stop.h"
#include "search/heap.h"
#include "search/prefix.h"
#include "search/walk.h"

#include <omp.h>
#include <stdlib.h>

enum {
    WIDTH = 128,      /* prefixes of a length */
    SIBLINGS = 16,    /* … from the same shorter one */
    LAST_SIBLINGS = 4 /* tilings, likewise */
};

struct node {
    struct open_node prefix; /* its bound and index */
    int parent;
};

/* One prefix, and what continues it. */
struct family {
    const struct space *space;
    const struct bounder *bounder;
    const struct prefix_levels *levels;
    int level; /* of what continues it */
    struct open_node prefix;
    int64_t count, capacity;
    struct open_node *longer; /* owned */
    bool failed;
};

struct beam {
    const struct space *space;
    const struct bounder *bounder;
    struct prefix_levels levels;
    int threads;
    int64_t count;
    struct node *nodes; /* owned */
};

/* A longer prefix's bound that is less than the shorter one's says less. */
static void add_longer(void *context, const struct tiling *tiling, int64_t index)
{
    struct family *family = context;
    int64_t bound_fs =
        prefix_bound_fs(family->levels, family->space, family->bounder, tiling, family->level);
    if (bound_fs < family->prefix.bound_fs && !prefix_is_tiling(family->levels, family->level))
        bound_fs = family->prefix.bound_fs;
    family->failed = family->failed || !array_reserve(&family->longer, family->count,
                                                      &family->capacity, sizeof *family->longer);
    if (!family->failed)
        family->longer[family->count++] = (struct open_node){bound_fs, index};
}

static int by_bound(const void *left, const void *right)
{
    const struct open_node *a = &((const struct node *)left)->prefix,
                           *b = &((const struct node *)right)->prefix;
    if (a->bound_fs != b->bound_fs)
        return a->bound_fs < b->bound_fs ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

/* Makes all that families have the beam. */
static enum status gather(struct beam *beam, const struct family families[], struct error *error)
{
    int64_t all = 0;
    bool failed = false;
    for (int64_t f = 0; f < beam->count; f++) {
        all += families[f].count;
        failed = failed || families[f].failed;
    }
    struct node *nodes = failed ? NULL : malloc(((size_t)all + 1) * sizeof *nodes);
    if (!nodes)
        return error_memory(error);
    int64_t used = 0;
    for (int64_t f = 0; f < beam->count; f++)
        for (int64_t i = 0; i < families[f].count; i++)
            nodes[used++] = (struct node){families[f].longer[i], (int)f};
    free(beam->nodes);
    beam->nodes = nodes;
    beam->count = used;
    qsort(nodes, (size_t)used, sizeof *nodes, by_bound);
    return STATUS_OK;
}

/* Leaves those of least bound. */
static enum status narrow(struct beam *beam, int64_t parents, int width, int siblings,
                          struct error *error)
{
    int *taken = calloc((size_t)parents + 1, sizeof *taken), used = 0;
    if (!taken)
        return error_memory(error);
    for (int64_t i = 0; i < beam->count && used < width; i++)
        if (taken[beam->nodes[i].parent]++ < siblings)
            beam->nodes[used++] = beam->nodes[i];
    beam->count = used;
    free(taken);
    return STATUS_OK;
}

/* From prefixes of one length to those of the next. */
static enum status lengthen(struct beam *beam, int level, struct error *error)
{
    const int *length = &beam->levels.length[level];
    int64_t parents = beam->count;
    struct family *families = calloc((size_t)parents + 1, sizeof *families);
    if (!families)
        return error_memory(error);
#pragma omp parallel for num_threads(beam->threads) schedule(dynamic)
    for (int64_t f = 0; f < parents; f++) {
        families[f] = (struct family){.space = beam->space,
                                      .bounder = beam->bounder,
                                      .levels = &beam->levels,
                                      .level = level + 1,
                                      .prefix = beam->nodes[f].prefix};
        space_walk(beam->space, families[f].prefix.index, length[0], length[1], add_longer,
                   &families[f]);
    }
    enum status status = gather(beam, families, error);
    for (int64_t f = 0; f < parents; f++)
        free(families[f].longer);
    free(families);
    bool last = prefix_is_tiling(&beam->levels, level + 1);
    if (status == STATUS_OK)
        status = narrow(beam, parents, last ? BEAM_TILINGS : WIDTH, last ? LAST_SIBLINGS : SIBLINGS,
                        error);
    return status;
}

static enum status begin(struct beam *beam, struct error *error)
{
    beam->count = space_roots(beam->space);
    beam->nodes = calloc((size_t)beam->count + 1, sizeof *beam->nodes);
    for (int64_t r = 0; beam->nodes && r < beam->count; r++)
        beam->nodes[r].prefix.index = space_root(beam->space, r);
    return beam->nodes ? STATUS_OK : error_memory(error);
}

static enum status simulate_all(const struct beam *beam, struct workers *workers,
                                struct candidate found[], int *count, struct error *error)
{
    for (int64_t i = 0; i < beam->count; i++)
        found[i] = (struct candidate){.bound_fs = beam->nodes[i].prefix.bound_fs,
                                      .index = beam->nodes[i].prefix.index};
#pragma omp parallel for num_threads(beam->threads) schedule(dynamic)
    for (int64_t i = 0; i < beam->count; i++)
        if (!stop_due(beam->space->stop))
            worker_simulate(&workers->items[omp_get_thread_num()], beam->space, &found[i]);
    for (int64_t i = 0; i < beam->count; i++)
        if (found[i].time_fs)
            found[(*count)++] = found[i];
    return workers_status(workers, error);
}

enum status beam_search(const struct space *space, const struct bounder *bounder,
                        struct workers *workers, struct candidate found[BEAM_TILINGS], int *count,
                        struct error *error)
{
    struct beam beam = {.space = space, .bounder = bounder, .threads = workers->count};
    *count = 0;
    prefix_levels_of(space, &beam.levels);
    enum status status = begin(&beam, error);
    for (int l = 0; l < beam.levels.count - 1 && status == STATUS_OK; l++)
        status = lengthen(&beam, l, error);
    if (status == STATUS_OK)
        status = simulate_all(&beam, workers, found, count, error);
    free(beam.nodes);
    return status;
}
