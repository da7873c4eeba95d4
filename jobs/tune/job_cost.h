/* Internal to jobs/: logarithm and power by straight lines between powers of two, the same on every
 * machine. */
#ifndef AUTOTUNE_JOBS_TUNE_JOB_COST_H
#define AUTOTUNE_JOBS_TUNE_JOB_COST_H

double log2_by_lines(double x); /* x >= 1 */
double exp2_by_lines(double x);

#endif
