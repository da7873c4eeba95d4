/* The source of candidates of spaces that are too large to list: branch and bound over prefixes
 * of tilings.
 *
 * A prefix stands for all legal tilings that begin so (struct operator_nesting); its lower bound
 * holds for all of them. Open prefixes are split into longer ones, and whole tilings simulated, in
 * order of bound. Before there are as many times as are asked for, and when very much is open, the
 * longest prefixes come first. */
#ifndef AUTOTUNE_SEARCH_NESTED_H
#define AUTOTUNE_SEARCH_NESTED_H

#include "search/strategy.h"

extern const struct search_source nested_source;

/* Open prefixes of one length, least bound first, then smallest index. */
struct heap {
    int64_t count, capacity;
    struct open_node *items; /* owned; items[0] is the first */
};

/* False without memory. */
bool heap_push(struct heap *heap, struct open_node node);

/* Takes the first away; the heap must not be empty. */
struct open_node heap_pop(struct heap *heap);

void heap_close(struct heap *heap);

/* How many tilings have a lower bound up to some time: a sum by bound, to within 2^-14 of it. */
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
