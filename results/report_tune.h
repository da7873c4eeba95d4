/* What a page says of a search: the answer, the best tilings, where the numbers are from. */
#ifndef AUTOTUNE_RESULTS_REPORT_TUNE_H
#define AUTOTUNE_RESULTS_REPORT_TUNE_H

#include "results/report.h"
#include "results/tune.h"

/* The answer and the table of the best. */
void report_tune(struct report *report, const struct tune_answer *answer);

/* The description and the source of every number in it: the end of every page. */
void report_hardware(struct report *report, const struct hardware *hw);

#endif
