/* Takes the events of order.c one by one through overlap.c and into the record, with loop_fold.c in
 * between; totals of flags and what is left standing at the end give unmatched flags and deadlocks.
 * A program that deadlocks is executed once more with surplus waits passed over, so that there is
 * an order to search for superfluous synchronisation. */
#include "analysis/check/execution.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void check_unmatched(const struct flags *flags, const struct nest *nest, size_t index,
                            struct findings *findings)
{
    const struct flag_register *reg = &flags->registers[index];
    int32_t lines[FINDING_MAX_LINES];
    int32_t items[FINDING_MAX_LINES];
    int count = flags_surplus(flags, nest, index, items, FINDING_MAX_LINES);
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

static void check_end(const struct order *order, struct findings *findings)
{
    struct double_set twice;
    for (int pipe = 0; pipe < order->program->hw->pipe_count; pipe++)
        if (order_blocked(order, pipe) >= 0)
            add_deadlock(order, order_blocked(order, pipe), findings);
    for (size_t i = 0; i < flags_count(&order->flags); i++)
        for (size_t n = 0; n < order->flags.registers[i].pending.count; n++)
            if (flags_leftover(&order->flags.registers[i], n, &twice))
                add_double_set(order->program, &twice, findings);
}

static bool is_blocked(const struct order *order)
{
    for (int pipe = 0; pipe < order->program->hw->pipe_count; pipe++)
        if (order_blocked(order, pipe) >= 0)
            return true;
    return false;
}

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
    TRY(overlap_event(&execution->overlap, event, findings, error));
    const struct overlap *overlap = &execution->overlap;
    return record_add(&execution->record, event, overlap->of_interest ? overlap->pairs : NULL,
                      overlap->bounds, error);
}

enum status execution_init(struct execution *execution, const struct program *program,
                           struct error *error)
{
    memset(execution, 0, sizeof *execution);
    execution->program = program;
    enum status status = nest_init(&execution->nest, program, error);
    if (status == STATUS_OK)
        status = order_init(&execution->order, program, &execution->nest, error);
    if (status == STATUS_OK)
        status = overlap_init(&execution->overlap, program, &execution->nest, error);
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
    enum status status = execution_init(execution, program, error);
    if (status != STATUS_OK)
        return status;
    execution->order.lenient = true;
    execution->order.back = back;
    status = take_events(execution, &ignored, error);
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

void execution_clear(struct execution *execution)
{
    fold_clear(&execution->fold);
    record_clear(&execution->record);
    overlap_clear(&execution->overlap);
    order_clear(&execution->order);
    nest_clear(&execution->nest);
}
