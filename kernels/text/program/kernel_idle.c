/* Flags that order nothing because of how few rounds there are. A register that goes from round to
 * round is set before everything and waited for after everything. Its first wait is for the first
 * set, before which there is nothing, and its last set for the last wait, behind which there is
 * nothing: where no loop repeats the one or the other, the pair goes. */
#include "kernels/text/program/kernel_program_internal.h"

#include <stdlib.h>

/* Registers by pair of pipes, bits. */
typedef uint64_t registers[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES];

struct idle {
    struct program *program;
    registers carried; /* that go from round to round */
    bool *gone;        /* per instruction */
};

static bool is_carried(const struct idle *idle, const struct instruction *in)
{
    return (in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT) &&
           idle->carried[in->from][in->to] >> in->flag & 1;
}

/* From one end of the program on (`step` 1 or -1): of each register the outermost flag, `outer`,
 * with the first one of the other kind, if that stands in no loop. */
static bool pair_up(struct idle *idle, int32_t at, int step, enum instruction_kind outer)
{
    registers met = {{0}};
    bool any = false;
    int32_t begin = at, count = idle->program->count;
    for (int depth = 0; at >= 0 && at < count; at += step) {
        const struct instruction *in = &idle->program->items[at];
        depth += step * ((in->kind == INSTRUCTION_LOOP) - (in->kind == INSTRUCTION_END));
        if (!is_carried(idle, in) || in->kind == outer || idle->gone[at] ||
            met[in->from][in->to] >> in->flag & 1)
            continue;
        met[in->from][in->to] |= (uint64_t)1 << in->flag;
        if (depth > 0)
            continue;
        int32_t other = begin;
        while (!is_carried(idle, &idle->program->items[other]) ||
               idle->program->items[other].from != in->from ||
               idle->program->items[other].to != in->to ||
               idle->program->items[other].flag != in->flag)
            other += step;
        any = idle->gone[at] = idle->gone[other] = true;
    }
    return any;
}

enum status writer_drop_idle(struct program_writer *w)
{
    struct idle idle = {.program = w->emit.program};
    int32_t count = idle.program->count;
    for (int n = 0; n < w->flags->token_count; n++) {
        const struct kernel_token *t = &w->flags->tokens[n];
        for (int r = t->first; w->is_on[n] && t->distance > 0 && r < t->first + t->count; r++)
            idle.carried[t->from][t->to] |= (uint64_t)1 << r;
    }
    idle.gone = calloc((size_t)count + 1, sizeof *idle.gone);
    if (!idle.gone)
        return error_memory(w->emit.error);
    bool any = pair_up(&idle, 0, 1, INSTRUCTION_SET);
    any |= pair_up(&idle, count - 1, -1, INSTRUCTION_WAIT);
    if (any)
        program_remove(idle.program, idle.gone);
    free(idle.gone);
    return STATUS_OK;
}
