/* What one thread reads and writes at every level: the caches, then memory. Each sample follows an
 * untimed pass, so that the data lie where they should; levels take turns in rounds. */
#ifndef AUTOTUNE_VALIDATE_CALIBRATE_LEVELS_H
#define AUTOTUNE_VALIDATE_CALIBRATE_LEVELS_H

#include "validate/calibrate/bandwidth_curves.h"
#include "validate/calibrate/control.h"
#include "validate/calibrate/stream_rates.h"
#include "validate/calibrate/topology.h"

enum { LEVELS_MAX_REACHES = 64 };

struct level_rates {
    int64_t bytes;                     /* that were read and written over and over */
    struct middle rates[STREAM_KINDS]; /* GB/s; median 0 where the processor has no such stores */
    int64_t reach_bytes; /* how far reading stays nearer to this level's rate than to the next; 0:
                            not known */
};

struct levels {
    int count; /* caches and memory */
    struct level_rates level[HOST_MAX_LEVELS];
    int64_t memory_bytes; /* of the largest piece of memory that was used */
    int reach_count;
    struct reach reaches[LEVELS_MAX_REACHES];
};

/* How many bytes one of `sharers` threads works on to meet level `level` (the number of caches:
 * memory, of `memory_bytes`): well beyond the level before, well within its own. */
int64_t level_bytes(const struct topology *topology, int level, int sharers, int64_t memory_bytes);

/* Where it was stopped, what is not measured is 0. STATUS_NO_MEMORY. */
enum status levels_measure(const struct topology *topology, enum host_isa isa,
                           struct calibrate_control *control, struct levels *levels,
                           struct error *error);

/* At most `wanted` bytes, less where there are not as many, at least `least`; aligned and touched.
 * The caller frees it; NULL without memory. */
void *calibrate_memory(int64_t wanted, int64_t least, int64_t *got);

#endif
