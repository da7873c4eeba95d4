/* Makes the sections of a network's page. A cell of the treemap is a call with the time of all its
 * calls; those beyond the first MOST_ROWS are one cell together, so that a page stays small. */
#include "results/report_network.h"

#include "formats/json.h"

#include <stdlib.h>

enum { MOST_ROWS = 1000 };

/* ------------------------------------------------------------------ the step */

const char *network_lead(const struct network_answer *answer, char text[NETWORK_LEAD_SIZE])
{
    char predicted[TEXT_SIZE], low[TEXT_SIZE], high[TEXT_SIZE], time[TEXT_SIZE];
    struct network_sum sum = network_sum_of(answer, PART_COVERED);
    struct network_saving all = network_saving(answer);
    int used =
        snprintf(text, NETWORK_LEAD_SIZE, "A step is predicted to take %s (%s to %s)",
                 text_time(answer->total.predicted_ns, predicted),
                 text_time(answer->total.low_ns, low), text_time(answer->total.high_ns, high));
    if (sum.measured_ns > 0)
        used += snprintf(text + used, NETWORK_LEAD_SIZE - (size_t)used, ", and was measured at %s",
                         text_time(sum.measured_ns, time));
    if (answer->tuned && all.now_ns > 0)
        snprintf(text + used, NETWORK_LEAD_SIZE - (size_t)used,
                 "; the best tilings would save %s of it, %.1f %%", text_time(all.saved_ns, time),
                 100 * all.saved_ns / all.now_ns);
    return text;
}

static void add_facts(struct report *report, const struct network_answer *answer)
{
    struct network_line lines[NETWORK_LINES];
    struct network_sum covered = network_sum_of(answer, PART_COVERED);
    struct network_sum uncovered = network_sum_of(answer, PART_UNCOVERED);
    struct network_saving all = network_saving(answer);
    char calls[TEXT_SIZE], rows[TEXT_SIZE], time[TEXT_SIZE];
    int count = network_lines(answer, lines);
    json_t *facts = report_facts("The step");
    for (int i = 0; i < count; i++)
        report_fact(facts, lines[i].name, "%s", lines[i].text);
    if (answer->tuned)
        report_fact(facts, "saved", "%s by the best tilings", text_time(all.saved_ns, time));
    report_fact(facts, "covered", "%s calls of %s operators", text_count(covered.calls, calls),
                text_count(covered.rows, rows));
    if (uncovered.rows)
        report_fact(facts, "not covered", "%s calls of %s operators%s%s, in no total",
                    text_count(uncovered.calls, calls), text_count(uncovered.rows, rows),
                    uncovered.measured_ns > 0 ? ", measured at " : "",
                    uncovered.measured_ns > 0 ? text_time(uncovered.measured_ns, time) : "");
    report_add(report, facts);
}

/* ------------------------------------------------------------------ calls */

/* Of the rows of a table: those that stand in it with --tune only. */
struct column {
    const char *name, *unit;
    bool of_tune;
};

static void add_columns(json_t *table, const struct column *columns, bool tuned)
{
    for (const struct column *c = columns; c->name; c++)
        if (tuned || !c->of_tune)
            report_column(table, c->name, c->unit);
}

static json_t *text_or_null(const char *text)
{
    return text ? json_text(text) : json_null();
}

static void add_call(json_t *table, const struct network_answer *answer, int64_t i, double whole_ns)
{
    const struct operator_call *call = &answer->network->calls[i];
    const struct operator_time *time = &answer->times[i];
    char shapes[CALL_SHAPES_SIZE];
    json_t *cells = report_row(table);
    double now_ns = network_all_now_ns(answer, i);
    json_array_append_new(cells, json_text(call->op_type));
    json_array_append_new(cells, json_real(whole_ns > 0 ? now_ns / whole_ns : 0));
    json_array_append_new(cells, json_real(now_ns));
    if (answer->tuned) {
        json_array_append_new(cells, json_number_above_0(network_saved_ns(answer, i)));
        json_array_append_new(cells, text_or_null(network_verdict(answer, i)));
    }
    json_array_append_new(cells, json_integer(call->count));
    json_array_append_new(cells, json_number_above_0(call->measured_ns));
    json_array_append_new(cells, json_number_above_0(time->predicted_ns));
    json_array_append_new(cells, json_number_above_0(time->low_ns));
    json_array_append_new(cells, json_number_above_0(time->high_ns));
    if (answer->tuned)
        json_array_append_new(cells, json_number_above_0(network_tuned_of(answer, i).best_ns));
    json_array_append_new(cells, json_text(network_shapes(call, shapes)));
    json_array_append_new(cells, text_or_null(call->name));
    json_array_append_new(cells, json_integer(call->line));
}

/* [kind, what it is, time of all calls, what the best tiling saves of it, verdict]; the kind is
 * null of those that are too many. */
static json_t *treemap_cells(const struct network_answer *answer, const int64_t *order,
                             int64_t count)
{
    char text[CALL_SHAPES_SIZE];
    double rest_ns = 0, rest_saved_ns = 0;
    json_t *cells = json_array();
    for (int64_t i = 0; i < count; i++) {
        const struct operator_call *call = &answer->network->calls[order[i]];
        double now_ns = network_all_now_ns(answer, order[i]);
        double saved_ns = network_saved_ns(answer, order[i]);
        rest_ns += i < MOST_ROWS ? 0 : now_ns;
        rest_saved_ns += i < MOST_ROWS ? 0 : saved_ns;
        if (i < MOST_ROWS)
            json_array_append_new(cells,
                                  json_pack("[o, o, f, f, o]", json_text(call->op_type),
                                            json_text(network_shapes(call, text)), now_ns, saved_ns,
                                            text_or_null(network_verdict(answer, order[i]))));
    }
    if (count > MOST_ROWS) {
        snprintf(text, sizeof text, "%lld operators more", (long long)(count - MOST_ROWS));
        json_array_append_new(cells, json_pack("[n, s, f, f, n]", text, rest_ns, rest_saved_ns));
    }
    return cells;
}

static const char *what_is_known(const struct network_answer *answer)
{
    int64_t measured = 0, calls = 0;
    for (int64_t i = 0; i < answer->network->call_count; i++)
        if (!answer->network->calls[i].uncovered) {
            measured += answer->network->calls[i].measured_ns > 0;
            calls++;
        }
    return measured == calls ? "measured" : measured ? "measured or else predicted" : "predicted";
}

static json_t *calls_table(const struct network_answer *answer, const int64_t *order, int64_t count)
{
    static const struct column columns[] = {
        {"operator", NULL, false}, {"of the time", "bar", false}, {"all calls", "ns", false},
        {"saved", "ns", true},     {"verdict", NULL, true},       {"calls", "count", false},
        {"measured", "ns", false}, {"predicted", "ns", false},    {"from", "ns", false},
        {"to", "ns", false},       {"best", "ns", true},          {"tensors", NULL, false},
        {"name", NULL, false},     {"line", NULL, false},         {NULL, NULL, false}};
    char note[320];
    bool tuned = answer->tuned;
    double whole_ns = network_saving(answer).now_ns;
    snprintf(note, sizeof note,
             "An area is the time of all calls of an operator, %s.%s Measured, predicted%s: times "
             "of one call.%s",
             what_is_known(answer),
             tuned ? " The hatched part of it is what the best tiling would save." : "",
             tuned ? " and best" : "",
             count > MOST_ROWS ? " The table has the first 1,000; --format csv has all." : "");
    json_t *table = report_table(
        tuned ? "Where the time goes, and what tilings would save" : "Where the time goes", note);
    add_columns(table, columns, tuned);
    for (int64_t i = 0; i < count && i < MOST_ROWS; i++)
        add_call(table, answer, order[i], whole_ns);
    return table;
}

static enum status add_calls(struct report *report, const struct network_answer *answer,
                             struct error *error)
{
    struct network_answer by_time = *answer; /* whatever is saved */
    int64_t *order, count;
    TRY(network_order(answer, &order, &count, error));
    json_t *table = calls_table(answer, order, count);
    free(order);
    by_time.tuned = NULL;
    enum status status = network_order(&by_time, &order, &count, error);
    if (status != STATUS_OK) {
        json_decref(table);
        return status;
    }
    json_object_set_new(table, "kind", json_string("treemap"));
    json_object_set_new(table, "tuned", json_boolean(answer->tuned));
    json_object_set_new(table, "cells", treemap_cells(answer, order, count));
    free(order);
    report_add(report, table);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ kinds and the rest */

static enum status add_kinds(struct report *report, const struct network_answer *answer,
                             struct error *error)
{
    static const struct column columns[] = {
        {"kind", NULL, false},      {"of the time", "bar", false},
        {"calls", "count", false},  {"measured", "ns", false},
        {"predicted", "ns", false}, {"from", "ns", false},
        {"to", "ns", false},        {NULL, NULL, false}};
    struct network_kind *kinds;
    int64_t count;
    struct network_sum all = network_sum_of(answer, PART_COVERED);
    TRY(network_kinds(answer, &kinds, &count, error));
    json_t *table = report_table(
        "Kinds of operators", "Times of all calls, those that take most first; an interval is made "
                              "to hold four of five.");
    json_object_set_new(table, "kind", json_string("spans"));
    add_columns(table, columns, false);
    for (int64_t k = 0; k < count && k < MOST_ROWS; k++) {
        const struct network_sum *sum = &kinds[k].sum;
        json_t *cells = report_row(table);
        json_array_append_new(cells, json_text(kinds[k].op_type));
        json_array_append_new(cells, json_real(network_share(sum, &all)));
        json_array_append_new(cells, json_integer(sum->calls));
        json_array_append_new(cells, json_number_above_0(sum->measured_ns));
        json_array_append_new(cells, json_number_above_0(sum->predicted_ns));
        json_array_append_new(cells, json_number_above_0(sum->low_ns));
        json_array_append_new(cells, json_number_above_0(sum->high_ns));
    }
    free(kinds);
    report_add(report, table);
    return STATUS_OK;
}

static void add_uncovered(struct report *report, const struct network_answer *answer)
{
    static const struct column columns[] = {{"operator", NULL, false}, {"why", NULL, false},
                                            {"calls", "count", false}, {"measured", "ns", false},
                                            {"name", NULL, false},     {"line", NULL, false},
                                            {NULL, NULL, false}};
    int64_t rows = network_sum_of(answer, PART_UNCOVERED).rows, shown = 0;
    if (rows == 0)
        return;
    json_t *table =
        report_table("Not covered", rows > MOST_ROWS ? "Times of all calls; the first 1,000."
                                                     : "Times of all calls; they are in no total.");
    add_columns(table, columns, false);
    for (int64_t i = 0; i < answer->network->call_count && shown < MOST_ROWS; i++) {
        const struct operator_call *call = &answer->network->calls[i];
        if (!call->uncovered)
            continue;
        json_t *cells = report_row(table);
        json_array_append_new(cells, json_text(call->op_type));
        json_array_append_new(cells, json_text(call->uncovered));
        json_array_append_new(cells, json_integer(call->count));
        json_array_append_new(cells, json_number_above_0(call->measured_ns * (double)call->count));
        json_array_append_new(cells, text_or_null(call->name));
        json_array_append_new(cells, json_integer(call->line));
        shown++;
    }
    report_add(report, table);
}

enum status report_network(struct report *report, const struct network_answer *answer,
                           struct error *error)
{
    add_facts(report, answer);
    if (network_sum_of(answer, PART_COVERED).rows) {
        TRY(add_calls(report, answer, error));
        TRY(add_kinds(report, answer, error));
    }
    add_uncovered(report, answer);
    return STATUS_OK;
}
