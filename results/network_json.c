/* A network's answer for machines: JSON, one object a row of the file in its order, and CSV
 * (results/network.h). */
#include "results/network_variants.h"

#include "formats/csv.h"
#include "formats/json.h"

#include <stdlib.h>

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
        json_object_set_new(document, "what_if", network_variants_json(answer));
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
        network_put_variants_csv(answer, out);
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
