/* What a call computes, as the options of the main command say it: by them tilings are searched and
 * kept, whatever kind of operator it is. */
#ifndef AUTOTUNE_NETWORK_PROBLEM_H
#define AUTOTUNE_NETWORK_PROBLEM_H

#include "network/network.h"

enum { PROBLEM_MAX_SETTINGS = 8, PROBLEM_WHY_SIZE = 160 };

struct problem_setting {
    const char *name;
    char text[128];
};

struct call_problem {
    int setting_count;                                     /* 0: it is not known */
    struct problem_setting settings[PROBLEM_MAX_SETTINGS]; /* "op" or "kernel" first */
    char why[PROBLEM_WHY_SIZE];                            /* it is not known */
};

/* Is it a call of a kind that multiplies matrices (network/product.h)? */
bool call_multiplies(const struct operator_call *call);

/* False where calls of this kind are no problem of the command, and *problem says nothing. */
bool call_find_problem(const struct operator_call *call, struct call_problem *problem);

#endif
