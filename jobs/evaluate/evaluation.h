/* The answer of `autotune evaluate`: a bank, read and played, as JSON that results/outline.h lays
 * out for people. */
#ifndef AUTOTUNE_JOBS_EVALUATE_EVALUATION_H
#define AUTOTUNE_JOBS_EVALUATE_EVALUATION_H

#include "jobs/correct/correct.h"
#include "jobs/evaluate/evaluate.h"

#include <jansson.h>

/* A record that breaks a rule and was passed over. */
struct bad_record {
    int record, line;
    char *text; /* owned */
};

/* A bank in memory. Rows have neither text nor key. */
struct bank {
    const char *file;
    enum bank_format format;
    size_t count, bad_count;
    struct bank_row *rows;
    struct bad_record *bad;
};

/* Reads a bank (formats/bank.h); with keep_going, records that break a rule are listed in bank->bad
 * instead of ending the reading. After an error *bank is empty. */
enum status bank_load(const char *file, int format, bool keep_going, struct bank *bank,
                      struct error *error);
void bank_clear(struct bank *bank);

/* "…_25_AiCore_…": the cores that a bank was tuned on, as CANN writes it into a file's name. 0: the
 * name says nothing. */
int bank_cores(const char *file);

/* How a row is called: its line where every line is a record, else its number. */
int bank_row_name(const struct bank_row *row);

/* "512x1024x512 batch 4", m, k, n. */
json_t *bank_row_shape(const struct bank_row *row);

/* Classes that rows are judged by; ends with a row of NULL. */
struct row_class {
    const char *by, *name;
    row_filter *belongs;
};
extern const struct row_class row_classes[];

/* Sets *answer to an object with kernels = used + skipped, the accuracy over all used rows that
 * have been measured and over classes of them, the `worst` (>= 0) rows, and all rows. null stands
 * for an accuracy of nothing. The caller owns it. */
enum status evaluation_make(const struct bank *bank, const struct prediction predictions[],
                            const struct hardware *hw, int worst, json_t **answer,
                            struct error *error);

/* Adds "corrected", how far corrected times are from measured ones (null without a correction), and
 * "correction", which it is, how many of the rows are of problems that it was learned from, and how
 * well it does on others; where one is not used, why. */
enum status evaluation_add_corrected(const struct bank *bank, const struct prediction predictions[],
                                     const struct correcting *correcting,
                                     const struct correction *correction, json_t *answer,
                                     struct error *error);

#endif
