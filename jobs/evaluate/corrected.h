/* What an answer of `autotune evaluate` says of a learned correction. */
#ifndef AUTOTUNE_JOBS_EVALUATE_CORRECTED_H
#define AUTOTUNE_JOBS_EVALUATE_CORRECTED_H

#include "jobs/correct/correct.h"
#include "jobs/evaluate/evaluation.h"

/* Adds "corrected", how far corrected times are from measured ones (null without a correction), and
 * "correction", which it is, how many of the rows are of problems that it was learned from, and how
 * well it does on others; where one is not used, why. */
enum status evaluation_add_corrected(const struct bank *bank, const struct prediction predictions[],
                                     const struct correcting *correcting,
                                     const struct correction *correction, json_t *answer,
                                     struct error *error);

#endif
