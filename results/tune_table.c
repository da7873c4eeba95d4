#include "results/outline.h"
#include "results/tune.h"

#include <string.h>

void tiling_text(const struct axis *axes, int axis_count, const struct tiling *tiling,
                 const char *separator, char *text, size_t size)
{
    char value[24];
    size_t used = 0;
    text[0] = 0;
    for (int a = 0; a < axis_count && used < size; a++)
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", a ? separator : "",
                                 axes[a].name, axis_value_text(&axes[a], tiling->value[a], value));
}

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

static void put_best(const struct tune_answer *a, const struct tune_row *row,
                     const struct style *style, FILE *out)
{
    char text[512], time[TEXT_SIZE], launch[TEXT_SIZE], bound[TEXT_SIZE], roofline[TEXT_SIZE];
    char launches[TEXT_SIZE];
    double gflops = row->operations / row->time_ns;
    double peak = hardware_matrix_peak(a->hw, a->type) / 1e9 * a->cores;
    tiling_text(a->axes, a->axis_count, &row->tiling, "  ", text, sizeof text);
    fprintf(out, "  tiling       %s%s%s\n", style->bold, text, style->end);
    fprintf(out, "  time         %s%s%s  simulated, on %d core%s; %s of it ", style->bold,
            text_time(row->time_ns, time), style->end, row->cores_used,
            row->cores_used == 1 ? "" : "s",
            text_time((double)a->hw->launch_fs / FS_PER_NS * row->launches, launch));
    if (row->launches > 1)
        fprintf(out, "are %s launches, one a tile\n", text_count((int64_t)row->launches, launches));
    else
        fputs("is the launch\n", out);
    if (peak > 0)
        fprintf(out,
                "  rate         %.*f GFLOP/s, %.1f %% of the %.1f GFLOP/s that %d core%s can do\n",
                gflops < 1 ? 6 : 1, gflops, 100 * gflops / peak, peak, a->cores,
                a->cores == 1 ? "" : "s");
    fprintf(out, "  lower bound  %s for this tiling; roofline of the problem %s\n\n",
            text_time(row->lower_bound_ns, bound), text_time(a->roofline_ns, roofline));
}

/* The time and rate of a processor's tiling: by its clock where it was measured. */
static void put_processor_time(const struct tune_answer *a, const struct tune_row *row,
                               const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], model[TEXT_SIZE];
    const struct tune_measured *m = tune_measured_of(a, row);
    bool measured = m && m->measured_ns > 0;
    double ns = measured ? m->measured_ns : row->time_ns, gflops = row->operations / ns;
    const char *how = measured ? "measured" : "by the model";
    fprintf(out, "  time         %s%s%s  %s, on %d thread%s", style->bold, text_time(ns, time),
            style->end, how, row->cores_used, row->cores_used == 1 ? "" : "s");
    if (measured)
        fprintf(out, ", spread %.2f %%; the model says %s, %+.1f %%", 100 * m->spread,
                text_time(row->time_ns, model), 100 * (row->time_ns / ns - 1));
    fprintf(out, "\n  rate         %.*f GFLOP/s %s", gflops < 1 ? 6 : 1, gflops, how);
    if (a->peak_gflops > 0)
        fprintf(out, ", %.1f %% of the %.1f GFLOP/s that %d thread%s can do",
                100 * gflops / a->peak_gflops, a->peak_gflops, a->cores, a->cores == 1 ? "" : "s");
    fputc('\n', out);
}

static void put_processor_best(const struct tune_answer *a, const struct tune_row *row,
                               const struct style *style, FILE *out)
{
    char text[512], roofline[TEXT_SIZE];
    tiling_text(a->axes, a->axis_count, &row->tiling, "  ", text, sizeof text);
    fprintf(out, "  tiling       %s%s%s\n", style->bold, text, style->end);
    put_processor_time(a, row, style, out);
    fprintf(out, "  lower bound  roofline of the problem %s\n\n",
            text_time(a->roofline_ns, roofline));
}

static void put_share(const char *name, double busy_ns, double time_ns, bool busiest,
                      const struct style *style, FILE *out)
{
    char bar[TEXT_SIZE];
    fprintf(out, "  %-12s %s%s%s %5.1f %%%s\n", name, busiest ? style->warn : "",
            text_bar(busy_ns / time_ns, bar), busiest ? style->end : "", 100 * busy_ns / time_ns,
            busiest ? "  busiest" : "");
}

static void put_shares(const struct tune_answer *a, const struct tune_row *row,
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
    fputc('\n', out);
}

const char *tune_core_counts_text(const struct tune_answer *a, char text[2 * TEXT_SIZE])
{
    int count = a->core_count_count;
    long long least = count ? (long long)a->core_counts[0] : 0;
    long long most = count ? (long long)a->core_counts[count - 1] : 0;
    text[0] = 0;
    if (count == 1)
        snprintf(text, 2 * TEXT_SIZE, " on %lld core%s", most, most == 1 ? "" : "s");
    else if (count == 2)
        snprintf(text, 2 * TEXT_SIZE, " on %lld or %lld cores", least, most);
    else if (count && most - least + 1 == count)
        snprintf(text, 2 * TEXT_SIZE, " on %lld to %lld cores", least, most);
    else if (count)
        snprintf(text, 2 * TEXT_SIZE, " on %d numbers of cores up to %lld", count, most);
    return text;
}

/* What was cut short does not know of all tilings whether they are legal. */
static void put_legal(const struct tune_answer *a, FILE *out)
{
    char all[TEXT_SIZE], none[TEXT_SIZE], legal[TEXT_SIZE], cores[2 * TEXT_SIZE];
    text_count(a->candidates, all);
    text_count(a->candidates - a->feasible, none);
    text_count(a->feasible, legal);
    tune_core_counts_text(a, cores);
    if (a->cut_short)
        fprintf(out, "  search       %s tilings%s: %s are known to be legal\n", all, cores, legal);
    else
        fprintf(out, "  search       %s tilings%s: %s break a limit, %s are legal\n", all, cores,
                none, legal);
}

static void put_nothing(const struct tune_answer *a, const struct style *style, FILE *out)
{
    if (a->cut_short)
        fprintf(out, "  %scut short%s    before any was simulated\n", style->warn, style->end);
    else if (a->reason)
        fprintf(out, "  %snone legal%s   not even the smallest tiling fits:\n               %s\n",
                style->warn, style->end, a->reason);
    else
        fprintf(out, "  %snone legal%s   `autotune explain` says which limit one breaks\n",
                style->warn, style->end);
}

/* "11 to 187,480 tilings within 1 %". */
static void put_within(int64_t surely, int64_t at_most, double share, FILE *out)
{
    char n[2][TEXT_SIZE];
    fprintf(out, "%s", text_count(surely, n[0]));
    if (at_most > surely)
        fprintf(out, " to %s", text_count(at_most, n[1]));
    fprintf(out, " tiling%s within %.3g %%", at_most == 1 ? "" : "s", 100 * share);
}

/* How the search came to its answer, which ends with seconds and threads. */
static void put_effort(const struct tune_answer *a, FILE *out)
{
    char n[2][TEXT_SIZE];
    if (a->on_processor)
        fprintf(out, "               all scored by the model;");
    else
        fprintf(out, "               %s discarded by %s, %s simulated;",
                text_count(a->pruned, n[0]),
                a->discarded_count ? "bounds and inequalities" : "their lower bound",
                text_count(a->simulated, n[1]));
    fprintf(out, " %.3f s, %d thread%s\n", a->seconds, a->threads, a->threads == 1 ? "" : "s");
    for (int i = 0; i < a->discarded_count; i++)
        fprintf(out, "               %s of them (%.2f %% of the legal) by %s\n",
                text_count(a->discarded[i].count, n[1]),
                a->feasible ? 100.0 * (double)a->discarded[i].count / (double)a->feasible : 0.0,
                a->discarded[i].title);
}

/* How good the answer is. A winner by measurement need not be the model's first. */
static void put_proof(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char bound[TEXT_SIZE];
    const struct tune_measured *winner = a->best ? tune_measured_of(a, a->best) : NULL;
    if (a->optimal)
        fprintf(out, "  %soptimal%s      nothing in the space is faster%s", style->good, style->end,
                a->on_processor ? " by the model" : "");
    else if (winner && !a->cut_short)
        fprintf(out, "               the fastest is number %lld of the model, whose first takes %s",
                (long long)winner->rank, text_time(a->lower_bound_ns, bound));
    else if (!a->best)
        fprintf(out, "  %snone runs%s    all that were measured are in quarantine", style->warn,
                style->end);
    else
        fprintf(out, "  %scut short%s    nothing is faster than %s: at most %.2f %% to gain",
                style->warn, style->end, text_time(a->lower_bound_ns, bound), 100 * a->gap);
    fprintf(out, "; ");
    put_within(a->within_1_percent, a->within_1_percent_at_most, 0.01, out);
    if (a->fit_error > 0) {
        fprintf(out, "\n               ");
        put_within(a->within_fit_error, a->within_fit_error_at_most, a->fit_error, out);
        fprintf(out, ", the error of the description's fit");
    }
    fputc('\n', out);
}

static void put_search(const struct tune_answer *a, const struct style *style, FILE *out)
{
    if (a->from_store)
        fprintf(out, "  from store   searched before: --fresh searches again\n");
    put_legal(a, out);
    if (a->search_note)
        fprintf(out, "               %s\n", a->search_note);
    if (a->count == 0) {
        put_nothing(a, style, out);
        return;
    }
    put_effort(a, out);
    put_proof(a, style, out);
}

static void put_top(const struct tune_answer *a, FILE *out)
{
    char text[512], time[TEXT_SIZE];
    fprintf(out, "\n  rank  time        slower   busiest       tiling\n");
    for (int i = 0; i < a->count; i++) {
        const struct tune_row *row = &a->rows[i];
        tiling_text(a->axes, a->axis_count, &row->tiling, " ", text, sizeof text);
        fprintf(out, "  %4d  %-10s %6.2f %%  %-12s  %s\n", i + 1, text_time(row->time_ns, time),
                100 * (row->time_ns / a->rows[0].time_ns - 1), tune_bottleneck(a, row).name, text);
    }
}

enum status tune_write_table(const struct tune_answer *answer, bool colour, FILE *out,
                             struct error *error)
{
    struct style style = text_style(colour);
    put_head(answer, &style, out);
    bool is_sample = answer->validation && answer->validation->is_sample;
    if (answer->best && !is_sample) {
        (answer->on_processor ? put_processor_best : put_best)(answer, answer->best, &style, out);
        measured_write_table(answer, &style, out);
        put_shares(answer, answer->best, &style, out);
    } else if (answer->validation) {
        measured_write_table(answer, &style, out);
    }
    put_search(answer, &style, out);
    if (answer->top > 1 && answer->count)
        put_top(answer, out);
    if (answer->details)
        outline_write(answer->details, &style, out);
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}
