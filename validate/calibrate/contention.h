/* What threads that read at once get together: each on a processor and with data of its own. */
#ifndef AUTOTUNE_VALIDATE_CALIBRATE_CONTENTION_H
#define AUTOTUNE_VALIDATE_CALIBRATE_CONTENTION_H

#include "validate/calibrate/levels.h"

struct contention {
    int count;                           /* of threads, most */
    double total_gbps[HOST_MAX_THREADS]; /* by threads less one; all of them */
    bool measured[HOST_MAX_THREADS];     /* others lie between */
    double spread;                       /* the largest of those measured */
    bool pinned;                         /* every thread stayed on a processor */
};

/* Level `level` as in level_bytes. STATUS_NO_MEMORY, STATUS_IO where threads cannot be started. */
enum status contention_measure(const struct topology *topology, enum host_isa isa, int level,
                               int64_t memory_bytes, struct calibrate_control *control,
                               struct contention *contention, struct error *error);

#endif
