/* Internal to jobs/: a job's options as job_open reads them. */
#ifndef AUTOTUNE_JOBS_TUNE_JOB_PARTS_H
#define AUTOTUNE_JOBS_TUNE_JOB_PARTS_H

#include "jobs/tune/job.h"

enum { JOB_LIST_SIZE = 256 };

/* Appends a word to what is expected, cut where the list is full. */
void job_list_word(char list[JOB_LIST_SIZE], const char *separator, const char *word);

/* A size, choice or request, if it is any option. */
bool job_is_operators(const char *name);

/* A whole number from 1 to `largest`. */
enum status job_read_int(const char *name, const char *text, int largest, int *number,
                         struct error *error);

/* All options that need to know neither operator nor chip, and defaults of those not given. */
enum status job_read_alone(struct job *job, struct error *error);

#endif
