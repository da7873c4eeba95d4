/* One pass over the lines with a stack of the open loops: a line runs as often as the product of
 * the counts around it, and a loop's sum is handed to the one outside when it ends. Products stop
 * at a limit, since loops in an empty one may multiply to anything. */
#include "analysis/check/nest.h"

#include <assert.h>
#include <stdlib.h>

/* Products and sums stop here: only what an empty loop multiplies can pass PROGRAM_MAX_EXECUTED. */
#define NEST_MOST (4 * PROGRAM_MAX_EXECUTED)

static int64_t clamped(bool overflow, int64_t value)
{
    return overflow || value > NEST_MOST ? NEST_MOST + 1 : value;
}

static int64_t times(int64_t a, int64_t b)
{
    int64_t product;
    bool overflow = __builtin_mul_overflow(a, b, &product);
    return clamped(overflow, product);
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
            inside[depth] = clamped(false, inside[depth] + inside[depth + 1]);
            nest->parent[i] = loop = nest->parent[loop];
            continue;
        }
        nest->parent[i] = loop;
        if (in->kind == INSTRUCTION_LOOP) {
            loop = i;
            depth++;
            runs[depth] = times(runs[depth - 1], in->count);
            inside[depth] = 0;
            continue;
        }
        nest->executed[i] = runs[depth];
        inside[depth] = clamped(false, inside[depth] + runs[depth]);
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
