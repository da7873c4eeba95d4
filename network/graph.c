/* For every kept node, a walk over its ancestors that goes on behind those that are not kept and
 * ends at those that are (network/graph.h). Which nodes a walk has met is marked by the walk's
 * number: as printed, the algorithm never resets its marks, and then later nodes lose inputs.
 *
 * The text of a graph is read a line at a time: "id<TAB>name[<TAB>row]" begins a node, a line
 * without a tab has its inputs. The last line has none after it that could tell: where it is no
 * node's, it is the file's own selection. Inputs that are no numbers are parameters and constants,
 * and no nodes. */
#include "network/graph.h"

#include "core/array.h"
#include "core/number.h"
#include "core/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the text */

enum { MAX_LINE_BYTES = 1 << 20 };

struct graph_reader {
    struct graph *graph;
    FILE *stream;
    char *line; /* owned, of MAX_LINE_BYTES: the one at hand, without its end */
    int number; /* of it, from 1 */
    bool has_inputs;
    struct error *error;
};

static enum status line_error(const struct graph_reader *r, const char *what, const char *text)
{
    return error_at(r->error, r->graph->file, r->number, "'%.40s': %s", text, what);
}

/* Reads the next line that is not empty into r->line; *found is false at the end. */
static enum status next_line(struct graph_reader *r, bool *found)
{
    size_t length = 0;
    while (length == 0) {
        *found = fgets(r->line, MAX_LINE_BYTES, r->stream) != NULL;
        if (!*found && ferror(r->stream))
            return error_set(r->error, STATUS_IO, "%s: cannot be read: %s", r->graph->file,
                             strerror(errno));
        if (!*found)
            return STATUS_OK;
        r->number++;
        length = strlen(r->line);
        if (!feof(r->stream) && (length == 0 || r->line[length - 1] != '\n'))
            return error_at(r->error, r->graph->file, r->number,
                            "expected a line of text of less than %d bytes", MAX_LINE_BYTES);
        while (length && (r->line[length - 1] == '\n' || r->line[length - 1] == '\r'))
            r->line[--length] = '\0';
    }
    return STATUS_OK;
}

static bool is_number(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static enum status read_id(const struct graph_reader *r, const char *text, int64_t *id)
{
    struct error why;
    if (number_count("id", text, 0, INT64_MAX - 1, id, &why) != STATUS_OK)
        return line_error(r, "expected a node's number", text);
    return STATUS_OK;
}

/* "Default/a/FusionOp_MatMul_Mul-op12" -> "FusionOp_MatMul_Mul" */
static char *kind_of(const char *name)
{
    const char *slash = strrchr(name, '/'), *begin = slash ? slash + 1 : name, *end = NULL;
    for (const char *at = strstr(begin, "-op"); at; at = strstr(at + 1, "-op"))
        if (is_number(at + 3))
            end = at;
    return strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
}

static enum status add_node(struct graph_reader *r)
{
    struct graph *graph = r->graph;
    char *name = strchr(r->line, '\t');
    *name++ = '\0';
    char *row = strchr(name, '\t');
    if (row)
        *row++ = '\0';
    struct graph_node node = {.row = -1};
    TRY(read_id(r, r->line, &node.id));
    if (row && *row)
        TRY(read_id(r, row, &node.row));
    if (graph->node_count && graph->nodes[graph->node_count - 1].id >= node.id)
        return line_error(r, "expected a larger number than the node's before", r->line);
    if (graph->node_count == GRAPH_MAX_NODES)
        return error_set(r->error, STATUS_TOO_LARGE, "%s:%d: more than %d nodes", graph->file,
                         r->number, GRAPH_MAX_NODES);
    if (!array_room(&graph->nodes, graph->node_count, sizeof *graph->nodes))
        return error_memory(r->error);
    utf8_show(name);
    node.name = strdup(name);
    node.kind = kind_of(name);
    node.first = node.last = (int)graph->edge_count;
    graph->nodes[graph->node_count++] = node;
    r->has_inputs = false;
    return node.name && node.kind ? STATUS_OK : error_memory(r->error);
}

/* The place of the node with this id among the first `count`, or -1. */
static int find_node(const struct graph *graph, int64_t count, int64_t id)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (graph->nodes[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && graph->nodes[low].id == id ? (int)low : -1;
}

static enum status add_input(struct graph_reader *r, const char *text)
{
    struct graph *graph = r->graph;
    int64_t id;
    if (!is_number(text))
        return STATUS_OK;
    TRY(read_id(r, text, &id));
    int place = find_node(graph, graph->node_count - 1, id);
    if (place < 0)
        return line_error(r, "expected the number of a node that stands before", text);
    if (graph->edge_count == GRAPH_MAX_EDGES)
        return error_set(r->error, STATUS_TOO_LARGE, "%s:%d: more than %d inputs of nodes",
                         graph->file, r->number, GRAPH_MAX_EDGES);
    if (!array_room(&graph->edges, graph->edge_count, sizeof *graph->edges))
        return error_memory(r->error);
    graph->edges[graph->edge_count++] = place;
    graph->nodes[graph->node_count - 1].last++;
    return STATUS_OK;
}

static enum status add_listed(struct graph_reader *r, const char *text)
{
    int64_t id;
    TRY(read_id(r, text, &id));
    int place = find_node(r->graph, r->graph->node_count, id);
    if (place < 0)
        return line_error(r, "expected the number of a node", text);
    r->graph->nodes[place].is_listed = true;
    return STATUS_OK;
}

static enum status read_words(struct graph_reader *r, char *line,
                              enum status (*take)(struct graph_reader *r, const char *text))
{
    char *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        TRY(take(r, word));
    return STATUS_OK;
}

/* A line without a tab, when what follows is known. */
static enum status take_words(struct graph_reader *r, char *line, bool is_last)
{
    if (r->graph->node_count == 0)
        return line_error(r, "expected a node's number, a tab and its name", line);
    if (is_last) {
        r->graph->has_list = true;
        return read_words(r, line, add_listed);
    }
    if (r->has_inputs)
        return line_error(r, "expected a node: its inputs stand in the line before", line);
    r->has_inputs = true;
    return read_words(r, line, add_input);
}

/* `held` is a line of words whose place among the others is not known yet. */
static enum status read_lines(struct graph_reader *r, char **held)
{
    bool found = true;
    int held_line = 0;
    while (found) {
        TRY(next_line(r, &found));
        if (*held) {
            int now = r->number;
            r->number = held_line;
            TRY(take_words(r, *held, !found));
            r->number = now;
            free(*held);
            *held = NULL;
        }
        if (found && strchr(r->line, '\t')) {
            TRY(add_node(r));
        } else if (found) {
            held_line = r->number;
            *held = strdup(r->line);
            if (!*held)
                return error_memory(r->error);
        }
    }
    if (r->graph->node_count == 0)
        return error_at(r->error, r->graph->file, r->number, "has no nodes, expected some");
    return STATUS_OK;
}

enum status graph_read(const char *file, struct graph *graph, struct error *error)
{
    char *held = NULL;
    struct graph_reader graph_reader = {.graph = graph,
                                        .error = error,
                                        .line = malloc(MAX_LINE_BYTES),
                                        .stream = fopen(file, "re")};
    *graph = (struct graph){.file = strdup(file)};
    enum status status = STATUS_NO_MEMORY;
    if (!graph_reader.line || !graph->file)
        error_memory(error);
    else if (!graph_reader.stream)
        status = error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    else
        status = read_lines(&graph_reader, &held);
    if (graph_reader.stream)
        fclose(graph_reader.stream);
    free(graph_reader.line);
    free(held);
    if (status != STATUS_OK)
        graph_clear(graph);
    return status;
}

void graph_clear(struct graph *graph)
{
    for (int64_t n = 0; n < graph->node_count; n++) {
        free(graph->nodes[n].name);
        free(graph->nodes[n].kind);
    }
    free(graph->nodes);
    free(graph->edges);
    free(graph->file);
    *graph = (struct graph){0};
}

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
