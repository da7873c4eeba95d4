/* What the system says of its processors: how many there are and may be used, which caches they
 * share, how much memory there is. By hwloc; where it knows no caches, by sysconf, and else by what
 * is common.
 *
 * One thread a core works: siblings on one core share the units that matter here. */
#ifndef AUTOTUNE_VALIDATE_CALIBRATE_TOPOLOGY_H
#define AUTOTUNE_VALIDATE_CALIBRATE_TOPOLOGY_H

#include "core/host.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { TOPOLOGY_MAX_CACHES = HOST_MAX_LEVELS - 1 };

/* A cache on the way of the first thread's loads. */
struct topology_cache {
    char name[8]; /* "L1" */
    int64_t bytes;
    int line_bytes; /* 0: not known */
    int threads;    /* of those that work, that share it */
};

struct topology {
    char cpu[64];                       /* as the system names it */
    int processors;                     /* that the system has, switched off or not */
    int allowed;                        /* that this process may run on */
    int cores;                          /* that these belong to */
    double quota;                       /* processors' worth of time that a container has; 0: all */
    int threads;                        /* that work: one a core, within the quota */
    int processor_of[HOST_MAX_THREADS]; /* by thread: the n-th of those allowed (timing_pin) */
    int cache_count;
    struct topology_cache caches[TOPOLOGY_MAX_CACHES]; /* from the L1 outwards, growing */
    bool assumed;         /* the caches' sizes are: nobody knows them */
    int64_t memory_bytes; /* that may be taken; 0: not known */
};

/* Where the topology is from: NULL for both: this machine. */
struct topology_source {
    const char *synthetic; /* hwloc's description in a line, "pack:1 l3:1 …" */
    const char *xml_file;  /* recorded by `lstopo FILE.xml` */
    const char *cgroup;    /* folder of control groups; NULL: /sys/fs/cgroup */
};

/* `threads`: that work, at most one a processor that is allowed; 0: one a core within the quota.
 * STATUS_INVALID where more are asked for than there are, or hwloc takes another machine's
 * topology (HWLOC_XMLFILE and the like) for ours; STATUS_IO where hwloc reads none. */
enum status topology_read(const struct topology_source *source, int threads,
                          struct topology *topology, struct error *error);

/* How many processors this process may use: those that taskset and cpusets leave it, and whole ones
 * within the quota of its control groups, whose folder is `groups` or, with NULL, the usual one; at
 * least 1. */
int topology_processors(const char *groups);

#endif
