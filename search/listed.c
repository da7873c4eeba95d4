/* All tilings in one list, open ones behind those that were simulated. The block of least bound is
 * opened first; the others then by the best time of that one, and what cannot matter is counted. */
#include "search/listed.h"

#include <stdlib.h>
#include <string.h>

/* ---- a list ---- */

int64_t list_next_fs(const struct search_run *run)
{
    const struct candidates *candidates = &run->candidates;
    return run->simulated < candidates->count ? candidates->items[run->simulated].bound_fs
                                              : NOTHING_OPEN;
}

int64_t list_open_count(const struct search_run *run)
{
    return run->candidates.count - run->simulated;
}

void list_take(struct search_run *run, int64_t limit_fs, struct batch *batch)
{
    const struct candidate *next = run->candidates.items + run->simulated;
    int64_t open = list_open_count(run);
    while (batch->count < batch->most && batch->count < open &&
           next[batch->count].bound_fs <= limit_fs) {
        batch->items[batch->count] = (struct piece){.candidate = next[batch->count]};
        batch->count++;
    }
}

/* Those that were simulated before the search had to end come before the others. */
enum status list_observe(struct search_run *run, struct batch *batch, struct error *error)
{
    struct candidate *at = run->candidates.items + run->simulated;
    (void)error;
    for (int i = 0; i < batch->count; i++)
        if (batch->items[i].candidate.time_fs) {
            *at++ = batch->items[i].candidate;
            run->simulated++;
        }
    for (int i = 0; i < batch->count; i++)
        if (!batch->items[i].candidate.time_fs)
            *at++ = batch->items[i].candidate;
    return STATUS_OK;
}

void list_prove(const struct search_run *run, struct proof *proof)
{
    const struct candidates *candidates = &run->candidates;
    *proof = (struct proof){.feasible = candidates->count + candidates->counted,
                            .next_fs = list_next_fs(run),
                            .counted = candidates->complete,
                            .bounded = candidates->complete};
}

void list_keep(struct search_run *run, struct search_result *result)
{
    result->reached_count = run->candidates.count;
    result->reached = run->candidates.items;
    run->candidates.items = NULL;
}

void list_tell_among(struct search_run *run, int64_t legal, struct search_result *result)
{
    const struct candidates *candidates = &run->candidates;
    int64_t unseen = legal - candidates->count - candidates->counted;
    double shares[] = {ONE_PERCENT, run->options->tolerance};
    struct within *within[] = {&result->within_1_percent, &result->within_tolerance};
    for (int i = 0; i < 2 && result->count; i++) {
        *within[i] = (struct within){.at_most = unseen};
        for (int64_t c = 0; c < candidates->count; c++)
            within_note(within[i], &candidates->items[c], result->best[0].timeline.end_fs,
                        shares[i]);
    }
    if (run->options->keep_reached) {
        result->reached_all = candidates->complete;
        list_keep(run, result);
    }
}

enum status list_tell(struct search_run *run, struct search_result *result, struct error *error)
{
    const struct candidates *candidates = &run->candidates;
    (void)error;
    list_tell_among(run,
                    candidates->complete ? candidates->count + candidates->counted
                                         : run->space->candidates,
                    result);
    return STATUS_OK;
}

/* ---- the tilings of a space ---- */

/* What is done with each block, and what bounds it. */
struct listed {
    int stage;
    int first; /* the block of least bound */
    int64_t *least_fs;
    enum block_use *use;
};

static enum status open_blocks(struct search_run *run, struct error *error)
{
    const struct space *space = run->space;
    struct listed *listed = run->pool;
    size_t blocks = (size_t)space->block_count + 1;
    listed->least_fs = calloc(blocks, sizeof *listed->least_fs);
    listed->use = calloc(blocks, sizeof *listed->use);
    if (!listed->least_fs || !listed->use)
        return error_memory(error);
    run->candidates.complete = true;
    for (int b = 0; b < space->block_count; b++) {
        listed->least_fs[b] = bounder_block_fs(&run->bounder, space, &space->blocks[b]);
        if (listed->least_fs[b] < listed->least_fs[listed->first])
            listed->first = b;
    }
    return STATUS_OK;
}

static void close_blocks(struct search_run *run)
{
    const struct listed *listed = run->pool;
    free(listed->least_fs);
    free(listed->use);
}

/* What is as slow can be neither among the best nor in a count of those near them. */
static int64_t horizon_fs(const struct search_run *run, bool all)
{
    int64_t limit = all ? INT64_MAX : incumbents_limit_fs(&run->incumbents);
    int64_t near_fs =
        run->incumbents.count ? within_fs(run->incumbents.time_fs[0], run->options->tolerance) : 0;
    return limit > near_fs ? limit : near_fs;
}

static enum status add_blocks(struct search_run *run, struct error *error)
{
    const struct listed *listed = run->pool;
    return candidates_add(run->space, &run->bounder, &run->recorder, listed->use, run->simulated,
                          &run->candidates, error);
}

enum status list_take_first(struct search_run *run, struct error *error)
{
    if (run->candidates.count || run->candidates.complete ||
        !search_goes_on(&run->space, run->options, false, &run->hurry))
        return STATUS_OK;
    free(run->candidates.items);
    return candidates_collect_first(run->space, &run->bounder, &run->candidates, error);
}

/* The block of least bound is searched first; of the others, those that its best leave any hope
 * are bounded and simulated together, and the rest is counted. */
static enum status refill(struct search_run *run, bool all, bool *more, struct error *error)
{
    struct listed *listed = run->pool;
    int blocks = run->space->block_count;
    bool one_by_one = run->space->kind->least && !all && blocks > 1;
    *more = one_by_one && listed->stage++ == 0;
    if (*more) {
        listed->use[listed->first] = BLOCK_BOUND;
        return add_blocks(run, error);
    }
    int64_t horizon = horizon_fs(run, all);
    for (int b = 0; b < blocks; b++)
        listed->use[b] = one_by_one && b == listed->first ? BLOCK_LEAVE
                         : listed->least_fs[b] > horizon && !run->options->keep_reached
                             ? BLOCK_COUNT
                             : BLOCK_BOUND;
    TRY(add_blocks(run, error));
    return list_take_first(run, error);
}

const struct search_source listed_source = {
    .size = sizeof(struct listed),
    .batch = SEARCH_BATCH,
    .open = open_blocks,
    .close = close_blocks,
    .refill = refill,
    .next_fs = list_next_fs,
    .open_count = list_open_count,
    .take = list_take,
    .observe = list_observe,
    .prove = list_prove,
    .tell = list_tell,
};
