/* When a strategy helps that no program can express, or why one that can does not help here. All
 * are of the type advice_strategy.condition. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_ADVICE_NAMED_H
#define AUTOTUNE_ANALYSIS_ADVICE_ADVICE_NAMED_H

#include "analysis/advice/advice.h"

/* Of strategies that were tried: what came of it. */
void condition_tried(struct trial *trial, const struct diagnosis *diagnosis,
                     char text[ADVICE_CONDITION_SIZE]);

void condition_op(struct trial *trial, const struct diagnosis *diagnosis,
                  char text[ADVICE_CONDITION_SIZE]);
void condition_tt(struct trial *trial, const struct diagnosis *diagnosis,
                  char text[ADVICE_CONDITION_SIZE]);
void condition_ea(struct trial *trial, const struct diagnosis *diagnosis,
                  char text[ADVICE_CONDITION_SIZE]);
void condition_lc(struct trial *trial, const struct diagnosis *diagnosis,
                  char text[ADVICE_CONDITION_SIZE]);
void condition_ct(struct trial *trial, const struct diagnosis *diagnosis,
                  char text[ADVICE_CONDITION_SIZE]);

#endif
