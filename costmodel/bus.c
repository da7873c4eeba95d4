/* Buses: equal shares among the transfers that are active, in exact integers. */
#include "costmodel/engine.h"

/* ceil(left / rate). A double gives the quotient to within a few units, exact arithmetic the rest:
 * a 128-bit division would cost more than the instruction it serves. */
static int64_t time_left(wide left, struct share share)
{
    if (left >> 82)
        return (int64_t)((left + (wide)share.bytes_per_s - 1) / (wide)share.bytes_per_s);
    int64_t fs = (int64_t)((double)(int64_t)(left >> 20) * share.reciprocal);
    while ((wide)fs * (wide)share.bytes_per_s < left)
        fs++;
    while (fs > 0 && (wide)(fs - 1) * (wide)share.bytes_per_s >= left)
        fs--;
    return fs;
}

static struct share share_of(const struct simulator *s, const struct lane *lane, int32_t transfers)
{
    return s->shares[lane->op->price * s->share_stride + transfers - 1];
}

/* Moves every active transfer on to `now`. */
static void drain(struct simulator *s, struct bus_state *bus, int64_t now)
{
    int64_t passed = now - bus->now_fs;
    bus->now_fs = now;
    if (passed == 0 || bus->transfers == 0)
        return;
    bus->active_fs += passed;
    for (int32_t i = 0; i < bus->lane_count; i++) {
        struct lane *lane = &s->lanes[bus->lanes[i]];
        if (!lane->transferring)
            continue;
        wide moved = (wide)share_of(s, lane, bus->transfers).bytes_per_s * (wide)passed;
        lane->left = moved < lane->left ? lane->left - moved : 0;
    }
}

/* The number of transfers has changed: all rates have. */
static void replan(struct simulator *s, struct bus_state *bus)
{
    for (int32_t i = 0; i < bus->lane_count; i++) {
        struct lane *lane = &s->lanes[bus->lanes[i]];
        if (lane->transferring)
            lane->end_fs = bus->now_fs + time_left(lane->left, share_of(s, lane, bus->transfers));
    }
}

void bus_join(struct simulator *s, struct lane *lane, int64_t start_fs)
{
    struct bus_state *bus = &s->buses[s->hw->prices[lane->op->price].bus];
    lane->transferring = false;
    lane->start_fs = start_fs;
    lane->left = (wide)(uint64_t)s->items[lane->op->instruction].units * FS_PER_S;
    bus->lanes[bus->lane_count++] = (int32_t)(lane - s->lanes);
    s->on_bus++;
}

static void trace_transfer(struct simulator *s, const struct lane *lane)
{
    if (s->trace)
        s->trace->event(s->trace->context, (int)(lane->core - s->cores), lane->pipe,
                        lane->op->instruction, lane->time_fs, lane->end_fs);
}

static void end_transfer(struct simulator *s, struct bus_state *bus, int32_t at)
{
    struct lane *lane = &s->lanes[bus->lanes[at]];
    s->on_bus--;
    bus->transfers--;
    bus->lanes[at] = bus->lanes[--bus->lane_count];
    trace_transfer(s, lane);
    lane->busy_fs += lane->end_fs - lane->time_fs;
    lane->time_fs = lane->end_fs;
    lane->op++;
    lane_ready(s, lane);
}

/* Nobody else is on a bus, and nobody can come before this transfer ends: it is played whole. */
static void end_alone(struct simulator *s, struct bus_state *bus)
{
    struct lane *lane = &s->lanes[bus->lanes[0]];
    if (!lane->transferring) {
        bus->transfers++;
        bus->now_fs = lane->start_fs;
        lane->end_fs = lane->start_fs + lane->op->alone_fs;
    }
    bus->active_fs += lane->end_fs - bus->now_fs;
    bus->now_fs = lane->end_fs;
    end_transfer(s, bus, 0);
}

static inline int64_t next_event(const struct lane *lane)
{
    return lane->transferring ? lane->end_fs : lane->start_fs;
}

static struct bus_state *busy_bus(struct simulator *s)
{
    struct bus_state *bus = s->buses;
    while (bus->lane_count == 0)
        bus++;
    return bus;
}

bool bus_step(struct simulator *s)
{
    if (s->on_bus == 0)
        return false;
    if (s->on_bus == 1) {
        end_alone(s, busy_bus(s));
        return true;
    }
    struct bus_state *first = s->buses;
    int32_t at = 0;
    int64_t when = INT64_MAX;
    for (int b = 0; b < s->hw->bus_count; b++) {
        struct bus_state *bus = &s->buses[b];
        for (int32_t i = 0; i < bus->lane_count; i++) {
            int64_t event = next_event(&s->lanes[bus->lanes[i]]);
            if (event < when) {
                when = event;
                first = bus;
                at = i;
            }
        }
    }
    struct lane *lane = &s->lanes[first->lanes[at]];
    drain(s, first, when);
    if (lane->transferring) {
        end_transfer(s, first, at);
    } else {
        lane->transferring = true;
        first->transfers++;
    }
    replan(s, first);
    return true;
}
