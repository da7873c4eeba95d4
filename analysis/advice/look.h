/* Looks one change further than the next: the change that saves most by itself need not be the one
 * after which most is saved. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_LOOK_H
#define AUTOTUNE_ANALYSIS_ADVICE_LOOK_H

#include "analysis/advice/advice.h"

enum {
    LOOK_MAX_LINES = 400, /* of a program; of a longer one only the best change is looked behind */
    LOOK_MAX_EXECUTED = 200000, /* of its instructions, loops unrolled: the same */
};

/* Which piece of advice leaves least with the best that follows it, the one that saves more alone
 * where two leave as much: *first, its index, and what is advised about its program: *behind, which
 * the caller owns. The first piece of advice must apply. */
enum status look_ahead(const struct advices *advices, int cores, int *first, struct advices *behind,
                       struct error *error);

#endif
