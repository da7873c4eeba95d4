/* The facts and tables of an answer, from the same struct as results/tune_table.c prints. Long
 * lists are cut, with a note where the rest is. */
#include "results/report_tune.h"

#include <math.h>

/* ------------------------------------------------------------------ the answer */

static void add_rate(json_t *facts, const struct tune_answer *a, const struct found *found)
{
    char rate[TEXT_SIZE], most[TEXT_SIZE];
    double gflops = tune_gflops(a, found_ns(found)), peak = tune_peak_gflops(a, found);
    if (!isfinite(gflops))
        return;
    if (peak > 0)
        report_fact(facts, "rate", "%s, %.1f %% of %s", text_rate(gflops, rate),
                    100 * gflops / peak, text_rate(peak, most));
    else
        report_fact(facts, "rate", "%s", text_rate(gflops, rate));
}

static void add_best(json_t *facts, const struct tune_answer *a, const struct found *found)
{
    char tiling[TILING_TEXT_SIZE], text[TEXT_SIZE];
    const struct space *space = a->space;
    struct share most = found_bottleneck(space->hw, found);
    const struct host_candidate *measured = tune_measured_of(a, found);
    bool is_host = space->hw->host;
    tiling_text(space->axes, space->axis_count, &found->tiling, tiling, sizeof tiling);
    report_fact(facts, "tiling", "%s", tiling);
    report_fact(facts, is_host ? "time by the model" : "simulated time", "%s on %d %s%s",
                text_time(found_ns(found), text), found->cores_used, is_host ? "thread" : "core",
                found->cores_used == 1 ? "" : "s");
    if (!is_host)
        report_fact(facts,
                    found_launches(space, found) > 1 ? "launches, in this time"
                                                     : "launch, in this time",
                    "%s", text_time(found_launch_ns(space, found), text));
    if (tune_measured_ns(measured) > 0)
        report_fact(facts, "measured time", "%s, spread %.2f %%",
                    text_time(tune_measured_ns(measured), text),
                    100 * measured->measured.timing.spread);
    add_rate(facts, a, found);
    report_fact(facts, "busiest", "%s, %.1f %% of the time", most.name, 100 * most.share);
    report_fact(facts, "lower bound of this tiling", "%s",
                text_time((double)found->bound_fs / FS_PER_NS, text));
    report_fact(facts, "roofline of the problem", "%s", text_time(tune_roofline_ns(a), text));
}

static void add_proof(json_t *facts, const struct tune_answer *a)
{
    char all[TEXT_SIZE], legal[TEXT_SIZE], pruned[TEXT_SIZE], played[TEXT_SIZE];
    char cores[2 * TEXT_SIZE];
    report_fact(facts, "search", "%s tilings%s, %s of them %slegal: %s ruled out by a bound, %s %s",
                text_count(a->search->candidates, all), tune_core_counts_text(a, cores),
                text_count(a->search->feasible, legal), a->search->unasked ? "known to be " : "",
                text_count(a->search->pruned, pruned), text_count(a->search->simulated, played),
                a->space->hw->host ? "timed by the model" : "simulated");
    if (!tune_best(a))
        return;
    if (tune_is_optimal(a))
        report_fact(facts, "proof", "no tiling of the space is faster");
    else if (a->chosen)
        report_fact(facts, "chosen", "%s; the fastest may be %.2f %% faster", a->chosen,
                    100 * tune_gap(a));
    else
        report_fact(facts, "proof", "none: the fastest may be up to %.2f %% faster",
                    100 * tune_gap(a));
}

static void add_answer(struct report *report, const struct tune_answer *a)
{
    char text[TUNE_REASON_SIZE];
    const char *reason = tune_reason(a, text);
    const struct found *best = tune_best(a);
    json_t *facts = report_facts("Answer");
    if (best)
        add_best(facts, a, best);
    else
        report_fact(facts, "tiling", "none is legal%s%s", reason ? ": " : "", reason ? reason : "");
    add_proof(facts, a);
    report_add(report, facts);
}

/* ------------------------------------------------------------------ the best */

static bool has_measured(const struct tune_answer *a)
{
    return a->measured && a->measured->tune.count;
}

static void add_columns(json_t *table, const struct tune_answer *a)
{
    report_column(table, "rank", NULL);
    for (int i = 0; i < a->space->axis_count; i++)
        report_column(table, a->space->axes[i].name, NULL);
    report_column(table, a->space->hw->host ? "time by the model" : "simulated time", "ns");
    if (has_measured(a))
        report_column(table, "measured time", "ns");
    report_column(table, "lower bound", "ns");
    report_column(table, "GFLOP/s", NULL);
    report_column(table, "busiest", NULL);
    report_column(table, "its share", "share");
}

static void add_row(json_t *table, const struct tune_answer *a, int rank, const struct found *found)
{
    json_t *cells = report_row(table);
    double measured_ns = tune_measured_ns(tune_measured_of(a, found));
    struct share most = found_bottleneck(a->space->hw, found);
    json_array_append_new(cells, json_integer(rank));
    for (int i = 0; i < a->space->axis_count; i++)
        json_array_append_new(cells, axis_value_json(&a->space->axes[i], found->tiling.value[i]));
    json_array_append_new(cells, json_real(found_ns(found)));
    if (has_measured(a))
        json_array_append_new(cells, json_number_above_0(measured_ns));
    json_array_append_new(cells, json_real((double)found->bound_fs / FS_PER_NS));
    json_array_append_new(cells, json_number(tune_gflops(a, found_ns(found))));
    json_array_append_new(cells, json_string(most.name));
    json_array_append_new(cells, json_real(most.share));
}

enum { MOST_ROWS = 1000 };

static void add_table(struct report *report, const struct tune_answer *a)
{
    char title[64], note[96];
    int count = a->search->count, shown = count < MOST_ROWS ? count : MOST_ROWS;
    snprintf(title, sizeof title, count > 1 ? "The %d fastest tilings" : "The fastest tiling",
             count);
    snprintf(note, sizeof note, "The first %d of them; --format csv has all.", shown);
    json_t *table = report_table(title, shown < count ? note : NULL);
    add_columns(table, a);
    for (int i = 0; i < shown; i++)
        add_row(table, a, i + 1, &a->search->best[i]);
    report_add(report, table);
}

void report_tune(struct report *report, const struct tune_answer *answer)
{
    add_answer(report, answer);
    if (answer->search->count)
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
