/* One pass in program order over the briefs hands each instruction to its pipe's stream; a loop
 * says which pipes it concerns, and the others never see it. Gates and settling are written late,
 * when the pipe has its next op, so that those which order nothing do not arise. What instructions
 * take is a table, priced once for so many cores: ops name its rows. */
#include "costmodel/streams.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_FOLD_ITERATIONS = 4 };

struct cutter {
    struct streams *streams;
    const struct program *program;
    int cores;
    int64_t dispatch_fs;
    int scalar_pipe; /* the pipe that blocks dispatch, -1: none */
    int depth;
    int64_t times[PROGRAM_MAX_DEPTH + 1]; /* iterations of the loops around, multiplied */
    int64_t seen; /* instructions dispatched up to here, whole loops multiplied out */
    int64_t seen_at[HARDWARE_MAX_PIPES]; /* the pipe's previous op */
    int64_t seen_at_scalar;              /* the previous instruction of the scalar pipe */
    uint32_t behind;                     /* pipes with no gate since then */
    uint32_t unsettled;                  /* pipes with a barrier of their own since their last op */
    bool failed;
    int32_t gate_slots[HARDWARE_MAX_PIPES];
};

/* Where instructions are dispatched one by one: the time since the pipe's previous op. */
static void note_dispatch(struct cutter *cutter, int pipe, int64_t seen)
{
    struct stream *stream = &cutter->streams->streams[pipe];
    if (array_reserve(&stream->dispatch_fs, stream->count, &stream->dispatch_capacity,
                      sizeof *stream->dispatch_fs))
        stream->dispatch_fs[stream->count] = (seen - cutter->seen_at[pipe]) * cutter->dispatch_fs;
    else
        cutter->failed = true;
    cutter->seen_at[pipe] = seen;
}

/* Appends an op that was dispatched as instruction number `seen`. */
static inline void append_at(struct cutter *cutter, int pipe, int64_t seen, struct stream_op op)
{
    struct stream *stream = &cutter->streams->streams[pipe];
    if (cutter->dispatch_fs)
        note_dispatch(cutter, pipe, seen);
    if (stream->count < stream->capacity ||
        array_double(&stream->ops, &stream->capacity, sizeof *stream->ops))
        stream->ops[stream->count++] = op;
    else
        cutter->failed = true;
}

static inline void append(struct cutter *cutter, int pipe, struct stream_op op)
{
    append_at(cutter, pipe, cutter->seen, op);
}

/* The number of a new slot. */
static int32_t add_slot(struct cutter *cutter, struct stream_slot slot)
{
    struct streams *streams = cutter->streams;
    if (!array_reserve(&streams->slots, streams->slot_count, &streams->slot_capacity,
                       sizeof *streams->slots)) {
        cutter->failed = true;
        return 0;
    }
    streams->slots[streams->slot_count] = slot;
    return streams->slot_count++;
}

/* Flag registers have the numbers that the program gives them; gates come after them. */
static void add_flags(struct cutter *cutter)
{
    const struct program *program = cutter->program;
    for (int32_t f = 0; f < program->flag_count && !cutter->failed; f++) {
        const struct program_flag *flag = &program->flags[f];
        add_slot(cutter,
                 (struct stream_slot){.from = flag->from,
                                      .to = flag->to,
                                      .set_fs = hardware_flag_fs(program->hw, flag->from, flag->to),
                                      .waits = flag->waits});
    }
}

/* Before `pipe` goes on in program order, it waits for the scalar instructions before it. */
static void gate(struct cutter *cutter, int pipe)
{
    int scalar = cutter->scalar_pipe;
    if (!(cutter->behind >> pipe & 1) || pipe == scalar)
        return;
    cutter->behind &= ~(1u << pipe);
    if (cutter->gate_slots[pipe] < 0)
        cutter->gate_slots[pipe] =
            add_slot(cutter, (struct stream_slot){.from = (int8_t)scalar, .to = (int8_t)pipe});
    if (cutter->failed)
        return;
    int32_t slot = cutter->gate_slots[pipe];
    cutter->streams->slots[slot].waits += cutter->times[cutter->depth];
    /* The gate itself is not dispatched; it stands right after the scalar instruction. */
    append_at(cutter, scalar, cutter->seen_at[scalar], stream_op(STREAM_SET, slot, -1));
    append_at(cutter, pipe, cutter->seen_at_scalar, stream_op(STREAM_WAIT, slot, -1));
}

/* A barrier on one pipe lets the pipe's next op wait for the results of those before it. It is no
 * op of its own before there is such a next op: a pipe with nothing but barriers does nothing. */
static void settle(struct cutter *cutter, int pipe)
{
    if (!(cutter->unsettled >> pipe & 1))
        return;
    cutter->unsettled &= ~(1u << pipe);
    append_at(cutter, pipe, cutter->seen_at[pipe], stream_op(STREAM_SETTLE, 0, -1));
}

/* What stands between a pipe's previous op and its next. */
static inline void catch_up(struct cutter *cutter, int pipe)
{
    if ((cutter->unsettled | cutter->behind) >> pipe & 1) {
        settle(cutter, pipe);
        gate(cutter, pipe);
    }
}

static void catch_up_all(struct cutter *cutter, uint32_t pipes)
{
    for (int p = 0; p < cutter->program->hw->pipe_count; p++)
        if (pipes >> p & 1)
            catch_up(cutter, p);
}

static void append_barrier(struct cutter *cutter, int32_t index)
{
    uint32_t used = cutter->streams->used_pipes;
    catch_up_all(cutter, used);
    for (int p = 0; p < cutter->program->hw->pipe_count; p++)
        if (used >> p & 1)
            append(cutter, p, stream_op(STREAM_BARRIER, 0, index));
}

static void cut_barrier(struct cutter *cutter, int pipe, int32_t index)
{
    cutter->seen++;
    if (pipe == PROGRAM_PIPE_ALL)
        append_barrier(cutter, index);
    else /* without latencies it orders nothing that FIFO does not */
        cutter->unsettled |= cutter->streams->late_pipes & 1u << pipe;
}

/* What becomes of all but barriers and loops: on a bus, or not. */
static const uint8_t op_kinds[2][INSTRUCTION_BARRIER] = {
    {STREAM_WORK, STREAM_WORK, STREAM_WORK, STREAM_WORK, STREAM_SET, STREAM_WAIT},
    {STREAM_TRANSFER, STREAM_TRANSFER, STREAM_TRANSFER, STREAM_TRANSFER}};

/* Cuts such instructions up to the next barrier or loop, and says where that is. */
static int32_t cut_plain(struct cutter *cutter, int32_t first, int32_t last)
{
    const struct brief *briefs = cutter->program->briefs;
    int32_t i = first;
    for (; i < last && briefs[i].kind < INSTRUCTION_BARRIER; i++) {
        const struct brief brief = briefs[i];
        cutter->seen++;
        catch_up(cutter, brief.pipe);
        append(cutter, brief.pipe, stream_op(op_kinds[brief.transfer][brief.kind], brief.which, i));
        if (brief.pipe == cutter->scalar_pipe) {
            cutter->behind = ~0u;
            cutter->seen_at_scalar = cutter->seen;
        }
    }
    return i;
}

static struct stream_cost price_cost(const struct cutter *cutter, const struct program_cost *cost)
{
    const struct hardware *hw = cutter->program->hw;
    const struct instruction *in = &cutter->program->items[cost->first];
    const struct price *price = &hw->prices[cost->price];
    int64_t fs = instruction_alone_fs(
        hw, in, cutter->cores * hardware_in_step(hw, cutter->streams->used_pipes, in->pipe));
    int64_t issue_fs = instruction_issue_fs(hw, in);
    bool transfer = price->bus >= 0;
    return (struct stream_cost){.fs = transfer ? issue_fs : fs,
                                .alone_fs = fs - issue_fs,
                                .latency_fs = price->latency_fs,
                                .paid_units = cost->paid_units,
                                .price = cost->price,
                                .bus = (int8_t)price->bus};
}

static bool price_costs(struct cutter *cutter)
{
    struct streams *streams = cutter->streams;
    const struct program *program = cutter->program;
    while (streams->cost_capacity < program->cost_count)
        if (!array_double(&streams->costs, &streams->cost_capacity, sizeof *streams->costs))
            return false;
    for (int32_t c = 0; c < program->cost_count; c++)
        streams->costs[c] = price_cost(cutter, &program->costs[c]);
    return true;
}

static uint32_t loop_pipes(const struct cutter *cutter, int32_t index)
{
    uint32_t pipes = (uint32_t)cutter->program->briefs[index].which;
    return pipes & BRIEF_EVERYBODY ? cutter->streams->used_pipes : pipes;
}

/* A loop of one stream, whose body begins at the next op. */
static int32_t add_loop(struct cutter *cutter, int32_t number, int64_t count)
{
    struct streams *streams = cutter->streams;
    if (!array_reserve(&streams->loops, streams->loop_count, &streams->loop_capacity,
                       sizeof *streams->loops)) {
        cutter->failed = true;
        return 0;
    }
    streams->loops[streams->loop_count] =
        (struct stream_loop){.number = number, .depth = cutter->depth, .count = count};
    return streams->loop_count++;
}

struct open_loop {
    uint32_t pipes;
    int32_t loops[HARDWARE_MAX_PIPES]; /* in the streams of these pipes */
};

static void open_loop(struct cutter *cutter, int32_t index, struct open_loop *loop)
{
    const struct instruction *in = &cutter->program->items[index];
    struct streams *streams = cutter->streams;
    int32_t number = streams->loop_number++;
    loop->pipes = loop_pipes(cutter, index);
    catch_up_all(cutter, loop->pipes);
    for (int p = 0; p < cutter->program->hw->pipe_count && !cutter->failed; p++) {
        if (!(loop->pipes >> p & 1))
            continue;
        loop->loops[p] = add_loop(cutter, number, in->count);
        append(cutter, p, stream_op(STREAM_LOOP, loop->loops[p], index));
        if (!cutter->failed)
            streams->loops[loop->loops[p]].target = streams->streams[p].count;
    }
    /* wraps only where there is nothing to count: the program's length is limited */
    cutter->times[cutter->depth + 1] =
        (int64_t)((uint64_t)cutter->times[cutter->depth] * (uint64_t)in->count);
    cutter->depth++;
}

static void close_loop(struct cutter *cutter, int32_t index, const struct open_loop *loop)
{
    bool watched = cutter->program->items[index].count < MIN_FOLD_ITERATIONS;
    catch_up_all(cutter, loop->pipes);
    cutter->depth--;
    for (int p = 0; p < cutter->program->hw->pipe_count; p++) {
        if (!(loop->pipes >> p & 1))
            continue;
        append(cutter, p,
               stream_op(watched ? STREAM_BACK : STREAM_BACK_FOLD, loop->loops[p], index));
        watched = true;
    }
}

/* After a loop all its iterations have been seen: by its pipes as they went by, by the others at
 * once. Where it holds scalar instructions, the last of them came in the last iteration. */
static void count_iterations(struct cutter *cutter, const struct open_loop *loop, int64_t before,
                             int64_t count)
{
    int64_t more = (cutter->seen - before) * (count - 1);
    for (int p = 0; p < cutter->program->hw->pipe_count; p++)
        if (loop->pipes >> p & 1)
            cutter->seen_at[p] += more;
    if (cutter->scalar_pipe >= 0 && loop->pipes >> cutter->scalar_pipe & 1)
        cutter->seen_at_scalar += more;
    cutter->seen += more;
}

static void cut(struct cutter *cutter, int32_t first, int32_t last);

static void cut_loop(struct cutter *cutter, int32_t index)
{
    const struct instruction *in = &cutter->program->items[index];
    struct open_loop loop = {0};
    int64_t before = cutter->seen;
    if (in->count == 0)
        return;
    open_loop(cutter, index, &loop);
    cut(cutter, index + 1, in->partner);
    if (!cutter->failed)
        close_loop(cutter, index, &loop);
    count_iterations(cutter, &loop, before, in->count);
}

static void cut(struct cutter *cutter, int32_t first, int32_t last)
{
    for (int32_t i = first; (i = cut_plain(cutter, i, last)) < last && !cutter->failed; i++) {
        struct brief brief = cutter->program->briefs[i];
        if (brief.kind == INSTRUCTION_BARRIER) {
            cut_barrier(cutter, brief.pipe, i);
        } else {
            cut_loop(cutter, i);
            i = cutter->program->items[i].partner;
        }
    }
}

static int find_scalar_pipe(const struct hardware *hw)
{
    for (int p = 0; p < hw->pipe_count; p++)
        if (hw->pipes[p].blocks_dispatch)
            return p;
    return -1;
}

static uint32_t find_late_pipes(const struct hardware *hw)
{
    uint32_t pipes = 0;
    for (int p = 0; p < hw->price_count; p++)
        if (hw->prices[p].latency_fs > 0)
            pipes |= 1u << hw->prices[p].pipe;
    return pipes;
}

enum status streams_build(struct streams *streams, const struct program *program, int cores,
                          struct error *error)
{
    struct cutter cutter = {.streams = streams,
                            .program = program,
                            .cores = cores,
                            .times = {1},
                            .dispatch_fs = program->hw->dispatch_fs,
                            .scalar_pipe = find_scalar_pipe(program->hw)};
    memset(cutter.gate_slots, -1, sizeof cutter.gate_slots);
    streams->hw = program->hw;
    streams->late_pipes = find_late_pipes(program->hw);
    streams->used_pipes = program->pipes;
    streams->loop_count = streams->loop_number = streams->slot_count = 0;
    for (int p = 0; p < program->hw->pipe_count; p++)
        streams->streams[p].count = 0;
    if (!price_costs(&cutter))
        return error_memory(error);
    add_flags(&cutter);
    cut(&cutter, 0, program->count);
    for (int p = 0; p < program->hw->pipe_count; p++)
        append(&cutter, p, stream_op(STREAM_STOP, 0, -1));
    return cutter.failed ? error_memory(error) : STATUS_OK;
}

void streams_clear(struct streams *streams)
{
    for (int p = 0; p < HARDWARE_MAX_PIPES; p++) {
        free(streams->streams[p].ops);
        free(streams->streams[p].dispatch_fs);
    }
    free(streams->slots);
    free(streams->loops);
    free(streams->costs);
    memset(streams, 0, sizeof *streams);
}
