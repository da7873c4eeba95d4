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
    STREAM_WORK, /* private work */
    STREAM_SET,
    STREAM_WAIT,
    STREAM_TRANSFER, /* its issue, then its bytes over a bus */
    STREAM_BARRIER,
    STREAM_LOOP,      /* first line of a loop */
    STREAM_BACK,      /* last line of a loop: go back to its target while iterations are left */
    STREAM_BACK_FOLD, /* the same on the pipe that watches this loop for recurrence */
    STREAM_STOP,
    STREAM_SETTLE, /* nothing later starts before the results of everything before are there */
};

/* Eight bytes, so that a program that is written out fits the caches. */
struct stream_op {
    uint32_t code;       /* its kind, and above it a number of a table: work, transfer: costs; set,
                            wait: slots; loop, back: loops */
    int32_t instruction; /* in the program; -1 for gates */
};

enum { STREAM_KIND_BITS = 8 };

static inline struct stream_op stream_op(enum stream_kind kind, int32_t index, int32_t instruction)
{
    return (struct stream_op){(uint32_t)kind | (uint32_t)index << STREAM_KIND_BITS, instruction};
}

static inline enum stream_kind op_kind(const struct stream_op *op)
{
    return (enum stream_kind)(uint8_t)op->code;
}

static inline uint32_t op_index(const struct stream_op *op)
{
    return op->code >> STREAM_KIND_BITS;
}

/* What work and transfers take. */
struct stream_cost {
    int64_t fs;         /* work: its time; transfer: its issue */
    int64_t alone_fs;   /* transfer: its time on the bus if nobody else comes */
    int64_t latency_fs; /* after which its result is there */
    int64_t paid_units;
    int16_t price;
    int8_t bus; /* -1: work */
};

/* A loop in one stream. */
struct stream_loop {
    int32_t number; /* the same in all streams */
    int32_t target; /* back: position in the stream */
    int32_t depth;  /* loops around it */
    int64_t count;  /* iterations */
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
    int64_t set_fs; /* that a set takes to be seen */
    int64_t waits;  /* in the whole program: later sets are never read */
};

struct streams {
    const struct hardware *hw;
    uint32_t late_pipes; /* bit p: pipe p has results that come after it goes on */
    uint32_t used_pipes; /* bit p: pipe p has ops other than STREAM_STOP */
    int32_t loop_count, loop_number, slot_count;
    int64_t slot_capacity, loop_capacity, cost_capacity;
    struct stream_slot *slots;
    struct stream_loop *loops;
    struct stream_cost *costs; /* those of the program */
    struct stream streams[HARDWARE_MAX_PIPES];
};

/* Cuts and prices a closed program for `cores` working cores in step. Memory of an earlier call is
 * reused. STATUS_TOO_LARGE when the program's time could pass 2^62 fs. */
enum status streams_build(struct streams *streams, const struct program *program, int cores,
                          struct error *error);

void streams_clear(struct streams *streams);

#endif
