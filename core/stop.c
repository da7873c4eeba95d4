#include "core/stop.h"

#include <stddef.h>
#include <time.h>

static const int ending[3] = {SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t waiting; /* one of these, that came while it was held */

static int64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

bool stop_due(const struct stop *stop)
{
    for (; stop; stop = stop->also)
        if ((stop->told && *stop->told) || (stop->deadline_ns && now_ns() >= stop->deadline_ns))
            return true;
    return false;
}

int64_t stop_after_s(double seconds)
{
    const double longest_s = 1e9; /* 30 years */
    return now_ns() + (int64_t)((seconds < longest_s ? seconds : longest_s) * 1e9);
}

int64_t stop_after_least_s(int64_t deadline_ns, double seconds)
{
    int64_t soon_ns = stop_after_s(seconds);
    return deadline_ns == 0 || deadline_ns > soon_ns ? deadline_ns : soon_ns;
}

static void let_wait(int signal)
{
    waiting = signal;
}

/* By actions, not by masks: any thread may be given a signal, and masks are a thread's own. */
void stop_hold(struct stop_held *held)
{
    const struct sigaction wait = {.sa_handler = let_wait, .sa_flags = SA_RESTART};
    for (int i = 0; i < 3; i++)
        if (sigaction(ending[i], &wait, &held->before[i]) == 0 &&
            held->before[i].sa_handler == SIG_IGN)
            sigaction(ending[i], &held->before[i], NULL);
}

void stop_release(const struct stop_held *held)
{
    for (int i = 0; i < 3; i++)
        sigaction(ending[i], &held->before[i], NULL);
    int signal = waiting;
    waiting = 0;
    if (signal)
        (void)raise(signal);
}
