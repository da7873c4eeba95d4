/* Loops whose state recurs need not be executed to their end: what recurs is skipped, all but
 * FOLD_KEPT periods of it, with the same findings. Numbers of events stay as they are: their order
 * is all that matters. Loops in which an operand that may conflict moves with the index are
 * executed.
 *
 *   fold_init(&fold, &order, &overlap, &record, &error);    before the first event
 *   fold_clear(&fold); */
#ifndef AUTOTUNE_ANALYSIS_CHECK_LOOP_FOLD_H
#define AUTOTUNE_ANALYSIS_CHECK_LOOP_FOLD_H

#include "analysis/check/overlap.h"
#include "analysis/check/record.h"

enum { FOLD_KEPT = 8, FOLD_LONGEST = 64, FOLD_FIRST = 8 }; /* periods; iterations; iterations */

/* The state at one iteration of one loop. */
struct fold_state {
    int32_t loop; /* -1: none */
    int64_t iteration;
    int64_t count, capacity;
    int64_t *values;                      /* owned */
    uint32_t numbers[HARDWARE_MAX_PIPES]; /* events so far */
    int64_t period;                       /* it recurs after so many iterations; 0: not known */
    int kept;                             /* periods since */
    int64_t *sets, *waits;                /* owned; per register, a period ago */
};

struct fold {
    struct order *order;
    struct overlap *overlap;
    struct record *record;
    bool *moves; /* per instruction: a loop whose index moves what may conflict */
    struct fold_state states[PROGRAM_MAX_DEPTH];
    bool folded; /* something was skipped: numbers are no longer those of the whole program */
    bool no_memory;
};

enum status fold_init(struct fold *fold, struct order *order, struct overlap *overlap,
                      struct record *record, struct error *error);
void fold_clear(struct fold *fold);

/* So many events are executed at least, stopping at `most` and one more. */
int64_t fold_least_events(const struct fold *fold, int64_t most);

#endif
