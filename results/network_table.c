/* A network's answer for people: the totals, the kinds that take most, the calls that take most or
 * would save most, and what nothing is predicted of (results/network.h). */
#include "results/network_variants.h"

#include <stdlib.h>

static void put_head(const struct network_answer *answer, const struct network_sum *all,
                     const struct style *style, FILE *out)
{
    char line[TEXT_LINE_SIZE], rows[TEXT_SIZE], calls[TEXT_SIZE];
    struct network_line lines[NETWORK_LINES];
    int count = network_lines(answer, lines);
    fprintf(out, "%s%s%s on %s: %s calls of %s operators\n", style->bold,
            text_line(answer->file, line), style->end, answer->hw->name,
            text_count(all->calls, calls), text_count(all->rows, rows));
    text_put_hardware_lines(answer->hw, style, out);
    for (int i = 0; i < count; i++)
        text_put_line(lines[i].name, style, out, "%s", lines[i].text);
}

/* ------------------------------------------------------------------ kinds */

static const char *time_or_dash(double ns, char text[TEXT_SIZE])
{
    return ns > 0 ? text_time(ns, text) : "-";
}

static void put_kind(const char *name, const struct network_sum *sum, const struct network_sum *all,
                     FILE *out)
{
    char calls[TEXT_SIZE], measured[TEXT_SIZE], predicted[TEXT_SIZE], low[TEXT_SIZE],
        high[TEXT_SIZE], line[TEXT_LINE_SIZE];
    fprintf(out, "  %8s  %10s  %10s  %10s  %10s  %5.1f %%  %s\n", text_count(sum->calls, calls),
            time_or_dash(sum->measured_ns, measured), time_or_dash(sum->predicted_ns, predicted),
            time_or_dash(sum->low_ns, low), time_or_dash(sum->high_ns, high),
            100 * network_share(sum, all), text_line(name, line));
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
    char best[TEXT_SIZE], saved[TEXT_SIZE], at_most[TEXT_SIZE + 2];
    const char *verdict = network_verdict(answer, call);
    snprintf(at_most, sizeof at_most, "%s%s", answer->tuned[call].gap > 0 ? "<=" : "",
             time_or_dash(answer->tuned[call].best_ns, best));
    fprintf(out, "  %10s  %10s  %-10s", at_most,
            time_or_dash(network_saved_ns(answer, call), saved), verdict ? verdict : "-");
}

static void put_call(const struct network_answer *answer, int64_t i, double whole_ns, FILE *out)
{
    const struct operator_call *call = &answer->network->calls[i];
    char count[TEXT_SIZE], measured[TEXT_SIZE], predicted[TEXT_SIZE], shapes[CALL_SHAPES_SIZE];
    char line[TEXT_LINE_SIZE];
    double all_ns = network_all_now_ns(answer, i);
    fprintf(out, "  %6d  %8s  %10s  %10s  %5.1f %%", call->line, text_count(call->count, count),
            time_or_dash(call->measured_ns, measured),
            time_or_dash(answer->times[i].predicted_ns, predicted),
            whole_ns > 0 ? 100 * all_ns / whole_ns : 0);
    if (answer->tuned)
        put_saving(answer, i, out);
    fprintf(out, "  %s %s\n", text_line(call->op_type, line), network_shapes(call, shapes));
}

static enum status put_calls(const struct network_answer *answer, FILE *out, struct error *error)
{
    int64_t *order, count;
    struct network_saving all = network_saving(answer);
    TRY(network_order(answer, &order, &count, error));
    fprintf(out, "\n  %s\n  %6s  %8s  %10s  %10s  %7s%s  operator\n",
            answer->tuned ? "what the best tilings would save, most first; times of one call:"
                          : "what takes most; times of one call:",
            "line", "calls", "measured", "predicted", "share",
            answer->tuned ? "        best       saved  verdict   " : "");
    for (int64_t i = 0; i < count && i < answer->top; i++)
        put_call(answer, order[i], all.now_ns, out);
    if (answer->tuned) {
        char saved[TEXT_SIZE], now[TEXT_SIZE];
        fprintf(out, "  saved in all: %s of %s\n", text_time(all.saved_ns, saved),
                text_time(all.now_ns, now));
    }
    free(order);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ what is left out */

static const char *why_uncovered(const struct network_answer *answer, int64_t call)
{
    return answer->network->calls[call].uncovered;
}

static const char *why_untuned(const struct network_answer *answer, int64_t call)
{
    return network_tuned_of(answer, call).why;
}

static void put_left_out(const struct network_answer *answer, const char *title,
                         const char *(*why)(const struct network_answer *answer, int64_t call),
                         FILE *out)
{
    char line[TEXT_LINE_SIZE], count[TEXT_SIZE], measured[TEXT_SIZE];
    int64_t rows = 0;
    for (int64_t i = 0; i < answer->network->call_count; i++) {
        const struct operator_call *call = &answer->network->calls[i];
        if (!why(answer, i) || ++rows > answer->top)
            continue;
        if (rows == 1)
            fprintf(out, "\n  %s; times of all calls:\n", title);
        fprintf(out, "  %6d  %8s  %10s  %s: ", call->line, text_count(call->count, count),
                time_or_dash(call->measured_ns * (double)call->count, measured),
                text_line(call->op_type, line));
        fprintf(out, "%s\n", text_line(why(answer, i), line));
    }
    if (rows > answer->top)
        fprintf(out, "  and %s more\n", text_count(rows - answer->top, count));
}

static enum status put_lists(const struct network_answer *answer, const struct network_sum *all,
                             FILE *out, struct error *error)
{
    struct network_kind *kinds;
    int64_t count;
    TRY(network_kinds(answer, &kinds, &count, error));
    put_kinds(answer, kinds, count, all, out);
    free(kinds);
    TRY(put_calls(answer, out, error));
    put_left_out(answer, "not tuned", why_untuned, out);
    return STATUS_OK;
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
    put_left_out(answer, "not covered", why_uncovered, out);
    if (answer->next) {
        fputs("\n  next         ", out);
        text_put_command(answer->next, TEXT_LABEL, style, out);
        fputc('\n', out);
    }
    return STATUS_OK;
}
