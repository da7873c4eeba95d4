/* Each pipe's stream is executed as far as it goes (a lane) and put on a stack again when what it
 * waits for has come: there is no queue of events, since flags carry their times; only buses
 * need all lanes to have come as far as they can. Sharing is that of Tang (2024, equations
 * 2.6 and 2.7). One function executes all kinds of op and is inlined once for each way to simulate,
 * so that what most runs do without costs them nothing.
 *
 * Buses: equal shares among the transfers that are active, in exact integers; pipes that work in
 * step are as many transfers. Of the lanes on a bus the active ones stand first. What happens at an
 * event is written once, for `most` lanes at most, and inlined for two and for any number: two is
 * what most kernels come to, and needs no loop. */
#include "costmodel/simulate.h"

#include "core/stop.h"
#include "core/work.h"
#include "costmodel/engine.h"

#include <stdlib.h>
#include <string.h>

/* ceil(left / rate). A double gives the quotient to within a few units; the remainder, which then
 * fits 64 bits, gives the rest. A 128-bit division would cost more than the instruction it serves.
 */
static int64_t time_left(wide left, struct share share)
{
    if (left >> 82)
        return (int64_t)((left + (wide)share.bytes_per_s - 1) / (wide)share.bytes_per_s);
    int64_t fs = (int64_t)((double)(int64_t)(left >> 20) * share.reciprocal);
    int64_t rest = (int64_t)((uint64_t)left - (uint64_t)fs * (uint64_t)share.bytes_per_s);
    for (; rest > 0; rest -= share.bytes_per_s)
        fs++;
    for (; rest <= -share.bytes_per_s; rest += share.bytes_per_s)
        fs--;
    return fs;
}

/* What a transfer moves in so long a time as one of `transfers`. */
static inline wide moved(const struct lane *lane, int32_t transfers, uint64_t passed_fs)
{
    return (wide)passed_fs * (uint64_t)lane->shares[transfers].bytes_per_s;
}

static void bus_join(struct simulator *s, struct lane *lane, const struct stream_cost *cost)
{
    struct bus_state *bus = &s->buses[cost->bus];
    lane->start_fs = lane->time_fs + cost->fs;
    lane->left = (wide)(uint64_t)cost->paid_units * FS_PER_S;
    lane->cost = cost;
    lane->shares = s->shares + (ptrdiff_t)cost->price * s->share_stride;
    bus->lanes[bus->lane_count++] = lane;
    s->on_bus++;
    s->last_bus = bus;
}

static void trace_transfer(struct simulator *s, const struct lane *lane, int64_t end_fs)
{
    if (s->trace)
        s->trace->event(s->trace->context, (int)(lane->core - s->cores), lane->pipe,
                        lane->op->instruction, lane->time_fs, end_fs);
}

/* Takes an active lane off the bus, where its transfer still counts until it is ended. */
static inline struct lane *take_off(struct bus_state *bus, int32_t at)
{
    struct lane *lane = bus->lanes[at];
    bus->lanes[at] = bus->lanes[--bus->active];
    bus->lanes[bus->active] = bus->lanes[--bus->lane_count];
    return lane;
}

static inline void end_transfer(struct simulator *s, struct bus_state *bus, struct lane *lane,
                                int64_t end_fs)
{
    s->on_bus--;
    bus->transfers -= lane->in_step;
    trace_transfer(s, lane, end_fs);
    lane->busy_fs += end_fs - lane->time_fs;
    lane->time_fs = end_fs;
    if (lane->cost->latency_fs > 0)
        lane->done_fs = later(lane->done_fs, end_fs + lane->cost->latency_fs);
    lane->op++;
    lane_ready(s, lane);
}

/* Moves every active transfer on to `now`, of one lane fewer than `most`: another is about to
 * begin, or has been taken off. Nothing ends before. */
static inline __attribute__((always_inline)) void drain(struct bus_state *bus, const int32_t most,
                                                        int64_t now)
{
    uint64_t passed_fs = (uint64_t)(now - bus->now_fs);
    bus->now_fs = now;
    bus->active_fs += bus->transfers ? (int64_t)passed_fs : 0;
    for (int32_t i = 0; i < most - 1 && i < bus->active; i++) {
        struct lane *lane = bus->lanes[i];
        wide gone = moved(lane, bus->transfers, passed_fs);
        lane->left = gone < lane->left ? lane->left - gone : 0;
    }
}

/* The active transfer that ends next, and when. Only one that ends before those looked at so far
 * needs a division. */
static inline __attribute__((always_inline)) int32_t next_end(const struct bus_state *bus,
                                                              const int32_t most, int64_t *when)
{
    int32_t next = 0;
    int64_t first_fs = time_left(bus->lanes[0]->left, bus->lanes[0]->shares[bus->transfers]);
    for (int32_t i = 1; i < most && i < bus->active && first_fs > 0; i++) {
        const struct lane *lane = bus->lanes[i];
        if (moved(lane, bus->transfers, (uint64_t)first_fs - 1) < lane->left)
            continue;
        next = i;
        first_fs = time_left(lane->left, lane->shares[bus->transfers]);
    }
    *when = bus->now_fs + first_fs;
    return next;
}

/* The transfer that begins next, of those that have not. */
static inline __attribute__((always_inline)) int32_t next_start(const struct bus_state *bus,
                                                                const int32_t most)
{
    int32_t next = bus->active;
    for (int32_t i = 1; i < most && i < bus->lane_count; i++)
        if (i > bus->active && bus->lanes[i]->start_fs < bus->lanes[next]->start_fs)
            next = i;
    return next;
}

/* Does some active transfer end before `when`, when another may begin? Cheaper than when it ends.
 */
static inline __attribute__((always_inline)) bool ends_before(const struct bus_state *bus,
                                                              const int32_t most, int64_t when)
{
    uint64_t passed_fs = (uint64_t)(when - bus->now_fs);
    bool ends = false;
    for (int32_t i = 0; i < most - 1 && i < bus->active; i++)
        ends |= moved(bus->lanes[i], bus->transfers, passed_fs) > bus->lanes[i]->left;
    return ends;
}

static inline __attribute__((always_inline)) void begin_transfer(struct bus_state *bus,
                                                                 const int32_t most, int32_t at)
{
    struct lane *lane = bus->lanes[at];
    drain(bus, most, lane->start_fs);
    bus->transfers += lane->in_step;
    bus->lanes[at] = bus->lanes[bus->active];
    bus->lanes[bus->active++] = lane;
}

/* The next event of one bus; true if a transfer has ended. */
static inline __attribute__((always_inline)) bool step(struct simulator *s, struct bus_state *bus,
                                                       const int32_t most)
{
    if (bus->active < bus->lane_count) {
        int32_t start = next_start(bus, most);
        if (!ends_before(bus, most, bus->lanes[start]->start_fs)) {
            begin_transfer(bus, most, start);
            return false;
        }
    }
    int64_t when;
    struct lane *ended = take_off(bus, next_end(bus, most, &when));
    drain(bus, most, when);
    end_transfer(s, bus, ended, when);
    return true;
}

/* Nobody else is on a bus, and nobody can come before this transfer ends: it is moved whole. */
static void end_alone(struct simulator *s, struct bus_state *bus)
{
    const struct lane *lane = bus->lanes[0];
    int64_t begin = bus->now_fs, end;
    if (bus->active) {
        end = begin + time_left(lane->left, lane->shares[lane->in_step]);
    } else {
        begin = lane->start_fs;
        end = begin + lane->cost->alone_fs;
        bus->transfers += lane->in_step;
        bus->active = 1;
    }
    bus->active_fs += end - begin;
    bus->now_fs = end;
    end_transfer(s, bus, take_off(bus, 0), end);
}

static int64_t next_event_fs(const struct bus_state *bus)
{
    int64_t when = INT64_MAX;
    if (bus->active)
        next_end(bus, INT32_MAX, &when);
    if (bus->active < bus->lane_count) {
        int64_t start_fs = bus->lanes[next_start(bus, INT32_MAX)]->start_fs;
        when = start_fs < when ? start_fs : when;
    }
    return when;
}

/* The bus whose next event comes first, of several in use. */
static struct bus_state *next_bus(struct simulator *s)
{
    struct bus_state *first = NULL;
    int64_t when = INT64_MAX;
    for (int b = 0; b < s->hw->bus_count; b++) {
        struct bus_state *bus = &s->buses[b];
        if (bus->lane_count == s->on_bus)
            return bus;
        int64_t event = bus->lane_count ? next_event_fs(bus) : INT64_MAX;
        if (event < when) {
            when = event;
            first = bus;
        }
    }
    return first;
}

/* With one bus in use, no event needs to be looked at. */
static inline struct bus_state *bus_in_turn(struct simulator *s)
{
    return s->last_bus->lane_count == s->on_bus ? s->last_bus : next_bus(s);
}

static bool bus_step(struct simulator *s)
{
    if (s->on_bus == 0)
        return false;
    if (s->on_bus == 1) {
        end_alone(s, bus_in_turn(s));
        return true;
    }
    /* nobody goes on because a transfer begins */
    if (s->on_bus == 2 && s->last_bus->lane_count == 2)
        while (!step(s, s->last_bus, 2))
            ;
    else
        while (!step(s, bus_in_turn(s), INT32_MAX))
            ;
    return true;
}

/* ------------------------------------------------------------------ memory, and the start */

struct simulator *simulator_new(void)
{
    return calloc(1, sizeof(struct simulator));
}

/* Frees the rings that grew in the last simulation. */
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

static bool resize_array(void *items, int32_t count, size_t size)
{
    void **array = items;
    void *grown = realloc(*array, (size_t)(count > 0 ? count : 1) * size);
    if (grown)
        *array = grown;
    return grown != NULL;
}

/* Room for every lane, slot and core of this run. */
static bool reserve_engine(struct simulator *s)
{
    if (s->lane_count > s->lane_capacity) {
        s->lane_capacity = 0;
        if (!resize_array(&s->lanes, s->lane_count, sizeof *s->lanes) ||
            !resize_array(&s->ready, s->lane_count, sizeof(struct lane *)) ||
            !resize_array(&s->bus_lanes, s->lane_count * HARDWARE_MAX_BUSES, sizeof(struct lane *)))
            return false;
        s->lane_capacity = s->lane_count;
    }
    int32_t slots = s->core_count * s->streams.slot_count;
    bool fits = s->slots && slots <= s->slot_capacity; /* lanes point to theirs even without any */
    if (!fits && !resize_array(&s->slots, slots, sizeof *s->slots))
        return false;
    if (slots > s->slot_capacity)
        s->slot_capacity = slots;
    if (s->core_count > s->core_capacity &&
        !resize_array(&s->cores, s->core_count, sizeof *s->cores))
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
    int32_t most = 0; /* transfers, were all on one bus */
    for (int p = 0; p < hw->pipe_count; p++)
        most += s->core_count * hardware_in_step(hw, s->streams.used_pipes, p);
    int64_t size = (int64_t)(most + 1) * hw->price_count;
    if (size > s->share_capacity && !resize_array(&s->shares, (int32_t)size, sizeof *s->shares))
        return false;
    if (size > s->share_capacity)
        s->share_capacity = (int32_t)size;
    s->share_stride = most + 1;
    for (int p = 0; p < hw->price_count; p++)
        for (int32_t n = 1; hw->prices[p].bus >= 0 && n <= most; n++)
            s->shares[p * s->share_stride + n] =
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
        int64_t start = engine_start_fs(s) + (options->skew ? core * s->hw->core_skew_fs : 0);
        memset(lane, 0, sizeof *lane);
        lane->op = lane->ops = s->streams.streams[pipe].ops;
        lane->dispatch = s->hw->dispatch_fs ? s->streams.streams[pipe].dispatch_fs : NULL;
        lane->time_fs = lane->dispatch_fs = start;
        lane->slots = s->slots + (ptrdiff_t)core * s->streams.slot_count;
        lane->core = &s->cores[core];
        lane->pipe = (int8_t)pipe;
        lane->in_step = (uint8_t)hardware_in_step(s->hw, s->streams.used_pipes, pipe);
    }
    for (int32_t l = s->lane_count; l-- > 0;) /* the first lane runs first */
        if (op_kind(s->lanes[l].ops) == STREAM_STOP)
            s->lanes[l].state = LANE_STOPPED;
        else
            lane_ready(s, &s->lanes[l]);
}

static void start_all(struct simulator *s, const struct simulate_options *options)
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

/* Everything at its start. False when out of memory. */
static bool start_engine(struct simulator *s, const struct simulate_options *options)
{
    if (!reserve_engine(s) || !fill_shares(s))
        return false;
    start_all(s, options);
    return true;
}

/* ------------------------------------------------------------------ the run */

enum {
    MAX_PENDING_SETS = 1 << 26, /* of one register */
    LOOK_EVERY = 1 << 12,       /* events of buses, or ops one by one: about a millisecond */
};

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

/* Lets the other lanes run first, once for each `mark`: a lane whose mark has not moved since it
 * last did so goes on. */
static bool let_others_run(struct simulator *s, struct lane *lane, int64_t mark)
{
    if (lane->yielded_at == mark || s->ready_count == 0)
        return false;
    lane->yielded_at = mark;
    memmove(s->ready + 1, s->ready, (size_t)s->ready_count * sizeof(struct lane *));
    s->ready[0] = lane;
    s->ready_count++;
    return true;
}

static inline bool is_full(const struct slot *slot)
{
    return slot->pushed - slot->popped > slot->mask;
}

static inline void set_flag(struct simulator *s, struct slot *slot, int64_t time_fs)
{
    if (is_full(slot) && !grow_ring(s, slot))
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
    int64_t settled = settled_fs(lane);
    if (core->at_barrier++ == 0 || settled > core->barrier_fs)
        core->barrier_fs = settled;
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

/* Dispatch time since the lane's previous op. */
static int64_t op_dispatch_fs(const struct lane *lane, const struct stream_op *op)
{
    return lane->dispatch ? lane->dispatch[op - lane->ops] : 0;
}

/* When an op that would start at `time` has also been dispatched. A gate's set tells when the
 * scalar instruction before it ended, which its own dispatch does not put off. */
static int64_t dispatched_fs(const struct lane *lane, const struct stream_op *op, int64_t time)
{
    int64_t dispatched = lane->dispatch_fs + op_dispatch_fs(lane, op);
    bool gate_set = op_kind(op) == STREAM_SET && op->instruction < 0;
    return dispatched > time && op_kind(op) <= STREAM_BARRIER && !gate_set ? dispatched : time;
}

/* Accounts for the dispatch of an op that has ended or goes on elsewhere, and traces it. What a
 * gate waits for, and what the blocking pipe itself does, hold up all later dispatch. */
static void note_op(struct simulator *s, struct lane *lane, const struct stream_op *op,
                    int64_t start, int64_t end, int64_t set)
{
    bool gate = op_kind(op) == STREAM_WAIT && op->instruction < 0;
    bool blocks = s->hw->pipes[lane->pipe].blocks_dispatch && op_kind(op) <= STREAM_WAIT;
    int64_t held = gate ? set : blocks ? end : 0;
    lane->dispatch_fs += op_dispatch_fs(lane, op);
    if (lane->dispatch_fs < held)
        lane->dispatch_fs = held;
    if (s->trace && op_kind(op) <= STREAM_WAIT && op->instruction >= 0 && end > start)
        s->trace->event(s->trace->context, (int)(lane->core - s->cores), lane->pipe,
                        op->instruction, start, end);
}

static void block_lane(struct lane *lane, enum lane_state state, const struct stream_op *op,
                       int64_t time)
{
    lane->state = (uint8_t)state;
    lane->op = op;
    lane->time_fs = time;
}

/* How far the lanes have come: none takes time back. */
static int64_t latest_fs(const struct simulator *s)
{
    int64_t latest = 0;
    for (int32_t l = 0; l < s->lane_count; l++)
        latest = later(latest, s->lanes[l].time_fs);
    return latest;
}

/* Looks seldom enough to cost nothing. */
static inline bool is_stopped(struct simulator *s)
{
    if ((++s->turns & (LOOK_EVERY - 1)) == 0) {
        s->is_beyond = s->limit_fs && latest_fs(s) > s->limit_fs;
        s->stopped = s->is_beyond || stop_due(s->stop);
    }
    return s->stopped;
}

/* Runs one lane until it blocks. `general` adds what most runs do without: dispatch times and
 * trace events; `late` results that come after their pipe goes on. One switch, so that `op` and
 * `time` stay in registers. */
/* NOLINTBEGIN(readability-function-size,readability-function-cognitive-complexity) */
static inline __attribute__((always_inline)) void
run(struct simulator *s, struct lane *lane, const bool general, const bool folding, const bool late)
{
    const struct stream_op *op = lane->op;
    const struct stream_cost *const costs = s->streams.costs;
    const struct stream_loop *const loops = s->streams.loops;
    int64_t time = lane->time_fs, set = 0;
    for (;;) {
        const struct stream_op *const done = op;
        const int64_t start = general ? dispatched_fs(lane, op, time) : time;
        switch (op_kind(op)) {
        case STREAM_WORK: {
            const struct stream_cost *cost = &costs[op_index(op)];
            time = start + cost->fs;
            lane->busy_fs += cost->fs;
            if (late && cost->latency_fs > 0)
                lane->done_fs = later(lane->done_fs, time + cost->latency_fs);
            op++;
            break;
        }
        case STREAM_SET: {
            struct slot *slot = &lane->slots[op_index(op)];
            if (is_full(slot) && let_others_run(s, lane, slot->popped + 1)) {
                block_lane(lane, LANE_READY, op, time);
                return;
            }
            time = start;
            set_flag(s, slot,
                     (late ? later(time, lane->done_fs) : time) +
                         s->streams.slots[op_index(op)].set_fs);
            op++;
            break;
        }
        case STREAM_WAIT: {
            struct slot *slot = &lane->slots[op_index(op)];
            if (slot->pushed == slot->popped) {
                slot->waiter = (int32_t)(lane - s->lanes);
                block_lane(lane, LANE_WAITS, op, time);
                return;
            }
            set = slot->times_fs[slot->popped++ & slot->mask];
            time = set > start ? set : start;
            op++;
            break;
        }
        case STREAM_SETTLE:
            if (!late)
                __builtin_unreachable(); /* keeps the switch of most runs small */
            time = later(time, lane->done_fs);
            op++;
            break;
        case STREAM_LOOP: {
            const struct stream_loop *loop = &loops[op_index(op)];
            lane->depth = (int8_t)(loop->depth + 1);
            lane->iterations[loop->depth] = 0;
            lane->loops[loop->depth] = loop->number;
            op++;
            break;
        }
        case STREAM_BACK_FOLD: {
            const struct stream_loop *loop = &loops[op_index(op)];
            if (folding && lane->iterations[loop->depth] + 1 < loop->count) {
                block_lane(lane, LANE_READY, op, time);
                if (fold_is_due(lane, loop) &&
                    let_others_run(s, lane, -1 - lane->iterations[loop->depth]))
                    return; /* lanes that could go on would keep the state from recurring */
                fold(s, lane, loop, lane->iterations[loop->depth] + 1);
                time = lane->time_fs;
            }
        }
            /* fall through */
        case STREAM_BACK: {
            const struct stream_loop *loop = &loops[op_index(op)];
            if (++lane->iterations[loop->depth] < loop->count) {
                op = lane->ops + loop->target;
            } else {
                lane->depth = (int8_t)loop->depth;
                op++;
            }
            break;
        }
        case STREAM_TRANSFER:
            if (general)
                note_op(s, lane, done, start, start, 0);
            block_lane(lane, LANE_ON_BUS, op, start);
            bus_join(s, lane, &costs[op_index(op)]);
            return;
        case STREAM_BARRIER:
            if (general)
                note_op(s, lane, done, start, start, 0);
            block_lane(lane, LANE_AT_BARRIER, op, start);
            reach_barrier(s, lane);
            return;
        case STREAM_STOP:
            block_lane(lane, LANE_STOPPED, op, time);
            return;
        default:
            __builtin_unreachable(); /* spares a comparison each op */
        }
        if (general) {
            note_op(s, lane, done, start, time, set);
            if (is_stopped(s))
                return;
        }
    }
}
/* NOLINTEND(readability-function-size,readability-function-cognitive-complexity) */

/* `run` is inlined once for each way to simulate. */
#define SIMULATE(way, general, folding, late)                                                      \
    static void simulate_##way(struct simulator *s)                                                \
    {                                                                                              \
        do                                                                                         \
            while (s->ready_count)                                                                 \
                run(s, s->ready[--s->ready_count], general, folding, late);                        \
        while (!s->failed && !is_stopped(s) && bus_step(s));                                       \
    }
SIMULATE(plainly, false, false, false)
SIMULATE(folding, false, true, false)
SIMULATE(late, false, false, true)
SIMULATE(late_folding, false, true, true)
SIMULATE(generally, true, false, true)

static void simulate_all(struct simulator *s, const struct simulate_options *options)
{
    bool folding = !options->execute_fully && !options->separately;
    if (s->trace || s->hw->dispatch_fs > 0)
        simulate_generally(s);
    else if (s->streams.late_pipes)
        (folding ? simulate_late_folding : simulate_late)(s);
    else
        (folding ? simulate_folding : simulate_plainly)(s);
}

/* Does `a` stand before `b` in the order in which their instructions are dispatched? */
static bool is_dispatched_before(const struct lane *a, const struct lane *b)
{
    for (int d = 0; d < a->depth && d < b->depth && a->loops[d] == b->loops[d]; d++)
        if (a->iterations[d] != b->iterations[d])
            return a->iterations[d] < b->iterations[d];
    return a->op->instruction < b->op->instruction;
}

/* The line that a deadlock is told at: of all lanes that wait, the first in program order. */
static int32_t first_blocked(const struct simulator *s)
{
    const struct lane *first = NULL;
    for (int32_t l = 0; l < s->lane_count; l++) {
        const struct lane *lane = &s->lanes[l];
        if (lane->state != LANE_STOPPED && lane->op->instruction >= 0 &&
            (!first || is_dispatched_before(lane, first)))
            first = lane;
    }
    return first ? first->op->instruction : -1;
}

static void summarise(const struct simulator *s, struct timeline *timeline)
{
    memset(timeline, 0, sizeof *timeline);
    timeline->end_fs = engine_start_fs(s);
    for (int32_t l = 0; l < s->lane_count; l++) {
        const struct lane *lane = &s->lanes[l];
        if (op_kind(lane->ops) != STREAM_STOP)
            timeline->end_fs = later(timeline->end_fs, settled_fs(lane));
        if (lane->busy_fs > timeline->busy_fs[lane->pipe])
            timeline->busy_fs[lane->pipe] = lane->busy_fs;
    }
    for (int b = 0; b < s->hw->bus_count; b++)
        timeline->active_fs[b] = s->buses[b].active_fs;
    timeline->blocked = first_blocked(s);
}

/* Could a time pass 2^62 fs? Everything one after the other at the smallest share is the latest
 * end there can be; then no addition needs a check while simulating. */
static enum status check_range(const struct simulator *s, const struct program *program,
                               const struct simulate_options *options, struct error *error)
{
    const struct hardware *hw = s->hw;
    struct work_total totals[HARDWARE_MAX_PRICES];
    TRY(work_totals(program, totals, error));
    double sum = (double)hardware_start_fs(hw, options->cores) +
                 (double)options->cores * (double)hw->core_skew_fs +
                 (double)program->executed * (double)(hw->dispatch_fs + hw->core_flag_fs);
    int64_t most = (int64_t)s->lane_count * s->in_step * hardware_most_cores(hw) / hw->cores;
    for (int p = 0; p < hw->price_count; p++) {
        const struct price *price = &hw->prices[p];
        double fs_per_unit = (double)price->rate.fs / (double)price->rate.units;
        if (price->bus >= 0)
            fs_per_unit = 1e15 / (double)hardware_bus_share(hw, price, most);
        double each = (double)price->base_fs + (double)price->latency_fs + s->lane_count + 1.0;
        sum += (double)totals[p].instructions * each + (double)totals[p].paid_units * fs_per_unit +
               (double)totals[p].burst_fs;
    }
    if (sum < (double)SIMULATE_LONGEST_FS)
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
    s->trace = options->trace;
    s->stop = options->stop;
    s->limit_fs = options->limit_fs;
    s->turns = 0;
    s->stopped = s->is_beyond = false;
    s->core_count = options->separately ? options->cores : 1;
    s->in_step = options->separately ? 1 : options->cores;
    s->lane_count = s->core_count * s->hw->pipe_count;
    TRY(check_range(s, program, options, error));
    TRY(streams_build(&s->streams, program, s->in_step, error));
    if (!start_engine(s, options))
        return error_memory(error);
    simulate_all(s, options);
    if (s->is_beyond) {
        *timeline = (struct timeline){.end_fs = latest_fs(s), .blocked = -1};
        return STATUS_OK;
    }
    if (s->stopped)
        return error_set(error, STATUS_STOPPED, "stopped");
    if (s->failed)
        return error_set(error, STATUS_TOO_LARGE,
                         "more than %d sets of one flag register wait to be matched",
                         MAX_PENDING_SETS);
    summarise(s, timeline);
    return STATUS_OK;
}
