/* Measures everything about this machine's processor. The parts are measured in an order in which
 * later ones can rely on earlier ones (rates before contention, clock and peak before loops). Each
 * is repeated while its numbers are implausible, and the attempt with the fewest doubts is kept.
 * Noise is measured at the beginning and the end, since a machine may grow busy meanwhile.
 *
 * Opening and closing a parallel region of all threads is timed in a child process
 * (validate/worker.h): OpenMP's threads would not survive a later fork in this one. A runtime that
 * hangs is ended after a while, and it is an error that regions could not be timed.
 *
 * Finds numbers of a calibration that cannot be. A function for each kind of number holds it
 * against what hardware can do (ports times clock), what order levels must have, and how well it
 * was measured. A doubt names the number and the part to measure again. Measuring again keeps the
 * better of two attempts, so that it never makes anything worse. */
#include "validate/calibrate/host_calibration.h"

#include "core/status.h"
#include "validate/calibrate/levels.h"
#include "validate/calibrate/stream_rates.h"
#include "validate/worker.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Clocks differ between two measurements, and between cores. */
static const double clock_room = 1.15;

/* Half the distance of the quartiles: with more, the middle is anywhere. */
static const double most_spread = 0.25;

/* What a level further out delivers is less, but for two measurements that are as good as equal;
 * writes to memory that are not read first can be faster than those to a cache. */
static const double read_room = 1.1, write_room = 1.5;

/* Threads that share nothing get n times as much, but for the clock of a processor that is all
 * busy. */
static const double least_gained_share = 0.5;

/* Of a sample, what the clock's steps may be at most. */
static const double most_clock_step_ns = 3e3;

static const double least_region_ns = 20; /* a cache line to another core and back */
static const double most_line_error = 1, most_fit_error = 0.35;

static void doubt(struct doubts *doubts, enum calibrate_part part, const char *key,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));

static void doubt(struct doubts *doubts, enum calibrate_part part, const char *key,
                  const char *format, ...)
{
    if (*key && doubts_about(doubts, key)) /* one of a number is enough */
        return;
    if (doubts->count++ >= DOUBTS_MOST)
        return;
    struct doubt *new = &doubts->list[doubts->count - 1];
    va_list list;
    new->part = part;
    (void)snprintf(new->key, sizeof new->key, "%s", key);
    va_start(list, format);
    (void)vsnprintf(new->text, sizeof new->text, format, list);
    va_end(list);
}

/* ---- clock and peak ------------------------------------------------------------------------- */

static void judge_clock(const struct host_calibration *c, struct doubts *doubts)
{
    if (c->clock_step_ns > most_clock_step_ns)
        doubt(doubts, PART_CLOCK, "", "the clock advances in steps of %.3g us, expected at most %g",
              c->clock_step_ns * 1e-3, most_clock_step_ns * 1e-3);
    if (c->clock_ghz > 0 && !(c->clock_ghz >= 0.1 && c->clock_ghz <= 10))
        doubt(doubts, PART_CLOCK, "", "additions at %.3g GHz, expected 0.1 to 10", c->clock_ghz);
}

/* Units for multiply-adds, or for each of the two; loads a cycle of so many lanes. */
static double ports_of(enum host_isa isa)
{
#if defined __x86_64__
    (void)isa;
    return 2;
#else
    return isa <= HOST_NEON ? 4 : 2;
#endif
}

static double loads_of(enum host_isa isa)
{
    static const double loads[HOST_ISA_COUNT] = {
        [HOST_PORTABLE] = 4, [HOST_NEON] = 4, [HOST_AVX2] = 3, [HOST_AVX512] = 2};
    return loads[isa];
}

static void judge_peak(const struct host_calibration *c, struct doubts *doubts)
{
    const struct host *host = &c->host;
    double operations = 2.0 * peak_lanes(host->isa) * c->clock_ghz;
    double most = operations * ports_of(host->isa) * clock_room, least = operations / 4;
    if (host->peak_gflops <= 0 || c->clock_ghz <= 0)
        return;
    if (host->peak_gflops > most || host->peak_gflops < least)
        doubt(doubts, PART_PEAK, "host.peak_gflops",
              "%.4g GFLOP/s at %.3g GHz, expected %.3g to %.4g", host->peak_gflops, c->clock_ghz,
              least, most);
    else if (c->peak_spread > most_spread)
        doubt(doubts, PART_PEAK, "host.peak_gflops", "+- %.0f %%, expected at most %.0f",
              100 * c->peak_spread, 100 * most_spread);
}

/* ---- levels --------------------------------------------------------------------------------- */

static void level_key(const struct host_level *level, const char *member, char key[DOUBT_KEY_SIZE])
{
    (void)snprintf(key, DOUBT_KEY_SIZE, "host.levels.%.30s.%s", level->name, member);
}

static void judge_spread(const struct host_level *level, const char *member, double spread,
                         enum calibrate_part part, struct doubts *doubts)
{
    char key[DOUBT_KEY_SIZE];
    level_key(level, member, key);
    if (spread > most_spread)
        doubt(doubts, part, key, "+- %.0f %%, expected at most %.0f", 100 * spread,
              100 * most_spread);
}

/* Of two neighbours the inner one is at fault: what disturbs makes slower. */
static void judge_order(const struct host_level *inner, const char *member, double inner_gbps,
                        double outer_gbps, double room, struct doubts *doubts)
{
    char key[DOUBT_KEY_SIZE];
    level_key(inner, member, key);
    if (outer_gbps > room * inner_gbps)
        doubt(doubts, PART_LEVELS, key, "%.4g GB/s, expected no less than %s's %.4g", inner_gbps,
              inner[1].name, outer_gbps);
}

static void judge_first_level(const struct host_calibration *c, struct doubts *doubts)
{
    const struct host_level *level = &c->host.levels[0];
    enum host_isa isa = c->host.isa;
    char key[DOUBT_KEY_SIZE];
    double most = loads_of(isa) * peak_lanes(isa) * 4 * c->clock_ghz * clock_room;
    level_key(level, "read_gbps", key);
    if (c->clock_ghz > 0 && level->read_gbps > most)
        doubt(doubts, PART_LEVELS, key, "%.4g GB/s at %.3g GHz, expected at most %.4g",
              level->read_gbps, c->clock_ghz, most);
}

static void judge_levels(const struct host_calibration *c, struct doubts *doubts)
{
    const struct host *host = &c->host;
    if (host->level_count > 0)
        judge_first_level(c, doubts);
    for (int l = 0; l < host->level_count; l++) {
        const struct host_level *level = &host->levels[l];
        const struct level_quality *q = &c->levels[l];
        judge_spread(level, "read_gbps", q->read_spread, PART_LEVELS, doubts);
        judge_spread(level, "write_gbps", q->write_spread, PART_LEVELS, doubts);
        judge_spread(level, "stream_gbps", q->stream_spread, PART_LEVELS, doubts);
        if (l + 1 == host->level_count)
            continue;
        judge_order(level, "read_gbps", level->read_gbps, level[1].read_gbps, read_room, doubts);
        judge_order(level, "write_gbps", level->write_gbps, level[1].write_gbps, write_room,
                    doubts);
    }
}

/* ---- threads together ----------------------------------------------------------------------- */

static void judge_total(const struct host_level *level, int n, struct doubts *doubts)
{
    double total = level->shared_gbps[n - 1], one = level->shared_gbps[0];
    double least = least_gained_share * one * (level->threads == 1 ? n : 1);
    char key[DOUBT_KEY_SIZE], member[32];
    (void)snprintf(member, sizeof member, "shared_gbps.%d", n);
    level_key(level, member, key);
    if (total < least)
        doubt(doubts, PART_SHARED, key, "%.4g GB/s by %d threads, expected at least %.4g", total, n,
              least);
}

static void judge_shared(const struct host_calibration *c, struct doubts *doubts)
{
    for (int l = 0; l < c->host.level_count; l++) {
        const struct host_level *level = &c->host.levels[l];
        char key[DOUBT_KEY_SIZE];
        if (level->shared_count == 0)
            continue;
        double one = level->shared_gbps[0], alone = level->read_gbps;
        level_key(level, "shared_gbps.1", key);
        if (one < 0.5 * alone || alone < 0.5 * one)
            doubt(doubts, PART_SHARED, key, "%.4g GB/s, but %.4g when measured alone", one, alone);
        for (int n = 2; n <= level->shared_count; n++)
            judge_total(level, n, doubts);
        judge_spread(level, "shared_gbps.1", c->levels[l].shared_spread, PART_SHARED, doubts);
    }
}

/* ---- parallel regions ----------------------------------------------------------------------- */

/* Waking threads takes microseconds, meeting at a barrier less than one for each; what is longer
 * has waited for its turn on a processor. */
static double parallel_most_ns(int threads)
{
    return 1e5 + 1e3 * threads;
}

bool parallel_is_plausible(double ns, int threads)
{
    return ns >= (threads > 1 ? least_region_ns : 0) && ns <= parallel_most_ns(threads);
}

static void judge_parallel(const struct host_calibration *c, struct doubts *doubts)
{
    int threads = c->host.threads;
    double ns = c->parallel_measured_ns;
    if (ns > 0 && !parallel_is_plausible(ns, threads))
        doubt(doubts, PART_PARALLEL, "host.parallel_ns",
              "%.4g us for a region of %d threads, expected %.3g to %.4g", ns * 1e-3, threads,
              threads > 1 ? least_region_ns * 1e-3 : 0, parallel_most_ns(threads) * 1e-3);
}

/* ---- loops and the fit ---------------------------------------------------------------------- */

static void judge_loop(const struct host_calibration *c, int i, struct doubts *doubts)
{
    const struct host_loop *loop = &c->host.loops[i];
    double peak = c->host.peak_gflops, gflops = loop->flops / loop->step_ns;
    double error = i < c->loops.count ? c->loops.loops[i].fit.max_error : 0;
    char key[DOUBT_KEY_SIZE];
    (void)snprintf(key, sizeof key, "host.loops.%s.step_ns", loop->name);
    if (peak > 0 && gflops > clock_room * peak)
        doubt(doubts, PART_LOOPS, key, "%.4g GFLOP/s, expected at most the peak's %.4g", gflops,
              peak);
    else if (error > most_line_error)
        doubt(doubts, PART_LOOPS, key, "%.0f %% off a straight line, expected at most %.0f",
              100 * error, 100 * most_line_error);
    else if (loop->spread > most_spread)
        doubt(doubts, PART_LOOPS, key, "+- %.0f %%, expected at most %.0f", 100 * loop->spread,
              100 * most_spread);
}

static void judge_loops(const struct host_calibration *c, struct doubts *doubts)
{
    for (int i = 0; i < c->host.loop_count; i++)
        judge_loop(c, i, doubts);
}

static void judge_fit(const struct host_calibration *c, struct doubts *doubts)
{
    if (c->fitted_kernels && c->fit.median_error > most_fit_error)
        doubt(doubts, PART_FIT, "host.overlap",
              "products are predicted %.0f %% off in the median, expected at most %.0f",
              100 * c->fit.median_error, 100 * most_fit_error);
}

/* ---- all ------------------------------------------------------------------------------------ */

void doubts_find(const struct host_calibration *calibration, struct doubts *doubts)
{
    static void (*const judges[])(const struct host_calibration *c, struct doubts *doubts) = {
        judge_clock, judge_levels, judge_shared, judge_parallel,
        judge_peak,  judge_loops,  judge_fit};
    doubts->count = 0;
    for (size_t i = 0; i < sizeof judges / sizeof *judges; i++)
        judges[i](calibration, doubts);
}

static int listed(const struct doubts *doubts)
{
    return doubts->count < DOUBTS_MOST ? doubts->count : DOUBTS_MOST;
}

int doubts_of(const struct doubts *doubts, enum calibrate_part part)
{
    int count = 0;
    for (int i = 0; i < listed(doubts); i++)
        count += doubts->list[i].part == part;
    return count;
}

const struct doubt *doubts_about(const struct doubts *doubts, const char *key)
{
    for (int i = 0; i < listed(doubts); i++)
        if (strcmp(doubts->list[i].key, key) == 0)
            return &doubts->list[i];
    return NULL;
}

/* ---- measuring again ------------------------------------------------------------------------ */

enum status settle(const struct attempt *attempt, struct error *error)
{
    TRY(attempt->measure(attempt->context, error));
    int doubtful = attempt->doubtful(attempt->context);
    for (int tries = 1; tries < SETTLE_TRIES && doubtful > 0; tries++) {
        attempt->keep(attempt->context);
        TRY(attempt->measure(attempt->context, error));
        int now = attempt->doubtful(attempt->context);
        if (now >= doubtful)
            attempt->restore(attempt->context);
        else
            doubtful = now;
    }
    return STATUS_OK;
}

/* A cache of which less than this share is there is taken to be as large as was measured: the rest
 * belongs to others, as on a virtual machine. */
static const double least_cache_share = 0.5;

struct measuring {
    loop_family_finder *family_at;
    struct calibrate_control *control;
    struct host_calibration *calibration;
    struct levels levels;
    const struct part *part;       /* that is being measured */
    struct host_calibration aside; /* before it was measured again */
};

/* One part, and the doubts that measure it again. */
struct part {
    enum status (*measure)(struct measuring *m, struct error *error);
    enum calibrate_part doubted;
};

static void note(struct host_calibration *calibration, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void note(struct host_calibration *calibration, const char *format, ...)
{
    if (calibration->note_count == CALIBRATE_MAX_NOTES)
        return;
    char *text = calibration->notes[calibration->note_count];
    va_list list;
    va_start(list, format);
    (void)vsnprintf(text, sizeof calibration->notes[0], format, list);
    va_end(list);
    for (int i = 0; i < calibration->note_count; i++)
        if (strcmp(calibration->notes[i], text) == 0) /* what is measured again says so again */
            return;
    calibration->note_count++;
}

static enum status measure_start(struct measuring *m, struct error *error)
{
    calibrate_progress(m->control, "noise", 0, 1);
    return timing_noise(&m->calibration->noise[0], error);
}

static enum status measure_clock(struct measuring *m, struct error *error)
{
    m->calibration->clock_step_ns = timing_clock_step_ns();
    return timing_clock_rate(&m->calibration->clock_ghz, error);
}

static void set_level(struct measuring *m, int l)
{
    const struct topology *topology = &m->calibration->topology;
    const struct level_rates *rates = &m->levels.level[l];
    struct host_level *level = &m->calibration->host.levels[l];
    struct level_quality *quality = &m->calibration->levels[l];
    const struct topology_cache *cache = l < topology->cache_count ? &topology->caches[l] : NULL;
    strcpy(level->name, cache ? cache->name : "memory");
    level->capacity_bytes = quality->nominal_bytes = cache ? cache->bytes : 0;
    level->line_bytes = cache ? cache->line_bytes : 0;
    level->threads = cache ? cache->threads : topology->threads;
    level->read_gbps = calibration_digits(rates->rates[STREAM_READ].median);
    level->write_gbps = calibration_digits(rates->rates[STREAM_WRITE].median);
    level->stream_gbps = calibration_digits(rates->rates[STREAM_PAST].median);
    quality->bytes = rates->bytes;
    quality->read_spread = rates->rates[STREAM_READ].spread;
    quality->write_spread = rates->rates[STREAM_WRITE].spread;
    quality->stream_spread = rates->rates[STREAM_PAST].spread;
    quality->shrunk = rates->reach_bytes > 0 && cache &&
                      (double)rates->reach_bytes < least_cache_share * (double)cache->bytes &&
                      (l == 0 || rates->reach_bytes > level[-1].capacity_bytes);
    if (quality->shrunk)
        level->capacity_bytes = (int64_t)calibration_digits((double)rates->reach_bytes);
}

static enum status measure_levels(struct measuring *m, struct error *error)
{
    struct host *host = &m->calibration->host;
    TRY(levels_measure(&m->calibration->topology, host->isa, m->control, &m->levels, error));
    host->level_count = m->levels.count;
    for (int l = 0; l < host->level_count; l++)
        set_level(m, l);
    return STATUS_OK;
}

/* A level that cannot be measured by so many threads keeps the rates of one. */
static enum status measure_contention(struct measuring *m, struct error *error)
{
    struct host *host = &m->calibration->host;
    m->calibration->pinned = true;
    for (int l = 0; l < host->level_count && !calibrate_stopped(m->control); l++) {
        struct contention contention;
        struct host_level *level = &host->levels[l];
        calibrate_progress(m->control, "contention", l, host->level_count);
        enum status status =
            contention_measure(&m->calibration->topology, host->isa, l, m->levels.memory_bytes,
                               m->control, &contention, error);
        if (status == STATUS_NO_MEMORY || status == STATUS_IO) {
            note(m->calibration, "%s: no contention curve: %.100s", level->name, error->text);
            continue;
        }
        if (status != STATUS_OK)
            return status;
        level->shared_count = contention.count;
        memcpy(level->shared_gbps, contention.total_gbps, sizeof level->shared_gbps);
        m->calibration->levels[l].shared_spread = contention.spread;
        m->calibration->pinned = m->calibration->pinned && contention.pinned;
    }
    return STATUS_OK;
}

enum { REGION_ROUNDS = 21, PATIENCE_S = 20 };

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

static void time_regions(void *context)
{
    struct regions *regions = context;
    const struct timing_subject subject = {open_and_close, regions};
    const struct timing_options options = {.rounds = REGION_ROUNDS, .threads = regions->threads};
    struct error error;
    regions->measured =
        timing_measure(&subject, 1, &options, &regions->timing, &error) == STATUS_OK;
}

static enum status run_in_child(struct regions *regions, struct error *error)
{
    struct worker worker;
    struct worker_end end = {.finished = false};
    TRY(worker_start(&worker, time_regions, regions, error));
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

/* Times an empty parallel region in a child process, in memory that both see. */
static enum status parallel_measure(int threads, struct timing *timing, struct error *error)
{
    struct regions *regions =
        /* cppcheck-suppress invalidFunctionArg ; mmap(2): -1 is right where there is no file */
        mmap(NULL, sizeof *regions, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (regions == MAP_FAILED)
        return error_memory(error);
    regions->threads = threads;
    enum status status = run_in_child(regions, error);
    *timing = regions->timing;
    munmap(regions, sizeof *regions);
    return status;
}

static enum status measure_parallel(struct measuring *m, struct error *error)
{
    struct timing timing;
    struct host *host = &m->calibration->host;
    calibrate_progress(m->control, "parallel", 0, 1);
    enum status status = parallel_measure(host->threads, &timing, error);
    if (status == STATUS_IO) {
        note(m->calibration, "%.150s: taken to be free", error->text);
        return STATUS_OK;
    }
    if (status != STATUS_OK)
        return status;
    host->parallel_ns = calibration_digits(timing.median_ns);
    m->calibration->parallel_measured_ns = host->parallel_ns;
    m->calibration->parallel_spread = timing.spread;
    return STATUS_OK;
}

static enum status measure_peak(struct measuring *m, struct error *error)
{
    struct middle peak;
    calibrate_progress(m->control, "peak", 0, 1);
    TRY(peak_measure(m->calibration->host.isa, m->control, &peak, error));
    m->calibration->host.peak_gflops = calibration_digits(peak.median);
    m->calibration->peak_spread = peak.spread;
    return STATUS_OK;
}

static enum status measure_loops(struct measuring *m, struct error *error)
{
    struct host *host = &m->calibration->host;
    struct loop_times *times = &m->calibration->loops;
    TRY(loop_times_measure(m->family_at, host->isa, m->calibration->topology.caches[0].bytes,
                           m->control, times, error));
    for (host->loop_count = 0; host->loop_count < times->count; host->loop_count++) {
        const struct loop_time *time = &times->loops[host->loop_count];
        struct host_loop *loop = &host->loops[host->loop_count];
        memcpy(loop->name, time->name, sizeof loop->name);
        loop->step_ns = calibration_digits(time->fit.step_ns);
        loop->call_ns = calibration_digits(time->fit.call_ns);
        loop->spread = calibration_digits(time->fit.spread);
        loop->flops = time->flops;
    }
    if (times->left_out)
        note(m->calibration,
             "%d inner loops are not in the description: no %s, or no straight line",
             times->left_out, host_isa_name(host->isa));
    return STATUS_OK;
}

/* The word in brackets, "[madvise]", or the first word of a file; "" where it cannot be read. */
static void read_word(const char *path, char *word, size_t size)
{
    char line[128] = "";
    word[0] = '\0';
    FILE *file = fopen(path, "r");
    if (!file)
        return;
    if (fgets(line, sizeof line, file)) {
        const char *from = strchr(line, '[');
        from = from ? from + 1 : line;
        snprintf(word, size, "%.*s", (int)strcspn(from, " ]\n"), from);
    }
    fclose(file);
}

static void describe_settings(struct host_calibration *c)
{
    char governor[32], turbo[32], pages[32];
    read_word("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor, sizeof governor);
    read_word("/sys/devices/system/cpu/intel_pstate/no_turbo", turbo, sizeof turbo);
    read_word("/sys/kernel/mm/transparent_hugepage/enabled", pages, sizeof pages);
    snprintf(c->host.settings, sizeof c->host.settings,
             "%s; governor %.20s; turbo %s; huge pages %.20s; noise %.1f %%%s",
             c->pinned ? "pinned" : "not pinned", *governor ? governor : "unknown",
             !*turbo         ? "unknown"
             : *turbo == '0' ? "on"
                             : "off",
             *pages ? pages : "unknown", 100 * c->host.noise, c->noisy ? ", noisy" : "");
}

static enum status measure_end(struct measuring *m, struct error *error)
{
    struct host_calibration *c = m->calibration;
    TRY(timing_noise(&c->noise[1], error));
    for (int i = 0; i < 2; i++) {
        c->host.noise = fmax(c->host.noise, calibration_digits(c->noise[i].spread));
        c->noisy = c->noisy || timing_is_noisy(&c->noise[i]);
    }
    c->noisy = c->noisy ||
               (double)m->control->dropped > TIMING_NOISY_DROPPED * (double)m->control->samples;
    return STATUS_OK;
}

void calibrate_judge(struct host_calibration *c)
{
    doubts_find(c, &c->doubts);
    if (doubts_about(&c->doubts, "host.parallel_ns"))
        c->host.parallel_ns = 0;
    c->noisy = c->noisy || c->doubts.count > 0 || load_disturbs(&c->load, c->host.threads);
    describe_settings(c);
}

static void describe_machine(struct host_calibration *c)
{
    const struct topology *t = &c->topology;
    if (t->allowed < t->processors)
        note(c,
             "%d of %d processors are there for this process; the others are offline or "
             "belong to others",
             t->allowed, t->processors);
    if (t->quota > 0 && t->quota < t->allowed)
        note(c, "the container has %.4g processors' worth of time", t->quota);
    if (t->threads == 1)
        note(c, "one thread: there is nothing to share, and contention curves have one number");
    if (t->allowed > HOST_MAX_THREADS)
        note(c, "of %d processors %d are looked at", t->allowed, HOST_MAX_THREADS);
    if (t->assumed)
        note(c, "the system does not tell the sizes of its caches: common ones are assumed");
    if (c->host.isa < HOST_AVX512)
        note(c, "no AVX-512%s: loops of the %s build", c->host.isa < HOST_AVX2 ? " or AVX2" : "",
             host_isa_name(c->host.isa));
}

static void set_date(struct host *host)
{
    time_t now = time(NULL);
    struct tm day;
    if (!gmtime_r(&now, &day) || !strftime(host->date, sizeof host->date, "%Y-%m-%d", &day))
        strcpy(host->date, "1970-01-01");
}

static enum status measure_part(void *context, struct error *error)
{
    struct measuring *m = context;
    return calibrate_stopped(m->control) ? STATUS_OK : m->part->measure(m, error);
}

static int part_doubts(void *context)
{
    struct measuring *m = context;
    if (calibrate_stopped(m->control))
        return 0;
    doubts_find(m->calibration, &m->calibration->doubts);
    return doubts_of(&m->calibration->doubts, m->part->doubted);
}

static void keep_part(void *context)
{
    struct measuring *m = context;
    m->aside = *m->calibration;
}

static void restore_part(void *context)
{
    struct measuring *m = context;
    *m->calibration = m->aside;
}

static enum status measure_all(struct measuring *m, struct error *error)
{
    static const struct part parts[] = {
        {measure_start, PART_NONE},        {measure_clock, PART_CLOCK},
        {measure_levels, PART_LEVELS},     {measure_contention, PART_SHARED},
        {measure_parallel, PART_PARALLEL}, {measure_peak, PART_PEAK},
        {measure_loops, PART_NONE},        {measure_end, PART_NONE}};
    const struct attempt attempt = {measure_part, part_doubts, keep_part, restore_part, m};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == STATUS_OK; i++) {
        m->part = &parts[i];
        status = settle(&attempt, error);
    }
    m->calibration->stopped = calibrate_stopped(m->control);
    return status;
}

enum status calibrate_host(const struct calibrate_host_options *options,
                           struct host_calibration *calibration, struct error *error)
{
    static const struct topology_source here = {NULL, NULL, NULL};
    struct calibrate_control control = options->control;
    struct host *host = &calibration->host;
    double begin_ns = timing_now_ns();
    struct load_reading before, after;
    load_read(NULL, &before);
    memset(calibration, 0, sizeof *calibration);
    enum status status = topology_read(&here, options->threads, &calibration->topology, error);
    if (status != STATUS_OK)
        return status;
    struct measuring *m = calloc(1, sizeof *m);
    if (!m)
        return error_memory(error);
    *m = (struct measuring){
        .control = &control, .calibration = calibration, .family_at = options->family_at};
    host->isa = host_isa_best();
    host->threads = calibration->topology.threads;
    memcpy(host->cpu, calibration->topology.cpu, sizeof host->cpu);
    set_date(host);
    describe_machine(calibration);
    for (int l = 0; l < HOST_MAX_LEVELS; l++)
        host->overlap.exposed[l] = 1;
    host->overlap.copying = 1;
    status = measure_all(m, error);
    free(m);
    load_read(NULL, &after);
    calibration->load = load_between(&before, &after);
    if (status == STATUS_OK && !calibration->stopped)
        calibrate_judge(calibration);
    calibration->samples = control.samples;
    calibration->dropped = control.dropped;
    calibration->seconds = (timing_now_ns() - begin_ns) * 1e-9;
    return status;
}

bool host_is_this_machine(const struct host *host, char *why, size_t size)
{
    static const struct topology_source here = {NULL, NULL, NULL};
    struct topology topology;
    struct error error;
    if (topology_read(&here, 0, &topology, &error) != STATUS_OK) {
        snprintf(why, size, "%s", error.text);
        return false;
    }
    if (strcmp(topology.cpu, host->cpu) != 0)
        snprintf(why, size, "it was measured on \"%s\", and this is \"%s\"", host->cpu,
                 topology.cpu);
    else if (!host_isa_has(host->isa))
        snprintf(why, size, "its loops are for %s, and this processor runs %s",
                 host_isa_name(host->isa), host_isa_name(host_isa_best()));
    else
        return true;
    return false;
}
