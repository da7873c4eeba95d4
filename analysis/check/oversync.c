/* Greedy: units are tried in the order in which they first run, and one that can go is gone for
 * those after it. A unit is tried on two replays side by side, with it and without it, that start
 * where it first runs: they end when the one without it breaks an order that matters (the unit has
 * to stay), or when the unit is past and both stand in the same state, since nothing differs from
 * there on, or at the end of the record (it can go).
 *
 * What could not go may be free to go later only when it kept two sets of a register apart of which
 * one has gone since; so the walks are repeated for what did until nothing goes.
 *
 * Every order of a part of the synchronisation is a part of the whole order, so the order in which
 * the whole program was executed serves for all parts, and events keep their numbers. A replay's
 * state is one array of numbers, so that copying and comparing it is one call. */
#include "analysis/check/oversync.h"

#include "analysis/check/oversync_search.h"

#include <stdlib.h>
#include <string.h>

#define OVERSYNC_MAX_STEPS 1000000000LL /* of all replays together */

/* ------------------------------------------------------------------ replays */

/* Vector clocks of a record without some of its synchronisation. */
struct replay {
    const struct record *record;
    int64_t at; /* the next step */
    int pipes;
    bool lost; /* the last step did not come after an access that it has to come after */
    size_t state_count;
    uint32_t *state; /* owned: clocks, by pipe; clocks of sets, by slot; by register, the number of
                        the last wait (0: no set will ask for it), and how many sets have had no
                        wait so far */
};

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

static uint32_t *pending_sets(const struct replay *replay, int32_t reg)
{
    return last_wait(replay, reg) + replay->record->register_count;
}

static enum status replay_init(struct replay *replay, const struct record *record,
                               struct error *error)
{
    int pipes = record->program->hw->pipe_count;
    *replay = (struct replay){.record = record, .pipes = pipes};
    replay->state_count =
        clocks_of(replay, record->slot_count) + 2 * (size_t)record->register_count;
    replay->state = calloc(replay->state_count + 1, sizeof *replay->state);
    return replay->state ? STATUS_OK : error_memory(error);
}

static void replay_clear(struct replay *replay)
{
    free(replay->state);
    replay->state = NULL;
}

/* Makes `to` stand where `from` stands, of the same record. */
static void replay_copy(struct replay *to, const struct replay *from)
{
    to->at = from->at;
    memcpy(to->state, from->state, from->state_count * sizeof *from->state);
}

/* Stand both at the same step, in the same state? What follows is then the same too. */
static bool replay_equal(const struct replay *a, const struct replay *b)
{
    return a->at == b->at && memcmp(a->state, b->state, a->state_count * sizeof *a->state) == 0;
}

/* The pipe of whose events a value of the state is a number. */
static int pipe_of_value(const struct replay *replay, size_t i)
{
    size_t clocks = clocks_of(replay, replay->record->slot_count);
    if (i < clocks)
        return (int)i % replay->pipes;
    return replay->record->register_to[(i - clocks) % (size_t)replay->record->register_count];
}

/* Writes the state at a mark of the record to out[0, state_count), sets by age instead of by slot.
 */
static void replay_state_at(const struct replay *replay, const struct record_mark *mark,
                            uint32_t *out)
{
    size_t clocks = clocks_of(replay, 0), row = (size_t)replay->pipes;
    size_t slots = clocks_of(replay, replay->record->slot_count) - clocks;
    memcpy(out, replay->state, replay->state_count * sizeof *out);
    memset(&out[clocks], 0, slots * sizeof *out);
    for (int32_t i = 0; i < mark->slot_count; i++)
        memcpy(&out[clocks + (size_t)i * row],
               slot_of(replay, replay->record->waiting[mark->first_slot + i]), row * sizeof *out);
}

/* Of two such states at marks of a folded loop: has every number stayed or grown with its pipe's
 * events, of which `grown` came in between? */
static bool replay_recurs(const struct replay *replay, const uint32_t *then, const uint32_t *now,
                          const uint32_t *grown)
{
    for (size_t i = 0; i < replay->state_count; i++) {
        uint32_t more = now[i] - then[i];
        if (more && more != grown[pipe_of_value(replay, i)])
            return false;
    }
    return true;
}

static void join_clock(const struct replay *replay, uint32_t *clock, const uint32_t *other)
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
    uint32_t *sets = pending_sets(replay, step->reg);
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
        --*pending_sets(replay, step->reg);
        join_clock(replay, clock_of(replay, step->pipe), set);
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
        join_clock(replay, all, clock_of(replay, pipe));
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

/* Takes the step at replay->at, or only passes it when it is `gone` (a set, wait or barrier that
 * has been taken out). False when its order is not what it has to be. Where that is `lost`, it is
 * with still less synchronisation, too; a set that comes too early is none once its wait is gone.
 */
static bool replay_step(struct replay *replay, bool gone)
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
            join_clock(replay, clock_of(replay, pipe), clock);
    return allowed && !replay->lost;
}

/* ------------------------------------------------------------------ search */

struct search {
    struct record *record;
    const struct nest *nest;
    int64_t *first, *last; /* per group: steps; -1: does not run */
    bool *removed;         /* per instruction */
    bool *needed;          /* per group: an access would lose its order, whatever else goes */
    struct replay base, with, without;
    int64_t budget; /* of steps; 0 once it was stopped, too */
    const struct stop *stop;
    bool stopped;
    uint32_t *then[PROGRAM_MAX_DEPTH]; /* the replay's state a period ago */
    uint32_t *now;
    int periods[PROGRAM_MAX_DEPTH]; /* that have come alike since something changed */
    int64_t mark;                   /* the next one of the record */
};

static enum status search_init(struct search *search, struct execution *execution,
                               struct error *error)
{
    size_t items = (size_t)execution->program->count + 1;
    *search = (struct search){
        .record = &execution->record, .nest = &execution->nest, .stop = execution->stop};
    search->budget = OVERSYNC_MAX_STEPS;
    search->first = malloc(items * sizeof *search->first);
    search->last = malloc(items * sizeof *search->last);
    search->removed = calloc(items, sizeof *search->removed);
    search->needed = calloc(items, sizeof *search->needed);
    if (!search->first || !search->last || !search->removed || !search->needed)
        return error_memory(error);
    for (size_t i = 0; i < items; i++)
        search->first[i] = search->last[i] = -1;
    for (int64_t i = 0; i < execution->record.count; i++) {
        int32_t group = execution->record.steps[i].group;
        if (search->first[group] < 0)
            search->first[group] = i;
        search->last[group] = i;
    }
    TRY(replay_init(&search->base, &execution->record, error));
    TRY(replay_init(&search->with, &execution->record, error));
    TRY(replay_init(&search->without, &execution->record, error));
    if (!(search->now = calloc(search->base.state_count + 1, sizeof(uint32_t))))
        return error_memory(error);
    for (int depth = 0; depth < PROGRAM_MAX_DEPTH; depth++) {
        search->then[depth] = calloc(search->base.state_count + 1, sizeof(uint32_t));
        if (!search->then[depth])
            return error_memory(error);
    }
    return STATUS_OK;
}

static void search_clear(struct search *search)
{
    free(search->first);
    free(search->last);
    free(search->removed);
    free(search->needed);
    free(search->now);
    for (int depth = 0; depth < PROGRAM_MAX_DEPTH; depth++)
        free(search->then[depth]);
    replay_clear(&search->base);
    replay_clear(&search->with);
    replay_clear(&search->without);
}

enum { LOOK_EVERY = 1024 }; /* steps, between two looks at the time; a power of two */

static void spend(struct search *search)
{
    search->budget--;
    if ((search->budget & (LOOK_EVERY - 1)) == 0 && stop_due(search->stop)) {
        search->stopped = true;
        search->budget = 0;
    }
}

static int32_t group_at(const struct search *search, int64_t at)
{
    return search->record->steps[at].group;
}

static bool is_removed(const struct search *search, int64_t at)
{
    return search->removed[group_at(search, at)];
}

/* How many periods back the last period of a folded loop still needs something. */
static int64_t periods_needed(const struct record *record, const struct record_mark *mark)
{
    const struct record_mark *before = &record->marks[mark->before];
    int64_t most = 2; /* a set looks back at the last wait of its register */
    for (int64_t i = before->at; i < mark->at; i++)
        for (int n = 0; n < record->steps[i].need_count; n++) {
            const struct record_need *need = &record->needs[record->steps[i].need + n];
            uint32_t once = mark->numbers[need->pipe] - before->numbers[need->pipe];
            int64_t back = once ? (mark->numbers[need->pipe] - need->number) / once + 1 : 0;
            most = back > most ? back : most;
        }
    return most;
}

/* In a folded loop only some periods are replayed, and the others have to be like them: every
 * number has stayed or grown in as many periods as anything looks back. One that stayed so long
 * without breaking any order is never asked for again. False when that cannot be said. */
static bool pass_mark(struct search *search)
{
    const struct record *record = search->record;
    const struct record_mark *mark = &record->marks[search->mark++];
    uint32_t grown[HARDWARE_MAX_PIPES], *then = search->then[mark->depth];
    int *periods = &search->periods[mark->depth];
    replay_state_at(&search->without, mark, search->now);
    if (mark->before < 0) {
        *periods = 0;
    } else {
        for (int pipe = 0; pipe < HARDWARE_MAX_PIPES; pipe++)
            grown[pipe] = mark->numbers[pipe] - record->marks[mark->before].numbers[pipe];
        *periods = replay_recurs(&search->without, then, search->now, grown) ? *periods + 1 : 0;
    }
    memcpy(then, search->now, search->without.state_count * sizeof *then);
    return !mark->last || *periods >= periods_needed(record, mark);
}

static void find_mark(struct search *search, int64_t at)
{
    const struct record *record = search->record;
    int64_t low = 0, high = record->mark_count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (record->marks[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    search->mark = low;
}

/* States are compared at growing distances, so that comparing never costs more than replaying. */
static bool can_go(struct search *search, int32_t group)
{
    const struct record *record = search->record;
    int64_t compare_at = search->last[group] + 1, distance = 1;
    replay_copy(&search->with, &search->base);
    replay_copy(&search->without, &search->base);
    find_mark(search, search->base.at);
    memset(search->periods, 0, sizeof search->periods);
    while (search->with.at < record->count && search->budget > 0) {
        int64_t at = search->with.at;
        while (search->mark < record->mark_count && record->marks[search->mark].at == at)
            if (!pass_mark(search))
                return false;
        bool gone = is_removed(search, at);
        spend(search);
        replay_step(&search->with, gone);
        if (!replay_step(&search->without, gone || group_at(search, at) == group)) {
            search->needed[group] = search->without.lost;
            return false;
        }
        if (at < compare_at)
            continue;
        if (replay_equal(&search->with, &search->without))
            return true;
        distance *= 2;
        compare_at = at + distance;
    }
    return search->budget > 0;
}

static bool is_tried(const struct search *search, int64_t at, bool barriers)
{
    const struct record_step *step = &search->record->steps[at];
    bool is_one =
        step->kind == INSTRUCTION_BARRIER ? barriers : step->kind != INSTRUCTION_MOVE && !barriers;
    return is_one && search->first[step->group] == at && !search->record->fixed[step->group] &&
           !search->removed[step->group] && !search->needed[step->group];
}

/* One walk along the record, for barriers or for flags, as far as there is something to try. Did
 * anything go? */
static bool try_units(struct search *search, bool barriers)
{
    struct record *record = search->record;
    bool any = false;
    int64_t end = record->count;
    while (end > 0 && !is_tried(search, end - 1, barriers))
        end--;
    search->base.at = 0;
    memset(search->base.state, 0, search->base.state_count * sizeof *search->base.state);
    while (search->base.at < end && search->budget > 0) {
        int64_t at = search->base.at;
        spend(search);
        if (is_tried(search, at, barriers))
            any |= search->removed[group_at(search, at)] = can_go(search, group_at(search, at));
        replay_step(&search->base, is_removed(search, at));
    }
    return any;
}

static bool is_searched(const struct search *search, int32_t item)
{
    const struct instruction *in = &search->record->program->items[item];
    return search->nest->executed[item] > 0 &&
           (in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT ||
            in->kind == INSTRUCTION_BARRIER);
}

static void mark_own_barriers(struct search *search)
{
    const struct program *program = search->record->program;
    for (int32_t i = 0; i < program->count; i++)
        if (program->items[i].kind == INSTRUCTION_BARRIER &&
            program->items[i].pipe != PROGRAM_PIPE_ALL)
            search->removed[i] = true;
}

/* Sorted by group, those of one group stand together; groups come by their first instruction. */
static enum status collect_units(struct search *search, struct oversync *found, struct error *error)
{
    int32_t count = search->record->program->count;
    int32_t *unit_of = malloc(((size_t)count + 1) * sizeof *unit_of);
    found->items = malloc(((size_t)count + 1) * sizeof *found->items);
    found->units = calloc((size_t)count + 1, sizeof *found->units);
    if (!unit_of || !found->items || !found->units) {
        free(unit_of);
        return error_memory(error);
    }
    memset(unit_of, -1, ((size_t)count + 1) * sizeof *unit_of);
    for (int32_t i = 0; i < count; i++) {
        int32_t group = search->record->group[i];
        if (!is_searched(search, i) || !search->removed[group])
            continue;
        if (unit_of[group] < 0)
            unit_of[group] = found->unit_count++;
        found->units[unit_of[group]].count++;
        found->item_count++;
    }
    for (int32_t u = 1; u < found->unit_count; u++)
        found->units[u].first = found->units[u - 1].first + found->units[u - 1].count;
    for (int32_t u = 0; u < found->unit_count; u++)
        found->units[u].count = 0;
    for (int32_t i = 0; i < count; i++) {
        int32_t group = search->record->group[i];
        if (!is_searched(search, i) || !search->removed[group])
            continue;
        struct oversync_unit *unit = &found->units[unit_of[group]];
        found->items[unit->first + unit->count++] = i;
    }
    free(unit_of);
    return STATUS_OK;
}

void oversync_clear(struct oversync *found)
{
    free(found->items);
    free(found->units);
    *found = (struct oversync){0};
}

enum status oversync_search(struct execution *execution, struct oversync *found,
                            struct error *error)
{
    struct search search;
    *found = (struct oversync){0};
    enum status status = search_init(&search, execution, error);
    if (status == STATUS_OK) {
        mark_own_barriers(&search);
        while (!execution->record.full && (try_units(&search, true) | try_units(&search, false)))
            continue;
        found->complete = !execution->record.full && !execution->blocked && search.budget > 0;
        status = search.stopped ? error_set(error, STATUS_STOPPED, "stopped")
                                : collect_units(&search, found, error);
    }
    search_clear(&search);
    if (status != STATUS_OK)
        oversync_clear(found);
    return status;
}

enum status oversync_find(const struct program *program, const struct stop *stop,
                          struct oversync *found, struct error *error)
{
    struct findings findings = {0};
    struct execution execution;
    *found = (struct oversync){0};
    TRY(execution_init(&execution, program, stop, error));
    enum status status = execution_run(&execution, &findings, error);
    if (status == STATUS_OK)
        status = oversync_search(&execution, found, error);
    findings_clear(&findings);
    execution_clear(&execution);
    return status;
}

/* ------------------------------------------------------------------ tidying */

enum {
    LONG_RECORD = 1 << 15, /* instructions that are run, from which on a program is long */
    FEW_ROUNDS = 4,        /* of each loop, that tell what orders nothing new in more of them */
    FAR_SHORTER = 4,
};

/* The same lines, with so many rounds of each loop at most. */
static enum status copy_rounds(const struct program *program, int64_t most, struct program *copy,
                               struct error *error)
{
    program_reset(copy, program->hw);
    for (int32_t i = 0; i < program->count; i++) {
        struct instruction in = program->items[i];
        if (in.kind == INSTRUCTION_LOOP && in.count > most)
            in.count = most;
        TRY(program_add(copy, &in, error));
        for (int r = 0; r < program->items[i].region_count; r++)
            TRY(program_add_region(copy, &program->regions[in.first_region + r], error));
    }
    return program_close(copy, "", error);
}

/* One bool an instruction, owned by the caller; NULL: no memory. */
static bool *gone_of(const struct program *program, const struct oversync *found)
{
    bool *gone = calloc((size_t)program->count + 1, sizeof *gone);
    for (int32_t i = 0; gone && i < found->item_count; i++)
        gone[found->items[i]] = true;
    return gone;
}

static enum status is_safe(const struct program *program, const struct stop *stop, bool *safe,
                           struct error *error)
{
    struct findings findings = {0};
    struct execution execution;
    TRY(execution_init(&execution, program, stop, error));
    enum status status = execution_run(&execution, &findings, error);
    *safe = status == STATUS_OK && !findings.count;
    findings_clear(&findings);
    execution_clear(&execution);
    return status;
}

/* What a few rounds of a long program could do without goes, if what is left is safe: one pass
 * along it, where each unit by itself would take one. */
static enum status tidy_by_few_rounds(struct program *program, const struct stop *stop, bool *done,
                                      struct error *error)
{
    struct program copy = {0};
    struct oversync found = {0};
    bool *gone = NULL;
    enum status status = copy_rounds(program, FEW_ROUNDS, &copy, error);
    *done = status == STATUS_OK && copy.executed <= program->executed / FAR_SHORTER;
    if (*done)
        status = oversync_find(&copy, stop, &found, error);
    if (*done && status == STATUS_OK && !(gone = gone_of(program, &found)))
        status = error_memory(error);
    if (*done && status == STATUS_OK)
        status = copy_rounds(program, INT64_MAX, &copy, error);
    if (*done && status == STATUS_OK) {
        program_remove(&copy, gone);
        status = is_safe(&copy, stop, done, error);
    }
    if (*done && status == STATUS_OK)
        program_remove(program, gone);
    free(gone);
    oversync_clear(&found);
    program_clear(&copy);
    return status;
}

static enum status tidy_all(struct program *program, const struct stop *stop, struct error *error)
{
    struct oversync found;
    TRY(oversync_find(program, stop, &found, error));
    bool *gone = gone_of(program, &found);
    if (gone && found.item_count)
        program_remove(program, gone);
    oversync_clear(&found);
    free(gone);
    return gone ? STATUS_OK : error_memory(error);
}

enum status program_tidy(struct program *program, const struct stop *stop, struct error *error)
{
    bool done = false;
    enum status status = stop_due(stop) ? error_set(error, STATUS_STOPPED, "stopped") : STATUS_OK;
    if (status == STATUS_OK && program->executed > LONG_RECORD)
        status = tidy_by_few_rounds(program, stop, &done, error);
    if (status == STATUS_OK && !done)
        status = tidy_all(program, stop, error);
    return status == STATUS_TOO_LARGE ? STATUS_OK : status;
}
