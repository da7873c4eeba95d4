/* Where the answers of tune and validate come from: a store, or searching and measuring, and then
 * they are kept in it. What is simulated and what is measured are two results there: whichever it
 * has is not done again.
 *
 *   tune_find_search(&find, &result)    the model's answer
 *   tune_find_measure(&find, &result)   this machine's, where it is asked for
 *   tune_find_close(&find)              dies where an answer could not be kept */
#ifndef AUTOTUNE_CLI_TUNE_FIND_H
#define AUTOTUNE_CLI_TUNE_FIND_H

#include "cli/host_run.h"

struct tune_find {
    const struct task *task;
    const char *db;       /* the store; NULL: none */
    bool fresh;           /* whatever it has */
    struct job_run how;   /* of a search, but stop, progress and keep_scores */
    struct host_run *run; /* its question's `wanted` is 0 where nothing is to be measured */
    /* after tune_find_search */
    struct store *store;
    bool from_store; /* what the model says */
    enum status kept;
    struct error error; /* what cannot be kept is answered all the same */
};

void tune_find_search(struct tune_find *find, struct job_result *result);
/* The model's answer to another job, from the same store; after tune_find_search. */
void tune_find_other(struct tune_find *find, const struct job *job, struct job_result *result);
void tune_find_measure(struct tune_find *find, const struct job_result *result);
void tune_find_close(struct tune_find *find);

#endif
