/* Graphs: the text is read as it stands or refused by its line, and what is kept depends on its
 * nearest kept ancestors, as a second implementation by the definition has it: an edge for each
 * path whose inner nodes are not kept. */
#include "network/graph.h"
#include "tests/hardware_files.h"

#include <gsl/gsl_rng.h>
#include <math.h>

TestSuite(network_graph, .init = enter, .fini = leave);

static enum status read_text(const char *text, struct graph *graph, struct error *error)
{
    write_bytes(in_folder("g.txt"), text, strlen(text));
    return graph_read(in_folder("g.txt"), graph, error);
}

static void expect_refused(const char *text, const char *part)
{
    struct graph graph;
    struct error error = {0};
    cr_expect_eq(read_text(text, &graph, &error), STATUS_INVALID, "%s", text);
    cr_expect(strstr(error.text, part), "%s\nexpected %s", error.text, part);
    cr_expect_null(graph.nodes);
}

static const char small[] = "1\tDefault/GetNext-op1\n"
                            "3\tDefault/net/MatMul-op12\t0\n"
                            "1 w.weight cst1\n"
                            "4\tDefault/net/Reshape-op13\n"
                            "3\n"
                            "7\tDefault/net/FusionOp_MatMul_Mul-op2\n"
                            "4 3 4\n"
                            "8\tMakeTuple-op\n"
                            "7 1\n"
                            "3 7\n";

Test(network_graph, text)
{
    struct graph graph;
    struct error error = {0};
    cr_assert_eq(read_text(small, &graph, &error), STATUS_OK, "%s", error.text);
    cr_expect_eq(graph.node_count, 5);
    cr_expect_eq(graph.edge_count, 7);
    cr_expect_str_eq(graph.nodes[1].kind, "MatMul");
    cr_expect_str_eq(graph.nodes[3].kind, "FusionOp_MatMul_Mul");
    cr_expect_str_eq(graph.nodes[4].kind, "MakeTuple-op");
    cr_expect_eq(graph.nodes[1].row, 0);
    cr_expect_eq(graph.nodes[0].row, -1);
    cr_expect(graph.has_list && graph.nodes[1].is_listed && graph.nodes[3].is_listed);
    cr_expect_not(graph.nodes[4].is_listed);
    graph_clear(&graph);
}

Test(network_graph, refused)
{
    expect_refused("", "has no nodes");
    expect_refused("1 2 3\n", "g.txt:1: '1 2 3': expected a node's number, a tab");
    expect_refused("x\ta\n", "g.txt:1: 'x': expected a node's number");
    expect_refused("2\ta\n2\tb\n", "g.txt:2: '2': expected a larger number");
    expect_refused("1\ta\n1\n2\tb\n",
                   "g.txt:2: '1': expected the number of a node that stands before");
    expect_refused("1\ta\n2\tb\n3\n3\tc\n",
                   "g.txt:3: '3': expected the number of a node that stands");
    expect_refused("1\ta\n2\tb\n1\n1\n3\tc\n", "g.txt:4: '1': expected a node: its inputs");
    expect_refused("1\ta\n5\n", "g.txt:2: '5': expected the number of a node");
    expect_refused("1\ta\tq\n", "g.txt:1: 'q': expected a node's number");
}

static void select_of(struct graph *graph, const char *subset, enum status expected,
                      const char *part)
{
    struct error error = {0};
    cr_expect_eq(graph_select(graph, subset, &error), expected);
    cr_expect(strstr(error.text, part), "%s", error.text);
}

Test(network_graph, subsets)
{
    struct graph graph;
    struct error error = {0};
    cr_assert_eq(read_text(small, &graph, &error), STATUS_OK);
    select_of(&graph, "MatMul,Relu", STATUS_INVALID, "has no operator 'Relu'");
    select_of(&graph, "Mat", STATUS_INVALID, "has no operator 'Mat'");
    select_of(&graph, "GetNext,FusionOp_MatMul_Mul", STATUS_OK, "");
    cr_expect(graph.nodes[0].is_kept && graph.nodes[3].is_kept && !graph.nodes[1].is_kept);
    select_of(&graph, "l", STATUS_OK, "");
    cr_expect(graph.nodes[1].is_kept && graph.nodes[3].is_kept && !graph.nodes[0].is_kept);
    struct subgraph subgraph;
    cr_assert_eq(subgraph_extract(&graph, &subgraph, &error), STATUS_OK);
    cr_expect_eq(subgraph.node_count, 2);
    cr_expect_eq(subgraph.edge_count, 1);
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    subgraph_write_dot(&subgraph, out);
    fclose(out);
    cr_expect(strstr(text, "  n3 -> n7;\n"), "%s", text);
    free(text);
    subgraph_clear(&subgraph);
    graph_clear(&graph);
    cr_assert_eq(read_text("1\ta\n2\tb\n", &graph, &error), STATUS_OK);
    select_of(&graph, "l", STATUS_INVALID, "lists no nodes of its own");
    graph_clear(&graph);
}

/* ------------------------------------------------------------------ a second implementation */

enum { MOST = 24, ROUNDS = 3000 };

/* Is there a path of which no inner node is kept? By trying every one. */
static bool reaches(bool edge[MOST][MOST], const bool kept[MOST], int from, int to)
{
    if (edge[from][to])
        return true;
    for (int inner = from + 1; inner < to; inner++)
        if (!kept[inner] && edge[from][inner] && reaches(edge, kept, inner, to))
            return true;
    return false;
}

/* The most that a chain of kept nodes that ends here takes. */
static double longest(bool edge[MOST][MOST], const bool kept[MOST], const double time[MOST], int to)
{
    double most = 0;
    for (int from = 0; from < to; from++)
        if (kept[from] && reaches(edge, kept, from, to))
            most = fmax(most, longest(edge, kept, time, from));
    return most + time[to];
}

static void write_graph(bool edge[MOST][MOST], const bool kept[MOST], int count,
                        struct graph *graph)
{
    char *text = NULL;
    size_t length;
    struct error error = {0};
    FILE *out = open_memstream(&text, &length);
    for (int n = 0; n < count; n++) {
        fprintf(out, "%d\tk%d-op%d\ncst1", 10 + 3 * n, n % 3, n);
        for (int from = 0; from < n; from++)
            if (edge[from][n])
                fprintf(out, " %d", 10 + 3 * from);
        fputc('\n', out);
    }
    for (int n = 0; n < count; n++)
        if (kept[n])
            fprintf(out, "%d ", 10 + 3 * n);
    fputs(" \n", out);
    fclose(out);
    cr_assert_eq(read_text(text, graph, &error), STATUS_OK, "%s", error.text);
    free(text);
}

static void compare(bool edge[MOST][MOST], const bool kept[MOST], const double time[MOST],
                    int count, const struct subgraph *s)
{
    double times_ns[MOST], sum = 0, most = 0;
    int64_t edges = 0;
    struct graph_times found;
    struct error error;
    for (int64_t n = 0; n < s->node_count; n++) {
        times_ns[n] = time[s->nodes[n]];
        for (int e = s->starts[n]; e < s->starts[n + 1]; e++) {
            cr_expect(reaches(edge, kept, s->nodes[s->edges[e]], s->nodes[n]));
            cr_expect(e == s->starts[n] || s->edges[e] > s->edges[e - 1], "ascending, once each");
        }
    }
    for (int n = 0; n < count; n++)
        if (kept[n]) {
            sum += time[n];
            most = fmax(most, longest(edge, kept, time, n));
            for (int from = 0; from < n; from++)
                edges += kept[from] && reaches(edge, kept, from, n);
        }
    cr_expect_eq(s->edge_count, edges);
    cr_assert_eq(subgraph_times(s, times_ns, &found, &error), STATUS_OK);
    cr_expect_float_eq(found.sum_ns, sum, 1e-9);
    cr_expect_float_eq(found.path_ns, most, 1e-9);
}

Test(network_graph, brute_force)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct error error = {0};
    for (int round = 0; round < ROUNDS; round++) {
        bool edge[MOST][MOST] = {0}, kept[MOST];
        double time[MOST], keep = gsl_rng_uniform(rng);
        int count = 2 + (int)gsl_rng_uniform_int(rng, round % 50 ? 9 : MOST - 13);
        for (int n = 0; n < count; n++) {
            kept[n] = n == 0 || gsl_rng_uniform(rng) < keep;
            time[n] = (double)gsl_rng_uniform_int(rng, 9);
            for (int from = 0; from < n; from++)
                edge[from][n] = gsl_rng_uniform_int(rng, 3) == 0;
        }
        struct graph graph;
        struct subgraph subgraph;
        write_graph(edge, kept, count, &graph);
        cr_assert_eq(graph_select(&graph, "l", &error), STATUS_OK, "%s", error.text);
        cr_assert_eq(subgraph_extract(&graph, &subgraph, &error), STATUS_OK);
        compare(edge, kept, time, count, &subgraph);
        subgraph_clear(&subgraph);
        graph_clear(&graph);
    }
    gsl_rng_free(rng);
}
