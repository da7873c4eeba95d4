/* Runs programs on bytes. Loops are unrolled; each pipe has a queue and flags are counters. A
 * random choice picks who goes on, dispatcher or pipe, sometimes for several steps, so that pipes
 * get far ahead of each other where they may. What an instruction computes is a hash (FNV-1a,
 * Fowler, Noll and Vo) of what it reads, and so is the sum over global memory at the end. */
#include "tests/support/interpret.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MEMORY = 1 << 17, MAX_EVENTS = 200000 };

struct step {
    int32_t item;
    int32_t index[PROGRAM_MAX_DEPTH];
};

struct machine {
    const struct program *program;
    struct step *steps; /* loops unrolled */
    int count, dispatched;
    int *queue[HARDWARE_MAX_PIPES]; /* steps */
    int head[HARDWARE_MAX_PIPES], tail[HARDWARE_MAX_PIPES];
    int sets[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES][HARDWARE_MAX_FLAGS]; /* not waited for */
    uint8_t *memory[HARDWARE_MAX_BUFFERS];
    uint8_t *source[OPERAND_ROLES];
};

static void unroll(struct machine *m, int32_t first, int32_t last, int depth, int32_t *index)
{
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &m->program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            for (index[depth] = 0; index[depth] < in->count; index[depth]++)
                unroll(m, i + 1, in->partner, depth + 1, index);
            index[depth] = 0;
            i = in->partner;
            continue;
        }
        cr_assert_lt(m->count, MAX_EVENTS);
        m->steps[m->count].item = i;
        memcpy(m->steps[m->count++].index, index, sizeof m->steps->index);
    }
}

static const struct region *region_of(const struct machine *m, const struct instruction *in,
                                      enum operand_role role)
{
    for (int r = 0; r < in->region_count; r++)
        if (m->program->regions[in->first_region + r].role == role)
            return &m->program->regions[in->first_region + r];
    return NULL;
}

static uint8_t *byte_of(const struct machine *m, const struct step *step,
                        const struct region *region, int64_t byte)
{
    int64_t per_row = region->bytes / region->rows, per_piece = per_row / region->pieces;
    int64_t at = region->offset_bytes + byte / per_row * region->row_stride_bytes +
                 byte % per_row / per_piece * region->piece_stride_bytes + byte % per_piece;
    for (int d = 0; d < PROGRAM_MAX_DEPTH; d++)
        at += region->loop_stride_bytes[d] * step->index[d];
    cr_assert(at >= 0 && at < MEMORY);
    return &m->memory[region->buffer][at];
}

static uint32_t stir(uint32_t hash, uint32_t value)
{
    hash = (hash ^ value) * 16777619u;
    return hash ^ hash >> 15;
}

/* Bytes of a source that element `e` of the result comes from. */
static void share(const struct machine *m, const struct instruction *in, int64_t e, int64_t bytes,
                  int64_t *first, int64_t *last)
{
    int64_t size = dtype_bytes(in->type);
    if (in->kind == INSTRUCTION_VECTOR &&
        m->program->hw->operations[in->what].result == RESULT_ONE_PER_REPEAT)
        size = m->program->hw->vector_repeat_bytes;
    if (in->kind == INSTRUCTION_VECTOR &&
        m->program->hw->operations[in->what].result == RESULT_PAIRS)
        e /= 2;
    if (in->kind == INSTRUCTION_MATRIX || in->kind == INSTRUCTION_SCALAR || in->transpose ||
        (in->kind == INSTRUCTION_MOVE && in->row_bytes) ||
        instruction_spreads(m->program->hw, in, OPERAND_SRC)) {
        *first = 0;
        *last = bytes;
        return;
    }
    *first = e * size < bytes ? e * size : bytes;
    *last = *first + size < bytes ? *first + size : bytes;
}

/* A vector operation does the same in every line when it names all the inputs that it has. */
static bool depends_on_line(const struct machine *m, const struct instruction *in)
{
    int inputs = !!region_of(m, in, OPERAND_SRC) + !!region_of(m, in, OPERAND_SRC2) +
                 !!region_of(m, in, OPERAND_SRC3);
    return in->kind != INSTRUCTION_MOVE && (in->kind != INSTRUCTION_VECTOR || inputs == 0 ||
                                            inputs != m->program->hw->operations[in->what].inputs);
}

static void work(struct machine *m, const struct step *step)
{
    const struct instruction *in = &m->program->items[step->item];
    const struct region *dst = region_of(m, in, OPERAND_DST);
    int64_t bytes[OPERAND_ROLES] = {0};
    for (enum operand_role role = OPERAND_SRC; role < OPERAND_ROLES; role++) {
        const struct region *region = region_of(m, in, role);
        bytes[role] = region ? region->bytes : 0;
        for (int64_t b = 0; b < bytes[role]; b++)
            m->source[role][b] = *byte_of(m, step, region, b);
    }
    bool copies = in->kind == INSTRUCTION_MOVE && in->type == in->to_type && !in->transpose;
    for (int64_t b = 0; dst && b < dst->bytes; b++) {
        uint8_t *to = byte_of(m, step, dst, b);
        int64_t element = b / dtype_bytes(in->to_type), first, last;
        uint32_t hash = stir(stir(2166136261u, in->what), (uint32_t)(b % dtype_bytes(in->to_type)));
        hash = depends_on_line(m, in) ? stir(hash, (uint32_t)in->line) : hash;
        for (enum operand_role role = OPERAND_SRC; role < OPERAND_ROLES; role++) {
            share(m, in, element, bytes[role], &first, &last);
            for (int64_t s = first; s < last; s++)
                hash = stir(hash, m->source[role][s]);
        }
        if (in->kind == INSTRUCTION_MATRIX || in->kind == INSTRUCTION_SCALAR)
            hash = stir(hash, (uint32_t)b);
        if (in->accumulate)
            hash = stir(hash, *to);
        *to = copies ? m->source[OPERAND_SRC][b] : (uint8_t)(hash >> 8);
    }
}

static bool all_empty(const struct machine *m)
{
    for (int p = 0; p < HARDWARE_MAX_PIPES; p++)
        if (m->head[p] < m->tail[p])
            return false;
    return true;
}

static bool holds_up(const struct machine *m)
{
    for (int p = 0; p < m->program->hw->pipe_count; p++)
        if (m->program->hw->pipes[p].blocks_dispatch && m->head[p] < m->tail[p])
            return true;
    return false;
}

static bool dispatch(struct machine *m)
{
    if (m->dispatched == m->count || holds_up(m))
        return false;
    const struct instruction *in = &m->program->items[m->steps[m->dispatched].item];
    if (in->kind == INSTRUCTION_BARRIER) {
        if (in->pipe == PROGRAM_PIPE_ALL && !all_empty(m))
            return false;
        m->dispatched++;
        return true;
    }
    m->queue[in->pipe][m->tail[in->pipe]++] = m->dispatched++;
    return true;
}

static bool run(struct machine *m, int pipe)
{
    if (m->head[pipe] == m->tail[pipe])
        return false;
    const struct step *step = &m->steps[m->queue[pipe][m->head[pipe]]];
    const struct instruction *in = &m->program->items[step->item];
    int *sets = &m->sets[(int)in->from][(int)in->to][in->flag];
    if (in->kind == INSTRUCTION_WAIT && *sets == 0)
        return false;
    m->head[pipe]++;
    if (in->kind == INSTRUCTION_SET)
        ++*sets;
    else if (in->kind == INSTRUCTION_WAIT)
        --*sets;
    else
        work(m, step);
    return true;
}

static void open_machine(struct machine *m, const struct program *program)
{
    int32_t index[PROGRAM_MAX_DEPTH] = {0};
    *m = (struct machine){.program = program};
    m->steps = malloc(MAX_EVENTS * sizeof *m->steps);
    unroll(m, 0, program->count, 0, index);
    for (int p = 0; p < HARDWARE_MAX_PIPES; p++)
        m->queue[p] = malloc(((size_t)m->count + 1) * sizeof *m->queue[p]);
    for (int r = 0; r < OPERAND_ROLES; r++)
        m->source[r] = malloc(MEMORY);
    for (int b = 0; b < program->hw->buffer_count; b++) {
        m->memory[b] = malloc(MEMORY);
        for (int i = 0; i < MEMORY; i++)
            m->memory[b][i] = (uint8_t)(stir(stir(7, (uint32_t)b), (uint32_t)i) >> 8);
    }
}

static uint64_t close_machine(struct machine *m)
{
    uint64_t sum = 1469598103934665603ULL;
    for (int b = 0; b < m->program->hw->buffer_count; b++) {
        for (int i = 0; m->program->hw->buffers[b].capacity_bytes == 0 && i < MEMORY; i++)
            sum = (sum ^ m->memory[b][i]) * 1099511628211ULL;
        free(m->memory[b]);
    }
    for (int p = 0; p < HARDWARE_MAX_PIPES; p++)
        free(m->queue[p]);
    for (int r = 0; r < OPERAND_ROLES; r++)
        free(m->source[r]);
    free(m->steps);
    return sum;
}

uint64_t interpret(const struct program *program, gsl_rng *rng)
{
    struct machine m;
    int choices = program->hw->pipe_count + 1, idle = 0;
    open_machine(&m, program);
    while (m.dispatched < m.count || !all_empty(&m)) {
        /* now and then one is preferred for a while, so that pipes get far ahead */
        int choice = (int)gsl_rng_uniform_int(rng, (unsigned long)choices);
        int times = (int)gsl_rng_uniform_int(rng, 8) + 1;
        bool moved = false;
        while (times-- > 0 && (choice ? run(&m, choice - 1) : dispatch(&m)))
            moved = true;
        idle = moved ? 0 : idle + 1;
        cr_assert_lt(idle, 10000, "a deadlock");
    }
    return close_machine(&m);
}
