/* Measures how fast one thread reads and writes each level. Of each cache a part is read that does
 * not fit the one before, of memory up to four times the largest cache, each kind of access in
 * every round. Where caches really end, which on virtual machines is not where they say, is then
 * read off one more series: rates over sizes that grow by half (reach_end). */
#include "validate/calibrate/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static double sample(struct walk *walk, const struct timing_clocks *clocks,
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
                double gbps = sample(&walks[l][kind], &clocks, control, &keeps);
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
            double gbps = sample(&walk, &clocks, control, &keeps);
            add_sample(&samples, gbps, keeps);
        }
        levels->reaches[levels->reach_count++] =
            (struct reach){walk.bytes, middle_of_samples(&samples).median};
        bytes *= reach_step;
    }
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
