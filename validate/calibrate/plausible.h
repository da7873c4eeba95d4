/* What of a calibration cannot be: rates beyond what clock and ports allow, bandwidths that do not
 * fall with the levels, numbers that disagree with themselves or each other. Pure: it reads no
 * clock, and judges what struct host_calibration has.
 *
 *   doubts_find(&calibration, &doubts)       all of them
 *   doubts_of(&doubts, part)                 those for which a part is measured again
 *   settle(&attempt, error)                  measures until there are none, three times at most
 *
 * A limit is one that no processor known goes beyond, with room for a clock that changes. */
#ifndef AUTOTUNE_VALIDATE_CALIBRATE_PLAUSIBLE_H
#define AUTOTUNE_VALIDATE_CALIBRATE_PLAUSIBLE_H

#include "core/status.h"

#include <stdbool.h>

struct host_calibration;

/* What is measured again together. */
enum calibrate_part {
    PART_NONE, /* it is not */
    PART_CLOCK,
    PART_LEVELS,
    PART_SHARED,
    PART_PARALLEL,
    PART_PEAK,
    PART_LOOPS,
    PART_FIT
};

enum { DOUBTS_MOST = 48, DOUBT_KEY_SIZE = 80, DOUBT_TEXT_SIZE = 112 };

struct doubt {
    enum calibrate_part part;
    char key[DOUBT_KEY_SIZE];   /* of the number in a description; "": of none */
    char text[DOUBT_TEXT_SIZE]; /* what it is, and what was expected */
};

struct doubts {
    int count; /* beyond DOUBTS_MOST they are counted only */
    struct doubt list[DOUBTS_MOST];
};

void doubts_find(const struct host_calibration *calibration, struct doubts *doubts);
int doubts_of(const struct doubts *doubts, enum calibrate_part part);

/* The first about the number; NULL without one. */
const struct doubt *doubts_about(const struct doubts *doubts, const char *key);

/* One part that can be measured again. `doubtful` counts what is wrong with it; `keep` puts aside
 * what was measured, `restore` takes that back. */
struct attempt {
    enum status (*measure)(void *context, struct error *error);
    int (*doubtful)(void *context);
    void (*keep)(void *context);
    void (*restore)(void *context);
    void *context;
};

enum { SETTLE_TRIES = 3 };

/* Measures once, and again while something is doubtful; what is left has the fewest doubts, of
 * equals the first. */
enum status settle(const struct attempt *attempt, struct error *error);

/* Is the cost of a parallel region of so many threads one that can be? */
bool parallel_is_plausible(double ns, int threads);

#endif
