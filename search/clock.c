#include "search/clock.h"

double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

bool search_stopped(const struct search_options *options, const struct timespec *start)
{
    return (options->stop && *options->stop) ||
           (options->time_limit_s > 0 && seconds_since(start) >= options->time_limit_s);
}
