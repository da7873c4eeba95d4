/* One walk over the tilings of one number of cores, a row (one m1) at a time on any thread: each
 * row keeps what it finds, and rows are added up in their order. */
#include "kernels/knn/knn_gather.h"

#include <stdlib.h>

enum { LOOK_EVERY = 1024 }; /* tilings, between two looks at the clock */

/* What is gathered of a row, and how. */
struct row {
    struct gathered found;
    int64_t seen, most, limit_fs;
    const struct stop *stop;
    bool failed, stopped;
    struct search_span span; /* who did it */
};

/* How all rows are visited; counted without a visitor. */
struct gathering {
    const struct knn_costs *costs;
    bool prune;
    choice_visitor *visit;
    int64_t most, limit_fs;
};

/* Is it time to end a row? Not before there is something in it. */
static bool is_over(struct row *row)
{
    if (row->seen % LOOK_EVERY == 0 && row->found.kept.count && stop_due(row->stop))
        row->stopped = true;
    return row->failed || row->stopped;
}

/* Keeps twice what is wanted, and drops the worse half when that is full. */
static bool count_choice(void *context, const struct choice *choice)
{
    struct row *row = context;
    row->seen++;
    row->found.feasible++;
    row->found.pruned[choice->fate]++;
    if (choice->fate != FATE_LIVES)
        return !is_over(row);
    if (row->found.kept.count == 2 * row->most) {
        choices_sort(&row->found.kept);
        row->found.kept.count = row->most;
    }
    row->failed = !choices_push(&row->found.kept, choice);
    return !is_over(row);
}

static bool keep_choice(void *context, const struct choice *choice)
{
    struct row *row = context;
    row->seen++;
    if (choice->bound_fs <= row->limit_fs)
        row->failed = !choices_push(&row->found.kept, choice);
    return !is_over(row);
}

static bool append(struct choices *all, struct choices *more)
{
    bool appended = true;
    for (int64_t i = 0; i < more->count && appended; i++)
        appended = choices_push(all, &more->items[i]);
    free(more->items);
    *more = (struct choices){0};
    return appended;
}

static void visit_row(const struct search_run *run, const struct gathering *how, int m1,
                      struct row *row)
{
    int64_t start_ns = recorder_now(&run->recorder);
    if (how->visit)
        choices_visit(how->costs, m1, how->prune, how->visit, row);
    else
        row->found.feasible = choices_count(how->costs, m1);
    recorder_fill(&run->recorder, PHASE_BOUNDING, start_ns, row->seen, &row->span);
}

/* Adds what was found in each row, in their order; false without memory. */
static bool add_rows(struct search_run *run, struct row *rows, int count, struct gathered *total)
{
    bool added = true;
    for (int m1 = 0; m1 < count; m1++) {
        struct gathered *found = &rows[m1].found;
        recorder_hand_on(&run->recorder, &rows[m1].span);
        run->candidates.complete = run->candidates.complete && !rows[m1].stopped;
        added = !rows[m1].failed && append(&total->kept, &found->kept) && added;
        total->feasible += found->feasible;
        for (int f = 0; f < FATES; f++)
            total->pruned[f] += found->pruned[f];
        free(found->kept.items);
    }
    return added;
}

/* Visits every row on all threads; what was kept is sorted by bound, so that the answer is the same
 * for any number of threads. Rows are left out where the search has to stop, but not before a first
 * tiling was found. */
static enum status gather(struct search_run *run, const struct gathering *how,
                          struct gathered *total, struct error *error)
{
    bool complete = true, any = run->incumbents.count > 0;
    int count = how->costs->m1_count;
    struct row *rows = calloc((size_t)count + 1, sizeof *rows);
    if (!rows)
        return error_memory(error);
    recorder_begin(&run->recorder);
#pragma omp parallel for num_threads(run->threads) schedule(dynamic)
    for (int m1 = 0; m1 < count; m1++) {
        bool found;
        rows[m1] =
            (struct row){.most = how->most, .limit_fs = how->limit_fs, .stop = run->space->stop};
#pragma omp atomic read
        found = any;
        if (found && stop_due(run->space->stop)) {
#pragma omp atomic write
            complete = false;
            continue;
        }
        visit_row(run, how, m1, &rows[m1]);
        if (rows[m1].found.feasible) {
#pragma omp atomic write
            any = true;
        }
    }
    run->candidates.complete = run->candidates.complete && complete;
    bool added = add_rows(run, rows, count, total);
    recorder_end(&run->recorder);
    free(rows);
    if (!added)
        return error_memory(error);
    choices_sort(&total->kept);
    return STATUS_OK;
}

enum status knn_gather_count(struct search_run *run, const struct knn_costs *costs,
                             struct gathered *total, struct error *error)
{
    return gather(run, &(struct gathering){.costs = costs}, total, error);
}

enum status knn_gather_best(struct search_run *run, const struct knn_costs *costs, bool prune,
                            int64_t most, struct gathered *total, struct error *error)
{
    struct gathering how = {costs, prune, count_choice, .most = most};
    return gather(run, &how, total, error);
}

enum status knn_gather_up_to(struct search_run *run, const struct knn_costs *costs, bool prune,
                             int64_t limit_fs, struct gathered *total, struct error *error)
{
    struct gathering how = {costs, prune, keep_choice, .limit_fs = limit_fs};
    return gather(run, &how, total, error);
}
