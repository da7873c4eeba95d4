/* Two accesses to the same bytes that are in order: the present event, and the last one of another
 * pipe that it conflicts with and comes after. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_PAIR_H
#define AUTOTUNE_ANALYSIS_CHECK_PAIR_H

#include "analysis/check/order.h"

enum { PAIR_WHOLE = -1 }; /* in place of a piece: any byte of the buffer, an operand is left out */

struct pair {
    uint32_t number; /* of the earlier event on its pipe; 0: there is none */
    int32_t item;    /* whose it is */
    int32_t piece;   /* that both touch (boundaries.h) */
    int8_t buffer;
};

/* Keeps the later one. */
static inline void pair_raise(struct pair *pair, uint32_t number, int32_t item, int buffer,
                              int32_t piece)
{
    if (number > pair->number)
        *pair = (struct pair){number, item, piece, (int8_t)buffer};
}

#endif
