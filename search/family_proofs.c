/* A table with open addressing (Peterson 1957), at most half full. */
#include "search/family_proofs.h"

#include <stdlib.h>

static int values_of(const struct space *space)
{
    return space->kind->nesting->lengths[0];
}

static uint64_t hash_of(const struct tiling *prefix, int values)
{
    uint64_t hash = 0;
    for (int i = 0; i < values; i++) /* a multiplier of L'Ecuyer 1999 */
        hash = (hash ^ (uint64_t)prefix->value[i]) * UINT64_C(3935559000370003845);
    return hash ^ hash >> 32;
}

static bool is_of(const struct proof_of_prefix *item, const struct tiling *prefix, int values)
{
    for (int i = 0; i < values; i++)
        if (item->prefix.value[i] != prefix->value[i])
            return false;
    return true;
}

/* Its place, or the empty one where it would be. */
static struct proof_of_prefix *find(const struct proofs *proofs, const struct tiling *prefix,
                                    int values)
{
    uint64_t mask = (uint64_t)proofs->capacity - 1, at = hash_of(prefix, values) & mask;
    while (proofs->items[at].space && !is_of(&proofs->items[at], prefix, values))
        at = (at + 1) & mask;
    return &proofs->items[at];
}

static bool grow(struct proofs *proofs, int values)
{
    const struct proofs old = *proofs;
    int64_t capacity = old.capacity ? 2 * old.capacity : 64;
    struct proof_of_prefix *items = calloc((size_t)capacity, sizeof *items);
    if (!items)
        return false;
    proofs->items = items;
    proofs->capacity = capacity;
    for (int64_t i = 0; i < old.capacity; i++)
        if (old.items[i].space)
            *find(proofs, &old.items[i].prefix, values) = old.items[i];
    free(old.items);
    return true;
}

int64_t proofs_least_fs(const struct proofs *proofs, const struct tiling *prefix,
                        const struct space *space)
{
    if (!proofs->capacity)
        return 0;
    const struct proof_of_prefix *item = find(proofs, prefix, values_of(space));
    return item->space && space->kind->nesting->same(item->space, space, prefix) ? item->least_fs
                                                                                 : 0;
}

bool proofs_keep(struct proofs *proofs, const struct tiling *prefix, const struct space *space,
                 int64_t least_fs)
{
    int values = values_of(space);
    if (2 * proofs->count >= proofs->capacity && !grow(proofs, values))
        return false;
    struct proof_of_prefix *item = find(proofs, prefix, values);
    proofs->count += item->space == NULL;
    *item = (struct proof_of_prefix){.space = space, .prefix = *prefix, .least_fs = least_fs};
    return true;
}

void proofs_close(struct proofs *proofs)
{
    free(proofs->items);
}
