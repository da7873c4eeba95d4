/* A row's columns tell which cores ran: what did something, or has a time of its own. Where one
 * kind of cores has no cycles, some profilers write a time of the other's beside it. */
#include "formats/profile_parts.h"

#include <string.h>
#include <strings.h>

static bool did_something(const struct profile_row *row, int side)
{
    for (int unit = 0; unit < PROFILE_UNITS; unit++)
        if (row->busy_us[side][unit] > 0)
            return true;
    for (int counter = 0; counter < PROFILE_COUNTERS; counter++)
        if (row->counters[side][counter] > 0)
            return true;
    return false;
}

static bool is_known(const struct profile_row *row, int side)
{
    for (int unit = 0; unit < PROFILE_UNITS; unit++)
        if (row->busy_us[side][unit] >= 0)
            return true;
    for (int counter = 0; counter < PROFILE_COUNTERS; counter++)
        if (row->counters[side][counter] >= 0)
            return true;
    return row->core_us[side] > 0;
}

bool profile_side_ran(const struct profile_row *row, int side)
{
    int other = PROFILE_SIDES - 1 - side;
    if (did_something(row, side))
        return true;
    bool idle = row->cycles[side] == 0 && row->core_us[other] > 0 && row->cycles[other] != 0;
    return is_known(row, side) && row->core_us[side] > 0 && !idle;
}

bool profile_has_core_times(const struct profile_row *row)
{
    return row->core_us[SIDE_CUBE] > 0 || row->core_us[SIDE_VECTOR] > 0;
}

bool profile_runs_elsewhere(const struct profile_row *row)
{
    static const char *const kinds[] = {"AI_CPU", "HCCL", "COMMUNICATION", "DSA_SQE", "DVPP"};
    int length;
    const char *kind = profile_trimmed(row->texts[SLOT_CORE_TYPE], &length);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((int)strlen(kinds[i]) == length && strncasecmp(kind, kinds[i], (size_t)length) == 0)
            return true;
    return false;
}
