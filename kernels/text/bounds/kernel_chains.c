/* Lines and chains. Steps of one price that exclude the same others are one line; chains are the
 * largest sets of lines that exclude each other, found with the method of Bron and Kerbosch 1973
 * with a pivot. Where there are more than a summary has room for, those that contain a pipe's steps
 * come first. */
#include "kernels/text/bounds/kernel_work_parts.h"

#include <string.h>

enum { MAX_NODES = WORK_MAX_LINES - WORK_MAX_CHAINS, MAX_CALLS = 20000 };

struct graph {
    const struct kernel_plan *plan;
    int count;
    int step[MAX_NODES];            /* one of each node's */
    uint64_t neighbours[MAX_NODES]; /* bits: nodes that it excludes, not itself */
    int calls;
    struct work_layout *layout;
};

/* ------------------------------------------------------------------ nodes */

static bool excludes_alike(const struct kernel_plan *plan, int a, int b, enum work_variant variant)
{
    bool alike = plan->steps[a].price == plan->steps[b].price && work_excludes(plan, a, b, variant);
    for (int s = 0; alike && s < plan->step_count; s++)
        alike = work_excludes(plan, a, s, variant) == work_excludes(plan, b, s, variant);
    return alike;
}

/* False: too many. `finer`: steps of one are alike in both variants. */
static bool find_nodes(struct graph *graph, enum work_variant variant, bool finer,
                       uint8_t line[PLAN_MAX_STEPS])
{
    const struct kernel_plan *plan = graph->plan;
    graph->count = 0;
    for (int s = 0; s < plan->step_count; s++) {
        int n = 0;
        while (n < graph->count &&
               !(excludes_alike(plan, graph->step[n], s, variant) &&
                 (!finer || excludes_alike(plan, graph->step[n], s, WORK_SHAPES_CHANGE))))
            n++;
        if (n == MAX_NODES)
            return false;
        if (n == graph->count)
            graph->step[graph->count++] = s;
        line[s] = (uint8_t)n;
    }
    return true;
}

/* ------------------------------------------------------------------ cliques */

static void add_chain(struct graph *graph, uint64_t chain)
{
    struct work_layout *layout = graph->layout;
    for (int c = 0; c < layout->chain_count; c++)
        if (layout->chains[c] == chain)
            return;
    if (layout->chain_count < WORK_MAX_CHAINS - 1)
        layout->chains[layout->chain_count++] = chain;
}

static void find_neighbours(struct graph *graph, enum work_variant variant)
{
    for (int a = 0; a < graph->count; a++) {
        graph->neighbours[a] = 0;
        for (int b = 0; b < graph->count; b++)
            if (a != b && work_excludes(graph->plan, graph->step[a], graph->step[b], variant))
                graph->neighbours[a] |= UINT64_C(1) << b;
    }
}

/* All largest ones that contain `chosen`, some of `open` and none of `done`. */
static void find_cliques(struct graph *graph, uint64_t chosen, uint64_t open, uint64_t done)
{
    int pivot = 0, most = -1;
    if (!open && !done)
        add_chain(graph, chosen);
    if (!open || graph->calls++ >= MAX_CALLS)
        return;
    for (uint64_t rest = open | done; rest; rest &= rest - 1) {
        int n = __builtin_ctzll(rest), within = __builtin_popcountll(graph->neighbours[n] & open);
        if (within > most) {
            most = within;
            pivot = n;
        }
    }
    for (uint64_t rest = open & ~graph->neighbours[pivot]; rest; rest &= rest - 1) {
        int n = __builtin_ctzll(rest);
        uint64_t bit = UINT64_C(1) << n, near = graph->neighbours[n];
        find_cliques(graph, chosen | bit, open & near, done & near);
        open &= ~bit;
        done |= bit;
    }
}

/* Everything on a pipe, and that with what else excludes all of it: the first may begin later, or
 * end earlier. */
static void add_pipe(struct graph *graph, int pipe)
{
    uint64_t chain = 0;
    for (int n = 0; n < graph->count; n++)
        if (graph->plan->steps[graph->step[n]].pipe == pipe)
            chain |= UINT64_C(1) << n;
    if (!chain)
        return;
    add_chain(graph, chain);
    for (int n = 0; n < graph->count; n++)
        if ((chain & ~graph->neighbours[n] & ~(UINT64_C(1) << n)) == 0)
            chain |= UINT64_C(1) << n;
    add_chain(graph, chain);
}

/* ------------------------------------------------------------------ layouts */

/* Behind the totals, a line for each chain: what comes before and after it. And a chain of one line
 * that is a time of the whole program. */
static void add_ends(struct work_layout *layout)
{
    layout->line_count = layout->total_count + layout->chain_count + 1;
    layout->price[layout->line_count - 1] = layout->price[0];
    for (int c = 0; c < layout->chain_count; c++) {
        int line = layout->total_count + c;
        layout->price[line] = layout->price[__builtin_ctzll(layout->chains[c])];
        layout->chains[c] |= UINT64_C(1) << line;
    }
    layout->chains[layout->chain_count++] = UINT64_C(1) << (layout->line_count - 1);
}

static void find_all(struct graph *graph, enum work_variant variant)
{
    find_neighbours(graph, variant);
    for (int pipe = 0; pipe < graph->plan->hw->pipe_count; pipe++)
        add_pipe(graph, pipe);
    graph->calls = 0;
    if (graph->count)
        find_cliques(graph, 0, ~UINT64_C(0) >> (64 - graph->count), 0);
}

/* What excludes whatever shapes are does so where they stay, too: a smaller chain may have a later
 * beginning or an earlier end. */
enum status work_find_chains(struct kernel_work *work, enum work_variant variant,
                             struct error *error)
{
    struct work_chains *chains = &work->chains[variant];
    struct graph graph = {.plan = work->plan, .layout = &chains->layout};
    memset(chains, 0, sizeof *chains);
    bool both = variant == WORK_SHAPES_STAY && find_nodes(&graph, variant, true, chains->line);
    if (!both && !find_nodes(&graph, variant, false, chains->line))
        return error_set(error, STATUS_TOO_LARGE, "more than %d kinds of instruction in a kernel",
                         MAX_NODES);
    chains->layout.total_count = graph.count;
    for (int n = 0; n < graph.count; n++)
        chains->layout.price[n] = work->plan->steps[graph.step[n]].price;
    find_all(&graph, variant);
    if (both)
        find_all(&graph, WORK_SHAPES_CHANGE);
    for (int s = 0; s < work->plan->step_count; s++)
        for (int c = 0; c < chains->layout.chain_count; c++)
            chains->chains_of[s] |=
                (uint16_t)((chains->layout.chains[c] >> chains->line[s] & 1) << c);
    add_ends(&chains->layout);
    return STATUS_OK;
}
