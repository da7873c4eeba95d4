/* A network's answer for people: the totals, the kinds that take most, the calls that take most or
 * would save most, and what nothing is predicted of (results/network.h). */
#include "results/network_variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ totals */

static const char *time_or_dash(double ns, char text[TEXT_SIZE])
{
    return ns > 0 ? text_time(ns, text) : "-";
}

static void put_measured(const struct network_sum *sum, const struct style *style, FILE *out)
{
    char time[TEXT_SIZE];
    if (sum->measured_ns > 0)
        text_put_line("measured", style, out,
                      "%s: the prediction is %.1f %% %s; absolute errors of rows add up to %.1f %%",
                      text_time(sum->measured_ns, time),
                      100 * fabs(sum->predicted_ns / sum->measured_ns - 1),
                      sum->predicted_ns < sum->measured_ns ? "below" : "above",
                      100 * sum->error_ns / sum->measured_ns);
}

static void put_l_kinds(const struct network_answer *answer, const struct style *style, FILE *out)
{
    struct network_sum sum = network_sum_of(answer, PART_L_KINDS);
    char predicted[TEXT_SIZE], measured[TEXT_SIZE];
    if (sum.rows == 0)
        return;
    if (sum.measured_ns > 0)
        text_put_line("hotspots", style, out, "%s predicted, %s measured, of the kinds that L sums",
                      text_time(sum.predicted_ns, predicted), text_time(sum.measured_ns, measured));
    else
        text_put_line("hotspots", style, out, "%s predicted, of the kinds that L sums",
                      text_time(sum.predicted_ns, predicted));
}

static void put_graph(const struct network_answer *answer, const struct style *style, FILE *out)
{
    char nodes[TEXT_SIZE], edges[TEXT_SIZE], sum[TEXT_SIZE], path[TEXT_SIZE];
    if (!answer->subgraph)
        return;
    text_put_line("graph", style, out,
                  "%s operators, %s dependencies: %s one after the other, %s "
                  "on the longest path, of %d",
                  text_count(answer->subgraph->node_count, nodes),
                  text_count(answer->subgraph->edge_count, edges),
                  text_time(answer->graph.sum_ns, sum), text_time(answer->graph.path_ns, path),
                  answer->graph.path_length);
}

static void put_head(const struct network_answer *answer, const struct network_sum *all,
                     const struct style *style, FILE *out)
{
    char line[TEXT_LINE_SIZE], rows[TEXT_SIZE], calls[TEXT_SIZE];
    char time[TEXT_SIZE], low[TEXT_SIZE], high[TEXT_SIZE];
    fprintf(out, "%s%s%s on %s: %s calls of %s operators\n", style->bold,
            text_line(answer->file, line), style->end, answer->hw->name,
            text_count(all->calls, calls), text_count(all->rows, rows));
    text_put_hardware_lines(answer->hw, style, out);
    text_put_line("predicted", style, out, "%s, four of five within %s ... %s",
                  text_time(answer->total.predicted_ns, time), text_time(answer->total.low_ns, low),
                  text_time(answer->total.high_ns, high));
    put_measured(all, style, out);
    put_l_kinds(answer, style, out);
    put_graph(answer, style, out);
}

/* ------------------------------------------------------------------ kinds */

static double share_of(const struct network_sum *part, const struct network_sum *all)
{
    bool measured = all->measured_ns > 0;
    double whole = measured ? all->measured_ns : all->predicted_ns;
    return whole > 0 ? (measured ? part->measured_ns : part->predicted_ns) / whole : 0;
}

static void put_kind(const char *name, const struct network_sum *sum, const struct network_sum *all,
                     FILE *out)
{
    char calls[TEXT_SIZE], measured[TEXT_SIZE], predicted[TEXT_SIZE], low[TEXT_SIZE],
        high[TEXT_SIZE], line[TEXT_LINE_SIZE];
    fprintf(out, "  %8s  %10s  %10s  %10s  %10s  %5.1f %%  %s\n", text_count(sum->calls, calls),
            time_or_dash(sum->measured_ns, measured), time_or_dash(sum->predicted_ns, predicted),
            time_or_dash(sum->low_ns, low), time_or_dash(sum->high_ns, high),
            100 * share_of(sum, all), text_line(name, line));
}

static void put_kinds(const struct network_answer *answer, const struct network_kind *kinds,
                      int64_t count, const struct network_sum *all, FILE *out)
{
    struct network_sum rest = {0};
    fprintf(out, "\n  %8s  %10s  %10s  %10s  %10s  %7s  kind of operator\n", "calls", "measured",
            "predicted", "from", "to", "share");
    for (int64_t k = 0; k < count; k++) {
        if (k < answer->top) {
            put_kind(kinds[k].op_type, &kinds[k].sum, all, out);
            continue;
        }
        rest.calls += kinds[k].sum.calls;
        rest.predicted_ns += kinds[k].sum.predicted_ns;
        rest.low_ns += kinds[k].sum.low_ns;
        rest.high_ns += kinds[k].sum.high_ns;
        rest.measured_ns += kinds[k].sum.measured_ns;
    }
    if (count > answer->top) {
        char name[64];
        snprintf(name, sizeof name, "%lld kinds more", (long long)(count - answer->top));
        put_kind(name, &rest, all, out);
    }
}

/* ------------------------------------------------------------------ calls */

static void put_saving(const struct network_answer *answer, int64_t call, FILE *out)
{
    char best[TEXT_SIZE], saved[TEXT_SIZE];
    const char *verdict = network_verdict(answer, call);
    fprintf(out, "  %10s  %10s  %-10s", time_or_dash(answer->best_ns[call], best),
            time_or_dash(network_saved_ns(answer, call), saved), verdict ? verdict : "-");
}

static void put_call(const struct network_answer *answer, int64_t i, double whole_ns, FILE *out)
{
    const struct operator_call *call = &answer->network->calls[i];
    char count[TEXT_SIZE], measured[TEXT_SIZE], predicted[TEXT_SIZE], shapes[CALL_SHAPES_SIZE];
    char line[TEXT_LINE_SIZE];
    double all_ns = network_now_ns(answer, i) * (double)call->count;
    fprintf(out, "  %6d  %8s  %10s  %10s  %5.1f %%", call->line, text_count(call->count, count),
            time_or_dash(call->measured_ns, measured),
            time_or_dash(answer->times[i].predicted_ns, predicted),
            whole_ns > 0 ? 100 * all_ns / whole_ns : 0);
    if (answer->best_ns)
        put_saving(answer, i, out);
    fprintf(out, "  %s %s\n", text_line(call->op_type, line), network_shapes(call, shapes));
}

static enum status put_calls(const struct network_answer *answer, FILE *out, struct error *error)
{
    int64_t *order, count;
    double whole_ns = 0;
    TRY(network_order(answer, &order, &count, error));
    for (int64_t i = 0; i < count; i++)
        whole_ns +=
            network_now_ns(answer, order[i]) * (double)answer->network->calls[order[i]].count;
    fprintf(out, "\n  %s\n  %6s  %8s  %10s  %10s  %7s%s  operator\n",
            answer->best_ns ? "what the best tilings would save, most first; times of one call:"
                            : "what takes most; times of one call:",
            "line", "calls", "measured", "predicted", "share",
            answer->best_ns ? "        best       saved  verdict   " : "");
    for (int64_t i = 0; i < count && i < answer->top; i++)
        put_call(answer, order[i], whole_ns, out);
    if (answer->best_ns) {
        char saved[TEXT_SIZE], now[TEXT_SIZE];
        double saved_ns = 0;
        for (int64_t i = 0; i < count; i++)
            saved_ns += network_saved_ns(answer, order[i]);
        fprintf(out, "  saved in all: %s of %s\n", text_time(saved_ns, saved),
                text_time(whole_ns, now));
    }
    free(order);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ what is not covered */

static void put_uncovered(const struct network_answer *answer, FILE *out)
{
    char line[TEXT_LINE_SIZE], count[TEXT_SIZE], measured[TEXT_SIZE];
    int64_t rows = network_sum_of(answer, PART_UNCOVERED).rows, shown = 0;
    if (rows == 0)
        return;
    fprintf(out, "\n  not covered; times of all calls:\n");
    for (int64_t i = 0; i < answer->network->call_count && shown < answer->top; i++) {
        const struct operator_call *call = &answer->network->calls[i];
        if (!call->uncovered)
            continue;
        fprintf(out, "  %6d  %8s  %10s  %s: ", call->line, text_count(call->count, count),
                time_or_dash(call->measured_ns * (double)call->count, measured),
                text_line(call->op_type, line));
        fprintf(out, "%s\n", text_line(call->uncovered, line));
        shown++;
    }
    if (rows > shown)
        fprintf(out, "  and %s more\n", text_count(rows - shown, count));
}

static enum status put_lists(const struct network_answer *answer, const struct network_sum *all,
                             FILE *out, struct error *error)
{
    struct network_kind *kinds;
    int64_t count;
    TRY(network_kinds(answer, &kinds, &count, error));
    put_kinds(answer, kinds, count, all, out);
    free(kinds);
    return put_calls(answer, out, error);
}

enum status network_write_table(const struct network_answer *answer, const struct style *style,
                                FILE *out, struct error *error)
{
    struct network_sum all = network_sum_of(answer, PART_COVERED);
    put_head(answer, &all, style, out);
    if (answer->variant_count)
        network_put_variants(answer, out);
    else
        TRY(put_lists(answer, &all, out, error));
    put_uncovered(answer, out);
    if (answer->next) {
        fputs("\n  next         ", out);
        text_put_command(answer->next, TEXT_LABEL, style, out);
        fputc('\n', out);
    }
    return STATUS_OK;
}
