/* Between learn_network.c, which trains, and learn_runs.c, which lists runs and judges. */
#ifndef AUTOTUNE_JOBS_CALIBRATE_LEARN_RUNS_H
#define AUTOTUNE_JOBS_CALIBRATE_LEARN_RUNS_H

#include "jobs/calibrate/learn.h"
#include "network/operator_time.h"

/* Calls of left-out runs that an interval holds: a little more than the four fifths that are said
 * of it, since a network that was not learned from has fewer. */
#define RUN_COVERS 0.83

struct run_row {
    const struct operator_call *call;
    struct call_sizes sizes;
    char kinds[CALL_LEVELS][CALL_KIND_SIZE];
    const double *terms; /* of the table */
    int run, network;    /* each the first run of it */
};

/* Every measured call of all runs. */
struct run_table {
    size_t count;
    int runs;
    struct run_row *rows;
    double *terms; /* count × CALL_TERMS */
    double *times_us;
};

/* The caller clears the table, after a failure too. */
enum status run_table_fill(const struct network runs[], int count, const struct hardware *hw,
                           struct run_table *table, struct error *error);
void run_table_clear(struct run_table *table);

/* Of a row that was left out: the law's time and what the forests add to its logarithm. */
struct run_prediction {
    double law_us, at[CORRECT_FORESTS];
    bool knows_kind; /* it has a law of its own */
};

/* Learns from the rows that `seen` tells, and predicts the others; with NULL it does not. */
enum status run_train(const struct run_table *table, const struct learn_options *options,
                      const char seen[], struct correction *c, struct run_prediction predictions[],
                      struct error *error);

/* Fills margin, together and the qualities, with each run and then each network left out. */
enum status run_judge(const struct run_table *table, const struct learn_options *options,
                      struct correction *c, struct error *error);

#endif
