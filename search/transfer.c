/* A row of results for each tiling, bounded on any thread; times are simulated by one worker. */
#include "search/transfer.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

enum status transfer_open(struct transfer *transfer, const struct space *const spaces[], int count,
                          int threads, struct error *error)
{
    *transfer = (struct transfer){.spaces = count, .threads = threads, .space = spaces};
    TRY(tiling_simulator_open(&transfer->worker.simulator, error));
    return bounders_open(&transfer->bounders, spaces, count, error);
}

void transfer_close(struct transfer *transfer)
{
    for (int64_t t = 0; t < transfer->tilings; t++)
        free(transfer->result[t]);
    free(transfer->result);
    free(transfer->tiling);
    bounders_close(&transfer->bounders);
    tiling_simulator_close(&transfer->worker.simulator);
}

static bool is_there(const struct transfer *transfer, const struct tiling *tiling)
{
    size_t bytes = (size_t)transfer->space[0]->axis_count * sizeof *tiling->value;
    for (int64_t t = 0; t < transfer->tilings; t++)
        if (memcmp(transfer->tiling[t].value, tiling->value, bytes) == 0)
            return true;
    return false;
}

static bool push(struct transfer *transfer, const struct tiling *tiling)
{
    int64_t capacity = transfer->capacity;
    if (!array_reserve(&transfer->tiling, transfer->tilings, &capacity, sizeof *transfer->tiling) ||
        !array_reserve(&transfer->result, transfer->tilings, &transfer->capacity,
                       sizeof(struct transferred *)))
        return false;
    struct transferred *row = calloc((size_t)transfer->spaces, sizeof *row);
    if (!row)
        return false;
    transfer->tiling[transfer->tilings] = *tiling;
    transfer->result[transfer->tilings++] = row;
    return true;
}

int64_t transfer_try(const struct transfer *transfer, const struct tiling *tiling, int space)
{
    struct violation violations[MAX_VIOLATIONS];
    const struct space *in = transfer->space[space];
    if (in->kind->violations(in, tiling, violations) > 0)
        return NOT_LEGAL;
    return bounder_tiling_fs(bounders_of(&transfer->bounders, space), in, tiling);
}

static void bound_row(struct transfer *transfer, int64_t tiling)
{
    for (int s = 0; s < transfer->spaces; s++) {
        int64_t bound_fs = transfer_try(transfer, &transfer->tiling[tiling], s);
        transfer->result[tiling][s] =
            (struct transferred){bound_fs, bound_fs == NOT_LEGAL ? NOT_LEGAL : 0};
    }
}

enum status transfer_add(struct transfer *transfer, const struct tiling tilings[], int64_t count,
                         struct error *error)
{
    int64_t first = transfer->tilings;
    for (int64_t i = 0; i < count; i++)
        if (!is_there(transfer, &tilings[i]) && !push(transfer, &tilings[i]))
            return error_memory(error);
#pragma omp parallel for num_threads(transfer->threads) schedule(dynamic)
    for (int64_t t = first; t < transfer->tilings; t++)
        bound_row(transfer, t);
    return STATUS_OK;
}

enum status transfer_time(struct transfer *transfer, int64_t tiling, int space, int64_t *time_fs,
                          struct error *error)
{
    struct transferred *result = &transfer->result[tiling][space];
    if (result->time_fs == 0) {
        struct candidate candidate = {.bound_fs = result->bound_fs};
        worker_simulate_tiling(&transfer->worker, transfer->space[space], &transfer->tiling[tiling],
                               &candidate);
        if (transfer->worker.status != STATUS_OK) {
            if (error)
                *error = transfer->worker.error;
            return transfer->worker.status;
        }
        result->time_fs = candidate.time_fs;
        transfer->simulated++;
    }
    *time_fs = result->time_fs;
    return STATUS_OK;
}
