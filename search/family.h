/* The fastest tilings of many spaces at once: of problems that differ in sizes only, such as all
 * sizes of a range (docs/ranges.md).
 *
 * Each member comes with a time. What is found is its fastest legal tiling below that time, or the
 * proof that there is none. Nothing else is counted: this is for who has good times already, and
 * wants to know whether there is anything better.
 *
 * Members that hold a large time come first, by preference: what was proven of a prefix of tilings
 * for one of them is taken over by those in which it means the same kernels (`same` in
 * core/operator.h), as long as it says enough. */
#ifndef AUTOTUNE_SEARCH_FAMILY_H
#define AUTOTUNE_SEARCH_FAMILY_H

#include "core/operator.h"
#include "core/stop.h"

struct family_member {
    const struct space *space; /* of one program a tiling: no `costs`, no `ask` */
    int64_t below_fs;          /* > 0: tilings that are faster are looked for */
    int64_t best_fs;           /* found: of the fastest of them; 0: there is none */
    int64_t index;             /* … and its number in the space; of equal times any, but always */
};                             /* the same one, for any number of threads */

/* What it took. */
struct family_effort {
    int64_t bounded, simulated, taken_over; /* taken_over: prefixes that needed no bound */
};

/* STATUS_STOPPED: nothing is known. Effort is added up. */
enum status search_family(struct family_member members[], int count, int threads,
                          const struct stop *stop, struct family_effort *effort,
                          struct error *error);

#endif
