/* What simulating a program gives: when it ends, how long each pipe was busy, where it is stuck. */
#ifndef AUTOTUNE_CORE_TIMELINE_H
#define AUTOTUNE_CORE_TIMELINE_H

#include "core/hardware.h"

struct timeline {
    int64_t end_fs;                        /* last completion on any pipe, launch included */
    int64_t busy_fs[HARDWARE_MAX_PIPES];   /* of one core: issue, work, waiting for a shared bus */
    int64_t active_fs[HARDWARE_MAX_BUSES]; /* time with at least one transfer on the bus */
    int32_t blocked;                       /* deadlock: first instruction in program order that
                                              never ends; -1: none. end_fs is then meaningless */
};

/* Called once for every interval in which a pipe worked or stood in a wait, in no order of time.
 * `instruction` is an index into the program. */
struct trace {
    void *context;
    void (*event)(void *context, int core, int pipe, int32_t instruction, int64_t start_fs,
                  int64_t end_fs);
};

#endif
