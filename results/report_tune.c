#include "results/report_tune.h"

#include <string.h>

/* ------------------------------------------------------------------ the answer */

static void add_rate(json_t *facts, const struct tune_answer *a, const struct tune_row *row)
{
    char rate[TEXT_SIZE], most[TEXT_SIZE];
    double gflops = row->operations / row->time_ns;
    double peak =
        a->on_processor ? a->peak_gflops : hardware_matrix_peak(a->hw, a->type) / 1e9 * a->cores;
    if (peak > 0)
        report_fact(facts, "rate", "%s, %.1f %% of %s", text_rate(gflops, rate),
                    100 * gflops / peak, text_rate(peak, most));
    else
        report_fact(facts, "rate", "%s", text_rate(gflops, rate));
}

static void add_best(json_t *facts, const struct tune_answer *a, const struct tune_row *row)
{
    char tiling[512], text[TEXT_SIZE];
    struct share most = tune_bottleneck(a, row);
    const struct tune_measured *measured = tune_measured_of(a, row);
    tiling_text(a->axes, a->axis_count, &row->tiling, tiling, sizeof tiling);
    report_fact(facts, "tiling", "%s", tiling);
    report_fact(facts, a->on_processor ? "time by the model" : "simulated time", "%s on %d %s%s",
                text_time(row->time_ns, text), row->cores_used, a->on_processor ? "thread" : "core",
                row->cores_used == 1 ? "" : "s");
    if (!a->on_processor)
        report_fact(facts, row->launches > 1 ? "launches, in this time" : "launch, in this time",
                    "%s", text_time(row->launch_ns, text));
    if (measured && measured->measured_ns > 0)
        report_fact(facts, "measured time", "%s, spread %.2f %%",
                    text_time(measured->measured_ns, text), 100 * measured->spread);
    add_rate(facts, a, row);
    report_fact(facts, "busiest", "%s, %.1f %% of the time", most.name, 100 * most.share);
    report_fact(facts, "lower bound of this tiling", "%s", text_time(row->lower_bound_ns, text));
    report_fact(facts, "roofline of the problem", "%s", text_time(a->roofline_ns, text));
}

static void add_proof(json_t *facts, const struct tune_answer *a)
{
    char all[TEXT_SIZE], legal[TEXT_SIZE], pruned[TEXT_SIZE], played[TEXT_SIZE];
    char cores[2 * TEXT_SIZE];
    report_fact(facts, "search", "%s tilings%s, %s of them legal: %s ruled out by a bound, %s %s",
                text_count(a->candidates, all), tune_core_counts_text(a, cores),
                text_count(a->feasible, legal), text_count(a->pruned, pruned),
                text_count(a->simulated, played),
                a->on_processor ? "timed by the model" : "simulated");
    if (a->best && a->optimal)
        report_fact(facts, "proof", "no tiling of the space is faster");
    else if (a->best)
        report_fact(facts, "proof", "none: the fastest may be up to %.2f %% faster", 100 * a->gap);
}

static void add_answer(struct report *report, const struct tune_answer *a)
{
    json_t *facts = report_facts("Answer");
    if (a->best)
        add_best(facts, a, a->best);
    else
        report_fact(facts, "tiling", "none is legal%s%s", a->reason ? ": " : "",
                    a->reason ? a->reason : "");
    add_proof(facts, a);
    report_add(report, facts);
}

/* ------------------------------------------------------------------ the best */

static void add_columns(json_t *table, const struct tune_answer *a)
{
    report_column(table, "rank", NULL);
    for (int i = 0; i < a->axis_count; i++)
        report_column(table, a->axes[i].name, NULL);
    report_column(table, a->on_processor ? "time by the model" : "simulated time", "ns");
    if (a->measured_count)
        report_column(table, "measured time", "ns");
    report_column(table, "lower bound", "ns");
    report_column(table, "GFLOP/s", NULL);
    report_column(table, "busiest", NULL);
    report_column(table, "its share", "share");
}

static void add_row(json_t *table, const struct tune_answer *a, int rank,
                    const struct tune_row *row)
{
    char text[24];
    json_t *cells = report_row(table);
    const struct tune_measured *measured = tune_measured_of(a, row);
    struct share most = tune_bottleneck(a, row);
    json_array_append_new(cells, json_integer(rank));
    for (int i = 0; i < a->axis_count; i++)
        json_array_append_new(
            cells, a->axes[i].value_names
                       ? json_string(axis_value_text(&a->axes[i], row->tiling.value[i], text))
                       : json_integer(row->tiling.value[i]));
    json_array_append_new(cells, json_real(row->time_ns));
    if (a->measured_count)
        json_array_append_new(cells, measured && measured->measured_ns > 0
                                         ? json_real(measured->measured_ns)
                                         : json_null());
    json_array_append_new(cells, json_real(row->lower_bound_ns));
    json_array_append_new(cells, json_real(row->operations / row->time_ns));
    json_array_append_new(cells, json_string(most.name));
    json_array_append_new(cells, json_real(most.share));
}

enum { MOST_ROWS = 1000 };

static void add_table(struct report *report, const struct tune_answer *a)
{
    char title[64], note[96];
    int shown = a->count < MOST_ROWS ? a->count : MOST_ROWS;
    snprintf(title, sizeof title, a->count > 1 ? "The %d fastest tilings" : "The fastest tiling",
             a->count);
    snprintf(note, sizeof note, "The first %d of them; --format csv has all.", shown);
    json_t *table = report_table(title, shown < a->count ? note : NULL);
    add_columns(table, a);
    for (int i = 0; i < shown; i++)
        add_row(table, a, i + 1, &a->rows[i]);
    report_add(report, table);
}

void report_tune(struct report *report, const struct tune_answer *answer)
{
    add_answer(report, answer);
    if (answer->count)
        add_table(report, answer);
}

/* ------------------------------------------------------------------ provenance */

void report_hardware(struct report *report, const struct hardware *hw)
{
    json_t *table = report_table("Numbers of the description, and where they are from", NULL);
    report_column(table, "number", NULL);
    report_column(table, "value", NULL);
    report_column(table, "source", NULL);
    for (size_t i = 0; i < hw->fact_count; i++) {
        json_t *cells = report_row(table);
        json_array_append_new(cells, json_text(hw->facts[i].key));
        json_array_append_new(cells, json_text(hw->facts[i].value));
        json_array_append_new(cells, json_text(hw->facts[i].source ? hw->facts[i].source : ""));
    }
    json_object_set_new(table, "folded", json_true());
    report_add(report, table);
}
