/* In order of lower bound, until no bound of what is left can win. */
#include "search/boxes.h"
#include "search/nested.h"
#include "search/strategy.h"

static enum status init(struct search_run *run, struct error *error)
{
    const struct operator_space *kind = run->space->kind;
    run->source = kind->source ? kind->source : kind->nesting ? &nested_source : &listed_source;
    if (run->source != &listed_source || !kind->boxes)
        return STATUS_OK;
    enum status status = kind->boxes->open(run->space, &run->boxes, error);
    if (run->boxes)
        run->source = &boxes_source;
    return status == STATUS_STOPPED ? STATUS_OK : status;
}

static enum status refill(struct search_run *run, bool *more, struct error *error)
{
    return run->source->refill(run, false, more, error);
}

static bool done(const struct search_run *run)
{
    int64_t next_fs = run->source->next_fs(run);
    return next_fs == NOTHING_OPEN || next_fs > incumbents_limit_fs(&run->incumbents);
}

static void next(struct search_run *run, struct batch *batch)
{
    run->source->take(run, incumbents_limit_fs(&run->incumbents), batch);
}

const struct search_strategy strategy_bound = {
    .name = "bound",
    .title = "simulate in order of lower bound, stop when no bound can win: proves the optimum",
    .init = init,
    .refill = refill,
    .done = done,
    .next = next,
    .observe = source_observe,
    .prove = source_prove,
    .tell = source_tell,
};
