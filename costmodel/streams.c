/* One pass in program order hands each instruction to its pipe's stream; a pass before it has
 * marked which pipes each loop concerns, and the others never see it. Gates and settling are
 * written late, when the pipe has its next op, so that those which order nothing do not arise.
 * Times of instructions are looked up in a small memory of those met before. */
#include "costmodel/streams.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_FOLD_ITERATIONS = 4, KNOWN_PRICES = 64 };

#define EVERYBODY (1u << 31) /* in a loop's mask: it holds a barrier over all pipes */

struct cutter {
    struct streams *streams;
    const struct program *program;
    int cores;
    int scalar_pipe; /* the pipe that blocks dispatch, -1: none */
    int depth;
    int64_t times[PROGRAM_MAX_DEPTH + 1]; /* iterations of the loops around, multiplied */
    int64_t seen; /* instructions dispatched up to here, whole loops multiplied out */
    int64_t seen_at[HARDWARE_MAX_PIPES]; /* the pipe's previous op */
    int64_t seen_at_scalar;              /* the previous instruction of the scalar pipe */
    uint32_t behind;                     /* pipes with no gate since then */
    uint32_t unsettled;                  /* pipes with a barrier of their own since their last op */
    bool failed;
    struct {
        int64_t units, burst_fs, fs;
        int16_t price;
    } known[KNOWN_PRICES]; /* times of instructions met before, by price, units and burst_fs */
    int16_t flag_slots[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES][HARDWARE_MAX_FLAGS];
    int16_t gate_slots[HARDWARE_MAX_PIPES];
};

/* Appends an op that was dispatched as instruction number `seen`. */
static void append_at(struct cutter *cutter, int pipe, int64_t seen, struct stream_op op)
{
    struct stream *stream = &cutter->streams->streams[pipe];
    int64_t dispatch_fs = cutter->program->hw->dispatch_fs;
    if ((dispatch_fs && !array_reserve(&stream->dispatch_fs, stream->count,
                                       &stream->dispatch_capacity, sizeof *stream->dispatch_fs)) ||
        !array_reserve(&stream->ops, stream->count, &stream->capacity, sizeof *stream->ops)) {
        cutter->failed = true;
        return;
    }
    op.depth = (uint8_t)cutter->depth;
    if (dispatch_fs)
        stream->dispatch_fs[stream->count] = (seen - cutter->seen_at[pipe]) * dispatch_fs;
    cutter->seen_at[pipe] = seen;
    stream->ops[stream->count++] = op;
}

static void append(struct cutter *cutter, int pipe, struct stream_op op)
{
    append_at(cutter, pipe, cutter->seen, op);
}

/* The number of a slot, made at first sight. */
static int slot_for(struct cutter *cutter, int16_t *known, int from, int to, bool gate)
{
    struct streams *streams = cutter->streams;
    if (*known >= 0)
        return *known;
    if (!array_reserve(&streams->slots, streams->slot_count, &streams->slot_capacity,
                       sizeof *streams->slots)) {
        cutter->failed = true;
        return 0;
    }
    streams->slots[streams->slot_count] =
        (struct stream_slot){.from = (int8_t)from, .to = (int8_t)to, .gate = gate};
    *known = (int16_t)streams->slot_count++;
    return *known;
}

/* Before `pipe` goes on in program order, it waits for the scalar instructions before it. */
static void gate(struct cutter *cutter, int pipe)
{
    int scalar = cutter->scalar_pipe;
    if (!(cutter->behind >> pipe & 1) || pipe == scalar)
        return;
    cutter->behind &= ~(1u << pipe);
    int slot = slot_for(cutter, &cutter->gate_slots[pipe], scalar, pipe, true);
    if (cutter->failed)
        return;
    cutter->streams->slots[slot].waits += cutter->times[cutter->depth];
    /* The gate itself is not dispatched; it stands right after the scalar instruction. */
    append_at(cutter, scalar, cutter->seen_at[scalar],
              (struct stream_op){.kind = STREAM_SET, .slot = slot, .instruction = -1});
    append_at(cutter, pipe, cutter->seen_at_scalar,
              (struct stream_op){.kind = STREAM_WAIT, .slot = slot, .instruction = -1});
}

/* A barrier on one pipe lets the pipe's next op wait for the results of those before it. It is no
 * op of its own before there is such a next op: a pipe with nothing but barriers does nothing. */
static void settle(struct cutter *cutter, int pipe)
{
    if (!(cutter->unsettled >> pipe & 1))
        return;
    cutter->unsettled &= ~(1u << pipe);
    append_at(cutter, pipe, cutter->seen_at[pipe],
              (struct stream_op){.kind = STREAM_SETTLE, .instruction = -1});
}

/* What stands between a pipe's previous op and its next. */
static void catch_up(struct cutter *cutter, int pipe)
{
    settle(cutter, pipe);
    gate(cutter, pipe);
}

static void catch_up_all(struct cutter *cutter, uint32_t pipes)
{
    for (int p = 0; p < cutter->program->hw->pipe_count; p++)
        if (pipes >> p & 1)
            catch_up(cutter, p);
}

static void append_flag(struct cutter *cutter, const struct instruction *in, int32_t index)
{
    bool wait = in->kind == INSTRUCTION_WAIT;
    int slot =
        slot_for(cutter, &cutter->flag_slots[in->from][in->to][in->flag], in->from, in->to, false);
    if (cutter->failed)
        return;
    if (wait)
        cutter->streams->slots[slot].waits += cutter->times[cutter->depth];
    append(
        cutter, in->pipe,
        (struct stream_op){.kind = wait ? STREAM_WAIT : STREAM_SET,
                           .slot = slot,
                           .fs = wait ? 0 : hardware_flag_fs(cutter->program->hw, in->from, in->to),
                           .instruction = index});
}

/* instruction_alone_fs with a short memory: programs repeat few kinds of instruction. */
static int64_t alone_fs(struct cutter *cutter, const struct instruction *in)
{
    int at = (int)(((uint64_t)in->paid_units * 31 + (uint64_t)in->price) % KNOWN_PRICES);
    if (cutter->known[at].price != in->price || cutter->known[at].units != in->paid_units ||
        cutter->known[at].burst_fs != in->burst_fs) {
        cutter->known[at].price = in->price;
        cutter->known[at].units = in->paid_units;
        cutter->known[at].burst_fs = in->burst_fs;
        cutter->known[at].fs = instruction_alone_fs(
            cutter->program->hw, in,
            cutter->cores *
                hardware_in_step(cutter->program->hw, cutter->streams->used_pipes, in->pipe));
    }
    return cutter->known[at].fs;
}

static void append_work(struct cutter *cutter, const struct instruction *in, int32_t index)
{
    const struct hardware *hw = cutter->program->hw;
    const struct price *price = &hw->prices[in->price];
    struct stream_op op = {.kind = STREAM_WORK, .price = in->price, .instruction = index};
    op.fs = alone_fs(cutter, in);
    op.latency_fs = price->latency_fs;
    if (price->bus >= 0) {
        op.kind = STREAM_TRANSFER;
        int64_t issue_fs = instruction_issue_fs(hw, in);
        op.alone_fs = op.fs - issue_fs;
        op.fs = issue_fs;
    }
    append(cutter, in->pipe, op);
}

static void append_barrier(struct cutter *cutter, int32_t index)
{
    uint32_t used = cutter->streams->used_pipes;
    catch_up_all(cutter, used);
    for (int p = 0; p < cutter->program->hw->pipe_count; p++)
        if (used >> p & 1)
            append(cutter, p, (struct stream_op){.kind = STREAM_BARRIER, .instruction = index});
}

static void cut_instruction(struct cutter *cutter, const struct instruction *in, int32_t index)
{
    cutter->seen++;
    if (in->kind == INSTRUCTION_BARRIER) {
        if (in->pipe == PROGRAM_PIPE_ALL)
            append_barrier(cutter, index);
        else /* without latencies it orders nothing that FIFO does not */
            cutter->unsettled |= cutter->streams->late_pipes & 1u << in->pipe;
        return;
    }
    catch_up(cutter, in->pipe);
    if (in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT)
        append_flag(cutter, in, index);
    else
        append_work(cutter, in, index);
    if (in->pipe == cutter->scalar_pipe) {
        cutter->behind = ~0u;
        cutter->seen_at_scalar = cutter->seen;
    }
}

/* Per loop, the pipes that have something to do in it: bottom-up over the closed program. */
static bool mark_loops(struct cutter *cutter)
{
    struct streams *streams = cutter->streams;
    const struct program *program = cutter->program;
    while (streams->mask_capacity < program->count)
        if (!array_double(&streams->loop_masks, &streams->mask_capacity,
                          sizeof *streams->loop_masks))
            return false;
    uint32_t open[PROGRAM_MAX_DEPTH + 1] = {0};
    int depth = 0;
    for (int32_t i = 0; i < program->count; i++) {
        const struct instruction *in = &program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            open[++depth] = 0;
        } else if (in->kind == INSTRUCTION_END) {
            uint32_t mask = open[depth--];
            streams->loop_masks[in->partner] = mask;
            open[depth] |= program->items[in->partner].count > 0 ? mask : 0;
        } else if (in->kind != INSTRUCTION_BARRIER) {
            open[depth] |= 1u << in->pipe;
        } else if (in->pipe == PROGRAM_PIPE_ALL) {
            open[depth] |= EVERYBODY;
        }
    }
    streams->used_pipes = open[0] & ~EVERYBODY;
    return true;
}

static uint32_t loop_pipes(const struct cutter *cutter, int32_t index)
{
    uint32_t mask = cutter->streams->loop_masks[index];
    return mask & EVERYBODY ? cutter->streams->used_pipes : mask;
}

struct open_loop {
    uint32_t pipes;
    int32_t number;
    int32_t body[HARDWARE_MAX_PIPES]; /* position of the first op of the body */
};

static void open_loop(struct cutter *cutter, int32_t index, struct open_loop *loop)
{
    const struct instruction *in = &cutter->program->items[index];
    loop->pipes = loop_pipes(cutter, index);
    loop->number = cutter->streams->loop_count++;
    catch_up_all(cutter, loop->pipes);
    for (int p = 0; p < cutter->program->hw->pipe_count; p++) {
        if (!(loop->pipes >> p & 1))
            continue;
        append(
            cutter, p,
            (struct stream_op){
                .kind = STREAM_LOOP, .slot = loop->number, .fs = in->count, .instruction = index});
        loop->body[p] = cutter->streams->streams[p].count;
    }
    /* wraps only where there is nothing to count: the program's length is limited */
    cutter->times[cutter->depth + 1] =
        (int64_t)((uint64_t)cutter->times[cutter->depth] * (uint64_t)in->count);
    cutter->depth++;
}

static void close_loop(struct cutter *cutter, int32_t index, const struct open_loop *loop)
{
    const struct instruction *in = &cutter->program->items[index];
    bool watched = in->count < MIN_FOLD_ITERATIONS;
    catch_up_all(cutter, loop->pipes);
    cutter->depth--;
    for (int p = 0; p < cutter->program->hw->pipe_count; p++) {
        if (!(loop->pipes >> p & 1))
            continue;
        append(cutter, p,
               (struct stream_op){.kind = watched ? STREAM_BACK : STREAM_BACK_FOLD,
                                  .slot = loop->number,
                                  .target = loop->body[p],
                                  .fs = in->count,
                                  .instruction = index});
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

static void cut(struct cutter *cutter, int32_t first, int32_t last)
{
    for (int32_t i = first; i < last && !cutter->failed; i++) {
        const struct instruction *in = &cutter->program->items[i];
        if (in->kind != INSTRUCTION_LOOP) {
            cut_instruction(cutter, in, i);
            continue;
        }
        struct open_loop loop;
        int64_t before = cutter->seen;
        if (in->count > 0) {
            open_loop(cutter, i, &loop);
            cut(cutter, i + 1, in->partner);
            close_loop(cutter, i, &loop);
            count_iterations(cutter, &loop, before, in->count);
        }
        i = in->partner;
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
                            .scalar_pipe = find_scalar_pipe(program->hw)};
    for (int k = 0; k < KNOWN_PRICES; k++)
        cutter.known[k].price = -1;
    memset(cutter.flag_slots, -1, sizeof cutter.flag_slots);
    memset(cutter.gate_slots, -1, sizeof cutter.gate_slots);
    streams->hw = program->hw;
    streams->late_pipes = find_late_pipes(program->hw);
    streams->loop_count = 0;
    streams->slot_count = 0;
    for (int p = 0; p < program->hw->pipe_count; p++)
        streams->streams[p].count = 0;
    if (!mark_loops(&cutter))
        return error_memory(error);
    cut(&cutter, 0, program->count);
    for (int p = 0; p < program->hw->pipe_count; p++)
        append(&cutter, p, (struct stream_op){.kind = STREAM_STOP, .instruction = -1});
    return cutter.failed ? error_memory(error) : STATUS_OK;
}

void streams_clear(struct streams *streams)
{
    for (int p = 0; p < HARDWARE_MAX_PIPES; p++) {
        free(streams->streams[p].ops);
        free(streams->streams[p].dispatch_fs);
    }
    free(streams->slots);
    free(streams->loop_masks);
    memset(streams, 0, sizeof *streams);
}
