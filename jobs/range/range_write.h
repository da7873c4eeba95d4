/* A range's answer for people, for machines and for programs. */
#ifndef AUTOTUNE_JOBS_RANGE_RANGE_WRITE_H
#define AUTOTUNE_JOBS_RANGE_RANGE_WRITE_H

#include "jobs/range/range.h"
#include "results/format.h"

/* A header for C99 and C++11: the tilings with their parts, and a lookup by size. */
enum status range_write_c(const struct range_question *question, const struct range_answer *answer,
                          const char *version, const char *command, FILE *out, struct error *error);

enum status range_write_json(const struct range_question *question,
                             const struct range_answer *answer, FILE *out, struct error *error);

enum status range_write_table(const struct range_question *question,
                              const struct range_answer *answer, const char *next,
                              const struct style *style, FILE *out, struct error *error);

/* Rows of an operator library: one for every size, for they are looked up by exact sizes. */
enum status range_write_rows(const struct range_question *question,
                             const struct range_answer *answer, const char *origin,
                             const struct format *format, FILE *out, int *left_out,
                             struct error *error);

#endif
