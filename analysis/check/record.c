/* Work that has to follow nothing is left out, but for the last of each pipe before a barrier. Sets
 * and waits are matched through a list per register as they come; lines that match go into one
 * group by union-find with path halving (Tarjan and van Leeuwen 1984). At the end each set gets a
 * slot for its clock, which its wait frees for another. */
#include "analysis/check/record.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

/* Of a chip, in use or not. */
static size_t all_registers(const struct record *record)
{
    const struct hardware *hw = record->program->hw;
    return (size_t)hw->pipe_count * (size_t)hw->pipe_count * (size_t)hardware_most_flags(hw);
}

static size_t register_of(const struct record *record, int32_t item)
{
    const struct hardware *hw = record->program->hw;
    const struct instruction *in = &record->program->items[item];
    return ((size_t)in->from * (size_t)hw->pipe_count + (size_t)in->to) *
               (size_t)hardware_most_flags(hw) +
           in->flag;
}

enum status record_init(struct record *record, const struct program *program, struct error *error)
{
    memset(record, 0, sizeof *record);
    record->program = program;
    size_t items = (size_t)program->count + 1, registers = all_registers(record) + 1;
    record->group = malloc(items * sizeof *record->group);
    record->fixed = calloc(items, sizeof *record->fixed);
    record->head = malloc(registers * sizeof *record->head);
    record->tail = malloc(registers * sizeof *record->tail);
    record->register_to = malloc(registers * sizeof *record->register_to);
    if (!record->group || !record->fixed || !record->head || !record->tail ||
        !record->register_to) {
        record_clear(record);
        return error_memory(error);
    }
    for (int32_t i = 0; i <= program->count; i++)
        record->group[i] = i;
    memset(record->counted, -1, sizeof record->counted);
    for (size_t i = 0; i < registers; i++)
        record->head[i] = record->tail[i] = -1;
    return STATUS_OK;
}

void record_clear(struct record *record)
{
    free(record->steps);
    free(record->needs);
    free(record->marks);
    free(record->waiting);
    free(record->group);
    free(record->fixed);
    free(record->head);
    free(record->tail);
    free(record->register_to);
    memset(record, 0, sizeof *record);
}

/* The instruction that stands for all sets and waits matched with `item`, however indirectly. */
static int32_t group_of(struct record *record, int32_t item)
{
    while (record->group[item] != item)
        item = record->group[item] = record->group[record->group[item]];
    return item;
}

static enum status add_need(struct record *record, struct record_step *step,
                            const struct record_need *need, struct error *error)
{
    if (!array_room(&record->needs, record->need_count, sizeof *record->needs))
        return error_memory(error);
    record->needs[record->need_count++] = *need;
    step->need_count++;
    uint32_t *needed = &record->needed[step->pipe][need->pipe];
    *needed = need->number > *needed ? need->number : *needed;
    return STATUS_OK;
}

/* Only a bound that no earlier event of this pipe had already is news. */
static enum status add_needs(struct record *record, struct record_step *step,
                             const struct pair *pairs, const uint32_t *bounds, struct error *error)
{
    step->need = (int32_t)record->need_count;
    for (int8_t q = 0; q < record->program->hw->pipe_count; q++) {
        const struct pair *pair = &pairs[q];
        struct record_need need = {pair->number, pair->item, pair->piece, q, pair->buffer};
        if (need.number)
            TRY(add_need(record, step, &need, error));
        need = (struct record_need){bounds[q], -1, 0, q, -1};
        if (need.number > record->needed[step->pipe][q])
            TRY(add_need(record, step, &need, error));
    }
    return STATUS_OK;
}

/* A set goes to the end of its register's list; a wait takes the first, and joins their groups. */
static void match(struct record *record, struct record_step *step, int32_t at)
{
    size_t reg = register_of(record, step->item);
    if (step->kind == INSTRUCTION_SET) {
        if (record->head[reg] >= 0)
            record->steps[record->tail[reg]].slot = at; /* until record_close: the next set */
        else
            record->head[reg] = at;
        record->tail[reg] = at;
        return;
    }
    if (record->head[reg] < 0)
        return;
    struct record_step *set = &record->steps[record->head[reg]];
    step->partner = record->head[reg];
    set->partner = at;
    record->head[reg] = set->slot;
    record->group[group_of(record, step->item)] = group_of(record, set->item);
}

static enum status append(struct record *record, const struct record_step *step,
                          struct error *error)
{
    record->full |= record->count == RECORD_MAX_STEPS;
    if (!array_room(&record->steps, record->count, sizeof *record->steps))
        return error_memory(error);
    record->steps[record->count++] = *step;
    return STATUS_OK;
}

/* Work that was left out still ends before a barrier. */
static enum status show_work(struct record *record, struct error *error)
{
    for (int pipe = 0; pipe < record->program->hw->pipe_count; pipe++) {
        struct record_step *work = &record->left_out[pipe];
        if (work->number)
            TRY(append(record, work, error));
        work->number = 0;
    }
    return STATUS_OK;
}

static bool is_synchronisation(const struct instruction *in)
{
    return in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT ||
           in->kind == INSTRUCTION_BARRIER;
}

static enum status add_step(struct record *record, struct record_step *step, struct error *error)
{
    if (step->kind == INSTRUCTION_BARRIER) {
        TRY(show_work(record, error));
        return append(record, step, error);
    }
    bool blocks = record->program->hw->pipes[step->pipe].blocks_dispatch;
    if (step->kind == INSTRUCTION_MOVE && step->need_count == 0 && !blocks) {
        record->left_out[step->pipe] = *step;
        return STATUS_OK;
    }
    record->left_out[step->pipe].number = 0;
    enum status status = append(record, step, error);
    if (status == STATUS_OK && step->kind != INSTRUCTION_MOVE)
        match(record, &record->steps[record->count - 1], (int32_t)record->count - 1);
    return status;
}

/* A wait that was dispatched before some blocking instruction that has run since keeps what is
 * behind it after that one, which clocks do not tell apart: such a wait has to stay. */
enum status record_add(struct record *record, const struct event *event, const struct pair *pairs,
                       const uint32_t *bounds, struct error *error)
{
    const struct instruction *in = &record->program->items[event->item];
    struct record_step step = {.item = event->item,
                               .slot = -1,
                               .partner = -1,
                               .pipe = (int8_t)event->pipe,
                               .kind = INSTRUCTION_MOVE};
    if (record->full)
        return STATUS_OK;
    if (is_synchronisation(in))
        step.kind = in->kind;
    if (step.kind == INSTRUCTION_SET)
        step.seen = event->clock[in->to];
    record->fixed[event->item] |= event->overtaken;
    if (event->pipe != PROGRAM_PIPE_ALL)
        step.number = record->numbers[event->pipe] = event->clock[event->pipe];
    if (event->pipe != PROGRAM_PIPE_ALL && pairs)
        TRY(add_needs(record, &step, pairs, bounds, error));
    return add_step(record, &step, error);
}

/* The outermost loop that is open, or the instruction at which nothing more is dispatched. */
static int32_t first_unfinished(const struct order *order)
{
    int32_t item = order->halted ? order->next - 1 : order->program->count;
    for (int32_t loop = order->halted ? order->nest->parent[item] : -1; loop >= 0;
         loop = order->nest->parent[loop])
        item = loop;
    return item;
}

/* Have all sets of the register run, and all waits that have a set? */
static bool is_finished(const struct flags *flags, const struct instruction *in)
{
    const struct flag_register *reg = &flags->registers[flags_index(flags, in)];
    int64_t matched = reg->total_sets < reg->total_waits ? reg->total_sets : reg->total_waits;
    return reg->sets == reg->total_sets && reg->waits == matched;
}

/* Synchronisation that has not run to its end stays: nobody knows what it would still order. */
static void fix_unfinished(struct record *record, const struct order *order)
{
    int32_t unfinished = first_unfinished(order);
    for (int32_t i = 0; i < record->program->count; i++) {
        const struct instruction *in = &record->program->items[i];
        if (in->kind == INSTRUCTION_BARRIER)
            record->fixed[i] |= i >= unfinished;
        else if (in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT)
            record->fixed[i] |= !is_finished(&order->flags, in);
    }
}

enum status record_cut(struct record *record, const struct order *order, struct error *error)
{
    static const struct pair none[HARDWARE_MAX_PIPES];
    fix_unfinished(record, order);
    for (int8_t pipe = 0; pipe < record->program->hw->pipe_count && !record->full; pipe++) {
        struct record_step step = {.item = record->program->count,
                                   .number = record->numbers[pipe],
                                   .slot = -1,
                                   .partner = -1,
                                   .pipe = pipe,
                                   .kind = INSTRUCTION_MOVE};
        uint32_t known[HARDWARE_MAX_PIPES];
        memcpy(known, order->clock[pipe], sizeof known);
        known[pipe] = 0;
        TRY(add_needs(record, &step, none, known, error));
        TRY(append(record, &step, error));
    }
    return STATUS_OK;
}

void record_mark(struct record *record, int depth, bool first, bool last)
{
    if (!array_room(&record->marks, record->mark_count, sizeof *record->marks)) {
        record->full = true;
        return;
    }
    record->marks[record->mark_count] =
        (struct record_mark){.at = record->count,
                             .before = first ? -1 : record->last_mark[depth],
                             .depth = (int8_t)depth,
                             .last = last};
    record->last_mark[depth] = record->mark_count;
    if (last && !record->folded)
        memcpy(record->counted, record->numbers, sizeof record->counted);
    memcpy(record->marks[record->mark_count++].numbers, record->numbers, sizeof record->numbers);
    record->folded |= last;
}

/* The slots in use, oldest first: a ring of links through RECORD_MAX_SLOTS, its head and tail. */
struct slot_list {
    int32_t next[RECORD_MAX_SLOTS + 1], before[RECORD_MAX_SLOTS + 1];
};

static void link_slot(struct slot_list *list, int32_t slot)
{
    int32_t newest = list->before[RECORD_MAX_SLOTS];
    list->next[newest] = list->before[RECORD_MAX_SLOTS] = slot;
    list->before[slot] = newest;
    list->next[slot] = RECORD_MAX_SLOTS;
}

static void unlink_slot(struct slot_list *list, int32_t slot)
{
    list->next[list->before[slot]] = list->next[slot];
    list->before[list->next[slot]] = list->before[slot];
}

static bool note_waiting(struct record *record, struct record_mark *mark,
                         const struct slot_list *list)
{
    mark->first_slot = (int32_t)record->waiting_count;
    for (int32_t slot = list->next[RECORD_MAX_SLOTS]; slot != RECORD_MAX_SLOTS;
         slot = list->next[slot]) {
        if (!array_room(&record->waiting, record->waiting_count, sizeof *record->waiting))
            return false;
        record->waiting[record->waiting_count++] = slot;
        mark->slot_count++;
    }
    return true;
}

/* Sets keep their clocks from the set to its wait in as few places as possible. */
static void give_slots(struct record *record)
{
    int32_t unused[RECORD_MAX_SLOTS], unused_count = 0;
    struct slot_list list;
    int64_t mark = 0;
    list.next[RECORD_MAX_SLOTS] = list.before[RECORD_MAX_SLOTS] = RECORD_MAX_SLOTS;
    for (int64_t i = 0; i < record->count && !record->full; i++) {
        struct record_step *step = &record->steps[i];
        for (; mark < record->mark_count && record->marks[mark].at == i; mark++)
            record->full |= !note_waiting(record, &record->marks[mark], &list);
        if (step->kind == INSTRUCTION_SET) {
            step->slot = -1;
            if (step->partner < 0)
                continue;
            if (unused_count)
                step->slot = unused[--unused_count];
            else if (record->slot_count < RECORD_MAX_SLOTS)
                step->slot = record->slot_count++;
            else
                record->full = true;
            if (step->slot >= 0)
                link_slot(&list, step->slot);
        } else if (step->kind == INSTRUCTION_WAIT && step->partner >= 0) {
            step->slot = record->steps[step->partner].slot;
            unused[unused_count++] = step->slot;
            unlink_slot(&list, step->slot);
        }
    }
}

/* A flag none of whose sets meets a wait stays: what is wrong with it is a finding of its own. */
static enum status fix_unmatched(struct record *record, struct error *error)
{
    bool *matched = calloc((size_t)record->program->count + 1, sizeof *matched);
    if (!matched)
        return error_memory(error);
    for (int64_t i = 0; i < record->count; i++)
        if (record->steps[i].partner >= 0)
            matched[record->steps[i].group] = true;
    for (int32_t i = 0; i < record->program->count; i++) {
        int kind = record->program->items[i].kind;
        if ((kind == INSTRUCTION_SET || kind == INSTRUCTION_WAIT) && !matched[record->group[i]])
            record->fixed[i] = true;
    }
    free(matched);
    return STATUS_OK;
}

/* What replays ask of steps again and again: groups, and registers among those in use. */
static void resolve(struct record *record)
{
    memset(record->head, -1, (all_registers(record) + 1) * sizeof *record->head);
    for (int32_t i = 0; i < record->program->count; i++)
        record->group[i] = group_of(record, i);
    for (int64_t i = 0; i < record->count; i++) {
        struct record_step *step = &record->steps[i];
        step->group = record->group[step->item];
        step->blocks = step->pipe >= 0 && record->program->hw->pipes[step->pipe].blocks_dispatch;
        if (step->kind != INSTRUCTION_SET && step->kind != INSTRUCTION_WAIT)
            continue;
        int32_t *number = &record->head[register_of(record, step->item)];
        if (*number < 0) {
            record->register_to[record->register_count] =
                (int8_t)record->program->items[step->item].to;
            *number = record->register_count++;
        }
        step->reg = *number;
    }
}

enum status record_close(struct record *record, struct error *error)
{
    bool *again = calloc(all_registers(record) + 1, sizeof *again);
    if (!again)
        return error_memory(error);
    give_slots(record);
    resolve(record);
    for (int64_t i = record->count - 1; i >= 0 && !record->full; i--) {
        struct record_step *step = &record->steps[i];
        if (step->kind == INSTRUCTION_SET)
            again[step->reg] = true;
        else if (step->kind == INSTRUCTION_WAIT)
            step->last_wait = !again[step->reg];
    }
    free(again);
    enum status status = fix_unmatched(record, error);
    for (int32_t i = 0; i < record->program->count; i++)
        if (record->fixed[i])
            record->fixed[record->group[i]] = true;
    return status;
}
