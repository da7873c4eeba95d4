/* Has candidates checked and timed by child processes. The parent only watches. The child says in
 * shared memory what it does and to whom, and counts its steps; a child that ends early, or takes
 * no step for longer than its deadline, has its candidate blamed and is followed by another, which
 * goes on where it stopped. Deadlines grow with what was predicted. */
#include "validate/measure.h"

#include "validate/measure_shared.h"
#include "validate/runner.h"
#include "validate/timing_clocks.h"
#include "validate/worker.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum {
    TICK_MS = 100,     /* how often the parent looks at a child that works */
    MAX_ENDS = 3,      /* of children that no candidate is to blame for */
    OPENING_FACTOR = 6 /* inputs may take so many deadlines */
};

static const double least_deadline_s = 10, most_deadline_s = 3600;
static const double deadline_by_prediction = 30; /* a check has a slow reference to compute */
static const double longest_tick_s =
    0.5; /* a longer one means that the parent did not run either */

static const char *const phase_names[] = {"making the inputs", "checking", "preparing", "timing"};

/* The parent's side of one call. */
struct watch {
    struct measure_shared *shared;
    const double *predicted_ns;
    int ends; /* of children, without a candidate in flight */
};

static int in_flight(const struct measure_shared *shared)
{
    if (atomic_load(&shared->phase) == MEASURE_TIMING)
        return atomic_load(&shared->rounds->in_flight);
    return atomic_load(&shared->in_flight);
}

/* Grows with every step of the child. */
static uint64_t steps(const struct measure_shared *shared)
{
    uint64_t count = atomic_load(&shared->steps);
    if (atomic_load(&shared->phase) == MEASURE_TIMING)
        count += atomic_load(&shared->rounds->started);
    return count;
}

static double deadline_s(const struct watch *watch)
{
    const struct measure_shared *shared = watch->shared;
    int candidate = in_flight(shared);
    double seconds = shared->options->deadline_s;
    if (!(seconds > 0)) {
        seconds = least_deadline_s;
        if (watch->predicted_ns && candidate >= 0)
            seconds = fmax(seconds, deadline_by_prediction * watch->predicted_ns[candidate] * 1e-9);
    }
    if (atomic_load(&shared->phase) == MEASURE_OPENING)
        seconds *= OPENING_FACTOR;
    return fmin(seconds, most_deadline_s);
}

static void tell(const struct measure_shared *shared)
{
    const struct measure_options *options = shared->options;
    enum measure_phase phase = atomic_load(&shared->phase);
    int64_t done = atomic_load(&shared->settled), total = shared->count;
    if (!options->progress || phase == MEASURE_OPENING || phase == MEASURE_PREPARING)
        return;
    if (phase == MEASURE_TIMING)
        timing_rounds_progress(shared->rounds, &done, &total);
    options->progress(options->context, phase_names[phase], done, total);
}

static bool stopped(const struct measure_shared *shared)
{
    return shared->options->stop && *shared->options->stop;
}

enum outcome { ENDED, HUNG, INTERRUPTED };

/* Watches a child until it ends or has to be ended. Time is counted in ticks, so that a machine
 * that sleeps, or a job that is stopped and goes on, does not look like a candidate that hangs. */
static enum outcome attend(struct watch *watch, struct worker *worker, struct worker_end *end)
{
    double waited_s = 0, last_ns = timing_now_ns();
    uint64_t seen = steps(watch->shared);
    while (!worker_wait(worker, TICK_MS, end)) {
        double now_ns = timing_now_ns();
        uint64_t now = steps(watch->shared);
        waited_s = now == seen ? waited_s + fmin((now_ns - last_ns) * 1e-9, longest_tick_s) : 0;
        seen = now;
        last_ns = now_ns;
        tell(watch->shared);
        if (stopped(watch->shared)) {
            worker_stop(worker, end);
            return INTERRUPTED;
        }
        if (waited_s > deadline_s(watch)) {
            worker_stop(worker, end);
            return HUNG;
        }
    }
    tell(watch->shared);
    return ENDED;
}

static void end_reason(const struct watch *watch, enum outcome outcome,
                       const struct worker_end *end, char *text, size_t size)
{
    char how[48];
    if (outcome == HUNG)
        (void)snprintf(how, sizeof how, "no result within %g s", deadline_s(watch));
    else if (end->signal == SIGKILL)
        (void)snprintf(how, sizeof how, "killed, as for want of memory,");
    else
        worker_end_text(end, how, sizeof how);
    (void)snprintf(text, size, "%s while %s", how, phase_names[atomic_load(&watch->shared->phase)]);
}

/* Blames who was in flight; an error when there was nobody, and not for the first time. */
static enum status blame(struct watch *watch, enum outcome outcome, const struct worker_end *end,
                         struct error *error)
{
    struct measure_shared *shared = watch->shared;
    int candidate = in_flight(shared);
    char reason[sizeof shared->candidates[0].result.quarantine];
    end_reason(watch, outcome, end, reason, sizeof reason);
    if (candidate >= 0) {
        measure_reject(shared, candidate, "%s", reason);
        return STATUS_OK;
    }
    if (atomic_load(&shared->phase) == MEASURE_OPENING || ++watch->ends >= MAX_ENDS)
        return error_set(error, STATUS_INVALID, "nothing can be measured: %s", reason);
    return STATUS_OK;
}

/* Children, one after the other, until one gets to the end. */
static enum status run_children(struct watch *watch, struct error *error)
{
    struct measure_shared *shared = watch->shared;
    while (!stopped(shared)) {
        struct worker worker;
        struct worker_end end;
        atomic_store(&shared->phase, MEASURE_OPENING);
        atomic_store(&shared->in_flight, -1);
        if (worker_start(&worker, measure_child, shared, error) != STATUS_OK)
            return STATUS_INVALID;
        enum outcome outcome = attend(watch, &worker, &end);
        if (outcome == INTERRUPTED)
            break;
        if (outcome == ENDED && end.finished) {
            if (shared->open_error.status == STATUS_OK)
                break;
            return error_set(error, STATUS_INVALID, "nothing can be measured: %.400s",
                             shared->open_error.text);
        }
        if (blame(watch, outcome, &end, error) != STATUS_OK)
            return STATUS_INVALID;
    }
    return STATUS_OK;
}

static void collect(struct measure_shared *shared, struct measured *results)
{
    for (int i = 0; i < shared->count; i++) {
        struct measured *result = &shared->candidates[i].result;
        if (!atomic_load(&shared->candidates[i].settled))
            measure_leave_out(shared, i, "not measured: interrupted");
        else if (shared->timing_begun && !result->quarantine[0])
            timing_rounds_result(shared->rounds, i, &result->timing);
        if (!result->quarantine[0] && !(result->timing.median_ns > 0))
            measure_leave_out(shared, i, "not measured: interrupted");
        results[i] = *result;
    }
}

static size_t rounds_offset(int count)
{
    const size_t alignment = 64;
    size_t bytes = sizeof(struct measure_shared) + (size_t)count * sizeof(struct measure_candidate);
    return (bytes + alignment - 1) / alignment * alignment;
}

static enum status check_input(const struct host_runner *runner,
                               const struct measure_options *options, int count,
                               struct error *error)
{
    if (!runner)
        return error_set(error, STATUS_INVALID, "no kernels of this operator run on this machine");
    return timing_options_check(&options->timing, count, error);
}

enum status measure(const struct host_runner *runner, const struct space *space,
                    const struct tiling *tilings, const double *predicted_ns, int count,
                    const struct measure_options *options, struct measured *results,
                    struct error *error)
{
    enum status status = check_input(runner, options, count, error);
    if (status != STATUS_OK || count == 0)
        return status;
    size_t bytes = rounds_offset(count) + timing_rounds_bytes(&options->timing, count);
    /* cppcheck-suppress invalidFunctionArg ; mmap(2): -1 is right where there is no file */
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return error_memory(error);
    struct measure_shared *shared = memory;
    shared->runner = runner;
    shared->space = space;
    shared->tilings = tilings;
    shared->options = options;
    shared->count = count;
    shared->rounds = (struct timing_rounds *)((char *)shared + rounds_offset(count));
    struct watch watch = {.shared = shared, .predicted_ns = predicted_ns};
    struct load_reading before, after;
    load_read(NULL, &before);
    status = run_children(&watch, error);
    load_read(NULL, &after);
    if (options->load)
        *options->load = load_between(&before, &after);
    if (status == STATUS_OK)
        collect(shared, results);
    munmap(shared, bytes);
    return status;
}
