/* Times things with real clocks, by a protocol that reads none.
 *
 * The protocol decides which sample to take next and what the samples say: a state machine over
 * samples in one piece of memory. A subject's runs a sample grow until a sample is long enough;
 * then each round takes one sample of each subject, and between rounds those far behind fall out
 * and the budget is looked at. A sample is written before the count that makes it visible, so a
 * process that dies in between leaves nothing half-done. Medians and quartiles are GSL's: between
 * two samples, what lies between.
 *
 * It is played with wall time by CLOCK_MONOTONIC, CPU time of the thread where that clock does not
 * merely tick, and preemptions by getrusage, on a pinned thread where there is one. Pinning keeps
 * the mask that was there, and gives it back. Noise is what the protocol makes of a chain of
 * multiplications that nothing but clock rate and other work can slow down, and the clock rate
 * follows from a chain of additions of one cycle each. */
#include "validate/timing.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

struct middle middle_of(double *samples, int count)
{
    struct middle middle = {0, 0, count};
    if (count < 1)
        return middle;
    size_t n = (size_t)count;
    gsl_sort(samples, 1, n);
    middle.median = gsl_stats_median_from_sorted_data(samples, 1, n);
    double low = gsl_stats_quantile_from_sorted_data(samples, 1, n, 0.25);
    double high = gsl_stats_quantile_from_sorted_data(samples, 1, n, 0.75);
    middle.spread = middle.median > 0 ? (high - low) / 2 / middle.median : 0;
    return middle;
}

/* ---- the protocol ---- */

/* A sample that sizes may be cold or have been preempted: its time is trusted no further than this,
 * and the next is made a little longer than it has to be. */
static const double grow_most = 16, grow_least = 1.25, grow_margin = 1.1;
static const int64_t max_runs = INT64_C(1) << 30;

static const double max_stretch = 1.01; /* wall-clock by CPU time of a sample that counts */
/* Of a preemption, in CPU time: 2 MiB of an L2 read anew at 20 GB/s. It weighs less than 1 % in a
 * sample 100 times as long; and of samples of 0.1 s, 2 in 12 are preempted on a quiet machine. */
static const double preemption_ns = 1e5;
static const double default_sample_ns = 3e5;
static const double agreement = 1.25; /* the slowest of a few samples by the fastest */

/* Rounds by how long a run takes; from `long_run_ns` on, one run is so long that caches and page
 * faults of the first do not matter to a median, and the sample that sized counts. */
static const struct {
    double over_ns;
    int rounds;
} rounds_by_length[] = {{1e8, 7}, {2e7, 15}, {0, 31}};
static const double long_run_ns = 2e7;

enum { ROUNDS_MOST = 31, SAMPLES_FOR_ONE = 2 }; /* at most so many samples for one that counts */

enum status timing_options_check(const struct timing_options *options, int count,
                                 struct error *error)
{
    if (count < 0 || count > TIMING_MAX_SUBJECTS)
        return error_set(error, STATUS_TOO_LARGE, "%d things to time, expected 0 to %d", count,
                         TIMING_MAX_SUBJECTS);
    if (options->rounds < 0 || options->rounds > TIMING_MAX_ROUNDS)
        return error_set(error, STATUS_INVALID, "%d rounds, expected 0 to %d", options->rounds,
                         TIMING_MAX_ROUNDS);
    if (!(options->min_sample_ns >= 0 && options->min_sample_ns <= 1e12))
        return error_set(error, STATUS_INVALID, "samples of %g ns, expected 0 to 1e12",
                         options->min_sample_ns);
    if (!(options->budget_s >= 0 && options->budget_s <= 1e9))
        return error_set(error, STATUS_INVALID, "a budget of %g s, expected 0 to 1e9",
                         options->budget_s);
    if (!(options->keep_within == 0 || (options->keep_within >= 1 && options->keep_within <= 1e9)))
        return error_set(error, STATUS_INVALID, "keep within %g of the best, expected 0 or >= 1",
                         options->keep_within);
    return STATUS_OK;
}

static int capacity_of(const struct timing_options *options)
{
    int rounds = options->rounds ? options->rounds : ROUNDS_MOST;
    return SAMPLES_FOR_ONE * (rounds > TIMING_LEAST_ROUNDS ? rounds : TIMING_LEAST_ROUNDS);
}

size_t timing_rounds_bytes(const struct timing_options *options, int count)
{
    size_t capacity = (size_t)capacity_of(options);
    size_t track = sizeof(struct timing_track) + capacity * sizeof(struct timing_sample);
    return sizeof(struct timing_rounds) + (size_t)count * track + capacity * sizeof(double);
}

struct timing_rounds *timing_rounds_begin(void *memory, const struct timing_options *options,
                                          int count, double now_ns)
{
    struct timing_rounds *rounds = memory;
    memset(memory, 0, timing_rounds_bytes(options, count));
    rounds->options = *options;
    if (options->min_sample_ns == 0)
        rounds->options.min_sample_ns = default_sample_ns;
    rounds->count = count;
    rounds->capacity = capacity_of(options);
    rounds->begin_ns = rounds->step_ns = now_ns;
    rounds->scratch = (double *)(rounds->tracks + count);
    struct timing_sample *samples = (struct timing_sample *)(rounds->scratch + rounds->capacity);
    for (int i = 0; i < count; i++) {
        rounds->tracks[i].runs = 1;
        rounds->tracks[i].samples = samples + (ptrdiff_t)i * rounds->capacity;
    }
    atomic_store(&rounds->in_flight, -1);
    return rounds;
}

static int taken_of(const struct timing_track *track)
{
    return atomic_load_explicit(&track->taken, memory_order_acquire);
}

static int kept_of(const struct timing_track *track)
{
    int count = 0;
    for (int i = 0; i < taken_of(track); i++)
        count += track->samples[i].kept;
    return count;
}

/* Sorted samples that count (all, where none does) in the scratch; returns how many. */
static int sort_samples(const struct timing_rounds *rounds, const struct timing_track *track)
{
    bool all = kept_of(track) == 0;
    int count = 0;
    for (int i = 0; i < taken_of(track); i++)
        if (all || track->samples[i].kept)
            rounds->scratch[count++] = track->samples[i].ns;
    gsl_sort(rounds->scratch, 1, (size_t)count);
    return count;
}

/* Of samples that count; infinite without any sample. */
static double median_sample_ns(const struct timing_rounds *rounds, const struct timing_track *track)
{
    int count = sort_samples(rounds, track);
    return count ? middle_of(rounds->scratch, count).median : INFINITY;
}

static double least_sample_ns(const struct timing_track *track)
{
    double least = INFINITY;
    for (int i = 0; i < taken_of(track); i++)
        least = fmin(least, track->samples[i].ns);
    return least;
}

/* May a subject be judged by what there is? Not by samples that something disturbed, nor by some
 * that differ so much that something must have: then it is measured again, up to twice as often. */
static bool is_judged(const struct timing_track *track)
{
    double most = 0, least = INFINITY;
    if (taken_of(track) < TIMING_LEAST_ROUNDS)
        return false;
    for (int i = 0; i < taken_of(track); i++)
        if (track->samples[i].kept) {
            most = fmax(most, track->samples[i].ns);
            least = fmin(least, track->samples[i].ns);
        }
    return taken_of(track) >= SAMPLES_FOR_ONE * TIMING_LEAST_ROUNDS ||
           (kept_of(track) >= TIMING_LEAST_ROUNDS && most <= agreement * least);
}

static int target_rounds(const struct timing_rounds *rounds, const struct timing_track *track)
{
    int row = 0, asked = rounds->options.rounds;
    if (asked)
        return asked > TIMING_LEAST_ROUNDS ? asked : TIMING_LEAST_ROUNDS;
    double ns = taken_of(track) ? least_sample_ns(track) : 0;
    while (rounds_by_length[row].over_ns > 0 && !(ns > rounds_by_length[row].over_ns))
        row++;
    return rounds_by_length[row].rounds;
}

static bool enough(const struct timing_rounds *rounds, const struct timing_track *track)
{
    int target = target_rounds(rounds, track);
    return kept_of(track) >= target || taken_of(track) >= SAMPLES_FOR_ONE * target;
}

static bool is_open(const struct timing_track *track)
{
    return track->state == TIMING_SIZING || track->state == TIMING_RUNNING;
}

/* Lengthens samples of which one lasted `wall_ns`, too short a time. */
static int64_t longer_runs(int64_t runs, double wall_ns, double min_sample_ns)
{
    double factor = grow_margin * min_sample_ns / fmax(wall_ns, 1);
    double more = ceil((double)runs * fmax(grow_least, fmin(grow_most, factor)));
    return more < (double)max_runs ? (int64_t)more : max_runs;
}

/* Was the machine doing this and hardly anything else? Where CPU time says nothing a preemption may
 * have been a long one; then the median has to bear it. */
static bool undisturbed(const struct timing_reading *reading)
{
    double refill_ns = (double)reading->preemptions * preemption_ns;
    bool stretched = reading->cpu_ns >= 0 && !(reading->wall_ns <= max_stretch * reading->cpu_ns);
    return !stretched && refill_ns <= (max_stretch - 1) * reading->wall_ns;
}

static void append_sample(struct timing_track *track, const struct timing_reading *reading)
{
    int at = taken_of(track);
    track->samples[at].ns = reading->wall_ns / (double)track->runs;
    track->samples[at].kept = undisturbed(reading);
    atomic_store_explicit(&track->taken, at + 1, memory_order_release);
}

void timing_rounds_record(struct timing_rounds *rounds, const struct timing_reading *reading)
{
    int subject = atomic_load(&rounds->in_flight);
    if (subject < 0)
        return;
    struct timing_track *track = &rounds->tracks[subject];
    atomic_store(&rounds->in_flight, -1);
    if (!(reading->wall_ns >= rounds->options.min_sample_ns) && track->runs < max_runs) {
        track->runs = longer_runs(track->runs, reading->wall_ns, rounds->options.min_sample_ns);
        return; /* its turn again */
    }
    if (track->state == TIMING_RUNNING || reading->wall_ns >= long_run_ns * (double)track->runs)
        append_sample(track, reading);
    track->state = enough(rounds, track) ? TIMING_FINISHED : TIMING_RUNNING;
    rounds->cursor = subject + 1;
}

/* Who is slower than keep_within times the best with every one of its samples falls out, once its
 * samples are good enough to say so. A slow sample says little, a fast one cannot be an accident:
 * so the least one decides. */
static void fall_out(struct timing_rounds *rounds)
{
    double best_ns = INFINITY;
    if (rounds->options.keep_within == 0)
        return;
    for (int i = 0; i < rounds->count; i++)
        if (taken_of(&rounds->tracks[i]) >= TIMING_LEAST_ROUNDS &&
            rounds->tracks[i].state != TIMING_LOST)
            best_ns = fmin(best_ns, median_sample_ns(rounds, &rounds->tracks[i]));
    for (int i = 0; i < rounds->count; i++) {
        struct timing_track *track = &rounds->tracks[i];
        if (track->state == TIMING_RUNNING && is_judged(track) &&
            least_sample_ns(track) > rounds->options.keep_within * best_ns)
            track->state = TIMING_FELL_OUT;
    }
}

/* Would another round of those that still run end after the budget? */
static bool out_of_budget(const struct timing_rounds *rounds, double now_ns)
{
    double end_ns = now_ns;
    for (int i = 0; i < rounds->count; i++) {
        const struct timing_track *track = &rounds->tracks[i];
        if (track->state == TIMING_RUNNING && taken_of(track) > 0)
            end_ns += track->samples[taken_of(track) - 1].ns * (double)track->runs;
    }
    return rounds->options.budget_s > 0 &&
           end_ns - rounds->begin_ns > rounds->options.budget_s * 1e9;
}

/* Between two rounds; false when there is no other. */
static bool turn_round(struct timing_rounds *rounds, double now_ns)
{
    bool any = false;
    fall_out(rounds);
    bool late = out_of_budget(rounds, now_ns);
    for (int i = 0; i < rounds->count; i++) {
        struct timing_track *track = &rounds->tracks[i];
        if (late && track->state == TIMING_RUNNING && is_judged(track))
            track->state = TIMING_FINISHED;
        any = any || is_open(track);
    }
    rounds->cursor = 0;
    return any;
}

static bool find_open(struct timing_rounds *rounds)
{
    while (rounds->cursor < rounds->count && !is_open(&rounds->tracks[rounds->cursor]))
        rounds->cursor++;
    return rounds->cursor < rounds->count;
}

bool timing_rounds_next(struct timing_rounds *rounds, double now_ns, struct timing_step *step)
{
    while (!find_open(rounds))
        if (!turn_round(rounds, now_ns))
            return false;
    step->subject = rounds->cursor;
    step->runs = rounds->tracks[rounds->cursor].runs;
    rounds->step_ns = now_ns;
    atomic_store(&rounds->in_flight, rounds->cursor);
    atomic_fetch_add(&rounds->started, 1);
    return true;
}

void timing_rounds_lose(struct timing_rounds *rounds, int subject)
{
    rounds->tracks[subject].state = TIMING_LOST;
    if (atomic_load(&rounds->in_flight) == subject)
        atomic_store(&rounds->in_flight, -1);
}

void timing_rounds_resume(struct timing_rounds *rounds, double now_ns)
{
    atomic_store(&rounds->in_flight, -1);
    rounds->begin_ns += fmax(0, now_ns - rounds->step_ns);
    rounds->step_ns = now_ns;
}

void timing_rounds_result(const struct timing_rounds *rounds, int subject, struct timing *timing)
{
    const struct timing_track *track = &rounds->tracks[subject];
    int count = sort_samples(rounds, track);
    memset(timing, 0, sizeof *timing);
    timing->runs_a_sample = track->runs;
    timing->fell_out = track->state == TIMING_FELL_OUT;
    if (count == 0 || track->state == TIMING_LOST)
        return;
    timing->samples = kept_of(track);
    timing->dropped = taken_of(track) - timing->samples;
    struct middle middle = middle_of(rounds->scratch, count);
    timing->median_ns = middle.median;
    timing->spread = middle.spread;
}

void timing_rounds_progress(const struct timing_rounds *rounds, int64_t *done, int64_t *total)
{
    *done = *total = 0;
    for (int i = 0; i < rounds->count; i++) {
        const struct timing_track *track = &rounds->tracks[i];
        int now = taken_of(track), target = is_open(track) ? target_rounds(rounds, track) : now;
        *done += now;
        *total += now > target ? now : target;
    }
}

/* ---- clocks ---- */

static double clock_ns(clockid_t clock)
{
    struct timespec now = {0};
    clock_gettime(clock, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

double timing_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static bool cpu_clock_is_fine(void)
{
    /* So many steps within that time, or else it ticks; again, for the thread may be preempted. */
    enum { STEPS = 5, TRIES = 3 };
    const double within_ns = 2e6;
    for (int try = 0; try < TRIES; try++) {
        double begin_ns = timing_now_ns(), last_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        for (int steps = 0; timing_now_ns() - begin_ns < within_ns;) {
            double now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
            steps += now_ns > last_ns;
            last_ns = now_ns;
            if (steps == STEPS)
                return true;
        }
    }
    return false;
}

struct timing_clocks timing_clocks_of(int threads)
{
    bool thread = threads <= 1;
    return (struct timing_clocks){.thread = thread, .cpu_time = thread && cpu_clock_is_fine()};
}

static int64_t preemptions(const struct timing_clocks *clocks)
{
    struct rusage usage = {0};
    return getrusage(clocks->thread ? RUSAGE_THREAD : RUSAGE_SELF, &usage) ? 0 : usage.ru_nivcsw;
}

void timing_sample(const struct timing_subject *subject, int64_t runs,
                   const struct timing_clocks *clocks, struct timing_reading *reading)
{
    int64_t before = preemptions(clocks);
    double wall_ns = timing_now_ns(), cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    for (int64_t i = 0; i < runs; i++)
        subject->run(subject->context);
    cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    reading->wall_ns = timing_now_ns() - wall_ns;
    reading->cpu_ns = clocks->cpu_time ? cpu_ns : -1;
    reading->preemptions = preemptions(clocks) - before;
}

void timing_play(struct timing_rounds *rounds, const struct timing_subject *subjects)
{
    struct timing_clocks clocks = timing_clocks_of(rounds->options.threads);
    struct timing_step step;
    struct timing_reading reading;
    while (timing_rounds_next(rounds, timing_now_ns(), &step)) {
        timing_sample(&subjects[step.subject], step.runs, &clocks, &reading);
        timing_rounds_record(rounds, &reading);
    }
}

static bool allowed_processors(struct timing_processors *processors)
{
    CPU_ZERO_S(sizeof processors->sets, processors->sets);
    return sched_getaffinity(0, sizeof processors->sets, processors->sets) == 0;
}

static bool pin_to(int processor)
{
    struct timing_processors one;
    CPU_ZERO_S(sizeof one.sets, one.sets);
    CPU_SET_S((size_t)processor, sizeof one.sets, one.sets);
    return sched_setaffinity(0, sizeof one.sets, one.sets) == 0;
}

bool timing_pin(int processor)
{
    struct timing_processors may;
    if (processor < 0 || !allowed_processors(&may))
        return false;
    for (int i = 0; i < (int)sizeof may.sets * 8; i++)
        if (CPU_ISSET_S((size_t)i, sizeof may.sets, may.sets) && processor-- == 0)
            return pin_to(i);
    return false;
}

bool timing_pin_here(struct timing_processors *before)
{
    int here = sched_getcpu();
    if (here < 0 || here >= (int)sizeof before->sets * 8 || !allowed_processors(before)) {
        CPU_ZERO_S(sizeof before->sets, before->sets);
        return false;
    }
    return pin_to(here);
}

void timing_unpin(const struct timing_processors *before)
{
    if (CPU_COUNT_S(sizeof before->sets, before->sets) > 0)
        (void)sched_setaffinity(0, sizeof before->sets, before->sets);
}

/* ---- timing ---- */

static enum status measure_rounds(const struct timing_subject *subjects, int count,
                                  const struct timing_options *options, struct timing *timings,
                                  struct error *error)
{
    void *memory = malloc(timing_rounds_bytes(options, count));
    if (!memory)
        return error_memory(error);
    struct timing_rounds *rounds = timing_rounds_begin(memory, options, count, timing_now_ns());
    timing_play(rounds, subjects);
    for (int i = 0; i < count; i++)
        timing_rounds_result(rounds, i, &timings[i]);
    free(memory);
    return STATUS_OK;
}

/* The mask of a pinned thread goes over to threads that it starts: with several, none is pinned. */
enum status timing_measure(const struct timing_subject *subjects, int count,
                           const struct timing_options *options, struct timing *timings,
                           struct error *error)
{
    struct timing_processors before;
    enum status status = timing_options_check(options, count, error);
    if (status != STATUS_OK)
        return status;
    if (options->threads > 1)
        return measure_rounds(subjects, count, options, timings, error);
    timing_pin_here(&before);
    status = measure_rounds(subjects, count, options, timings, error);
    timing_unpin(&before);
    return status;
}

/* Some 60 µs of multiplications that each need the one before: no memory, no vector units, and so
 * nothing but the clock rate and other people's work changes its time. */
static void multiplications(void *context)
{
    volatile uint64_t *state = context;
    uint64_t x = *state;
    for (int i = 0; i < 1 << 15; i++)
        x = x * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    *state = x;
}

enum status timing_noise(struct timing_noise *noise, struct error *error)
{
    uint64_t state = 1;
    struct timing_subject subject = {.run = multiplications, .context = &state};
    struct timing_options options = {.rounds = 150, .threads = 1};
    struct timing timing = {0};
    TRY(timing_measure(&subject, 1, &options, &timing, error));
    noise->spread = timing.spread;
    noise->dropped = (double)timing.dropped / (timing.samples + timing.dropped);
    return STATUS_OK;
}

bool timing_is_noisy(const struct timing_noise *noise)
{
    return noise->spread > TIMING_NOISY_SPREAD || noise->dropped > TIMING_NOISY_DROPPED;
}

enum { ADDITIONS = 1 << 16, UNROLLED = 16 };

/* The empty assembler lines keep the compiler from adding all at once. */
static void additions(void *context)
{
    volatile uint64_t *state = context;
    uint64_t x = *state, y = x;
    for (int i = 0; i < ADDITIONS / UNROLLED; i++)
#pragma GCC unroll 16
        for (int j = 0; j < UNROLLED; j++) {
            x += y;
            __asm__("" : "+r"(x));
        }
    *state = x;
}

enum status timing_clock_rate(double *ghz, struct error *error)
{
    uint64_t state = 1;
    const struct timing_subject subject = {additions, &state};
    const struct timing_options options = {.threads = 1};
    struct timing timing = {0};
    TRY(timing_measure(&subject, 1, &options, &timing, error));
    *ghz = timing.median_ns > 0 ? ADDITIONS / timing.median_ns : 0;
    return STATUS_OK;
}

double timing_clock_step_ns(void)
{
    enum { STEPS = 9 };
    double least_ns = 1e9;
    for (int i = 0; i < STEPS; i++) {
        double begin_ns = timing_now_ns(), now_ns = begin_ns;
        while (now_ns == begin_ns)
            now_ns = timing_now_ns();
        least_ns = now_ns - begin_ns < least_ns ? now_ns - begin_ns : least_ns;
    }
    return least_ns;
}
