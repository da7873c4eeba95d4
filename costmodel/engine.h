/* The simulator's state, shared by simulate.c and folding (fold.c). */
#ifndef AUTOTUNE_COSTMODEL_ENGINE_H
#define AUTOTUNE_COSTMODEL_ENGINE_H

#include "core/timeline.h"
#include "costmodel/simulate.h"
#include "costmodel/streams.h"

__extension__ typedef unsigned __int128 wide; /* bytes · FS_PER_S: exact work left on a bus */

enum lane_state { LANE_READY, LANE_WAITS, LANE_AT_BARRIER, LANE_ON_BUS, LANE_STOPPED };

/* One pipe of one core. What every instruction touches comes first. */
struct lane {
    const struct stream_op *op; /* next, or the one it is blocked in */
    const struct stream_op *ops;
    int64_t time_fs; /* end of its previous instruction */
    int64_t busy_fs;
    struct slot *slots; /* of its core */
    struct core *core;
    const int64_t *dispatch; /* per op, as in struct stream; NULL: dispatch takes no time */
    int64_t dispatch_fs;     /* when its next instruction has been dispatched */
    int8_t pipe;
    uint8_t state;    /* enum lane_state */
    uint8_t in_step;  /* pipes of its kind that do the same: all are on the bus */
    int8_t depth;     /* loops around `op` */
    int64_t start_fs; /* of its transfer */
    wide left;
    const struct stream_cost *cost; /* of its transfer */
    const struct share *shares;     /* of one of n such transfers: [n] */
    int64_t yielded_at; /* what it had reached when it last let the others run; 0: never */
    int64_t iterations[PROGRAM_MAX_DEPTH]; /* done, of the loops around it */
    int32_t loops[PROGRAM_MAX_DEPTH];      /* their numbers */
    int64_t done_fs;                       /* when the latest result with a latency is there */
};

/* The sets of one register that no wait has consumed yet: a ring. One cache line. */
struct slot {
    int64_t *times_fs;
    uint32_t mask;  /* capacity - 1 */
    int32_t waiter; /* lane blocked on it, or -1 */
    int64_t pushed, popped;
    int64_t inline_times_fs[4];
};

struct core {
    int32_t at_barrier; /* lanes that have arrived */
    int64_t barrier_fs; /* latest of them */
    int32_t first_lane;
};

struct bus_state {
    int64_t now_fs;     /* work left is as of now */
    int64_t active_fs;  /* time with a transfer */
    int32_t lane_count; /* on the bus */
    int32_t active;     /* the first of them transfer, the others are about to */
    int32_t transfers;
    struct lane **lanes;
};

enum { FOLD_KEY_SIZE = 512 };

/* The rate of one of n transfers, and 2^20 over it. */
struct share {
    int64_t bytes_per_s;
    double reciprocal;
};

/* The machine's state at the end of one iteration of a watched loop. */
struct snapshot {
    int32_t loop; /* -1: none */
    int64_t iteration;
    int64_t now_fs;
    int32_t key_size;
    int64_t key[FOLD_KEY_SIZE];
    int64_t iterations[HARDWARE_MAX_PIPES]; /* of that loop, per lane; -1: not in it */
    int64_t busy_fs[HARDWARE_MAX_PIPES];
    int64_t active_fs[HARDWARE_MAX_BUSES];
    int64_t pushed[FOLD_KEY_SIZE]; /* sets so far, per slot */
};

struct simulator {
    struct streams streams;
    const struct hardware *hw;
    const struct trace *trace;
    int32_t in_step; /* cores that one simulated core stands for */
    int32_t core_count, lane_count, slot_count;
    int32_t lane_capacity, slot_capacity, core_capacity;
    struct lane *lanes;
    struct slot *slots;
    struct core *cores;
    struct lane **ready; /* stack of lanes that can go on */
    int32_t ready_count;
    struct lane **bus_lanes;
    int32_t on_bus;             /* lanes, over all buses */
    struct bus_state *last_bus; /* that a lane went on */
    struct bus_state buses[HARDWARE_MAX_BUSES];
    int32_t share_stride;
    int32_t share_capacity;
    struct share *shares; /* of one of n transfers: [price · share_stride + n] */
    bool failed;          /* out of memory for flag sets */
    const struct stop *stop;
    int64_t limit_fs; /* 0: none */
    uint32_t turns;   /* between two looks at `stop` and the limit */
    bool stopped, is_beyond;
    struct snapshot snapshots[PROGRAM_MAX_DEPTH];
    struct snapshot current;
};

static inline int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When all that the lane has done is done. */
static inline int64_t settled_fs(const struct lane *lane)
{
    return later(lane->time_fs, lane->done_fs);
}

/* When the pipes start, but for a core's skew. */
static inline int64_t engine_start_fs(const struct simulator *s)
{
    return hardware_start_fs(s->hw, s->core_count * s->in_step);
}

/* The watching lane is about to begin iteration `iteration` of its loop: skip
 * whole periods if the state recurs. */
void fold(struct simulator *s, const struct lane *lane, const struct stream_loop *loop,
          int64_t iteration);

/* Is the state at the end of this iteration one to keep? At 1, 2, 4, 8, … */
static inline bool fold_is_due(const struct lane *lane, const struct stream_loop *loop)
{
    int64_t iteration = lane->iterations[loop->depth] + 1;
    return (iteration & (iteration - 1)) == 0;
}

static inline void lane_ready(struct simulator *s, struct lane *lane)
{
    lane->state = LANE_READY;
    s->ready[s->ready_count++] = lane;
}

#endif
