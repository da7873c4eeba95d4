/* Has candidates checked and timed by child processes.
 *
 * A child opens the problem, checks each candidate that is not settled, prepares all that passed,
 * and times them in interleaved rounds (timing.h). Before each step it writes down whom it is
 * about, for whoever finds it dead. A later child skips what earlier ones have settled.
 *
 * The parent only watches. The child says in shared memory what it does and to whom, and counts its
 * steps; a child that ends early, or takes no step for longer than its deadline, has its candidate
 * blamed and is followed by another, which goes on where it stopped. Deadlines grow with what was
 * predicted.
 *
 * Says how much memory may be taken. The least of three limits: what the system can give without
 * swapping, what the control group has left, and the process's own limit. */
#include "validate/measure.h"

#include "core/status.h"
#include "validate/runner.h"
#include "validate/worker.h"

#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
enum { UNITS = sizeof units / sizeof *units };

/* The number behind `key` in a file of lines; NAN without one. An empty key: the first line's. */
static double number_of(const char *file, const char *key)
{
    char line[160];
    double value = NAN;
    FILE *stream = fopen(file, "re");
    while (stream && isnan(value) && fgets(line, sizeof line, stream)) {
        char *end = line;
        const char *text = line + strlen(key);
        if (strncmp(line, key, strlen(key)) == 0)
            value = strtod(text, &end);
        value = end == text || end == line ? NAN : value;
    }
    if (stream)
        (void)fclose(stream);
    return value;
}

/* What a control group may still take; the second version's files, then the first's. */
static double group_available(void)
{
    static const char *const files[][2] = {
        {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes",
         "/sys/fs/cgroup/memory/memory.usage_in_bytes"},
    };
    for (int i = 0; i < 2; i++) {
        double most = number_of(files[i][0], ""), used = number_of(files[i][1], "");
        if (isfinite(most) && isfinite(used))
            return fmax(most - used, 0);
    }
    return INFINITY;
}

static double system_available(void)
{
    double kib = number_of("/proc/meminfo", "MemAvailable:");
    return isfinite(kib) ? kib * 1024 : INFINITY;
}

static double process_available(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return INFINITY;
    return (double)limit.rlim_cur;
}

double memory_available(void)
{
    return fmin(fmin(system_available(), group_available()), process_available());
}

static const char *size_text(double bytes, char text[24])
{
    int unit = 0;
    for (; bytes >= 1024 && unit + 1 < UNITS; unit++)
        bytes /= 1024;
    (void)snprintf(text, 24, "%.3g %s", bytes, units[unit]);
    return text;
}

enum status memory_require(const char *contents, double bytes, struct error *error)
{
    char needed[24], there[24];
    double available = memory_available();
    if (bytes <= available)
        return STATUS_OK;
    return error_set(error, STATUS_NO_MEMORY, "%s need %s, %s are available", contents,
                     size_text(bytes, needed), size_text(available, there));
}

float *memory_floats(int64_t rows, int64_t columns)
{
    enum { LINE_BYTES = 64 };
    size_t bytes = (size_t)rows * (size_t)columns * sizeof(float);
    return aligned_alloc(LINE_BYTES, bytes + (-bytes & (LINE_BYTES - 1)));
}

enum measure_phase { MEASURE_OPENING, MEASURE_CHECKING, MEASURE_PREPARING, MEASURE_TIMING };

struct measure_candidate {
    /* Was it checked, or found to be unfit? Set when `result` is complete. */
    _Atomic bool settled;
    int64_t held_bytes; /* of its plan; known when it was checked */
    struct measured result;
};

/* What a measuring process and its children share: which candidate is in flight, and what is known
 * already. The child writes, the parent looks at the atomic members while the child lives and at
 * the rest after it has ended. Mapped MAP_SHARED at the same address in both. */
struct measure_shared {
    const struct host_runner *runner;
    const struct space *space;
    const struct tiling *tilings;
    const struct measure_options *options;
    int count;

    _Atomic enum measure_phase phase;
    _Atomic int in_flight;  /* a candidate, or -1; while timing it is the rounds' */
    _Atomic uint64_t steps; /* begun: the deadline is for each */
    _Atomic int settled;    /* candidates */

    struct error open_error; /* status not STATUS_OK: the inputs could not be made */
    double checking_ns;      /* spent on checks that came to an end */
    bool timing_begun;       /* the rounds are valid */
    struct timing_rounds *rounds;
    struct measure_candidate candidates[];
};

/* ---- the child ---- */

/* A check runs a candidate once (and a reference), timing at least three times: with a budget,
 * checks get this share of it, and who comes after that is left out. */
static const double checking_share = 0.25;

/* Plans that are held at once, while they are timed, get this share of the memory that is there. */
static const double plans_share = 0.75;

/* What a child holds of its own. */
struct session {
    struct measure_shared *shared;
    void *problem;
    void **plans; /* one a candidate; NULL: none */
};

/* Puts a candidate into quarantine … */
static void reject_candidate(struct measure_shared *shared, int candidate, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void reject_candidate(struct measure_shared *shared, int candidate, const char *format, ...)
{
    struct measure_candidate *c = &shared->candidates[candidate];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(c->result.quarantine, sizeof c->result.quarantine, format, arguments);
    va_end(arguments);
    if (!atomic_exchange(&c->settled, true))
        atomic_fetch_add(&shared->settled, 1);
}

/* … or says why nothing is known of it. */
static void leave_out(struct measure_shared *shared, int candidate, const char *why)
{
    shared->candidates[candidate].result.left_out = true;
    reject_candidate(shared, candidate, "%s", why);
}

static bool is_fit(const struct measure_shared *shared, int candidate)
{
    const struct measure_candidate *c = &shared->candidates[candidate];
    return atomic_load(&c->settled) && !c->result.quarantine[0];
}

/* Says what comes next, so that the parent knows whom to blame. */
static void announce(struct measure_shared *shared, enum measure_phase phase, int candidate)
{
    atomic_store(&shared->phase, phase);
    atomic_store(&shared->in_flight, candidate);
    atomic_fetch_add(&shared->steps, 1);
}

static void reject_error(struct measure_shared *shared, int candidate, const char *what,
                         const struct error *error)
{
    if (error->status == STATUS_NO_MEMORY)
        reject_candidate(shared, candidate, "out of memory while %s", what);
    else
        reject_candidate(shared, candidate, "%s: %.120s", what, error->text);
}

static void judge_results(struct measure_shared *shared, int candidate,
                          const struct host_check *check)
{
    struct measured *result = &shared->candidates[candidate].result;
    bool finite = isfinite(check->max_error);
    result->sampled = check->sampled;
    result->allowed_error = isfinite(check->allowed_error) ? check->allowed_error : 0;
    result->max_error = finite ? check->max_error : DBL_MAX;
    if (!finite)
        reject_candidate(shared, candidate, "wrong results: some are no numbers");
    else if (!(check->max_error <= check->allowed_error))
        reject_candidate(shared, candidate, "wrong results: error %.3g, allowed %.3g",
                         check->max_error, result->allowed_error);
}

static void check_plan(struct session *session, int candidate, void *plan)
{
    struct measure_shared *shared = session->shared;
    struct error error = {0};
    struct host_check check = {0};
    if (shared->runner->check(plan, &check, &error) == STATUS_OK)
        judge_results(shared, candidate, &check);
    else
        reject_error(shared, candidate, "checking", &error);
}

static void check_candidate(struct session *session, int candidate)
{
    struct measure_shared *shared = session->shared;
    struct error error = {0};
    void *plan = NULL;
    double begin_ns = timing_now_ns();
    announce(shared, MEASURE_CHECKING, candidate);
    if (shared->runner->prepare(session->problem, &shared->tilings[candidate], &plan, &error) !=
        STATUS_OK) {
        reject_error(shared, candidate, "preparing", &error);
    } else {
        if (shared->runner->held_bytes)
            shared->candidates[candidate].held_bytes = shared->runner->held_bytes(plan);
        check_plan(session, candidate, plan);
        shared->runner->release(plan);
    }
    if (!atomic_exchange(&shared->candidates[candidate].settled, true))
        atomic_fetch_add(&shared->settled, 1);
    shared->checking_ns += timing_now_ns() - begin_ns;
    atomic_store(&shared->in_flight, -1);
}

static void check_all(struct session *session)
{
    struct measure_shared *shared = session->shared;
    double budget_ns = shared->options->timing.budget_s * 1e9;
    for (int i = 0; i < shared->count; i++) {
        if (atomic_load(&shared->candidates[i].settled))
            continue;
        if (budget_ns > 0 && shared->checking_ns > checking_share * budget_ns)
            leave_out(shared, i, "left out: no time for more candidates");
        else
            check_candidate(session, i);
    }
}

static void prepare_candidate(struct session *session, int candidate)
{
    struct measure_shared *shared = session->shared;
    struct error error = {0};
    announce(shared, MEASURE_PREPARING, candidate);
    if (shared->runner->prepare(session->problem, &shared->tilings[candidate],
                                &session->plans[candidate], &error) != STATUS_OK) {
        session->plans[candidate] = NULL;
        reject_error(shared, candidate, "preparing", &error);
    }
}

/* All plans at once: the rounds are interleaved. Alone, each had memory enough for its check;
 * together they have it as long as they fit, the first one in any case. */
static void prepare_all(struct session *session)
{
    struct measure_shared *shared = session->shared;
    double held = 0, room = plans_share * memory_available();
    for (int i = 0; i < shared->count; i++) {
        double more = (double)shared->candidates[i].held_bytes;
        if (!is_fit(shared, i))
            continue;
        if (held > 0 && more > 0 && held + more > room) {
            leave_out(shared, i, "left out: no memory for more candidates at once");
        } else {
            prepare_candidate(session, i);
            held += more;
        }
    }
    atomic_store(&shared->in_flight, -1);
}

/* In the first child the rounds begin, with what is left of the budget; in others they go on. */
static void begin_rounds(struct measure_shared *shared)
{
    struct timing_options options = shared->options->timing;
    if (shared->timing_begun) {
        timing_rounds_resume(shared->rounds, timing_now_ns());
        return;
    }
    if (options.budget_s > 0)
        options.budget_s = fmax(options.budget_s - shared->checking_ns * 1e-9, 1e-3);
    timing_rounds_begin(shared->rounds, &options, shared->count, timing_now_ns());
    shared->timing_begun = true;
}

static void time_all(struct session *session, struct timing_subject *subjects)
{
    struct measure_shared *shared = session->shared;
    struct timing_processors before;
    begin_rounds(shared);
    for (int i = 0; i < shared->count; i++) {
        subjects[i] = (struct timing_subject){shared->runner->run, session->plans[i]};
        if (!is_fit(shared, i))
            timing_rounds_lose(shared->rounds, i);
    }
    if (shared->options->timing.threads <= 1)
        timing_pin_here(&before);
    atomic_store(&shared->phase, MEASURE_TIMING);
    timing_play(shared->rounds, subjects);
}

/* Plans and the problem are not released: the process ends here, and with it what it holds. */
static void run_session(struct session *session, struct timing_subject *subjects)
{
    struct measure_shared *shared = session->shared;
    shared->open_error.status = shared->runner->open(shared->space, shared->options->seed,
                                                     &session->problem, &shared->open_error);
    if (shared->open_error.status != STATUS_OK)
        return;
    check_all(session);
    prepare_all(session);
    time_all(session, subjects);
}

/* All that is left to do: open, check, time. The body of a child; the context is the shared
 * struct. */
static void work_as_child(void *context)
{
    struct measure_shared *shared = context;
    size_t count = (size_t)shared->count;
    struct session session = {.shared = shared, .plans = calloc(count, sizeof *session.plans)};
    struct timing_subject *subjects = calloc(count, sizeof *subjects);
    if (session.plans && subjects)
        run_session(&session, subjects);
    else
        error_memory(&shared->open_error);
    free(subjects);
    free(session.plans);
}

/* ---- the parent ---- */

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

static void report_progress(const struct measure_shared *shared)
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
        report_progress(watch->shared);
        if (stopped(watch->shared)) {
            worker_stop(worker, end);
            return INTERRUPTED;
        }
        if (waited_s > deadline_s(watch)) {
            worker_stop(worker, end);
            return HUNG;
        }
    }
    report_progress(watch->shared);
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
        reject_candidate(shared, candidate, "%s", reason);
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
        if (worker_start(&worker, work_as_child, shared, error) != STATUS_OK)
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
            leave_out(shared, i, "not measured: interrupted");
        else if (shared->timing_begun && !result->quarantine[0])
            timing_rounds_result(shared->rounds, i, &result->timing);
        if (!result->quarantine[0] && !(result->timing.median_ns > 0))
            leave_out(shared, i, "not measured: interrupted");
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
