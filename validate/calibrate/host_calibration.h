/* This machine's processor, measured into a struct host in some seconds: its topology, what a
 * thread reads and writes at every level, what threads get together, every inner loop of
 * the kernels, the cost of a parallel region; and how quiet the machine was meanwhile.
 *
 * validate/calibrate/ has the parts. The overlap is not measured here (all of it is exposed): it
 * takes whole kernels, and is fitted by jobs/calibrate/calibrate_host.h. */
#ifndef AUTOTUNE_VALIDATE_CALIBRATE_HOST_CALIBRATION_H
#define AUTOTUNE_VALIDATE_CALIBRATE_HOST_CALIBRATION_H

#include "core/host.h"
#include "core/status.h"
#include "validate/calibrate/levels.h"
#include "validate/calibrate/loop_times.h"
#include "validate/calibrate/topology.h"
#include "validate/host_fit.h"
#include "validate/machine_load.h"

#include <stdbool.h>
#include <stddef.h>

/* What of a calibration cannot be: rates beyond what clock and ports allow, bandwidths that do not
 * fall with the levels, numbers that disagree with themselves or each other. Pure: it reads no
 * clock, and judges what struct host_calibration has.
 *
 *   doubts_find(&calibration, &doubts)       all of them
 *   doubts_of(&doubts, part)                 those for which a part is measured again
 *   settle(&attempt, error)                  measures until there are none, three times at most
 *
 * A limit is one that no processor known goes beyond, with room for a clock that changes. */
struct host_calibration;

/* What is measured again together. */
enum calibrate_part {
    PART_NONE, /* it is not */
    PART_CLOCK,
    PART_LEVELS,
    PART_SHARED,
    PART_PARALLEL,
    PART_PEAK,
    PART_LOOPS,
    PART_FIT
};

enum { DOUBTS_MOST = 48, DOUBT_KEY_SIZE = 80, DOUBT_TEXT_SIZE = 112 };

struct doubt {
    enum calibrate_part part;
    char key[DOUBT_KEY_SIZE];   /* of the number in a description; "": of none */
    char text[DOUBT_TEXT_SIZE]; /* what it is, and what was expected */
};

struct doubts {
    int count; /* beyond DOUBTS_MOST they are counted only */
    struct doubt list[DOUBTS_MOST];
};

void doubts_find(const struct host_calibration *calibration, struct doubts *doubts);
int doubts_of(const struct doubts *doubts, enum calibrate_part part);

/* The first about the number; NULL without one. */
const struct doubt *doubts_about(const struct doubts *doubts, const char *key);

/* One part that can be measured again. `doubtful` counts what is wrong with it; `keep` puts aside
 * what was measured, `restore` takes that back. */
struct attempt {
    enum status (*measure)(void *context, struct error *error);
    int (*doubtful)(void *context);
    void (*keep)(void *context);
    void (*restore)(void *context);
    void *context;
};

enum { SETTLE_TRIES = 3 };

/* Measures once, and again while something is doubtful; what is left has the fewest doubts, of
 * equals the first. */
enum status settle(const struct attempt *attempt, struct error *error);

/* Is the cost of a parallel region of so many threads one that can be? */
bool parallel_is_plausible(double ns, int threads);

struct calibrate_host_options {
    int threads;                   /* 0: one a core */
    loop_family_finder *family_at; /* whose inner loops are timed */
    struct calibrate_control control;
};

/* How well a level is known. */
struct level_quality {
    int64_t bytes;         /* that one thread read and wrote over and over */
    int64_t nominal_bytes; /* what the system says of its size; 0: memory */
    bool shrunk;           /* less of it was there: host has what was measured */
    double read_spread, write_spread, stream_spread, shared_spread;
};

enum { CALIBRATE_MAX_NOTES = 8 };

struct host_calibration {
    struct host host;
    struct topology topology;
    struct level_quality levels[HOST_MAX_LEVELS];
    struct loop_times loops; /* with their quality, in the order of host.loops */
    double peak_spread, parallel_spread;
    double parallel_measured_ns;  /* 0: not; host has 0, free, where it cannot be */
    double clock_ghz;             /* of additions that wait for each other; 0: not measured */
    double clock_step_ns;         /* the system's clock advances by */
    struct timing_noise noise[2]; /* at the start and at the end */
    struct load load;             /* of others, meanwhile */
    struct doubts doubts;         /* that are left: noisy, then */
    bool noisy, pinned, stopped;
    int64_t samples, dropped;
    double seconds;
    int fitted_kernels; /* of the overlap; 0: not fitted, all of the traffic shows */
    struct host_fit fit;
    int note_count;
    char notes[CALIBRATE_MAX_NOTES][200]; /* what people should know */
};

/* Judges anew, once the overlap is fitted: what is still doubtful, and whether it was noisy. A cost
 * of parallel regions that cannot be is refused: host then has none. */
void calibrate_judge(struct host_calibration *calibration);

/* STATUS_INVALID for more threads than there are, STATUS_NO_MEMORY, STATUS_IO. Where it was
 * stopped, `stopped` is set and host is not complete. */
enum status calibrate_host(const struct calibrate_host_options *options,
                           struct host_calibration *calibration, struct error *error);

/* Is this the machine that was measured: the same processor by name, and one that runs the
 * instructions of its loops? Otherwise `why` says what is different. */
bool host_is_this_machine(const struct host *host, char *why, size_t size);

#endif
