/* Executes a program without times: yields its events one by one in an order that respects
 * happens-before, each with its vector clock.
 *
 * Instructions are dispatched in program order, loops unrolled on the way; one that cannot run yet
 * stands in its pipe's queue. A clock counts, per pipe, the events known to have happened before:
 * event number n of pipe q happened before the present event of pipe p exactly when clock[q] >= n.
 *
 * Use: order_init, order_next until the item is -1, then order_blocked and what is left pending in
 * order.flags; order_clear. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_ORDER_H
#define AUTOTUNE_ANALYSIS_CHECK_ORDER_H

#include "analysis/check/nest.h"

/* A growing ring of equal items, first in first out. */
struct queue {
    unsigned char *items;
    size_t item_bytes;
    size_t capacity, head, count;
};

struct flag_register {
    int64_t total_sets, total_waits; /* over the whole program */
    int64_t sets, waits;             /* so far */
    uint32_t wait_number;            /* event number of the last wait on its pipe */
    int32_t set_item, wait_item;     /* the last set and wait */
    struct queue pending; /* sets without their wait so far, of those that will have one */
};

struct flags {
    const struct program *program;
    int pipes, per_pair;
    struct flag_register *registers; /* by flags_index */
};

size_t flags_count(const struct flags *flags);
size_t flags_index(const struct flags *flags, const struct instruction *in);

/* A set without its wait so far. */
struct pending_view {
    int32_t item, set_again; /* the set that came too early after it, or -1 */
    const uint32_t *clock;
};

/* The n-th of a register's pending sets, from 0; n < pending.count. */
struct pending_view flags_pending(const struct flag_register *reg, size_t n);

/* A set that was not ordered after the wait of the set before it; `set` is -1 for none, `wait`
 * is -1 when that wait does not exist or never runs. */
struct double_set {
    int32_t set, earlier, wait;
};

struct event {
    int32_t item;            /* into program->items; -1 at the end */
    int pipe;                /* PROGRAM_PIPE_ALL: a barrier, which has neither clock nor index */
    const uint32_t *clock;   /* per pipe, with this event; valid until the next call */
    const int64_t *index;    /* of the loops around it, outermost first, then 0; valid as long */
    bool overtaken;          /* an instruction of a blocking pipe, dispatched later, ran before */
    struct double_set twice; /* that became certain */
};

struct order {
    const struct program *program;
    const struct nest *nest;
    struct flags flags;
    int32_t next; /* to dispatch */
    int depth;
    int64_t index[PROGRAM_MAX_DEPTH];
    bool halted;    /* nothing more is dispatched: the last instruction, a barrier or a wait of a
                       blocking pipe, waits for ever */
    bool lenient;   /* a wait for which the program has no set passes, and orders nothing */
    uint32_t ready; /* pipes whose first queued wait has got its set, as bits */
    uint32_t clock[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES];
    struct queue queued[HARDWARE_MAX_PIPES];
    int64_t blocking;     /* events of blocking pipes so far */
    int64_t budget_bytes; /* left for queues */
    /* Called at the beginning of every iteration but the first, with the loop at its depth; may
     * advance the loop's index (order_advance). NULL: nobody asks. */
    void (*back)(void *context, int32_t loop, int depth);
    void *back_context;
};

enum status order_init(struct order *order, const struct program *program, const struct nest *nest,
                       struct error *error);
void order_clear(struct order *order);

/* STATUS_TOO_LARGE when more waits for other pipes than CHECK_MAX_BYTES hold. */
enum status order_next(struct order *order, struct event *event, struct error *error);

/* The instruction of the n-th entry in a pipe's queue, with its loops' indices; was it overtaken?
 */
int32_t order_queued(const struct order *order, int pipe, size_t n, int64_t **index,
                     bool *overtaken);

/* Lets the innermost open loop, at `depth`, and what stands in queues jump over iterations. */
void order_advance(struct order *order, int depth, int64_t iterations);

/* After the last event: the wait at which the pipe is blocked for ever, or -1. */
int32_t order_blocked(const struct order *order, int pipe);

#endif
