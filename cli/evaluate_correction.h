/* The learned correction in the answer of `autotune evaluate`. */
#ifndef AUTOTUNE_CLI_EVALUATE_CORRECTION_H
#define AUTOTUNE_CLI_EVALUATE_CORRECTION_H

#include "cli/options.h"
#include "jobs/correct/correct.h"

/* The one beside the chip's description, unless it is left out; notes its file. Death where that
 * breaks a rule. */
void evaluate_correction_open(struct common *common, bool left_out, const struct hardware *hw,
                              struct correcting *correcting);

/* Adds to the tables for people what the answer says of corrected times. */
void evaluate_correction_tables(json_t *tables, const json_t *answer);

#endif
