/* `autotune analyse` of profilers' tables. */
#ifndef AUTOTUNE_CLI_ANALYSE_PROFILE_H
#define AUTOTUNE_CLI_ANALYSE_PROFILE_H

#include "cli/report_file.h"
#include "core/diagnosis.h"
#include "formats/profile_join.h"

#include <stdbool.h>

/* Is the file such a table, by its name or its first line? */
bool analyse_is_profile(const char *file);

bool analyse_is_folder(const char *file);

/* The profiles that words of the command line name: files, and folders of them. They are in an
 * order of their own. */
struct profile_files {
    int count;
    char *names[PROFILE_MAX_FILES]; /* owned */
    char title[512];                /* the word, or all of them */
};
void profile_files_take(const char *const *words, int count, struct profile_files *files);
void profile_files_clear(struct profile_files *files);

/* Answers; returns the exit status. */
int analyse_profile_file(struct common *common, const struct diagnosis_thresholds *thresholds,
                         int top, const struct page *page, const struct profile_files *files);

#endif
