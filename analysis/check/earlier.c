/* Each pipe's last events lie in a ring by number. A search starts, by bisection, at the last event
 * that the clock knows of and goes back until operands meet, row by row; a budget for the whole
 * check bounds the work, and what it leaves open is said as a number. */
#include "analysis/check/earlier.h"

#include "analysis/check/region.h"
#include "analysis/check/unnamed.h"

#include <stdlib.h>
#include <string.h>

#define EARLIER_MAX_LOOKS 100000000LL
enum { FIRST_CAPACITY = 64 };

struct earlier_event {
    uint32_t number;
    int32_t item;
    int64_t index[PROGRAM_MAX_DEPTH];
};

void earlier_init(struct earlier *earlier, const struct program *program)
{
    *earlier = (struct earlier){.program = program, .budget = EARLIER_MAX_LOOKS};
}

void earlier_clear(struct earlier *earlier)
{
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++)
        free(earlier->pipes[pipe].events);
    *earlier = (struct earlier){0};
}

static struct earlier_event *event_at(const struct earlier *earlier, int pipe, size_t n)
{
    return &earlier->pipes[pipe].events[n & (earlier->pipes[pipe].capacity - 1)];
}

/* A ring that was never full lies in order. */
static enum status make_room(struct earlier *earlier, int pipe, struct error *error)
{
    size_t capacity = earlier->pipes[pipe].capacity;
    if (earlier->pipes[pipe].count < capacity || capacity == EARLIER_MAX)
        return STATUS_OK;
    capacity = capacity ? 2 * capacity : FIRST_CAPACITY;
    struct earlier_event *grown = realloc(earlier->pipes[pipe].events, capacity * sizeof *grown);
    if (!grown)
        return error_memory(error);
    earlier->pipes[pipe].events = grown;
    earlier->pipes[pipe].capacity = capacity;
    return STATUS_OK;
}

enum status earlier_add(struct earlier *earlier, const struct event *event, struct error *error)
{
    TRY(make_room(earlier, event->pipe, error));
    struct earlier_event *kept =
        event_at(earlier, event->pipe, earlier->pipes[event->pipe].count++);
    kept->number = event->clock[event->pipe];
    kept->item = event->item;
    memcpy(kept->index, event->index, sizeof kept->index);
    return STATUS_OK;
}

/* How many of the kept events from `oldest` on have numbers up to `last`. */
static size_t count_until(const struct earlier *earlier, int pipe, size_t oldest, uint32_t last)
{
    size_t low = oldest, high = earlier->pipes[pipe].count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (event_at(earlier, pipe, middle)->number <= last)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Do rows of two operands meet? The first address where they do. */
static bool rows_meet(const struct rows *a, int64_t a_start, const struct rows *b, int64_t b_start,
                      int64_t *address)
{
    for (int64_t i = 0; i < a->count; i++) {
        int64_t start = a_start + i * a->stride, before;
        if (__builtin_sub_overflow(start, b_start + b->bytes, &before))
            continue; /* that far apart */
        int64_t row = before < 0 ? 0 : b->count > 1 ? before / b->stride + 1 : b->count;
        int64_t other = b_start + row * (b->count > 1 ? b->stride : 0);
        if (row >= b->count || other >= start + a->bytes)
            continue;
        *address = other > start ? other : start;
        return true;
    }
    return false;
}

static bool regions_meet(const struct region *a, const int64_t *a_index, const struct region *b,
                         const int64_t *b_index, int64_t *address)
{
    struct rows a_rows, b_rows;
    region_rows(a, &a_rows);
    region_rows(b, &b_rows);
    return rows_meet(&a_rows, region_start(a, &a_rows, a_index), &b_rows,
                     region_start(b, &b_rows, b_index), address);
}

/* The buffer in which both touch the same bytes, one of them writing; -1: none. */
static int conflict(const struct earlier *earlier, const struct event *event,
                    const struct earlier_event *before, const bool *watched, int64_t *address)
{
    const struct program *program = earlier->program;
    const struct instruction *a = &program->items[event->item];
    const struct instruction *b = &program->items[before->item];
    for (int32_t i = a->first_region; i < a->first_region + a->region_count; i++)
        for (int32_t j = b->first_region; j < b->first_region + b->region_count; j++) {
            const struct region *x = &program->regions[i], *y = &program->regions[j];
            bool writes = instruction_writes(a, x->role) || instruction_writes(b, y->role);
            if (watched[i] && watched[j] && writes && x->buffer == y->buffer &&
                regions_meet(x, event->index, y, before->index, address))
                return x->buffer;
        }
    return -1;
}

uint32_t earlier_find(struct earlier *earlier, const struct event *event, int pipe, uint32_t after,
                      const bool *watched, struct pair *found, int64_t *address)
{
    size_t count = earlier->pipes[pipe].count, kept = earlier->pipes[pipe].capacity;
    size_t oldest = count > kept ? count - kept : 0;
    size_t n = count_until(earlier, pipe, oldest, event->clock[pipe]);
    for (; n > oldest && earlier->budget > 0; n--, earlier->budget--) {
        const struct earlier_event *before = event_at(earlier, pipe, n - 1);
        if (before->number <= after)
            return 0;
        int piece = 0;
        int buffer = conflict(earlier, event, before, watched, address);
        if (buffer < 0) {
            buffer = unnamed_buffer(earlier->program, event->item, before->item);
            piece = PAIR_WHOLE;
        }
        if (buffer < 0)
            continue;
        pair_raise(found, before->number, before->item, buffer, piece);
        return 0;
    }
    if (n > oldest)
        return event_at(earlier, pipe, n - 1)->number;
    return oldest ? event_at(earlier, pipe, oldest)->number - 1 : 0;
}
