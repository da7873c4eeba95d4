/* Buses: equal shares among the transfers that are active, in exact integers; pipes that work in
 * step are as many transfers. Of the lanes on a bus the active ones stand first. What happens at an
 * event is written once, for `most` lanes at most, and inlined for two and for any number: two is
 * what most kernels come to, and needs no loop. */
#include "costmodel/engine.h"

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

void bus_join(struct simulator *s, struct lane *lane, const struct stream_cost *cost)
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

bool bus_step(struct simulator *s)
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
