/* The answer for people, from what matters most to what matters least: the tiling and its time,
 * where the time goes, how the search came to it and what it proves, then the runners-up. Texts
 * that change from run to run have lines of their own. */
#include "results/outline.h"
#include "results/tune.h"

#include <math.h>
#include <string.h>

enum { TOP_COLUMNS = 45, LINE_SIZE = 128 }; /* columns before a tiling of the top list */

/* ------------------------------------------------------------------ the best */

static void put_head(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char title[PROBLEM_TITLE_SIZE];
    const struct hardware *hw = a->space->hw;
    fprintf(out, "%s%s%s in %s on %s, %d %s%s, space %s\n", style->bold,
            problem_title(a->problem, title), style->end, dtype_name(a->problem->type), hw->name,
            a->cores, hw->host ? "thread" : "core", a->cores == 1 ? "" : "s", a->space->kind->name);
    text_put_hardware(hw, style, out);
}

/* Of what computes nothing: bytes that its tensors have, in GB/s; 0: not known. */
static double tensors_gbps(const struct tune_answer *a, double ns)
{
    const json_t *roofline = json_object_get(a->details, "roofline");
    return (double)json_integer_value(json_object_get(roofline, "tensors_once_bytes")) / ns;
}

static void put_chip_time(const struct tune_answer *a, const struct found *found,
                          const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], launch[TEXT_SIZE], bound[TEXT_SIZE], roofline[TEXT_SIZE];
    char launches[TEXT_SIZE], rate[TEXT_SIZE], most[TEXT_SIZE];
    double gflops = tune_gflops(a, found_ns(found)), peak = tune_peak_gflops(a, found);
    double started = found_launches(a->space, found);
    bool many = started > 1;
    text_put_line(
        "time", style, out, "%s%s%s  simulated, on %d core%s; %s of it %s%s%s", style->bold,
        text_time(found_ns(found), time), style->end, found->cores_used,
        found->cores_used == 1 ? "" : "s", text_time(found_launch_ns(a->space, found), launch),
        many ? "are " : "is the launch", many ? text_count((int64_t)started, launches) : "",
        many ? " launches, one a tile" : "");
    if (peak > 0 && isfinite(gflops))
        text_put_line("rate", style, out, "%s, %.1f %% of the %s that %d core%s can do",
                      text_rate(gflops, rate), 100 * gflops / peak, text_rate(peak, most), a->cores,
                      a->cores == 1 ? "" : "s");
    else if (isfinite(gflops))
        text_put_line("rate", style, out, "%s", text_rate(gflops, rate));
    else if (tensors_gbps(a, found_ns(found)) > 0)
        text_put_line("rate", style, out, "%.0f GB/s of its tensors, each moved once",
                      tensors_gbps(a, found_ns(found)));
    text_put_line("lower bound", style, out, "%s for this tiling; roofline of the problem %s",
                  text_time((double)found->bound_fs / FS_PER_NS, bound),
                  text_time(tune_roofline_ns(a), roofline));
}

/* The time and rate of a processor's tiling: by its clock where it was measured. */
static void put_processor_time(const struct tune_answer *a, const struct found *found,
                               const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], rate[TEXT_SIZE], most[TEXT_SIZE];
    char roofline[TEXT_SIZE];
    const struct host_candidate *m = tune_measured_of(a, found);
    bool measured = tune_measured_ns(m) > 0;
    double model_ns = found_ns(found), ns = measured ? tune_measured_ns(m) : model_ns;
    double gflops = tune_gflops(a, ns), peak_gflops = tune_peak_gflops(a, found);
    const char *how = measured ? "measured" : "by the model";
    char model[LINE_SIZE] = "", peak[LINE_SIZE] = "";
    if (measured)
        snprintf(model, sizeof model, ", spread %.2f %%; the model says %s, %+.1f %%",
                 100 * m->measured.timing.spread, text_time(model_ns, time),
                 100 * (model_ns / ns - 1));
    if (peak_gflops > 0)
        snprintf(peak, sizeof peak, ", %.1f %% of the %s that %d thread%s can do",
                 100 * gflops / peak_gflops, text_rate(peak_gflops, most), a->cores,
                 a->cores == 1 ? "" : "s");
    text_put_line("time", style, out, "%s%s%s  %s, on %d thread%s%s", style->bold,
                  text_time(ns, time), style->end, how, found->cores_used,
                  found->cores_used == 1 ? "" : "s", model);
    text_put_line("rate", style, out, "%s %s%s", text_rate(gflops, rate), how, peak);
    text_put_line("lower bound", style, out, "roofline of the problem %s",
                  text_time(tune_roofline_ns(a), roofline));
}

void tune_write_time(const struct tune_answer *a, const struct found *found,
                     const struct style *style, FILE *out)
{
    (a->space->hw->host ? put_processor_time : put_chip_time)(a, found, style, out);
}

void tune_write_corrected(const struct tune_correction *c, const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], low[TEXT_SIZE], high[TEXT_SIZE];
    const struct corrected *best = &c->best;
    if (!(best->corrected_ns > 0)) {
        text_put_line("correction", style, out, "none: %s", c->about);
        return;
    }
    text_put_line("corrected", style, out, "%s%s%s, %.0f %% of such kernels within %s to %s",
                  style->bold, text_time(best->corrected_ns, time), style->end, 100 * c->covers,
                  text_time(best->low_ns, low), text_time(best->high_ns, high));
    if (best->outside > 0)
        text_put_line("", style, out, "outside what it was learned from, by %.2g ranges of \"%s\"",
                      best->outside, best->outside_by);
    text_put_line("", style, out, "%s", c->about);
}

static void put_best(const struct tune_answer *a, const struct found *found,
                     const struct style *style, FILE *out)
{
    char text[TILING_TEXT_SIZE];
    tiling_text(a->space->axes, a->space->axis_count, &found->tiling, text, sizeof text);
    fprintf(out, "  tiling       %s%s%s\n", style->bold, text, style->end);
    tune_write_time(a, found, style, out);
    if (a->correction)
        tune_write_corrected(a->correction, style, out);
    fputc('\n', out);
}

void tune_write_shares(const struct tune_answer *a, const struct found *found,
                       const struct style *style, FILE *out)
{
    const struct hardware *hw = a->space->hw;
    const char *busiest = found_bottleneck(hw, found).name;
    fprintf(out, hw->host ? "  where the time goes, by the model\n" : "  busy share of the time\n");
    for (int i = 0; i < hw->pipe_count + hw->bus_count; i++) {
        char bar[TEXT_SIZE];
        struct share share = found_share(hw, found, i);
        bool most = share.name == busiest;
        fprintf(out, "  %-12s %s%s%s %5.1f %%%s\n", share.name, most ? style->warn : "",
                text_bar(share.share, bar), most ? style->end : "",
                100 * share.busy_ns / found_ns(found), most ? "  busiest" : "");
    }
}

/* ------------------------------------------------------------------ what ran on this machine */

enum { MAX_CELL = 24 };

static int64_t value_on_axis(const struct host_tune *tune, int i, int axis)
{
    return tune->items[i].model.tiling.value[axis];
}

/* Axes on which all measured tilings agree are said once. */
static bool is_constant(const struct host_tune *tune, int axis)
{
    for (int i = 1; i < tune->count; i++)
        if (value_on_axis(tune, i, axis) != value_on_axis(tune, 0, axis))
            return false;
    return tune->count > 1;
}

static int width_of_axis(const struct host_tune *tune, const struct axis *axes, int axis)
{
    char text[MAX_CELL];
    size_t width = strlen(axes[axis].name);
    for (int i = 0; i < tune->count; i++) {
        size_t length = strlen(axis_value_text(&axes[axis], value_on_axis(tune, i, axis), text));
        width = length > width ? length : width;
    }
    return (int)width;
}

static void put_constants(const struct tune_answer *a, FILE *out)
{
    char text[MAX_CELL];
    bool any = false;
    const struct host_tune *tune = &a->measured->tune;
    for (int i = 0; i < a->space->axis_count; i++) {
        const struct axis *axis = &a->space->axes[i];
        if (!is_constant(tune, i))
            continue;
        fprintf(out, "%s%s=%s", any ? "  " : "  all with      ", axis->name,
                axis_value_text(axis, value_on_axis(tune, 0, i), text));
        any = true;
    }
    if (any)
        fputc('\n', out);
}

/* Of the i-th; negative: their names. */
static void put_values(const struct tune_answer *a, int i, FILE *out)
{
    char text[MAX_CELL];
    const struct host_tune *tune = &a->measured->tune;
    const struct axis *axes = a->space->axes;
    for (int axis = 0; axis < a->space->axis_count; axis++)
        if (!is_constant(tune, axis))
            fprintf(out, " %*s", width_of_axis(tune, axes, axis),
                    i < 0 ? axes[axis].name
                          : axis_value_text(&axes[axis], value_on_axis(tune, i, axis), text));
    fputc('\n', out);
}

static void put_candidate(const struct tune_answer *a, int i, const struct style *style, FILE *out)
{
    char measured[TEXT_SIZE], predicted[TEXT_SIZE];
    const struct host_candidate *candidate = &a->measured->tune.items[i];
    const struct timing *timing = &candidate->measured.timing;
    double model_ns = found_ns(&candidate->model);
    fprintf(out, "  %s%9s  %6.2f %%  %9s %+7.1f %% %5lld  %8.1e%s%s", i == 0 ? style->bold : "",
            text_time(timing->median_ns, measured), 100 * timing->spread,
            text_time(model_ns, predicted), 100 * (model_ns / timing->median_ns - 1),
            (long long)candidate->rank, tune_max_error(candidate), timing->fell_out ? "*" : " ",
            i == 0 ? style->end : "");
    put_values(a, i, out);
}

static void put_candidates(const struct tune_answer *a, const struct style *style, FILE *out)
{
    bool fell_out = false;
    const struct host_tune *tune = &a->measured->tune;
    fprintf(out, "   measured    spread      model       off  rank max error ");
    put_values(a, -1, out);
    for (int i = 0; i < tune->measured; i++) {
        put_candidate(a, i, style, out);
        fell_out = fell_out || tune->items[i].measured.timing.fell_out;
    }
    if (fell_out)
        fprintf(out, "  * too slow to win: few samples\n");
}

static void put_quarantine(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char text[TILING_TEXT_SIZE];
    const struct host_tune *tune = &a->measured->tune;
    for (int i = 0; i < tune->count; i++) {
        const struct host_candidate *candidate = &tune->items[i];
        if (!candidate->measured.quarantine[0])
            continue;
        tiling_text(a->space->axes, a->space->axis_count, &candidate->model.tiling, text,
                    sizeof text);
        fprintf(out, "  %squarantine%s   %s\n", style->warn, style->end,
                candidate->measured.quarantine);
        fprintf(out, "               --set %s\n", text);
    }
}

static const char *text_known(double number, int digits, const char *unit, char text[TEXT_SIZE])
{
    if (!isfinite(number))
        return "unknown";
    snprintf(text, TEXT_SIZE, "%.*f%s", digits, number, unit);
    return text;
}

static void put_model_quality(const struct host_tune *tune, const struct style *style, FILE *out)
{
    char n[5][TEXT_SIZE];
    const struct model_quality *q = &tune->quality;
    fprintf(out, "  the model    error %s on average, %s at worst; rank correlation %s\n",
            text_known(100 * q->mean_error, 1, " %", n[0]),
            text_known(100 * q->worst_error, 1, " %", n[1]), text_known(q->spearman, 2, "", n[2]));
    fprintf(out,
            "               its first pick takes %s of the best time, the best of its first 3 %s\n",
            text_known(q->regret_first, 3, " x", n[3]), text_known(q->regret_top, 3, " x", n[4]));
    fprintf(out,
            "  %snoise%s        %.2f %% spread of a fixed piece of work, %.0f %% of its samples "
            "dropped%s\n",
            tune->noisy ? style->warn : "", tune->noisy ? style->end : "", 100 * tune->noise.spread,
            100 * tune->noise.dropped,
            tune->noisy ? ": noisy, small differences mean nothing" : "");
}

static void put_measured(const struct tune_answer *a, const struct style *style, FILE *out)
{
    if (!a->measured)
        return;
    const struct host_tune *tune = &a->measured->tune;
    fprintf(out, "  measured     %d of %d %s on this machine in %.1f s", tune->measured,
            a->measured->asked,
            a->question->is_sample ? "tilings, a random sample and the model's first 3,"
                                   : "tilings",
            a->measured->seconds);
    if (tune->left_out)
        fprintf(out, "; the end came before %d", tune->left_out);
    fputs(a->measured_from_store ? "\n               from store: --fresh measures again\n" : "\n",
          out);
    put_constants(a, out);
    if (tune->measured)
        put_candidates(a, style, out);
    put_quarantine(a, style, out);
    put_model_quality(tune, style, out);
    fputc('\n', out);
}

/* ------------------------------------------------------------------ how the search went */

/* What was cut short, or ruled tilings out many at once, does not know of all whether they are
 * legal. */
static void put_legal(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char all[TEXT_SIZE], none[TEXT_SIZE], legal[TEXT_SIZE], cores[2 * TEXT_SIZE];
    text_count(a->search->candidates, all);
    text_count(a->search->candidates - a->search->feasible, none);
    text_count(a->search->feasible, legal);
    tune_core_counts_text(a, cores);
    if (a->cut_short || a->search->unasked)
        text_put_line("search", style, out, "%s tilings%s: %s are known to be legal", all, cores,
                      legal);
    else
        text_put_line("search", style, out, "%s tilings%s: %s break a limit, %s are legal", all,
                      cores, none, legal);
}

/* "120 by l1, 60 by line 29, of 256 looked at" */
static void put_illegal(const struct tune_answer *a, const struct style *style, FILE *out)
{
    struct tune_illegal illegal;
    char text[TUNE_MOST_REASONS * (TUNE_LIMIT_SIZE + 16)] = "";
    size_t used = 0;
    tune_illegal(a, &illegal);
    for (int r = 0; r < illegal.count; r++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%d by %s", r ? ", " : "",
                                 illegal.reasons[r].tilings, illegal.reasons[r].limit);
    if (illegal.count && illegal.looked_at == a->space->candidates)
        text_put_line("illegal", style, out, "%s", text);
    else if (illegal.count)
        text_put_line("illegal", style, out, "%s, of %d looked at", text, illegal.looked_at);
}

static void put_nothing(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char label[LINE_SIZE], text[TUNE_REASON_SIZE];
    const char *reason = tune_reason(a, text);
    snprintf(label, sizeof label, "%s%s%s", style->warn, a->cut_short ? "cut short" : "none legal",
             style->end);
    if (a->cut_short)
        text_put_line(label, style, out, "before any was simulated");
    else if (reason)
        text_put_line(label, style, out, "%s%s",
                      a->space->candidates ? "not even the smallest tiling fits: " : "", reason);
    else
        text_put_line(label, style, out, "`autotune explain` says which limit one breaks");
}

/* "11 to 187,480 tilings within 1 %". */
static const char *within_text(const struct within *within, double share, char text[LINE_SIZE])
{
    char n[2][TEXT_SIZE];
    bool open = within->at_most > within->surely;
    snprintf(text, LINE_SIZE, "%s%s%s tiling%s within %.3g %%", text_count(within->surely, n[0]),
             open ? " to " : "", open ? text_count(within->at_most, n[1]) : "",
             within->at_most == 1 ? "" : "s", 100 * share);
    return text;
}

/* How the search came to its answer. Seconds and threads, which are never the same, have a line of
 * their own. */
static void put_effort(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char n[2][TEXT_SIZE];
    const struct search_result *s = a->search;
    const struct operator_rule *rules = a->space->kind->rules;
    if (a->space->hw->host)
        text_put_line("", style, out, "all scored by the model");
    else
        text_put_line("", style, out, "%s discarded by %s, %s simulated",
                      text_count(s->pruned, n[0]),
                      rules ? "bounds and inequalities" : "their lower bound",
                      text_count(s->simulated, n[1]));
    for (int i = 0; rules && rules[i].key; i++)
        text_put_line("", style, out, "%s of them (%.2f %% of the legal) by %s",
                      text_count(s->pruned_by[i], n[1]),
                      s->feasible ? 100.0 * (double)s->pruned_by[i] / (double)s->feasible : 0.0,
                      rules[i].title);
    text_put_line("", style, out, "%.3f s, %d thread%s", s->seconds, a->threads,
                  a->threads == 1 ? "" : "s");
}

/* The best is not the fastest, or by chance: what it is, and what is proven of the fastest. */
static void put_choice(const struct tune_answer *a, const char *within, const struct style *style,
                       FILE *out)
{
    char label[LINE_SIZE], bound[TEXT_SIZE];
    const char *proof =
        a->search->optimal ? "the fastest takes" : "cut short: nothing is faster than";
    snprintf(label, sizeof label, "%s%s%s", a->search->optimal ? style->good : style->warn,
             "chosen", style->end);
    text_put_line(label, style, out, "%s", a->chosen);
    text_put_line("", style, out, "%s %s, %.2f %% less; %s", proof,
                  text_time((double)a->search->lower_bound_fs / FS_PER_NS, bound),
                  100 * tune_gap(a), within);
}

/* How good the answer is. A winner by measurement need not be the model's first. */
static void put_proof(const struct tune_answer *a, const struct style *style, FILE *out)
{
    char bound[TEXT_SIZE], within[LINE_SIZE], label[LINE_SIZE];
    const struct found *best = tune_best(a);
    const struct host_candidate *winner = best ? tune_measured_of(a, best) : NULL;
    bool optimal = tune_is_optimal(a), open = !optimal && winner && !a->cut_short;
    const char *verdict = optimal ? "optimal" : !best ? "none runs" : "cut short";
    double fit_error = fit_share(&a->space->hw->fit);
    snprintf(label, sizeof label, "%s%s%s", optimal ? style->good : style->warn, verdict,
             style->end);
    within_text(&a->search->within_1_percent, 0.01, within);
    text_time((double)a->search->lower_bound_fs / FS_PER_NS, bound);
    if (a->chosen)
        put_choice(a, within, style, out);
    else if (optimal)
        text_put_line(label, style, out, "nothing in the space is faster%s; %s",
                      a->space->hw->host ? " by the model" : "", within);
    else if (open)
        text_put_line("", style, out,
                      "the fastest is number %lld of the model, whose first takes %s; %s",
                      (long long)winner->rank, bound, within);
    else if (!best)
        text_put_line(label, style, out, "all that were measured are in quarantine; %s", within);
    else
        text_put_line(label, style, out, "nothing is faster than %s: at most %.2f %% to gain; %s",
                      bound, 100 * tune_gap(a), within);
    if (fit_error > 0)
        text_put_line("", style, out, "%s, the error of the description's fit",
                      within_text(&a->search->within_tolerance, fit_error, within));
}

static void put_search(const struct tune_answer *a, const struct style *style, FILE *out)
{
    if (a->from_store)
        fprintf(out, "  from store   searched before: --fresh searches again\n");
    put_legal(a, style, out);
    if (a->search->count == 0) {
        put_illegal(a, style, out);
        put_nothing(a, style, out);
        return;
    }
    put_effort(a, style, out);
    put_illegal(a, style, out);
    put_proof(a, style, out);
}

/* In lines of their own where one would not fit beside the rest. */
static bool tilings_fit(const struct tune_answer *a, const struct style *style)
{
    char text[TILING_TEXT_SIZE];
    size_t longest = 0;
    for (int i = 0; i < a->search->count; i++) {
        tiling_text(a->space->axes, a->space->axis_count, &a->search->best[i].tiling, text,
                    sizeof text);
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
    char text[TILING_TEXT_SIZE], time[TEXT_SIZE], rank[TEXT_SIZE], slower[TEXT_SIZE];
    bool fit = tilings_fit(a, style);
    const struct space *space = a->space;
    fputc('\n', out);
    put_top_row("rank", "time", "slower", "busiest", "tiling", fit, out);
    for (int i = 0; i < a->search->count; i++) {
        const struct found *found = &a->search->best[i];
        snprintf(rank, sizeof rank, "%d", i + 1);
        snprintf(slower, sizeof slower, "%.2f %%",
                 100 * (found_ns(found) / found_ns(&a->search->best[0]) - 1));
        tiling_text(space->axes, space->axis_count, &found->tiling, text, sizeof text);
        put_top_row(rank, text_time(found_ns(found), time), slower,
                    found_bottleneck(space->hw, found).name, text, fit, out);
    }
}

enum status tune_write_table(const struct tune_answer *answer, const struct style *style, FILE *out,
                             struct error *error)
{
    const struct found *best = tune_best(answer);
    put_head(answer, style, out);
    if (best && !(answer->measured && answer->question->is_sample)) {
        put_best(answer, best, style, out);
        put_measured(answer, style, out);
        tune_write_shares(answer, best, style, out);
        fputc('\n', out);
    } else {
        put_measured(answer, style, out);
    }
    put_search(answer, style, out);
    if (answer->top > 1 && answer->search->count)
        put_top(answer, style, out);
    if (answer->details)
        outline_write(answer->details, style, out);
    if (answer->next) {
        fputs("\n  next         ", out);
        text_put_command(answer->next, TEXT_LABEL, style, out);
        fputc('\n', out);
    }
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}
