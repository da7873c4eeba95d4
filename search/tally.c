/* A histogram whose intervals are the leading bits of a bound, as floating point has them: one
 * array for all of int64_t, and one atomic addition for each count. */
#include "search/tally.h"

#include <stdlib.h>

enum {
    BITS = 14, /* after the leading one, of each bound */
    INTERVALS = (63 - BITS + 1) << BITS,
};

/* Its leading bits with their place: ascends with the bound. */
static int interval_of(int64_t bound_fs)
{
    int top = 63 - __builtin_clzll((uint64_t)bound_fs | 1);
    if (top < BITS)
        return (int)bound_fs;
    return ((top - BITS) << BITS) + (int)(bound_fs >> (top - BITS));
}

enum status tally_open(struct tally *tally, struct error *error)
{
    tally->count = calloc(INTERVALS, sizeof *tally->count);
    return tally->count ? STATUS_OK : error_memory(error);
}

void tally_close(struct tally *tally)
{
    free(tally->count);
}

void tally_add(struct tally *tally, int64_t bound_fs, int64_t count)
{
    int64_t *sum = &tally->count[interval_of(bound_fs)];
#pragma omp atomic
    *sum += count;
}

int64_t tally_sum(const struct tally *tally, int64_t latest_fs)
{
    int64_t sum = 0;
    for (int i = 0; i <= interval_of(latest_fs); i++)
        sum += tally->count[i];
    return sum;
}
