/* Measures what threads that read at once get together. One thread a processor, each pinned and
 * with memory that it has touched first, so that it lies near. A barrier begins every round and
 * another ends it, so that nobody is timed while others rest. A round counts where no thread was
 * disturbed, and the total is the sum of their rates. A gate holds all back until the last has
 * been started, for a barrier would wait for ever for a missing one. */
#include "validate/calibrate/contention.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 7, LEAST_BATCH_BYTES = 1 << 20 };

static const double reading_ns = 2e6; /* of a sample */

struct crowd;

struct member {
    struct crowd *crowd;
    pthread_t thread;
    int processor;
    char *data;
    int64_t done_bytes;
    double gbps[ROUNDS];
    bool kept[ROUNDS];
};

struct crowd {
    stream_pass *pass;
    int64_t bytes; /* of each */
    int count;
    pthread_mutex_t gate; /* shut until all have been started */
    pthread_barrier_t together;
    bool called_off;
    atomic_bool failed, unpinned;
    struct member members[HOST_MAX_THREADS];
};

/* Reads for a while; the clock is asked seldom enough not to matter. */
static void read_on(void *context)
{
    struct member *member = context;
    const struct crowd *crowd = member->crowd;
    int64_t passes = (LEAST_BATCH_BYTES + crowd->bytes - 1) / crowd->bytes;
    double begin_ns = timing_now_ns();
    for (member->done_bytes = 0; timing_now_ns() - begin_ns < reading_ns;)
        for (int64_t i = 0; i < passes; i++, member->done_bytes += crowd->bytes)
            crowd->pass(member->data, crowd->bytes);
}

static void take_samples(struct member *member)
{
    struct crowd *crowd = member->crowd;
    struct timing_clocks clocks = timing_clocks_of(1);
    const struct timing_subject subject = {read_on, member};
    for (int round = 0; round < ROUNDS; round++) {
        struct timing_reading reading;
        crowd->pass(member->data, crowd->bytes);
        pthread_barrier_wait(&crowd->together);
        timing_sample(&subject, 1, &clocks, &reading);
        member->gbps[round] = (double)member->done_bytes / reading.wall_ns;
        member->kept[round] = calibrate_keeps(&reading);
        pthread_barrier_wait(&crowd->together); /* nobody stops while others are still timed */
    }
}

static void *work(void *context)
{
    struct member *member = context;
    struct crowd *crowd = member->crowd;
    int64_t got = 0;
    pthread_mutex_lock(&crowd->gate);
    bool called_off = crowd->called_off;
    pthread_mutex_unlock(&crowd->gate);
    if (called_off)
        return NULL;
    if (!timing_pin(member->processor))
        crowd->unpinned = true;
    member->data = calibrate_memory(crowd->bytes, crowd->bytes, &got); /* near its processor */
    if (!member->data)
        crowd->failed = true;
    pthread_barrier_wait(&crowd->together);
    if (!crowd->failed)
        take_samples(member);
    free(member->data);
    return NULL;
}

/* All of them run to their end; false where one could not be started, and then none has run. */
static bool run_crowd(struct crowd *crowd)
{
    int started = 0;
    pthread_mutex_lock(&crowd->gate);
    while (started < crowd->count && pthread_create(&crowd->members[started].thread, NULL, work,
                                                    &crowd->members[started]) == 0)
        started++;
    crowd->called_off = started < crowd->count;
    pthread_mutex_unlock(&crowd->gate);
    for (int t = 0; t < started; t++)
        pthread_join(crowd->members[t].thread, NULL);
    return !crowd->called_off;
}

/* Of the rounds in which nobody was disturbed; of all where there is no such round. */
static struct middle total_of(const struct crowd *crowd, struct calibrate_control *control)
{
    double kept[ROUNDS], all[ROUNDS];
    int kept_count = 0;
    for (int round = 0; round < ROUNDS; round++) {
        bool keeps = true;
        all[round] = 0;
        for (int t = 0; t < crowd->count; t++) {
            all[round] += crowd->members[t].gbps[round];
            keeps = keeps && crowd->members[t].kept[round];
        }
        control->samples++;
        control->dropped += !keeps;
        if (keeps)
            kept[kept_count++] = all[round];
    }
    return kept_count ? middle_of(kept, kept_count) : middle_of(all, ROUNDS);
}

static enum status measure_crowd(struct crowd *crowd, struct error *error)
{
    if (pthread_mutex_init(&crowd->gate, NULL) != 0)
        return error_memory(error);
    enum status status = STATUS_OK;
    if (pthread_barrier_init(&crowd->together, NULL, (unsigned)crowd->count) != 0) {
        status = error_memory(error);
    } else {
        if (!run_crowd(crowd))
            status = error_set(error, STATUS_IO, "%d threads cannot be started", crowd->count);
        else if (crowd->failed)
            status = error_memory(error);
        pthread_barrier_destroy(&crowd->together);
    }
    pthread_mutex_destroy(&crowd->gate);
    return status;
}

static enum status measure_count(const struct topology *topology, enum host_isa isa, int level,
                                 int64_t memory_bytes, int count, struct crowd *crowd,
                                 struct error *error)
{
    memset(crowd, 0, sizeof *crowd);
    crowd->pass = stream_find(isa, STREAM_READ);
    crowd->bytes = level_bytes(topology, level, count, memory_bytes);
    crowd->count = count;
    for (int t = 0; t < count; t++) {
        crowd->members[t].crowd = crowd;
        crowd->members[t].processor = topology->processor_of[t];
    }
    return measure_crowd(crowd, error);
}

enum status contention_measure(const struct topology *topology, enum host_isa isa, int level,
                               int64_t memory_bytes, struct calibrate_control *control,
                               struct contention *contention, struct error *error)
{
    int counts[CONTENTION_MAX_COUNTS];
    int measured = contention_counts(topology->threads, counts);
    struct crowd *crowd = malloc(sizeof *crowd);
    enum status status = STATUS_OK;
    *contention = (struct contention){.count = topology->threads, .pinned = true};
    if (!crowd)
        return error_memory(error);
    for (int i = 0; i < measured && status == STATUS_OK && !calibrate_stopped(control); i++) {
        status = measure_count(topology, isa, level, memory_bytes, counts[i], crowd, error);
        if (status != STATUS_OK)
            break;
        struct middle total = total_of(crowd, control);
        contention->total_gbps[counts[i] - 1] = total.median;
        contention->measured[counts[i] - 1] = true;
        contention->spread = total.spread > contention->spread ? total.spread : contention->spread;
        contention->pinned = contention->pinned && !crowd->unpinned;
    }
    free(crowd);
    if (status == STATUS_OK && contention->measured[0])
        contention_fill(contention->total_gbps, contention->count);
    return status;
}
