/* Finds hazards the slow way. Loops are unrolled into nodes; what must precede what (pipes,
 * dispatch, barriers, flags by number) is a matrix of edges. What can run is found by trying until
 * nothing changes; then the matrix is closed (Warshall 1962), and every kind of finding is a loop
 * over nodes or pairs of them. Cubic, so for a hundred nodes or so. */
#include "tests/support/brute_check.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static bool is_all(const struct instruction *in)
{
    return in->kind == INSTRUCTION_BARRIER && in->pipe == PROGRAM_PIPE_ALL;
}

static bool is_flag(const struct instruction *in, enum instruction_kind kind,
                    const struct instruction *like)
{
    return in->kind == kind && in->from == like->from && in->to == like->to &&
           in->flag == like->flag;
}

/* Appends items[first, last) unrolled; false when there are too many. */
static bool unroll(struct brute *brute, int32_t first, int32_t last, int64_t *index, int depth)
{
    for (int32_t i = first; i < last; i++) {
        const struct instruction *in = &brute->program->items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            for (index[depth] = 0; index[depth] < in->count; index[depth]++)
                if (!unroll(brute, i + 1, in->partner, index, depth + 1))
                    return false;
            index[depth] = 0;
            i = in->partner;
            continue;
        }
        if (brute->count == MAX_NODES)
            return false;
        struct node *node = &brute->nodes[brute->count++];
        node->in = in;
        node->runs = false;
        memcpy(node->index, index, sizeof node->index);
    }
    return true;
}

/* The n-th (from 0) set or wait of a register, or -1. */
int brute_nth(const struct brute *brute, enum instruction_kind kind, const struct instruction *like,
              int n)
{
    for (int i = 0; i < brute->count; i++)
        if (is_flag(brute->nodes[i].in, kind, like) && n-- == 0)
            return i;
    return -1;
}

/* How many of the same kind and register stand before this one. */
int brute_rank(const struct brute *brute, int node)
{
    int n = 0;
    const struct instruction *in = brute->nodes[node].in;
    for (int i = 0; i < node; i++)
        n += is_flag(brute->nodes[i].in, (enum instruction_kind)in->kind, in);
    return n;
}

bool brute_must_precede(const struct brute *brute, int u, int v)
{
    const struct instruction *a = brute->nodes[u].in, *b = brute->nodes[v].in;
    if (is_all(a) || is_all(b))
        return true;
    if (a->kind == INSTRUCTION_BARRIER || b->kind == INSTRUCTION_BARRIER)
        return false;
    return a->pipe == b->pipe || brute->program->hw->pipes[a->pipe].blocks_dispatch;
}

static void make_edges(struct brute *brute)
{
    memset(brute->before, 0, sizeof brute->before);
    for (int v = 0; v < brute->count; v++) {
        const struct instruction *in = brute->nodes[v].in;
        for (int u = 0; u < v; u++)
            brute->before[u][v] = brute_must_precede(brute, u, v);
        int set = in->kind == INSTRUCTION_WAIT
                      ? brute_nth(brute, INSTRUCTION_SET, in, brute_rank(brute, v))
                      : -1;
        if (set >= 0)
            brute->before[set][v] = true;
    }
}

static bool can_run(const struct brute *brute, int v)
{
    const struct instruction *in = brute->nodes[v].in;
    for (int u = 0; u < brute->count; u++)
        if (brute->before[u][v] && !brute->nodes[u].runs)
            return false;
    return in->kind != INSTRUCTION_WAIT ||
           brute_nth(brute, INSTRUCTION_SET, in, brute_rank(brute, v)) >= 0;
}

static void run_all(struct brute *brute)
{
    for (bool more = true; more;) {
        more = false;
        for (int v = 0; v < brute->count; v++)
            if (!brute->nodes[v].runs && can_run(brute, v))
                more = brute->nodes[v].runs = true;
    }
}

static void close_order(struct brute *brute)
{
    for (int via = 0; via < brute->count; via++)
        for (int u = 0; u < brute->count; u++)
            for (int v = 0; brute->before[u][via] && v < brute->count; v++)
                brute->before[u][v] |= brute->before[via][v];
}

static int ascending(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

static struct answer make_answer(enum finding_kind kind, int32_t *lines, int count)
{
    struct answer answer = {.kind = kind};
    qsort(lines, (size_t)count, sizeof *lines, ascending);
    for (int i = 0; i < count; i++)
        if (i == 0 || lines[i] != lines[i - 1])
            answer.lines[answer.line_count++] = lines[i];
    return answer;
}

bool answer_is(const struct answer *a, enum finding_kind kind, const int32_t *lines, int count)
{
    return a->kind == kind && a->line_count == count &&
           memcmp(a->lines, lines, (size_t)count * sizeof *lines) == 0;
}

static void answer(struct brute *brute, enum finding_kind kind, int32_t *lines, int count)
{
    struct answer new = make_answer(kind, lines, count);
    for (int i = 0; i < brute->answer_count; i++)
        if (answer_is(&brute->answers[i], kind, new.lines, new.line_count))
            return;
    cr_assert_lt(brute->answer_count, MAX_ANSWERS);
    brute->answers[brute->answer_count++] = new;
}

static int64_t start_of(const struct node *node, const struct region *region, int64_t row)
{
    int64_t start = region->offset_bytes + row * region->row_stride_bytes;
    for (int depth = 0; depth < PROGRAM_MAX_DEPTH; depth++)
        start += node->index[depth] * region->loop_stride_bytes[depth];
    return start;
}

/* From the first byte of a row to its last one, gaps between its pieces included. */
static int64_t row_bytes(const struct region *region)
{
    int64_t piece = region->bytes / region->rows / region->pieces;
    return piece + (region->pieces - 1) * region->piece_stride_bytes;
}

static bool overlaps(const struct node *a, const struct region *x, const struct node *b,
                     const struct region *y)
{
    int64_t x_bytes = row_bytes(x), y_bytes = row_bytes(y);
    for (int64_t i = 0; i < x->rows && x->buffer == y->buffer; i++)
        for (int64_t j = 0; j < y->rows; j++) {
            int64_t p = start_of(a, x, i), q = start_of(b, y, j);
            if (x_bytes && y_bytes && p < q + y_bytes && q < p + x_bytes)
                return true;
        }
    return false;
}

static bool is_write(const struct region *x, const struct region *y)
{
    return x->role == OPERAND_DST || y->role == OPERAND_DST;
}

static bool interlocked(const struct brute *brute, const struct node *a, const struct node *b,
                        int buffer)
{
    return a->in->unit && b->in->unit && brute->program->hw->buffers[buffer].unit_flag;
}

bool brute_conflict(const struct brute *brute, const struct node *a, const struct node *b)
{
    const struct region *regions = brute->program->regions;
    for (int i = 0; i < a->in->region_count; i++)
        for (int j = 0; j < b->in->region_count; j++) {
            const struct region *x = &regions[a->in->first_region + i];
            const struct region *y = &regions[b->in->first_region + j];
            if (is_write(x, y) && !interlocked(brute, a, b, x->buffer) && overlaps(a, x, b, y))
                return true;
        }
    return false;
}

bool brute_touches(const struct node *node, const struct region *region, int64_t byte)
{
    int64_t bytes = row_bytes(region);
    for (int64_t i = 0; i < region->rows; i++) {
        int64_t start = start_of(node, region, i);
        if (byte >= start && byte < start + bytes)
            return true;
    }
    return false;
}

/* Does the chip hold back a later node at a byte until something behind `u` on its pipe is done
 * with it? Pipes are FIFOs: then `u` is too. */
static bool is_kept(const struct brute *brute, int u, int v, const struct region *y, int64_t byte)
{
    const struct node *nodes = brute->nodes, *b = &nodes[v];
    for (int w = u + 1; w < v; w++) {
        bool behind = nodes[w].runs && nodes[w].in->pipe == nodes[u].in->pipe;
        if (!behind || !interlocked(brute, &nodes[w], b, y->buffer))
            continue;
        for (int i = 0; i < nodes[w].in->region_count; i++) {
            const struct region *x = &brute->program->regions[nodes[w].in->first_region + i];
            if (x->buffer == y->buffer && is_write(x, y) && brute_touches(&nodes[w], x, byte))
                return true;
        }
    }
    return false;
}

/* A conflict at a byte that is not kept. */
static bool is_hazard(const struct brute *brute, int u, int v)
{
    const struct node *a = &brute->nodes[u], *b = &brute->nodes[v];
    const struct region *regions = brute->program->regions;
    for (int i = 0; i < a->in->region_count; i++)
        for (int j = 0; j < b->in->region_count; j++) {
            const struct region *x = &regions[a->in->first_region + i];
            const struct region *y = &regions[b->in->first_region + j];
            if (!is_write(x, y) || interlocked(brute, a, b, x->buffer) || !overlaps(a, x, b, y))
                continue;
            if (!b->in->unit)
                return true;
            for (int64_t row = 0; row < x->rows; row++)
                for (int64_t byte = 0; byte < row_bytes(x); byte++) {
                    int64_t at = start_of(a, x, row) + byte;
                    if (brute_touches(b, y, at) && !is_kept(brute, u, v, y, at))
                        return true;
                }
        }
    return false;
}

static void find_hazards(struct brute *brute)
{
    brute->hazards = 0;
    for (int v = 0; v < brute->count; v++)
        for (int u = 0; u < v; u++) {
            const struct node *a = &brute->nodes[u], *b = &brute->nodes[v];
            if (!a->runs || !b->runs || brute->before[u][v] || brute->before[v][u])
                continue;
            if (brute_conflict(brute, a, b))
                answer(brute, FINDING_HAZARD, (int32_t[]){a->in->line, b->in->line}, 2);
            brute->hazards += is_hazard(brute, u, v);
        }
}

static void find_double_sets(struct brute *brute)
{
    for (int v = 0; v < brute->count; v++) {
        const struct instruction *in = brute->nodes[v].in;
        if (in->kind != INSTRUCTION_SET || !brute->nodes[v].runs || brute_rank(brute, v) == 0)
            continue;
        int earlier = brute_nth(brute, INSTRUCTION_SET, in, brute_rank(brute, v) - 1);
        int wait = brute_nth(brute, INSTRUCTION_WAIT, in, brute_rank(brute, v) - 1);
        if (wait >= 0 && !brute->nodes[wait].runs)
            wait = -1;
        if (wait >= 0 && brute->before[wait][v])
            continue;
        int32_t lines[3] = {in->line, brute->nodes[earlier].in->line};
        if (wait >= 0)
            lines[2] = brute->nodes[wait].in->line;
        answer(brute, FINDING_DOUBLE_SET, lines, wait >= 0 ? 3 : 2);
    }
}

/* A wait is blocked itself when everything before it but its set has run. */
static void find_deadlocks(struct brute *brute)
{
    for (int v = 0; v < brute->count; v++) {
        const struct instruction *in = brute->nodes[v].in;
        if (in->kind != INSTRUCTION_WAIT || brute->nodes[v].runs)
            continue;
        bool blocked = true;
        for (int u = 0; u < v; u++)
            blocked &= !brute_must_precede(brute, u, v) || brute->nodes[u].runs;
        if (blocked)
            answer(brute, FINDING_DEADLOCK, (int32_t[]){in->line}, 1);
    }
}

static void find_places(struct brute *brute)
{
    for (int v = 0; v < brute->count; v++) {
        const struct node *node = &brute->nodes[v];
        for (int i = 0; i < node->in->region_count; i++) {
            const struct region *region = &brute->program->regions[node->in->first_region + i];
            const struct buffer *buffer = &brute->program->hw->buffers[region->buffer];
            unsigned memories = brute->program->hw->pipes[node->in->pipe].memories[region->role];
            bool is_end = node->in->kind == INSTRUCTION_MOVE && region->role != OPERAND_SRC2;
            int64_t capacity = buffer->capacity_bytes;
            if (memories && !is_end && !(memories >> region->buffer & 1))
                answer(brute, FINDING_MEMORY, (int32_t[]){node->in->line}, 1);
            for (int64_t row = 0; region->bytes && row < region->rows; row++) {
                int64_t start = start_of(node, region, row);
                for (int64_t p = 0; p < region->pieces; p++)
                    if (buffer->alignment_bytes && node->in->kind != INSTRUCTION_SCALAR &&
                        (start + p * region->piece_stride_bytes) % buffer->alignment_bytes)
                        answer(brute, FINDING_ALIGNMENT, (int32_t[]){node->in->line}, 1);
                if (start < 0 || (capacity && start + row_bytes(region) > capacity))
                    answer(brute, FINDING_CAPACITY, (int32_t[]){node->in->line}, 1);
            }
        }
    }
}

/* Lines of the sets and waits of v's register that have no partner. */
static void find_unmatched(struct brute *brute)
{
    for (int v = 0; v < brute->count; v++) {
        const struct instruction *in = brute->nodes[v].in;
        bool set = in->kind == INSTRUCTION_SET;
        if (!set && in->kind != INSTRUCTION_WAIT)
            continue;
        enum instruction_kind kind = (enum instruction_kind)in->kind;
        enum instruction_kind other = set ? INSTRUCTION_WAIT : INSTRUCTION_SET;
        int32_t lines[MAX_NODES], count = 0;
        for (int n = 0, u; (u = brute_nth(brute, kind, in, n)) >= 0; n++) {
            bool known = brute_nth(brute, other, in, n) >= 0;
            for (int i = 0; i < count; i++)
                known |= lines[i] == brute->nodes[u].in->line;
            if (!known)
                lines[count++] = brute->nodes[u].in->line;
        }
        if (count > 0 && count <= FINDING_MAX_LINES)
            answer(brute, FINDING_UNMATCHED_FLAG, lines, count);
    }
}

int brute_count(const struct brute *brute, enum finding_kind kind)
{
    int count = 0;
    for (int i = 0; i < brute->answer_count; i++)
        count += brute->answers[i].kind == kind;
    return count;
}

bool brute_check(struct brute *brute, const struct program *program)
{
    int64_t index[PROGRAM_MAX_DEPTH] = {0};
    brute->program = program;
    brute->count = brute->answer_count = 0;
    if (!unroll(brute, 0, program->count, index, 0))
        return false;
    make_edges(brute);
    run_all(brute);
    close_order(brute);
    find_hazards(brute);
    find_double_sets(brute);
    find_deadlocks(brute);
    find_unmatched(brute);
    find_places(brute);
    return true;
}
