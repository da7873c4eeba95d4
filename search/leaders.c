#include "search/leaders.h"

#include <stdlib.h>

enum status leaders_open(struct leaders *leaders, int top, bool best_only, struct error *error)
{
    *leaders = (struct leaders){
        .top = top, .best_only = best_only, .time_fs = calloc((size_t)top, sizeof(int64_t))};
    return leaders->time_fs ? STATUS_OK : error_memory(error);
}

void leaders_close(struct leaders *leaders)
{
    free(leaders->time_fs);
}

void leaders_note(struct leaders *leaders, int64_t time_fs)
{
    int at = leaders->count;
    if (at == leaders->top && leaders->time_fs[at - 1] <= time_fs)
        return;
    if (at < leaders->top)
        leaders->count++;
    else
        at--;
    for (; at > 0 && leaders->time_fs[at - 1] > time_fs; at--)
        leaders->time_fs[at] = leaders->time_fs[at - 1];
    leaders->time_fs[at] = time_fs;
}

int64_t leaders_limit_fs(const struct leaders *leaders)
{
    if (leaders->count < leaders->top)
        return INT64_MAX;
    int64_t best = leaders->time_fs[0], one_percent = leaders->best_only ? best : best + best / 100;
    int64_t last = leaders->time_fs[leaders->count - 1];
    return last > one_percent ? last : one_percent;
}
