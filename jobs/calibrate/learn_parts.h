/* Between jobs/calibrate/learn.c, which trains and judges, and learn_table.c, which simulates. */
#ifndef AUTOTUNE_JOBS_CALIBRATE_LEARN_PARTS_H
#define AUTOTUNE_JOBS_CALIBRATE_LEARN_PARTS_H

#include "jobs/calibrate/learn.h"

/* Every row with both times, bank by bank. */
struct learn_table {
    size_t count;
    int features;
    char (*names)[FEATURE_NAME_SIZE];
    double *x;       /* count × features */
    double *y;       /* ln(measured / simulated) */
    double *weights; /* in training; 1 of a row of the corrected chip */
    bool *own;
    uint32_t *problem;
    struct prediction *predictions;
    struct bank_row *rows;
};

/* Simulates all banks. The caller clears the table, after a failure too. */
enum status learn_table_fill(const struct learn_bank banks[], int count,
                             const struct learn_options *options, struct learn_table *table,
                             struct correction *correction, struct error *error);
void learn_table_clear(struct learn_table *table);

#endif
