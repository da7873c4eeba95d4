/* Measures how fast one thread reads and writes each level, and what several get together that read
 * at once.
 *
 * Of each cache a part is read that does not fit the one before, of memory up to four times the
 * largest cache, each kind of access in every round. Where caches really end, which on virtual
 * machines is not where they say, is then read off one more series: rates over sizes that grow by
 * half. Reading, as time a byte, is half-way there between a level's own rate and the next one's:
 * the size is interpolated in its logarithm between the last fast point and the first slow one that
 * stays slow.
 *
 * Together there is one thread a processor, each pinned and with memory that it has touched first,
 * so that it lies near. A barrier begins every round and another ends it, so that nobody is timed
 * while others rest. A round counts where no thread was disturbed, and the total is the sum of
 * their rates. A gate holds all back until the last has been started, for a barrier would wait for
 * ever for a missing one. Totals of threads that were not measured lie on lines between those that
 * were. */
#include "validate/calibrate/levels.h"

#include "validate/timing.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool calibrate_stopped(const struct calibrate_control *control)
{
    return control->stop && *control->stop;
}

void calibrate_progress(const struct calibrate_control *control, const char *phase, int64_t done,
                        int64_t total)
{
    if (control->progress)
        control->progress(control->context, phase, done, total);
}

static bool calibrate_keeps(const struct timing_reading *reading)
{
    const double most_stretch = 1.01; /* as timing.c has it */
    bool stretched = reading->cpu_ns >= 0 && !(reading->wall_ns <= most_stretch * reading->cpu_ns);
    return reading->preemptions == 0 && !stretched;
}

double calibration_digits(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.4e", value);
    return strtod(text, NULL);
}

enum {
    ROUNDS = 11,
    REACH_ROUNDS = 3,
    WARM_PASSES = 3,
    LEAST_PASSES = 2,       /* in a sample */
    CHUNK_BYTES = 32 << 20, /* of memory in a sample */
    LEAST_MEMORY_BYTES = 64 << 20,
    ALIGNMENT = 4096,
};

static const int64_t most_memory_bytes = INT64_C(1) << 30;
static const double sample_ns = 3e5;
static const double reach_step = 1.5; /* from one size to the next */

/* One kind of pass over one piece of memory, `bytes` of it in turn. */
struct walk {
    stream_pass *pass;
    char *data;
    int64_t size, bytes, at;
};

static void walk_on(void *context)
{
    struct walk *walk = context;
    walk->pass(walk->data + walk->at, walk->bytes);
    walk->at += walk->bytes;
    if (walk->at + walk->bytes > walk->size)
        walk->at = 0;
}

/* Whole blocks, one at least. */
static int64_t blocks_of(double bytes)
{
    return bytes < STREAM_BLOCK_BYTES ? STREAM_BLOCK_BYTES
                                      : (int64_t)(bytes / STREAM_BLOCK_BYTES) * STREAM_BLOCK_BYTES;
}

int64_t level_bytes(const struct topology *topology, int level, int sharers, int64_t memory_bytes)
{
    if (level == topology->cache_count)
        return blocks_of((double)memory_bytes / sharers);
    const struct topology_cache *cache = &topology->caches[level];
    int together = sharers < cache->threads ? sharers : cache->threads;
    double most = 0.5 * (double)cache->bytes / together;
    if (level == 0)
        return blocks_of(most);
    double inner = (double)cache[-1].bytes;
    return blocks_of(fmax(fmin(4 * inner, most), 1.5 * inner));
}

void *calibrate_memory(int64_t wanted, int64_t least, int64_t *got)
{
    void *data = NULL;
    *got = (wanted + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    while (!data && *got > 0 && *got >= least) {
        data = aligned_alloc(ALIGNMENT, (size_t)*got);
        if (!data)
            *got = *got / 2 / ALIGNMENT * ALIGNMENT;
    }
    if (data)
        memset(data, 1, (size_t)*got); /* also: no page is the page of zeros */
    else
        *got = 0;
    return data;
}

/* Rate of one sample behind untimed passes: caches that keep only what is asked for again need more
 * than one. */
static double sample_rate(struct walk *walk, const struct timing_clocks *clocks,
                          struct calibrate_control *control, bool *keeps)
{
    const struct timing_subject subject = {walk_on, walk};
    struct timing_reading reading;
    bool moves_on = walk->bytes < walk->size;
    for (int i = 0; i < (moves_on ? 1 : WARM_PASSES); i++)
        walk_on(walk);
    int64_t runs = moves_on ? 1 : LEAST_PASSES;
    timing_sample(&subject, runs, clocks, &reading);
    if (reading.wall_ns < sample_ns) {
        double more = ceil(1.25 * sample_ns / fmax(reading.wall_ns, 100));
        runs = (int64_t)((double)runs * more);
        timing_sample(&subject, runs, clocks, &reading);
    }
    *keeps = calibrate_keeps(&reading);
    control->samples++;
    control->dropped += !*keeps;
    return (double)runs * (double)walk->bytes / reading.wall_ns;
}

/* The samples of one subject: those that count, or all where none does. */
struct samples {
    double kept[ROUNDS], all[ROUNDS];
    int kept_count, all_count;
};

static void add_sample(struct samples *samples, double value, bool keeps)
{
    samples->all[samples->all_count++] = value;
    if (keeps)
        samples->kept[samples->kept_count++] = value;
}

static struct middle middle_of_samples(struct samples *samples)
{
    return samples->kept_count ? middle_of(samples->kept, samples->kept_count)
                               : middle_of(samples->all, samples->all_count);
}

static struct walk walk_of(const struct levels *levels, enum host_isa isa, int level, int kind,
                           char *data)
{
    struct walk walk = {stream_find(isa, (enum stream_kind)kind), data, levels->level[level].bytes,
                        levels->level[level].bytes, 0};
    if (level + 1 < levels->count || walk.bytes <= CHUNK_BYTES)
        return walk;
    walk.bytes = CHUNK_BYTES;
    /* Each kind on its way: none finds what another has just left in a cache. */
    walk.at = walk.size * kind / STREAM_KINDS / CHUNK_BYTES * CHUNK_BYTES;
    if (walk.at + walk.bytes > walk.size)
        walk.at = 0;
    return walk;
}

static void measure_rates(enum host_isa isa, char *data, struct calibrate_control *control,
                          struct levels *levels)
{
    struct timing_clocks clocks = timing_clocks_of(1);
    struct samples samples[HOST_MAX_LEVELS][STREAM_KINDS];
    struct walk walks[HOST_MAX_LEVELS][STREAM_KINDS];
    memset(samples, 0, sizeof samples);
    for (int l = 0; l < levels->count; l++)
        for (int kind = 0; kind < STREAM_KINDS; kind++)
            walks[l][kind] = walk_of(levels, isa, l, kind, data);
    for (int round = 0; round < ROUNDS && !calibrate_stopped(control); round++) {
        calibrate_progress(control, "levels", round, ROUNDS);
        for (int l = 0; l < levels->count; l++)
            for (int kind = 0; kind < STREAM_KINDS && !calibrate_stopped(control); kind++) {
                bool keeps;
                if (!walks[l][kind].pass)
                    continue;
                double gbps = sample_rate(&walks[l][kind], &clocks, control, &keeps);
                add_sample(&samples[l][kind], gbps, keeps);
            }
    }
    for (int l = 0; l < levels->count; l++)
        for (int kind = 0; kind < STREAM_KINDS; kind++)
            levels->level[l].rates[kind] = middle_of_samples(&samples[l][kind]);
}

/* How fast reading is over more and more bytes. */
static void measure_reaches(enum host_isa isa, char *data, double first_bytes,
                            struct calibrate_control *control, struct levels *levels)
{
    struct timing_clocks clocks = timing_clocks_of(1);
    double bytes = first_bytes;
    while (bytes <= (double)levels->memory_bytes && levels->reach_count < LEVELS_MAX_REACHES &&
           !calibrate_stopped(control)) {
        struct walk walk = {stream_find(isa, STREAM_READ), data, blocks_of(bytes), blocks_of(bytes),
                            0};
        struct samples samples = {.all_count = 0};
        calibrate_progress(control, "reach", (int64_t)bytes, levels->memory_bytes);
        for (int round = 0; round < REACH_ROUNDS; round++) {
            bool keeps;
            double gbps = sample_rate(&walk, &clocks, control, &keeps);
            add_sample(&samples, gbps, keeps);
        }
        levels->reaches[levels->reach_count++] =
            (struct reach){walk.bytes, middle_of_samples(&samples).median};
        bytes *= reach_step;
    }
}

double reach_end(const struct reach *points, int count, double from_bytes, double inner_gbps,
                 double outer_gbps)
{
    const double apart = 1.1;
    if (!(inner_gbps > apart * outer_gbps) || !(outer_gbps > 0))
        return 0;
    double middle = (1 / inner_gbps + 1 / outer_gbps) / 2; /* ns a byte */
    const struct reach *fast = NULL;
    for (int i = 0; i < count; i++) {
        bool slow = 1 / points[i].gbps > middle;
        bool stays = i + 1 == count || 1 / points[i + 1].gbps > middle;
        if ((double)points[i].bytes <= from_bytes || (slow && !stays))
            continue;
        if (!slow) {
            fast = &points[i];
            continue;
        }
        if (!fast)
            return (double)points[i].bytes;
        double before = 1 / fast->gbps, after = 1 / points[i].gbps;
        double share = fmin(fmax((middle - before) / (after - before), 0), 1);
        double low = log((double)fast->bytes), high = log((double)points[i].bytes);
        return exp(low + share * (high - low));
    }
    return 0;
}

static void find_ends(const struct topology *topology, struct levels *levels)
{
    for (int l = 0; l < topology->cache_count; l++)
        levels->level[l].reach_bytes =
            (int64_t)reach_end(levels->reaches, levels->reach_count,
                               l ? (double)level_bytes(topology, l, 1, levels->memory_bytes) : 0,
                               levels->level[l].rates[STREAM_READ].median,
                               levels->level[l + 1].rates[STREAM_READ].median);
}

/* Four times the largest cache, so that little of it stays there. */
static int64_t wanted_memory(const struct topology *topology)
{
    int64_t largest = topology->caches[topology->cache_count - 1].bytes;
    double wanted =
        fmin(fmax(4.0 * (double)largest, 4.0 * LEAST_MEMORY_BYTES), (double)most_memory_bytes);
    if (topology->memory_bytes > 0)
        wanted = fmin(wanted, (double)topology->memory_bytes / 4);
    return (int64_t)fmax(wanted, (double)LEAST_MEMORY_BYTES);
}

enum status levels_measure(const struct topology *topology, enum host_isa isa,
                           struct calibrate_control *control, struct levels *levels,
                           struct error *error)
{
    struct timing_processors before;
    memset(levels, 0, sizeof *levels);
    char *data =
        calibrate_memory(wanted_memory(topology), LEAST_MEMORY_BYTES / 8, &levels->memory_bytes);
    if (!data)
        return error_set(error, STATUS_NO_MEMORY,
                         "out of memory: expected %d MiB to measure memory with",
                         LEAST_MEMORY_BYTES / 8 >> 20);
    levels->count = topology->cache_count + 1;
    for (int l = 0; l < levels->count; l++) {
        int64_t bytes = level_bytes(topology, l, 1, levels->memory_bytes);
        levels->level[l].bytes = bytes < levels->memory_bytes ? bytes : levels->memory_bytes;
    }
    timing_pin_here(&before);
    measure_rates(isa, data, control, levels);
    measure_reaches(isa, data, (double)topology->caches[0].bytes / 4, control, levels);
    timing_unpin(&before);
    free(data);
    find_ends(topology, levels);
    return STATUS_OK;
}

/* ---- threads together ---- */

/* The next count that was measured, or -1. */
static int next_measured(const double *totals, int count, int after)
{
    for (int i = after + 1; i < count; i++)
        if (totals[i] > 0)
            return i;
    return -1;
}

void contention_fill(double *totals, int count)
{
    for (int i = 0, next; i < count; i = next) {
        next = next_measured(totals, count, i);
        if (next < 0) { /* as many more get no more */
            for (int j = i + 1; j < count; j++)
                totals[j] = totals[i];
            break;
        }
        for (int j = i + 1; j < next; j++)
            totals[j] = totals[i] + (totals[next] - totals[i]) * (j - i) / (next - i);
    }
    totals[0] = calibration_digits(totals[0]);
    for (int n = 2; n <= count; n++)
        totals[n - 1] = fmin(calibration_digits(totals[n - 1]), totals[n - 2] / (n - 1) * n);
}

int contention_counts(int threads, int counts[CONTENTION_MAX_COUNTS])
{
    int count = 0;
    for (int n = 1; n < threads && count < CONTENTION_MAX_COUNTS - 1; n += n < 4 ? 1 : n / 3)
        counts[count++] = n;
    counts[count++] = threads;
    return count;
}

enum { CROWD_ROUNDS = 7, LEAST_BATCH_BYTES = 1 << 20 };

static const double reading_ns = 2e6; /* of a sample */

struct crowd;

struct member {
    struct crowd *crowd;
    pthread_t thread;
    int processor;
    char *data;
    int64_t done_bytes;
    double gbps[CROWD_ROUNDS];
    bool kept[CROWD_ROUNDS];
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
    for (int round = 0; round < CROWD_ROUNDS; round++) {
        struct timing_reading reading;
        crowd->pass(member->data, crowd->bytes);
        pthread_barrier_wait(&crowd->together);
        timing_sample(&subject, 1, &clocks, &reading);
        member->gbps[round] = (double)member->done_bytes / reading.wall_ns;
        member->kept[round] = calibrate_keeps(&reading);
        pthread_barrier_wait(&crowd->together); /* nobody stops while others are still timed */
    }
}

static void *read_together(void *context)
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
    while (started < crowd->count && pthread_create(&crowd->members[started].thread, NULL,
                                                    read_together, &crowd->members[started]) == 0)
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
    double kept[CROWD_ROUNDS], all[CROWD_ROUNDS];
    int kept_count = 0;
    for (int round = 0; round < CROWD_ROUNDS; round++) {
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
    return kept_count ? middle_of(kept, kept_count) : middle_of(all, CROWD_ROUNDS);
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
