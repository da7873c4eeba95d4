/* From what a search found, and what ran on this machine, to the answer that is printed. */
#ifndef AUTOTUNE_CLI_TUNE_ANSWER_H
#define AUTOTUNE_CLI_TUNE_ANSWER_H

#include "cli/host_run.h"
#include "cli/report_file.h"
#include "cli/task.h"
#include "results/tune.h"
#include "search/search.h"

struct tune_report {
    const struct task *task;
    const struct search_result *result;
    const struct host_run *run; /* NULL: nothing was measured, nor could have been */
    const struct tune_row *rows;
    int threads, top;
    bool cut_short;
    bool has_store, from_store; /* with --db: did the store have the answer? */
    const char *search_note;    /* or NULL */
    json_t *details;            /* or NULL; the caller's */
    const struct page *page;    /* --report; or NULL */
    const char *landscape_axes; /* of its map; or NULL */
};

void tune_fill_row(const struct task *task, const struct found *found, struct tune_row *row);

/* What an answer says of the problem and the chip, not of what was found. */
void tune_fill_problem(const struct task *task, struct tune_answer *answer);

/* A row for each of the best, to be freed. */
struct tune_row *tune_rows(const struct task *task, const struct search_result *result);

/* Did time or a signal end the search before its proof? */
bool tune_was_cut_short(const struct search_result *result, double time_limit_s);

/* Writes the answer; true when there is one. */
bool tune_report_write(const struct tune_report *report);

#endif
