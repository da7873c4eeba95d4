/* How many tilings have a lower bound up to some time: a sum by bound, to within 2^-14 of it. */
#ifndef AUTOTUNE_SEARCH_TALLY_H
#define AUTOTUNE_SEARCH_TALLY_H

#include "core/status.h"

#include <stdint.h>

struct tally {
    int64_t *count; /* by the bits of the bound that count, owned */
};

enum status tally_open(struct tally *tally, struct error *error);
void tally_close(struct tally *tally);

/* Any number of threads may add. */
void tally_add(struct tally *tally, int64_t bound_fs, int64_t count);

/* At least as many as have bounds up to `latest_fs`: it counts all of the last interval. */
int64_t tally_sum(const struct tally *tally, int64_t latest_fs);

#endif
