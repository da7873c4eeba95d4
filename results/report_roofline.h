/* What limits an operator, for a page: the verdict, the components, and the component roofline of
 * its pairs of a compute unit and a transfer engine. */
#ifndef AUTOTUNE_RESULTS_REPORT_ROOFLINE_H
#define AUTOTUNE_RESULTS_REPORT_ROOFLINE_H

#include "core/diagnosis.h"
#include "results/report.h"

/* Adds up to three sections, after diagnose(). `of` ends their titles, or NULL. The roofline is
 * left out where work or time is not known. */
void report_diagnosis(struct report *report, const struct diagnosis *diagnosis,
                      const struct diagnosis_thresholds *thresholds, const char *of);

#endif
