/* Takes the events of order.c one by one through overlap.c and into the record; totals of flags and
 * what is left standing at the end give unmatched flags and deadlocks. A program that deadlocks is
 * executed once more with surplus waits passed over, so that there is an order to search for
 * superfluous synchronisation.
 *
 * Loops are folded on the way. All that a check says of what is still to come is a function of its
 * state: who knows of which events, and where every pipe stands. Numbers of events are only
 * compared and handed on. So when between two iterations every number has either stayed (what it
 * means is over) or grown by its pipe's events in between, and each that stayed is smaller than
 * each that grew, all comparisons come out as before, and the stretch repeats until the loop ends.
 * States are written down at iterations 32, 64, 128, …, and later ones compared with them: cycles
 * as Brent (1980) finds them. */
#include "analysis/check/execution.h"

#include "core/array.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ folding */

enum { FOLD_KEPT = 8, FOLD_LONGEST = 64, FOLD_FIRST = 8 }; /* periods; iterations; iterations */

enum { EXACT = -1 }; /* a value that is no event's number */

/* Goes through the whole state, either to write it down or to compare it with what was. */
struct pass {
    struct fold_state *state;
    bool save, failed, no_memory;
    int64_t at;
    uint32_t grown[HARDWARE_MAX_PIPES]; /* events in between */
    int64_t stayed_most[HARDWARE_MAX_PIPES], grew_least[HARDWARE_MAX_PIPES];
};

static void save_value(struct pass *pass, int64_t value)
{
    struct fold_state *state = pass->state;
    if (array_reserve(&state->values, state->count, &state->capacity, sizeof *state->values))
        state->values[state->count++] = value;
    else
        pass->no_memory = true;
}

/* Writes the value down, or compares it with the one written: a number of `pipe` may have grown. */
static void put_value(struct pass *pass, int pipe, int64_t value)
{
    if (pass->save) {
        save_value(pass, value);
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
        put_value(pass, pipe, clock[pipe]);
}

static void put_registers(struct pass *pass, const struct fold *fold)
{
    const struct flags *flags = &fold->order->flags;
    for (size_t i = 0; i < flags_count(flags) && !pass->failed; i++) {
        const struct flag_register *reg = &flags->registers[i];
        if (reg->total_sets == 0 && reg->total_waits == 0)
            continue;
        put_value(pass, EXACT, (int64_t)reg->pending.count);
        put_value(pass, EXACT, reg->sets > reg->waits);
        put_value(pass, EXACT, (reg->sets > 0) + 2 * (reg->sets <= reg->total_waits));
        put_value(pass, EXACT, reg->set_item);
        put_value(pass, EXACT, reg->wait_item);
        put_value(pass, (int)(i / (size_t)flags->per_pair) % flags->pipes, reg->wait_number);
        for (size_t n = 0; n < reg->pending.count; n++) {
            struct pending_view set = flags_pending(reg, n);
            put_value(pass, EXACT, set.item);
            put_value(pass, EXACT, set.set_again);
            put_clock(pass, fold, set.clock);
        }
    }
}

static void put_queues(struct pass *pass, const struct fold *fold, int depth)
{
    const struct order *order = fold->order;
    for (int pipe = 0; pipe < order->program->hw->pipe_count && !pass->failed; pipe++) {
        put_value(pass, EXACT, (int64_t)order->queued[pipe].count);
        for (size_t n = 0; n < order->queued[pipe].count && !pass->failed; n++) {
            int64_t *index;
            bool overtaken;
            put_value(pass, EXACT, order_queued(order, pipe, n, &index, &overtaken));
            put_value(pass, EXACT, overtaken);
            for (int level = 0; level < PROGRAM_MAX_DEPTH; level++)
                put_value(pass, EXACT,
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
            put_value(pass, pipe, map->last[i].write);
            put_value(pass, pipe, map->last[i].read);
            put_value(pass, EXACT, map->last[i].write_item);
            put_value(pass, EXACT, map->last[i].read_item);
        }
    }
    for (int b = 0; b < HARDWARE_MAX_BUFFERS && overlap->unnamed.any; b++) {
        put_clock(pass, fold, overlap->unnamed.whole[b]);
        put_clock(pass, fold, overlap->unnamed.some[b]);
    }
}

static void pass_over_state(struct pass *pass, const struct fold *fold, int depth)
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
static bool state_recurs(const struct fold *fold, struct fold_state *state, int depth)
{
    struct pass pass = {.state = state};
    int pipes = fold->order->program->hw->pipe_count;
    for (int pipe = 0; pipe < pipes; pipe++) {
        pass.grown[pipe] = fold->order->clock[pipe][pipe] - state->numbers[pipe];
        pass.grew_least[pipe] = INT64_MAX;
        pass.stayed_most[pipe] = -1;
    }
    pass_over_state(&pass, fold, depth);
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
    pass_over_state(&pass, fold, depth);
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

static void skip_periods(struct fold *fold, struct fold_state *state, int32_t loop, int depth)
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
    skip_periods(fold, state, loop, depth);
}

static bool can_fold(const struct fold *fold, int32_t loop)
{
    return !fold->moves[loop] && fold->order->program->items[loop].count >= 4LL * FOLD_FIRST;
}

/* So many events are executed at least, stopping at `most` and one more. */
static int64_t fold_least_events(const struct fold *fold, int64_t most)
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
static void fold_iteration(void *context, int32_t loop, int depth)
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
               state_recurs(fold, state, depth)) {
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

static void fold_clear(struct fold *fold)
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

static enum status fold_init(struct fold *fold, struct order *order, struct overlap *overlap,
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
    order->back = fold_iteration;
    order->back_context = fold;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ findings */

static int32_t line_of(const struct program *program, int32_t item)
{
    return program->items[item].line;
}

static const char *pipe_name(const struct program *program, int pipe)
{
    return program->hw->pipes[pipe].name;
}

/* "MTE2 MTE1 0" */
struct flag_name {
    char text[2 * HARDWARE_NAME_SIZE + 16];
};

static struct flag_name flag_name(const struct program *program, int from, int to, int flag)
{
    struct flag_name name;
    snprintf(name.text, sizeof name.text, "%s %s %d", pipe_name(program, from),
             pipe_name(program, to), flag);
    return name;
}

static struct flag_name flag_name_of(const struct program *program, const struct instruction *in)
{
    return flag_name(program, in->from, in->to, in->flag);
}

/* The instructions of the last sets (or waits) of a register that have no partner, latest first,
 * each once; how many, at most max_items. Backwards through the text, knowing for each line how
 * many sets (or waits) of the register come after its last run: those with fewer than the surplus
 * are surplus themselves. */
static int find_surplus(const struct flags *flags, const struct nest *nest, size_t index,
                        int32_t *items, int max_items)
{
    const struct program *program = flags->program;
    const struct flag_register *reg = &flags->registers[index];
    int64_t surplus = reg->total_sets - reg->total_waits;
    enum instruction_kind kind = surplus > 0 ? INSTRUCTION_SET : INSTRUCTION_WAIT;
    surplus = surplus > 0 ? surplus : -surplus;

    int64_t after = 0, outside[PROGRAM_MAX_DEPTH] = {0};
    int count = 0, depth = 0;
    for (int32_t i = program->count - 1; i >= 0 && after < surplus && count < max_items; i--) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_END) {
            if (nest->executed[i] == 0)
                i = in->partner;
            else
                outside[depth++] = after;
        } else if (in->kind == INSTRUCTION_LOOP) {
            int64_t before = outside[--depth];
            after = before + (after - before) * in->count;
        } else if (in->kind == kind && flags_index(flags, in) == index) {
            items[count++] = i;
            after++;
        }
    }
    return count;
}
static void check_unmatched(const struct flags *flags, const struct nest *nest, size_t index,
                            struct findings *findings)
{
    const struct flag_register *reg = &flags->registers[index];
    int32_t lines[FINDING_MAX_LINES];
    int32_t items[FINDING_MAX_LINES];
    int count = find_surplus(flags, nest, index, items, FINDING_MAX_LINES);
    assert(count > 0); /* the totals differ */
    for (int i = 0; i < count; i++)
        lines[i] = line_of(flags->program, items[i]);
    struct finding *finding = findings_add(findings, FINDING_UNMATCHED_FLAG, lines, count);
    if (!finding)
        return;
    int pair = (int)index / flags->per_pair;
    struct flag_name name = flag_name(flags->program, pair / flags->pipes, pair % flags->pipes,
                                      (int)index % flags->per_pair);
    int64_t surplus = reg->total_sets - reg->total_waits;
    struct witness *witness = &finding->witness;
    witness->sets = reg->total_sets;
    witness->waits = reg->total_waits;
    while (witness->step_count < count) {
        witness->steps[witness->step_count] = items[count - 1 - witness->step_count];
        witness->step_count++;
    }
    int used = snprintf(finding->text, sizeof finding->text,
                        "sets and waits of flag %s: %lld and %lld; the last ", name.text,
                        (long long)reg->total_sets, (long long)reg->total_waits);
    const char *what = surplus > 0 ? "set" : "wait";
    if (surplus == 1 || surplus == -1)
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "%s, in line %d, has no partner", what, lines[0]);
    else
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "%lld %ss, up to line %d, have no partner", llabs(surplus), what, lines[0]);
}

static void check_totals(const struct flags *flags, const struct nest *nest,
                         struct findings *findings)
{
    for (size_t i = 0; i < flags_count(flags); i++)
        if (flags->registers[i].total_sets != flags->registers[i].total_waits)
            check_unmatched(flags, nest, i, findings);
}

static void add_double_set(const struct program *program, const struct double_set *twice,
                           struct findings *findings)
{
    const struct instruction *in = &program->items[twice->set];
    int32_t lines[3] = {in->line, line_of(program, twice->earlier)};
    if (twice->wait >= 0)
        lines[2] = line_of(program, twice->wait);
    struct finding *finding =
        findings_add(findings, FINDING_DOUBLE_SET, lines, twice->wait >= 0 ? 3 : 2);
    if (!finding)
        return;
    struct witness *witness = &finding->witness;
    witness->steps[witness->step_count++] = twice->earlier;
    if (twice->wait >= 0)
        witness->steps[witness->step_count++] = twice->wait;
    witness->steps[witness->step_count++] = twice->set;
    struct flag_name name = flag_name_of(program, in);
    int used = snprintf(finding->text, sizeof finding->text,
                        "flag %s is set in line %d while its set of line %d may still be up; ",
                        name.text, lines[0], lines[1]);
    if (twice->wait >= 0)
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "make %s wait for %s's wait in line %d first, or use another register",
                 pipe_name(program, in->from), pipe_name(program, in->to), lines[2]);
    else
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "no wait takes that one");
}

/* The pipe that keeps `item`, a blocked wait, from its set: -1 when there is no such set. */
static int blocker_of(const struct order *order, int32_t item)
{
    const struct instruction *in = &order->program->items[item];
    const struct flag_register *reg = &order->flags.registers[flags_index(&order->flags, in)];
    int halting = -1;
    if (reg->total_sets == reg->sets)
        return -1;
    if (order_blocked(order, in->from) >= 0)
        return in->from;
    for (int pipe = 0; pipe < order->program->hw->pipe_count; pipe++)
        if (order_blocked(order, pipe) >= 0 &&
            (halting < 0 || order->program->hw->pipes[pipe].blocks_dispatch))
            halting = pipe;
    return halting;
}

/* Who waits for whom: from one blocked pipe to the next, until there is no set or one comes again.
 * A set that has not been dispatched waits for the barrier or blocking pipe that holds it up. */
static void follow_blocked(const struct order *order, int32_t item, struct witness *witness)
{
    uint32_t seen = 0;
    int pipe = order->program->items[item].pipe;
    while (pipe >= 0 && !(seen >> pipe & 1) && witness->step_count < WITNESS_MAX_STEPS - 1) {
        int32_t wait = order_blocked(order, pipe);
        int next = blocker_of(order, wait);
        const struct instruction *in = &order->program->items[wait];
        seen |= 1u << pipe;
        witness->steps[witness->step_count++] = wait;
        if (next >= 0 && next != in->from && order->next > 0 &&
            order->program->items[order->next - 1].kind == INSTRUCTION_BARRIER)
            witness->steps[witness->step_count++] = order->next - 1;
        pipe = next;
    }
    if (pipe >= 0)
        witness->steps[witness->step_count++] = order_blocked(order, pipe);
}

static void add_deadlock(const struct order *order, int32_t item, struct findings *findings)
{
    const struct program *program = order->program;
    const struct instruction *in = &program->items[item];
    const struct flag_register *reg = &order->flags.registers[flags_index(&order->flags, in)];
    struct finding *finding = findings_add(findings, FINDING_DEADLOCK, &in->line, 1);
    if (!finding)
        return;
    follow_blocked(order, item, &finding->witness);
    struct flag_name name = flag_name_of(program, in);
    int used = snprintf(finding->text, sizeof finding->text,
                        "%s waits for ever at 'wait %s' in line %d: ", pipe_name(program, in->pipe),
                        name.text, in->line);
    if (reg->total_sets == reg->sets)
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "it needs set number %lld and the program has %lld", (long long)reg->waits + 1,
                 (long long)reg->total_sets);
    else
        snprintf(finding->text + used, sizeof finding->text - (size_t)used,
                 "its set on %s stands behind something that is blocked itself",
                 pipe_name(program, in->from));
}

/* Was a set whose wait never ran set again? */
static bool is_set_again(const struct flag_register *reg, size_t n, struct double_set *twice)
{
    struct pending_view set = flags_pending(reg, n);
    *twice = (struct double_set){set.set_again, set.item, -1};
    return set.set_again >= 0;
}

static void check_end(const struct order *order, struct findings *findings)
{
    struct double_set twice;
    for (int pipe = 0; pipe < order->program->hw->pipe_count; pipe++)
        if (order_blocked(order, pipe) >= 0)
            add_deadlock(order, order_blocked(order, pipe), findings);
    for (size_t i = 0; i < flags_count(&order->flags); i++)
        for (size_t n = 0; n < order->flags.registers[i].pending.count; n++)
            if (is_set_again(&order->flags.registers[i], n, &twice))
                add_double_set(order->program, &twice, findings);
}

static bool is_blocked(const struct order *order)
{
    for (int pipe = 0; pipe < order->program->hw->pipe_count; pipe++)
        if (order_blocked(order, pipe) >= 0)
            return true;
    return false;
}

/* ------------------------------------------------------------------ execution */

enum { LOOK_EVERY = 1024 }; /* events, between two looks at the time; a power of two */

static enum status too_many(struct error *error)
{
    return error_set(error, STATUS_TOO_LARGE,
                     "more than %lld instructions to play, too many to check for hazards: operands "
                     "that may conflict move with their loops, or no state of the loops recurs",
                     CHECK_MAX_EVENTS);
}

static enum status take_event(struct execution *execution, const struct event *event,
                              struct findings *findings, struct error *error)
{
    if (event->twice.set >= 0)
        add_double_set(execution->program, &event->twice, findings);
    if (++execution->events > CHECK_MAX_EVENTS)
        return too_many(error);
    if ((execution->events & (LOOK_EVERY - 1)) == 0 && stop_due(execution->stop))
        return error_set(error, STATUS_STOPPED, "stopped");
    TRY(overlap_event(&execution->overlap, event, findings, error));
    const struct overlap *overlap = &execution->overlap;
    return record_add(&execution->record, event, overlap->of_interest ? overlap->pairs : NULL,
                      overlap->bounds, error);
}

void execution_clear(struct execution *execution)
{
    fold_clear(&execution->fold);
    record_clear(&execution->record);
    overlap_clear(&execution->overlap);
    order_clear(&execution->order);
    nest_clear(&execution->nest);
}

enum status execution_init(struct execution *execution, const struct program *program,
                           const struct stop *stop, struct error *error)
{
    memset(execution, 0, sizeof *execution);
    execution->program = program;
    execution->stop = stop;
    enum status status = nest_init(&execution->nest, program, error);
    if (status == STATUS_OK)
        status = order_init(&execution->order, program, &execution->nest, error);
    if (status == STATUS_OK)
        status = overlap_init(&execution->overlap, program, &execution->nest, stop, error);
    if (status == STATUS_OK)
        status = record_init(&execution->record, program, error);
    if (status == STATUS_OK)
        status = fold_init(&execution->fold, &execution->order, &execution->overlap,
                           &execution->record, error);
    if (status == STATUS_OK &&
        fold_least_events(&execution->fold, CHECK_MAX_EVENTS) > CHECK_MAX_EVENTS)
        status = too_many(error);
    if (status != STATUS_OK)
        execution_clear(execution);
    return status;
}

/* As far as it goes. */
static enum status take_events(struct execution *execution, struct findings *findings,
                               struct error *error)
{
    struct event event;
    enum status status;
    while ((status = order_next(&execution->order, &event, error)) == STATUS_OK && event.item >= 0)
        if ((status = take_event(execution, &event, findings, error)) != STATUS_OK)
            break;
    return status;
}

/* Once more, for the order behind a deadlock: a wait for which the program has no set is passed
 * over. What is wrong there is not found, for it never runs. */
static enum status execute_leniently(struct execution *execution, struct error *error)
{
    struct findings ignored = {0};
    const struct program *program = execution->program;
    void (*back)(void *, int32_t, int) = execution->order.back;
    execution_clear(execution);
    TRY(execution_init(execution, program, execution->stop, error));
    execution->order.lenient = true;
    execution->order.back = back;
    enum status status = take_events(execution, &ignored, error);
    findings_clear(&ignored);
    execution->blocked = is_blocked(&execution->order);
    if (status == STATUS_OK && execution->blocked)
        status = record_cut(&execution->record, &execution->order, error);
    execution->record.full |= status == STATUS_TOO_LARGE;
    return status == STATUS_TOO_LARGE ? STATUS_OK : status;
}

enum status execution_run(struct execution *execution, struct findings *findings,
                          struct error *error)
{
    TRY(take_events(execution, findings, error));
    check_totals(&execution->order.flags, &execution->nest, findings);
    check_end(&execution->order, findings);
    if (is_blocked(&execution->order))
        TRY(execute_leniently(execution, error));
    return record_close(&execution->record, error);
}
