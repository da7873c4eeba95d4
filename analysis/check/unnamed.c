#include "analysis/check/unnamed.h"

#include <string.h>

static bool names(const struct program *program, const struct instruction *in, int role)
{
    for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++)
        if (program->regions[i].role == role)
            return true;
    return false;
}

/* The buffers of which this instruction may touch any byte, as bits. */
static uint32_t left_out(const struct program *program, const struct instruction *in)
{
    const struct hardware *hw = program->hw;
    uint32_t buffers = 0;
    if (in->kind == INSTRUCTION_MOVE) {
        const struct path *path = &hw->paths[in->what];
        if (!names(program, in, OPERAND_SRC))
            buffers |= 1u << path->source;
        if (!names(program, in, OPERAND_DST))
            buffers |= 1u << path->destination;
    } else if ((in->kind == INSTRUCTION_MATRIX || in->kind == INSTRUCTION_VECTOR) &&
               in->region_count == 0) {
        buffers = (1u << hw->buffer_count) - 1;
    }
    for (int b = 0; b < hw->buffer_count; b++)
        if (hw->buffers[b].capacity_bytes == 0)
            buffers &= ~(1u << b);
    return buffers;
}

void unnamed_init(struct unnamed *unnamed, const struct program *program)
{
    memset(unnamed, 0, sizeof *unnamed);
    unnamed->program = program;
    for (int32_t i = 0; i < program->count; i++)
        unnamed->any |= left_out(program, &program->items[i]) != 0;
}

static void follow(const struct event *event, const uint32_t *last, int pipes, uint32_t *needs)
{
    for (int pipe = 0; pipe < pipes; pipe++) {
        uint32_t seen = event->clock[pipe], number = last[pipe] < seen ? last[pipe] : seen;
        if (pipe != event->pipe && number > needs[pipe])
            needs[pipe] = number;
    }
}

void unnamed_event(struct unnamed *unnamed, const struct event *event, uint32_t *needs)
{
    if (!unnamed->any)
        return;
    const struct program *program = unnamed->program;
    const struct instruction *in = &program->items[event->item];
    uint32_t whole = left_out(program, in), some = whole, number = event->clock[event->pipe];
    for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++)
        some |= 1u << program->regions[i].buffer;
    for (int b = 0; b < program->hw->buffer_count; b++) {
        if (some >> b & 1)
            follow(event, unnamed->whole[b], program->hw->pipe_count, needs);
        if (whole >> b & 1)
            follow(event, unnamed->some[b], program->hw->pipe_count, needs);
    }
    for (int b = 0; b < program->hw->buffer_count; b++) {
        if (some >> b & 1)
            unnamed->some[b][event->pipe] = number;
        if (whole >> b & 1)
            unnamed->whole[b][event->pipe] = number;
    }
}
