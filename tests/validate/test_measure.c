/* Candidates that are right, wrong, or break the process they run in. */
#include "kernels/registry.h"
#include "validate/measure.h"
#include "validate/runner.h"
#include "validate/worker.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

enum { MOST = 64 };

/* When a candidate does what it does. */
enum moment { NEVER, IN_PREPARE, IN_SECOND_PREPARE, IN_CHECK, IN_RELEASE, IN_RUN, IN_THIRD_RUN };

struct behaviour {
    const char *name;
    enum moment moment;
    void (*act)(void);
    const char *reason;         /* in the quarantine; NULL: it is measured */
    double error;               /* that the check finds */
    enum status prepare, check; /* that these return */
};

/* What all processes of a test see. */
static struct common {
    _Atomic int opens, checks[MOST], prepares[MOST], runs[MOST];
    _Atomic int hold;     /* the call of measure that runs, from 1 on; or 0 */
    _Atomic bool gave_up; /* a child's child stays as long as its call, but had to go by itself */
    _Atomic int exits;    /* handlers of the parent that ran */
    _Atomic int worker;
} * common;

static void *map(size_t bytes, int access)
{
    /* cppcheck-suppress invalidFunctionArg ; mmap(2): -1 is right where there is no file */
    void *memory = mmap(NULL, bytes, access, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert(memory != MAP_FAILED);
    return memory;
}

static void setup(void)
{
    common = map(sizeof *common, PROT_READ | PROT_WRITE);
}

static void fault(void)
{
    volatile char *page = map(1, PROT_NONE);
    *page = 1;
}

static void divide(void)
{
    raise(SIGFPE);
}

static void hang(void)
{
    for (volatile int i = 0;; i = !i)
        continue;
}

static void sleep_forever(void)
{
    for (;;)
        pause();
}

static void take_a_while(void)
{
    usleep(500000);
}

static void take_a_moment(void)
{
    usleep(100000);
}

static void leave_0(void)
{
    _exit(0);
}

static void leave_7(void)
{
    _exit(7);
}

static void call_exit(void)
{
    exit(0);
}

static void be_killed(void)
{
    kill(getpid(), SIGKILL);
}

static void chatter(void)
{
    printf("out\n");
    fprintf(stderr, "err\n");
    fflush(stdout);
    abort();
}

__attribute__((noinline)) static int deeper(int depth)
{
    volatile char room[4096] = {0};
    room[depth % 4096] = (char)depth;
    if (depth < 0)
        return 0;
    return deeper(depth + 1) + room[0];
}

static void overflow_stack(void)
{
    deeper(1);
}

static void keyboard(void)
{
    kill(getpid(), SIGINT);
    kill(getpid(), SIGHUP);
}

static void close_all(void)
{
    for (int file = 0; file < 64; file++)
        close(file);
}

static void close_and_hang(void)
{
    close_all();
    hang();
}

/* A child of the child that goes on, with all of its files, until it is let go. */
static void leave_a_child(void)
{
    int call = atomic_load(&common->hold);
    if (fork() == 0) {
        for (int i = 0; i < 2000; i++) {
            if (atomic_load(&common->hold) != call)
                _exit(0);
            usleep(10000);
        }
        atomic_store(&common->gave_up, true);
        _exit(0);
    }
    abort();
}

static void no_more_memory(void)
{
    /* The plan's own malloc fails after that. */
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_AS, &limit);
}

static void tell_worker(void)
{
    atomic_store(&common->worker, getpid());
    sleep_forever();
}

static const struct behaviour behaviours[] = {
    {.name = "right"},
    {.name = "right, not exactly", .error = 9e-6},
    {.name = "wrong", .error = 0.3, .reason = "wrong results: error 0.3, allowed 1e-05"},
    {.name = "not a number", .error = NAN, .reason = "some are no numbers"},
    {.name = "infinite", .error = INFINITY, .reason = "some are no numbers"},
    {.name = "check fails", .check = STATUS_IO, .reason = "checking: it is so"},
    {.name = "prepare fails", .prepare = STATUS_INVALID, .reason = "preparing: it is so"},
    {.name = "no memory", .prepare = STATUS_NO_MEMORY, .reason = "out of memory while preparing"},
    {.name = "no memory to check", .check = STATUS_NO_MEMORY, .reason = "out of memory while ch"},
    {"fault in prepare", IN_PREPARE, fault, "SIGSEGV while checking"},
    {"fault in check", IN_CHECK, fault, "SIGSEGV while checking"},
    {"fault in release", IN_RELEASE, fault, "SIGSEGV while checking"},
    {"fault in second prepare", IN_SECOND_PREPARE, fault, "SIGSEGV while preparing"},
    {"fault in run", IN_RUN, fault, "SIGSEGV while timing"},
    {"fault in third run", IN_THIRD_RUN, fault, "SIGSEGV while timing"},
    {"divide in check", IN_CHECK, divide, "SIGFPE while checking"},
    {"divide in run", IN_RUN, divide, "SIGFPE while timing"},
    {"abort in check", IN_CHECK, abort, "SIGABRT while checking"},
    {"abort in third run", IN_THIRD_RUN, abort, "SIGABRT while timing"},
    {"leave in check", IN_CHECK, leave_0, "exit status 0 while checking"},
    {"leave in run", IN_RUN, leave_0, "exit status 0 while timing"},
    {"leave with 7", IN_THIRD_RUN, leave_7, "exit status 7 while timing"},
    {"exit", IN_RUN, call_exit, "exit status 1 while timing"},
    {"killed", IN_RUN, be_killed, "killed, as for want of memory, while timing"},
    {"chatter", IN_CHECK, chatter, "SIGABRT while checking"},
    {"stack overflow", IN_RUN, overflow_stack, "SIGSEGV while timing"},
    {"keys in check", IN_CHECK, keyboard, NULL},
    {"keys in run", IN_RUN, keyboard, NULL},
    {"closes files", IN_CHECK, close_all, NULL},
    {"leaves a child", IN_CHECK, leave_a_child, "SIGABRT while checking"},
};
enum { BEHAVIOURS = sizeof behaviours / sizeof behaviours[0] };

static const struct behaviour bad_memory = {"little memory", IN_PREPARE, no_more_memory,
                                            SANITIZED ? "" : "out of memory while preparing"};
static const struct behaviour hangs[] = {
    {"hangs in prepare", IN_PREPARE, hang, "no result within 2 s while checking"},
    {"hangs in check", IN_CHECK, sleep_forever, "no result within 2 s while checking"},
    {"hangs in run", IN_RUN, hang, "no result within 2 s while timing"},
    {"closes files and hangs", IN_THIRD_RUN, close_and_hang, "no result within 2 s while timing"},
};
static const struct behaviour waits = {"waits", IN_CHECK, tell_worker, NULL};
static const struct behaviour waits_in_run = {"waits in run", IN_THIRD_RUN, tell_worker, NULL};

/* What a tiling does: its only value is its place in the list. */
static const struct behaviour *placed[MOST];

struct plan {
    const struct behaviour *behaviour;
    int place, runs;
    volatile unsigned work;
    void *memory;
};

static enum status open_problem(const struct space *space, uint64_t seed, void **problem,
                                struct error *error)
{
    (void)error;
    cr_assert(space == NULL);
    atomic_fetch_add(&common->opens, 1);
    *problem = malloc(sizeof(uint64_t));
    *(uint64_t *)*problem = seed;
    return STATUS_OK;
}

static void act(const struct plan *plan, enum moment moment)
{
    if (plan->behaviour->moment == moment)
        plan->behaviour->act();
}

static enum status prepare(void *problem, const struct tiling *tiling, void **result,
                           struct error *error)
{
    struct plan *plan = calloc(1, sizeof *plan);
    cr_assert(plan && *(uint64_t *)problem == 42);
    plan->place = (int)tiling->value[0];
    plan->behaviour = placed[plan->place];
    act(plan, IN_PREPARE);
    if (atomic_fetch_add(&common->prepares[plan->place], 1) > 0)
        act(plan, IN_SECOND_PREPARE);
    /* More than the room that malloc has reserved for a thread. */
    plan->memory = malloc(plan->behaviour->act == no_more_memory ? 1 << 28 : 4096);
    if (!plan->memory) {
        free(plan);
        return error_memory(error);
    }
    if (plan->behaviour->prepare == STATUS_OK) {
        *result = plan;
        return STATUS_OK;
    }
    free(plan->memory);
    enum status status = error_set(error, plan->behaviour->prepare, "it is so");
    free(plan);
    return status;
}

static void release(void *context)
{
    struct plan *plan = context;
    act(plan, IN_RELEASE);
    free(plan->memory);
    free(plan);
}

static void run(void *context)
{
    struct plan *plan = context;
    atomic_fetch_add(&common->runs[plan->place], 1);
    act(plan, IN_RUN);
    if (++plan->runs == 3)
        act(plan, IN_THIRD_RUN);
    for (int i = 0; i < 1000; i++)
        plan->work += (unsigned)i;
}

static enum status check(void *context, struct host_check *check, struct error *error)
{
    struct plan *plan = context;
    atomic_fetch_add(&common->checks[plan->place], 1);
    act(plan, IN_CHECK);
    if (plan->behaviour->check != STATUS_OK)
        return error_set(error, plan->behaviour->check, "it is so");
    *check = (struct host_check){plan->behaviour->error, 1e-5, plan->place % 2};
    return STATUS_OK;
}

static const struct host_runner runner = {
    .open = open_problem, .prepare = prepare, .release = release, .run = run, .check = check};

/* Short samples: nothing here is about speed. */
static struct measure_options quick(void)
{
    return (struct measure_options){
        .timing = {.min_sample_ns = 2e4, .rounds = 5, .threads = 1}, .seed = 42, .deadline_s = 60};
}

static void place(struct tiling *tilings, int at, const struct behaviour *behaviour)
{
    placed[at] = behaviour;
    tilings[at].value[0] = at;
}

static bool nobody_left(void)
{
    return waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD;
}

static int open_files(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    if (!folder)
        return 0;
    while (readdir(folder)) /* cppcheck-suppress readdirCalled ; there is one thread */
        count++;
    closedir(folder);
    return count;
}

static void measure_ok(const struct tiling *tilings, int count,
                       const struct measure_options *options, struct measured *results)
{
    static int calls;
    struct error error = {0};
    int files = open_files();
    atomic_store(&common->hold, ++calls);
    enum status status = measure(&runner, NULL, tilings, NULL, count, options, results, &error);
    cr_assert_eq(status, STATUS_OK, "%s", error.text);
    cr_assert(!atomic_load(&common->gave_up));
    cr_assert(nobody_left());
    cr_assert_eq(open_files(), files);
    atomic_store(&common->hold, 0);
}

static void expect_result(const struct behaviour *behaviour, const struct measured *result)
{
    const char *reason = behaviour->reason;
    int taken = result->timing.samples + result->timing.dropped;
    cr_expect(isfinite(result->max_error), "%s", behaviour->name);
    if (reason) {
        cr_expect(result->quarantine[0], "%s is measured", behaviour->name);
        cr_expect(strstr(result->quarantine, reason), "%s: '%s', expected '%s'", behaviour->name,
                  result->quarantine, reason);
        cr_expect_eq(result->timing.median_ns, 0, "%s", behaviour->name);
    } else {
        cr_expect_str_eq(result->quarantine, "", "%s: %s", behaviour->name, result->quarantine);
        cr_expect(result->timing.median_ns > 0, "%s", behaviour->name);
        cr_expect(taken >= 3 && taken <= 10, "%s: %d", behaviour->name, taken);
        cr_expect_eq(result->max_error, behaviour->error);
        cr_expect_eq(result->allowed_error, 1e-5);
    }
}

/* Each behaviour with sound candidates on both sides, which must not suffer. */
static void expect_alone(const struct behaviour *behaviour, const struct measure_options *options)
{
    struct tiling tilings[3] = {0};
    struct measured results[3];
    place(tilings, 0, &behaviours[0]);
    place(tilings, 1, behaviour);
    place(tilings, 2, &behaviours[1]);
    memset(common, 0, sizeof *common);
    measure_ok(tilings, 3, options, results);
    expect_result(&behaviours[0], &results[0]);
    expect_result(behaviour, &results[1]);
    expect_result(&behaviours[1], &results[2]);
    cr_expect_eq(common->checks[0], 1, "%s: what was checked stays checked", behaviour->name);
    cr_expect_eq(common->checks[2], 1);
}

Test(measure, each_behaviour_alone, .init = setup)
{
    struct measure_options options = quick();
    for (int i = 0; i < BEHAVIOURS; i++)
        expect_alone(&behaviours[i], &options);
}

Test(measure, all_behaviours_together, .init = setup)
{
    struct measure_options options = quick();
    struct tiling tilings[MOST] = {0};
    struct measured results[MOST];
    for (int i = 0; i < 2 * BEHAVIOURS; i++)
        place(tilings, i, &behaviours[(7 * i + 3) % BEHAVIOURS]);
    measure_ok(tilings, 2 * BEHAVIOURS, &options, results);
    for (int i = 0; i < 2 * BEHAVIOURS; i++) {
        expect_result(&behaviours[(7 * i + 3) % BEHAVIOURS], &results[i]);
        cr_expect(common->checks[i] <= 1);
        cr_expect(results[i].quarantine[0] || results[i].sampled == i % 2);
    }
}

/* Samples taken before a fault are not taken again. */
Test(measure, rounds_go_on_after_a_fault, .init = setup)
{
    struct measure_options options = quick();
    struct tiling tilings[5] = {0};
    struct measured results[5];
    options.timing.min_sample_ns = 1; /* a run is a sample; one more sizes */
    for (int i = 0; i < 5; i++)
        place(tilings, i, &behaviours[i == 3 ? 14 : 0]);
    measure_ok(tilings, 5, &options, results);
    for (int i = 0; i < 5; i++) {
        int taken = results[i].timing.samples + results[i].timing.dropped;
        expect_result(&behaviours[i == 3 ? 14 : 0], &results[i]);
        cr_expect_eq(common->runs[i], i == 3 ? 3 : taken + 1);
    }
}

Test(measure, little_memory, .init = setup)
{
    struct measure_options options = quick();
    struct tiling tilings[1] = {0};
    struct measured results[1];
    place(tilings, 0, &bad_memory);
    measure_ok(tilings, 1, &options, results);
    expect_result(&bad_memory, &results[0]);
}

Test(measure, hanging, .init = setup)
{
    struct measure_options options = quick();
    options.deadline_s = 2;
    for (size_t i = 0; i < sizeof hangs / sizeof hangs[0]; i++)
        expect_alone(&hangs[i], &options);
}

/* Each step has the deadline for itself: all of them together take longer. */
Test(measure, slow_is_not_hanging, .init = setup)
{
    static const struct behaviour slow[] = {{"slow check", IN_CHECK, take_a_while, NULL},
                                            {"slow run", IN_RUN, take_a_moment, NULL}};
    struct measure_options options = quick();
    struct tiling tilings[10] = {0};
    struct measured results[10];
    options.deadline_s = 2;
    options.timing.rounds = 3;
    for (int i = 0; i < 10; i++)
        place(tilings, i, &slow[i % 2]);
    measure_ok(tilings, 10, &options, results);
    for (int i = 0; i < 10; i++)
        expect_result(&slow[i % 2], &results[i]);
}

Test(measure, nothing_to_do, .init = setup)
{
    struct measure_options options = quick();
    measure_ok(NULL, 0, &options, NULL);
    cr_expect_eq(common->opens, 0);
}

Test(measure, nothing_that_works, .init = setup)
{
    struct measure_options options = quick();
    struct tiling tilings[6] = {0};
    struct measured results[6];
    static const int bad[6] = {2, 3, 7, 9, 14, 20};
    for (int i = 0; i < 6; i++)
        place(tilings, i, &behaviours[bad[i]]);
    measure_ok(tilings, 6, &options, results);
    for (int i = 0; i < 6; i++)
        expect_result(&behaviours[bad[i]], &results[i]);
}

Test(measure, no_runner)
{
    struct measure_options options = quick();
    struct tiling tiling = {0};
    struct measured result;
    struct error error;
    cr_expect_eq(measure(NULL, NULL, &tiling, NULL, 1, &options, &result, &error), STATUS_INVALID);
    options.timing.budget_s = -1;
    cr_expect_eq(measure(&runner, NULL, &tiling, NULL, 1, &options, &result, &error),
                 STATUS_INVALID);
}

static enum status open_nothing(const struct space *space, uint64_t seed, void **problem,
                                struct error *error)
{
    (void)space, (void)problem;
    if (seed == 1)
        return error_set(error, STATUS_NO_MEMORY, "no room for inputs");
    if (seed == 2)
        fault();
    if (seed == 3)
        leave_0();
    hang();
    return STATUS_OK;
}

Test(measure, no_inputs, .init = setup)
{
    static const char *const reasons[] = {
        "nothing can be measured: no room for inputs",
        "nothing can be measured: SIGSEGV while making the inputs",
        "nothing can be measured: exit status 0 while making the inputs",
        "nothing can be measured: no result within 0.6 s while making the inputs"};
    struct host_runner broken = runner;
    struct measure_options options = quick();
    struct tiling tiling = {0};
    place(&tiling, 0, &behaviours[0]);
    broken.open = open_nothing;
    options.deadline_s = 0.1;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct measured result;
        struct error error = {0};
        options.seed = seed;
        cr_expect_eq(measure(&broken, NULL, &tiling, NULL, 1, &options, &result, &error),
                     STATUS_INVALID);
        cr_expect_str_eq(error.text, reasons[seed - 1]);
        cr_expect(nobody_left());
    }
}

static volatile sig_atomic_t stop;

static void set_stop(int number)
{
    (void)number;
    stop = 1;
}

Test(measure, stopped_before_it_began, .init = setup)
{
    struct measure_options options = quick();
    struct tiling tilings[2] = {0};
    struct measured results[2];
    stop = 1;
    options.stop = &stop;
    place(tilings, 0, &behaviours[0]);
    place(tilings, 1, &behaviours[0]);
    measure_ok(tilings, 2, &options, results);
    cr_expect_eq(common->opens, 0);
    for (int i = 0; i < 2; i++)
        cr_expect_str_eq(results[i].quarantine, "not measured: interrupted");
}

static void stop_when_waiting(void *context, const char *phase, int64_t done, int64_t total)
{
    (void)context, (void)phase;
    cr_assert(done <= total);
    if (atomic_load(&common->worker))
        stop = 1;
}

/* The deadline is a minute: that the test ends in its time is what it tests. */
Test(measure, stopped_while_checking, .init = setup, .timeout = 30)
{
    struct measure_options options = quick();
    struct tiling tilings[3] = {0};
    struct measured results[3];
    stop = 0;
    options.stop = &stop;
    options.progress = stop_when_waiting;
    place(tilings, 0, &behaviours[2]);
    place(tilings, 1, &behaviours[0]);
    place(tilings, 2, &waits);
    measure_ok(tilings, 3, &options, results);
    expect_result(&behaviours[2], &results[0]);
    cr_expect_str_eq(results[1].quarantine, "not measured: interrupted");
    cr_expect_str_eq(results[2].quarantine, "not measured: interrupted");
}

Test(measure, stopped_while_timing, .init = setup, .timeout = 30)
{
    struct measure_options options = quick();
    struct tiling tilings[3] = {0};
    struct measured results[3];
    stop = 0;
    options.stop = &stop;
    options.progress = stop_when_waiting;
    options.timing.min_sample_ns = 1; /* a run is a sample */
    place(tilings, 0, &behaviours[2]);
    place(tilings, 1, &behaviours[0]);
    place(tilings, 2, &waits_in_run);
    measure_ok(tilings, 3, &options, results);
    expect_result(&behaviours[2], &results[0]);
    cr_expect_str_eq(results[1].quarantine, "");
    cr_expect(results[1].timing.median_ns > 0, "what was measured stays");
    cr_expect_eq(results[1].timing.samples + results[1].timing.dropped, 2);
    cr_expect_eq(results[2].timing.samples + results[2].timing.dropped, 1);
}

/* As by Ctrl-C: a signal whose handler sets the flag. */
Test(measure, stopped_by_a_signal, .init = setup, .timeout = 30)
{
    struct measure_options options = quick();
    struct tiling tilings[1] = {0};
    struct measured results[1];
    struct itimerval soon = {.it_value = {.tv_usec = 300000}};
    struct sigaction action = {.sa_handler = set_stop};
    stop = 0;
    options.stop = &stop;
    sigaction(SIGALRM, &action, NULL);
    place(tilings, 0, &waits);
    setitimer(ITIMER_REAL, &soon, NULL);
    measure_ok(tilings, 1, &options, results);
    cr_expect_str_eq(results[0].quarantine, "not measured: interrupted");
}

Test(measure, a_budget_leaves_out_who_comes_late, .init = setup)
{
    struct measure_options options = quick();
    struct tiling tilings[4] = {0};
    struct measured results[4];
    options.timing.budget_s = 1e-9; /* no check is as fast as that */
    for (int i = 0; i < 4; i++)
        place(tilings, i, &behaviours[0]);
    measure_ok(tilings, 4, &options, results);
    expect_result(&behaviours[0], &results[0]);
    for (int i = 1; i < 4; i++) {
        cr_expect_str_eq(results[i].quarantine, "left out: no time for more candidates");
        cr_expect_eq(common->checks[i], 0);
    }
}

static int64_t hold_nearly_all(const void *context)
{
    const struct plan *plan = context;
    return plan->place == 2 ? 0 : INT64_MAX / 2;
}

/* Each has memory enough for its check, but not beside the others. */
Test(measure, plans_that_do_not_fit_together_are_left_out, .init = setup)
{
    struct host_runner large = runner;
    struct measure_options options = quick();
    struct tiling tilings[4] = {0};
    struct measured results[4];
    struct error error = {0};
    large.held_bytes = hold_nearly_all;
    for (int i = 0; i < 4; i++)
        place(tilings, i, &behaviours[i ? 0 : 2]);
    cr_assert_eq(measure(&large, NULL, tilings, NULL, 4, &options, results, &error), STATUS_OK);
    expect_result(&behaviours[2], &results[0]);
    expect_result(&behaviours[0], &results[1]);
    expect_result(&behaviours[0], &results[2]);
    cr_expect_str_eq(results[3].quarantine, "left out: no memory for more candidates at once");
    cr_expect(results[3].left_out && !results[0].left_out);
    cr_expect_eq(common->checks[3], 1);
    cr_expect_eq(common->runs[3], 0);
}

struct told {
    int checking, timing;
    int64_t last;
};

static void listen(void *context, const char *phase, int64_t done, int64_t total)
{
    struct told *told = context;
    bool timing = strcmp(phase, "timing") == 0;
    cr_assert(timing || strcmp(phase, "checking") == 0);
    cr_assert(done >= 0 && done <= total);
    told->checking += !timing;
    told->timing += timing;
    told->last = timing ? done : 0;
}

Test(measure, progress_is_told_in_the_parent, .init = setup)
{
    struct measure_options options = quick();
    struct tiling tilings[2] = {0};
    struct measured results[2];
    struct told told = {0};
    options.progress = listen;
    options.context = &told;
    place(tilings, 0, &behaviours[0]);
    place(tilings, 1, &behaviours[10]);
    measure_ok(tilings, 2, &options, results);
    cr_expect(told.timing >= 1);
    cr_expect(told.checking >= 1, "at the latest when the first child ended");
    cr_expect_eq(told.last, results[0].timing.samples + results[0].timing.dropped);
}

/* Streams that the parent has open, and what it registered to be done at its end. */
static void at_exit(void)
{
    if (common)
        atomic_fetch_add(&common->exits, 1);
}

Test(measure, children_print_nothing_and_run_no_handlers, .init = setup)
{
    static const int some[] = {10, 17, 22, 24, 25};
    struct measure_options options = quick();
    struct tiling tilings[5] = {0};
    struct measured results[5];
    FILE *file = tmpfile(), *pending = tmpfile();
    cr_assert(file && pending && atexit(at_exit) == 0);
    fprintf(pending, "once");
    fflush(stdout);
    fflush(stderr);
    int saved[2] = {dup(1), dup(2)};
    dup2(fileno(file), 1);
    dup2(fileno(file), 2);
    for (int i = 0; i < 5; i++)
        place(tilings, i, &behaviours[some[i]]);
    struct error error;
    enum status status = measure(&runner, NULL, tilings, NULL, 5, &options, results, &error);
    dup2(saved[0], 1);
    dup2(saved[1], 2);
    cr_assert_eq(status, STATUS_OK);
    for (int i = 0; i < 5; i++)
        expect_result(&behaviours[some[i]], &results[i]);
    cr_expect_eq(lseek(fileno(file), 0, SEEK_END), 0, "nothing was printed");
    cr_expect_eq(common->exits, 0);
    fflush(pending);
    cr_expect_eq(lseek(fileno(pending), 0, SEEK_END), 4, "written once");
}

/* The process between dies while its child waits; the child has to go too. */
Test(measure, no_child_survives, .init = setup, .timeout = 60)
{
    struct tiling tilings[1] = {0};
    int status;
    place(tilings, 0, &waits);
    cr_assert_eq(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
    pid_t between = fork();
    if (between == 0) {
        struct measure_options options = quick();
        struct measured results[1];
        struct error error;
        measure(&runner, NULL, tilings, NULL, 1, &options, results, &error);
        _exit(0);
    }
    while (!atomic_load(&common->worker))
        usleep(1000);
    cr_assert_eq(kill(between, SIGKILL), 0);
    cr_assert_eq(waitpid(between, &status, 0), between);
    cr_expect_eq(waitpid(atomic_load(&common->worker), &status, 0), atomic_load(&common->worker));
    cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    cr_expect(nobody_left());
}

Test(measure, works_where_nobody_waits_for_children, .init = setup)
{
    struct measure_options options = quick();
    struct tiling tilings[2] = {0};
    struct measured results[2];
    struct error error;
    (void)signal(SIGCHLD, SIG_IGN);
    place(tilings, 0, &behaviours[0]);
    place(tilings, 1, &behaviours[10]);
    cr_assert_eq(measure(&runner, NULL, tilings, NULL, 2, &options, results, &error), STATUS_OK);
    expect_result(&behaviours[0], &results[0]);
    cr_expect_str_eq(results[1].quarantine, "an end of which nothing is known while checking");
}

static int team(void)
{
    int size = 0;
#pragma omp parallel num_threads(2) reduction(+ : size)
    size += 1;
    return size;
}

static void use_threads(void)
{
    if (team() < 1)
        abort();
}

/* After fork OpenMP hangs in the thread that used it before. */
Test(measure, threads_in_parent_and_child, .init = setup)
{
    struct behaviour parallel = {"parallel", IN_RUN, use_threads, NULL};
    struct measure_options options = quick();
    struct tiling tilings[2] = {0};
    struct measured results[2];
    options.timing.threads = 2;
    options.deadline_s = 20;
    cr_assert(team() >= 1);
    place(tilings, 0, &behaviours[0]);
    place(tilings, 1, &parallel);
    measure_ok(tilings, 2, &options, results);
    expect_result(&behaviours[0], &results[0]);
    expect_result(&parallel, &results[1]);
    cr_expect(team() >= 1);
}

/* $AUTOTUNE_FAULTS lists of random length and content; a few unless it says more. */
Test(measure, random_faults, .init = setup, .timeout = 1200)
{
    const char *text = getenv("AUTOTUNE_FAULTS");
    int lists = text ? (int)strtol(text, NULL, 10) : 10;
    struct measure_options options = quick();
    unsigned random = 12345;
    for (int list = 0; list < lists; list++) {
        struct tiling tilings[20] = {0};
        struct measured results[20];
        int chosen[20];
        random = random * 1664525U + 1013904223U;
        int count = 1 + (int)(random >> 16) % 20;
        for (int i = 0; i < count; i++) {
            random = random * 1664525U + 1013904223U;
            chosen[i] = random >> 31 ? 0 : (int)((random >> 16) % BEHAVIOURS);
            place(tilings, i, &behaviours[chosen[i]]);
        }
        memset(common, 0, sizeof *common);
        options.timing.keep_within = list % 2 ? 1.2 : 0;
        measure_ok(tilings, count, &options, results);
        for (int i = 0; i < count; i++)
            expect_result(&behaviours[chosen[i]], &results[i]);
    }
}

/* The process by itself. */

static void return_at_once(void *context)
{
    (void)context;
}

static void raise_signal(void *context)
{
    raise(*(int *)context);
}

Test(measure, worker_says_how_it_ended)
{
    static const struct {
        int number;
        const char *text;
    } cases[] = {{SIGSEGV, "SIGSEGV"},
                 {SIGBUS, "SIGBUS"},
                 {SIGILL, "SIGILL"},
                 {SIGTERM, "SIGTERM"},
                 {SIGUSR1, "signal 10"}};
    struct worker worker;
    struct worker_end end;
    struct error error;
    char text[48];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int number = cases[i].number;
        cr_assert_eq(worker_start(&worker, raise_signal, &number, &error), STATUS_OK);
        while (!worker_wait(&worker, 1000, &end))
            continue;
        worker_end_text(&end, text, sizeof text);
        cr_expect(!end.finished);
        cr_expect(number == SIGUSR1 || strcmp(text, cases[i].text) == 0, "%s", text);
    }
    cr_assert_eq(worker_start(&worker, return_at_once, NULL, &error), STATUS_OK);
    while (!worker_wait(&worker, 1000, &end))
        continue;
    cr_expect(end.finished);
    cr_expect_eq(end.signal, 0);
    cr_expect(nobody_left());
}

static void wait_forever(void *context)
{
    (void)context;
    sleep_forever();
}

Test(measure, worker_is_stopped)
{
    struct worker worker;
    struct worker_end end;
    struct error error;
    cr_assert_eq(worker_start(&worker, wait_forever, NULL, &error), STATUS_OK);
    cr_expect(!worker_wait(&worker, 50, &end));
    worker_stop(&worker, &end);
    cr_expect(!end.finished);
    cr_expect_eq(end.signal, SIGKILL);
    cr_expect(nobody_left());
}

Test(measure, runners_table)
{
    for (int i = 0; operators[i]; i++) {
        const struct host_runner *row = operators[i]->runner;
        cr_expect(row->open && row->close && row->prepare && row->release && row->run &&
                  row->check);
    }
}
