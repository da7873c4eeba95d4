/* All that a check says of what is still to come is a function of its state: who knows of which
 * events, and where every pipe stands. Numbers of events are only compared and handed on. So when
 * between two iterations every number has either stayed (what it means is over) or grown by its
 * pipe's events in between, and each that stayed is smaller than each that grew, all comparisons
 * come out as before, and the stretch repeats until the loop ends. States are written down at
 * iterations 32, 64, 128, …, and later ones compared with them: cycles as Brent (1980) finds
 * them. */
#include "analysis/check/loop_fold.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

enum { EXACT = -1 }; /* a value that is no event's number */

/* Goes through the whole state, either to write it down or to compare it with what was. */
struct pass {
    struct fold_state *state;
    bool save, failed, no_memory;
    int64_t at;
    uint32_t grown[HARDWARE_MAX_PIPES]; /* events in between */
    int64_t stayed_most[HARDWARE_MAX_PIPES], grew_least[HARDWARE_MAX_PIPES];
};

static void save(struct pass *pass, int64_t value)
{
    struct fold_state *state = pass->state;
    if (array_reserve(&state->values, state->count, &state->capacity, sizeof *state->values))
        state->values[state->count++] = value;
    else
        pass->no_memory = true;
}

/* Writes the value down, or compares it with the one written: a number of `pipe` may have grown. */
static void put(struct pass *pass, int pipe, int64_t value)
{
    if (pass->save) {
        save(pass, value);
        return;
    }
    if (pass->failed || pass->at == pass->state->count) {
        pass->failed = true;
        return;
    }
    int64_t old = pass->state->values[pass->at++];
    if (pipe == EXACT || pass->grown[pipe] == 0) {
        pass->failed = value != old;
    } else if (value == old) {
        if (old > pass->stayed_most[pipe])
            pass->stayed_most[pipe] = old;
    } else if (value - old == pass->grown[pipe]) {
        if (old < pass->grew_least[pipe])
            pass->grew_least[pipe] = old;
    } else {
        pass->failed = true;
    }
}

static void put_clock(struct pass *pass, const struct fold *fold, const uint32_t *clock)
{
    for (int pipe = 0; pipe < fold->order->program->hw->pipe_count; pipe++)
        put(pass, pipe, clock[pipe]);
}

static void put_registers(struct pass *pass, const struct fold *fold)
{
    const struct flags *flags = &fold->order->flags;
    for (size_t i = 0; i < flags_count(flags) && !pass->failed; i++) {
        const struct flag_register *reg = &flags->registers[i];
        if (reg->total_sets == 0 && reg->total_waits == 0)
            continue;
        put(pass, EXACT, (int64_t)reg->pending.count);
        put(pass, EXACT, reg->sets > reg->waits);
        put(pass, EXACT, (reg->sets > 0) + 2 * (reg->sets <= reg->total_waits));
        put(pass, EXACT, reg->set_item);
        put(pass, EXACT, reg->wait_item);
        put(pass, (int)(i / (size_t)flags->per_pair) % flags->pipes, reg->wait_number);
        for (size_t n = 0; n < reg->pending.count; n++) {
            struct pending_view set = flags_pending(reg, n);
            put(pass, EXACT, set.item);
            put(pass, EXACT, set.set_again);
            put_clock(pass, fold, set.clock);
        }
    }
}

static void put_queues(struct pass *pass, const struct fold *fold, int depth)
{
    const struct order *order = fold->order;
    for (int pipe = 0; pipe < order->program->hw->pipe_count && !pass->failed; pipe++) {
        put(pass, EXACT, (int64_t)order->queued[pipe].count);
        for (size_t n = 0; n < order->queued[pipe].count && !pass->failed; n++) {
            int64_t *index;
            bool overtaken;
            put(pass, EXACT, order_queued(order, pipe, n, &index, &overtaken));
            put(pass, EXACT, overtaken);
            for (int level = 0; level < PROGRAM_MAX_DEPTH; level++)
                put(pass, EXACT,
                    level == depth ? order->index[level] - index[level] : index[level]);
        }
    }
}

static void put_accesses(struct pass *pass, const struct fold *fold)
{
    const struct overlap *overlap = fold->overlap;
    for (int b = 0; b < HARDWARE_MAX_BUFFERS; b++) {
        const struct buffer_map *map = &overlap->maps[b];
        size_t cells = map->last ? map->cuts.count * (size_t)map->slots : 0;
        for (size_t i = 0; i < cells && !pass->failed; i++) {
            int pipe = map->pipe_of[i % (size_t)map->slots];
            put(pass, pipe, map->last[i].write);
            put(pass, pipe, map->last[i].read);
            put(pass, EXACT, map->last[i].write_item);
            put(pass, EXACT, map->last[i].read_item);
        }
    }
    for (int b = 0; b < HARDWARE_MAX_BUFFERS && overlap->unnamed.any; b++) {
        put_clock(pass, fold, overlap->unnamed.whole[b]);
        put_clock(pass, fold, overlap->unnamed.some[b]);
    }
}

static void pass_over(struct pass *pass, const struct fold *fold, int depth)
{
    const struct order *order = fold->order;
    int pipes = order->program->hw->pipe_count;
    for (int pipe = 0; pipe < pipes; pipe++) {
        put_clock(pass, fold, order->clock[pipe]);
        put_clock(pass, fold, fold->overlap->carried[pipe]);
    }
    put_registers(pass, fold);
    put_queues(pass, fold, depth);
    put_accesses(pass, fold);
}

/* Is the state what it was at the snapshot, but for numbers that grew? */
static bool recurs(const struct fold *fold, struct fold_state *state, int depth)
{
    struct pass pass = {.state = state};
    int pipes = fold->order->program->hw->pipe_count;
    for (int pipe = 0; pipe < pipes; pipe++) {
        pass.grown[pipe] = fold->order->clock[pipe][pipe] - state->numbers[pipe];
        pass.grew_least[pipe] = INT64_MAX;
        pass.stayed_most[pipe] = -1;
    }
    pass_over(&pass, fold, depth);
    bool same = !pass.failed && pass.at == state->count;
    for (int pipe = 0; pipe < pipes; pipe++)
        same &= pass.stayed_most[pipe] < pass.grew_least[pipe];
    return same;
}

static void note_counts(const struct fold *fold, struct fold_state *state)
{
    const struct flags *flags = &fold->order->flags;
    for (int pipe = 0; pipe < fold->order->program->hw->pipe_count; pipe++)
        state->numbers[pipe] = fold->order->clock[pipe][pipe];
    for (size_t i = 0; i < flags_count(flags); i++) {
        state->sets[i] = flags->registers[i].sets;
        state->waits[i] = flags->registers[i].waits;
    }
}

static void take_snapshot(struct fold *fold, struct fold_state *state, int32_t loop, int depth)
{
    struct pass pass = {.state = state, .save = true};
    state->loop = loop;
    state->iteration = fold->order->index[depth];
    state->count = 0;
    state->period = 0;
    pass_over(&pass, fold, depth);
    note_counts(fold, state);
    fold->no_memory |= pass.no_memory;
    if (pass.no_memory)
        state->loop = -1;
}

/* Whole periods that may be skipped: the loop goes on after them, and no register comes to the
 * last of its waits, from where on sets are not kept. */
static int64_t periods_left(const struct fold *fold, const struct fold_state *state, int32_t loop,
                            int depth)
{
    const struct flags *flags = &fold->order->flags;
    int64_t periods =
        (fold->order->program->items[loop].count - 1 - fold->order->index[depth]) / state->period;
    for (size_t i = 0; i < flags_count(flags); i++) {
        const struct flag_register *reg = &flags->registers[i];
        int64_t more = reg->sets - state->sets[i];
        if (more > 0 && reg->sets <= reg->total_waits &&
            (reg->total_waits - reg->sets) / more < periods)
            periods = (reg->total_waits - reg->sets) / more;
    }
    return periods;
}

static void skip(struct fold *fold, struct fold_state *state, int32_t loop, int depth)
{
    struct flags *flags = &fold->order->flags;
    int64_t periods = periods_left(fold, state, loop, depth);
    for (size_t i = 0; i < flags_count(flags) && periods > 0; i++) {
        struct flag_register *reg = &flags->registers[i];
        reg->sets += periods * (reg->sets - state->sets[i]);
        reg->waits += periods * (reg->waits - state->waits[i]);
    }
    if (periods > 0) {
        order_advance(fold->order, depth, periods * state->period);
        fold->overlap->numbered = false;
        fold->folded = true;
    }
    state->loop = -1;
}

/* At the beginning of an iteration: the periods that are kept come first, each marked in the
 * record. */
static void keep_period(struct fold *fold, struct fold_state *state, int32_t loop, int depth)
{
    if ((fold->order->index[depth] - state->iteration) % state->period)
        return;
    if (++state->kept <= FOLD_KEPT) {
        record_mark(fold->record, depth, state->kept == 1, state->kept == FOLD_KEPT);
        note_counts(fold, state);
        return;
    }
    skip(fold, state, loop, depth);
}

static bool can_fold(const struct fold *fold, int32_t loop)
{
    return !fold->moves[loop] && fold->order->program->items[loop].count >= 4LL * FOLD_FIRST;
}

int64_t fold_least_events(const struct fold *fold, int64_t most)
{
    const struct program *program = fold->order->program;
    int64_t events = 0;
    for (int32_t item = 0; item < program->count && events <= most; item++) {
        int64_t times = fold->order->nest->executed[item] > 0 &&
                        program->items[item].kind != INSTRUCTION_LOOP &&
                        program->items[item].kind != INSTRUCTION_END;
        for (int32_t loop = fold->order->nest->parent[item]; loop >= 0;
             loop = fold->order->nest->parent[loop])
            if (times && !can_fold(fold, loop) &&
                (__builtin_mul_overflow(times, program->items[loop].count, &times) || times > most))
                return most + 1;
        events += times;
    }
    return events;
}

/* order.h's call at each iteration but the first: find a period, keep some, skip the rest. */
static void back(void *context, int32_t loop, int depth)
{
    struct fold *fold = context;
    struct fold_state *state = &fold->states[depth];
    int64_t iteration = fold->order->index[depth];
    bool known = state->loop == loop && state->iteration < iteration;
    if (!can_fold(fold, loop))
        return;
    if (known && state->period) {
        keep_period(fold, state, loop, depth);
    } else if (known && iteration - state->iteration <= FOLD_LONGEST &&
               recurs(fold, state, depth)) {
        state->period = iteration - state->iteration;
        state->kept = 0;
        if (fold->order->program->items[loop].count - iteration <
            (int64_t)(FOLD_KEPT + 2) * state->period)
            state->loop = -1; /* not worth it; nor is any later one */
    } else if (iteration >= FOLD_FIRST && (iteration & (iteration - 1)) == 0) {
        take_snapshot(fold, state, loop, depth);
    }
}

/* A loop moves what may conflict when a watched operand in it has a stride at its depth. */
static void find_moving(struct fold *fold)
{
    const struct program *program = fold->order->program;
    for (int32_t item = 0; item < program->count; item++) {
        const struct instruction *in = &program->items[item];
        int depth = -1;
        for (int32_t loop = fold->order->nest->parent[item]; loop >= 0;
             loop = fold->order->nest->parent[loop])
            depth++;
        for (int32_t loop = fold->order->nest->parent[item]; loop >= 0;
             loop = fold->order->nest->parent[loop], depth--)
            for (int32_t r = in->first_region; r < in->first_region + in->region_count; r++)
                fold->moves[loop] |=
                    fold->overlap->watched[r] && program->regions[r].loop_stride_bytes[depth] != 0;
    }
}

enum status fold_init(struct fold *fold, struct order *order, struct overlap *overlap,
                      struct record *record, struct error *error)
{
    *fold = (struct fold){.order = order, .overlap = overlap, .record = record};
    size_t registers = flags_count(&order->flags) + 1;
    fold->moves = calloc((size_t)order->program->count + 1, sizeof *fold->moves);
    bool memory = fold->moves;
    for (int depth = 0; depth < PROGRAM_MAX_DEPTH; depth++) {
        struct fold_state *state = &fold->states[depth];
        state->loop = -1;
        state->sets = calloc(registers, sizeof *state->sets);
        state->waits = calloc(registers, sizeof *state->waits);
        memory &= state->sets && state->waits;
    }
    if (!memory) {
        fold_clear(fold);
        return error_memory(error);
    }
    find_moving(fold);
    order->back = back;
    order->back_context = fold;
    return STATUS_OK;
}

void fold_clear(struct fold *fold)
{
    free(fold->moves);
    fold->moves = NULL;
    for (int depth = 0; depth < PROGRAM_MAX_DEPTH; depth++) {
        free(fold->states[depth].values);
        free(fold->states[depth].sets);
        free(fold->states[depth].waits);
        fold->states[depth] = (struct fold_state){.loop = -1};
    }
}
