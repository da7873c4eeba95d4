/* What comes before what: a small directed graph with parallel edges. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_REACH_H
#define AUTOTUNE_ANALYSIS_ADVICE_REACH_H

#include <stdbool.h>
#include <stdint.h>

struct reach {
    int count, words;      /* vertices; 64-bit words that hold one bit for each */
    uint16_t *edges;       /* count × count: how many from row to column */
    uint64_t *next;        /* count × words: which there are, as bits */
    uint64_t *seen, *todo; /* words each */
};

/* False when out of memory; free with reach_clear in any case. */
bool reach_init(struct reach *reach, int count);
void reach_clear(struct reach *reach);

/* Adds `by` edges (or takes them away, where it is negative). */
void reach_add(struct reach *reach, int from, int to, int by);

/* Is there a way? From a vertex to itself there always is. */
bool reach_has(struct reach *reach, int from, int to);

#endif
