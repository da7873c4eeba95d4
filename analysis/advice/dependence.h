/* The dependence graph: what comes before what, a small directed graph with parallel edges. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_DEPENDENCE_H
#define AUTOTUNE_ANALYSIS_ADVICE_DEPENDENCE_H

#include <stdbool.h>
#include <stdint.h>

struct dependence {
    int count, words;      /* vertices; 64-bit words that hold one bit for each */
    uint16_t *edges;       /* count × count: how many from row to column */
    uint64_t *next;        /* count × words: which there are, as bits */
    uint64_t *seen, *todo; /* words each */
};

/* False when out of memory; free with dependence_clear in any case. */
bool dependence_init(struct dependence *graph, int count);
void dependence_clear(struct dependence *graph);

/* Adds `by` edges (or takes them away, where it is negative). */
void dependence_add(struct dependence *graph, int from, int to, int by);

/* Is there a way? From a vertex to itself there always is. */
bool dependence_has(struct dependence *graph, int from, int to);

#endif
