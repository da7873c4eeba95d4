/* Decides which sample to take next and what the samples say. It is a state machine over samples
 * in one piece of memory. A subject's runs a sample grow until a sample is long enough; then each
 * round takes one sample of each subject, and between rounds those far behind fall out and the
 * budget is looked at. A sample is written before the count that makes it visible, so a process
 * that dies in between leaves nothing half-done. */
#include "validate/timing_core.h"

#include "validate/middle.h"

#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

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

enum { ROUNDS_MOST = 31, TRIES = 2 }; /* at most so many samples for one that counts */

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
    return TRIES * (rounds > TIMING_LEAST_ROUNDS ? rounds : TIMING_LEAST_ROUNDS);
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

static int taken(const struct timing_track *track)
{
    return atomic_load_explicit(&track->taken, memory_order_acquire);
}

static int kept(const struct timing_track *track)
{
    int count = 0;
    for (int i = 0; i < taken(track); i++)
        count += track->samples[i].kept;
    return count;
}

/* Sorted samples that count (all, where none does) in the scratch; returns how many. */
static int sorted(const struct timing_rounds *rounds, const struct timing_track *track)
{
    bool all = kept(track) == 0;
    int count = 0;
    for (int i = 0; i < taken(track); i++)
        if (all || track->samples[i].kept)
            rounds->scratch[count++] = track->samples[i].ns;
    gsl_sort(rounds->scratch, 1, (size_t)count);
    return count;
}

/* Of samples that count; infinite without any sample. */
static double median_ns(const struct timing_rounds *rounds, const struct timing_track *track)
{
    int count = sorted(rounds, track);
    return count ? middle_of(rounds->scratch, count).median : INFINITY;
}

static double least_ns(const struct timing_track *track)
{
    double least = INFINITY;
    for (int i = 0; i < taken(track); i++)
        least = fmin(least, track->samples[i].ns);
    return least;
}

/* May a subject be judged by what there is? Not by samples that something disturbed, nor by some
 * that differ so much that something must have: then it is measured again, up to twice as often. */
static bool is_judged(const struct timing_track *track)
{
    double most = 0, least = INFINITY;
    if (taken(track) < TIMING_LEAST_ROUNDS)
        return false;
    for (int i = 0; i < taken(track); i++)
        if (track->samples[i].kept) {
            most = fmax(most, track->samples[i].ns);
            least = fmin(least, track->samples[i].ns);
        }
    return taken(track) >= TRIES * TIMING_LEAST_ROUNDS ||
           (kept(track) >= TIMING_LEAST_ROUNDS && most <= agreement * least);
}

static int target_rounds(const struct timing_rounds *rounds, const struct timing_track *track)
{
    int row = 0, asked = rounds->options.rounds;
    if (asked)
        return asked > TIMING_LEAST_ROUNDS ? asked : TIMING_LEAST_ROUNDS;
    double ns = taken(track) ? least_ns(track) : 0;
    while (rounds_by_length[row].over_ns > 0 && !(ns > rounds_by_length[row].over_ns))
        row++;
    return rounds_by_length[row].rounds;
}

static bool enough(const struct timing_rounds *rounds, const struct timing_track *track)
{
    int target = target_rounds(rounds, track);
    return kept(track) >= target || taken(track) >= TRIES * target;
}

static bool is_open(const struct timing_track *track)
{
    return track->state == TIMING_SIZING || track->state == TIMING_RUNNING;
}

/* Lengthens samples of which one lasted `wall_ns`, too short a time. */
static int64_t grown(int64_t runs, double wall_ns, double min_sample_ns)
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

static void append(struct timing_track *track, const struct timing_reading *reading)
{
    int at = taken(track);
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
        track->runs = grown(track->runs, reading->wall_ns, rounds->options.min_sample_ns);
        return; /* its turn again */
    }
    if (track->state == TIMING_RUNNING || reading->wall_ns >= long_run_ns * (double)track->runs)
        append(track, reading);
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
        if (taken(&rounds->tracks[i]) >= TIMING_LEAST_ROUNDS &&
            rounds->tracks[i].state != TIMING_LOST)
            best_ns = fmin(best_ns, median_ns(rounds, &rounds->tracks[i]));
    for (int i = 0; i < rounds->count; i++) {
        struct timing_track *track = &rounds->tracks[i];
        if (track->state == TIMING_RUNNING && is_judged(track) &&
            least_ns(track) > rounds->options.keep_within * best_ns)
            track->state = TIMING_FELL_OUT;
    }
}

/* Would another round of those that still run end after the budget? */
static bool out_of_budget(const struct timing_rounds *rounds, double now_ns)
{
    double end_ns = now_ns;
    for (int i = 0; i < rounds->count; i++) {
        const struct timing_track *track = &rounds->tracks[i];
        if (track->state == TIMING_RUNNING && taken(track) > 0)
            end_ns += track->samples[taken(track) - 1].ns * (double)track->runs;
    }
    return rounds->options.budget_s > 0 &&
           end_ns - rounds->begin_ns > rounds->options.budget_s * 1e9;
}

/* Between two rounds; false when there is no other. */
static bool turn(struct timing_rounds *rounds, double now_ns)
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
        if (!turn(rounds, now_ns))
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
    int count = sorted(rounds, track);
    memset(timing, 0, sizeof *timing);
    timing->runs_a_sample = track->runs;
    timing->fell_out = track->state == TIMING_FELL_OUT;
    if (count == 0 || track->state == TIMING_LOST)
        return;
    timing->samples = kept(track);
    timing->dropped = taken(track) - timing->samples;
    struct middle middle = middle_of(rounds->scratch, count);
    timing->median_ns = middle.median;
    timing->spread = middle.spread;
}

void timing_rounds_progress(const struct timing_rounds *rounds, int64_t *done, int64_t *total)
{
    *done = *total = 0;
    for (int i = 0; i < rounds->count; i++) {
        const struct timing_track *track = &rounds->tracks[i];
        int now = taken(track), target = is_open(track) ? target_rounds(rounds, track) : now;
        *done += now;
        *total += now > target ? now : target;
    }
}
