/* What a sweep prints: its plan, and its summary. */
#ifndef AUTOTUNE_CLI_SWEEP_ANSWER_H
#define AUTOTUNE_CLI_SWEEP_ANSWER_H

#include "cli/options.h"
#include "jobs/sweep/sweep.h"

struct sweep_summary {
    const struct sweep *sweep;
    const struct sweep_counts *ran;
    const char *db;
    struct store *store; /* db, open */
    bool stopped;
    struct sweep_found found[STORE_KINDS];
    const char *next;           /* the command to go on with; or NULL */
    struct sweep_point *points; /* owned; NULL: none asked for */
    struct sweep_calls *calls;  /* owned; NULL: no row says how often */
    int64_t calls_count;
};

void sweep_summary_write(const struct sweep_summary *summary, const struct common *common);
void sweep_summary_clear(struct sweep_summary *summary);

/* The jobs in the order in which they would run, without those that the store has answers to. */
struct sweep_plan {
    const struct sweep *sweep; /* without them */
    const char *db;
    int64_t from_store; /* how many they are */
    int threads;
};

void sweep_plan_write(const struct sweep_plan *plan, const struct common *common);

#endif
