/* Limits travel in the space that everything is handed: what has to end otherwise gets a copy of
 * the space with another stop. */
#include "search/clock.h"

#define FIRST_S  0.2  /* for a first tiling */
#define MOMENT_S 0.06 /* to say what is there */

double seconds_since(const struct timespec *start)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

const struct space *search_until(const struct space *space, struct stop stop,
                                 struct limited *limited)
{
    *limited = (struct limited){space, stop, *space};
    limited->space.stop = &limited->stop;
    return &limited->space;
}

static bool has_limits(const struct search_options *options)
{
    return options->stop || options->time_limit_s > 0;
}

const struct space *search_limit(const struct space *space, const struct search_options *options,
                                 struct limited *limited)
{
    bool timed = options->time_limit_s > 0;
    struct stop stop = {.told = options->stop,
                        .deadline_ns = timed ? stop_after_s(options->time_limit_s) : 0};
    return has_limits(options) ? search_until(space, stop, limited) : space;
}

static struct stop patience(const struct stop *stop)
{
    if (stop->told && *stop->told)
        return (struct stop){.deadline_ns = stop_after_s(FIRST_S)};
    return (struct stop){.told = stop->told};
}

/* What has been told to stop is told so no more. */
static struct stop moment(const struct stop *stop)
{
    bool is_told = stop->told && *stop->told;
    return (struct stop){.told = is_told ? NULL : stop->told, .deadline_ns = stop_after_s(FIRST_S)};
}

const struct space *search_patience(const struct space *space, struct limited *limited)
{
    return space->stop ? search_until(space, patience(space->stop), limited) : space;
}

bool search_goes_on(const struct space **space, const struct search_options *options, bool any,
                    struct limited *hurry)
{
    bool hurries = *space == &hurry->space;
    if (!hurries && !stop_due((*space)->stop))
        return true;
    if (!hurries && !any && has_limits(options)) {
        bool is_slow = (*space)->kind->costs > 0; /* one tiling is many programs */
        *space = search_until(*space, is_slow ? patience((*space)->stop) : moment((*space)->stop),
                              hurry);
        return true;
    }
    if (hurries && !any && !stop_due(hurry->space.stop))
        return true;
    if (hurries)
        *space = hurry->given;
    return false;
}

const struct space *search_moment(const struct space *space, struct limited *moment)
{
    return stop_due(space->stop)
               ? search_until(space, (struct stop){.deadline_ns = stop_after_s(MOMENT_S)}, moment)
               : space;
}
