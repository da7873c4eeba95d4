/* Goes through the table of strategies (Zhou et al. 2025, section 5): each starts from the first
 * program again, changes it on trial, and is rid of the synchronisation that its change has made
 * superfluous; what then saves less than a thousandth does not apply. Strategies that no program
 * can express, and those that found nothing, only state their condition. */
#include "analysis/advice/advice.h"

#include "analysis/advice/advice_named.h"
#include "analysis/advice/advice_table.h"
#include "analysis/advice/advice_tidy.h"
#include "analysis/roofline.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What saves less than a thousandth is not worth a change. */
enum { LEAST_SHARE = 1000 };

const struct advice_strategy advice_strategies[] = {
    {"AIP", "adjust instruction parameters: one vector instruction of many repeats",
     VERDICT_INEFFICIENT_COMPUTE, advice_aip, condition_tried},
    {"AIS", "adjust the instruction sequence: dispatch transfers earlier",
     VERDICT_INSUFFICIENT_PARALLELISM, advice_ais, condition_tried},
    {"CT", "computation transformation: do it on a more powerful unit", VERDICT_COMPUTE_BOUND, NULL,
     condition_ct},
    {"EA", "enhanced algorithm: compute less", VERDICT_COMPUTE_BOUND, NULL, condition_ea},
    {"ITG", "increase transfer granularity: one large move instead of several",
     VERDICT_INEFFICIENT_TRANSFER, advice_itg, condition_tried},
    {"LC", "low-precision calculation", VERDICT_COMPUTE_BOUND, NULL, condition_lc},
    {"MRT", "minimise redundant transfer: move once what does not change", VERDICT_TRANSFER_BOUND,
     advice_mrt, condition_tried},
    {"OP", "operator fusion: keep results on the chip", VERDICT_TRANSFER_BOUND, NULL, condition_op},
    {"PP", "ping-pong: two buffers in turn", VERDICT_INSUFFICIENT_PARALLELISM, advice_pp,
     condition_tried},
    {"RSD", "reduce spatial dependency: a buffer of its own for a result",
     VERDICT_INSUFFICIENT_PARALLELISM, advice_rsd, condition_tried},
    {"RUS", "remove unnecessary synchronisation", VERDICT_INSUFFICIENT_PARALLELISM, advice_rus,
     condition_tried},
    {"TT", "transfer transformation: a path with more bandwidth", VERDICT_TRANSFER_BOUND, NULL,
     condition_tt},
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
    *advice = (struct advice){.strategy = strategy, .time_fs = trial->first_fs};
    trial_begin(trial);
    if (strategy->apply && (strategy->apply == advice_rus || !trial->unnamed_line))
        TRY(strategy->apply(trial, error));
    int64_t untidy_fs = trial->best_fs;
    if (trial->tidy && trial->best.hw)
        TRY(tidy_change(trial, error));
    if (trial->first_fs - trial->best_fs > trial->first_fs / LEAST_SHARE) {
        advice->applies = true;
        advice->time_fs = trial->best_fs;
        advice->tidied_fs = untidy_fs - trial->best_fs;
        advice->changed = trial->best;
        trial->best = (struct program){0};
    }
    if (!advice->applies)
        strategy->condition(trial, diagnosis, advice->condition);
    return STATUS_OK;
}

static enum status diagnose_first(const struct trial *trial, struct diagnosis *diagnosis,
                                  struct error *error)
{
    struct simulate_options options = {.cores = trial->cores};
    struct timeline timeline;
    TRY(simulate(trial->simulator, trial->first, &options, &timeline, error));
    diagnosis_of_program(trial->first, &timeline, trial->cores, diagnosis);
    diagnose(diagnosis, &diagnosis_default_thresholds);
    return STATUS_OK;
}

enum status advise(const struct program *program, int cores, const struct advice_strategy *only,
                   struct advices *advices, struct error *error)
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
        if (!only || strategy == only)
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
    for (int i = 0; i < advices->count; i++)
        program_clear(&advices->items[i].changed);
    advices->count = 0;
}
