/* Times an empty parallel region. Timed in a child process (validate/worker.h), in memory that
 * both see: this process stays without OpenMP's threads, so that it can fork later. A runtime that
 * hangs is ended after a while, and it is an error that regions could not be timed. */
#include "validate/calibrate/parallel.h"

#include "validate/worker.h"

#include <sys/mman.h>

enum { ROUNDS = 21, PATIENCE_S = 20 };

/* In memory that the child shares. */
struct regions {
    int threads;
    bool measured;
    struct timing timing;
};

static void open_and_close(void *context)
{
    const struct regions *regions = context;
#pragma omp parallel num_threads(regions->threads)
    __asm__ volatile("" : : : "memory");
}

static void work(void *context)
{
    struct regions *regions = context;
    const struct timing_subject subject = {open_and_close, regions};
    const struct timing_options options = {.rounds = ROUNDS, .threads = regions->threads};
    struct error error;
    regions->measured =
        timing_measure(&subject, 1, &options, &regions->timing, &error) == STATUS_OK;
}

static enum status run_worker(struct regions *regions, struct error *error)
{
    struct worker worker;
    struct worker_end end = {.finished = false};
    TRY(worker_start(&worker, work, regions, error));
    int tenths = 0;
    while (!worker_wait(&worker, 100, &end) && ++tenths < 10 * PATIENCE_S)
        ;
    if (tenths >= 10 * PATIENCE_S)
        worker_stop(&worker, &end);
    if (end.finished && regions->measured)
        return STATUS_OK;
    return error_set(error, STATUS_IO, "parallel regions of %d threads could not be timed",
                     regions->threads);
}

enum status parallel_measure(int threads, struct timing *timing, struct error *error)
{
    struct regions *regions =
        /* cppcheck-suppress invalidFunctionArg ; mmap(2): -1 is right where there is no file */
        mmap(NULL, sizeof *regions, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (regions == MAP_FAILED)
        return error_memory(error);
    regions->threads = threads;
    enum status status = run_worker(regions, error);
    *timing = regions->timing;
    munmap(regions, sizeof *regions);
    return status;
}
