/* Buses: equal shares among the transfers that are active, in exact integers; pipes that work in
 * step are as many transfers. */
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

static struct share share_of(const struct simulator *s, const struct lane *lane, int32_t transfers)
{
    return s->shares[lane->op->price * s->share_stride + transfers - 1];
}

void bus_join(struct simulator *s, struct lane *lane, int64_t start_fs)
{
    struct bus_state *bus = &s->buses[s->hw->prices[lane->op->price].bus];
    lane->transferring = false;
    lane->start_fs = start_fs;
    lane->left = (wide)(uint64_t)s->items[lane->op->instruction].paid_units * FS_PER_S;
    bus->lanes[bus->lane_count++] = lane;
    s->on_bus++;
}

static void trace_transfer(struct simulator *s, const struct lane *lane, int64_t end_fs)
{
    if (s->trace)
        s->trace->event(s->trace->context, (int)(lane->core - s->cores), lane->pipe,
                        lane->op->instruction, lane->time_fs, end_fs);
}

static void end_transfer(struct simulator *s, struct bus_state *bus, int32_t at, int64_t end_fs)
{
    struct lane *lane = bus->lanes[at];
    s->on_bus--;
    bus->transfers -= lane->in_step;
    bus->lanes[at] = bus->lanes[--bus->lane_count];
    trace_transfer(s, lane, end_fs);
    lane->busy_fs += end_fs - lane->time_fs;
    lane->time_fs = end_fs;
    int64_t latency_fs = s->hw->prices[lane->op->price].latency_fs;
    if (latency_fs > 0)
        lane->done_fs = later(lane->done_fs, end_fs + latency_fs);
    lane->op++;
    lane_ready(s, lane);
}

/* Moves every active transfer on to `now`; nothing ends before. */
static void drain(struct simulator *s, struct bus_state *bus, int64_t now)
{
    uint64_t passed = (uint64_t)(now - bus->now_fs);
    bus->now_fs = now;
    if (bus->transfers == 0)
        return;
    bus->active_fs += (int64_t)passed;
    for (int32_t i = 0; i < bus->lane_count; i++) {
        struct lane *lane = bus->lanes[i];
        if (!lane->transferring)
            continue;
        wide moved = (wide)passed * (uint64_t)share_of(s, lane, bus->transfers).bytes_per_s;
        lane->left = moved < lane->left ? lane->left - moved : 0;
    }
}

/* The transfer that ends next and when; -1 when none is active. */
static int32_t next_end(const struct simulator *s, const struct bus_state *bus, int64_t *when)
{
    int32_t next = -1;
    for (int32_t i = 0; i < bus->lane_count; i++) {
        const struct lane *lane = bus->lanes[i];
        if (!lane->transferring)
            continue;
        int64_t end = bus->now_fs + time_left(lane->left, share_of(s, lane, bus->transfers));
        if (next < 0 || end < *when) {
            next = i;
            *when = end;
        }
    }
    return next;
}

/* The transfer that begins next; -1 when all have. */
static int32_t next_start(const struct bus_state *bus)
{
    int32_t next = -1;
    for (int32_t i = 0; i < bus->lane_count; i++)
        if (!bus->lanes[i]->transferring &&
            (next < 0 || bus->lanes[i]->start_fs < bus->lanes[next]->start_fs))
            next = i;
    return next;
}

/* Does some active transfer end before `when`? Cheaper than when it ends. */
static bool ends_before(const struct simulator *s, const struct bus_state *bus, int64_t when)
{
    uint64_t passed = (uint64_t)(when - bus->now_fs);
    for (int32_t i = 0; i < bus->lane_count; i++) {
        const struct lane *lane = bus->lanes[i];
        if (lane->transferring &&
            (wide)passed * (uint64_t)share_of(s, lane, bus->transfers).bytes_per_s > lane->left)
            return true;
    }
    return false;
}

/* The next event of one bus. */
static void step(struct simulator *s, struct bus_state *bus)
{
    int32_t start = next_start(bus);
    if (start >= 0 && (bus->transfers == 0 || !ends_before(s, bus, bus->lanes[start]->start_fs))) {
        drain(s, bus, bus->lanes[start]->start_fs);
        bus->lanes[start]->transferring = true;
        bus->transfers += bus->lanes[start]->in_step;
        return;
    }
    int64_t when = 0;
    int32_t end = next_end(s, bus, &when);
    drain(s, bus, when);
    end_transfer(s, bus, end, when);
}

/* Nobody else is on a bus, and nobody can come before this transfer ends: it is moved whole. */
static void end_alone(struct simulator *s, struct bus_state *bus)
{
    const struct lane *lane = bus->lanes[0];
    int64_t begin = bus->now_fs, end;
    if (lane->transferring) {
        end = begin + time_left(lane->left, share_of(s, lane, lane->in_step));
    } else {
        begin = lane->start_fs;
        end = begin + lane->op->alone_fs;
        bus->transfers += lane->in_step;
    }
    bus->active_fs += end - begin;
    bus->now_fs = end;
    end_transfer(s, bus, 0, end);
}

static int64_t next_event_fs(const struct simulator *s, const struct bus_state *bus)
{
    int64_t when = INT64_MAX;
    int32_t start = next_start(bus);
    next_end(s, bus, &when);
    if (start >= 0 && bus->lanes[start]->start_fs < when)
        when = bus->lanes[start]->start_fs;
    return when;
}

/* The bus whose next event comes first; with one bus in use, no event needs to be looked at. */
static struct bus_state *next_bus(struct simulator *s)
{
    struct bus_state *first = NULL;
    int64_t when = INT64_MAX;
    for (int b = 0; b < s->hw->bus_count; b++) {
        struct bus_state *bus = &s->buses[b];
        if (bus->lane_count == s->on_bus)
            return bus;
        int64_t event = bus->lane_count ? next_event_fs(s, bus) : INT64_MAX;
        if (event < when) {
            when = event;
            first = bus;
        }
    }
    return first;
}

bool bus_step(struct simulator *s)
{
    if (s->on_bus == 0)
        return false;
    struct bus_state *bus = next_bus(s);
    if (s->on_bus == 1)
        end_alone(s, bus);
    else
        step(s, bus);
    return true;
}
