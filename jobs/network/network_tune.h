/* The best tilings of a network's products and convolutions (network/problem.h): searched one after
 * the other, from what takes most to what takes least, and kept in a store, which answers what it
 * has. */
#ifndef AUTOTUNE_JOBS_NETWORK_NETWORK_TUNE_H
#define AUTOTUNE_JOBS_NETWORK_NETWORK_TUNE_H

#include "jobs/tune/job.h"
#include "results/network.h"

#include <signal.h>

struct network_tune {
    const char *hw_name; /* with its overrides as of --set-hw */
    const char *const *overrides;
    int override_count;
    const char *space; /* of products; NULL: the chip's default */
    const struct hardware *hw;
    struct chips *chips;
    struct store *store;
    double time_limit_s; /* of all searches together; 0: none */
    int threads;
    const volatile sig_atomic_t *stop;
    void (*progress)(void *context, int64_t done, int64_t total); /* of the calls; NULL: none */
    void *context;
};

struct network_tuned {
    int64_t searched, cut_off, left;    /* calls: of all whose problem is known; by a search that
                                           the limit cut off; not begun */
    char fingerprint[FINGERPRINT_SIZE]; /* of the chip of the searches; "": there was none */
};

/* Fills found[call] of the calls in this order, whose texts are to be freed even after a failure.
 * What the store has is committed after each search. A chip's cache is cold unless an override says
 * otherwise. */
enum status network_tune(const struct network_tune *tune, const struct network *network,
                         const int64_t *order, int64_t count, struct call_tuned *found,
                         struct network_tuned *tuned, struct error *error);

#endif
