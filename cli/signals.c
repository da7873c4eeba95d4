#include "cli/signals.h"

#include <math.h>
#include <stddef.h>
#include <sys/time.h>

static volatile sig_atomic_t caught;    /* SIGINT or SIGTERM */
static volatile sig_atomic_t no_longer; /* also once the time limit is over */

static void catch_signal(int signal)
{
    caught = signal;
    no_longer = 1;
}

static void run_out_of_time(int signal)
{
    (void)signal;
    no_longer = 1;
}

static void handle_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

void stop_open(void)
{
    handle_signals(catch_signal);
}

const volatile sig_atomic_t *stop_asked(void)
{
    return &caught;
}

const volatile sig_atomic_t *stop_over(void)
{
    return &no_longer;
}

void stop_limit(double seconds)
{
    struct sigaction action = {.sa_handler = run_out_of_time, .sa_flags = SA_RESTART};
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds}};
    timer.it_value.tv_usec = (suseconds_t)((seconds - floor(seconds)) * 1e6);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0)
        timer.it_value.tv_usec = 1;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

void stop_close(void)
{
    handle_signals(SIG_DFL);
    if (caught)
        raise(caught);
}
