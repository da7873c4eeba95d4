/* A program cut into one instruction stream per pipe, priced, ready to be executed.
 *
 * Every pipe keeps the loops in which it has something to do. Order between pipes survives as
 * slots: one per flag register in use, and one per pipe that must not overtake the
 * dispatch-blocking pipe (a "gate": at the place in program order where that pipe's next
 * instruction stands, the blocking pipe sets and the other waits). */
#ifndef AUTOTUNE_COSTMODEL_STREAMS_H
#define AUTOTUNE_COSTMODEL_STREAMS_H

#include "core/program.h"

enum stream_kind {
    STREAM_WORK, /* private work: fs */
    STREAM_SET,
    STREAM_WAIT,
    STREAM_TRANSFER, /* fs of issue, then the instruction's bytes over a bus */
    STREAM_BARRIER,
    STREAM_LOOP,      /* first line of a loop: fs = iterations */
    STREAM_BACK,      /* last line of a loop: go back to `target` while iterations are left */
    STREAM_BACK_FOLD, /* the same on the pipe that watches this loop for recurrence */
    STREAM_STOP,
    STREAM_SETTLE, /* nothing later starts before the results of everything before are there */
};

struct stream_op {
    uint8_t kind;        /* enum stream_kind */
    uint8_t depth;       /* loops around it in this stream */
    int16_t price;       /* transfer */
    int32_t slot;        /* set, wait; loop, back: the loop's number */
    int32_t target;      /* back: position in the stream */
    int32_t instruction; /* in the program; -1 for gates */
    int64_t fs;          /* work: its time; transfer: its issue; loop, back: iterations */
    union {
        int64_t alone_fs;   /* transfer: its time on the bus if nobody else comes */
        int64_t latency_fs; /* work: after which its result is there */
    };
};

struct stream {
    int32_t count;
    int64_t capacity, dispatch_capacity;
    struct stream_op *ops;
    int64_t *dispatch_fs; /* per op: dispatch time since the pipe's previous op */
};

/* One flag register, or one gate. */
struct stream_slot {
    int8_t from, to;
    bool gate;
    int64_t waits; /* in the whole program: later sets are never read */
};

struct streams {
    const struct hardware *hw;
    uint32_t late_pipes; /* bit p: pipe p has results that come after it goes on */
    uint32_t used_pipes; /* bit p: pipe p has ops other than STREAM_STOP */
    int32_t loop_count;
    int32_t slot_count;
    int64_t slot_capacity;
    struct stream_slot *slots;
    uint32_t *loop_masks; /* per instruction: pipes that take part in the loop that opens there */
    int64_t mask_capacity;
    struct stream streams[HARDWARE_MAX_PIPES];
};

/* Cuts and prices a closed program for `cores` working cores in step. Memory of an earlier call is
 * reused. STATUS_TOO_LARGE when the program's time could pass 2^62 fs. */
enum status streams_build(struct streams *streams, const struct program *program, int cores,
                          struct error *error);

void streams_clear(struct streams *streams);

#endif
