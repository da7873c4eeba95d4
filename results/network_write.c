/* A network's answer (results/network.h). For people: the totals, the kinds that take most, the
 * calls that take most or would save most, and what nothing is predicted of. For machines: JSON,
 * one object a row of the file in its order, and CSV. Of variants the front is that of V. Pareto,
 * found by comparing all with all, in cores, the step's time and the time of a sample: of one batch
 * the last two go together, and it is time against cores; on one chip it is latency against
 * throughput. */
#include "formats/csv.h"
#include "formats/json.h"
#include "results/network.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ the front */

/* Of a step of which the batch is not known, that of the step. */
static double sample_ns(const struct network_variant *variant)
{
    double samples = variant->batch > 0 ? (double)variant->batch : 1;
    return variant->total.predicted_ns / samples;
}

static double speedup(const struct network_answer *answer, const struct network_variant *variant)
{
    double ns = sample_ns(variant);
    return ns > 0 ? sample_ns(&answer->variants[0]) / ns : 0;
}

/* Is a nowhere worse than b, and somewhere better? */
static bool beats(const struct network_variant *a, const struct network_variant *b)
{
    double x = sample_ns(a), y = sample_ns(b);
    double s = a->total.predicted_ns, t = b->total.predicted_ns;
    return a->hw->cores <= b->hw->cores && s <= t && x <= y &&
           (a->hw->cores < b->hw->cores || s < t || x < y);
}

void network_mark_front(struct network_variant *variants, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        variants[i].is_front = true;
        for (int64_t j = 0; j < count && variants[i].is_front; j++)
            variants[i].is_front = !beats(&variants[j], &variants[i]);
    }
}

/* ------------------------------------------------------------------ tables of variants */

/* "cores=20 clock_mhz=900", cut to the size. Returns `text`. */
enum { CHANGES_SIZE = 512 };
static const char *list_changes(const struct network_variant *variant, char text[CHANGES_SIZE])
{
    size_t used = 0;
    *text = '\0';
    for (size_t i = 0; i < variant->hw->fact_count && used < CHANGES_SIZE; i++) {
        const struct fact *fact = &variant->hw->facts[i];
        if (fact_is_override(fact))
            used += (size_t)snprintf(text + used, CHANGES_SIZE - used, "%s%s=%s", used ? " " : "",
                                     fact->key, fact->value);
    }
    return text;
}

static void put_variant(const struct network_answer *answer, const struct network_variant *variant,
                        FILE *out)
{
    char batch[TEXT_SIZE], time[TEXT_SIZE], low[TEXT_SIZE], high[TEXT_SIZE], sample[TEXT_SIZE];
    char line[TEXT_LINE_SIZE], text[CHANGES_SIZE];
    bool known = variant->batch > 0;
    fprintf(out, "  %c %8s  %5d  %10s  %10s  %10s  %10s  %7.2fx  %-8s  %s",
            variant->is_front ? '*' : ' ', known ? text_count(variant->batch, batch) : "-",
            variant->hw->cores, text_time(variant->total.predicted_ns, time),
            text_time(variant->total.low_ns, low), text_time(variant->total.high_ns, high),
            known ? text_time(sample_ns(variant), sample) : "-", speedup(answer, variant),
            variant->total.is_learned ? "learned" : "expected", text_line(variant->hw->name, line));
    if (*list_changes(variant, text))
        fprintf(out, " %s", text_line(text, line));
    fputc('\n', out);
}

static void put_variants(const struct network_answer *answer, FILE *out)
{
    bool expected = false;
    fprintf(out,
            "\n  what if; first the step as it is:\n  %10s  %5s  %10s  %10s  %10s  %10s  %8s  "
            "%-8s  chip\n",
            "batch", "cores", "predicted", "from", "to", "a sample", "speed-up", "costs");
    for (int64_t i = 0; i < answer->variant_count; i++) {
        put_variant(answer, &answer->variants[i], out);
        expected |= !answer->variants[i].total.is_learned;
    }
    fputs("  * Pareto front: no other has as few cores, as short a step and as little time a "
          "sample\n",
          out);
    if (expected)
        fputs(
            "  expected: nothing was learned for the chip, and times are within a factor of two\n",
            out);
}

/* ------------------------------------------------------------------ variants for machines */

static void put_variants_csv(const struct network_answer *answer, FILE *out)
{
    char text[CHANGES_SIZE];
    fputs("batch,hardware,hardware_changes,cores,clock_mhz,predicted_us,low_us,high_us,sample_us,"
          "speedup,learned,"
          "pareto\n",
          out);
    for (int64_t i = 0; i < answer->variant_count; i++) {
        const struct network_variant *variant = &answer->variants[i];
        if (variant->batch > 0)
            fprintf(out, "%lld", (long long)variant->batch);
        fputc(',', out);
        csv_put(variant->hw->name, out);
        fputc(',', out);
        csv_put(list_changes(variant, text), out);
        fprintf(out, ",%d,%.9g,%.9g,%.9g,%.9g,", variant->hw->cores,
                (double)variant->hw->clock_hz / 1e6, variant->total.predicted_ns / 1e3,
                variant->total.low_ns / 1e3, variant->total.high_ns / 1e3);
        if (variant->batch > 0)
            fprintf(out, "%.9g", sample_ns(variant) / 1e3);
        fprintf(out, ",%.9g,%d,%d\n", speedup(answer, variant), variant->total.is_learned,
                variant->is_front);
    }
}

static json_t *variants_json(const struct network_answer *answer)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < answer->variant_count; i++) {
        const struct network_variant *variant = &answer->variants[i];
        bool known = variant->batch > 0;
        json_array_append_new(
            list,
            json_pack("{s:o, s:o, s:o, s:i, s:f, s:f, s:[f, f], s:o, s:f, s:b, s:b}", "batch",
                      known ? json_integer((json_int_t)variant->batch) : json_null(), "hardware",
                      json_text(variant->hw->name), "hardware_changes", overrides_json(variant->hw),
                      "cores", variant->hw->cores, "clock_mhz", (double)variant->hw->clock_hz / 1e6,
                      "total_us", variant->total.predicted_ns / 1e3, "interval_us",
                      variant->total.low_ns / 1e3, variant->total.high_ns / 1e3, "sample_us",
                      known ? json_real(sample_ns(variant) / 1e3) : json_null(), "speedup",
                      speedup(answer, variant), "learned", variant->total.is_learned, "pareto",
                      variant->is_front));
    }
    return list;
}

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
        put_variants(answer, out);
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

/* ------------------------------------------------------------------ JSON */

static json_t *interval_json(double low_ns, double high_ns)
{
    return json_pack("[f, f]", low_ns / 1e3, high_ns / 1e3);
}

static json_t *call_json(const struct network_answer *answer, int64_t i)
{
    const struct operator_call *call = &answer->network->calls[i];
    const struct operator_time *time = &answer->times[i];
    struct call_tuned tuned = network_tuned_of(answer, i);
    bool covered = !call->uncovered;
    return json_pack("{s:o, s:o, s:i, s:I, s:i, s:o, s:o, s:o, s:o, s:o, s:s?, s:s?, s:s?}",
                     "op_type", json_text(call->op_type), "name", json_text(call->name), "line",
                     call->line, "count", (json_int_t)call->count, "l_kind", (int)call->is_l_kind,
                     "predicted_us", json_number_above_0(time->predicted_ns / 1e3), "interval_us",
                     covered ? interval_json(time->low_ns, time->high_ns) : json_null(),
                     "measured_us", json_number_above_0(call->measured_ns / 1e3), "best_us",
                     json_number_above_0(tuned.best_ns / 1e3), "best_gap",
                     tuned.best_ns > 0 ? json_real(tuned.gap) : json_null(), "verdict",
                     network_verdict(answer, i), "not_tuned", tuned.why, "not_covered",
                     call->uncovered);
}

static json_t *sum_json(const struct network_sum *sum)
{
    bool measured = sum->measured_ns > 0;
    return json_pack("{s:I, s:I, s:f, s:o, s:o, s:o}", "rows", (json_int_t)sum->rows, "calls",
                     (json_int_t)sum->calls, "predicted_us", sum->predicted_ns / 1e3, "interval_us",
                     interval_json(sum->low_ns, sum->high_ns), "measured_us",
                     json_number_above_0(sum->measured_ns / 1e3), "absolute_error_us",
                     measured ? json_real(sum->error_ns / 1e3) : json_null());
}

static json_t *kinds_json(const struct network_kind *kinds, int64_t count)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < count; k++) {
        json_t *kind = sum_json(&kinds[k].sum);
        json_object_set_new(kind, "op_type", json_text(kinds[k].op_type));
        json_array_append_new(list, kind);
    }
    return list;
}

static json_t *graph_json(const struct network_answer *answer)
{
    if (!answer->subgraph)
        return json_null();
    return json_pack("{s:I, s:I, s:f, s:f, s:i}", "nodes", (json_int_t)answer->subgraph->node_count,
                     "edges", (json_int_t)answer->subgraph->edge_count, "sum_us",
                     answer->graph.sum_ns / 1e3, "longest_path_us", answer->graph.path_ns / 1e3,
                     "longest_path_nodes", answer->graph.path_length);
}

enum status network_write_json(const struct network_answer *answer, const struct style *style,
                               FILE *out, struct error *error)
{
    (void)style;
    struct network_kind *kinds;
    int64_t count;
    TRY(network_kinds(answer, &kinds, &count, error));
    json_t *calls = json_array(), *document = program_answer_json(answer->file, answer->hw);
    for (int64_t i = 0; i < answer->network->call_count; i++)
        json_array_append_new(calls, call_json(answer, i));
    struct network_sum all = network_sum_of(answer, PART_COVERED);
    struct network_sum l_kinds = network_sum_of(answer, PART_L_KINDS);
    struct network_sum uncovered = network_sum_of(answer, PART_UNCOVERED);
    json_object_update_new(
        document,
        json_pack("{s:f, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "total_us",
                  answer->total.predicted_ns / 1e3, "measured_us",
                  json_number_above_0(all.measured_ns / 1e3), "interval_us",
                  interval_json(answer->total.low_ns, answer->total.high_ns), "all", sum_json(&all),
                  "l_kinds", sum_json(&l_kinds), "not_covered", sum_json(&uncovered), "graph",
                  graph_json(answer), "kinds", kinds_json(kinds, count), "operators", calls));
    free(kinds);
    if (answer->variant_count)
        json_object_set_new(document, "what_if", variants_json(answer));
    return json_write(document, out, error);
}

/* ------------------------------------------------------------------ CSV */

static void put_number(double number, bool is_known, FILE *out)
{
    fputc(',', out);
    if (is_known)
        fprintf(out, "%.9g", number);
}

static void put_us(double ns, FILE *out)
{
    put_number(ns / 1e3, ns > 0, out);
}

static void put_text(const char *text, FILE *out)
{
    fputc(',', out);
    csv_put(text ? text : "", out);
}

enum status network_write_csv(const struct network_answer *answer, const struct style *style,
                              FILE *out, struct error *error)
{
    (void)style;
    (void)error;
    if (answer->variant_count) {
        put_variants_csv(answer, out);
        return STATUS_OK;
    }
    fputs("line,op_type,name,shapes,count,l_kind,predicted_us,low_us,high_us,measured_us,best_us,"
          "best_gap,saved_us,verdict,not_tuned,not_covered\n",
          out);
    for (int64_t i = 0; i < answer->network->call_count; i++) {
        const struct operator_call *call = &answer->network->calls[i];
        struct call_tuned tuned = network_tuned_of(answer, i);
        char shapes[CALL_SHAPES_SIZE];
        fprintf(out, "%d", call->line);
        put_text(call->op_type, out);
        put_text(call->name, out);
        put_text(network_shapes(call, shapes), out);
        fprintf(out, ",%lld,%d", (long long)call->count, call->is_l_kind);
        put_us(answer->times[i].predicted_ns, out);
        put_us(answer->times[i].low_ns, out);
        put_us(answer->times[i].high_ns, out);
        put_us(call->measured_ns, out);
        put_us(tuned.best_ns, out);
        put_number(tuned.gap, tuned.best_ns > 0, out);
        put_us(network_saved_ns(answer, i), out);
        put_text(network_verdict(answer, i), out);
        put_text(tuned.why, out);
        put_text(call->uncovered, out);
        fputc('\n', out);
    }
    return STATUS_OK;
}
