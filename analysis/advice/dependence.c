/* An adjacency matrix in bits, and a breadth-first search on whole words of it. Edges are counted,
 * too, so that one of several parallel ones can be taken away. */
#include "analysis/advice/dependence.h"

#include <stdlib.h>
#include <string.h>

bool dependence_init(struct dependence *graph, int count)
{
    *graph = (struct dependence){.count = count, .words = count / 64 + 1};
    size_t size = (size_t)count + 1, words = (size_t)graph->words;
    graph->edges = calloc(size * size, sizeof *graph->edges);
    graph->next = calloc(size * words, sizeof *graph->next);
    graph->seen = calloc(words, sizeof *graph->seen);
    graph->todo = calloc(words, sizeof *graph->todo);
    return graph->edges && graph->next && graph->seen && graph->todo;
}

void dependence_clear(struct dependence *graph)
{
    free(graph->edges);
    free(graph->next);
    free(graph->seen);
    free(graph->todo);
    *graph = (struct dependence){0};
}

void dependence_add(struct dependence *graph, int from, int to, int by)
{
    uint16_t *edges = &graph->edges[(size_t)from * (size_t)graph->count + (size_t)to];
    uint64_t *next = &graph->next[(size_t)from * (size_t)graph->words + (size_t)(to / 64)];
    uint64_t bit = 1ULL << to % 64;
    *edges = (uint16_t)(*edges + by);
    *next = *edges ? *next | bit : *next & ~bit;
}

/* Takes a vertex that is still to be looked at; -1: none. */
static int take(struct dependence *graph)
{
    for (int w = 0; w < graph->words; w++)
        if (graph->todo[w]) {
            int bit = __builtin_ctzll(graph->todo[w]);
            graph->todo[w] &= graph->todo[w] - 1;
            return 64 * w + bit;
        }
    return -1;
}

bool dependence_has(struct dependence *graph, int from, int to)
{
    memset(graph->seen, 0, (size_t)graph->words * sizeof *graph->seen);
    memset(graph->todo, 0, (size_t)graph->words * sizeof *graph->todo);
    graph->seen[from / 64] = graph->todo[from / 64] = 1ULL << from % 64;
    for (int vertex = take(graph); vertex >= 0; vertex = take(graph)) {
        const uint64_t *next = &graph->next[(size_t)vertex * (size_t)graph->words];
        for (int w = 0; w < graph->words; w++) {
            graph->todo[w] |= next[w] & ~graph->seen[w];
            graph->seen[w] |= next[w];
        }
        if (graph->seen[to / 64] >> to % 64 & 1)
            break;
    }
    return graph->seen[to / 64] >> to % 64 & 1;
}
