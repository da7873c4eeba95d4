#include "analysis/check/witness.h"

#include <assert.h>
#include <string.h>

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
static int64_t count_events(const struct program *program, int32_t first, int32_t last, int pipe)
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
            int64_t once = count_events(program, i + 1, in->partner, pipe);
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
