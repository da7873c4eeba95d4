/* The graph of a step: which operator needs which other's results, and what of it a subset of
 * operators makes ("Machine Learning-enabled Performance Model for DNN Applications and AI
 * Accelerator", Wu et al. 2022: Algorithm 1).
 *
 *   graph_read(file, &graph, &error)
 *   graph_select(&graph, "l" or "MatMul,TransData", &error)
 *   subgraph_extract(&graph, &subgraph, &error)
 *   subgraph_clear(&subgraph); graph_clear(&graph)
 *
 * Nodes stand in an order in which inputs come first, so that there is no cycle. */
#ifndef AUTOTUNE_NETWORK_GRAPH_H
#define AUTOTUNE_NETWORK_GRAPH_H

#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Algorithm 1 takes up to nodes x edges steps. */
enum { GRAPH_MAX_NODES = 1 << 16, GRAPH_MAX_EDGES = 1 << 19 };

struct graph_node {
    int64_t id;      /* ascending */
    char *name;      /* owned, as the kind is: "Default/network/MatMul-op12" */
    char *kind;      /* "MatMul" */
    int64_t row;     /* of the table of calls, from 0; -1: not said */
    int first, last; /* inputs: edges[first ... last - 1] */
    bool is_listed;  /* in the file's own selection */
    bool is_kept;    /* after graph_select */
};

struct graph {
    char *file; /* for messages */
    int64_t node_count, edge_count;
    struct graph_node *nodes;
    int *edges; /* indices of nodes */
    bool has_list;
};

/* Reads docs/network.md's text form. STATUS_INVALID with "file:line: ..."; STATUS_TOO_LARGE,
 * STATUS_IO. After a failure there is nothing to clear. */
enum status graph_read(const char *file, struct graph *graph, struct error *error);
void graph_clear(struct graph *graph);

/* Keeps the nodes that the file itself lists ("l"), or those of kinds between commas; all of them
 * where `subset` is NULL. STATUS_INVALID where the file has no such list, or no node of a kind. */
enum status graph_select(struct graph *graph, const char *subset, struct error *error);

/* Kept nodes and the nearest kept ancestors of each, ascending. */
struct subgraph {
    const struct graph *graph; /* not owned */
    int64_t node_count, edge_count;
    int *nodes;  /* indices in the graph's nodes */
    int *starts; /* node_count + 1: where the inputs of a node begin */
    int *edges;  /* places in `nodes` */
};
enum status subgraph_extract(const struct graph *graph, struct subgraph *subgraph,
                             struct error *error);
void subgraph_clear(struct subgraph *subgraph);

/* The sum of all nodes' times, and the most that any chain of them takes, with the place in `nodes`
 * that it ends at, -1: there is none. Times are by place, and >= 0. */
struct graph_times {
    double sum_ns, path_ns;
    int path_end, path_length;
};
enum status subgraph_times(const struct subgraph *subgraph, const double *times_ns,
                           struct graph_times *times, struct error *error);

/* As a graph for Graphviz: a line a node, then a line an edge. */
void subgraph_write_dot(const struct subgraph *subgraph, FILE *out);

#endif
