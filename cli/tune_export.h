/* The best tilings as tables that operator libraries load. */
#ifndef AUTOTUNE_CLI_TUNE_EXPORT_H
#define AUTOTUNE_CLI_TUNE_EXPORT_H

#include "cli/task.h"

bool tune_is_export(const struct common *common);

/* Notes the file that is written beside that of -o, if there is one. */
void tune_export_note(struct common *common);

/* Writes the answer, and of a header NAME.h also NAME.json; dies of what cannot be written. */
void tune_export(const struct task *task, const struct search_result *result);

#endif
