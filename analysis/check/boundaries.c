/* Cuts are collected in a hash table with linear probing (Knuth 1973, Fibonacci hashing), which
 * drops the many repetitions as they come; sealing sorts them once and writes each one's rank back,
 * so that a piece is found without a binary search. */
#include "analysis/check/boundaries.h"

#include "analysis/check/check.h"

#include <stdlib.h>

struct boundary {
    int64_t address; /* NO_ADDRESS: a free place */
    int32_t piece;
};

#define NO_ADDRESS INT64_MIN

enum { FIRST_BOUNDARIES = 1024 };

static size_t boundary_place(const struct boundaries *set, int64_t address)
{
    size_t mask = set->capacity - 1;
    /* Fibonacci hashing: the high half of the product depends on all bits of the address. */
    size_t i = (size_t)(((uint64_t)address * 0x9e3779b97f4a7c15u) >> 32) & mask;
    while (set->table[i].address != NO_ADDRESS && set->table[i].address != address)
        i = (i + 1) & mask;
    return i;
}

static enum status grow_boundaries(struct boundaries *set, struct error *error)
{
    struct boundaries old = *set;
    set->capacity = old.capacity ? old.capacity * 2 : FIRST_BOUNDARIES;
    if (set->capacity * sizeof *set->table > CHECK_MAX_BYTES) {
        *set = old;
        return error_set(error, STATUS_TOO_LARGE,
                         "operands cut a buffer into more than %zu pieces, too many to check",
                         old.count);
    }
    set->table = malloc(set->capacity * sizeof *set->table);
    if (!set->table) {
        *set = old;
        return error_memory(error);
    }
    for (size_t i = 0; i < set->capacity; i++)
        set->table[i].address = NO_ADDRESS;
    for (size_t i = 0; i < old.capacity; i++)
        if (old.table[i].address != NO_ADDRESS)
            set->table[boundary_place(set, old.table[i].address)] = old.table[i];
    free(old.table);
    return STATUS_OK;
}

enum status boundaries_add(struct boundaries *set, int64_t address, struct error *error)
{
    if (2 * (set->count + 1) > set->capacity)
        TRY(grow_boundaries(set, error));
    struct boundary *at = &set->table[boundary_place(set, address)];
    set->count += at->address == NO_ADDRESS;
    at->address = address;
    return STATUS_OK;
}

static int by_address(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

enum status boundaries_seal(struct boundaries *set, struct error *error)
{
    set->sorted = malloc((set->count + 1) * sizeof *set->sorted);
    if (!set->sorted)
        return error_memory(error);
    size_t count = 0;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->table[i].address != NO_ADDRESS)
            set->sorted[count++] = set->table[i].address;
    qsort(set->sorted, count, sizeof *set->sorted, by_address);
    for (size_t i = 0; i < count; i++)
        set->table[boundary_place(set, set->sorted[i])].piece = (int32_t)i;
    return STATUS_OK;
}

int32_t boundaries_piece(const struct boundaries *set, int64_t address)
{
    return set->table[boundary_place(set, address)].piece;
}

void boundaries_clear(struct boundaries *set)
{
    free(set->table);
    free(set->sorted);
    *set = (struct boundaries){.count = 0};
}
