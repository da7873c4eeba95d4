#include "analysis/reach.h"

#include <stdlib.h>
#include <string.h>

bool reach_init(struct reach *reach, int count)
{
    *reach = (struct reach){.count = count};
    size_t size = (size_t)count + 1;
    reach->edges = calloc(size * size, sizeof *reach->edges);
    reach->queue = calloc(size, sizeof *reach->queue);
    reach->seen = calloc(size, sizeof *reach->seen);
    return reach->edges && reach->queue && reach->seen;
}

void reach_clear(struct reach *reach)
{
    free(reach->edges);
    free(reach->queue);
    free(reach->seen);
    *reach = (struct reach){0};
}

void reach_add(struct reach *reach, int from, int to, int by)
{
    uint16_t *edges = &reach->edges[(size_t)from * (size_t)reach->count + (size_t)to];
    *edges = (uint16_t)(*edges + by);
}

bool reach_has(struct reach *reach, int from, int to)
{
    int head = 0, tail = 0;
    memset(reach->seen, 0, (size_t)reach->count * sizeof *reach->seen);
    reach->queue[tail++] = from;
    reach->seen[from] = true;
    while (head < tail && !reach->seen[to]) {
        const uint16_t *edges = &reach->edges[(size_t)reach->queue[head++] * (size_t)reach->count];
        for (int next = 0; next < reach->count; next++)
            if (edges[next] && !reach->seen[next]) {
                reach->seen[next] = true;
                reach->queue[tail++] = next;
            }
    }
    return reach->seen[to];
}
