#include "search/several.h"

#include "search/workers.h"

#include <omp.h>

enum status search_several(const struct space *space, struct candidate items[], int64_t count,
                           int threads, struct error *error)
{
    struct workers workers;
    enum status status = workers_open(&workers, threads, error);
    if (status == STATUS_OK) {
#pragma omp parallel for num_threads(threads) schedule(dynamic)
        for (int64_t i = 0; i < count; i++)
            if (items[i].time_fs == 0 && !stop_due(space->stop))
                worker_simulate(&workers.items[omp_get_thread_num()], space, &items[i]);
        status = workers_status(&workers, error);
    }
    workers_close(&workers);
    return status;
}
