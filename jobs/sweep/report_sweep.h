/* What a page says of a sweep: how many jobs have which answer, the longest ones or those
 * that save most, its chips. */
#ifndef AUTOTUNE_JOBS_SWEEP_REPORT_SWEEP_H
#define AUTOTUNE_JOBS_SWEEP_REPORT_SWEEP_H

#include "jobs/sweep/sweep.h"
#include "results/report.h"

enum { REPORT_SWEEP_ROWS = 1000 };

/* Adds the sections. They say what the store has: the same after one run and after two. `points`
 * are of sweep_pareto, or NULL. */
enum status report_sweep(struct report *report, const struct sweep *sweep, struct store *store,
                         const struct sweep_counts *ran, const struct sweep_point *points,
                         struct error *error);

#endif
