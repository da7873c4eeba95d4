/* When to end early: a flag that somebody sets, a moment, or either. One value, handed down to all
 * that may take long and asked there, so often that the answer is heard within a tenth of a second.
 *
 *   struct stop stop = {.told = &flag, .deadline_ns = stop_after_s(2.5)};
 *   while (… && !stop_due(&stop)) …
 *
 * What is cut off so returns what it has, or STATUS_STOPPED where half of it is worth nothing. */
#ifndef AUTOTUNE_CORE_STOP_H
#define AUTOTUNE_CORE_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct stop {
    const volatile sig_atomic_t *told; /* becomes non-zero; NULL: nobody tells */
    int64_t deadline_ns;               /* of the monotonic clock; 0: none */
    const struct stop *also;           /* … and when this one says so; or NULL */
};

/* NULL: never. */
bool stop_due(const struct stop *stop);

/* The deadline so many seconds from now. */
int64_t stop_after_s(double seconds);

/* The later of a deadline and that: for what stands beside an answer. 0 stays: none. */
int64_t stop_after_least_s(int64_t deadline_ns, double seconds);

/* Signals that would end the program wait between these two, so that no temporary file outlives it.
 * For a moment, by one thread at a time. */
struct stop_held {
    struct sigaction before[3];
};
void stop_hold(struct stop_held *held);
void stop_release(const struct stop_held *held);

#endif
