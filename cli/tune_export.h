/* The main job's answer as a table that operator libraries load. */
#ifndef AUTOTUNE_CLI_TUNE_EXPORT_H
#define AUTOTUNE_CLI_TUNE_EXPORT_H

#include "cli/task.h"
#include "results/tune.h"
#include "search/search.h"

/* Does --format ask for one? */
bool tune_is_export(const struct common *common);

/* Writes the tilings found, at least one, or dies. */
void tune_export_write(const struct task *task, const struct search_result *result,
                       const struct tune_row *rows);

#endif
