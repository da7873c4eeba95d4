/* Every order of a part of the synchronisation is a part of the whole order, so the order in which
 * the whole program was executed serves for all parts, and events keep their numbers. The whole
 * state is one array of numbers, so that copying and comparing it is one call. */
#include "analysis/check/replay.h"

#include <stdlib.h>
#include <string.h>

#define NEVER_WAITED (1u << 31) /* among the sets that have had no wait so far */

/* The state has a clock, an entry a pipe, for every pipe and then for every slot; after them the
 * registers, twice. */
static size_t clocks_of(const struct replay *replay, int32_t slots)
{
    return ((size_t)replay->pipes + (size_t)slots) * (size_t)replay->pipes;
}

static uint32_t *clock_of(const struct replay *replay, int pipe)
{
    return &replay->state[(size_t)pipe * (size_t)replay->pipes];
}

static uint32_t *slot_of(const struct replay *replay, int32_t slot)
{
    return &replay->state[clocks_of(replay, slot)];
}

static uint32_t *last_wait(const struct replay *replay, int32_t reg)
{
    return &replay->state[clocks_of(replay, replay->record->slot_count) + (size_t)reg];
}

static uint32_t *pending(const struct replay *replay, int32_t reg)
{
    return last_wait(replay, reg) + replay->record->register_count;
}

enum status replay_init(struct replay *replay, const struct record *record, struct error *error)
{
    int pipes = record->program->hw->pipe_count;
    *replay = (struct replay){.record = record, .pipes = pipes};
    replay->state_count =
        clocks_of(replay, record->slot_count) + 2 * (size_t)record->register_count;
    replay->state = calloc(replay->state_count + 1, sizeof *replay->state);
    return replay->state ? STATUS_OK : error_memory(error);
}

void replay_clear(struct replay *replay)
{
    free(replay->state);
    replay->state = NULL;
}

void replay_copy(struct replay *to, const struct replay *from)
{
    to->at = from->at;
    memcpy(to->state, from->state, from->state_count * sizeof *from->state);
}

bool replay_equal(const struct replay *a, const struct replay *b)
{
    return a->at == b->at && memcmp(a->state, b->state, a->state_count * sizeof *a->state) == 0;
}

uint32_t replay_knows(const struct replay *replay, int pipe, int of)
{
    return clock_of(replay, pipe)[of];
}

/* The pipe of whose events a value of the state is a number. */
static int pipe_of_value(const struct replay *replay, size_t i)
{
    size_t clocks = clocks_of(replay, replay->record->slot_count);
    if (i < clocks)
        return (int)i % replay->pipes;
    return replay->record->register_to[(i - clocks) % (size_t)replay->record->register_count];
}

void replay_state_at(const struct replay *replay, const struct record_mark *mark, uint32_t *out)
{
    size_t clocks = clocks_of(replay, 0), row = (size_t)replay->pipes;
    size_t slots = clocks_of(replay, replay->record->slot_count) - clocks;
    memcpy(out, replay->state, replay->state_count * sizeof *out);
    memset(&out[clocks], 0, slots * sizeof *out);
    for (int32_t i = 0; i < mark->slot_count; i++)
        memcpy(&out[clocks + (size_t)i * row],
               slot_of(replay, replay->record->waiting[mark->first_slot + i]), row * sizeof *out);
}

bool replay_recurs(const struct replay *replay, const uint32_t *then, const uint32_t *now,
                   const uint32_t *grown)
{
    for (size_t i = 0; i < replay->state_count; i++) {
        uint32_t more = now[i] - then[i];
        if (more && more != grown[pipe_of_value(replay, i)])
            return false;
    }
    return true;
}

static void join(const struct replay *replay, uint32_t *clock, const uint32_t *other)
{
    for (int pipe = 0; pipe < replay->pipes; pipe++)
        if (other[pipe] > clock[pipe])
            clock[pipe] = other[pipe];
}

/* Does the set come after the wait of the set before it that is left, if it does in the whole
 * program? */
static bool take_set(struct replay *replay, const struct record_step *step)
{
    const uint32_t *clock = clock_of(replay, step->pipe);
    uint32_t last = *last_wait(replay, step->reg);
    int to = replay->record->register_to[step->reg];
    uint32_t *sets = pending(replay, step->reg);
    bool waited = *sets == 0;
    *sets = step->slot >= 0 ? *sets + 1 : *sets | NEVER_WAITED;
    if (step->slot >= 0)
        memcpy(slot_of(replay, step->slot), clock, (size_t)replay->pipes * sizeof *clock);
    return !waited || last > step->seen || clock[to] >= last;
}

/* What is behind is cleared, so that states that differ in nothing that matters are equal. */
static void take_wait(struct replay *replay, const struct record_step *step, bool removed)
{
    if (step->slot < 0)
        return;
    uint32_t *set = slot_of(replay, step->slot);
    if (!removed) {
        --*pending(replay, step->reg);
        join(replay, clock_of(replay, step->pipe), set);
        *last_wait(replay, step->reg) = step->last_wait ? 0 : step->number;
    } else if (step->last_wait) {
        *last_wait(replay, step->reg) = 0;
    }
    memset(set, 0, (size_t)replay->pipes * sizeof *set);
}

static void take_barrier(struct replay *replay)
{
    uint32_t all[HARDWARE_MAX_PIPES] = {0};
    for (int pipe = 0; pipe < replay->pipes; pipe++)
        join(replay, all, clock_of(replay, pipe));
    for (int pipe = 0; pipe < replay->pipes; pipe++)
        memcpy(clock_of(replay, pipe), all, (size_t)replay->pipes * sizeof *all);
}

static bool has_needs(const struct record *record, const struct record_step *step,
                      const uint32_t *clock)
{
    for (int i = 0; i < step->need_count; i++) {
        const struct record_need *need = &record->needs[step->need + i];
        if (clock[need->pipe] < need->number)
            return false;
    }
    return true;
}

bool replay_step(struct replay *replay, bool gone)
{
    const struct record_step *step = &replay->record->steps[replay->at++];
    if (step->kind == INSTRUCTION_BARRIER) {
        if (!gone)
            take_barrier(replay);
        return true;
    }
    uint32_t *clock = clock_of(replay, step->pipe);
    clock[step->pipe] = step->number;
    bool allowed = true;
    if (step->kind == INSTRUCTION_SET && !gone)
        allowed = take_set(replay, step);
    else if (step->kind == INSTRUCTION_WAIT)
        take_wait(replay, step, gone);
    replay->lost = !has_needs(replay->record, step, clock);
    if (step->blocks)
        for (int pipe = 0; pipe < replay->pipes; pipe++)
            join(replay, clock_of(replay, pipe), clock);
    return allowed && !replay->lost;
}
