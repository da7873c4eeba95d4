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

#endif
