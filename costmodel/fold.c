/* Folding: a loop whose machine state recurs need not be simulated to its end.
 *
 * At the end of each iteration of a loop, one of its pipes (the first that takes part) writes the
 * whole state down: where every pipe stands, which flags are set, what is on the buses, and every
 * time relative to its own. Everything that follows is a function of that state and of how many
 * iterations are left; so when the state is the same as at an earlier iteration, and every pipe is
 * where it was but for the number of iterations of this very loop, the stretch in between repeats
 * until some pipe leaves the loop. Whole stretches up to there are skipped at once.
 *
 * A time that cannot matter any more is raised to the earliest moment at which it could: a pipe
 * that waits goes on no earlier than the pipe it waits for, a set flag is read no earlier than its
 * reader is, and a result that is there before its pipe goes on holds up nothing. Without this the
 * times of resting pipes would keep the state from recurring.
 *
 * Snapshots are kept at iterations 1, 2, 4, 8, … (Brent's cycle finding): periods and transients
 * of any length are found, and comparing stops LONGEST_PERIOD iterations after each, so that a loop
 * that never recurs costs little. */
#include "costmodel/engine.h"

#include <string.h>

enum { LONGEST_PERIOD = 256 }; /* iterations */

struct writer {
    struct simulator *s;
    struct snapshot *out;
    int loop, depth; /* the loop watched and its depth */
    int64_t now_fs;
    int64_t earliest_fs[HARDWARE_MAX_PIPES]; /* no later op of the pipe ends before */
};

static void put(struct writer *w, int64_t value)
{
    if (w->out->key_size < FOLD_KEY_SIZE)
        w->out->key[w->out->key_size] = value;
    w->out->key_size++;
}

static void put_time(struct writer *w, int64_t time_fs)
{
    put(w, time_fs - w->now_fs);
}

/* One lane's bound from those it depends on; the caller repeats until nothing changes. */
static int64_t raise(const struct writer *w, const struct lane *lane)
{
    const struct simulator *s = w->s;
    int64_t bound = w->earliest_fs[lane->pipe];
    if (lane->state == LANE_WAITS)
        return later(bound, w->earliest_fs[s->streams.slots[op_index(lane->op)].from]);
    if (lane->state == LANE_AT_BARRIER)
        for (int p = 0; p < s->lane_count; p++)
            if (s->lanes[p].state != LANE_STOPPED)
                bound = later(bound, w->earliest_fs[p]);
    return bound;
}

static void bound_lanes(struct writer *w)
{
    const struct simulator *s = w->s;
    for (int p = 0; p < s->lane_count; p++) {
        const struct lane *lane = &s->lanes[p];
        w->earliest_fs[p] = lane->time_fs;
        if (lane->state == LANE_ON_BUS)
            w->earliest_fs[p] = later(lane->start_fs, s->buses[lane->cost->bus].now_fs);
    }
    bool changed = true;
    for (int round = 0; changed && round < s->lane_count; round++) {
        changed = false;
        for (int p = 0; p < s->lane_count; p++) {
            int64_t bound = raise(w, &s->lanes[p]);
            changed |= bound != w->earliest_fs[p];
            w->earliest_fs[p] = bound;
        }
    }
}

/* Iterations of the loops around a lane: all but the watched one must be equal. */
static void put_iterations(struct writer *w, const struct lane *lane)
{
    w->out->iterations[lane->pipe] = -1;
    for (int d = 0; d < lane->depth; d++) {
        if (d == w->depth && lane->loops[d] == w->loop)
            w->out->iterations[lane->pipe] = lane->iterations[d];
        else
            put(w, lane->iterations[d]);
    }
}

static void put_lane(struct writer *w, const struct lane *lane)
{
    put(w, lane->op - lane->ops);
    put(w, lane->state);
    w->out->busy_fs[lane->pipe] = lane->busy_fs;
    w->out->iterations[lane->pipe] = -1;
    if (lane->state == LANE_STOPPED)
        return;
    put_iterations(w, lane);
    put_time(w, lane->state == LANE_ON_BUS ? lane->time_fs : w->earliest_fs[lane->pipe]);
    put_time(w, later(lane->done_fs, w->earliest_fs[lane->pipe]));
}

static void put_slot(struct writer *w, const struct slot *slot, const struct stream_slot *pair)
{
    put(w, slot->pushed - slot->popped);
    for (int64_t i = slot->popped; i < slot->pushed && w->out->key_size < FOLD_KEY_SIZE; i++)
        put_time(w, later(slot->times_fs[i & slot->mask], w->earliest_fs[pair->to]));
}

static void put_bus(struct writer *w, const struct bus_state *bus)
{
    put(w, bus->lane_count);
    put(w, bus->active);
    if (bus->active)
        put_time(w, bus->now_fs);
    for (int32_t i = 0; i < bus->lane_count; i++) {
        const struct lane *lane = bus->lanes[i];
        put(w, lane->pipe);
        put(w, (int64_t)(uint64_t)lane->left);
        put(w, (int64_t)(uint64_t)(lane->left >> 64));
        put_time(w, lane->start_fs);
    }
}

static void write_snapshot(struct simulator *s, const struct lane *lane,
                           const struct stream_loop *loop, int64_t iteration, struct snapshot *out)
{
    struct writer w = {
        .s = s, .out = out, .loop = loop->number, .depth = loop->depth, .now_fs = lane->time_fs};
    out->loop = loop->number;
    out->iteration = iteration;
    out->now_fs = lane->time_fs;
    out->key_size = 0;
    bound_lanes(&w);
    for (int p = 0; p < s->lane_count; p++)
        put_lane(&w, &s->lanes[p]);
    for (int32_t i = 0; i < s->slot_count; i++) {
        put_slot(&w, &s->slots[i], &s->streams.slots[i]);
        if (i < FOLD_KEY_SIZE)
            out->pushed[i] = s->slots[i].pushed;
    }
    for (int b = 0; b < s->hw->bus_count; b++) {
        put_bus(&w, &s->buses[b]);
        out->active_fs[b] = s->buses[b].active_fs;
    }
    put(&w, s->cores[0].at_barrier);
    if (s->cores[0].at_barrier)
        put_time(&w, s->cores[0].barrier_fs);
    for (int32_t i = 0; i < s->ready_count; i++)
        put(&w, s->ready[i] - s->lanes);
}

static bool recurs(const struct snapshot *old, const struct snapshot *now)
{
    return old->loop == now->loop && old->iteration < now->iteration &&
           old->key_size == now->key_size &&
           memcmp(old->key, now->key, (size_t)now->key_size * sizeof *now->key) == 0;
}

/* Periods that can be skipped before any pipe leaves the loop. */
static int64_t periods_left(const struct simulator *s, const struct snapshot *old,
                            const struct snapshot *now, int64_t count)
{
    int64_t periods = INT64_MAX;
    for (int p = 0; p < s->lane_count; p++) {
        int64_t step = now->iterations[p] - old->iterations[p];
        if (step < 0)
            return 0;
        int64_t left = step ? (count - 1 - now->iterations[p]) / step : INT64_MAX;
        periods = left < periods ? left : periods;
    }
    return periods;
}

/* A register's sets, `more` pairs of set and wait later: the ring's entries move to the places of
 * their new numbers. */
static void skip_sets(struct slot *slot, int64_t more, int64_t shift_fs)
{
    int64_t times_fs[FOLD_KEY_SIZE], count = slot->pushed - slot->popped;
    for (int64_t n = 0; n < count; n++)
        times_fs[n] = slot->times_fs[(slot->popped + n) & slot->mask] + shift_fs;
    slot->pushed += more;
    slot->popped += more;
    for (int64_t n = 0; n < count; n++)
        slot->times_fs[(slot->popped + n) & slot->mask] = times_fs[n];
}

/* Shifts everything that is alive by `periods` periods. */
static void skip(struct simulator *s, const struct snapshot *old, const struct snapshot *now,
                 int depth, int64_t periods)
{
    int64_t shift = periods * (now->now_fs - old->now_fs);
    for (int p = 0; p < s->lane_count; p++) {
        struct lane *lane = &s->lanes[p];
        if (lane->state == LANE_STOPPED)
            continue;
        if (now->iterations[p] >= 0)
            lane->iterations[depth] += periods * (now->iterations[p] - old->iterations[p]);
        lane->busy_fs += periods * (lane->busy_fs - old->busy_fs[p]);
        lane->time_fs += shift;
        lane->done_fs += shift;
        lane->start_fs += shift;
    }
    for (int32_t i = 0; i < s->slot_count; i++)
        skip_sets(&s->slots[i], periods * (now->pushed[i] - old->pushed[i]), shift);
    for (int b = 0; b < s->hw->bus_count; b++) {
        s->buses[b].now_fs += shift;
        s->buses[b].active_fs += periods * (s->buses[b].active_fs - old->active_fs[b]);
    }
    s->cores[0].barrier_fs += shift;
}

void fold(struct simulator *s, const struct lane *lane, const struct stream_loop *loop,
          int64_t iteration)
{
    struct snapshot *old = &s->snapshots[loop->depth], *now = &s->current;
    bool save = fold_is_due(lane, loop);
    if (!save && (old->loop != loop->number || old->iteration >= iteration ||
                  iteration - old->iteration > LONGEST_PERIOD))
        return;
    write_snapshot(s, lane, loop, iteration, now);
    if (now->key_size > FOLD_KEY_SIZE) {
        old->loop = -1; /* too much to compare: look again at the next power of two */
        return;
    }
    if (recurs(old, now)) {
        int64_t periods = periods_left(s, old, now, loop->count);
        if (periods > 0)
            skip(s, old, now, loop->depth, periods);
        old->loop = -1;
    } else if (save) {
        size_t used = offsetof(struct snapshot, key) + (size_t)now->key_size * sizeof *now->key;
        memcpy(old, now, used);
        memcpy(old->iterations, now->iterations, sizeof now->iterations);
        memcpy(old->busy_fs, now->busy_fs, sizeof now->busy_fs);
        memcpy(old->active_fs, now->active_fs, sizeof now->active_fs);
        memcpy(old->pushed, now->pushed, (size_t)s->slot_count * sizeof *now->pushed);
    }
}
