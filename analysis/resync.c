#include "analysis/resync.h"

#include "analysis/depend.h"
#include "analysis/reach.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_EDGES = 4 * RESYNC_MAX_NODES, MAX_FLAGS = 512 };

/* One pipe's part of a line or loop of a block. */
struct node {
    int32_t first, last; /* lines */
    int pipe;
};

/* An order that a flag will give. */
struct edge {
    int from, to; /* nodes */
    bool carried; /* from an iteration to the next */
};

struct flag_line {
    int32_t at; /* before this line */
    bool wait;
    int8_t from, to;
    uint8_t number;
    int32_t line; /* of the text, that it belongs to */
};

struct resync {
    struct edit *edit;
    bool *next;      /* line × line: the first in an iteration of the innermost loop around both is
                        done before the second in the next; known once that loop is */
    uint32_t (*flow)[HARDWARE_MAX_PIPES]; /* per loop line and pipe p: pipes that wait for
                                             something that p does in the same iteration, as bits */
    uint64_t used[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES]; /* registers, as bits */
    int flag_count;
    struct flag_line flags[MAX_FLAGS];
    bool fits;
};

struct block {
    struct resync *resync;
    int32_t loop; /* -1: the whole program */
    int depth;    /* loops around its lines */
    int node_count, edge_count;
    struct node nodes[RESYNC_MAX_NODES];
    struct edge edges[MAX_EDGES];
    struct reach reach; /* vertices: vertex() */
};

/* A node has two vertices in each of two iterations: before its first line, where waits stand, and
 * behind its last, where sets do. */
static int vertex(const struct block *block, int node, int iteration, bool behind)
{
    return (iteration * block->node_count + node) * 2 + behind;
}

static bool is_sync(const struct instruction *in)
{
    return in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT ||
           in->kind == INSTRUCTION_BARRIER;
}

static const struct instruction *line_of(const struct block *block, int32_t at)
{
    return &block->resync->edit->lines[at].in;
}

static bool is_work(const struct instruction *in)
{
    return in->kind <= INSTRUCTION_SCALAR;
}

static void add_nodes(struct block *block, int32_t first, int32_t last)
{
    uint32_t pipes = 0;
    for (int32_t i = first; i <= last; i++)
        if (is_work(line_of(block, i)))
            pipes |= 1u << line_of(block, i)->pipe;
    for (; pipes; pipes &= pipes - 1) {
        if (block->node_count == RESYNC_MAX_NODES) {
            block->resync->fits = false;
            return;
        }
        block->nodes[block->node_count++] = (struct node){first, last, __builtin_ctz(pipes)};
    }
}

static bool is_in(const struct block *block, const struct node *node, int32_t at)
{
    const struct instruction *in = line_of(block, at);
    return is_work(in) && in->pipe == node->pipe;
}

/* Does something in `to` have to come behind something in `from`? */
static bool conflict(const struct block *block, const struct node *from, const struct node *to,
                     bool carried)
{
    const struct resync *resync = block->resync;
    bool same = from->first == to->first;
    for (int32_t x = from->first; x <= from->last; x++)
        for (int32_t y = to->first; is_in(block, from, x) && y <= to->last; y++) {
            if (!is_in(block, to, y) ||
                (same && resync->next[(size_t)x * (size_t)resync->edit->count + (size_t)y]))
                continue;
            if (carried ? depend_carried(resync->edit, x, y, block->depth)
                        : depend_within(resync->edit, x, y, block->depth))
                return true;
        }
    return false;
}

static bool blocks(const struct block *block, int pipe)
{
    return block->resync->edit->hw->pipes[pipe].blocks_dispatch;
}

/* What pipes and dispatch order without flags. */
static void add_natural_order(struct block *block)
{
    int n = block->node_count;
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            const struct node *from = &block->nodes[a], *to = &block->nodes[b];
            bool later = from->first < to->first, passes = from->pipe == to->pipe;
            bool through = from->first == to->first && line_of(block, from->first)->kind ==
                                                            INSTRUCTION_LOOP;
            through &= (block->resync->flow[from->first][from->pipe] >> to->pipe & 1) != 0;
            for (int i = 0; i < 2; i++)
                if (a == b || through)
                    reach_add(&block->reach, vertex(block, a, i, false),
                              vertex(block, b, i, true), 1);
            if (!passes && !blocks(block, from->pipe))
                continue;
            for (int i = 0; i < 2 && later; i++)
                reach_add(&block->reach, vertex(block, a, i, true), vertex(block, b, i, false), 1);
            reach_add(&block->reach, vertex(block, a, 0, true), vertex(block, b, 1, false), 1);
        }
}

static void mark_edge(struct block *block, const struct edge *edge, int by)
{
    if (edge->carried) {
        reach_add(&block->reach, vertex(block, edge->from, 0, true),
                  vertex(block, edge->to, 1, false), by);
        return;
    }
    for (int i = 0; i < 2; i++)
        reach_add(&block->reach, vertex(block, edge->from, i, true),
                  vertex(block, edge->to, i, false), by);
}

static void add_edge(struct block *block, int from, int to, bool carried)
{
    struct edge edge = {from, to, carried};
    if (block->edge_count == MAX_EDGES) {
        block->resync->fits = false;
        return;
    }
    block->edges[block->edge_count++] = edge;
    mark_edge(block, &edge, 1);
}

static void add_needed(struct block *block)
{
    for (int a = 0; a < block->node_count; a++)
        for (int b = 0; b < block->node_count; b++) {
            const struct node *from = &block->nodes[a], *to = &block->nodes[b];
            if (from->pipe == to->pipe || blocks(block, from->pipe))
                continue;
            bool later = from->first < to->first;
            bool carried = block->loop >= 0 && conflict(block, from, to, true);
            if (later && (carried || conflict(block, from, to, false)))
                add_edge(block, a, b, false);
            else if (!later && carried)
                add_edge(block, a, b, true);
        }
}

static bool is_ordered(struct block *block, const struct edge *edge)
{
    return reach_has(&block->reach, vertex(block, edge->from, 0, true),
                     vertex(block, edge->to, edge->carried, false));
}

/* Keeps only what the others do not imply; far ones first, which most often are. */
static void reduce(struct block *block)
{
    int kept = 0;
    for (int e = block->edge_count - 1; e >= 0; e--) {
        mark_edge(block, &block->edges[e], -1);
        if (is_ordered(block, &block->edges[e]))
            block->edges[e].from = -1;
        else
            mark_edge(block, &block->edges[e], 1);
    }
    for (int e = 0; e < block->edge_count; e++)
        if (block->edges[e].from >= 0)
            block->edges[kept++] = block->edges[e];
    block->edge_count = kept;
}

/* A flag is not set again before it was waited for: from the wait there is a way to the next set. */
static void add_returns(struct block *block)
{
    for (int e = 0; e < block->edge_count && block->loop >= 0; e++) {
        struct edge edge = block->edges[e];
        int until = edge.carried ? 0 : 1;
        if (reach_has(&block->reach, vertex(block, edge.to, 0, false),
                      vertex(block, edge.from, until, true)))
            continue;
        if (block->nodes[edge.from].first == block->nodes[edge.to].first)
            block->resync->fits = false;
        else
            add_edge(block, edge.to, edge.from, !edge.carried);
    }
}

static void put_flag(struct resync *resync, int32_t at, bool wait, const struct flag_line *flag)
{
    if (resync->flag_count == MAX_FLAGS) {
        resync->fits = false;
        return;
    }
    struct flag_line *put = &resync->flags[resync->flag_count++];
    *put = *flag;
    put->at = at;
    put->wait = wait;
    if (at < resync->edit->count)
        put->line = resync->edit->lines[at].in.line;
}

static void put_edge(struct block *block, const struct edge *edge)
{
    struct resync *resync = block->resync;
    const struct node *from = &block->nodes[edge->from], *to = &block->nodes[edge->to];
    uint64_t *used = &resync->used[from->pipe][to->pipe];
    int number = ~*used ? __builtin_ctzll(~*used) : HARDWARE_MAX_FLAGS;
    if (number >= resync->edit->hw->flag_registers) {
        resync->fits = false;
        return;
    }
    *used |= 1ULL << number;
    struct flag_line flag = {.from = (int8_t)from->pipe,
                             .to = (int8_t)to->pipe,
                             .number = (uint8_t)number,
                             .line = line_of(block, from->last)->line};
    put_flag(resync, from->last + 1, false, &flag);
    put_flag(resync, to->first, true, &flag);
    if (edge->carried) {
        put_flag(resync, 0, false, &flag);
        put_flag(resync, resync->edit->count, true, &flag);
    }
}

/* What the loops around need to know of this block. */
static void publish(struct block *block)
{
    struct resync *resync = block->resync;
    size_t lines = (size_t)resync->edit->count;
    for (int a = 0; a < block->node_count && block->loop >= 0; a++)
        for (int b = 0; b < block->node_count; b++) {
            const struct node *from = &block->nodes[a], *to = &block->nodes[b];
            if (reach_has(&block->reach, vertex(block, a, 0, false), vertex(block, b, 0, true)))
                resync->flow[block->loop][from->pipe] |= 1u << to->pipe;
            if (!reach_has(&block->reach, vertex(block, a, 0, true), vertex(block, b, 1, false)))
                continue;
            for (int32_t x = from->first; x <= from->last; x++)
                for (int32_t y = to->first; y <= to->last; y++)
                    if (is_in(block, from, x) && is_in(block, to, y))
                        resync->next[(size_t)x * lines + (size_t)y] = true;
        }
}

static void order_block(struct block *block)
{
    if (!reach_init(&block->reach, 4 * block->node_count)) {
        block->resync->edit->failed = true;
        block->resync->fits = false;
    } else {
        add_natural_order(block);
        add_needed(block);
        reduce(block);
        add_returns(block);
        for (int e = 0; e < block->edge_count; e++)
            put_edge(block, &block->edges[e]);
        publish(block);
    }
    reach_clear(&block->reach);
}

/* The lines [first, last) of a block, after the loops in it. */
/* NOLINTNEXTLINE(misc-no-recursion) ; as deep as loops nest */
static void sync_block(struct resync *resync, int32_t loop, int32_t first, int32_t last, int depth)
{
    struct block *block = calloc(1, sizeof *block);
    if (!block) {
        resync->edit->failed = true;
        resync->fits = false;
        return;
    }
    *block = (struct block){.resync = resync, .loop = loop, .depth = depth};
    for (int32_t i = first; i < last && resync->fits; i++) {
        int32_t end = i;
        if (line_of(block, i)->kind == INSTRUCTION_LOOP) {
            end = edit_end(resync->edit, i);
            if (line_of(block, i)->count > 0)
                sync_block(resync, i, i + 1, end, depth + 1);
        }
        if (end == i || line_of(block, i)->count > 0)
            add_nodes(block, i, end);
        i = end;
    }
    if (resync->fits)
        order_block(block);
    free(block);
}

/* Later lines first, so that places stay right; at one place the waits are put in first, and end
 * up behind the sets. */
static int compare(const void *one, const void *other)
{
    const struct flag_line *a = one, *b = other;
    if (a->at != b->at)
        return a->at > b->at ? -1 : 1;
    if (a->wait != b->wait)
        return a->wait ? -1 : 1;
    if (a->from != b->from)
        return a->from > b->from ? -1 : 1;
    return a->to != b->to ? (a->to > b->to ? -1 : 1) : (a->number > b->number ? -1 : 1);
}

static void put_flags(struct resync *resync)
{
    qsort(resync->flags, (size_t)resync->flag_count, sizeof *resync->flags, compare);
    for (int f = 0; f < resync->flag_count; f++) {
        const struct flag_line *flag = &resync->flags[f];
        struct edit_line line = {.in = {.kind = flag->wait ? INSTRUCTION_WAIT : INSTRUCTION_SET,
                                        .from = flag->from,
                                        .to = flag->to,
                                        .flag = flag->number,
                                        .line = flag->line}};
        edit_insert(resync->edit, flag->at, &line);
    }
}

bool resync(struct edit *edit)
{
    struct resync resync = {.edit = edit, .fits = true};
    for (int32_t i = edit->count - 1; i >= 0; i--)
        if (is_sync(&edit->lines[i].in))
            edit_delete(edit, i, 1);
    if (edit->count > RESYNC_MAX_LINES)
        return false;
    size_t lines = (size_t)edit->count + 1;
    resync.next = calloc(lines * lines, sizeof *resync.next);
    resync.flow = calloc(lines, sizeof *resync.flow);
    edit->failed |= !resync.next || !resync.flow;
    if (!edit->failed)
        sync_block(&resync, -1, 0, edit->count, 0);
    if (!edit->failed && resync.fits)
        put_flags(&resync);
    free(resync.next);
    free(resync.flow);
    return resync.fits && !edit->failed;
}
