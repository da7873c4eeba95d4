/* Sums, orders and verdicts of a network's answer, and what it says in words about the whole step,
 * for all of its writers (results/network.h). */
#include "results/network.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Of what a call takes, a smaller share is not worth a tiling of its own: repeated runs of one
 * kernel differ by as much. */
#define WORTH 0.05

/* ------------------------------------------------------------------ sums */

static void add_call(struct network_sum *sum, const struct network_answer *answer, int64_t call)
{
    const struct operator_call *c = &answer->network->calls[call];
    const struct operator_time *time = &answer->times[call];
    double count = (double)c->count;
    sum->rows++;
    sum->calls += c->count;
    sum->predicted_ns += count * time->predicted_ns;
    sum->low_ns += count * time->low_ns;
    sum->high_ns += count * time->high_ns;
    sum->error_ns += count * fabs(time->predicted_ns - c->measured_ns);
    if (c->measured_ns > 0 && sum->measured_ns >= 0)
        sum->measured_ns += count * c->measured_ns;
    else
        sum->measured_ns = -1;
}

struct network_sum network_sum_of(const struct network_answer *answer, enum network_part part)
{
    struct network_sum sum = {0};
    for (int64_t i = 0; i < answer->network->call_count; i++) {
        const struct operator_call *call = &answer->network->calls[i];
        if ((part == PART_UNCOVERED) == (call->uncovered != NULL) &&
            (part != PART_L_KINDS || call->is_l_kind))
            add_call(&sum, answer, i);
    }
    return sum;
}

double network_share(const struct network_sum *part, const struct network_sum *all)
{
    bool measured = all->measured_ns > 0;
    double whole = measured ? all->measured_ns : all->predicted_ns;
    return whole > 0 ? (measured ? part->measured_ns : part->predicted_ns) / whole : 0;
}

struct network_saving network_saving(const struct network_answer *answer)
{
    struct network_saving all = {0};
    for (int64_t i = 0; i < answer->network->call_count; i++) {
        if (answer->network->calls[i].uncovered)
            continue;
        all.now_ns += network_all_now_ns(answer, i);
        all.saved_ns += network_saved_ns(answer, i);
    }
    return all;
}

/* ------------------------------------------------------------------ kinds */

struct ordered {
    int64_t call;
    const char *op_type;
    double weight, now_ns;
};

static int compare_types(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    int difference = strcmp(a->op_type, b->op_type);
    return difference ? difference : (a->call > b->call) - (a->call < b->call);
}

static double kind_ns(const struct network_kind *kind)
{
    return kind->sum.measured_ns >= 0 ? kind->sum.measured_ns : kind->sum.predicted_ns;
}

static int compare_kinds(const void *left, const void *right)
{
    const struct network_kind *a = left, *b = right;
    double x = kind_ns(a), y = kind_ns(b);
    return x != y ? (x < y) - (x > y) : strcmp(a->op_type, b->op_type);
}

/* The covered calls in the file's order. */
static enum status list_calls(const struct network_answer *answer, struct ordered **list,
                              int64_t *count, struct error *error)
{
    *list = malloc(((size_t)answer->network->call_count + 1) * sizeof **list);
    if (!*list)
        return error_memory(error);
    *count = 0;
    for (int64_t i = 0; i < answer->network->call_count; i++)
        if (!answer->network->calls[i].uncovered)
            (*list)[(*count)++] = (struct ordered){i, answer->network->calls[i].op_type, 0, 0};
    return STATUS_OK;
}

enum status network_kinds(const struct network_answer *answer, struct network_kind **kinds,
                          int64_t *count, struct error *error)
{
    struct ordered *list;
    int64_t calls;
    TRY(list_calls(answer, &list, &calls, error));
    *count = 0;
    *kinds = calloc((size_t)calls + 1, sizeof **kinds);
    if (!*kinds) {
        free(list);
        return error_memory(error);
    }
    qsort(list, (size_t)calls, sizeof *list, compare_types);
    for (int64_t i = 0; i < calls; i++) {
        if (i == 0 || strcmp(list[i].op_type, list[i - 1].op_type) != 0)
            (*kinds)[(*count)++].op_type = list[i].op_type;
        add_call(&(*kinds)[*count - 1].sum, answer, list[i].call);
    }
    free(list);
    qsort(*kinds, (size_t)*count, sizeof **kinds, compare_kinds);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ calls */

static double now_ns(const struct network_answer *answer, int64_t call)
{
    double measured_ns = answer->network->calls[call].measured_ns;
    return measured_ns > 0 ? measured_ns : answer->times[call].predicted_ns;
}

struct call_tuned network_tuned_of(const struct network_answer *answer, int64_t call)
{
    return answer->tuned ? answer->tuned[call] : (struct call_tuned){0};
}

double network_all_now_ns(const struct network_answer *answer, int64_t call)
{
    return now_ns(answer, call) * (double)answer->network->calls[call].count;
}

double network_saved_ns(const struct network_answer *answer, int64_t call)
{
    double best_ns = network_tuned_of(answer, call).best_ns;
    double saved_ns = best_ns > 0 ? now_ns(answer, call) - best_ns : 0;
    return saved_ns > 0 ? saved_ns * (double)answer->network->calls[call].count : 0;
}

static int compare_weights(const void *left, const void *right)
{
    const struct ordered *a = left, *b = right;
    int order = (a->weight < b->weight) - (a->weight > b->weight);
    order = order ? order : (a->now_ns < b->now_ns) - (a->now_ns > b->now_ns);
    return order ? order : (a->call > b->call) - (a->call < b->call);
}

enum status network_order(const struct network_answer *answer, int64_t **order, int64_t *count,
                          struct error *error)
{
    struct ordered *list;
    TRY(list_calls(answer, &list, count, error));
    *order = malloc(((size_t)*count + 1) * sizeof **order);
    if (!*order) {
        free(list);
        return error_memory(error);
    }
    for (int64_t i = 0; i < *count; i++) {
        list[i].now_ns = network_all_now_ns(answer, list[i].call);
        list[i].weight = answer->tuned ? network_saved_ns(answer, list[i].call) : list[i].now_ns;
    }
    qsort(list, (size_t)*count, sizeof *list, compare_weights);
    for (int64_t i = 0; i < *count; i++)
        (*order)[i] = list[i].call;
    free(list);
    return STATUS_OK;
}

const char *network_verdict(const struct network_answer *answer, int64_t call)
{
    double best_ns = network_tuned_of(answer, call).best_ns;
    double measured_ns = answer->network->calls[call].measured_ns;
    double least_ns = measured_ns > 0 ? measured_ns : answer->times[call].low_ns;
    if (best_ns <= 0)
        return NULL;
    if (best_ns < (1 - WORTH) * least_ns)
        return "pays";
    if (best_ns < (1 - WORTH) * now_ns(answer, call))
        return "may pay";
    return network_tuned_of(answer, call).gap > 0 ? NULL : "well tiled";
}

/* ------------------------------------------------------------------ shapes */

static void append_text(char text[CALL_SHAPES_SIZE], const char *more)
{
    size_t used = strlen(text), room = CALL_SHAPES_SIZE - 4;
    if (used >= room)
        return;
    if (used + strlen(more) > room)
        snprintf(text + used, CALL_SHAPES_SIZE - used, "...%*s", (int)(room - used), "");
    else
        strcat(text, more);
}

static void append_tensor(const struct operator_tensor *tensor, char text[CALL_SHAPES_SIZE])
{
    char size[32];
    if (tensor->rank == 0)
        append_text(text, "1");
    for (int d = 0; d < tensor->rank; d++) {
        snprintf(size, sizeof size, "%s%lld", d ? "x" : "", (long long)tensor->size[d]);
        append_text(text, size);
    }
}

const char *network_shapes(const struct operator_call *call, char text[CALL_SHAPES_SIZE])
{
    *text = '\0';
    for (int t = 0; t < call->input_count + call->output_count; t++) {
        append_text(text, t == call->input_count ? (t ? " -> " : "-> ") : t ? " " : "");
        append_tensor(&call->inputs[t], text);
    }
    if (call->input_count + call->output_count > 0) {
        append_text(text, " ");
        append_text(text, dtype_name(call->inputs[0].type));
    }
    for (size_t end = strlen(text); end && text[end - 1] == ' '; end--)
        text[end - 1] = '\0';
    return text;
}

/* ------------------------------------------------------------------ in words */

struct lines {
    struct network_line *line;
    int count;
};

static void add_line(struct lines *lines, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void add_line(struct lines *lines, const char *name, const char *format, ...)
{
    struct network_line *line = &lines->line[lines->count++];
    va_list list;
    va_start(list, format);
    line->name = name;
    vsnprintf(line->text, sizeof line->text, format, list);
    va_end(list);
}

static void add_measured_line(struct lines *lines, const struct network_sum *sum)
{
    char time[TEXT_SIZE];
    if (sum->measured_ns > 0)
        add_line(lines, "measured",
                 "%s: the prediction is %.1f %% %s; absolute errors of rows add up to %.1f %%",
                 text_time(sum->measured_ns, time),
                 100 * fabs(sum->predicted_ns / sum->measured_ns - 1),
                 sum->predicted_ns < sum->measured_ns ? "below" : "above",
                 100 * sum->error_ns / sum->measured_ns);
}

static void add_l_kinds_line(struct lines *lines, const struct network_sum *sum)
{
    char predicted[TEXT_SIZE], measured[TEXT_SIZE];
    if (sum->rows == 0)
        return;
    text_time(sum->predicted_ns, predicted);
    if (sum->measured_ns > 0)
        add_line(lines, "hotspots", "%s predicted, %s measured, of the kinds that L sums",
                 predicted, text_time(sum->measured_ns, measured));
    else
        add_line(lines, "hotspots", "%s predicted, of the kinds that L sums", predicted);
}

static void add_graph_line(struct lines *lines, const struct network_answer *answer)
{
    char nodes[TEXT_SIZE], edges[TEXT_SIZE], sum[TEXT_SIZE], path[TEXT_SIZE];
    if (answer->subgraph)
        add_line(
            lines, "graph",
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
    add_line(&lines, "predicted", "%s, four of five within %s ... %s",
             text_time(answer->total.predicted_ns, time), text_time(answer->total.low_ns, low),
             text_time(answer->total.high_ns, high));
    add_measured_line(&lines, &all);
    add_l_kinds_line(&lines, &l_kinds);
    add_graph_line(&lines, answer);
    return lines.count;
}
