/* Internal to sweeps: what readers of files hand in, and the memory that it lies in. */
#ifndef AUTOTUNE_JOBS_SWEEP_SWEEP_ROWS_H
#define AUTOTUNE_JOBS_SWEEP_SWEEP_ROWS_H

#include "jobs/sweep/sweep.h"

#include <limits.h>

/* Memory that is freed as a whole. NULL when there is no more. */
void *sweep_allocate(struct sweep *sweep, size_t size);
const char *sweep_copy(struct sweep *sweep, const char *text);

/* One row: adds a job, or a fault that names its line. `options` stay valid as long as the sweep.
 * Only what stops the reading as such is a failure. */
enum status sweep_add(struct sweep *sweep, int line, const struct sweep_option *options, int count,
                      struct error *error);

/* Reads a libconfig file; its name is source->name, options of every job come first in each row. */
enum status sweep_read_config(const struct sweep_source *source, struct sweep *sweep,
                              struct error *error);

/* The folder of named sets, and the file of one; false: there is no such set. */
enum status sweep_set_folder(char folder[PATH_MAX], struct error *error);
bool sweep_set_file(const char *folder, const char *name, char file[PATH_MAX]);

/* Options of every job, and room for `count` more behind them. */
struct sweep_option *sweep_row(const struct sweep_source *source, struct sweep *sweep, int count);

/* Logarithm and power by straight lines between powers of two, the same on every machine. */
double log2_by_lines(double x); /* x >= 1 */
double exp2_by_lines(double x);

#endif
