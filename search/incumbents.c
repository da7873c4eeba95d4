/* A short sorted array: a new time is inserted, the slowest drops out. */
#include "search/incumbents.h"

#include <stdlib.h>

enum status incumbents_open(struct incumbents *incumbents, int top, bool best_only,
                            struct error *error)
{
    *incumbents = (struct incumbents){
        .top = top, .best_only = best_only, .time_fs = calloc((size_t)top, sizeof(int64_t))};
    return incumbents->time_fs ? STATUS_OK : error_memory(error);
}

void incumbents_close(struct incumbents *incumbents)
{
    free(incumbents->time_fs);
}

void incumbents_note(struct incumbents *incumbents, int64_t time_fs)
{
    int at = incumbents->count;
    if (at == incumbents->top && incumbents->time_fs[at - 1] <= time_fs)
        return;
    if (at < incumbents->top)
        incumbents->count++;
    else
        at--;
    for (; at > 0 && incumbents->time_fs[at - 1] > time_fs; at--)
        incumbents->time_fs[at] = incumbents->time_fs[at - 1];
    incumbents->time_fs[at] = time_fs;
}

int64_t incumbents_limit_fs(const struct incumbents *incumbents)
{
    if (incumbents->count < incumbents->top)
        return INT64_MAX;
    int64_t best = incumbents->time_fs[0],
            one_percent = incumbents->best_only ? best : best + best / 100;
    int64_t last = incumbents->time_fs[incumbents->count - 1];
    return last > one_percent ? last : one_percent;
}
