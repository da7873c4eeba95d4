/* What is asked of boxes of a kernel's tilings (struct operator_boxes). */
#ifndef AUTOTUNE_TESTS_EXPECT_BOXES_H
#define AUTOTUNE_TESTS_EXPECT_BOXES_H

#include "core/space.h"

struct boxes_seen {
    int spaces, boxes, members, empty, tight; /* empty: boxes of which nothing fits; tight: of one
                                                 tiling, whose bound is 95 % of its own or more */
    int points;                               /* of one tiling */
    int full;                                 /* boxes of which all fits */
    int counted;                              /* searches that have counted all that is legal */
    int searched, simulated, listed;          /* tilings: simulated by boxes, and in all */
};

/* Random boxes, so many, against their tilings one by one: what fits, and the time of each. Nothing
 * where there are no boxes. */
void expect_boxes(const struct space *space, unsigned long seed, int boxes, struct boxes_seen *seen,
                  const char *what);

/* The search by boxes finds what a list of all tilings does, on any number of threads. */
void expect_same_by_boxes(const struct space *space, struct boxes_seen *seen, const char *what);

#endif
