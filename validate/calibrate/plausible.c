/* Finds numbers of a calibration that cannot be. A function for each kind of number holds it
 * against what hardware can do (ports times clock), what order levels must have, and how well it
 * was measured. A doubt names the number and the part to measure again. Measuring again keeps the
 * better of two attempts, so that it never makes anything worse. */
#include "validate/calibrate/plausible.h"

#include "validate/calibrate/host_calibration.h"
#include "validate/calibrate/stream_rates.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Clocks differ between two measurements, and between cores. */
static const double clock_room = 1.15;

/* Half the distance of the quartiles: with more, the middle is anywhere. */
static const double most_spread = 0.25;

/* What a level further out delivers is less, but for two measurements that are as good as equal;
 * writes to memory that are not read first can be faster than those to a cache. */
static const double read_room = 1.1, write_room = 1.5;

/* Threads that share nothing get n times as much, but for the clock of a processor that is all
 * busy. */
static const double least_share = 0.5;

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
    double least = least_share * one * (level->threads == 1 ? n : 1);
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
