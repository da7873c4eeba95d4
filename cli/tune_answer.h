/* The answer of tune and validate, as it is printed and as a page. */
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

#endif
