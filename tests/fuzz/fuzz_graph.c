/* Graphs of networks: read, cut down to their own list and to a kind, timed and drawn. */
#include "network/graph.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

static void require_subgraph(const struct subgraph *s)
{
    struct error error = {0};
    struct graph_times times;
    double *times_ns = calloc((size_t)s->node_count + 1, sizeof *times_ns);
    if (!times_ns)
        abort();
    for (int64_t n = 0; n < s->node_count; n++) {
        times_ns[n] = 1;
        for (int e = s->starts[n]; e < s->starts[n + 1]; e++)
            fuzz_require(s->edges[e] >= 0 && s->edges[e] < n, "inputs stand before");
    }
    fuzz_require_ok(subgraph_times(s, times_ns, &times, &error), &error);
    fuzz_require(times.path_ns <= times.sum_ns && times.path_length == (int)times.path_ns,
                 "a path is a part of all nodes");
    free(times_ns);
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fuzz_require(out != NULL, "memory");
    subgraph_write_dot(s, out);
    fuzz_require(fclose(out) == 0, "memory");
    free(text);
}

void fuzz_read_graph(const char *file)
{
    struct graph graph;
    struct subgraph subgraph;
    struct error error = {0};
    enum status status = graph_read(file, &graph, &error);
    fuzz_require_line(status, &error);
    if (status != STATUS_OK)
        return;
    for (int round = 0; round < 3; round++) {
        static const char *const subsets[] = {NULL, "l", "MatMul"};
        status = graph_select(&graph, subsets[round], &error);
        fuzz_require_line(status, &error);
        if (status != STATUS_OK)
            continue;
        fuzz_require_ok(subgraph_extract(&graph, &subgraph, &error), &error);
        require_subgraph(&subgraph);
        subgraph_clear(&subgraph);
    }
    graph_clear(&graph);
}
