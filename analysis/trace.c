#include "analysis/trace.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 256 };

size_t trace_register_count(const struct trace *trace)
{
    const struct hardware *hw = trace->program->hw;
    return (size_t)hw->pipe_count * (size_t)hw->pipe_count * (size_t)hw->flag_registers;
}

size_t trace_register(const struct trace *trace, int32_t item)
{
    const struct hardware *hw = trace->program->hw;
    const struct instruction *in = &trace->program->items[item];
    return ((size_t)in->from * (size_t)hw->pipe_count + (size_t)in->to) *
               (size_t)hw->flag_registers +
           in->flag;
}

enum status trace_init(struct trace *trace, const struct program *program, struct error *error)
{
    memset(trace, 0, sizeof *trace);
    trace->program = program;
    size_t items = (size_t)program->count + 1, registers = trace_register_count(trace) + 1;
    trace->group = malloc(items * sizeof *trace->group);
    trace->fixed = calloc(items, sizeof *trace->fixed);
    trace->head = malloc(registers * sizeof *trace->head);
    trace->tail = malloc(registers * sizeof *trace->tail);
    trace->tainted = calloc(registers, sizeof *trace->tainted);
    if (!trace->group || !trace->fixed || !trace->head || !trace->tail || !trace->tainted) {
        trace_clear(trace);
        return error_memory(error);
    }
    for (int32_t i = 0; i < program->count; i++)
        trace->group[i] = i;
    for (size_t i = 0; i < registers; i++)
        trace->head[i] = trace->tail[i] = -1;
    return STATUS_OK;
}

void trace_clear(struct trace *trace)
{
    free(trace->steps);
    free(trace->needs);
    free(trace->group);
    free(trace->fixed);
    free(trace->head);
    free(trace->tail);
    free(trace->tainted);
    memset(trace, 0, sizeof *trace);
}

int32_t trace_group(struct trace *trace, int32_t item)
{
    while (trace->group[item] != item)
        item = trace->group[item] = trace->group[trace->group[item]];
    return item;
}

/* Room for one more of `count` items; NULL without memory. */
static void *grow(void *items, int64_t count, int64_t *capacity, size_t bytes)
{
    if (count < *capacity)
        return items;
    int64_t wanted = *capacity ? *capacity * 2 : FIRST_CAPACITY;
    void *grown = realloc(items, (size_t)wanted * bytes);
    *capacity = grown ? wanted : *capacity;
    return grown;
}

/* Only what an earlier event of this pipe did not have to follow already is news. */
static enum status add_needs(struct trace *trace, struct trace_step *step, const uint32_t *needs,
                             struct error *error)
{
    step->need = (int32_t)trace->need_count;
    for (int pipe = 0; pipe < trace->program->hw->pipe_count; pipe++) {
        if (needs[pipe] <= trace->needed[step->pipe][pipe])
            continue;
        trace->needed[step->pipe][pipe] = needs[pipe];
        struct trace_need *grown =
            grow(trace->needs, trace->need_count, &trace->need_capacity, sizeof *trace->needs);
        if (!grown)
            return error_memory(error);
        trace->needs = grown;
        trace->needs[trace->need_count++] = (struct trace_need){needs[pipe], (int8_t)pipe};
        step->need_count++;
    }
    return STATUS_OK;
}

static void match(struct trace *trace, struct trace_step *step, int32_t at)
{
    size_t reg = trace_register(trace, step->item);
    if (step->kind == INSTRUCTION_SET) {
        if (trace->head[reg] >= 0)
            trace->steps[trace->tail[reg]].slot = at; /* until trace_close: the next set */
        else
            trace->head[reg] = at;
        trace->tail[reg] = at;
        return;
    }
    struct trace_step *set = &trace->steps[trace->head[reg]];
    step->partner = trace->head[reg];
    set->partner = at;
    trace->head[reg] = set->slot;
    trace->group[trace_group(trace, step->item)] = trace_group(trace, set->item);
}

static enum status append(struct trace *trace, const struct trace_step *step, struct error *error)
{
    trace->full |= trace->count == TRACE_MAX_STEPS;
    struct trace_step *grown =
        grow(trace->steps, trace->count, &trace->capacity, sizeof *trace->steps);
    if (!grown)
        return error_memory(error);
    trace->steps = grown;
    trace->steps[trace->count++] = *step;
    return STATUS_OK;
}

/* Work that was left out still ends before a barrier. */
static enum status show_work(struct trace *trace, struct error *error)
{
    enum status status = STATUS_OK;
    for (int pipe = 0; pipe < trace->program->hw->pipe_count && status == STATUS_OK; pipe++) {
        struct trace_step *work = &trace->left_out[pipe];
        if (work->number)
            status = append(trace, work, error);
        work->number = 0;
    }
    return status;
}

static bool is_synchronisation(const struct instruction *in)
{
    return in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT ||
           in->kind == INSTRUCTION_BARRIER;
}

/* A wait that was dispatched before some blocking instruction that has run since keeps what is
 * behind it after that one, which clocks do not tell apart: such a wait has to stay. */
static void note(struct trace *trace, const struct event *event)
{
    if (event->twice.set >= 0)
        trace->tainted[trace_register(trace, event->twice.set)] = true;
    if (event->overtaken)
        trace->fixed[event->item] = true;
}

static enum status add_step(struct trace *trace, struct trace_step *step, struct error *error)
{
    if (step->kind == INSTRUCTION_BARRIER) {
        enum status status = show_work(trace, error);
        return status == STATUS_OK ? append(trace, step, error) : status;
    }
    bool blocks = trace->program->hw->pipes[step->pipe].blocks_dispatch;
    if (step->kind == INSTRUCTION_MOVE && step->need_count == 0 && !blocks) {
        trace->left_out[step->pipe] = *step;
        return STATUS_OK;
    }
    trace->left_out[step->pipe].number = 0;
    enum status status = append(trace, step, error);
    if (status == STATUS_OK && step->kind != INSTRUCTION_MOVE)
        match(trace, &trace->steps[trace->count - 1], (int32_t)trace->count - 1);
    return status;
}

enum status trace_add(struct trace *trace, const struct event *event, const uint32_t *needs,
                      struct error *error)
{
    const struct instruction *in = &trace->program->items[event->item];
    struct trace_step step = {.item = event->item,
                              .slot = -1,
                              .partner = -1,
                              .pipe = (int8_t)event->pipe,
                              .kind = INSTRUCTION_MOVE};
    if (trace->full)
        return STATUS_OK;
    if (is_synchronisation(in))
        step.kind = in->kind;
    note(trace, event);
    if (event->pipe != PROGRAM_PIPE_ALL) {
        step.number = event->clock[event->pipe];
        enum status status = add_needs(trace, &step, needs, error);
        if (status != STATUS_OK)
            return status;
    }
    return add_step(trace, &step, error);
}

/* Sets keep their clocks from the set to its wait in as few places as possible. */
static void give_slots(struct trace *trace)
{
    int32_t unused[TRACE_MAX_SLOTS], unused_count = 0;
    for (int64_t i = 0; i < trace->count && !trace->full; i++) {
        struct trace_step *step = &trace->steps[i];
        if (step->kind == INSTRUCTION_SET) {
            step->slot = -1;
            if (step->partner < 0)
                trace->fixed[step->item] = true;
            else if (unused_count)
                step->slot = unused[--unused_count];
            else if (trace->slot_count < TRACE_MAX_SLOTS)
                step->slot = trace->slot_count++;
            else
                trace->full = true;
        } else if (step->kind == INSTRUCTION_WAIT) {
            step->slot = trace->steps[step->partner].slot;
            unused[unused_count++] = step->slot;
        }
    }
}

enum status trace_close(struct trace *trace, struct error *error)
{
    size_t registers = trace_register_count(trace);
    bool *again = calloc(registers + 1, sizeof *again);
    if (!again)
        return error_memory(error);
    give_slots(trace);
    for (int64_t i = trace->count - 1; i >= 0 && !trace->full; i--) {
        struct trace_step *step = &trace->steps[i];
        if (step->kind == INSTRUCTION_SET)
            again[trace_register(trace, step->item)] = true;
        else if (step->kind == INSTRUCTION_WAIT)
            step->last_wait = !again[trace_register(trace, step->item)];
    }
    free(again);
    for (int32_t i = 0; i < trace->program->count; i++)
        if (trace->fixed[i])
            trace->fixed[trace_group(trace, i)] = true;
    return STATUS_OK;
}
