/* One pass with a stack of what is open: how often a line runs, and which pipes are in the loops
 * around it. Flag registers are numbered at first sight. What instructions cost is found in a small
 * memory of those before; where that has forgotten one it gets a second entry, which costs room and
 * no more. */
#include "core/array.h"
#include "core/program.h"
#include "core/work.h"

#include <string.h>

enum { KNOWN_COSTS = 64 };

struct briefer {
    struct program *program;
    struct repetition repetition;
    uint32_t open[PROGRAM_MAX_DEPTH + 1]; /* pipes in the loops around */
    int32_t known[KNOWN_COSTS];           /* into costs, -1: none */
    int16_t flags[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES][HARDWARE_MAX_FLAGS]; /* the same */
};

static bool costs_as(const struct program_cost *cost, const struct instruction *in,
                     int64_t burst_fs)
{
    return cost->price == in->price && cost->units == in->units &&
           cost->paid_units == in->paid_units && cost->burst_fs == burst_fs;
}

/* The entry of what an instruction costs; -1 without memory. */
static int32_t cost_of(struct briefer *b, const struct instruction *in, int32_t index)
{
    struct program *program = b->program;
    int64_t burst_fs = in->kind == INSTRUCTION_MOVE ? in->burst_fs : 0;
    int32_t *known =
        &b->known[((uint64_t)in->units * 31 + (uint64_t)in->price) * 0x9E3779B97F4A7C15U >> 58];
    if (*known >= 0 && costs_as(&program->costs[*known], in, burst_fs))
        return *known;
    if (!array_reserve(&program->costs, program->cost_count, &program->cost_capacity,
                       sizeof *program->costs))
        return -1;
    *known = program->cost_count++;
    program->costs[*known] = (struct program_cost){.price = in->price,
                                                   .first = index,
                                                   .units = in->units,
                                                   .paid_units = in->paid_units,
                                                   .burst_fs = burst_fs};
    return *known;
}

static int32_t flag_of(struct briefer *b, const struct instruction *in, int64_t times)
{
    struct program *program = b->program;
    int16_t *known = &b->flags[in->from][in->to][in->flag];
    if (*known < 0) {
        if (!array_reserve(&program->flags, program->flag_count, &program->flag_capacity,
                           sizeof *program->flags))
            return -1;
        program->flags[program->flag_count] = (struct program_flag){in->from, in->to, 0};
        *known = (int16_t)program->flag_count++;
    }
    program->flags[*known].waits += in->kind == INSTRUCTION_WAIT ? times : 0;
    return *known;
}

/* A line of a loop; the line that opened it gets the pipes once it is closed. */
static void note_loop(struct briefer *b, const struct instruction *in)
{
    struct program *program = b->program;
    uint32_t pipes = b->open[b->repetition.depth + 1];
    if (in->kind == INSTRUCTION_LOOP) {
        b->open[b->repetition.depth] = 0;
        return;
    }
    program->briefs[in->partner].which = (int32_t)pipes;
    if (program->items[in->partner].count > 0)
        b->open[b->repetition.depth] |= pipes;
}

static uint32_t pipes_of(const struct instruction *in)
{
    if (in->kind != INSTRUCTION_BARRIER)
        return 1u << in->pipe;
    return in->pipe == PROGRAM_PIPE_ALL ? BRIEF_EVERYBODY : 0;
}

static int32_t which_of(struct briefer *b, const struct instruction *in, int32_t index,
                        int64_t times)
{
    if (in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT)
        return flag_of(b, in, times);
    int32_t cost = cost_of(b, in, index);
    if (cost >= 0)
        b->program->costs[cost].times += times;
    return cost;
}

/* False without memory. */
static bool brief_one(struct briefer *b, int32_t index)
{
    struct program *program = b->program;
    const struct instruction *in = &program->items[index];
    struct brief *brief = &program->briefs[index];
    int64_t times = repetition_step(&b->repetition, in);
    *brief = (struct brief){.kind = in->kind, .pipe = in->pipe, .which = -1};
    if (in->kind == INSTRUCTION_LOOP || in->kind == INSTRUCTION_END) {
        note_loop(b, in);
        return true;
    }
    b->open[b->repetition.depth] |= pipes_of(in);
    if (in->kind == INSTRUCTION_BARRIER)
        return true;
    brief->transfer = in->price >= 0 && program->hw->prices[in->price].bus >= 0;
    brief->which = which_of(b, in, index, times);
    return brief->which >= 0;
}

enum status program_brief(struct program *program, struct error *error)
{
    struct briefer b = {.program = program, .repetition = {.times = {1}}};
    for (int k = 0; k < KNOWN_COSTS; k++)
        b.known[k] = -1;
    memset(b.flags, -1, sizeof b.flags);
    program->cost_count = program->flag_count = 0;
    while (program->brief_capacity < program->count)
        if (!array_double(&program->briefs, &program->brief_capacity, sizeof *program->briefs))
            return error_memory(error);
    for (int32_t i = 0; i < program->count; i++)
        if (!brief_one(&b, i))
            return error_memory(error);
    program->pipes = b.open[0] & ~BRIEF_EVERYBODY;
    return STATUS_OK;
}
