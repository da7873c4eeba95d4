/* Of `autotune evaluate`: the ranking of recorded tilings (jobs/evaluate/ranking.h). */
#ifndef AUTOTUNE_CLI_EVALUATE_RANKING_H
#define AUTOTUNE_CLI_EVALUATE_RANKING_H

#include "cli/options.h"
#include "jobs/correct/correct.h"
#include "jobs/evaluate/evaluation.h"

/* The answer's member `ranking`, owned by the caller. correcting: NULL where simulated times alone
 * rank; seed 0: the default. */
json_t *evaluate_rank(const struct bank *bank, const struct prediction predictions[],
                      const struct hardware *hw, const struct correcting *correcting, int threads,
                      int64_t seed);

/* Adds what people read of it to the tables of an answer; nothing of NULL. */
void evaluate_ranking_tables(json_t *tables, const json_t *ranking);

/* Of a list of rows with a `reason`: how many have which, in the order of the first. */
json_t *evaluate_reasons(const json_t *left_out);

#endif
