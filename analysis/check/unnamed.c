/* Per buffer and pipe two numbers suffice: the last event that may have touched any byte, and the
 * last that touched some. The former conflicts with all that comes later, the latter only with what
 * may touch any byte. */
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

/* The buffers of which it touches anything, the whole of which may be included. */
static uint32_t touched(const struct program *program, const struct instruction *in)
{
    uint32_t buffers = left_out(program, in);
    for (int32_t i = in->first_region; i < in->first_region + in->region_count; i++)
        buffers |= 1u << program->regions[i].buffer;
    return buffers;
}

int unnamed_buffer(const struct program *program, int32_t item, int32_t other)
{
    const struct instruction *a = &program->items[item], *b = &program->items[other];
    uint32_t buffers =
        (left_out(program, a) & touched(program, b)) | (left_out(program, b) & touched(program, a));
    return buffers ? __builtin_ctz(buffers) : -1;
}

/* Where this event comes after the last one of a pipe, they are a pair; else that order is open. */
static void follow(const struct event *event, int buffer, const uint32_t *last,
                   const int32_t *items, struct pair *pairs, uint32_t *unordered)
{
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++) {
        if (pipe == event->pipe || last[pipe] == 0)
            continue;
        if (last[pipe] <= event->clock[pipe])
            pair_raise(&pairs[pipe], last[pipe], items[pipe], buffer, PAIR_WHOLE);
        else
            *unordered |= 1u << pipe;
    }
}

void unnamed_event(struct unnamed *unnamed, const struct event *event, struct pair *pairs,
                   uint32_t *unordered)
{
    if (!unnamed->any)
        return;
    const struct program *program = unnamed->program;
    const struct instruction *in = &program->items[event->item];
    uint32_t whole = left_out(program, in), some = touched(program, in);
    uint32_t number = event->clock[event->pipe];
    for (int b = 0; b < program->hw->buffer_count; b++) {
        if (some >> b & 1)
            follow(event, b, unnamed->whole[b], unnamed->whole_item[b], pairs, unordered);
        if (whole >> b & 1)
            follow(event, b, unnamed->some[b], unnamed->some_item[b], pairs, unordered);
    }
    for (int b = 0; b < program->hw->buffer_count; b++) {
        if (some >> b & 1) {
            unnamed->some[b][event->pipe] = number;
            unnamed->some_item[b][event->pipe] = event->item;
        }
        if (whole >> b & 1) {
            unnamed->whole[b][event->pipe] = number;
            unnamed->whole_item[b][event->pipe] = event->item;
        }
    }
}
