/* The search of spaces that are too large to list: branch and bound over beginnings of tilings.
 *
 * A beginning stands for all legal tilings that begin so (struct operator_nesting); its lower bound
 * holds for all of them. Open beginnings are split into longer ones, and whole tilings played, in
 * order of bound, in batches of a fixed size, until no open bound can win. Before there are as many
 * times as are asked for, and when very much is open, the longest beginnings come first. What
 * search() promises holds; see there. */
#ifndef AUTOTUNE_SEARCH_NESTED_H
#define AUTOTUNE_SEARCH_NESTED_H

#include "search/search.h"

enum status nested_search(const struct space *space, const struct search_options *options,
                          struct search_result *result, struct error *error);

/* How many tilings of such a space are legal: all, or some number that is more than `most`; less,
 * where space->stop ends it. */
enum status nested_count(const struct space *space, int64_t most, int threads, int64_t *count,
                         struct error *error);

#endif
