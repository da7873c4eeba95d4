/* How long work takes on a processor as measured: closed forms, no simulation.
 *
 * A phase computes for calls · call_ns + steps · step_ns and moves bytes at the rates of the levels
 * where they lie. Out-of-order execution and prefetching hide most moves behind the computing;
 * host->overlap.exposed says which share of a level's moves they do not hide, and no phase is
 * faster than its moves alone:
 *
 *     phase = max(computing + Σ exposed · moves, Σ moves)
 *
 * Phases follow each other. The pipes of a processor's struct hardware are the components of this
 * sum, so that answers show them as they show a chip's pipes. */
#ifndef AUTOTUNE_COSTMODEL_HOST_TIME_H
#define AUTOTUNE_COSTMODEL_HOST_TIME_H

#include "core/host.h"
#include "core/timeline.h"

/* Pipe 0 is computing (the steps of loops), 1 + l what is exposed of the traffic of level l + 1 (L2
 * outwards; memory is the last), and the last one calls of loops and parallel regions. */
int host_pipe_count(const struct host *host);
void host_pipe_name(const struct host *host, int pipe, char name[HARDWARE_NAME_SIZE]);

/* Nanoseconds; > 0 and finite for any work that is finite and not negative. */
double host_time_ns(const struct host *host, const struct host_work *work);

/* Fills end_fs and busy_fs (which add up to it; times beyond some 2.5 hours count as that much);
 * blocked is -1. */
void host_time(const struct host *host, const struct host_work *work, struct timeline *timeline);

#endif
