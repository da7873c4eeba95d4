#include "analysis/check/oversync_search.h"
#include "analysis/check/witness.h"

#include <stdio.h>
#include <stdlib.h>

#define WALK_MAX_STEPS 100000000LL /* looking for witnesses, of all findings together */

/* How something is known: the synchronisation on the way, in order; too long a way is cut. */
struct way {
    bool known;
    int count;
    int32_t items[WITNESS_MAX_STEPS];
};

struct walk {
    const struct record *record;
    const bool *gone; /* per instruction: superfluous */
    struct way pipes[HARDWARE_MAX_PIPES];
    struct way *slots;
    int64_t budget;
};

static void go_on(struct way *to, const struct way *from, int32_t item)
{
    if (!from->known || to->known)
        return;
    *to = *from;
    if (to->count < WITNESS_MAX_STEPS)
        to->items[to->count++] = item;
}

static void pass_to_all(struct walk *walk, int from, int32_t item)
{
    for (int pipe = 0; pipe < walk->record->program->hw->pipe_count; pipe++)
        go_on(&walk->pipes[pipe], &walk->pipes[from], item);
}

/* Spreads what is known over one step. */
static void spread(struct walk *walk, const struct record_step *step)
{
    const struct hardware *hw = walk->record->program->hw;
    if (step->kind == INSTRUCTION_SET && step->slot >= 0) {
        walk->slots[step->slot].known = false;
        if (!walk->gone[step->item])
            go_on(&walk->slots[step->slot], &walk->pipes[step->pipe], step->item);
    } else if (step->kind == INSTRUCTION_WAIT) {
        go_on(&walk->pipes[step->pipe], &walk->slots[step->slot], step->item);
    } else if (step->kind == INSTRUCTION_BARRIER && !walk->gone[step->item]) {
        for (int pipe = 0; pipe < hw->pipe_count; pipe++)
            pass_to_all(walk, pipe, step->item);
    }
    if (step->pipe != PROGRAM_PIPE_ALL && hw->pipes[step->pipe].blocks_dispatch)
        pass_to_all(walk, step->pipe, step->item);
}

/* How pipe `to` knows of event `number` of pipe `from` before step `until`. */
static struct way find_way(struct walk *walk, int from, uint32_t number, int64_t until)
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
        spread(walk, step);
    }
    return walk->pipes[to];
}

/* The first pair of accesses that the synchronisation at step `at` stands between: for a wait those
 * of its two pipes, for a barrier of any. False when there is none, or it is too far. */
static bool find_pair(struct walk *walk, int64_t at, int64_t *later,
                      const struct record_need **need)
{
    const struct record *record = walk->record;
    const struct record_step *wait = &record->steps[at];
    uint32_t before[HARDWARE_MAX_PIPES] = {0};
    for (int64_t i = 0; i < at; i++, walk->budget--)
        if (record->steps[i].pipe != PROGRAM_PIPE_ALL && wait->kind == INSTRUCTION_BARRIER)
            before[record->steps[i].pipe] = record->steps[i].number;
    if (wait->kind == INSTRUCTION_WAIT) {
        const struct record_step *set = &record->steps[wait->partner];
        before[set->pipe] = set->number;
    }
    for (int64_t i = at + 1; i < record->count && walk->budget > 0; i++, walk->budget--) {
        const struct record_step *step = &record->steps[i];
        if (wait->kind == INSTRUCTION_WAIT && step->pipe != wait->pipe)
            continue;
        for (int n = 0; n < step->need_count; n++) {
            *need = &record->needs[step->need + n];
            *later = i;
            if ((*need)->number <= before[(*need)->pipe])
                return true;
        }
    }
    return false;
}

static void find_witness(struct walk *walk, const struct nest *nest, int64_t at,
                         struct witness *witness)
{
    const struct program *program = walk->record->program;
    const struct record_need *need;
    int64_t later;
    if (at < 0 || walk->budget <= 0 || !find_pair(walk, at, &later, &need))
        return;
    struct way way = find_way(walk, need->pipe, need->number, later);
    if (!way.known)
        return;
    witness->access_count = 2;
    witness_of_event(&witness->accesses[0], program, need->pipe, false, need->number);
    witness_of_index(&witness->accesses[1], program, nest, walk->record->steps[later].item, false,
                     NULL);
    for (int i = 0; i < way.count; i++)
        witness->steps[witness->step_count++] = way.items[i];
}

/* The first wait or barrier of a unit that is played, as a step; -1 for a barrier of one pipe. */
static int64_t first_step(const struct oversync *found, const struct oversync_unit *unit,
                          const int64_t *first)
{
    for (int32_t i = unit->first; i < unit->first + unit->count; i++)
        if (first[found->items[i]] >= 0)
            return first[found->items[i]];
    return -1;
}

static int say_what(const struct program *program, const struct oversync *found,
                    const struct oversync_unit *unit, char *text, size_t size)
{
    const struct instruction *in = &program->items[found->items[unit->first]];
    const struct pipe *pipes = program->hw->pipes;
    if (in->kind == INSTRUCTION_BARRIER)
        return snprintf(text, size, "the barrier in line %d orders ", in->line);
    return snprintf(text, size, "flag %s %s %d of line %d orders ", pipes[in->from].name,
                    pipes[in->to].name, in->flag, in->line);
}

static void say_why(const struct program *program, const struct instruction *in,
                    const struct witness *witness, char *text, size_t size)
{
    if (in->kind == INSTRUCTION_BARRIER && in->pipe != PROGRAM_PIPE_ALL) {
        snprintf(text, size, "%s only, which keeps its order anyway; remove it",
                 program->hw->pipes[in->pipe].name);
    } else if (witness->access_count == 2) {
        snprintf(text, size,
                 "nothing new: lines %d and %d, for one, are in order without it; remove it",
                 program->items[witness->accesses[0].item].line,
                 program->items[witness->accesses[1].item].line);
    } else {
        snprintf(text, size, "no two accesses to the same bytes; remove it");
    }
}

static void say(struct walk *walk, const struct nest *nest, const struct oversync *found,
                const struct oversync_unit *unit, const int64_t *first, struct findings *findings)
{
    const struct program *program = walk->record->program;
    const struct instruction *in = &program->items[found->items[unit->first]];
    int32_t lines[FINDING_MAX_LINES];
    int count = 0;
    for (int32_t i = 0; i < unit->count && count < FINDING_MAX_LINES; i++)
        lines[count++] = program->items[found->items[unit->first + i]].line;
    struct finding *finding = findings_add(findings, FINDING_OVER_SYNC, lines, count);
    if (!finding)
        return;
    find_witness(walk, nest, first_step(found, unit, first), &finding->witness);
    int used = say_what(program, found, unit, finding->text, sizeof finding->text);
    say_why(program, in, &finding->witness, finding->text + used,
            sizeof finding->text - (size_t)used);
}

/* The first step of every wait and barrier; -1 for others. */
static void list_first_steps(const struct record *record, int64_t *first)
{
    for (int32_t i = 0; i < record->program->count; i++)
        first[i] = -1;
    for (int64_t i = record->count - 1; i >= 0 && !record->full; i--)
        if (record->steps[i].kind == INSTRUCTION_WAIT ||
            record->steps[i].kind == INSTRUCTION_BARRIER)
            first[record->steps[i].item] = i;
}

enum status oversync_report(struct play *play, struct findings *findings, struct error *error)
{
    struct oversync found;
    size_t items = (size_t)play->program->count + 1;
    enum status status = oversync_search(play, &found, error);
    if (status != STATUS_OK)
        return status;
    bool *gone = calloc(items, sizeof *gone);
    int64_t *first = malloc(items * sizeof *first);
    struct way *slots = calloc((size_t)play->record.slot_count + 1, sizeof *slots);
    struct walk walk = {
        .record = &play->record, .gone = gone, .slots = slots, .budget = WALK_MAX_STEPS};
    if (!gone || !first || !slots)
        status = error_memory(error);
    for (int32_t i = 0; i < found.item_count && status == STATUS_OK; i++)
        gone[found.items[i]] = true;
    if (status == STATUS_OK)
        list_first_steps(&play->record, first);
    for (int32_t i = 0; i < found.unit_count && status == STATUS_OK; i++)
        say(&walk, &play->nest, &found, &found.units[i], first, findings);
    free(gone);
    free(first);
    free(slots);
    oversync_clear(&found);
    return status;
}
