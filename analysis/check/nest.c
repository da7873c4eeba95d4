/* One pass over the lines with a stack of the open loops: a line runs as often as the product of
 * the counts around it, and a loop's sum is handed to the one outside when it ends. Products stop
 * at a limit, since loops in an empty one may multiply to anything. Addresses are linear in the
 * loops' indices, so that a range ends where each index does. */
#include "analysis/check/nest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Products and sums stop here: only what an empty loop multiplies can pass PROGRAM_MAX_EXECUTED. */
#define NEST_MOST (4 * PROGRAM_MAX_EXECUTED)

static int64_t bounded(bool overflow, int64_t value)
{
    return overflow || value > NEST_MOST ? NEST_MOST + 1 : value;
}

static int64_t bounded_product(int64_t a, int64_t b)
{
    int64_t product;
    bool overflow = __builtin_mul_overflow(a, b, &product);
    return bounded(overflow, product);
}

static void count_items(struct nest *nest, const struct program *program)
{
    int64_t runs[PROGRAM_MAX_DEPTH + 1] = {1}, inside[PROGRAM_MAX_DEPTH + 1] = {0};
    int32_t loop = -1, depth = 0;
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_END) {
            assert(depth > 0);
            nest->executed[i] = nest->executed[loop] = inside[depth--];
            inside[depth] = bounded(false, inside[depth] + inside[depth + 1]);
            nest->parent[i] = loop = nest->parent[loop];
            continue;
        }
        nest->parent[i] = loop;
        if (in->kind == INSTRUCTION_LOOP) {
            loop = i;
            depth++;
            runs[depth] = bounded_product(runs[depth - 1], in->count);
            inside[depth] = 0;
            continue;
        }
        nest->executed[i] = runs[depth];
        inside[depth] = bounded(false, inside[depth] + runs[depth]);
    }
    nest->events = inside[0];
}

enum status nest_init(struct nest *nest, const struct program *program, struct error *error)
{
    size_t count = program->count ? (size_t)program->count : 1;
    nest->executed = malloc(count * sizeof *nest->executed);
    nest->parent = malloc(count * sizeof *nest->parent);
    if (!nest->executed || !nest->parent) {
        nest_clear(nest);
        return error_memory(error);
    }
    count_items(nest, program);
    return STATUS_OK;
}

void nest_clear(struct nest *nest)
{
    free(nest->executed);
    free(nest->parent);
    nest->executed = NULL;
    nest->parent = NULL;
}

int nest_counts(const struct nest *nest, const struct program *program, int32_t item,
                int64_t counts[PROGRAM_MAX_DEPTH])
{
    int depth = 0;
    for (int32_t loop = nest->parent[item]; loop >= 0; loop = nest->parent[loop])
        depth++;
    int level = depth;
    for (int32_t loop = nest->parent[item]; loop >= 0; loop = nest->parent[loop])
        counts[--level] = program->items[loop].count;
    return depth;
}

/* Makes *bytes those from the first of `count` pieces of so many bytes to the end of the last one,
 * and *start where the lowest begins; false beyond 64 bits. */
static bool span_pieces(int64_t count, int64_t stride, int64_t *start, int64_t *bytes)
{
    int64_t span;
    if (__builtin_mul_overflow(stride, count - 1, &span) || span == INT64_MIN)
        return false;
    if (span < 0 && __builtin_add_overflow(*start, span, start))
        return false;
    return !__builtin_add_overflow(span < 0 ? -span : span, *bytes, bytes);
}

bool region_rows(const struct region *region, struct rows *rows)
{
    int64_t stride = region->row_stride_bytes;
    *rows = (struct rows){.start = region->offset_bytes,
                          .count = region->rows,
                          .bytes = region->bytes / region->rows / region->pieces,
                          .stride = stride == INT64_MIN ? INT64_MAX
                                    : stride < 0        ? -stride
                                                        : stride};
    if (!span_pieces(region->pieces, region->piece_stride_bytes, &rows->start, &rows->bytes))
        return false;
    if (rows->count == 1)
        return true;
    struct rows all = *rows;
    if (!span_pieces(rows->count, stride, &all.start, &all.bytes))
        return false;
    rows->start = all.start;
    if (rows->stride > rows->bytes)
        return true;
    rows->count = 1;
    rows->bytes = all.bytes;
    return true;
}

bool region_range(const struct program *program, const struct nest *nest, int32_t item,
                  const struct region *region, struct range *range)
{
    int64_t counts[PROGRAM_MAX_DEPTH], length, reach;
    struct rows rows;
    if (!region_rows(region, &rows) ||
        __builtin_mul_overflow(rows.stride, rows.count - 1, &length) ||
        __builtin_add_overflow(length, rows.bytes, &length) ||
        __builtin_add_overflow(rows.start, length, &range->high))
        return false;
    range->low = rows.start;
    int depth = nest_counts(nest, program, item, counts);
    for (int level = 0; level < depth; level++) {
        if (__builtin_mul_overflow(region->loop_stride_bytes[level], counts[level] - 1, &reach))
            return false;
        int64_t *end = reach < 0 ? &range->low : &range->high;
        if (__builtin_add_overflow(*end, reach, end))
            return false;
    }
    return true;
}

int64_t region_start(const struct region *region, const struct rows *rows,
                     const int64_t index[PROGRAM_MAX_DEPTH])
{
    int64_t start = rows->start;
    for (int level = 0; level < PROGRAM_MAX_DEPTH; level++)
        start += region->loop_stride_bytes[level] * index[level];
    return start;
}

void witness_of_index(struct witness_access *access, const struct program *program,
                      const struct nest *nest, int32_t item, bool writes, const int64_t *index)
{
    int64_t counts[PROGRAM_MAX_DEPTH];
    *access = (struct witness_access){.item = item, .writes = writes, .index_count = -1};
    if (!index)
        return;
    access->index_count = nest_counts(nest, program, item, counts);
    memcpy(access->index, index, (size_t)access->index_count * sizeof *index);
}

/* Events of a pipe in items[first, last), loops unrolled. The whole program has few enough. */
static int64_t count_pipe_events(const struct program *program, int32_t first, int32_t last,
                                 int pipe)
{
    int64_t outside[PROGRAM_MAX_DEPTH], count = 0;
    int depth = 0;
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            outside[depth++] = count;
            count = 0;
        } else if (in->kind == INSTRUCTION_END) {
            assert(depth > 0);
            count = outside[--depth] + count * program->items[in->partner].count;
        } else if (in->kind != INSTRUCTION_BARRIER) {
            count += in->pipe == pipe;
        }
    }
    return count;
}

void witness_of_event(struct witness_access *access, const struct program *program, int pipe,
                      bool writes, int64_t number)
{
    *access = (struct witness_access){.item = -1, .writes = writes};
    for (int32_t i = 0; i < program->count && access->item < 0; i++) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            int64_t once = count_pipe_events(program, i + 1, in->partner, pipe);
            if (number > once * in->count) {
                number -= once * in->count;
                i = in->partner;
                continue;
            }
            assert(once > 0);
            access->index[access->index_count++] = (number - 1) / once;
            number = (number - 1) % once + 1;
        } else if (in->kind != INSTRUCTION_BARRIER && in->kind != INSTRUCTION_END &&
                   in->pipe == pipe && --number == 0) {
            access->item = i;
        }
    }
}
