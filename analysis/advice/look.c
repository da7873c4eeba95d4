#include "analysis/advice/look.h"

static bool is_small(const struct program *program)
{
    return program->count <= LOOK_MAX_LINES && program->executed <= LOOK_MAX_EXECUTED;
}

/* With the best that follows; nothing follows an empty program. */
static int64_t least_fs(const struct advices *behind)
{
    bool follows = behind->count && behind->items[0].applies;
    return follows ? behind->items[0].time_fs : behind->time_fs;
}

enum status look_ahead(const struct advices *advices, int cores, int *first, struct advices *behind,
                       struct error *error)
{
    enum status status = advise(&advices->items[0].changed, cores, NULL, behind, error);
    bool small = status == STATUS_OK && is_small(&advices->items[0].changed);
    *first = 0;
    for (int i = 1; small && i < advices->count && advices->items[i].applies; i++) {
        struct advices next;
        status = advise(&advices->items[i].changed, cores, NULL, &next, error);
        if (status != STATUS_OK)
            break;
        bool better = least_fs(&next) < least_fs(behind);
        advices_clear(better ? behind : &next);
        if (better) {
            *behind = next;
            *first = i;
        }
    }
    if (status != STATUS_OK)
        advices_clear(behind);
    return status;
}
