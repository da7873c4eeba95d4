/* The simulator's memory, and its state at the start of a simulation. */
#include "costmodel/engine.h"

#include <stdlib.h>
#include <string.h>

struct simulator *simulator_new(void)
{
    return calloc(1, sizeof(struct simulator));
}

void engine_close(struct simulator *s)
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
    engine_close(s);
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
            !resize(&s->ready, s->lane_count, sizeof(struct lane *)) ||
            !resize(&s->bus_lanes, s->lane_count * HARDWARE_MAX_BUSES, sizeof(struct lane *)))
            return false;
        s->lane_capacity = s->lane_count;
    }
    int32_t slots = s->core_count * s->streams.slot_count;
    bool fits = s->slots && slots <= s->slot_capacity; /* lanes point to theirs even without any */
    if (!fits && !resize(&s->slots, slots, sizeof *s->slots))
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
    int32_t most = 0; /* transfers, were all on one bus */
    for (int p = 0; p < hw->pipe_count; p++)
        most += s->core_count * hardware_in_step(hw, s->streams.used_pipes, p);
    int64_t size = (int64_t)(most + 1) * hw->price_count;
    if (size > s->share_capacity && !resize(&s->shares, (int32_t)size, sizeof *s->shares))
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

bool engine_open(struct simulator *s, const struct simulate_options *options)
{
    if (!reserve(s) || !fill_shares(s))
        return false;
    start(s, options);
    return true;
}
