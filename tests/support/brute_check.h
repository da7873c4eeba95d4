/* The hazard check by brute force, for small programs: all events in memory, every ordering by
 * Warshall's closure (1962), all pairs of accesses compared. Shares no code with analysis/. */
#ifndef AUTOTUNE_TESTS_BRUTE_CHECK_H
#define AUTOTUNE_TESTS_BRUTE_CHECK_H

#include "analysis/check/check.h"

enum { MAX_NODES = 160, MAX_ANSWERS = 8192 };

struct node {
    const struct instruction *in;
    int64_t index[PROGRAM_MAX_DEPTH];
    bool runs;
};

struct answer {
    enum finding_kind kind;
    int32_t lines[FINDING_MAX_LINES]; /* ascending, then zeros */
    int line_count;
};

/* About 150 KiB. */
struct brute {
    const struct program *program;
    int count;
    struct node nodes[MAX_NODES];
    bool before[MAX_NODES][MAX_NODES];
    int answer_count;
    struct answer answers[MAX_ANSWERS];
    int hazards; /* pairs of events in conflict that nothing keeps apart */
};

/* Finds everything there is to find; false when the program has more than MAX_NODES events. */
bool brute_check(struct brute *brute, const struct program *program);

/* Answers of one kind. An unmatched flag with more lines than a finding holds is left out. */
int brute_count(const struct brute *brute, enum finding_kind kind);

bool answer_is(const struct answer *answer, enum finding_kind kind, const int32_t *lines,
               int line_count);

/* The n-th (from 0) set or wait of a register, or -1; how many stand before a node. */
int brute_nth(const struct brute *brute, enum instruction_kind kind, const struct instruction *like,
              int n);
int brute_rank(const struct brute *brute, int node);

/* Is u before v by program order alone: of one pipe, a barrier, or dispatched by a blocking pipe?
 */
bool brute_must_precede(const struct brute *brute, int u, int v);

/* Does an operand of the node touch the byte? Gaps inside its rows count. */
bool brute_touches(const struct node *node, const struct region *region, int64_t byte);

/* Do two nodes touch the same bytes, one of them writing, without the chip ordering them? */
bool brute_conflict(const struct brute *brute, const struct node *a, const struct node *b);

#endif
