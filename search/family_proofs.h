/* What was proven of prefixes of tilings: a time that none which begins so beats, in the space that
 * was looked at last and in all in which the prefix means the same (struct operator_nesting).
 *
 *   struct proofs proofs = {0};
 *   proofs_keep(&proofs, &prefix, space, least_fs) … proofs_least_fs(&proofs, &prefix, other)
 *   proofs_close(&proofs)
 *
 * Prefixes are of the shortest length of their space; spaces outlive the proofs. */
#ifndef AUTOTUNE_SEARCH_FAMILY_PROOFS_H
#define AUTOTUNE_SEARCH_FAMILY_PROOFS_H

#include "core/operator.h"

struct proof_of_prefix {
    const struct space *space; /* NULL: an empty place */
    struct tiling prefix;
    int64_t least_fs;
};

struct proofs {
    int64_t count, capacity; /* capacity: 0 or a power of two */
    struct proof_of_prefix *items;
};

/* 0: nothing is known. */
int64_t proofs_least_fs(const struct proofs *proofs, const struct tiling *prefix,
                        const struct space *space);

/* In place of what was known of the prefix; false without memory. */
bool proofs_keep(struct proofs *proofs, const struct tiling *prefix, const struct space *space,
                 int64_t least_fs);

void proofs_close(struct proofs *proofs);

#endif
