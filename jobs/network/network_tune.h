/* The best tilings of a network's products: searched one after the other, from what takes most to
 * what takes least, and kept in a store, which answers what it has. */
#ifndef AUTOTUNE_JOBS_NETWORK_NETWORK_TUNE_H
#define AUTOTUNE_JOBS_NETWORK_NETWORK_TUNE_H

#include "jobs/tune/job.h"
#include "network/network.h"

#include <signal.h>

struct network_tune {
    const char *hw_name; /* with its overrides as of --set-hw */
    const char *const *overrides;
    int override_count;
    const char *space; /* of the products; NULL: the chip's default */
    const struct hardware *hw;
    struct chips *chips;
    struct store *store;
    double time_limit_s; /* of all searches together; 0: none */
    int threads;
    const volatile sig_atomic_t *stop;
};

struct network_tuned {
    int64_t products, found, cut_off, left; /* calls: that are products; with a tiling; of these by
                                               a search that the limit cut off; not begun */
    char fingerprint[FINGERPRINT_SIZE];     /* of the chip of the searches; "": there was none */
    char refused[512];                      /* why the first of the others has no search; "" */
};

/* Fills best_ns[call] of the calls in this order; 0 stays where there is none. What the store has
 * is committed after each search. A chip's cache is cold unless an override says otherwise. */
enum status network_tune(const struct network_tune *tune, const struct network *network,
                         const int64_t *order, int64_t count, double *best_ns,
                         struct network_tuned *tuned, struct error *error);

#endif
