/* The rows of a profile that take most of the time: what limits each, what to try against it, and
 * which mode to collect next. longest_make, longest_add for every row, longest_json, longest_clear.
 */
#ifndef AUTOTUNE_RESULTS_ANALYSIS_LONGEST_H
#define AUTOTUNE_RESULTS_ANALYSIS_LONGEST_H

#include "core/diagnosis.h"
#include "formats/profile.h"

#include <jansson.h>

/* Of the longest rows, what a line shows. */
struct long_row {
    int line;
    double time_us, utilisation_least, utilisation_most, active_ratio;
    enum verdict verdict;
    int next; /* as analyse_next returns it */
    char component[HARDWARE_NAME_SIZE];
    char *name; /* owned */
};

struct longest {
    int count, most;
    struct long_row *rows; /* the longest first; owned */
};

/* Room for the `top` longest; false when out of memory. */
bool longest_make(int top, struct longest *longest);
void longest_clear(struct longest *longest);

/* Keeps a row if it is one of them; `next` as analyse_next returns it. False when out of memory. */
bool longest_add(struct longest *longest, const struct profile_row *row, const struct diagnosis *d,
                 int next, double time_us);

json_t *longest_json(const struct longest *longest, int top);

/* The strategies against a verdict, with blanks between; "". */
enum { STRATEGIES_SIZE = 64 };
const char *strategies_against(enum verdict verdict, char text[STRATEGIES_SIZE]);

#endif
