/* Puts what the search says may go into words: what the unit is, then why, from a table by reason,
 * with the lines of two accesses that it orders, and what orders them all the same.
 *
 * These are found in two walks over the record. The first follows what each pipe knows, in all and
 * by way of the unit, up to two accesses that are in order by way of the unit. The second, without
 * all that is superfluous, spreads from the earlier access the synchronisation by which it becomes
 * known, until the later one's pipe knows: that way is the witness. */
#include "analysis/check/oversync_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ witnesses */

#define WALK_MAX_STEPS 100000000LL /* looking for witnesses, of all findings together */

/* How something is known: the synchronisation on the way, in order, which passes a pipe but once.
 */
struct way {
    bool known;
    int count;
    int32_t items[WITNESS_MAX_STEPS];
};

/* Events that are known to have happened, per pipe: in all, and by way of one unit. */
struct known {
    uint32_t all[HARDWARE_MAX_PIPES], by_unit[HARDWARE_MAX_PIPES];
};

struct oversync_walk {
    const struct record *record;
    const struct overlap *overlap;
    const struct oversync *found;
    bool *gone;    /* per instruction: superfluous */
    bool *in_unit; /* … of the unit at hand */
    struct way pipes[HARDWARE_MAX_PIPES];
    struct way *slots;   /* per slot of the record */
    struct known *known; /* the same */
    int64_t budget;      /* of steps, for all units together */
};

static void pass_on(struct way *to, const struct way *from, int32_t item)
{
    if (!from->known || to->known)
        return;
    *to = *from;
    if (to->count < WITNESS_MAX_STEPS)
        to->items[to->count++] = item;
}

static void pass_to_all(struct oversync_walk *walk, int from, int32_t item)
{
    for (int pipe = 0; pipe < walk->record->program->hw->pipe_count; pipe++)
        pass_on(&walk->pipes[pipe], &walk->pipes[from], item);
}

/* Spreads what is known over one step. */
static void spread_step(struct oversync_walk *walk, const struct record_step *step)
{
    const struct hardware *hw = walk->record->program->hw;
    if (step->kind == INSTRUCTION_SET && step->slot >= 0) {
        walk->slots[step->slot].known = false;
        if (!walk->gone[step->item])
            pass_on(&walk->slots[step->slot], &walk->pipes[step->pipe], step->item);
    } else if (step->kind == INSTRUCTION_WAIT && step->slot >= 0) {
        pass_on(&walk->pipes[step->pipe], &walk->slots[step->slot], step->item);
    } else if (step->kind == INSTRUCTION_BARRIER && !walk->gone[step->item]) {
        for (int pipe = 0; pipe < hw->pipe_count; pipe++)
            pass_to_all(walk, pipe, step->item);
    }
    if (step->pipe != PROGRAM_PIPE_ALL && hw->pipes[step->pipe].blocks_dispatch)
        pass_to_all(walk, step->pipe, step->item);
}

/* How pipe `to` knows of event `number` of pipe `from` before step `until`. */
static struct way find_way(struct oversync_walk *walk, int from, uint32_t number, int64_t until)
{
    const struct record *record = walk->record;
    int to = record->steps[until].pipe;
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++)
        walk->pipes[pipe] = (struct way){0};
    for (int slot = 0; slot < record->slot_count; slot++)
        walk->slots[slot].known = false;
    for (int64_t i = 0; i <= until && !walk->pipes[to].known; i++, walk->budget--) {
        const struct record_step *step = &record->steps[i];
        if (step->pipe == from && step->number >= number)
            walk->pipes[from].known = true;
        spread_step(walk, step);
    }
    return walk->pipes[to];
}

/* By way of the unit goes all that passes through it, and what came through it before. */
static void learn(struct known *to, const struct known *from, bool by_unit)
{
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++) {
        uint32_t more = by_unit ? from->all[pipe] : from->by_unit[pipe];
        if (from->all[pipe] > to->all[pipe])
            to->all[pipe] = from->all[pipe];
        if (more > to->by_unit[pipe])
            to->by_unit[pipe] = more;
    }
}

/* Two accesses in order: the later one, a step, and the event that it has to follow. */
struct ordered {
    int64_t later;
    const struct record_need *need;
};

/* What each pipe knows, step by step, and what it had to know already. */
struct tracing {
    const struct record *record;
    const bool *in_unit; /* per instruction */
    struct known pipes[HARDWARE_MAX_PIPES];
    struct known *slots; /* sets whose waits are still to come */
    struct ordered needed[HARDWARE_MAX_PIPES]
                         [HARDWARE_MAX_PIPES]; /* the last one; need NULL: none */
};

static void trace_barrier(struct tracing *tracing, bool by_unit)
{
    struct known all = {{0}, {0}};
    int pipes = tracing->record->program->hw->pipe_count;
    for (int pipe = 0; pipe < pipes; pipe++)
        learn(&all, &tracing->pipes[pipe], by_unit);
    for (int pipe = 0; pipe < pipes; pipe++)
        tracing->pipes[pipe] = all;
}

static void trace_step(struct tracing *tracing, const struct record_step *step)
{
    const struct hardware *hw = tracing->record->program->hw;
    if (step->kind == INSTRUCTION_BARRIER) {
        trace_barrier(tracing, tracing->in_unit[step->item]);
        return;
    }
    struct known *own = &tracing->pipes[step->pipe];
    own->all[step->pipe] = step->number;
    if (step->kind == INSTRUCTION_SET && step->slot >= 0)
        tracing->slots[step->slot] = *own;
    else if (step->kind == INSTRUCTION_WAIT && step->slot >= 0)
        learn(own, &tracing->slots[step->slot], tracing->in_unit[step->item]);
    if (hw->pipes[step->pipe].blocks_dispatch)
        for (int pipe = 0; pipe < hw->pipe_count; pipe++)
            learn(&tracing->pipes[pipe], own, false);
}

/* Two of which a pipe knows by way of the unit, too, where it had to follow the other pipe anyway:
 * the record leaves out what comes later and needs no more than that. */
static bool find_known_pair(const struct tracing *tracing, struct ordered *pair)
{
    for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++)
        for (int other = 0; other < HARDWARE_MAX_PIPES; other++) {
            const struct ordered *needed = &tracing->needed[pipe][other];
            if (!needed->need || !tracing->pipes[pipe].by_unit[other])
                continue;
            *pair = *needed;
            return true;
        }
    return false;
}

/* The first two accesses that are in order by way of the unit. */
static enum oversync_reason find_pair(struct oversync_walk *walk, struct ordered *pair)
{
    const struct record *record = walk->record;
    struct tracing tracing = {.record = record, .in_unit = walk->in_unit, .slots = walk->known};
    for (int64_t i = 0; i < record->count; i++) {
        const struct record_step *step = &record->steps[i];
        if (walk->budget-- <= 0)
            return OVERSYNC_UNKNOWN;
        trace_step(&tracing, step);
        for (int n = 0; n < step->need_count; n++) {
            const struct record_need *need = &record->needs[step->need + n];
            if (need->item < 0)
                continue;
            *pair = (struct ordered){i, need};
            if (tracing.pipes[step->pipe].by_unit[need->pipe] >= need->number)
                return OVERSYNC_ORDERED;
            tracing.needed[step->pipe][need->pipe] = *pair;
        }
    }
    return find_known_pair(&tracing, pair) ? OVERSYNC_ORDERED_BEFORE : OVERSYNC_NO_CONFLICT;
}

/* Which iteration it is can be said of events that have the numbers of the whole program. */
static void put_access(const struct record *record, int32_t item, int pipe, uint32_t number,
                       struct witness_access *access)
{
    if (number <= record->counted[pipe])
        witness_of_event(access, record->program, pipe, false, number);
    else
        witness_of_index(access, record->program, NULL, item, false, NULL);
}

/* The bytes that both touch; where an operand is left out, anywhere in the buffer. */
static void put_bytes(const struct oversync_walk *walk, const struct record_need *need,
                      struct witness *witness)
{
    const int64_t *sorted = walk->overlap->maps[need->buffer].cuts.sorted;
    bool whole = need->piece == PAIR_WHOLE;
    witness->buffer = need->buffer;
    witness->low = whole ? 0 : sorted[need->piece];
    witness->high = whole ? walk->record->program->hw->buffers[need->buffer].capacity_bytes
                          : sorted[need->piece + 1];
}

static enum oversync_reason find_witness(struct oversync_walk *walk, struct witness *witness)
{
    struct ordered pair;
    enum oversync_reason reason = find_pair(walk, &pair);
    if (reason != OVERSYNC_ORDERED && reason != OVERSYNC_ORDERED_BEFORE)
        return reason;
    struct way way = find_way(walk, pair.need->pipe, pair.need->number, pair.later);
    if (!way.known)
        return OVERSYNC_UNKNOWN;
    const struct record_step *later = &walk->record->steps[pair.later];
    witness->access_count = 2;
    put_access(walk->record, pair.need->item, pair.need->pipe, pair.need->number,
               &witness->accesses[0]);
    put_access(walk->record, later->item, later->pipe, later->number, &witness->accesses[1]);
    put_bytes(walk, pair.need, witness);
    for (int i = 0; i < way.count; i++)
        witness->steps[witness->step_count++] = way.items[i];
    return reason;
}

static bool is_of_one_pipe(const struct instruction *in)
{
    return in->kind == INSTRUCTION_BARRIER && in->pipe != PROGRAM_PIPE_ALL;
}

/* Fills reason, accesses and steps of an empty witness. */
static void oversync_witness(struct oversync_walk *walk, const struct oversync_unit *unit,
                             struct witness *witness)
{
    const int32_t *items = &walk->found->items[unit->first];
    if (is_of_one_pipe(&walk->record->program->items[items[0]])) {
        witness->reason = OVERSYNC_SAME_PIPE;
        return;
    }
    for (int32_t i = 0; i < unit->count; i++)
        walk->in_unit[items[i]] = true;
    witness->reason = find_witness(walk, witness);
    for (int32_t i = 0; i < unit->count; i++)
        walk->in_unit[items[i]] = false;
}

static void oversync_walk_clear(struct oversync_walk *walk)
{
    free(walk->gone);
    free(walk->in_unit);
    free(walk->slots);
    free(walk->known);
    *walk = (struct oversync_walk){0};
}

/* After a failure there is nothing to clear. */
static enum status oversync_walk_init(struct oversync_walk *walk, const struct execution *execution,
                                      const struct oversync *found, struct error *error)
{
    const struct record *record = &execution->record;
    size_t items = (size_t)record->program->count + 1, slots = (size_t)record->slot_count + 1;
    *walk = (struct oversync_walk){
        .record = record, .overlap = &execution->overlap, .found = found, .budget = WALK_MAX_STEPS};
    walk->gone = calloc(items, sizeof *walk->gone);
    walk->in_unit = calloc(items, sizeof *walk->in_unit);
    walk->slots = calloc(slots, sizeof *walk->slots);
    walk->known = calloc(slots, sizeof *walk->known);
    if (!walk->gone || !walk->in_unit || !walk->slots || !walk->known) {
        oversync_walk_clear(walk);
        return error_memory(error);
    }
    for (int32_t i = 0; i < found->item_count; i++)
        walk->gone[found->items[i]] = true;
    return STATUS_OK;
}

/* ------------------------------------------------------------------ words */

static int say_what(const struct program *program, const struct instruction *in, char *text,
                    size_t size)
{
    const struct pipe *pipes = program->hw->pipes;
    if (in->kind == INSTRUCTION_BARRIER)
        return snprintf(text, size, "the barrier in line %d orders %s", in->line,
                        in->pipe == PROGRAM_PIPE_ALL ? "" : pipes[in->pipe].name);
    return snprintf(text, size, "flag %s %s %d of line %d orders ", pipes[in->from].name,
                    pipes[in->to].name, in->flag, in->line);
}

/* With the two accesses, where the witness has them, in the middle. */
static void say_why(const struct program *program, const struct witness *witness, char *text,
                    size_t size)
{
    static const char *const words[OVERSYNC_REASONS][2] = {
        [OVERSYNC_UNKNOWN] = {"nothing new", ""},
        [OVERSYNC_ORDERED] = {"nothing new: ", ", for one, are in order without it"},
        [OVERSYNC_ORDERED_BEFORE] =
            {"no two accesses to the same bytes that were not in order before, as ", " are"},
        [OVERSYNC_NO_CONFLICT] = {"no two accesses to the same bytes", ""},
        [OVERSYNC_SAME_PIPE] = {" only, which keeps its order anyway", ""},
    };
    char lines[64] = "";
    if (witness->access_count == 2)
        snprintf(lines, sizeof lines, "lines %d and %d",
                 program->items[witness->accesses[0].item].line,
                 program->items[witness->accesses[1].item].line);
    snprintf(text, size, "%s%s%s; remove it", words[witness->reason][0], lines,
             words[witness->reason][1]);
}

static void add_unit_finding(const struct program *program, struct oversync_walk *walk,
                             const struct oversync_unit *unit, struct findings *findings)
{
    const int32_t *items = &walk->found->items[unit->first];
    int32_t lines[FINDING_MAX_LINES];
    int count = 0;
    for (int32_t i = 0; i < unit->count && count < FINDING_MAX_LINES; i++)
        lines[count++] = program->items[items[i]].line;
    struct finding *finding = findings_add(findings, FINDING_OVER_SYNC, lines, count);
    if (!finding)
        return;
    oversync_witness(walk, unit, &finding->witness);
    int used = say_what(program, &program->items[items[0]], finding->text, sizeof finding->text);
    say_why(program, &finding->witness, finding->text + used, sizeof finding->text - (size_t)used);
}

enum status oversync_add(struct execution *execution, struct findings *findings,
                         struct error *error)
{
    struct oversync found;
    struct oversync_walk walk;
    enum status status = oversync_search(execution, &found, error);
    if (status != STATUS_OK)
        return status;
    status = oversync_walk_init(&walk, execution, &found, error);
    if (status == STATUS_OK) {
        for (int32_t i = 0; i < found.unit_count; i++)
            add_unit_finding(execution->program, &walk, &found.units[i], findings);
        oversync_walk_clear(&walk);
    }
    oversync_clear(&found);
    return status;
}
