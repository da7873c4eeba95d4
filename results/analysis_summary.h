/* What the operators of a profile make together: causes, components, and the operators that take
 * the time (as Zhou et al. 2025 have it in Figs. 13 and 14, the longest running first). */
#ifndef AUTOTUNE_RESULTS_ANALYSIS_SUMMARY_H
#define AUTOTUNE_RESULTS_ANALYSIS_SUMMARY_H

#include "core/diagnosis.h"
#include "formats/profile.h"

#include <jansson.h>

struct summary;

/* NULL when out of memory; summary_free takes NULL. `top`: of the longest rows so many are kept. */
struct summary *summary_new(int top);
void summary_free(struct summary *summary);

/* Counts a row; `open` and `next` as analyse_row and analyse_next return them. Groups beyond a
 * fixed number are counted as one, so that memory does not grow with the file. STATUS_NO_MEMORY. */
enum status summary_add(struct summary *summary, const struct profile_row *row,
                        const struct diagnosis *diagnosis, int open, int next, struct error *error);

int64_t summary_rows(const struct summary *summary);
int64_t summary_broken_rows(const struct summary *summary);

/* Rows and times, what to collect next, "causes", "components", and the `top` first of "types",
 * "names" and "longest_rows" by time. NULL when out of memory. */
json_t *summary_json(struct summary *summary, int top);

/* The strategies against a verdict, with blanks between; "". */
enum { STRATEGIES_SIZE = 64 };
const char *strategies_against(enum verdict verdict, char text[STRATEGIES_SIZE]);

#endif
