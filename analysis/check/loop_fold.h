/* Loops whose state recurs need not be executed to their end.
 *
 * Everything that a check says of what is still to come is a function of its state: who knows of
 * which events (clocks, sets without a wait, last accesses) and where every pipe stands. Events are
 * numbered for each pipe, and numbers are only compared and handed on, never computed with. So when
 * between two iterations of a loop every number has either stayed (what it means is over) or grown
 * by the number of events of its pipe in between, each that stayed being smaller than each that
 * grew, then all comparisons come out as they did, and the stretch in between repeats with the same
 * findings until the loop ends. It is skipped, all but `FOLD_KEPT` periods, and numbers stay as
 * they are: their order is all that matters.
 *
 * This holds where no operand that may conflict moves with the loop's index (fold_init looks);
 * other loops are executed. Snapshots are taken at iterations 32, 64, 128, … (Brent).
 *
 *   fold_init(&fold, &order, &overlap, &record, &error);    before the first event
 *   fold_clear(&fold); */
#ifndef AUTOTUNE_ANALYSIS_CHECK_LOOP_FOLD_H
#define AUTOTUNE_ANALYSIS_CHECK_LOOP_FOLD_H

#include "analysis/check/overlap.h"
#include "analysis/check/record.h"

enum { FOLD_KEPT = 8, FOLD_LONGEST = 64, FOLD_FIRST = 32 }; /* periods; iterations; iterations */

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
