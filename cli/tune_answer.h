/* The answer of tune and validate: as it is printed, as a page, as tables that operator libraries
 * load, and the maps of its search (--landscape). */
#ifndef AUTOTUNE_CLI_TUNE_ANSWER_H
#define AUTOTUNE_CLI_TUNE_ANSWER_H

#include "cli/report_file.h"
#include "cli/tune_find.h"
#include "results/tune.h"

/* Did time or a signal end the search before its proof? */
bool tune_was_cut_short(const struct search_result *result, double time_limit_s);

/* What is asked and what was found, to which the caller may add details; it points into both. */
struct tune_answer tune_answer_of(const struct tune_find *find, const struct search_result *result);

/* Writes it, with the command to go on with; true when there is a tiling. */
bool tune_answer_write(const struct task *task, struct tune_answer *answer);

/* --report: writes the page of an answer, with maps of these axes (NULL: its own choice). */
void tune_page_write(const struct page *page, const struct common *common,
                     const struct tune_answer *answer, const char *landscape_axes);

/* Are the best tilings asked for as such a table? */
bool tune_is_export(const struct common *common);

/* Notes the file that is written beside that of -o, if there is one. */
void tune_export_note(struct common *common);

/* Writes the answer, and of a header NAME.h also NAME.json; dies of what cannot be written. */
void tune_export(const struct task *task, const struct search_result *result);

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
