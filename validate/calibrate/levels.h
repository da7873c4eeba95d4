/* What one thread reads and writes at every level: the caches, then memory. Each sample follows an
 * untimed pass, so that the data lie where they should; levels take turns in rounds. And what
 * threads that read at once get together, each on a processor and with data of its own. */
#ifndef AUTOTUNE_VALIDATE_CALIBRATE_LEVELS_H
#define AUTOTUNE_VALIDATE_CALIBRATE_LEVELS_H

#include "core/host.h"
#include "validate/calibrate/stream_rates.h"
#include "validate/calibrate/topology.h"
#include "validate/timing.h"

#include <signal.h>

/* What the parts of a calibration share: how to stop, how to say how far it is, and single samples
 * by the protocol of validate/timing.h. */
struct calibrate_control {
    const volatile sig_atomic_t *stop;                                               /* or NULL */
    void (*progress)(void *context, const char *phase, int64_t done, int64_t total); /* or NULL */
    void *context;
    int64_t samples, dropped; /* so far */
};

bool calibrate_stopped(const struct calibrate_control *control);
void calibrate_progress(const struct calibrate_control *control, const char *phase, int64_t done,
                        int64_t total);

/* Five significant digits: more than a measurement has, and few enough to be read. */
double calibration_digits(double value);

/* How fast one thread reads `bytes` over and over. */
struct reach {
    int64_t bytes;
    double gbps;
};

/* The bytes up to which reading is nearer to inner_gbps than to outer_gbps, by time: where a cache
 * ends. Points ascend; those up to `from_bytes` do not count, nor does a single slow point among
 * fast ones. 0 where the rates are within 10 % of each other, or no point is slow. */
double reach_end(const struct reach *points, int count, double from_bytes, double inner_gbps,
                 double outer_gbps);

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

/* At most `wanted` bytes, less where there are not as many, at least `least`; aligned and touched.
 * The caller frees it; NULL without memory. */
void *calibrate_memory(int64_t wanted, int64_t least, int64_t *got);

/* Where it was stopped, what is not measured is 0. STATUS_NO_MEMORY. */
enum status levels_measure(const struct topology *topology, enum host_isa isa,
                           struct calibrate_control *control, struct levels *levels,
                           struct error *error);

/* A contention curve with all of its numbers from those that were measured: totals_gbps[n - 1] > 0
 * for n threads, or 0 where it was not. The first one must be there. In between in proportion; then
 * lowered to where the share of each falls with n, as descriptions require. */
void contention_fill(double *totals_gbps, int count);

/* The thread counts that are worth measuring, ascending, from 1 to `threads`; returns how many. */
enum { CONTENTION_MAX_COUNTS = 24 };
int contention_counts(int threads, int counts[CONTENTION_MAX_COUNTS]);

struct contention {
    int count;                           /* of threads, most */
    double total_gbps[HOST_MAX_THREADS]; /* by threads less one; all of them */
    bool measured[HOST_MAX_THREADS];     /* others lie between */
    double spread;                       /* the largest of those measured */
    bool pinned;                         /* every thread stayed on a processor */
};

/* Level `level` as in level_bytes. STATUS_NO_MEMORY, STATUS_IO
 * where threads cannot be started. */
enum status contention_measure(const struct topology *topology, enum host_isa isa, int level,
                               int64_t memory_bytes, struct calibrate_control *control,
                               struct contention *contention, struct error *error);

#endif
