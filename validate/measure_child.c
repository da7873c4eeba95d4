/* Checks and times candidates. A child opens the problem, checks each candidate that is not
 * settled, prepares all that passed, and times them in interleaved rounds (timing_core.h). Before
 * each step it writes down whom it is about, for whoever finds it dead. A later child skips what
 * earlier ones have settled. */
#include "validate/measure_shared.h"
#include "validate/memory.h"
#include "validate/timing_clocks.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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

void measure_reject(struct measure_shared *shared, int candidate, const char *format, ...)
{
    struct measure_candidate *c = &shared->candidates[candidate];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(c->result.quarantine, sizeof c->result.quarantine, format, arguments);
    va_end(arguments);
    if (!atomic_exchange(&c->settled, true))
        atomic_fetch_add(&shared->settled, 1);
}

void measure_leave_out(struct measure_shared *shared, int candidate, const char *why)
{
    shared->candidates[candidate].result.left_out = true;
    measure_reject(shared, candidate, "%s", why);
}

static bool fit(const struct measure_shared *shared, int candidate)
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
        measure_reject(shared, candidate, "out of memory while %s", what);
    else
        measure_reject(shared, candidate, "%s: %.120s", what, error->text);
}

static void judge(struct measure_shared *shared, int candidate, const struct host_check *check)
{
    struct measured *result = &shared->candidates[candidate].result;
    bool finite = isfinite(check->max_error);
    result->sampled = check->sampled;
    result->allowed_error = isfinite(check->allowed_error) ? check->allowed_error : 0;
    result->max_error = finite ? check->max_error : DBL_MAX;
    if (!finite)
        measure_reject(shared, candidate, "wrong results: some are no numbers");
    else if (!(check->max_error <= check->allowed_error))
        measure_reject(shared, candidate, "wrong results: error %.3g, allowed %.3g",
                       check->max_error, result->allowed_error);
}

static void check_plan(struct session *session, int candidate, void *plan)
{
    struct measure_shared *shared = session->shared;
    struct error error = {0};
    struct host_check check = {0};
    if (shared->runner->check(plan, &check, &error) == STATUS_OK)
        judge(shared, candidate, &check);
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
            measure_leave_out(shared, i, "left out: no time for more candidates");
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
        if (!fit(shared, i))
            continue;
        if (held > 0 && more > 0 && held + more > room) {
            measure_leave_out(shared, i, "left out: no memory for more candidates at once");
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
        if (!fit(shared, i))
            timing_rounds_lose(shared->rounds, i);
    }
    if (shared->options->timing.threads <= 1)
        timing_pin_here(&before);
    atomic_store(&shared->phase, MEASURE_TIMING);
    timing_play(shared->rounds, subjects);
}

/* Plans and the problem are not released: the process ends here, and with it what it holds. */
static void work(struct session *session, struct timing_subject *subjects)
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

void measure_child(void *context)
{
    struct measure_shared *shared = context;
    size_t count = (size_t)shared->count;
    struct session session = {.shared = shared, .plans = calloc(count, sizeof *session.plans)};
    struct timing_subject *subjects = calloc(count, sizeof *subjects);
    if (session.plans && subjects)
        work(&session, subjects);
    else
        error_memory(&shared->open_error);
    free(subjects);
    free(session.plans);
}
