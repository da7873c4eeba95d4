/* What is to be known of this machine before it works: whether so many threads can be started, and
 * whether it does other things too. */
#include "cli/threads.h"

#include "cli/options.h"
#include "validate/calibrate/topology.h"
#include "validate/machine_load.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void *wait_for_gate(void *gate)
{
    pthread_mutex_lock(gate);
    pthread_mutex_unlock(gate);
    return NULL;
}

/* How many more threads than this one can be there at once, up to `count`; 0 in *failed: all. */
static int try_to_start(int count, int *failed)
{
    pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    pthread_t *threads = cli_require_memory(calloc((size_t)count + 1, sizeof *threads));
    int started = 0;
    *failed = 0;
    pthread_mutex_lock(&gate);
    while (started < count &&
           (*failed = pthread_create(&threads[started], NULL, wait_for_gate, &gate)) == 0)
        started++;
    pthread_mutex_unlock(&gate);
    for (int t = 0; t < started; t++)
        pthread_join(threads[t], NULL);
    free(threads);
    return started;
}

static void require_threads(int threads)
{
    int failed;
    if (threads == 1)
        return;
    int started = try_to_start(threads, &failed); /* one to spare */
    if (started < threads)
        cli_die("%d threads: no more than %d can be started here (%s), expected --threads %d or "
                "fewer",
                threads, started > 1 ? started : 1, strerror(failed), started > 1 ? started : 1);
}

int cli_threads(int64_t asked)
{
    int threads = asked ? (int)asked : topology_processors(NULL);
    require_threads(threads);
    return threads;
}

void busy_warn(int threads, bool quiet)
{
    const struct timespec moment = {.tv_nsec = 200000000};
    struct load_reading before, after;
    char text[256];
    if (quiet)
        return;
    load_read(NULL, &before);
    (void)nanosleep(&moment, NULL);
    load_read(NULL, &after);
    struct load load = load_between(&before, &after);
    if (!load_disturbs(&load, threads ? threads : load.processors))
        return;
    load_text(&load, text, sizeof text);
    cli_warn("the machine is not idle: %s; times may be too long", text);
}
