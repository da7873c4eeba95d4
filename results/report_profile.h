/* What a page says of a profiler's table. */
#ifndef AUTOTUNE_RESULTS_REPORT_PROFILE_H
#define AUTOTUNE_RESULTS_REPORT_PROFILE_H

#include "results/report.h"

/* Adds the sections of a summary as `autotune analyse --json` has it, with "format" beside. */
void report_profile(struct report *report, json_t *summary);

#endif
