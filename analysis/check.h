/* Is a program safe? Exact on the finite program: pipes are FIFO, the n-th wait of a register
 * matches its n-th set, barriers and the dispatch-blocking pipe order what stands around them, so
 * happens-before is one fixed partial order.
 *
 * A program is safe when no finding of another kind than FINDING_OVER_SYNC exists. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_H
#define AUTOTUNE_ANALYSIS_CHECK_H

#include "core/program.h"

enum finding_kind {
    FINDING_HAZARD,         /* two unordered accesses to overlapping bytes, one of them a write */
    FINDING_DEADLOCK,       /* a wait whose set never comes */
    FINDING_UNMATCHED_FLAG, /* more sets than waits of a register, or more waits than sets */
    FINDING_DOUBLE_SET,     /* a set not ordered after the wait of the set before it */
    FINDING_CAPACITY,       /* an operand beyond the end (or before the start) of its buffer */
    FINDING_KINDS,
};

enum { FINDING_MAX_LINES = 4 };

struct finding {
    enum finding_kind kind;
    int line_count;
    int32_t lines[FINDING_MAX_LINES]; /* of the text, in ascending order, each once */
    char text[256];                   /* what, where, and what would mend it */
};

struct check {
    size_t count;
    struct finding *findings; /* owned: check_clear; ordered by first line, kind, further lines;
                                 one finding for each distinct (kind, lines) */
};

/* The name used in JSON: "hazard", "deadlock", … */
const char *finding_kind_name(enum finding_kind kind);

/* Checks a closed program (program_close). STATUS_TOO_LARGE when the unrolled program is beyond
 * what can be checked exactly; the text says the limit. */
enum status program_check(const struct program *program, struct check *check, struct error *error);

void check_clear(struct check *check);

#endif
