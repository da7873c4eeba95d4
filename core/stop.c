#include "core/stop.h"

#include <time.h>

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
