/* Greedy: units are tried in the order in which they first run, and one that can go is gone for
 * those after it. A unit is tried on two replays side by side, with it and without it, that start
 * where it first runs: they end when the one without it breaks an order that matters (the unit has
 * to stay), or when the unit is past and both stand in the same state, since nothing differs from
 * there on, or at the end of the record (it can go).
 *
 * What could not go may be free to go later only when it kept two sets of a register apart of which
 * one has gone since; so the walks are repeated for what did until nothing goes. */
#include "analysis/check/oversync.h"

#include "analysis/check/oversync_search.h"
#include "analysis/check/replay.h"

#include <stdlib.h>
#include <string.h>

struct search {
    struct record *record;
    const struct nest *nest;
    int64_t *first, *last; /* per group: steps; -1: does not run */
    bool *removed;         /* per instruction */
    bool *needed;          /* per group: an access would lose its order, whatever else goes */
    struct replay base, with, without;
    int64_t budget;                    /* of steps */
    uint32_t *then[PROGRAM_MAX_DEPTH]; /* the replay's state a period ago */
    uint32_t *now;
    int periods[PROGRAM_MAX_DEPTH]; /* that have come alike since something changed */
    int64_t mark;                   /* the next one of the record */
};

static enum status search_init(struct search *search, struct execution *execution,
                               struct error *error)
{
    size_t items = (size_t)execution->program->count + 1;
    *search = (struct search){.record = &execution->record, .nest = &execution->nest};
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
        search->budget--;
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
        if (is_tried(search, at, barriers))
            any |= search->removed[group_at(search, at)] = can_go(search, group_at(search, at));
        replay_step(&search->base, is_removed(search, at));
    }
    return any;
}

static bool belongs(const struct search *search, int32_t item)
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
static enum status collect(struct search *search, struct oversync *found, struct error *error)
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
        int32_t group = record_group(search->record, i);
        if (!belongs(search, i) || !search->removed[group])
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
        int32_t group = record_group(search->record, i);
        if (!belongs(search, i) || !search->removed[group])
            continue;
        struct oversync_unit *unit = &found->units[unit_of[group]];
        found->items[unit->first + unit->count++] = i;
    }
    free(unit_of);
    return STATUS_OK;
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
        status = collect(&search, found, error);
    }
    search_clear(&search);
    if (status != STATUS_OK)
        oversync_clear(found);
    return status;
}

enum status oversync_find(const struct program *program, struct oversync *found,
                          struct error *error)
{
    struct findings findings = {0};
    struct execution execution;
    *found = (struct oversync){0};
    enum status status = execution_init(&execution, program, error);
    if (status != STATUS_OK)
        return status;
    status = execution_run(&execution, &findings, error);
    if (status == STATUS_OK)
        status = oversync_search(&execution, found, error);
    findings_clear(&findings);
    execution_clear(&execution);
    return status;
}

void oversync_clear(struct oversync *found)
{
    free(found->items);
    free(found->units);
    *found = (struct oversync){0};
}

static enum status remove_items(struct program *program, const struct oversync *found,
                                struct error *error)
{
    bool *gone = calloc((size_t)program->count, sizeof *gone);
    if (!gone)
        return error_memory(error);
    for (int32_t i = 0; i < found->item_count; i++)
        gone[found->items[i]] = true;
    program_remove(program, gone);
    free(gone);
    return STATUS_OK;
}

enum status program_tidy(struct program *program, struct error *error)
{
    struct oversync found;
    enum status status = oversync_find(program, &found, error);
    if (status == STATUS_TOO_LARGE)
        return STATUS_OK;
    if (status == STATUS_OK && found.item_count)
        status = remove_items(program, &found, error);
    oversync_clear(&found);
    return status;
}
