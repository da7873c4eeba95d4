/* Internal to jobs/: members of stored answers. What a file says is checked as any other input: a
 * store may have been written by anybody. Each is false where the member is something else. */
#ifndef AUTOTUNE_JOBS_TUNE_JOB_JSON_H
#define AUTOTUNE_JOBS_TUNE_JOB_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* A whole number >= least. */
bool job_get_integer(const json_t *object, const char *name, int64_t least, int64_t *value);

/* One from 0 to `most`. */
bool job_get_count(const json_t *object, const char *name, int most, int *value);

/* A finite number >= 0; with null for what is not known, which is 0. */
bool job_get_real(const json_t *object, const char *name, double *value);
bool job_get_known(const json_t *object, const char *name, double *value);

bool job_get_bool(const json_t *object, const char *name, bool *value);

#endif
