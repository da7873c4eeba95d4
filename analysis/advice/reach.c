/* An adjacency matrix in bits, and a breadth-first search on whole words of it. Edges are counted,
 * too, so that one of several parallel ones can be taken away. */
#include "analysis/advice/reach.h"

#include <stdlib.h>
#include <string.h>

bool reach_init(struct reach *reach, int count)
{
    *reach = (struct reach){.count = count, .words = count / 64 + 1};
    size_t size = (size_t)count + 1, words = (size_t)reach->words;
    reach->edges = calloc(size * size, sizeof *reach->edges);
    reach->next = calloc(size * words, sizeof *reach->next);
    reach->seen = calloc(words, sizeof *reach->seen);
    reach->todo = calloc(words, sizeof *reach->todo);
    return reach->edges && reach->next && reach->seen && reach->todo;
}

void reach_clear(struct reach *reach)
{
    free(reach->edges);
    free(reach->next);
    free(reach->seen);
    free(reach->todo);
    *reach = (struct reach){0};
}

void reach_add(struct reach *reach, int from, int to, int by)
{
    uint16_t *edges = &reach->edges[(size_t)from * (size_t)reach->count + (size_t)to];
    uint64_t *next = &reach->next[(size_t)from * (size_t)reach->words + (size_t)(to / 64)];
    uint64_t bit = 1ULL << to % 64;
    *edges = (uint16_t)(*edges + by);
    *next = *edges ? *next | bit : *next & ~bit;
}

/* Takes a vertex that is still to be looked at; -1: none. */
static int take(struct reach *reach)
{
    for (int w = 0; w < reach->words; w++)
        if (reach->todo[w]) {
            int bit = __builtin_ctzll(reach->todo[w]);
            reach->todo[w] &= reach->todo[w] - 1;
            return 64 * w + bit;
        }
    return -1;
}

bool reach_has(struct reach *reach, int from, int to)
{
    memset(reach->seen, 0, (size_t)reach->words * sizeof *reach->seen);
    memset(reach->todo, 0, (size_t)reach->words * sizeof *reach->todo);
    reach->seen[from / 64] = reach->todo[from / 64] = 1ULL << from % 64;
    for (int vertex = take(reach); vertex >= 0; vertex = take(reach)) {
        const uint64_t *next = &reach->next[(size_t)vertex * (size_t)reach->words];
        for (int w = 0; w < reach->words; w++) {
            reach->todo[w] |= next[w] & ~reach->seen[w];
            reach->seen[w] |= next[w];
        }
        if (reach->seen[to / 64] >> to % 64 & 1)
            break;
    }
    return reach->seen[to / 64] >> to % 64 & 1;
}
