/* A set of addresses that cut a buffer into pieces: collect them, seal, then ask which piece starts
 * at an address. Piece i covers [sorted[i], sorted[i + 1]). */
#ifndef AUTOTUNE_ANALYSIS_CHECK_BOUNDARIES_H
#define AUTOTUNE_ANALYSIS_CHECK_BOUNDARIES_H

#include "core/status.h"

#include <stddef.h>
#include <stdint.h>

struct boundaries {
    size_t count, capacity; /* of the hash table, a power of two */
    struct boundary *table;
    int64_t *sorted;
};

/* INT64_MIN is not an address. */
enum status boundaries_add(struct boundaries *set, int64_t address, struct error *error);

/* Sorts; nothing may be added afterwards. */
enum status boundaries_seal(struct boundaries *set, struct error *error);

/* The piece that starts at an address of the sealed set. */
int32_t boundaries_piece(const struct boundaries *set, int64_t address);

void boundaries_clear(struct boundaries *set);

#endif
