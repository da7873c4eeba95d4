/* Every legal tiling, whatever its bound. */
#include "search/prefix.h"
#include "search/strategy.h"

enum { MOST_LISTED = 10000000, MOST_ASKED = 100000000 };

/* Some spaces are too large to list. */
static enum status init(struct search_run *run, struct error *error)
{
    const struct operator_space *kind = run->space->kind;
    run->source = kind->source ? kind->source : &listed_source;
    if (!kind->nesting && !kind->source && run->space->candidates > MOST_ASKED)
        return error_set(error, STATUS_TOO_LARGE,
                         "strategy exhaustive asks up to %d tilings whether they are legal; the "
                         "space has %lld",
                         MOST_ASKED, (long long)run->space->candidates);
    if (kind->nesting && space_count_legal(run->space, MOST_LISTED, run->threads) > MOST_LISTED)
        return error_set(error, STATUS_TOO_LARGE,
                         "strategy exhaustive simulates up to %d tilings; more are legal here",
                         MOST_LISTED);
    return STATUS_OK;
}

static enum status refill(struct search_run *run, bool *more, struct error *error)
{
    return run->source->refill(run, true, more, error);
}

static bool done(const struct search_run *run)
{
    return run->source->next_fs(run) == NOTHING_OPEN;
}

static void next(struct search_run *run, struct batch *batch)
{
    run->source->take(run, INT64_MAX, batch);
}

const struct search_strategy strategy_exhaustive = {
    .name = "exhaustive",
    .title = "simulate every legal tiling",
    .simulates = INT64_MAX,
    .init = init,
    .refill = refill,
    .done = done,
    .next = next,
    .observe = source_observe,
    .prove = source_prove,
    .tell = source_tell,
};
