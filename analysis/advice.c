#include "analysis/advice.h"

#include "analysis/advice_table.h"
#include "analysis/roofline.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

const struct advice_strategy advice_strategies[] = {
    {"AIP", "adjust instruction parameters: one vector instruction of many repeats",
     VERDICT_INEFFICIENT_COMPUTE, advice_aip, NULL},
    {"AIS", "adjust the instruction sequence: dispatch transfers earlier",
     VERDICT_INSUFFICIENT_PARALLELISM, advice_ais, NULL},
    {"ITG", "increase transfer granularity: one large move instead of several",
     VERDICT_INEFFICIENT_TRANSFER, advice_itg, NULL},
    {"MRT", "minimise redundant transfer: move once what does not change",
     VERDICT_TRANSFER_BOUND, advice_mrt, NULL},
    {"PP", "ping-pong: two buffers in turn", VERDICT_INSUFFICIENT_PARALLELISM, advice_pp, NULL},
    {"RSD", "reduce spatial dependency: a buffer of its own for a result",
     VERDICT_INSUFFICIENT_PARALLELISM, advice_rsd, NULL},
    {"RUS", "remove unnecessary synchronisation", VERDICT_INSUFFICIENT_PARALLELISM, advice_rus,
     NULL},
    {0},
};

const struct advice_strategy *advice_strategy(const char *name)
{
    for (const struct advice_strategy *s = advice_strategies; s->name; s++)
        if (strcasecmp(s->name, name) == 0)
            return s;
    return NULL;
}

/* What applies before what does not, more saved before less, then by name. */
static int compare(const void *one, const void *other)
{
    const struct advice *a = one, *b = other;
    if (a->applies != b->applies)
        return a->applies ? -1 : 1;
    if (a->applies && a->time_fs != b->time_fs)
        return a->time_fs < b->time_fs ? -1 : 1;
    return strcmp(a->strategy->name, b->strategy->name);
}

static enum status try_strategy(struct trial *trial, const struct advice_strategy *strategy,
                                const struct diagnosis *diagnosis, struct advice *advice,
                                struct error *error)
{
    enum status status = STATUS_OK;
    *advice = (struct advice){.strategy = strategy, .time_fs = trial->first_fs};
    trial_begin(trial);
    if (strategy->apply)
        status = strategy->apply(trial, error);
    if (status == STATUS_OK && trial->best_fs < trial->first_fs) {
        advice->applies = true;
        advice->time_fs = trial->best_fs;
        advice->changed = trial->best;
        trial->best = (struct program){0};
        status = diff_programs(trial->first, &advice->changed, &advice->diff, error);
    }
    if (status == STATUS_OK && strategy->condition && diagnosis)
        strategy->condition(trial, diagnosis, advice->condition);
    return status;
}

enum status advise_one(const struct program *program, int cores,
                       const struct advice_strategy *strategy, struct advices *advices,
                       struct error *error)
{
    struct trial trial;
    memset(advices, 0, sizeof *advices);
    enum status status = trial_open(&trial, program, cores, error);
    if (status != STATUS_OK)
        return status;
    advices->safe = trial.safe;
    memcpy(advices->why, trial.why, sizeof trial.why);
    advices->time_fs = trial.first_fs;
    if (trial.safe)
        status = try_strategy(&trial, strategy, NULL, &advices->items[advices->count++], error);
    trial_close(&trial);
    if (status != STATUS_OK)
        advices_clear(advices);
    return status;
}

static enum status diagnose_first(const struct trial *trial, struct diagnosis *diagnosis,
                                  struct error *error)
{
    struct simulate_options options = {.cores = trial->cores};
    struct timeline timeline;
    enum status status =
        simulate(trial->simulator, trial->first, &options, &timeline, error);
    if (status != STATUS_OK)
        return status;
    diagnosis_of_program(trial->first, &timeline, trial->cores, diagnosis);
    diagnose(diagnosis, &diagnosis_default_thresholds);
    return STATUS_OK;
}

enum status advise(const struct program *program, int cores, struct advices *advices,
                   struct error *error)
{
    struct trial trial;
    memset(advices, 0, sizeof *advices);
    enum status status = trial_open(&trial, program, cores, error);
    if (status != STATUS_OK)
        return status;
    advices->safe = trial.safe;
    memcpy(advices->why, trial.why, sizeof trial.why);
    advices->time_fs = trial.first_fs;
    if (trial.safe)
        status = diagnose_first(&trial, &advices->diagnosis, error);
    const struct advice_strategy *strategy = advice_strategies;
    for (; trial.safe && strategy->name && status == STATUS_OK; strategy++)
        status = try_strategy(&trial, strategy, &advices->diagnosis,
                              &advices->items[advices->count++], error);
    qsort(advices->items, (size_t)advices->count, sizeof *advices->items, compare);
    trial_close(&trial);
    if (status != STATUS_OK)
        advices_clear(advices);
    return status;
}

void advices_clear(struct advices *advices)
{
    for (int i = 0; i < advices->count; i++) {
        program_clear(&advices->items[i].changed);
        diff_clear(&advices->items[i].diff);
    }
    advices->count = 0;
}
