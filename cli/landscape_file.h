/* The maps of a search as a file: --landscape. */
#ifndef AUTOTUNE_CLI_LANDSCAPE_FILE_H
#define AUTOTUNE_CLI_LANDSCAPE_FILE_H

#include "cli/task.h"
#include "search/search.h"

struct landscape_file {
    const char *path; /* NULL: none */
    const char *axes; /* "m_slice,n_slice", or NULL */
};

/* Dies of names that are no axes, and of axes without a file, before any work is done. */
void landscape_file_check(const struct landscape_file *file, const struct task *task);

/* {"schema": 1, "slice": …, "envelope": … or null}; null where nothing was found. An envelope
 * needs a result with keep_reached. */
enum status landscape_file_write(const struct landscape_file *file, const struct task *task,
                                 const struct search_result *result, int threads,
                                 struct error *error);

#endif
