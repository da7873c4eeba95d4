/* What a network's answer says in words about the whole step, for the table and the page
 * (results/network.h). */
#include "results/network.h"

#include <math.h>
#include <stdarg.h>

struct lines {
    struct network_line *line;
    int count;
};

static void add(struct lines *lines, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add(struct lines *lines, const char *name, const char *format, ...)
{
    struct network_line *line = &lines->line[lines->count++];
    va_list list;
    va_start(list, format);
    line->name = name;
    vsnprintf(line->text, sizeof line->text, format, list);
    va_end(list);
}

static void add_measured(struct lines *lines, const struct network_sum *sum)
{
    char time[TEXT_SIZE];
    if (sum->measured_ns > 0)
        add(lines, "measured",
            "%s: the prediction is %.1f %% %s; absolute errors of rows add up to %.1f %%",
            text_time(sum->measured_ns, time), 100 * fabs(sum->predicted_ns / sum->measured_ns - 1),
            sum->predicted_ns < sum->measured_ns ? "below" : "above",
            100 * sum->error_ns / sum->measured_ns);
}

static void add_l_kinds(struct lines *lines, const struct network_sum *sum)
{
    char predicted[TEXT_SIZE], measured[TEXT_SIZE];
    if (sum->rows == 0)
        return;
    text_time(sum->predicted_ns, predicted);
    if (sum->measured_ns > 0)
        add(lines, "hotspots", "%s predicted, %s measured, of the kinds that L sums", predicted,
            text_time(sum->measured_ns, measured));
    else
        add(lines, "hotspots", "%s predicted, of the kinds that L sums", predicted);
}

static void add_graph(struct lines *lines, const struct network_answer *answer)
{
    char nodes[TEXT_SIZE], edges[TEXT_SIZE], sum[TEXT_SIZE], path[TEXT_SIZE];
    if (answer->subgraph)
        add(lines, "graph",
            "%s operators, %s dependencies: %s one after the other, %s on the longest path, of %d",
            text_count(answer->subgraph->node_count, nodes),
            text_count(answer->subgraph->edge_count, edges), text_time(answer->graph.sum_ns, sum),
            text_time(answer->graph.path_ns, path), answer->graph.path_length);
}

int network_lines(const struct network_answer *answer, struct network_line line[NETWORK_LINES])
{
    char time[TEXT_SIZE], low[TEXT_SIZE], high[TEXT_SIZE];
    struct lines lines = {line, 0};
    struct network_sum all = network_sum_of(answer, PART_COVERED);
    struct network_sum l_kinds = network_sum_of(answer, PART_L_KINDS);
    add(&lines, "predicted", "%s, four of five within %s ... %s",
        text_time(answer->total.predicted_ns, time), text_time(answer->total.low_ns, low),
        text_time(answer->total.high_ns, high));
    add_measured(&lines, &all);
    add_l_kinds(&lines, &l_kinds);
    add_graph(&lines, answer);
    return lines.count;
}
