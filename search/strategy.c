/* The table of strategies, and what several of them leave to the source. */
#include "search/strategy.h"

#include <strings.h>

const struct search_strategy *const search_strategies[] = {&strategy_bound, &strategy_exhaustive,
                                                           &strategy_random, NULL};

const struct search_strategy *search_strategy_find(const char *name)
{
    for (const struct search_strategy *const *s = search_strategies; *s; s++)
        if (!name || strcasecmp((*s)->name, name) == 0)
            return *s;
    return NULL;
}

enum status source_observe(struct search_run *run, struct batch *batch, struct error *error)
{
    return run->source->observe(run, batch, error);
}

void source_prove(const struct search_run *run, struct proof *proof)
{
    run->source->prove(run, proof);
}

enum status source_tell(struct search_run *run, struct search_result *result, struct error *error)
{
    return run->source->tell(run, result, error);
}
