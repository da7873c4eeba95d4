/* What some tilings take in several spaces, of problems that differ in sizes only: how good is what
 * was found for one size for the others? Bounds of all are known as soon as a tiling is added,
 * times when they are asked for, once each.
 *
 *   transfer_open(&transfer, spaces, count, threads, &error)
 *   transfer_add(&transfer, tilings, number, &error) …
 *   transfer_bound_fs(&transfer, tiling, space); transfer_time(&transfer, tiling, space, &fs, …)
 *   transfer_close(&transfer)                                      whatever the status
 *
 * Tilings and spaces go by their numbers, in the order in which they came. */
#ifndef AUTOTUNE_SEARCH_TRANSFER_H
#define AUTOTUNE_SEARCH_TRANSFER_H

#include "search/workers.h"

#define NOT_LEGAL INT64_MAX

struct transferred {
    int64_t bound_fs, time_fs; /* NOT_LEGAL; time_fs: 0 until it is asked for */
};

struct transfer {
    int spaces, threads;
    const struct space *const *space; /* not owned */
    struct bounders bounders;
    struct worker worker; /* of times */
    int64_t tilings, capacity;
    struct tiling *tiling;       /* owned */
    struct transferred **result; /* by tiling, then space; owned */
    int64_t simulated;
};

enum status transfer_open(struct transfer *transfer, const struct space *const spaces[], int count,
                          int threads, struct error *error);
void transfer_close(struct transfer *transfer);

/* Adds those that are not there yet. */
enum status transfer_add(struct transfer *transfer, const struct tiling tilings[], int64_t count,
                         struct error *error);

/* The same of a tiling that is not added. */
int64_t transfer_try(const struct transfer *transfer, const struct tiling *tiling, int space);

/* NOT_LEGAL, or a time that it does not beat there. */
static inline int64_t transfer_bound_fs(const struct transfer *transfer, int64_t tiling, int space)
{
    return transfer->result[tiling][space].bound_fs;
}

/* NOT_LEGAL, or the time. */
enum status transfer_time(struct transfer *transfer, int64_t tiling, int space, int64_t *time_fs,
                          struct error *error);

#endif
