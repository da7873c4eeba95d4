/* Who touched which bytes last: finds accesses to the same bytes that nothing orders.
 * Operands that only one pipe touches, or that nobody writes, are left out beforehand. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_OVERLAP_H
#define AUTOTUNE_ANALYSIS_CHECK_OVERLAP_H

#include "analysis/check/boundaries.h"
#include "analysis/check/findings.h"
#include "analysis/check/order.h"
#include "core/stop.h"

/* Two accesses to the same bytes that are in order: the present event, and the last one of another
 * pipe that it conflicts with and comes after. */
struct pair {
    uint32_t number; /* of the earlier event on its pipe; 0: there is none */
    int32_t item;    /* whose it is */
    int32_t piece;   /* that both touch (struct boundaries) */
    int8_t buffer;
};

enum { PAIR_WHOLE = -1 }; /* in place of a piece: any byte of the buffer, an operand is left out */

/* Operands that a line leaves out. They may lie anywhere in their buffer: no hazard is said of
 * them, but an order that they might rely on is not called superfluous either.
 *
 * A move without `src` or `dst` has all of that buffer for it; a matrix or vector instruction
 * without any operand has all buffers. External memory is left aside, where operands are left out
 * as a rule, and scalar instructions, which often touch no memory. */
struct unnamed {
    const struct program *program;
    bool any; /* some instruction leaves something out */
    uint32_t whole[HARDWARE_MAX_BUFFERS][HARDWARE_MAX_PIPES]; /* last events that may touch all */
    uint32_t some[HARDWARE_MAX_BUFFERS][HARDWARE_MAX_PIPES];  /* last events that touch anything */
    int32_t whole_item[HARDWARE_MAX_BUFFERS][HARDWARE_MAX_PIPES]; /* whose they are */
    int32_t some_item[HARDWARE_MAX_BUFFERS][HARDWARE_MAX_PIPES];
};

/* The last events of each pipe. */
struct earlier {
    const struct program *program;
    struct {
        struct earlier_event *events; /* owned: a ring of EARLIER_MAX at most */
        size_t count, capacity;       /* all events so far; a power of two */
    } pipes[HARDWARE_MAX_PIPES];
    int64_t budget; /* of events to look at */
};

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
    const struct stop *stop;
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

/* STATUS_TOO_LARGE beyond CHECK_MAX_STARTS or CHECK_MAX_BYTES, STATUS_STOPPED once `stop` says so,
 * which may be NULL. */
enum status overlap_init(struct overlap *overlap, const struct program *program,
                         const struct nest *nest, const struct stop *stop, struct error *error);
void overlap_clear(struct overlap *overlap);

/* Records the accesses of one event and adds a finding for each unordered pair of lines.
 * STATUS_TOO_LARGE beyond CHECK_MAX_VISITS. */
enum status overlap_event(struct overlap *overlap, const struct event *event,
                          struct findings *findings, struct error *error);

#endif
