#include "costmodel/simulate.h"

#include "core/work.h"
#include "costmodel/engine.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PENDING_SETS = 1 << 26 }; /* of one register */

struct simulator *simulator_new(void)
{
    return calloc(1, sizeof(struct simulator));
}

static void free_rings(struct simulator *s)
{
    for (int32_t i = 0; i < s->slot_count; i++)
        if (s->slots[i].times_fs != s->slots[i].inline_times_fs)
            free(s->slots[i].times_fs);
    s->slot_count = 0;
}

void simulator_free(struct simulator *s)
{
    if (!s)
        return;
    free_rings(s);
    streams_clear(&s->streams);
    free(s->lanes);
    free(s->slots);
    free(s->cores);
    free(s->ready);
    free(s->bus_lanes);
    free(s->shares);
    free(s);
}

static bool resize(void *items, int32_t count, size_t size)
{
    void **array = items;
    void *grown = realloc(*array, (size_t)(count > 0 ? count : 1) * size);
    if (grown)
        *array = grown;
    return grown != NULL;
}

/* Room for every lane, slot and core of this run. */
static bool reserve(struct simulator *s)
{
    if (s->lane_count > s->lane_capacity) {
        s->lane_capacity = 0;
        if (!resize(&s->lanes, s->lane_count, sizeof *s->lanes) ||
            !resize(&s->ready, s->lane_count, sizeof *s->ready) ||
            !resize(&s->bus_lanes, s->lane_count * HARDWARE_MAX_BUSES, sizeof *s->bus_lanes))
            return false;
        s->lane_capacity = s->lane_count;
    }
    int32_t slots = s->core_count * s->streams.slot_count;
    if (slots > s->slot_capacity && !resize(&s->slots, slots, sizeof *s->slots))
        return false;
    if (slots > s->slot_capacity)
        s->slot_capacity = slots;
    if (s->core_count > s->core_capacity && !resize(&s->cores, s->core_count, sizeof *s->cores))
        return false;
    if (s->core_count > s->core_capacity)
        s->core_capacity = s->core_count;
    return true;
}

static struct share make_share(int64_t bytes_per_s)
{
    return (struct share){bytes_per_s, 1048576.0 / (double)bytes_per_s};
}

/* Rates by number of transfers, for every price on a bus. */
static bool fill_shares(struct simulator *s)
{
    const struct hardware *hw = s->hw;
    int64_t size = (int64_t)s->lane_count * hw->price_count;
    if (size > s->share_capacity && !resize(&s->shares, (int32_t)size, sizeof *s->shares))
        return false;
    if (size > s->share_capacity)
        s->share_capacity = (int32_t)size;
    s->share_stride = s->lane_count;
    for (int p = 0; p < hw->price_count; p++)
        for (int32_t n = 1; hw->prices[p].bus >= 0 && n <= s->lane_count; n++)
            s->shares[p * s->share_stride + n - 1] =
                make_share(hardware_bus_share(hw, &hw->prices[p], (int64_t)n * s->in_step));
    return true;
}

static void start_slots(struct simulator *s)
{
    s->slot_count = s->core_count * s->streams.slot_count;
    for (int32_t i = 0; i < s->slot_count; i++) {
        struct slot *slot = &s->slots[i];
        slot->times_fs = slot->inline_times_fs;
        slot->mask = 3;
        slot->pushed = slot->popped = 0;
        slot->waiter = -1;
    }
}

static void start_lanes(struct simulator *s, const struct simulate_options *options)
{
    int pipes = s->hw->pipe_count;
    for (int32_t l = 0; l < s->lane_count; l++) {
        struct lane *lane = &s->lanes[l];
        int core = l / pipes, pipe = l % pipes;
        int64_t start = s->hw->launch_fs + (options->skew ? core * s->hw->core_skew_fs : 0);
        memset(lane, 0, sizeof *lane);
        lane->op = lane->ops = s->streams.streams[pipe].ops;
        lane->dispatch = s->hw->dispatch_fs ? s->streams.streams[pipe].dispatch_fs : NULL;
        lane->time_fs = lane->dispatch_fs = start;
        lane->slots = s->slots + (ptrdiff_t)core * s->streams.slot_count;
        lane->core = &s->cores[core];
        lane->pipe = (int8_t)pipe;
    }
    for (int32_t l = s->lane_count; l-- > 0;) /* the first lane runs first */
        lane_ready(s, &s->lanes[l]);
}

static void start(struct simulator *s, const struct simulate_options *options)
{
    s->ready_count = 0;
    s->on_bus = 0;
    s->failed = false;
    start_slots(s);
    for (int32_t c = 0; c < s->core_count; c++)
        s->cores[c] = (struct core){.first_lane = c * s->hw->pipe_count};
    for (int b = 0; b < s->hw->bus_count; b++)
        s->buses[b] = (struct bus_state){.lanes = s->bus_lanes + (ptrdiff_t)b * s->lane_capacity};
    for (int d = 0; d < PROGRAM_MAX_DEPTH; d++)
        s->snapshots[d].loop = -1;
    start_lanes(s, options);
}

/* Makes a full ring larger. Sets beyond the last wait of the program are dropped instead. */
static bool grow_ring(struct simulator *s, struct slot *slot)
{
    int32_t number = (int32_t)(slot - s->slots) % s->streams.slot_count;
    if (slot->pushed >= s->streams.slots[number].waits)
        return false;
    int64_t capacity = (int64_t)slot->mask + 1;
    int64_t *times =
        capacity < MAX_PENDING_SETS ? malloc((size_t)capacity * 2 * sizeof *times) : NULL;
    if (!times) {
        s->failed = true;
        return false;
    }
    for (int64_t i = slot->popped; i < slot->pushed; i++)
        times[i & (2 * capacity - 1)] = slot->times_fs[i & slot->mask];
    if (slot->times_fs != slot->inline_times_fs)
        free(slot->times_fs);
    slot->times_fs = times;
    slot->mask = (uint32_t)(2 * capacity - 1);
    return true;
}

static inline void set_flag(struct simulator *s, struct slot *slot, int64_t time_fs)
{
    if (slot->pushed - slot->popped > slot->mask && !grow_ring(s, slot))
        return;
    slot->times_fs[slot->pushed++ & slot->mask] = time_fs;
    if (slot->waiter >= 0) {
        lane_ready(s, &s->lanes[slot->waiter]);
        slot->waiter = -1;
    }
}

/* All pipes of a core that have something to do meet here. */
static void reach_barrier(struct simulator *s, struct lane *lane)
{
    struct core *core = lane->core;
    if (core->at_barrier++ == 0 || lane->time_fs > core->barrier_fs)
        core->barrier_fs = lane->time_fs;
    if (core->at_barrier < __builtin_popcount(s->streams.used_pipes))
        return;
    core->at_barrier = 0;
    for (int p = 0; p < s->hw->pipe_count; p++) {
        struct lane *other = &s->lanes[core->first_lane + p];
        if (other->state != LANE_AT_BARRIER)
            continue;
        other->time_fs = core->barrier_fs;
        other->op++;
        lane_ready(s, other);
    }
}

static int64_t op_dispatch_fs(const struct lane *lane, const struct stream_op *op)
{
    return lane->dispatch ? lane->dispatch[op - lane->ops] : 0;
}

/* When an op that would start at `time` has also been dispatched. A gate's set tells when the
 * scalar instruction before it ended, which its own dispatch does not put off. */
static int64_t dispatched_fs(const struct lane *lane, const struct stream_op *op, int64_t time)
{
    int64_t dispatched = lane->dispatch_fs + op_dispatch_fs(lane, op);
    bool gate_set = op->kind == STREAM_SET && op->instruction < 0;
    return dispatched > time && op->kind <= STREAM_BARRIER && !gate_set ? dispatched : time;
}

/* Accounts for the dispatch of an op that has ended or goes on elsewhere, and traces it. What a
 * gate waits for, and what the blocking pipe itself does, hold up all later dispatch. */
static void note_op(struct simulator *s, struct lane *lane, const struct stream_op *op,
                    int64_t start, int64_t end, int64_t set)
{
    bool gate = op->kind == STREAM_WAIT && op->instruction < 0;
    bool blocks = s->hw->pipes[lane->pipe].blocks_dispatch && op->kind <= STREAM_WAIT;
    int64_t held = gate ? set : blocks ? end : 0;
    lane->dispatch_fs += op_dispatch_fs(lane, op);
    if (lane->dispatch_fs < held)
        lane->dispatch_fs = held;
    if (s->trace && op->kind <= STREAM_WAIT && op->instruction >= 0 && end > start)
        s->trace->event(s->trace->context, (int)(lane->core - s->cores), lane->pipe,
                        op->instruction, start, end);
}

static void block(struct lane *lane, enum lane_state state, const struct stream_op *op,
                  int64_t time)
{
    lane->state = (uint8_t)state;
    lane->op = op;
    lane->time_fs = time;
}

/* Runs one lane until it blocks. `general` adds what most runs do without: dispatch times and
 * trace events. */
static inline __attribute__((always_inline)) void run(struct simulator *s, struct lane *lane,
                                                      const bool general, const bool folding)
{
    const struct stream_op *op = lane->op;
    int64_t time = lane->time_fs, set = 0;
    for (;;) {
        const struct stream_op *const done = op;
        const int64_t start = general ? dispatched_fs(lane, op, time) : time;
        switch ((enum stream_kind)op->kind) {
        case STREAM_WORK:
            time = start + op->fs;
            lane->busy_fs += op->fs;
            op++;
            break;
        case STREAM_SET:
            time = start;
            set_flag(s, &lane->slots[op->slot], time);
            op++;
            break;
        case STREAM_WAIT: {
            struct slot *slot = &lane->slots[op->slot];
            if (slot->pushed == slot->popped) {
                slot->waiter = (int32_t)(lane - s->lanes);
                block(lane, LANE_WAITS, op, time);
                return;
            }
            set = slot->times_fs[slot->popped++ & slot->mask];
            time = set > start ? set : start;
            op++;
            break;
        }
        case STREAM_LOOP:
            lane->iterations[op->depth] = 0;
            lane->loops[op->depth] = op->slot;
            op++;
            break;
        case STREAM_BACK_FOLD:
            if (folding && lane->iterations[op->depth] + 1 < op->fs) {
                lane->op = op;
                lane->time_fs = time;
                fold(s, lane, op, lane->iterations[op->depth] + 1);
                time = lane->time_fs;
            }
            /* fall through */
        case STREAM_BACK:
            op = ++lane->iterations[op->depth] < op->fs ? lane->ops + op->target : op + 1;
            break;
        case STREAM_TRANSFER:
            if (general)
                note_op(s, lane, done, start, start, 0);
            block(lane, LANE_ON_BUS, op, start);
            bus_join(s, lane, start + op->fs);
            return;
        case STREAM_BARRIER:
            if (general)
                note_op(s, lane, done, start, start, 0);
            block(lane, LANE_AT_BARRIER, op, start);
            reach_barrier(s, lane);
            return;
        case STREAM_STOP:
            block(lane, LANE_STOPPED, op, time);
            return;
        }
        if (general)
            note_op(s, lane, done, start, time, set);
    }
}

/* `run` is inlined once for each way to play. */
#define PLAY(s, general, folding)                                                                  \
    do                                                                                             \
        while ((s)->ready_count)                                                                   \
            run((s), &(s)->lanes[(s)->ready[--(s)->ready_count]], general, folding);               \
    while (!(s)->failed && bus_step(s))

static void play_plainly(struct simulator *s)
{
    PLAY(s, false, false);
}

static void play_folding(struct simulator *s)
{
    PLAY(s, false, true);
}

static void play_generally(struct simulator *s)
{
    PLAY(s, true, false);
}

/* Does `a` stand before `b` in the order in which their instructions are dispatched? */
static bool before(const struct lane *a, const struct lane *b)
{
    for (int d = 0; d < a->op->depth && d < b->op->depth && a->loops[d] == b->loops[d]; d++)
        if (a->iterations[d] != b->iterations[d])
            return a->iterations[d] < b->iterations[d];
    return a->op->instruction < b->op->instruction;
}

static int32_t first_blocked(const struct simulator *s)
{
    const struct lane *first = NULL;
    for (int32_t l = 0; l < s->lane_count; l++) {
        const struct lane *lane = &s->lanes[l];
        if (lane->state != LANE_STOPPED && lane->op->instruction >= 0 &&
            (!first || before(lane, first)))
            first = lane;
    }
    return first ? first->op->instruction : -1;
}

static void summarise(const struct simulator *s, struct timeline *timeline)
{
    memset(timeline, 0, sizeof *timeline);
    timeline->end_fs = s->hw->launch_fs;
    for (int32_t l = 0; l < s->lane_count; l++) {
        const struct lane *lane = &s->lanes[l];
        if (lane->ops->kind != STREAM_STOP && lane->time_fs > timeline->end_fs)
            timeline->end_fs = lane->time_fs;
        if (lane->busy_fs > timeline->busy_fs[lane->pipe])
            timeline->busy_fs[lane->pipe] = lane->busy_fs;
    }
    for (int b = 0; b < s->hw->bus_count; b++)
        timeline->active_fs[b] = s->buses[b].active_fs;
    timeline->blocked = first_blocked(s);
}

/* Could a time pass 2^62 fs? Everything one after the other at the smallest share is the latest
 * end there can be; then no addition needs a check while playing. */
static enum status check_range(const struct simulator *s, const struct program *program,
                               const struct simulate_options *options, struct error *error)
{
    const struct hardware *hw = s->hw;
    struct work_total totals[HARDWARE_MAX_PRICES];
    enum status status = work_totals(program, totals, error);
    if (status != STATUS_OK)
        return status;
    double sum = (double)hw->launch_fs + (double)options->cores * (double)hw->core_skew_fs +
                 (double)program->played * (double)hw->dispatch_fs;
    for (int p = 0; p < hw->price_count; p++) {
        const struct price *price = &hw->prices[p];
        double fs_per_unit = (double)price->rate.fs / (double)price->rate.units;
        if (price->bus >= 0)
            fs_per_unit =
                1e15 / (double)hardware_bus_share(hw, price, (int64_t)s->lane_count * s->in_step);
        sum += (double)totals[p].instructions * ((double)price->base_fs + s->lane_count + 1.0) +
               (double)totals[p].units * fs_per_unit;
    }
    if (sum < 4.6e18)
        return STATUS_OK;
    return error_set(error, STATUS_TOO_LARGE,
                     "the program could run longer than 2^62 fs (77 minutes); it is not simulated");
}

enum status simulate(struct simulator *s, const struct program *program,
                     const struct simulate_options *options, struct timeline *timeline,
                     struct error *error)
{
    free_rings(s);
    s->hw = program->hw;
    s->items = program->items;
    s->trace = options->trace;
    s->core_count = options->separately ? options->cores : 1;
    s->in_step = options->separately ? 1 : options->cores;
    enum status status = streams_build(&s->streams, program, s->in_step, error);
    if (status != STATUS_OK)
        return status;
    s->lane_count = s->core_count * s->hw->pipe_count;
    status = check_range(s, program, options, error);
    if (status != STATUS_OK)
        return status;
    if (!reserve(s) || !fill_shares(s))
        return error_memory(error);
    start(s, options);
    if (s->trace || s->hw->dispatch_fs > 0)
        play_generally(s);
    else if (options->play_fully || options->separately)
        play_plainly(s);
    else
        play_folding(s);
    if (s->failed)
        return error_set(error, STATUS_TOO_LARGE,
                         "more than %d sets of one flag register wait to be matched",
                         MAX_PENDING_SETS);
    summarise(s, timeline);
    return STATUS_OK;
}
