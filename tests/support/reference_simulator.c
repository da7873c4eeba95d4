/* Simulates, plainly. A loop over moments: the next one at which anything can happen is found by
 * asking everybody, buses are drained up to it, and then all rules are applied until none changes
 * anything. What a bus still has to move is an exact integer of bytes times femtoseconds. Slow in
 * every respect, and short enough to be read against docs/program.md and docs/timing.md. */
#include "tests/support/reference_simulator.h"

#include <stdlib.h>
#include <string.h>

__extension__ typedef unsigned __int128 wide;

enum { MAX_ON_THEIR_WAY = 4096 };

enum activity { RESTING, WORKING, ISSUING, MOVING };

/* One pipe of one core; `at` is what it is doing, as a position in the unrolled list. */
struct machine_pipe {
    enum activity activity;
    int at;
    int64_t start_fs, end_fs; /* end of the work or of the issue */
    wide left;                /* bytes · FS_PER_S, while moving */
    int64_t done_fs;          /* the last of its results is there */
    int64_t busy_fs;
};

/* A set that its pipe has given while results before it were not there yet. */
struct flight {
    int64_t arrives_fs;
    int32_t instruction;
};

struct machine_core {
    struct machine_pipe pipes[HARDWARE_MAX_PIPES];
    bool ended[REFERENCE_MAX_EXECUTED];
    int first_open; /* everything before has ended */
    int dispatched; /* instructions, in program order */
    int64_t next_dispatch_fs;
    int flight_count;
    struct flight flights[MAX_ON_THEIR_WAY];
    int64_t sets[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES][HARDWARE_MAX_FLAGS];
    int64_t waits[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES][HARDWARE_MAX_FLAGS];
};

struct machine {
    const struct program *program;
    const struct hardware *hw;
    int count;
    int32_t list[REFERENCE_MAX_EXECUTED]; /* the instructions to play */
    bool works;                    /* some pipe has something to do, which a barrier can end */
    int alike[HARDWARE_MAX_PIPES]; /* pipes of a core that do the same as this one, with itself */
    int core_count;
    struct machine_core cores[REFERENCE_MAX_CORES];
    int64_t now_fs, last_end_fs;
    int movers[HARDWARE_MAX_BUSES]; /* at now_fs */
    int64_t active_fs[HARDWARE_MAX_BUSES];
};

/* Appends items[first, last), loops unrolled; false when the list is full. */
static bool unroll(struct machine *m, int32_t first, int32_t last)
{
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &m->program->items[i];
        if (in->kind != INSTRUCTION_LOOP) {
            if (m->count == REFERENCE_MAX_EXECUTED)
                return false;
            m->list[m->count++] = i;
            m->works |= in->kind != INSTRUCTION_BARRIER;
            continue;
        }
        for (int64_t n = 0; n < in->count && in->partner > i + 1; n++)
            if (!unroll(m, i + 1, in->partner))
                return false;
        i = in->partner;
    }
    return true;
}

/* Where a core has one of some pipes and several of others, each of these plays its instructions;
 * where all that work are several, each of them is a core of its own. */
static void count_alike(struct machine *m)
{
    int least = INT32_MAX;
    for (int at = 0; at < m->count; at++) {
        const struct instruction *in = &m->program->items[m->list[at]];
        if (in->kind == INSTRUCTION_BARRIER)
            continue;
        const struct pipe *pipe = &m->hw->pipes[(int)in->pipe];
        if (!pipe->blocks_dispatch && pipe->per_core < least)
            least = pipe->per_core;
    }
    for (int p = 0; p < m->hw->pipe_count; p++)
        m->alike[p] = m->hw->pipes[p].per_core > least ? m->hw->pipes[p].per_core / least : 1;
}

static int64_t blocks(int64_t elements, int64_t block)
{
    return (elements + block - 1) / block;
}

/* Of the rows for no better alignment than the pieces have, the one for the best; of the columns
 * for no shorter pieces, the one for the shortest. */
static int64_t piece_fs(const struct hardware *hw, const struct instruction *in)
{
    int index = hw->prices[in->price].burst_table, row = 0, column;
    if (index < 0)
        return 0;
    const struct burst_table *table = &hw->burst_tables[index];
    int64_t piece = blocks(in->bytes, in->bursts);
    for (int r = 1; r < table->row_count; r++)
        if (in->align_bytes == 0 || in->align_bytes % table->align_bytes[r] == 0)
            row = r;
    for (column = table->limit_count; column > 0; column--)
        if (piece > table->up_to_bytes[column - 1])
            break;
    return table->fs[row][column] *
           (column == table->limit_count ? blocks(piece, table->up_to_bytes[column - 1]) : 1);
}

static int64_t in_whole(int64_t count, int64_t lot)
{
    while (lot > 1 && count % lot)
        count++;
    return count;
}

/* Bytes, blocks, repeats after the first, or scalar operations; of bytes and of the blocks of one
 * row those that go idly with them. */
static int64_t units_of(const struct hardware *hw, const struct instruction *in)
{
    if (in->kind == INSTRUCTION_MOVE)
        return in_whole(in->bytes, hw->prices[in->price].lot);
    if (in->kind == INSTRUCTION_SCALAR)
        return in->count;
    if (in->kind == INSTRUCTION_MATRIX) {
        const struct matrix_type *type = hardware_matrix_type(hw, (enum dtype)in->type);
        int64_t rows = blocks(in->m, type->block_m), columns = blocks(in->n, type->block_n);
        if (rows < 2)
            columns = in_whole(columns, type->row_blocks_at_once);
        return rows * blocks(in->k, type->block_k) * columns;
    }
    int from = dtype_bytes((enum dtype)in->type), to = dtype_bytes((enum dtype)in->to_type);
    int64_t repeats = blocks(in->elements, hw->vector_repeat_bytes / (from > to ? from : to));
    return repeats > 0 ? repeats - 1 : 0;
}

static const struct instruction *instruction_at(const struct machine *m, int at)
{
    return &m->program->items[m->list[at]];
}

static const struct price *price_at(const struct machine *m, int at)
{
    return &m->hw->prices[instruction_at(m, at)->price];
}

static bool is_barrier(const struct instruction *in)
{
    return in->kind == INSTRUCTION_BARRIER && in->pipe == PROGRAM_PIPE_ALL;
}

static bool blocks_dispatch(const struct machine *m, int at)
{
    const struct instruction *in = instruction_at(m, at);
    return in->kind != INSTRUCTION_BARRIER && m->hw->pipes[in->pipe].blocks_dispatch;
}

/* How many transfers are on each bus. */
static void count_movers(struct machine *m)
{
    memset(m->movers, 0, sizeof m->movers);
    for (int c = 0; c < m->core_count; c++)
        for (int p = 0; p < m->hw->pipe_count; p++) {
            const struct machine_pipe *pipe = &m->cores[c].pipes[p];
            if (pipe->activity == MOVING)
                m->movers[price_at(m, pipe->at)->bus] += m->alike[p];
        }
}

/* Bytes per second of one of n: min(own, total[n] / n), whole. */
static int64_t rate_of(const struct machine *m, const struct machine_pipe *pipe, int n)
{
    const struct price *price = price_at(m, pipe->at);
    const struct bus *bus = &m->hw->buses[price->bus];
    wide own = (wide)FS_PER_S * (wide)price->rate.units / (wide)price->rate.fs;
    wide share = (wide)bus->total_bytes_per_s[(n < bus->sharers ? n : bus->sharers) - 1] / (wide)n;
    wide least = own < share ? own : share;
    return least ? (int64_t)least : 1;
}

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* When a result or a set of the core arrives next. */
static int64_t next_arrival(const struct machine *m, const struct machine_core *core)
{
    int64_t first = INT64_MAX;
    for (int f = 0; f < core->flight_count; f++)
        first = earlier(first, core->flights[f].arrives_fs);
    for (int p = 0; p < m->hw->pipe_count; p++)
        if (core->pipes[p].done_fs > m->now_fs)
            first = earlier(first, core->pipes[p].done_fs);
    return first;
}

static int64_t pipe_event(const struct machine *m, const struct machine_pipe *pipe)
{
    if (pipe->activity == RESTING)
        return INT64_MAX;
    if (pipe->activity != MOVING)
        return pipe->end_fs;
    int64_t rate = rate_of(m, pipe, m->movers[price_at(m, pipe->at)->bus]);
    return m->now_fs + (int64_t)((pipe->left + (wide)rate - 1) / (wide)rate);
}

/* The next moment at which anything happens; INT64_MAX: never. */
static int64_t next_event(struct machine *m)
{
    int64_t first = INT64_MAX;
    count_movers(m);
    for (int c = 0; c < m->core_count; c++) {
        const struct machine_core *core = &m->cores[c];
        int64_t event = core->dispatched < m->count ? core->next_dispatch_fs : INT64_MAX;
        first = earlier(first, earlier(event, next_arrival(m, core)));
        for (int p = 0; p < m->hw->pipe_count; p++)
            first = earlier(first, pipe_event(m, &core->pipes[p]));
    }
    return first;
}

/* Moves what is on one bus on to the moment `when`. */
static void drain(struct machine *m, int bus, int64_t when)
{
    int n = m->movers[bus];
    if (n == 0)
        return;
    m->active_fs[bus] += when - m->now_fs;
    for (int c = 0; c < m->core_count; c++)
        for (int p = 0; p < m->hw->pipe_count; p++) {
            struct machine_pipe *pipe = &m->cores[c].pipes[p];
            if (pipe->activity != MOVING || price_at(m, pipe->at)->bus != bus)
                continue;
            wide moved = (wide)rate_of(m, pipe, n) * (wide)(when - m->now_fs);
            pipe->left -= moved < pipe->left ? moved : pipe->left;
        }
}

static void end_instruction(struct machine *m, struct machine_core *core, int at)
{
    const struct instruction *in = instruction_at(m, at);
    core->ended[at] = true;
    if ((in->kind != INSTRUCTION_BARRIER || (is_barrier(in) && m->works)) &&
        m->last_end_fs < m->now_fs)
        m->last_end_fs = m->now_fs;
    if (blocks_dispatch(m, at) && core->dispatched == at + 1)
        core->next_dispatch_fs = m->now_fs + m->hw->dispatch_fs;
}

/* The work of a pipe is over at this moment; what it makes is there later. */
static void end_work(struct machine *m, struct machine_core *core, struct machine_pipe *pipe)
{
    int64_t there_fs = m->now_fs + price_at(m, pipe->at)->latency_fs;
    pipe->activity = RESTING;
    pipe->busy_fs += m->now_fs - pipe->start_fs;
    if (there_fs > pipe->done_fs)
        pipe->done_fs = there_fs;
    if (there_fs > m->last_end_fs)
        m->last_end_fs = there_fs;
    end_instruction(m, core, pipe->at);
}

/* Sets whose time has come; true when one did. */
static bool arrive(struct machine *m, struct machine_core *core)
{
    int left = 0, before = core->flight_count;
    for (int f = 0; f < before; f++) {
        const struct instruction *in = &m->program->items[core->flights[f].instruction];
        if (core->flights[f].arrives_fs <= m->now_fs)
            core->sets[in->from][in->to][in->flag]++;
        else
            core->flights[left++] = core->flights[f];
    }
    core->flight_count = left;
    return left < before;
}

/* What a flag takes between two kinds of core. */
static int64_t crossing_fs(const struct hardware *hw, const struct instruction *in)
{
    const struct pipe *from = &hw->pipes[(int)in->from], *to = &hw->pipes[(int)in->to];
    bool is_scalar = from->blocks_dispatch || to->blocks_dispatch;
    return hw->core_flags > 0 && !is_scalar && from->per_core != to->per_core ? hw->core_flag_fs
                                                                              : 0;
}

static void give_set(struct machine *m, struct machine_core *core, int at)
{
    const struct machine_pipe *pipe = &core->pipes[instruction_at(m, at)->pipe];
    int64_t when = pipe->done_fs > m->now_fs ? pipe->done_fs : m->now_fs;
    if (core->flight_count == MAX_ON_THEIR_WAY)
        abort();
    core->flights[core->flight_count++] =
        (struct flight){when + crossing_fs(m->hw, instruction_at(m, at)), m->list[at]};
    if (when > m->last_end_fs)
        m->last_end_fs = when;
}

/* Everything that the core's pipes have made is there. */
static bool is_settled(const struct machine *m, const struct machine_core *core)
{
    for (int p = 0; p < m->hw->pipe_count; p++)
        if (core->pipes[p].done_fs > m->now_fs)
            return false;
    return true;
}

/* Instructions leave the dispatcher one by one; behind one of the scalar pipe it stands still. */
static bool dispatch(struct machine *m, struct machine_core *core)
{
    bool changed = false;
    while (core->dispatched < m->count && core->next_dispatch_fs <= m->now_fs) {
        bool stands = blocks_dispatch(m, core->dispatched++);
        core->next_dispatch_fs = stands ? INT64_MAX : core->next_dispatch_fs + m->hw->dispatch_fs;
        changed = true;
    }
    return changed;
}

static void begin_work(struct machine *m, struct machine_core *core, int at)
{
    const struct instruction *in = instruction_at(m, at);
    const struct price *price = price_at(m, at);
    struct machine_pipe *pipe = &core->pipes[in->pipe];
    wide units = (wide)units_of(m->hw, in), fs = (wide)price->rate.fs;
    pipe->at = at;
    pipe->start_fs = m->now_fs;
    pipe->activity = price->bus >= 0 ? ISSUING : WORKING;
    pipe->end_fs = m->now_fs + price->base_fs;
    for (int64_t b = 0; in->kind == INSTRUCTION_MOVE && in->bursts > 1 && b < in->bursts; b++)
        pipe->end_fs += piece_fs(m->hw, in);
    if (price->bus >= 0)
        pipe->left = units * FS_PER_S;
    else
        pipe->end_fs +=
            (int64_t)((units * fs + (wide)price->rate.units - 1) / (wide)price->rate.units);
}

/* The first of its pipe, dispatched, with no barrier before it: what it does at this moment. */
static bool go_on(struct machine *m, struct machine_core *core, int at)
{
    const struct instruction *in = instruction_at(m, at);
    if (in->kind == INSTRUCTION_SET) {
        give_set(m, core, at);
    } else if (in->kind == INSTRUCTION_WAIT) {
        if (core->waits[in->from][in->to][in->flag] == core->sets[in->from][in->to][in->flag])
            return false;
        core->waits[in->from][in->to][in->flag]++;
    } else if (in->kind == INSTRUCTION_BARRIER) {
        if (!is_barrier(in) && core->pipes[in->pipe].done_fs > m->now_fs)
            return false;
    } else {
        if (core->pipes[in->pipe].activity != RESTING)
            return false;
        begin_work(m, core, at);
        return true;
    }
    end_instruction(m, core, at);
    return true;
}

/* One look through the instructions that could begin; true when one did. */
static bool begin(struct machine *m, struct machine_core *core)
{
    bool changed = false;
    uint32_t taken = 0; /* pipes with an instruction that has not ended */
    while (core->first_open < m->count && core->ended[core->first_open])
        core->first_open++;
    for (int at = core->first_open; at < core->dispatched; at++) {
        const struct instruction *in = instruction_at(m, at);
        if (core->ended[at])
            continue;
        if (is_barrier(in) && (taken || !is_settled(m, core)))
            break;
        if (is_barrier(in) || !(taken >> in->pipe & 1))
            changed |= go_on(m, core, at);
        if (core->ended[at])
            continue;
        if (blocks_dispatch(m, at))
            break;
        taken |= 1u << in->pipe;
    }
    return changed;
}

/* Ends what ends at this moment; true when something did. */
static bool finish(struct machine *m, struct machine_core *core)
{
    bool changed = false;
    for (int p = 0; p < m->hw->pipe_count; p++) {
        struct machine_pipe *pipe = &core->pipes[p];
        if (pipe->activity == ISSUING && pipe->end_fs == m->now_fs)
            pipe->activity = MOVING;
        bool ends = pipe->activity == MOVING
                        ? pipe->left == 0
                        : pipe->activity == WORKING && pipe->end_fs == m->now_fs;
        if (!ends)
            continue;
        end_work(m, core, pipe);
        changed = true;
    }
    return changed;
}

static void play(struct machine *m)
{
    for (int64_t when = next_event(m); when != INT64_MAX; when = next_event(m)) {
        for (int bus = 0; bus < m->hw->bus_count; bus++)
            drain(m, bus, when);
        m->now_fs = when;
        for (bool changed = true; changed;) {
            changed = false;
            for (int c = 0; c < m->core_count; c++) {
                changed |= arrive(m, &m->cores[c]);
                changed |= dispatch(m, &m->cores[c]);
                changed |= finish(m, &m->cores[c]);
                changed |= begin(m, &m->cores[c]);
            }
        }
    }
}

static void summarise(const struct machine *m, struct timeline *timeline)
{
    int first = m->count;
    *timeline = (struct timeline){.end_fs = m->last_end_fs, .blocked = -1};
    memcpy(timeline->active_fs, m->active_fs, sizeof m->active_fs);
    for (int c = 0; c < m->core_count; c++) {
        const struct machine_core *core = &m->cores[c];
        first = core->first_open < first ? core->first_open : first;
        for (int p = 0; p < m->hw->pipe_count; p++)
            if (core->pipes[p].busy_fs > timeline->busy_fs[p])
                timeline->busy_fs[p] = core->pipes[p].busy_fs;
    }
    if (first < m->count)
        timeline->blocked = m->list[first];
}

bool reference_simulate(const struct program *program, int cores, bool skew,
                        struct timeline *timeline)
{
    struct machine *m = calloc(1, sizeof *m);
    if (!m)
        abort();
    m->program = program;
    m->hw = program->hw;
    m->core_count = cores;
    int64_t launch_fs = m->hw->launch_fs + (int64_t)cores * m->hw->launch_core_fs;
    m->now_fs = m->last_end_fs = launch_fs;
    for (int c = 0; c < cores; c++)
        m->cores[c].next_dispatch_fs =
            launch_fs + (skew ? c * m->hw->core_skew_fs : 0) + m->hw->dispatch_fs;
    bool fits = unroll(m, 0, program->count);
    if (fits) {
        count_alike(m);
        play(m);
        summarise(m, timeline);
    }
    free(m);
    return fits;
}
