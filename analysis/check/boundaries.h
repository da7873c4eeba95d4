/* Addresses that cut a buffer into pieces: piece i covers [sorted[i], sorted[i + 1]).
 *
 *   struct boundaries set = {0};
 *   boundaries_add(&set, address, &error);       each any number of times; never INT64_MIN
 *   boundaries_seal(&set, &error);               then: boundaries_piece(&set, address)
 *   boundaries_clear(&set); */
#ifndef AUTOTUNE_ANALYSIS_CHECK_BOUNDARIES_H
#define AUTOTUNE_ANALYSIS_CHECK_BOUNDARIES_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

struct boundaries {
    size_t count, capacity; /* of the hash table, a power of two */
    struct boundary *table; /* owned, as the next */
    int64_t *sorted;        /* once it is sealed */
};

/* STATUS_TOO_LARGE beyond CHECK_MAX_BYTES. */
enum status boundaries_add(struct boundaries *set, int64_t address, struct error *error);
enum status boundaries_seal(struct boundaries *set, struct error *error);

/* The piece that starts at an address of the sealed set. */
int32_t boundaries_piece(const struct boundaries *set, int64_t address);
void boundaries_clear(struct boundaries *set);

#endif
