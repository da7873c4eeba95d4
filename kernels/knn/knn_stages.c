/* Finds what tuning one stage alone would choose (Tang 2024, 3.5.2). Of each distance tile the
 * fastest selection under it is kept (a lead), and both questions are about leads alone. Tuning
 * the distances: leads in order of bound are tuned until a bound exceeds the fastest so far.
 * Tuning the selection: all that share the fastest one are tuned, and the fastest of these counts,
 * in favour of what is compared. */
#include "kernels/knn/knn_stages.h"

#include "kernels/knn/knn_choices.h"

#include <stdlib.h>

enum { BATCH = 8 };

/* One distance tile that some tiling uses, and the fastest selection under it. */
struct lead {
    int64_t product, products; /* its number, and how often it is computed */
    int64_t selection_fs, index;
    bool any;
};

/* Keeps the fastest selection of the choice's distance tile. */
static bool visit(void *context, const struct choice *choice)
{
    struct lead *lead = (struct lead *)context + choice->product;
    if (!lead->any || choice->selection_fs < lead->selection_fs)
        *lead = (struct lead){choice->product, choice->products, choice->selection_fs,
                              choice->index, true};
    return true;
}

static int64_t distance_fs(const struct knn_costs *costs, const struct lead *lead)
{
    struct choice choice = {.product = lead->product, .products = lead->products};
    return choice_time_fs(costs, &choice);
}

static int64_t time_fs(const struct knn_costs *costs, const struct lead *lead)
{
    struct choice choice = {
        .product = lead->product, .products = lead->products, .selection_fs = lead->selection_fs};
    return choice_time_fs(costs, &choice);
}

/* Leads with a sort key: the standard library's sort knows no context. */
struct keyed {
    int64_t key;
    struct lead lead;
};

static int by_key(const void *left, const void *right)
{
    const struct keyed *a = left, *b = right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->lead.product < b->lead.product ? -1 : a->lead.product > b->lead.product;
}

/* Tunes or bounds the distance tiles of some leads. */
static enum status improve(struct knn_costs *costs, const struct keyed *leads, int64_t count,
                           enum status (*act)(struct knn_costs *, const int64_t *, int64_t,
                                              struct error *),
                           struct error *error)
{
    int64_t *products = malloc(((size_t)count + 1) * sizeof *products);
    if (!products)
        return error_memory(error);
    for (int64_t i = 0; i < count; i++)
        products[i] = leads[i].lead.product;
    enum status status = act(costs, products, count, error);
    free(products);
    return status;
}

static void sort_by_distance(const struct knn_costs *costs, struct keyed *leads, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        leads[i].key = distance_fs(costs, &leads[i].lead);
    qsort(leads, (size_t)count, sizeof *leads, by_key);
}

/* Better bounds for all that the one of lowest bound, tuned, does not rule out. */
static enum status sharpen(struct knn_costs *costs, struct keyed *leads, int64_t count,
                           struct error *error)
{
    int64_t open = 1;
    sort_by_distance(costs, leads, count);
    enum status status = improve(costs, leads, 1, knn_costs_tune, error);
    while (open < count && leads[open].key <= distance_fs(costs, &leads[0].lead))
        open++;
    if (status == STATUS_OK)
        status = improve(costs, leads, open, knn_costs_bound, error);
    sort_by_distance(costs, leads, count);
    return status;
}

static bool told(const volatile sig_atomic_t *stop)
{
    return stop && *stop;
}

/* Tunes distance tiles in order of their bounds until none can be faster than the fastest; then, of
 * equal ones, takes that with the fastest selection. */
static enum status best_distance(struct knn_costs *costs, struct keyed *leads, int64_t count,
                                 const volatile sig_atomic_t *stop, struct lead *best,
                                 struct error *error)
{
    int64_t least = INT64_MAX, selection_fs = INT64_MAX;
    TRY(sharpen(costs, leads, count, error));
    *best = leads[0].lead;
    for (int64_t i = 0; i < count && leads[i].key <= least && !told(stop); i += BATCH) {
        int64_t size = count - i < BATCH ? count - i : BATCH;
        TRY(improve(costs, leads + i, size, knn_costs_tune, error));
        for (int64_t j = i; j < i + size; j++) {
            int64_t fs = distance_fs(costs, &leads[j].lead);
            if (fs < least || (fs == least && leads[j].lead.selection_fs < selection_fs)) {
                least = fs;
                selection_fs = leads[j].lead.selection_fs;
                *best = leads[j].lead;
            }
        }
    }
    return STATUS_OK;
}

/* Tunes the distance tiles of all that have the fastest selection. */
static enum status best_selection(struct knn_costs *costs, struct keyed *leads, int64_t count,
                                  const volatile sig_atomic_t *stop, struct lead *best,
                                  struct error *error)
{
    int64_t least = INT64_MAX;
    for (int64_t i = 0; i < count; i++)
        leads[i].key = leads[i].lead.selection_fs;
    qsort(leads, (size_t)count, sizeof *leads, by_key);
    *best = leads[0].lead;
    for (int64_t i = 0; i < count && leads[i].key == leads[0].key && !told(stop); i++) {
        TRY(improve(costs, leads + i, 1, knn_costs_tune, error));
        if (time_fs(costs, &leads[i].lead) < least) {
            least = time_fs(costs, &leads[i].lead);
            *best = leads[i].lead;
        }
    }
    return STATUS_OK;
}

static enum status find(struct knn_costs *costs, struct lead *leads, struct keyed *keyed,
                        int64_t products, const volatile sig_atomic_t *stop,
                        struct knn_stages *stages, struct error *error)
{
    struct lead distance = {0}, selection = {0};
    int64_t count = 0;
    for (int m1 = 0; m1 < costs->m1_count; m1++)
        choices_visit(costs, m1, false, visit, leads);
    for (int64_t p = 0; p < products; p++)
        if (leads[p].any)
            keyed[count++] = (struct keyed){0, leads[p]};
    if (count == 0)
        return STATUS_OK;
    enum status status = best_distance(costs, keyed, count, stop, &distance, error);
    if (status == STATUS_OK)
        status = best_selection(costs, keyed, count, stop, &selection, error);
    if (status != STATUS_OK || told(stop))
        return status;
    stages->any = true;
    stages->distance_fs = time_fs(costs, &distance);
    stages->selection_fs = time_fs(costs, &selection);
    space_tiling(costs->space, distance.index, &stages->distance);
    space_tiling(costs->space, selection.index, &stages->selection);
    return STATUS_OK;
}

enum status knn_stages_find(const struct space *space, int cores, int threads,
                            const volatile sig_atomic_t *stop, struct knn_stages *stages,
                            struct error *error)
{
    struct knn_costs costs;
    struct recorder recorder = {.threads = threads};
    *stages = (struct knn_stages){0};
    const struct space_block *block = space->blocks;
    while (block->values[KNN_CORES][0] != cores)
        block++;
    knn_costs_open(&costs, space, block, &recorder);
    enum status status = knn_costs_profile(&costs, error);
    if (status == STATUS_OK) {
        int64_t products = (int64_t)costs.m1_count * costs.n1_count;
        struct lead *leads = calloc((size_t)products + 1, sizeof *leads);
        struct keyed *keyed = calloc((size_t)products + 1, sizeof *keyed);
        status = leads && keyed ? find(&costs, leads, keyed, products, stop, stages, error)
                                : error_memory(error);
        free(leads);
        free(keyed);
    }
    knn_costs_close(&costs);
    return status;
}
