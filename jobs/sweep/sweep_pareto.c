/* Finds the chips which no other one beats in both bytes of buffers and time (the Pareto front).
 * The times of each chip's jobs are added; chips that lack answers which others have are not
 * compared. In ascending order of bytes a chip is on the front where it is faster than all before
 * it: one pass. */
#include "jobs/sweep/sweep.h"
#include "jobs/tune/job_store.h"

#include <stdlib.h>

static int order(double a, double b)
{
    return a < b ? -1 : a > b;
}

/* Complete ones first, by bytes, time and place in the file. */
static int by_bytes(const void *left, const void *right)
{
    const struct sweep_point *a = left, *b = right;
    if (a->complete != b->complete)
        return a->complete ? -1 : 1;
    int by = order(a->buffer_bytes, b->buffer_bytes);
    by = by ? by : order(a->time_ns, b->time_ns);
    return by ? by : a->chip - b->chip;
}

static enum status add_up(const struct sweep *sweep, struct store *store,
                          struct sweep_point *points, int64_t *most, struct error *error)
{
    enum status status = STATUS_OK;
    for (int64_t j = 0; j < sweep->job_count && status == STATUS_OK; j++) {
        struct sweep_point *point = &points[sweep->jobs[j].chip];
        struct store_row row;
        bool found;
        if (sweep->jobs[j].key.kind != STORE_SIMULATED)
            continue;
        status = store_get(store, &sweep->jobs[j].key, &found, &row, error);
        if (status != STATUS_OK || !found || row.time_ns <= 0)
            continue;
        point->jobs++;
        point->time_ns += row.time_ns;
        *most = point->jobs > *most ? point->jobs : *most;
    }
    return status;
}

enum status sweep_pareto(const struct sweep *sweep, struct store *store,
                         struct sweep_point **points, struct error *error)
{
    int64_t most = 0;
    double least_ns = 0;
    struct sweep_point *made = calloc((size_t)sweep->chip_count + 1, sizeof *made);
    if (!made)
        return error_memory(error);
    enum status status = add_up(sweep, store, made, &most, error);
    if (status != STATUS_OK) {
        free(made);
        return status;
    }
    for (int64_t c = 0; c < sweep->chip_count; c++) {
        made[c].chip = (int)c;
        made[c].buffer_bytes = sweep->chips[c].buffer_bytes;
        made[c].complete = most > 0 && made[c].jobs == most;
    }
    if (sweep->chip_count)
        qsort(made, (size_t)sweep->chip_count, sizeof *made, by_bytes);
    for (int64_t c = 0; c < sweep->chip_count && made[c].complete; c++) {
        made[c].best = c == 0 || made[c].time_ns < least_ns;
        least_ns = made[c].best ? made[c].time_ns : least_ns;
    }
    *points = made;
    return STATUS_OK;
}
