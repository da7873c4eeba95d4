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
    struct proofs larger = {.count = proofs->count,
                            .capacity = proofs->capacity ? 2 * proofs->capacity : 64};
    larger.items = calloc((size_t)larger.capacity, sizeof *larger.items);
    if (!larger.items)
        return false;
    for (int64_t i = 0; i < proofs->capacity; i++)
        if (proofs->items[i].space)
            *find(&larger, &proofs->items[i].prefix, values) = proofs->items[i];
    free(proofs->items);
    *proofs = larger;
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
