/* All sets, waits and barriers are taken out. Block by block, inner loops first, a graph of two
 * successive iterations is built of what pipes and dispatch order by themselves and of a flag for
 * each dependence between pipes; every flag that the others imply goes again, which is
 * the transitive reduction of Aho, Garey and Ullman (1972). A flag to the next iteration is set
 * once more at the start of the program and waited for at its end, as for a buffer that starts out
 * free. Where no way leads from a wait back to the next set, a flag in the other direction is
 * added. A loop within a block counts as one line for each of its pipes.
 *
 * Places of flags are kept as numbers of the lines that are left, which do not move until all flags
 * are put in, from the last place on. A register is chosen greedily: a free one of that pair of
 * pipes, and of those the one that stood at most of the same places before, so that little changes
 * in the text. The graph is an adjacency matrix in bits, searched breadth-first on whole words of
 * it; edges are counted, too, so that one of several parallel ones can be taken away. */
#include "analysis/advice/resync.h"

#include "analysis/advice/alias.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ flags */

enum { FLAG_LINES_MAX = 512 };

struct flag_line {
    int32_t at;   /* before this line, of those that are left */
    int32_t line; /* of the text, that it belongs to */
    bool wait;
    int8_t from, to;
    uint8_t number;
};

struct flag_lines {
    uint64_t used[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES]; /* registers, as bits */
    int former_count, count;
    struct flag_line formers[FLAG_LINES_MAX]; /* that stood in the program */
    struct flag_line items[FLAG_LINES_MAX];
};

/* What is ordered: pipe `from` behind line `set_behind`, pipe `to` before line `wait_before`. */
struct flag_order {
    int from, to;
    int32_t set_behind, wait_before;
    bool carried; /* to the next iteration: set once at the start, waited for once at the end */
};

/* Lines of the edit then stay where they are until flag_lines_put_in. */
static void flag_lines_take_out(struct flag_lines *flags, struct edit *edit)
{
    int32_t kept = 0;
    *flags = (struct flag_lines){.count = 0};
    for (int32_t i = 0; i < edit->count; i++) {
        const struct instruction *in = &edit->lines[i].in;
        bool flag = in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT;
        if (flag && flags->former_count < FLAG_LINES_MAX)
            flags->formers[flags->former_count++] = (struct flag_line){
                kept, in->line, in->kind == INSTRUCTION_WAIT, in->from, in->to, in->flag};
        if (!flag && in->kind != INSTRUCTION_BARRIER)
            edit->lines[kept++] = edit->lines[i];
    }
    edit->count = kept;
}

/* At how many of the order's places did this register stand? */
static int places_of(const struct flag_lines *flags, const struct flag_order *order, int number)
{
    int places = 0;
    for (int f = 0; f < flags->former_count; f++) {
        const struct flag_line *former = &flags->formers[f];
        int32_t at = former->wait ? order->wait_before : order->set_behind + 1;
        places += former->from == order->from && former->to == order->to &&
                  former->number == number && former->at == at;
    }
    return places;
}

static int choose_register(const struct flag_lines *flags, const struct hardware *hw,
                           const struct flag_order *order)
{
    int chosen = -1, most = -1;
    uint64_t used = 0;
    for (int from = 0; from < hw->pipe_count; from++)
        for (int to = 0; to < hw->pipe_count; to++)
            used |= hardware_flags_shared(hw, order->from, order->to, from, to)
                        ? flags->used[from][to]
                        : 0;
    for (int number = 0; number < hardware_flags(hw, order->from, order->to); number++) {
        int places = places_of(flags, order, number);
        if (!(used >> number & 1) && places > most) {
            chosen = number;
            most = places;
        }
    }
    return chosen;
}

/* Takes a register that is free: the one that did the same before, where there was one. False when
 * there is none, or too many flags. */
static bool flag_lines_add(struct flag_lines *flags, const struct edit *edit,
                           const struct flag_order *order)
{
    int number = choose_register(flags, edit->hw, order);
    int32_t places[] = {order->set_behind + 1, order->wait_before, 0, edit->count};
    if (number < 0 || flags->count + 4 > FLAG_LINES_MAX)
        return false;
    flags->used[order->from][order->to] |= 1ULL << number;
    for (int p = 0; p < (order->carried ? 4 : 2); p++) {
        int32_t near = places[p] < edit->count ? places[p] : edit->count - 1;
        flags->items[flags->count++] =
            (struct flag_line){places[p],           edit->lines[near].in.line, p % 2 == 1,
                               (int8_t)order->from, (int8_t)order->to,         (uint8_t)number};
    }
    return true;
}

/* Later lines first, so that places stay right; at one place the waits are put in first, and end
 * up behind the sets. */
static int by_place_from_last(const void *one, const void *other)
{
    const struct flag_line *a = one, *b = other;
    if (a->at != b->at)
        return a->at > b->at ? -1 : 1;
    if (a->wait != b->wait)
        return a->wait ? -1 : 1;
    if (a->from != b->from)
        return a->from > b->from ? -1 : 1;
    if (a->to != b->to)
        return a->to > b->to ? -1 : 1;
    return a->number > b->number ? -1 : 1;
}

static void flag_lines_put_in(struct flag_lines *flags, struct edit *edit)
{
    qsort(flags->items, (size_t)flags->count, sizeof *flags->items, by_place_from_last);
    for (int f = 0; f < flags->count; f++) {
        const struct flag_line *flag = &flags->items[f];
        struct edit_line line = {.in = {.kind = flag->wait ? INSTRUCTION_WAIT : INSTRUCTION_SET,
                                        .from = flag->from,
                                        .to = flag->to,
                                        .flag = flag->number,
                                        .line = flag->line}};
        edit_insert(edit, flag->at, &line);
    }
}

/* ------------------------------------------------------------------ what comes before what */

/* A small directed graph with parallel edges. */
struct dependence {
    int count, words;      /* vertices; 64-bit words that hold one bit for each */
    uint16_t *edges;       /* count × count: how many from row to column */
    uint64_t *next;        /* count × words: which there are, as bits */
    uint64_t *seen, *todo; /* words each */
};

/* False when out of memory; free with dependence_clear in any case. */
static bool dependence_init(struct dependence *graph, int count)
{
    *graph = (struct dependence){.count = count, .words = count / 64 + 1};
    size_t size = (size_t)count + 1, words = (size_t)graph->words;
    graph->edges = calloc(size * size, sizeof *graph->edges);
    graph->next = calloc(size * words, sizeof *graph->next);
    graph->seen = calloc(words, sizeof *graph->seen);
    graph->todo = calloc(words, sizeof *graph->todo);
    return graph->edges && graph->next && graph->seen && graph->todo;
}

static void dependence_clear(struct dependence *graph)
{
    free(graph->edges);
    free(graph->next);
    free(graph->seen);
    free(graph->todo);
    *graph = (struct dependence){0};
}

/* Adds `by` edges (or takes them away, where it is negative). */
static void dependence_add(struct dependence *graph, int from, int to, int by)
{
    uint16_t *edges = &graph->edges[(size_t)from * (size_t)graph->count + (size_t)to];
    uint64_t *next = &graph->next[(size_t)from * (size_t)graph->words + (size_t)(to / 64)];
    uint64_t bit = 1ULL << to % 64;
    *edges = (uint16_t)(*edges + by);
    *next = *edges ? *next | bit : *next & ~bit;
}

/* Takes a vertex that is still to be looked at; -1: none. */
static int take_vertex(struct dependence *graph)
{
    for (int w = 0; w < graph->words; w++)
        if (graph->todo[w]) {
            int bit = __builtin_ctzll(graph->todo[w]);
            graph->todo[w] &= graph->todo[w] - 1;
            return 64 * w + bit;
        }
    return -1;
}

/* Is there a way? From a vertex to itself there always is. */
static bool dependence_has(struct dependence *graph, int from, int to)
{
    memset(graph->seen, 0, (size_t)graph->words * sizeof *graph->seen);
    memset(graph->todo, 0, (size_t)graph->words * sizeof *graph->todo);
    graph->seen[from / 64] = graph->todo[from / 64] = 1ULL << from % 64;
    for (int vertex = take_vertex(graph); vertex >= 0; vertex = take_vertex(graph)) {
        const uint64_t *next = &graph->next[(size_t)vertex * (size_t)graph->words];
        for (int w = 0; w < graph->words; w++) {
            graph->todo[w] |= next[w] & ~graph->seen[w];
            graph->seen[w] |= next[w];
        }
        if (graph->seen[to / 64] >> to % 64 & 1)
            break;
    }
    return graph->seen[to / 64] >> to % 64 & 1;
}

/* ------------------------------------------------------------------ blocks */

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
static bool nodes_conflict(const struct block *block, const struct node *from,
                           const struct node *to, bool carried)
{
    const struct resync *resync = block->resync;
    bool same = from->first == to->first;
    for (int32_t x = from->first; x <= from->last; x++)
        for (int32_t y = to->first; is_in(block, from, x) && y <= to->last; y++) {
            if (!is_in(block, to, y) ||
                (same && resync->next[(size_t)x * (size_t)resync->edit->count + (size_t)y]))
                continue;
            if (alias_conflicts(resync->edit, x, y, block->depth, carried))
                return true;
        }
    return false;
}

static bool blocks_dispatch(const struct block *block, int pipe)
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
            if (!passes && !blocks_dispatch(block, from->pipe))
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
            if (from->pipe == to->pipe || blocks_dispatch(block, from->pipe))
                continue;
            bool later = from->first < to->first;
            bool carried = block->loop >= 0 && nodes_conflict(block, from, to, true);
            if (later && (carried || nodes_conflict(block, from, to, false)))
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
static void drop_implied_edges(struct block *block)
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
static void publish_order(struct block *block)
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
        memory_note_short();
        block->resync->edit->failed = true;
        block->resync->fits = false;
    } else {
        add_natural_order(block);
        add_needed(block);
        drop_implied_edges(block);
        add_returns(block);
        for (int e = 0; e < block->edge_count; e++)
            put_edge(block, &block->edges[e]);
        publish_order(block);
    }
    dependence_clear(&block->graph);
}

/* The lines [first, last) of a block, after the loops in it. */
/* NOLINTNEXTLINE(misc-no-recursion) ; as deep as loops nest */
static void sync_block(struct resync *resync, int32_t loop, int32_t first, int32_t last, int depth)
{
    struct block *block = calloc(1, sizeof *block);
    if (!block) {
        memory_note_short();
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
    if (!resync.next || !resync.flow) {
        memory_note_short();
        edit->failed = true;
    }
    if (!edit->failed)
        sync_block(&resync, -1, 0, edit->count, 0);
    if (!edit->failed && resync.fits)
        flag_lines_put_in(&resync.flags, edit);
    free(resync.next);
    free(resync.flow);
    return resync.fits && !edit->failed;
}
