/* All sets, waits and barriers are taken out. Block by block, inner loops first, a graph of two
 * successive iterations is built of what pipes and dispatch order by themselves and of a flag for
 * each dependence between pipes (depend.h); every flag that the others imply goes again, which is
 * the transitive reduction of Aho, Garey and Ullman (1972). A flag to the next iteration is set
 * once more at the start of the program and waited for at its end, as for a buffer that starts out
 * free. Where no way leads from a wait back to the next set, a flag in the other direction is
 * added. A loop within a block counts as one line for each of its pipes. */
#include "analysis/advice/resync.h"

#include "analysis/advice/alias.h"
#include "analysis/advice/dependence.h"
#include "analysis/advice/flag_lines.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_EDGES = 4 * RESYNC_MAX_NODES };

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

struct resync {
    struct edit *edit;
    struct flag_lines flags;
    bool *next; /* line × line: the first in an iteration of the innermost loop around both is
                   done before the second in the next; known once that loop is */
    uint32_t (*flow)[HARDWARE_MAX_PIPES]; /* per loop line and pipe p: pipes that wait for
                                             something that p does in the same iteration, as bits */
    bool fits;
};

struct block {
    struct resync *resync;
    int32_t loop; /* -1: the whole program */
    int depth;    /* loops around its lines */
    int node_count, edge_count;
    struct node nodes[RESYNC_MAX_NODES];
    struct edge edges[MAX_EDGES];
    struct dependence graph; /* vertices: vertex() */
};

/* A node has two vertices in each of two iterations: before its first line, where waits stand, and
 * behind its last, where sets do. */
static int vertex(const struct block *block, int node, int iteration, bool behind)
{
    return (iteration * block->node_count + node) * 2 + behind;
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
            if (carried ? alias_carried(resync->edit, x, y, block->depth)
                        : alias_within(resync->edit, x, y, block->depth))
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
            bool through =
                from->first == to->first && line_of(block, from->first)->kind == INSTRUCTION_LOOP;
            through &= (block->resync->flow[from->first][from->pipe] >> to->pipe & 1) != 0;
            for (int i = 0; i < 2; i++)
                if (a == b || through)
                    dependence_add(&block->graph, vertex(block, a, i, false),
                                   vertex(block, b, i, true), 1);
            if (!passes && !blocks(block, from->pipe))
                continue;
            for (int i = 0; i < 2 && later; i++)
                dependence_add(&block->graph, vertex(block, a, i, true), vertex(block, b, i, false),
                               1);
            dependence_add(&block->graph, vertex(block, a, 0, true), vertex(block, b, 1, false), 1);
        }
}

static void mark_edge(struct block *block, const struct edge *edge, int by)
{
    if (edge->carried) {
        dependence_add(&block->graph, vertex(block, edge->from, 0, true),
                       vertex(block, edge->to, 1, false), by);
        return;
    }
    for (int i = 0; i < 2; i++)
        dependence_add(&block->graph, vertex(block, edge->from, i, true),
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

/* A flag for each pair of nodes on different pipes whose data conflict. */
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
    return dependence_has(&block->graph, vertex(block, edge->from, 0, true),
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

/* A flag is not set again before it was waited for: from the wait there is a way to the next set.
 */
static void add_returns(struct block *block)
{
    for (int e = 0; e < block->edge_count && block->loop >= 0; e++) {
        struct edge edge = block->edges[e];
        int until = edge.carried ? 0 : 1;
        if (dependence_has(&block->graph, vertex(block, edge.to, 0, false),
                           vertex(block, edge.from, until, true)))
            continue;
        if (block->nodes[edge.from].first == block->nodes[edge.to].first)
            block->resync->fits = false;
        else
            add_edge(block, edge.to, edge.from, !edge.carried);
    }
}

static void put_edge(struct block *block, const struct edge *edge)
{
    const struct node *from = &block->nodes[edge->from], *to = &block->nodes[edge->to];
    struct flag_order order = {from->pipe, to->pipe, from->last, to->first, edge->carried};
    block->resync->fits &= flag_lines_add(&block->resync->flags, block->resync->edit, &order);
}

/* What the loops around need to know of this block. */
static void publish(struct block *block)
{
    struct resync *resync = block->resync;
    size_t lines = (size_t)resync->edit->count;
    for (int a = 0; a < block->node_count && block->loop >= 0; a++)
        for (int b = 0; b < block->node_count; b++) {
            const struct node *from = &block->nodes[a], *to = &block->nodes[b];
            if (dependence_has(&block->graph, vertex(block, a, 0, false),
                               vertex(block, b, 0, true)))
                resync->flow[block->loop][from->pipe] |= 1u << to->pipe;
            if (!dependence_has(&block->graph, vertex(block, a, 0, true),
                                vertex(block, b, 1, false)))
                continue;
            for (int32_t x = from->first; x <= from->last; x++)
                for (int32_t y = to->first; y <= to->last; y++)
                    if (is_in(block, from, x) && is_in(block, to, y))
                        resync->next[(size_t)x * lines + (size_t)y] = true;
        }
}

static void order_block(struct block *block)
{
    if (!dependence_init(&block->graph, 4 * block->node_count)) {
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
    dependence_clear(&block->graph);
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

bool resync(struct edit *edit)
{
    struct resync resync = {.edit = edit, .fits = true};
    flag_lines_take_out(&resync.flags, edit);
    if (edit->count > RESYNC_MAX_LINES)
        return false;
    size_t lines = (size_t)edit->count + 1;
    resync.next = calloc(lines * lines, sizeof *resync.next);
    resync.flow = calloc(lines, sizeof *resync.flow);
    edit->failed |= !resync.next || !resync.flow;
    if (!edit->failed)
        sync_block(&resync, -1, 0, edit->count, 0);
    if (!edit->failed && resync.fits)
        flag_lines_put_in(&resync.flags, edit);
    free(resync.next);
    free(resync.flow);
    return resync.fits && !edit->failed;
}
