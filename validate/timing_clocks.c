/* Reads clocks and pins threads. Wall time by CLOCK_MONOTONIC, CPU time of the thread where that
 * clock does not merely tick, preemptions by getrusage. Pinning keeps the mask that was there, and
 * gives it back. */
#include "validate/timing_clocks.h"

#include <sys/resource.h>
#include <time.h>

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

static bool allowed(struct timing_processors *processors)
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
    if (processor < 0 || !allowed(&may))
        return false;
    for (int i = 0; i < (int)sizeof may.sets * 8; i++)
        if (CPU_ISSET_S((size_t)i, sizeof may.sets, may.sets) && processor-- == 0)
            return pin_to(i);
    return false;
}

bool timing_pin_here(struct timing_processors *before)
{
    int here = sched_getcpu();
    if (here < 0 || here >= (int)sizeof before->sets * 8 || !allowed(before)) {
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
