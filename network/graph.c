/* For every kept node, a walk over its ancestors that goes on behind those that are not kept and
 * ends at those that are (network/graph.h). Which nodes a walk has met is marked by the walk's
 * number: as printed, the algorithm never resets its marks, and then later nodes lose inputs. */
#include "network/graph.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the subset */

static bool has_kind(const char *subset, const char *kind)
{
    size_t length = strlen(kind);
    for (const char *at = subset; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
        if (strcspn(at, ",") == length && strncmp(at, kind, length) == 0)
            return true;
    return false;
}

/* Every kind that is asked for has a node. */
static enum status check_kinds(const struct graph *graph, const char *subset, struct error *error)
{
    for (const char *at = subset; *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ',')) {
        size_t length = strcspn(at, ",");
        int64_t n = 0;
        while (n < graph->node_count && (strlen(graph->nodes[n].kind) != length ||
                                         strncmp(graph->nodes[n].kind, at, length) != 0))
            n++;
        if (n == graph->node_count)
            return error_at(error, graph->file, 0,
                            "has no operator '%.*s', expected kinds of it between commas, or l",
                            (int)(length < 64 ? length : 64), at);
    }
    return STATUS_OK;
}

enum status graph_select(struct graph *graph, const char *subset, struct error *error)
{
    bool listed = subset && strcmp(subset, "l") == 0;
    if (listed && !graph->has_list)
        return error_at(error, graph->file, 0,
                        "lists no nodes of its own, expected their ids in its last line");
    if (subset && !listed)
        TRY(check_kinds(graph, subset, error));
    for (int64_t n = 0; n < graph->node_count; n++) {
        struct graph_node *node = &graph->nodes[n];
        node->is_kept = !subset || (listed ? node->is_listed : has_kind(subset, node->kind));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ Algorithm 1 */

struct walk {
    const struct graph *graph;
    struct subgraph *subgraph;
    int *place; /* of a kept node in the subgraph */
    int *met;   /* by which walk, from 1 on */
    int *stack;
};

static int compare_places(const void *left, const void *right)
{
    const int *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

static enum status add_edge(struct subgraph *subgraph, int place, struct error *error)
{
    if (subgraph->edge_count == INT32_MAX)
        return error_set(error, STATUS_TOO_LARGE, "%s: its subset has too many edges",
                         subgraph->graph->file);
    if (!array_room(&subgraph->edges, subgraph->edge_count, sizeof *subgraph->edges))
        return error_memory(error);
    subgraph->edges[subgraph->edge_count++] = place;
    return STATUS_OK;
}

/* The nearest kept ancestors of a node; a node is put on the stack at most once a walk. */
static enum status walk_from(struct walk *w, int from, int number, struct error *error)
{
    int64_t first = w->subgraph->edge_count;
    int depth = 0;
    w->stack[depth++] = from;
    while (depth) {
        const struct graph_node *node = &w->graph->nodes[w->stack[--depth]];
        for (int e = node->first; e < node->last; e++) {
            int parent = w->graph->edges[e];
            if (w->met[parent] == number)
                continue;
            w->met[parent] = number;
            if (w->graph->nodes[parent].is_kept)
                TRY(add_edge(w->subgraph, w->place[parent], error));
            else
                w->stack[depth++] = parent;
        }
    }
    if (w->subgraph->edge_count > first)
        qsort(w->subgraph->edges + first, (size_t)(w->subgraph->edge_count - first), sizeof(int),
              compare_places);
    return STATUS_OK;
}

static enum status walk_all(struct walk *w, struct error *error)
{
    struct subgraph *s = w->subgraph;
    for (int n = 0; n < (int)w->graph->node_count; n++) {
        if (!w->graph->nodes[n].is_kept)
            continue;
        w->place[n] = (int)s->node_count;
        s->nodes[s->node_count] = n;
        s->starts[s->node_count++] = (int)s->edge_count;
        TRY(walk_from(w, n, n + 1, error));
        s->starts[s->node_count] = (int)s->edge_count;
    }
    return STATUS_OK;
}

enum status subgraph_extract(const struct graph *graph, struct subgraph *subgraph,
                             struct error *error)
{
    size_t count = (size_t)graph->node_count + 1;
    *subgraph = (struct subgraph){
        .graph = graph, .nodes = calloc(count, sizeof(int)), .starts = calloc(count, sizeof(int))};
    int *marks = calloc(3 * count, sizeof *marks);
    enum status status = STATUS_NO_MEMORY;
    if (subgraph->nodes && subgraph->starts && marks)
        status = walk_all(&(struct walk){graph, subgraph, marks, marks + count, marks + 2 * count},
                          error);
    else
        error_memory(error);
    free(marks);
    if (status != STATUS_OK)
        subgraph_clear(subgraph);
    return status;
}

void subgraph_clear(struct subgraph *subgraph)
{
    free(subgraph->nodes);
    free(subgraph->starts);
    free(subgraph->edges);
    *subgraph = (struct subgraph){0};
}

/* ------------------------------------------------------------------ times */

enum status subgraph_times(const struct subgraph *subgraph, const double *times_ns,
                           struct graph_times *times, struct error *error)
{
    struct best {
        double ns;
        int length;
    } *best = malloc(((size_t)subgraph->node_count + 1) * sizeof *best);
    if (!best)
        return error_memory(error);
    *times = (struct graph_times){.path_end = -1};
    for (int n = 0; n < (int)subgraph->node_count; n++) {
        best[n] = (struct best){0, 0};
        for (int e = subgraph->starts[n]; e < subgraph->starts[n + 1]; e++)
            if (best[subgraph->edges[e]].ns > best[n].ns || best[n].length == 0)
                best[n] = best[subgraph->edges[e]];
        best[n].ns += times_ns[n];
        best[n].length++;
        times->sum_ns += times_ns[n];
        if (best[n].ns > times->path_ns || times->path_end < 0) {
            times->path_ns = best[n].ns;
            times->path_end = n;
            times->path_length = best[n].length;
        }
    }
    free(best);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ Graphviz */

/* A text between quotation marks. */
static void put_quoted(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', out);
        fputc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text, out);
    }
    fputc('"', out);
}

void subgraph_write_dot(const struct subgraph *subgraph, FILE *out)
{
    const struct graph_node *nodes = subgraph->graph->nodes;
    fputs("digraph network {\n", out);
    for (int64_t n = 0; n < subgraph->node_count; n++) {
        const struct graph_node *node = &nodes[subgraph->nodes[n]];
        fprintf(out, "  n%lld [label=", (long long)node->id);
        put_quoted(node->kind, out);
        fputs(", tooltip=", out);
        put_quoted(node->name, out);
        fputs("];\n", out);
    }
    for (int64_t n = 0; n < subgraph->node_count; n++)
        for (int e = subgraph->starts[n]; e < subgraph->starts[n + 1]; e++)
            fprintf(out, "  n%lld -> n%lld;\n",
                    (long long)nodes[subgraph->nodes[subgraph->edges[e]]].id,
                    (long long)nodes[subgraph->nodes[n]].id);
    fputs("}\n", out);
}
