/* The text of a graph (network/graph.h), a line at a time: "id<TAB>name[<TAB>row]" begins a node,
 * a line without a tab has its inputs. The last line has none after it that could tell: where it is
 * no node's, it is the file's own selection. Inputs that are no numbers are parameters and
 * constants, and no nodes. */
#include "core/array.h"
#include "core/number.h"
#include "core/utf8.h"
#include "network/graph.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE_BYTES = 1 << 20 };

struct reader {
    struct graph *graph;
    FILE *stream;
    char *line; /* owned, of MAX_LINE_BYTES: the one at hand, without its end */
    int number; /* of it, from 1 */
    bool has_inputs;
    struct error *error;
};

static enum status wrong(const struct reader *r, const char *what, const char *text)
{
    return error_at(r->error, r->graph->file, r->number, "'%.40s': %s", text, what);
}

/* Reads the next line that is not empty into r->line; *found is false at the end. */
static enum status next_line(struct reader *r, bool *found)
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

static enum status read_id(const struct reader *r, const char *text, int64_t *id)
{
    struct error why;
    if (number_count("id", text, 0, INT64_MAX - 1, id, &why) != STATUS_OK)
        return wrong(r, "expected a node's number", text);
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

static enum status add_node(struct reader *r)
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
        return wrong(r, "expected a larger number than the node's before", r->line);
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

static enum status add_input(struct reader *r, const char *text)
{
    struct graph *graph = r->graph;
    int64_t id;
    if (!is_number(text))
        return STATUS_OK;
    TRY(read_id(r, text, &id));
    int place = find_node(graph, graph->node_count - 1, id);
    if (place < 0)
        return wrong(r, "expected the number of a node that stands before", text);
    if (graph->edge_count == GRAPH_MAX_EDGES)
        return error_set(r->error, STATUS_TOO_LARGE, "%s:%d: more than %d inputs of nodes",
                         graph->file, r->number, GRAPH_MAX_EDGES);
    if (!array_room(&graph->edges, graph->edge_count, sizeof *graph->edges))
        return error_memory(r->error);
    graph->edges[graph->edge_count++] = place;
    graph->nodes[graph->node_count - 1].last++;
    return STATUS_OK;
}

static enum status add_listed(struct reader *r, const char *text)
{
    int64_t id;
    TRY(read_id(r, text, &id));
    int place = find_node(r->graph, r->graph->node_count, id);
    if (place < 0)
        return wrong(r, "expected the number of a node", text);
    r->graph->nodes[place].is_listed = true;
    return STATUS_OK;
}

static enum status read_words(struct reader *r, char *line,
                              enum status (*take)(struct reader *r, const char *text))
{
    char *rest = NULL;
    for (char *word = strtok_r(line, " ", &rest); word; word = strtok_r(NULL, " ", &rest))
        TRY(take(r, word));
    return STATUS_OK;
}

/* A line without a tab, when what follows is known. */
static enum status take_words(struct reader *r, char *line, bool is_last)
{
    if (r->graph->node_count == 0)
        return wrong(r, "expected a node's number, a tab and its name", line);
    if (is_last) {
        r->graph->has_list = true;
        return read_words(r, line, add_listed);
    }
    if (r->has_inputs)
        return wrong(r, "expected a node: its inputs stand in the line before", line);
    r->has_inputs = true;
    return read_words(r, line, add_input);
}

/* `held` is a line of words whose place among the others is not known yet. */
static enum status read_lines(struct reader *r, char **held)
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
    struct reader reader = {.graph = graph,
                            .error = error,
                            .line = malloc(MAX_LINE_BYTES),
                            .stream = fopen(file, "re")};
    *graph = (struct graph){.file = strdup(file)};
    enum status status = STATUS_NO_MEMORY;
    if (!reader.line || !graph->file)
        error_memory(error);
    else if (!reader.stream)
        status = error_set(error, STATUS_IO, "%s: cannot open it: %s", file, strerror(errno));
    else
        status = read_lines(&reader, &held);
    if (reader.stream)
        fclose(reader.stream);
    free(reader.line);
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
