/* Collects findings: each (kind, lines) once, at most CHECK_MAX_FINDINGS of a kind, sorted at the
 * end. Zero a struct findings, add, then hand them over with findings_take. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_FINDINGS_H
#define AUTOTUNE_ANALYSIS_CHECK_FINDINGS_H

#include "analysis/check/check.h"

struct findings {
    struct finding *items;
    size_t count;
    int32_t *table;              /* by hash: position in items + 1, or 0 */
    enum finding_kind last_kind; /* what was asked for last, to answer repetitions at once */
    int last_count;
    int32_t last_lines[FINDING_MAX_LINES];
    size_t of_kind[FINDING_KINDS];
    bool truncated, no_memory;
};

/* A new finding whose text is still empty, or NULL when there is nothing to write: it is known
 * already, too many were found, or memory ran out (seen by findings_take). Lines in any order. */
struct finding *findings_add(struct findings *findings, enum finding_kind kind,
                             const int32_t *lines, int line_count);

/* Sorts, and moves the findings into *check. */
enum status findings_take(struct findings *findings, struct check *check, struct error *error);

void findings_clear(struct findings *findings);

#endif
