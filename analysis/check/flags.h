/* The flag registers while a program executes: which set a wait gets, and whether a set came before
 * the set before it was known to be consumed.
 *
 * Only clocks of sets that some wait will still fetch are kept. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_FLAGS_H
#define AUTOTUNE_ANALYSIS_CHECK_FLAGS_H

#include "analysis/check/nest.h"
#include "analysis/check/queue.h"

struct flag_register {
    int64_t total_sets, total_waits; /* over the whole program */
    int64_t sets, waits;             /* so far */
    uint32_t wait_number;            /* event number of the last wait on its pipe */
    int32_t set_item, wait_item;     /* the last set and wait */
    struct queue pending;            /* struct pending_set, those without their wait so far */
};

struct flags {
    const struct program *program;
    int pipes, per_pair;
    struct flag_register *registers; /* by flags_index */
};

/* A set that was not ordered after the wait of the set before it; `set` is -1 for none, `wait`
 * is -1 when that wait does not exist or never runs. */
struct double_set {
    int32_t set, earlier, wait;
};

/* A set without its wait so far. */
struct pending_view {
    int32_t item, set_again; /* the set that came too early after it, or -1 */
    const uint32_t *clock;
};

/* The n-th of a register's pending sets, from 0; n < pending.count. */
struct pending_view flags_pending(const struct flag_register *reg, size_t n);

enum status flags_init(struct flags *flags, const struct program *program, const struct nest *nest,
                       struct error *error);
void flags_clear(struct flags *flags);

size_t flags_count(const struct flags *flags);
size_t flags_index(const struct flags *flags, const struct instruction *in);

/* Would a wait of this register go on now? */
bool flags_available(const struct flags *flags, const struct instruction *in);

/* Has the program no set for the next wait of this register? */
bool flags_is_surplus(const struct flags *flags, const struct instruction *in);

/* Have all sets of this register run, and all waits that have a set? */
bool flags_finished(const struct flags *flags, const struct instruction *in);

/* Plays a set whose pipe has the given clock, or the wait that consumes the oldest set: joins that
 * set's clock into the waiting pipe's and counts the wait as its next event. Both report a double
 * set that became certain. */
enum status flags_set(struct flags *flags, int32_t item, const uint32_t *clock,
                      int64_t *budget_bytes, struct double_set *twice, struct error *error);
void flags_wait(struct flags *flags, int32_t item, uint32_t *clock, struct double_set *twice);

/* After the last event: is the n-th of a register's pending sets, whose waits never ran, set again?
 */
bool flags_leftover(const struct flag_register *reg, size_t n, struct double_set *twice);

/* The instructions of the last sets (or waits) that have no partner, latest first, each once; how
 * many, at most max_items. */
int flags_surplus(const struct flags *flags, const struct nest *nest, size_t index, int32_t *items,
                  int max_items);

#endif
