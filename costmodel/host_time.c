/* Between the roofline of Williams, Waterman and Patterson (2009), where computing hides all moves,
 * and the execution-cache-memory model of Treibig and Hager (2010), where moves between caches add
 * up: which share of each level's moves shows is fitted to timed kernels. Phases that are joined
 * are added up first and hide their moves together; what is written beyond the L2 is never
 * hidden. */
#include "costmodel/host_time.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The least and the most that a component counts, in fs: their sum has to fit into an int64_t. */
static const double least_fs = 1, most_fs = (double)(INT64_MAX / (HOST_MAX_LEVELS + 3));

enum { SPLIT_BYTES = 64 }; /* a vector across two lines costs reading one more from the L1 */

/* Where the time of some work goes, in ns. */
struct parts {
    double steps, calls;
    double shown[HOST_MAX_LEVELS]; /* of each level's moves */
};

int host_pipe_count(const struct host *host)
{
    return host->level_count + 1;
}

void host_pipe_name(const struct host *host, int pipe, char name[HARDWARE_NAME_SIZE])
{
    const char *text = pipe == 0                  ? "compute"
                       : pipe < host->level_count ? host->levels[pipe].name
                                                  : "calls";
    (void)snprintf(name, HARDWARE_NAME_SIZE, "%.*s", HARDWARE_NAME_SIZE - 1, text);
}

/* What a stretch of joined phases computes and moves, in ns. */
struct stretch {
    double steps, calls;
    double moves[HOST_MAX_LEVELS]; /* at the levels' rates */
    double shown[HOST_MAX_LEVELS]; /* what computing does not hide of them */
};

static void add_phase(const struct host *host, const struct host_phase *phase, int threads,
                      struct stretch *stretch)
{
    const struct host_loop *loop = phase->loop >= 0 ? &host->loops[phase->loop] : NULL;
    const struct host_overlap *overlap = &host->overlap;
    int memory = host->level_count - 1;
    double factor = phase->copying ? overlap->copying : 1;
    stretch->steps += loop ? factor * phase->steps * loop->step_ns : 0;
    stretch->steps += phase->splits * SPLIT_BYTES / host->levels[0].read_gbps;
    stretch->calls += loop ? phase->calls * loop->call_ns : 0;
    for (int l = 1; l <= memory; l++) {
        double read = phase->read_bytes[l] / host_read_rate(host, l, threads);
        double written = phase->write_bytes[l] / host_write_rate(host, l, threads);
        stretch->moves[l] += read + written;
        stretch->shown[l] += overlap->exposed[l] * read +
                             (l == 1 ? overlap->exposed[l] : 1) * written +
                             overlap->jump_ns[l] * phase->jumps[l];
    }
    stretch->moves[memory] += phase->stream_bytes / host_stream_rate(host, threads);
    stretch->shown[memory] += overlap->walk_ns * phase->walks;
}

/* Where moving takes longer than all else, what computing leaves of it shows of every level. */
static void add_stretch(const struct host *host, const struct stretch *stretch, struct parts *parts)
{
    double all = 0, time = stretch->steps + stretch->calls;
    for (int l = 1; l < host->level_count; l++) {
        all += stretch->moves[l];
        time += stretch->shown[l];
    }
    double excess = fmax(all - time, 0);
    parts->steps += stretch->steps;
    parts->calls += stretch->calls;
    for (int l = 1; l < host->level_count; l++)
        parts->shown[l] +=
            stretch->shown[l] + (excess > 0 ? excess * (stretch->moves[l] / all) : 0);
}

static void add_up(const struct host *host, const struct host_work *work, struct parts *parts)
{
    memset(parts, 0, sizeof *parts);
    parts->calls = work->parallel_regions * host->parallel_ns;
    for (int i = 0; i < work->phase_count;) {
        struct stretch stretch = {0};
        do
            add_phase(host, &work->phases[i++], work->threads, &stretch);
        while (i < work->phase_count && work->phases[i].joined);
        add_stretch(host, &stretch, parts);
    }
}

double host_time_ns(const struct host *host, const struct host_work *work)
{
    struct parts parts;
    add_up(host, work, &parts);
    double ns = parts.steps + parts.calls;
    for (int l = 1; l < host->level_count; l++)
        ns += parts.shown[l];
    return fmin(fmax(ns, least_fs / FS_PER_NS), 1e300);
}

static int64_t fs_of(double ns)
{
    return (int64_t)fmin(ns * FS_PER_NS, most_fs);
}

void host_time(const struct host *host, const struct host_work *work, struct timeline *timeline)
{
    struct parts parts;
    int last = host->level_count;
    memset(timeline, 0, sizeof *timeline);
    timeline->blocked = -1;
    add_up(host, work, &parts);
    timeline->busy_fs[0] = fs_of(parts.steps);
    for (int l = 1; l < last; l++)
        timeline->busy_fs[l] = fs_of(parts.shown[l]);
    timeline->busy_fs[last] = fs_of(parts.calls);
    for (int pipe = 0; pipe <= last; pipe++)
        timeline->end_fs += timeline->busy_fs[pipe];
    if (timeline->end_fs == 0)
        timeline->end_fs = timeline->busy_fs[0] = (int64_t)least_fs;
}
