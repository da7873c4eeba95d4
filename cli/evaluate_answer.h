/* In the answer of `autotune evaluate`: the learned correction, and the ranking of recorded tilings
 * (jobs/evaluate/evaluate.h). */
#ifndef AUTOTUNE_CLI_EVALUATE_ANSWER_H
#define AUTOTUNE_CLI_EVALUATE_ANSWER_H

#include "cli/options.h"
#include "jobs/correct/correct.h"
#include "jobs/evaluate/evaluation.h"

/* The one beside the chip's description, unless it is left out; notes its file. Death where that
 * breaks a rule. */
void evaluate_correction_open(struct common *common, bool left_out, const struct hardware *hw,
                              struct correcting *correcting);

/* Adds to the tables for people what the answer says of corrected times. */
void evaluate_correction_tables(json_t *tables, const json_t *answer);

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
