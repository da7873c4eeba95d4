/* Work that may fault, hang or ask for too much memory, in a child process of its own.
 *
 *   worker_start(&worker, work, context, &error)
 *   while (!worker_wait(&worker, 100, &end)) … worker_stop(&worker) when it takes too long …
 *
 * The child shares what was mapped MAP_SHARED before, works in a new thread (so that OpenMP may be
 * used on either side), prints nothing, leaves no core file, runs none of its parent's handlers at
 * exit, is the first to go when the system is short of memory, and does not survive the thread
 * that started it. Ctrl-C does not reach it: who started it decides. After worker_wait said that it
 * ended nothing of it is left. */
#ifndef AUTOTUNE_VALIDATE_WORKER_H
#define AUTOTUNE_VALIDATE_WORKER_H

#include "core/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct worker {
    pid_t pid;
    int alive; /* a pipe from the child: its end is the child's */
};

/* How a worker ended. */
struct worker_end {
    bool finished; /* `work` returned; else: */
    int signal;    /* that killed it, or 0 */
    int status;    /* with which it exited; -1: not known */
};

enum status worker_start(struct worker *worker, void (*work)(void *context), void *context,
                         struct error *error);

/* Waits until the child has ended, at most `timeout_ms`; shorter when a signal arrives. */
bool worker_wait(struct worker *worker, int timeout_ms, struct worker_end *end);

/* Kills the child and waits for its end. */
void worker_stop(struct worker *worker, struct worker_end *end);

/* "SIGSEGV", "exit status 3", … */
void worker_end_text(const struct worker_end *end, char *text, size_t size);

#endif
