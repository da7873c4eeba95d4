/* Who touched which bytes last: finds accesses to the same bytes that nothing orders.
 * Operands that only one pipe touches, or that nobody writes, are left out beforehand. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_OVERLAP_H
#define AUTOTUNE_ANALYSIS_CHECK_OVERLAP_H

#include "analysis/check/boundaries.h"
#include "analysis/check/earlier.h"
#include "analysis/check/findings.h"
#include "analysis/check/order.h"
#include "analysis/check/unnamed.h"

/* The last accesses of one pipe to one piece: event numbers (0: none) and instructions. */
struct access {
    uint32_t write, read;
    int32_t write_item, read_item;
};

struct buffer_map {
    struct boundaries cuts;
    int slots;                          /* pipes that touch the buffer */
    int8_t slot_of[HARDWARE_MAX_PIPES]; /* -1: does not touch it */
    int8_t pipe_of[HARDWARE_MAX_PIPES];
    struct access *last; /* pieces × slots */
};

struct overlap {
    const struct program *program;
    const struct nest *nest;
    bool *watched; /* per region */
    struct buffer_map maps[HARDWARE_MAX_BUFFERS];
    struct unnamed unnamed;
    struct earlier earlier;
    bool numbered;          /* events have the numbers that they have in the whole program */
    int64_t starts, visits; /* work done */
    bool interlocked;       /* some of these are not 0: */
    uint32_t carried[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES]; /* by pipe: interlocked accesses of
                                                                 others that it still overlaps */
    uint32_t settled[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES]; /* by pipe: the latest events of
                                                                 others that pairs had so far */

    /* Of the last event, per other pipe; nothing where it is of no interest: */
    bool of_interest;
    struct pair pairs[HARDWARE_MAX_PIPES]; /* what it conflicts with and comes after, where none
                                              of its pipe came after that before */
    uint32_t bounds[HARDWARE_MAX_PIPES];   /* events that it has to come after on top of that, as
                                              far as is known; 0: none */
    uint32_t unordered;                    /* bits: it does not come after the last conflict */
};

/* STATUS_TOO_LARGE beyond CHECK_MAX_STARTS or CHECK_MAX_BYTES. */
enum status overlap_init(struct overlap *overlap, const struct program *program,
                         const struct nest *nest, struct error *error);
void overlap_clear(struct overlap *overlap);

/* Records the accesses of one event and adds a finding for each unordered pair of lines.
 * STATUS_TOO_LARGE beyond CHECK_MAX_VISITS. */
enum status overlap_event(struct overlap *overlap, const struct event *event,
                          struct findings *findings, struct error *error);

#endif
