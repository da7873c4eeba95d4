/* The source of candidates of spaces with bounds of boxes (struct operator_boxes): branch and
 * bound over parts of the space that are halved until they are one tiling. What is legal is asked
 * of these alone. */
#ifndef AUTOTUNE_SEARCH_BOXES_H
#define AUTOTUNE_SEARCH_BOXES_H

#include "search/strategy.h"

extern const struct search_source boxes_source;

#endif
