/* The flags of a program being edited: taken out, and others put in.
 *
 *   flag_lines_take_out(&flags, &edit);      lines of `edit` now stay where they are …
 *   flag_lines_add(&flags, &edit, …);        … while flags are collected for each order, until
 *   flag_lines_put_in(&flags, &edit); */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_FLAG_LINES_H
#define AUTOTUNE_ANALYSIS_ADVICE_FLAG_LINES_H

#include "analysis/advice/edit.h"

enum { FLAG_LINES_MAX = 512 };

struct flag_line {
    int32_t at;   /* before this line, of those that are left */
    int32_t line; /* of the text, that it belongs to */
    bool wait;
    int8_t from, to;
    uint8_t number;
};

struct flag_lines {
    uint64_t used[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES]; /* registers, as bits */
    int former_count, count;
    struct flag_line formers[FLAG_LINES_MAX]; /* that stood in the program */
    struct flag_line items[FLAG_LINES_MAX];
};

/* What is ordered: pipe `from` behind line `set_behind`, pipe `to` before line `wait_before`. */
struct flag_order {
    int from, to;
    int32_t set_behind, wait_before;
    bool carried; /* to the next iteration: set once at the start, waited for once at the end */
};

void flag_lines_take_out(struct flag_lines *flags, struct edit *edit);

/* Takes a register that is free: the one that did the same before, where there was one. False when
 * there is none, or too many flags. */
bool flag_lines_add(struct flag_lines *flags, const struct edit *edit,
                    const struct flag_order *order);

void flag_lines_put_in(struct flag_lines *flags, struct edit *edit);

#endif
