/* A profile's analysis as an answer: rows one by one as they are read, and the summary.
 *
 *   analyse_profile(&job, out, &result, &error)
 *
 * JSON: {"schema", "file", "format", "files", "hardware", "operators": [one a row of the file, in
 * its order], "summary"}; CSV: a line a row; table: the summary with the longest rows. */
#ifndef AUTOTUNE_RESULTS_ANALYSIS_WRITE_H
#define AUTOTUNE_RESULTS_ANALYSIS_WRITE_H

#include "analysis/profile/analyse.h"
#include "formats/text.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>

/* ANALYSE_SUMMARY writes nothing. */
enum analyse_format { ANALYSE_TABLE, ANALYSE_JSON, ANALYSE_CSV, ANALYSE_SUMMARY };

struct analyse_job {
    const char *const *files; /* several are joined (formats/profile_join.h) */
    int file_count;
    const char *name; /* of all, in the answer */
    struct analyse_options how;
    enum analyse_format format;
    int top;                           /* types and names in the summary */
    const struct style *style;         /* of the table; NULL: plain */
    const volatile sig_atomic_t *stop; /* read on no further once it is set; or NULL */
    /* What is wrong: "12: column X: what", of line 12; of several files "FILE:12: …". */
    void (*problem)(void *context, const char *text);
    void *context;
    json_t **summary; /* as in the JSON, with "format", and more types and names; to be freed. NULL:
                         not wanted */
};

struct analyse_result {
    int64_t rows, broken; /* of the file; of them those that could not be read */
};

/* STATUS_INVALID when the file is no profile; STATUS_IO, STATUS_NO_MEMORY. */
enum status analyse_profile(const struct analyse_job *job, FILE *out, struct analyse_result *result,
                            struct error *error);

/* The CSV of one diagnosis that is no profile's row: the same columns. */
enum status analyse_write_csv(const struct diagnosis *diagnosis, FILE *out, struct error *error);

#endif
