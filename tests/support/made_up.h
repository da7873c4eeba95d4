/* A made-up operator on a made-up processor: a space with `ask` whose times are easy to know, for
 * tests of what every such space has in common.
 *
 * A tiling is a kind (named), a width, a depth and a store (named). It asks for width · depth ·
 * MADE_UP_STEPS / kind steps of one loop and, stored past the caches, for moves. Legal are those
 * whose width divides by their depth. */
#ifndef AUTOTUNE_TESTS_SUPPORT_MADE_UP_H
#define AUTOTUNE_TESTS_SUPPORT_MADE_UP_H

#include "core/operator.h"

enum { MADE_UP_KINDS = 5, MADE_UP_STEPS = 1000 };

struct made_up {
    struct hardware hw; /* two threads, two levels */
    struct space space;
};

void made_up_open(struct made_up *made);
void made_up_close(struct made_up *made);

#endif
