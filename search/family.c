/* Branch and bound (Land and Doig 1960), depth first in order of bound: with a good time to begin
 * with it opens the prefixes that best first would, and holds one path of them.
 *
 * Where spaces say which prefixes mean the same in several of them, a task is one value of the
 * first axis in all members, one after the other, so that a thread finds what it has proven
 * without asking any other; elsewhere it is one member. Tasks share nothing: what is found does not
 * depend on threads. What was proven is in a table with open addressing (Peterson 1957), at most
 * half full. */
#include "search/family.h"

#include "core/array.h"
#include "search/prefix.h"
#include "search/search.h"
#include "search/workers.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* ---- what was proven ------------------------------------------------------------------------ */

/* Of prefixes of the shortest length: a time that none which begins so beats, in the space that was
 * looked at last and in all in which the prefix means the same (struct operator_nesting). */
struct proof_of_prefix {
    const struct space *space; /* NULL: an empty place */
    struct tiling prefix;
    int64_t least_fs;
};

struct proofs {
    int64_t count, capacity; /* capacity: 0 or a power of two */
    struct proof_of_prefix *items;
};

static int shortest_length(const struct space *space)
{
    return space->kind->nesting->lengths[0];
}

static uint64_t hash_of(const struct tiling *prefix, int values)
{
    uint64_t hash = 0;
    for (int i = 0; i < values; i++) /* a multiplier of L'Ecuyer 1999 */
        hash = (hash ^ (uint64_t)prefix->value[i]) * UINT64_C(3935559000370003845);
    return hash ^ hash >> 32;
}

static bool is_proof_of(const struct proof_of_prefix *item, const struct tiling *prefix, int values)
{
    for (int i = 0; i < values; i++)
        if (item->prefix.value[i] != prefix->value[i])
            return false;
    return true;
}

/* Its place, or the empty one where it would be. */
static struct proof_of_prefix *place_of(const struct proofs *proofs, const struct tiling *prefix,
                                        int values)
{
    uint64_t mask = (uint64_t)proofs->capacity - 1, at = hash_of(prefix, values) & mask;
    while (proofs->items[at].space && !is_proof_of(&proofs->items[at], prefix, values))
        at = (at + 1) & mask;
    return &proofs->items[at];
}

static bool grow_proofs(struct proofs *proofs, int values)
{
    const struct proofs old = *proofs;
    int64_t capacity = old.capacity ? 2 * old.capacity : 64;
    struct proof_of_prefix *items = calloc((size_t)capacity, sizeof *items);
    if (!items)
        return false;
    proofs->items = items;
    proofs->capacity = capacity;
    for (int64_t i = 0; i < old.capacity; i++)
        if (old.items[i].space)
            *place_of(proofs, &old.items[i].prefix, values) = old.items[i];
    free(old.items);
    return true;
}

/* 0: nothing is known. */
static int64_t proofs_least_fs(const struct proofs *proofs, const struct tiling *prefix,
                               const struct space *space)
{
    if (!proofs->capacity)
        return 0;
    const struct proof_of_prefix *item = place_of(proofs, prefix, shortest_length(space));
    return item->space && space->kind->nesting->same(item->space, space, prefix) ? item->least_fs
                                                                                 : 0;
}

/* In place of what was known of the prefix; false without memory. */
static bool proofs_keep(struct proofs *proofs, const struct tiling *prefix,
                        const struct space *space, int64_t least_fs)
{
    int values = shortest_length(space);
    if (2 * proofs->count >= proofs->capacity && !grow_proofs(proofs, values))
        return false;
    struct proof_of_prefix *item = place_of(proofs, prefix, values);
    proofs->count += item->space == NULL;
    *item = (struct proof_of_prefix){.space = space, .prefix = *prefix, .least_fs = least_fs};
    return true;
}

static void proofs_close(struct proofs *proofs)
{
    free(proofs->items);
}

/* ---- one member in one task ----------------------------------------------------------------- */

/* One value of the first axis in all members, or all values of one of them. */
struct task {
    int first, last; /* members [first, last) */
    bool one_value;
    int64_t value;
    struct found_below { /* by member - first; owned */
        int64_t time_fs, index;
    } * found;
    struct family_effort effort;
    enum status status;
    struct error error;
};

struct family {
    struct family_member *members;
    int count, task_count;
    struct bounders bounders;
    struct workers workers;
    struct task *tasks;
    const struct stop *stop;
};

/* One member's search in one task. */
struct descent {
    const struct family_member *member;
    const struct space *space;
    const struct bounder *bounder;
    struct worker *worker;
    struct task *task;
    struct proofs *proofs;
    struct prefix_levels levels;
    struct found_below best; /* time_fs: what has to be beaten */
    bool failed;
};

/* Longer prefixes of one, or the shortest ones. */
struct open_list {
    struct descent *descent;
    int level;
    struct open_node *items; /* owned */
    int64_t count, capacity;
};

static void keep_open(void *context, const struct tiling *tiling, int64_t index)
{
    struct open_list *list = context;
    struct descent *d = list->descent;
    bool shared = list->level == 1;
    if (shared && proofs_least_fs(d->proofs, tiling, d->member->space) >= d->best.time_fs) {
        d->task->effort.taken_over++;
        return;
    }
    int64_t bound_fs = prefix_bound_fs(&d->levels, d->space, d->bounder, tiling, list->level);
    d->task->effort.bounded++;
    if (bound_fs >= d->best.time_fs) {
        if (shared && !proofs_keep(d->proofs, tiling, d->member->space, bound_fs))
            d->failed = true;
        return;
    }
    if (array_reserve(&list->items, list->count, &list->capacity, sizeof *list->items))
        list->items[list->count++] = (struct open_node){bound_fs, index};
    else
        d->failed = true;
}

static int by_bound(const void *left, const void *right)
{
    const struct open_node *a = left, *b = right;
    return open_node_before(a, b) ? -1 : open_node_before(b, a);
}

static void try_tiling(struct descent *d, struct open_node node)
{
    struct candidate candidate = {.bound_fs = node.bound_fs, .index = node.index};
    worker_simulate(d->worker, d->space, &candidate);
    d->task->effort.simulated++;
    if (candidate.time_fs && candidate.time_fs < d->best.time_fs)
        d->best = (struct found_below){candidate.time_fs, candidate.index};
}

static bool is_over(const struct descent *d)
{
    return d->failed || d->worker->status != STATUS_OK || stop_due(d->space->stop);
}

static void open_all(struct descent *d, struct open_list *list);

/* All that begins with a prefix; whatever it is, none of it is faster than d->best then. */
static void open_prefix(struct descent *d, int level, struct open_node node)
{
    struct open_list longer = {.descent = d, .level = level + 1};
    const int *length = &d->levels.length[level];
    space_walk(d->space, node.index, length[0], length[1], keep_open, &longer);
    open_all(d, &longer);
    if (level != 1 || is_over(d))
        return;
    struct tiling tiling;
    space_tiling(d->space, node.index, &tiling);
    if (!proofs_keep(d->proofs, &tiling, d->member->space, d->best.time_fs))
        d->failed = true;
}

static void open_all(struct descent *d, struct open_list *list)
{
    if (list->count)
        qsort(list->items, (size_t)list->count, sizeof *list->items, by_bound);
    for (int64_t i = 0; i < list->count && !is_over(d); i++) {
        if (list->items[i].bound_fs >= d->best.time_fs)
            break;
        if (prefix_is_tiling(&d->levels, list->level))
            try_tiling(d, list->items[i]);
        else
            open_prefix(d, list->level, list->items[i]);
    }
    free(list->items);
}

static void descend(struct descent *d)
{
    const struct task *task = d->task;
    struct open_list list = {.descent = d, .level = 1};
    int64_t roots = space_roots(d->space);
    prefix_levels_of(d->space, &d->levels);
    for (int64_t r = 0; r < roots && !is_over(d); r++) {
        struct tiling tiling;
        int64_t index = space_root(d->space, r);
        space_tiling(d->space, index, &tiling);
        if (tiling.value[0] == task->value)
            space_walk(d->space, index, 1, d->levels.length[1], keep_open, &list);
    }
    open_all(d, &list);
}

static enum status run_member(struct family *family, struct task *task, int number,
                              struct proofs *proofs)
{
    struct family_member *member = &family->members[number];
    struct space space = *member->space; /* with the limits of this search */
    space.stop = family->stop;
    struct descent d = {.member = member,
                        .space = &space,
                        .bounder = bounders_of(&family->bounders, number),
                        .worker = &family->workers.items[omp_get_thread_num()],
                        .task = task,
                        .proofs = proofs,
                        .best = {member->below_fs, -1}};
    descend(&d);
    if (d.best.index >= 0)
        task->found[number - task->first] = d.best;
    return d.failed ? error_memory(&task->error) : STATUS_OK;
}

static enum status run_members(struct family *family, struct task *task)
{
    struct proofs proofs = {0};
    enum status status = STATUS_OK;
    for (int m = task->first; m < task->last && status == STATUS_OK; m++)
        status = run_member(family, task, m, &proofs);
    proofs_close(&proofs);
    return status;
}

static enum status run_alone(struct family *family, struct task *task)
{
    const struct family_member *member = &family->members[task->first];
    struct space space = *member->space;
    struct search_below below = {.below_fs = member->below_fs};
    space.stop = family->stop;
    TRY(search_below(&space, &below, &task->error));
    task->effort.bounded += below.bounded;
    task->effort.simulated += below.simulated;
    task->found[0] = (struct found_below){below.time_fs, below.index};
    return STATUS_OK;
}

static void run_task(struct family *family, struct task *task)
{
    task->found = calloc((size_t)(task->last - task->first), sizeof *task->found);
    if (!task->found)
        task->status = error_memory(&task->error);
    else
        task->status = task->one_value ? run_members(family, task) : run_alone(family, task);
    if (task->status == STATUS_OK && stop_due(family->stop))
        task->status = error_set(&task->error, STATUS_STOPPED, "stopped");
}

/* ---- tasks ---------------------------------------------------------------------------------- */

static bool shares(const struct family_member *member)
{
    const struct operator_nesting *nesting = member->space->kind->nesting;
    return nesting && nesting->same;
}

static int by_value(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* All values of first axes, ascending, each once; to be freed. */
static int64_t *first_values(const struct family *family, int *count)
{
    int64_t *values = NULL, capacity = 0, all = 0;
    for (int m = 0; m < family->count; m++) {
        const struct space *space = family->members[m].space;
        for (int b = 0; b < space->block_count; b++)
            for (int i = 0; i < space->blocks[b].count[0]; i++) {
                if (!array_reserve(&values, all, &capacity, sizeof *values)) {
                    free(values);
                    return NULL;
                }
                values[all++] = space->blocks[b].values[0][i];
            }
    }
    *count = 0;
    if (all)
        qsort(values, (size_t)all, sizeof *values, by_value);
    for (int64_t i = 0; i < all; i++)
        if (i == 0 || values[i] != values[i - 1])
            values[(*count)++] = values[i];
    return values;
}

static enum status make_tasks(struct family *family, struct error *error)
{
    bool shared = family->count > 0 && shares(&family->members[0]);
    int64_t *values = NULL;
    family->task_count = family->count;
    if (shared && !(values = first_values(family, &family->task_count)))
        return error_memory(error);
    family->tasks = calloc((size_t)family->task_count + 1, sizeof *family->tasks);
    for (int t = 0; family->tasks && t < family->task_count; t++)
        family->tasks[t] =
            shared ? (struct task){.last = family->count, .one_value = true, .value = values[t]}
                   : (struct task){.first = t, .last = t + 1};
    free(values);
    return family->tasks ? STATUS_OK : error_memory(error);
}

/* ---- the search ----------------------------------------------------------------------------- */

static void take_found(struct family *family, const struct task *task)
{
    for (int m = task->first; m < task->last; m++) {
        const struct found_below *found = &task->found[m - task->first];
        struct family_member *member = &family->members[m];
        if (found->time_fs &&
            (!member->best_fs || found->time_fs < member->best_fs ||
             (found->time_fs == member->best_fs && found->index < member->index))) {
            member->best_fs = found->time_fs;
            member->index = found->index;
        }
    }
}

/* The first error in the order of tasks. */
static enum status take_all(struct family *family, struct family_effort *effort,
                            struct error *error)
{
    enum status status = STATUS_OK;
    for (int t = 0; t < family->task_count; t++) {
        struct task *task = &family->tasks[t];
        effort->bounded += task->effort.bounded;
        effort->simulated += task->effort.simulated;
        effort->taken_over += task->effort.taken_over;
        if (task->status == STATUS_OK)
            take_found(family, task);
        else if (status == STATUS_OK) {
            status = task->status;
            *error = task->error;
        }
    }
    return status == STATUS_OK ? workers_status(&family->workers, error) : status;
}

static enum status open_bounders(struct family *family, struct error *error)
{
    const struct space **spaces = calloc((size_t)family->count + 1, sizeof(struct space *));
    for (int m = 0; spaces && m < family->count; m++)
        spaces[m] = family->members[m].space;
    enum status status = spaces ? bounders_open(&family->bounders, spaces, family->count, error)
                                : error_memory(error);
    free(spaces);
    return status;
}

static enum status run_all(struct family *family, int threads, struct family_effort *effort,
                           struct error *error)
{
    for (int m = 0; m < family->count; m++)
        family->members[m].best_fs = 0;
    TRY(open_bounders(family, error));
    TRY(make_tasks(family, error));
    TRY(workers_open(&family->workers, threads, error));
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int t = 0; t < family->task_count; t++)
        run_task(family, &family->tasks[t]);
    return take_all(family, effort, error);
}

enum status search_family(struct family_member members[], int count, int threads,
                          const struct stop *stop, struct family_effort *effort,
                          struct error *error)
{
    struct family family = {.members = members, .count = count, .stop = stop};
    enum status status = run_all(&family, threads, effort, error);
    for (int t = 0; t < family.task_count && family.tasks; t++)
        free(family.tasks[t].found);
    bounders_close(&family.bounders);
    free(family.tasks);
    workers_close(&family.workers);
    return status;
}
