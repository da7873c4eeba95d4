#include "core/program.h"

#include <assert.h>

/* Flags and barriers have neither operands nor partners, so that only loops have to be told. */
void program_remove(struct program *program, const bool *gone)
{
    int32_t open[PROGRAM_MAX_DEPTH], depth = 0, count = 0;
    int64_t times[PROGRAM_MAX_DEPTH + 1] = {1};
    for (int32_t i = 0; i < program->count; i++) {
        struct instruction in = program->items[i];
        if (gone[i]) {
            assert(in.region_count == 0);
            program->executed -= times[depth];
            continue;
        }
        in.line = count + 1;
        if (in.kind == INSTRUCTION_LOOP) {
            times[depth + 1] = times[depth] * in.count;
            open[depth++] = count;
        } else if (in.kind == INSTRUCTION_END) {
            assert(depth > 0);
            in.partner = open[--depth];
            program->items[in.partner].partner = count;
        }
        program->items[count++] = in;
    }
    program->count = count;
}
