#include "search/knn_stages.h"

#include "search/knn_choices.h"

/* The best so far by the time of one stage, then of both. */
struct lead {
    bool any;
    int64_t stage_fs, time_fs, index;
};

static void note(struct lead *lead, int64_t stage_fs, int64_t time_fs, int64_t index)
{
    if (lead->any &&
        (stage_fs > lead->stage_fs || (stage_fs == lead->stage_fs && time_fs >= lead->time_fs)))
        return;
    *lead = (struct lead){true, stage_fs, time_fs, index};
}

struct leads {
    struct lead distance, selection;
};

/* With exact distance tiles, a choice's bound is its time. Indices ascend with m1 only: the order
 * of visits decides ties, and it is always the same. */
static bool visit(void *context, const struct choice *choice)
{
    struct leads *leads = context;
    note(&leads->distance, choice->bound_fs - choice->selection_fs, choice->bound_fs,
         choice->index);
    note(&leads->selection, choice->selection_fs, choice->bound_fs, choice->index);
    return true;
}

enum status knn_stages_find(const struct space *space, int threads, struct knn_stages *stages,
                            struct error *error)
{
    struct knn_costs costs;
    struct leads leads = {0};
    *stages = (struct knn_stages){0};
    enum status status = knn_costs_open(&costs, space, threads, error);
    if (status == STATUS_OK)
        status = knn_costs_tune_all(&costs, error);
    for (int m1 = 0; m1 < costs.m1_count && status == STATUS_OK; m1++)
        choices_visit(&costs, m1, false, visit, &leads);
    if (status == STATUS_OK && leads.distance.any) {
        stages->any = true;
        stages->distance_fs = leads.distance.time_fs;
        stages->selection_fs = leads.selection.time_fs;
        space_tiling(space, leads.distance.index, &stages->distance);
        space_tiling(space, leads.selection.index, &stages->selection);
    }
    knn_costs_close(&costs);
    return status;
}
