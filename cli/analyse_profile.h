/* `autotune analyse` of profilers' tables. */
#ifndef AUTOTUNE_CLI_ANALYSE_PROFILE_H
#define AUTOTUNE_CLI_ANALYSE_PROFILE_H

#include "cli/report_file.h"
#include "core/diagnosis.h"

#include <stdbool.h>

/* Is the file such a table, by its name or its first line? */
bool analyse_is_profile(const char *file);

/* Answers; returns the exit status. */
int analyse_profile_file(struct common *common, const struct diagnosis_thresholds *thresholds,
                         int top, const struct page *page, const char *file);

#endif
