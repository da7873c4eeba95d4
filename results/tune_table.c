/* The answer for people, from what matters most to what matters least: the tiling and its time,
 * where the time goes, how the search came to it and what it proves, then the runners-up. Texts
 * that change from run to run have lines of their own. */
#include "results/outline.h"
#include "results/tune.h"

#include <string.h>

enum { TOP_COLUMNS = 45, LINE_SIZE = 128 }; /* columns before a tiling of the top list */

struct share tune_bottleneck(const struct tune_answer *answer, const struct tune_row *row)
{
    const struct hardware *hw = answer->hw;
    struct share most = {hw->pipes[0].name, row->busy_ns[0], 0};
    for (int p = 1; p < hw->pipe_count; p++)
        if (row->busy_ns[p] > most.busy_ns)
            most = (struct share){hw->pipes[p].name, row->busy_ns[p], 0};
    for (int b = 0; b < hw->bus_count; b++)
        if (row->bus_ns[b] > most.busy_ns)
            most = (struct share){hw->buses[b].name, row->bus_ns[b], 0};
    most.share = most.busy_ns / row->time_ns;
    return most;
}

static void put_head(const struct tune_answer *a, const struct style *style, FILE *out)
{
    fprintf(out, "%s%s %s%s in %s on %s, %d %s%s, space %s\n", style->bold, a->op, a->shape_text,
            style->end, dtype_name(a->type), a->hw->name, a->cores,
            a->on_processor ? "thread" : "core", a->cores == 1 ? "" : "s", a->space);
    text_put_hardware(a->hw, style, out);
}

static void put_chip_time(const struct tune_answer *a, const struct tune_row *row,
                          const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], launch[TEXT_SIZE], bound[TEXT_SIZE], roofline[TEXT_SIZE];
    char launches[TEXT_SIZE], rate[TEXT_SIZE], most[TEXT_SIZE];
    double gflops = row->operations / row->time_ns;
    double peak = hardware_matrix_peak(a->hw, a->type) / 1e9 * a->cores;
    bool many = row->launches > 1;
    text_put_line("time", style, out, "%s%s%s  simulated, on %d core%s; %s of it %s%s%s",
                  style->bold, text_time(row->time_ns, time), style->end, row->cores_used,
                  row->cores_used == 1 ? "" : "s", text_time(row->launch_ns, launch),
                  many ? "are " : "is the launch",
                  many ? text_count((int64_t)row->launches, launches) : "",
                  many ? " launches, one a tile" : "");
    if (peak > 0)
        text_put_line("rate", style, out, "%s, %.1f %% of the %s that %d core%s can do",
                      text_rate(gflops, rate), 100 * gflops / peak, text_rate(peak, most), a->cores,
                      a->cores == 1 ? "" : "s");
    text_put_line("lower bound", style, out, "%s for this tiling; roofline of the problem %s",
                  text_time(row->lower_bound_ns, bound), text_time(a->roofline_ns, roofline));
}

/* The time and rate of a processor's tiling: by its clock where it was measured. */
static void put_processor_time(const struct tune_answer *a, const struct tune_row *row,
                               const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], rate[TEXT_SIZE], most[TEXT_SIZE];
    char roofline[TEXT_SIZE];
    const struct tune_measured *m = tune_measured_of(a, row);
    bool measured = m && m->measured_ns > 0;
    double ns = measured ? m->measured_ns : row->time_ns, gflops = row->operations / ns;
    const char *how = measured ? "measured" : "by the model";
    char model[LINE_SIZE] = "", peak[LINE_SIZE] = "";
    if (measured)
        snprintf(model, sizeof model, ", spread %.2f %%; the model says %s, %+.1f %%",
                 100 * m->spread, text_time(row->time_ns, time), 100 * (row->time_ns / ns - 1));
    if (a->peak_gflops > 0)
        snprintf(peak, sizeof peak, ", %.1f %% of the %s that %d thread%s can do",
                 100 * gflops / a->peak_gflops, text_rate(a->peak_gflops, most), a->cores,
                 a->cores == 1 ? "" : "s");
    text_put_line("time", style, out, "%s%s%s  %s, on %d thread%s%s", style->bold,
                  text_time(ns, time), style->end, how, row->cores_used,
                  row->cores_used == 1 ? "" : "s", model);
    text_put_line("rate", style, out, "%s %s%s", text_rate(gflops, rate), how, peak);
    text_put_line("lower bound", style, out, "roofline of the problem %s",
                  text_time(a->roofline_ns, roofline));
}

void tune_write_time(const struct tune_answer *a, const struct tune_row *row,
                     const struct style *style, FILE *out)
{
    (a->on_processor ? put_processor_time : put_chip_time)(a, row, style, out);
}

static void put_best(const struct tune_answer *a, const struct tune_row *row,
                     const struct style *style, FILE *out)
{
    char text[512];
    tiling_text(a->axes, a->axis_count, &row->tiling, text, sizeof text);
    fprintf(out, "  tiling       %s%s%s\n", style->bold, text, style->end);
    tune_write_time(a, row, style, out);
    fputc('\n', out);
}

static void put_share(const char *name, double busy_ns, double time_ns, bool busiest,
                      const struct style *style, FILE *out)
{
    char bar[TEXT_SIZE];
    fprintf(out, "  %-12s %s%s%s %5.1f %%%s\n", name, busiest ? style->warn : "",
            text_bar(busy_ns / time_ns, bar), busiest ? style->end : "", 100 * busy_ns / time_ns,
            busiest ? "  busiest" : "");
}

void tune_write_shares(const struct tune_answer *a, const struct tune_row *row,
                       const struct style *style, FILE *out)
{
    const char *busiest = tune_bottleneck(a, row).name;
    fprintf(out, a->on_processor ? "  where the time goes, by the model\n"
                                 : "  busy share of the time\n");
    for (int p = 0; p < a->hw->pipe_count; p++)
        put_share(a->hw->pipes[p].name, row->busy_ns[p], row->time_ns,
                  a->hw->pipes[p].name == busiest, style, out);
    for (int b = 0; b < a->hw->bus_count; b++)
        put_share(a->hw->buses[b].name, row->bus_ns[b], row->time_ns,
                  a->hw->buses[b].name == busiest, style, out);
}

const char *tune_core_counts_text(const struct tune_answer *a, char text[2 * TEXT_SIZE])
{
    const size_t size = (size_t)2 * TEXT_SIZE;
    int count = a->core_count_count;
    long long least = count ? (long long)a->core_counts[0] : 0;
    long long most = count ? (long long)a->core_counts[count - 1] : 0;
    text[0] = 0;
    if (count == 1)
        snprintf(text, size, " on %lld core%s", most, most == 1 ? "" : "s");
    else if (count == 2)
        snprintf(text, size, " on %lld or %lld cores", least, most);
    else if (count && most - least + 1 == count)
        snprintf(text, size, " on %lld to %lld cores", least, most);
    else if (count)
        snprintf(text, size, " on %d numbers of cores up to %lld", count, most);
    return text;
}

/* What was cut short does not know of all tilings whether they are legal. */
static void put_legal(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char all[TEXT_SIZE], none[TEXT_SIZE], legal[TEXT_SIZE], cores[2 * TEXT_SIZE];
    text_count(a->candidates, all);
    text_count(a->candidates - a->feasible, none);
    text_count(a->feasible, legal);
    tune_core_counts_text(a, cores);
    if (a->cut_short)
        text_put_line("search", style, out, "%s tilings%s: %s are known to be legal", all, cores,
                      legal);
    else
        text_put_line("search", style, out, "%s tilings%s: %s break a limit, %s are legal", all,
                      cores, none, legal);
}

static void put_nothing(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char label[LINE_SIZE];
    snprintf(label, sizeof label, "%s%s%s", style->warn, a->cut_short ? "cut short" : "none legal",
             style->end);
    if (a->cut_short)
        text_put_line(label, style, out, "before any was simulated");
    else if (a->reason)
        text_put_line(label, style, out, "not even the smallest tiling fits: %s", a->reason);
    else
        text_put_line(label, style, out, "`autotune explain` says which limit one breaks");
}

/* "11 to 187,480 tilings within 1 %". */
static const char *within_text(int64_t surely, int64_t at_most, double share, char text[LINE_SIZE])
{
    char n[2][TEXT_SIZE];
    bool open = at_most > surely;
    snprintf(text, LINE_SIZE, "%s%s%s tiling%s within %.3g %%", text_count(surely, n[0]),
             open ? " to " : "", open ? text_count(at_most, n[1]) : "", at_most == 1 ? "" : "s",
             100 * share);
    return text;
}

/* How the search came to its answer. Seconds and threads, which are never the same, have a line of
 * their own. */
static void put_effort(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char n[2][TEXT_SIZE];
    if (a->on_processor)
        text_put_line("", style, out, "all scored by the model");
    else
        text_put_line("", style, out, "%s discarded by %s, %s simulated",
                      text_count(a->pruned, n[0]),
                      a->discarded_count ? "bounds and inequalities" : "their lower bound",
                      text_count(a->simulated, n[1]));
    for (int i = 0; i < a->discarded_count; i++)
        text_put_line("", style, out, "%s of them (%.2f %% of the legal) by %s",
                      text_count(a->discarded[i].count, n[1]),
                      a->feasible ? 100.0 * (double)a->discarded[i].count / (double)a->feasible
                                  : 0.0,
                      a->discarded[i].title);
    text_put_line("", style, out, "%.3f s, %d thread%s", a->seconds, a->threads,
                  a->threads == 1 ? "" : "s");
}

/* How good the answer is. A winner by measurement need not be the model's first. */
static void put_proof(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char bound[TEXT_SIZE], within[LINE_SIZE], label[LINE_SIZE];
    const struct tune_measured *winner = a->best ? tune_measured_of(a, a->best) : NULL;
    const char *verdict = a->optimal ? "optimal" : !a->best ? "none runs" : "cut short";
    bool open = !a->optimal && winner && !a->cut_short;
    snprintf(label, sizeof label, "%s%s%s", a->optimal ? style->good : style->warn, verdict,
             style->end);
    within_text(a->within_1_percent, a->within_1_percent_at_most, 0.01, within);
    text_time(a->lower_bound_ns, bound);
    if (a->optimal)
        text_put_line(label, style, out, "nothing in the space is faster%s; %s",
                      a->on_processor ? " by the model" : "", within);
    else if (open)
        text_put_line("", style, out,
                      "the fastest is number %lld of the model, whose first takes %s; %s",
                      (long long)winner->rank, bound, within);
    else if (!a->best)
        text_put_line(label, style, out, "all that were measured are in quarantine; %s", within);
    else
        text_put_line(label, style, out, "nothing is faster than %s: at most %.2f %% to gain; %s",
                      bound, 100 * a->gap, within);
    if (a->fit_error > 0)
        text_put_line(
            "", style, out, "%s, the error of the description's fit",
            within_text(a->within_fit_error, a->within_fit_error_at_most, a->fit_error, within));
}

static void put_search(const struct tune_answer *a, const struct style *style, FILE *out)
{
    if (a->from_store)
        fprintf(out, "  from store   searched before: --fresh searches again\n");
    put_legal(a, style, out);
    if (a->search_note)
        fprintf(out, "               %s\n", a->search_note);
    if (a->count == 0) {
        put_nothing(a, style, out);
        return;
    }
    put_effort(a, style, out);
    put_proof(a, style, out);
}

/* In lines of their own where one would not fit beside the rest. */
static bool tilings_fit(const struct tune_answer *a, const struct style *style)
{
    char text[512];
    size_t longest = 0;
    for (int i = 0; i < a->count; i++) {
        tiling_text(a->axes, a->axis_count, &a->rows[i].tiling, text, sizeof text);
        longest = strlen(text) > longest ? strlen(text) : longest;
    }
    return TOP_COLUMNS + (int)longest <= style->width;
}

static void put_top_row(const char *rank, const char *time, const char *slower, const char *busiest,
                        const char *tiling, bool fits, FILE *out)
{
    fprintf(out, "  %4s  %-10s %8s  ", rank, time, slower);
    fprintf(out, fits ? "%-12s  %s\n" : "%s\n        %s\n", busiest, tiling);
}

static void put_top(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char text[512], time[TEXT_SIZE], rank[TEXT_SIZE], slower[TEXT_SIZE];
    bool fit = tilings_fit(a, style);
    fputc('\n', out);
    put_top_row("rank", "time", "slower", "busiest", "tiling", fit, out);
    for (int i = 0; i < a->count; i++) {
        const struct tune_row *row = &a->rows[i];
        snprintf(rank, sizeof rank, "%d", i + 1);
        snprintf(slower, sizeof slower, "%.2f %%", 100 * (row->time_ns / a->rows[0].time_ns - 1));
        tiling_text(a->axes, a->axis_count, &row->tiling, text, sizeof text);
        put_top_row(rank, text_time(row->time_ns, time), slower, tune_bottleneck(a, row).name, text,
                    fit, out);
    }
}

enum status tune_write_table(const struct tune_answer *answer, const struct style *style, FILE *out,
                             struct error *error)
{
    put_head(answer, style, out);
    bool is_sample = answer->validation && answer->validation->is_sample;
    if (answer->best && !is_sample) {
        put_best(answer, answer->best, style, out);
        measured_write_table(answer, style, out);
        tune_write_shares(answer, answer->best, style, out);
        fputc('\n', out);
    } else if (answer->validation) {
        measured_write_table(answer, style, out);
    }
    put_search(answer, style, out);
    if (answer->top > 1 && answer->count)
        put_top(answer, style, out);
    if (answer->details)
        outline_write(answer->details, style, out);
    if (answer->next && answer->best) {
        fputs("\n  next         ", out);
        text_put_command(answer->next, TEXT_LABEL, style, out);
        fputc('\n', out);
    }
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}
