#include "results/diagnosis.h"

#include "results/text.h"

#include <string.h>

static const char *percent(double ratio, char text[TEXT_SIZE])
{
    if (ratio < 0)
        return "?";
    snprintf(text, TEXT_SIZE, "%.1f %%", 100 * ratio);
    return text;
}

static void reason_bound(const struct diagnosis *d, const struct diagnosis_thresholds *thresholds,
                         const struct component *c, char text[REASON_SIZE])
{
    double from = diagnosis_bound_from(d, thresholds);
    if (c->utilisation >= from)
        snprintf(
            text, REASON_SIZE,
            "%s does %.1f %% of what it can do at its peak; from %.0f %% on that is the limit.",
            c->name, 100 * c->utilisation, 100 * from);
    else if (c->kind == COMPONENT_INTERCONNECT)
        snprintf(text, REASON_SIZE,
                 "Transfers wait for %s: most of what the busiest engine loses is its share of it.",
                 c->name);
    else
        snprintf(text, REASON_SIZE,
                 "%s is active %.1f %% of the time; how much it did in it is not known.", c->name,
                 100 * c->active_ratio);
}

static void reason_parallelism(const struct diagnosis *d,
                               const struct diagnosis_thresholds *thresholds,
                               const struct component *c, char text[REASON_SIZE])
{
    (void)d;
    snprintf(text, REASON_SIZE,
             "Nothing is active for %.0f %% of the time: %s, the most active, is for %.1f %%. "
             "Components wait for one another instead of working side by side.",
             100 * thresholds->active, c->name, 100 * c->active_ratio);
}

static void reason_inefficient(const struct diagnosis *d,
                               const struct diagnosis_thresholds *thresholds,
                               const struct component *c, char text[REASON_SIZE])
{
    (void)d;
    (void)thresholds;
    snprintf(text, REASON_SIZE,
             "%s is active %.1f %% of the time, and at its peak would need %.1f %% of that.",
             c->name, 100 * c->active_ratio, 100 * c->efficiency);
}

const char *diagnosis_reason(const struct diagnosis *d,
                             const struct diagnosis_thresholds *thresholds, char text[REASON_SIZE])
{
    static void (*const reasons[VERDICTS])(const struct diagnosis *,
                                           const struct diagnosis_thresholds *,
                                           const struct component *, char[REASON_SIZE]) = {
        [VERDICT_COMPUTE_BOUND] = reason_bound,
        [VERDICT_TRANSFER_BOUND] = reason_bound,
        [VERDICT_INSUFFICIENT_PARALLELISM] = reason_parallelism,
        [VERDICT_INEFFICIENT_TRANSFER] = reason_inefficient,
        [VERDICT_INEFFICIENT_COMPUTE] = reason_inefficient,
    };
    *text = 0;
    if (d->component >= 0 && reasons[d->verdict])
        reasons[d->verdict](d, thresholds, &d->components[d->component], text);
    return text;
}

static void put_component(const struct component *c, bool named, const struct style *style,
                          FILE *out)
{
    char bar[TEXT_SIZE], u[TEXT_SIZE], e[TEXT_SIZE], r[TEXT_SIZE], busy[TEXT_SIZE];
    fprintf(out, "  %s%-16s%s %s %8s %11s %8s  %s\n", named ? style->bold : "", c->name,
            named ? style->end : "", text_bar(c->utilisation, bar), percent(c->utilisation, u),
            percent(c->efficiency, e), percent(c->active_ratio, r),
            c->busy_ns < 0 ? "?" : text_time(c->busy_ns, busy));
}

static void put_naive(const struct diagnosis *d, FILE *out)
{
    const struct naive_reading *n = &d->naive;
    if (n->component < 0)
        return;
    const struct component *c = &d->components[n->component];
    fprintf(out,
            "\n  A naive roofline, of each path and precision alone, would say: %s (%s, %.1f %%)\n",
            n->verdict ? verdict_name(n->verdict) : "underused, and not why",
            c->parts[n->part].name, 100 * n->utilisation);
}

static void put_time(const struct diagnosis *d, const struct style *style, FILE *out)
{
    char time[TEXT_SIZE], launch[TEXT_SIZE];
    if (d->time_ns < 0)
        return;
    fprintf(out, "  time         %s%s%s, of which launch %s\n\n", style->bold,
            text_time(d->time_ns, time), style->end, text_time(d->launch_ns, launch));
}

static void put_verdict(const struct diagnosis_answer *a, const struct style *style, FILE *out)
{
    const struct diagnosis *d = a->diagnosis;
    char reason[REASON_SIZE];
    if (d->verdict) {
        fprintf(out, "  %s%s: %s%s\n  ", style->bold, verdict_name(d->verdict),
                d->components[d->component].name, style->end);
        text_put_wrapped(diagnosis_reason(d, a->thresholds, reason), 2, out);
        fputc('\n', out);
    }
    if (*d->note) {
        fprintf(out, "  %snote:%s ", style->warn, style->end);
        text_put_wrapped(d->note, 8, out);
        fputc('\n', out);
    }
    fputc('\n', out);
}

enum status diagnosis_write_table(const struct diagnosis_answer *a, bool colour, FILE *out,
                                  struct error *error)
{
    struct style style = text_style(colour);
    const struct diagnosis *d = a->diagnosis;
    fprintf(out, "%s%s%s on %s, %d core%s\n", style.bold, a->file, style.end, a->hw->name, a->cores,
            a->cores == 1 ? "" : "s in step");
    text_put_hardware(a->hw, &style, out);
    put_time(d, &style, out);
    put_verdict(a, &style, out);
    fprintf(out, "  %-16s %-34s  efficiency   active  busy\n", "component",
            "utilisation = efficiency x active");
    for (int c = 0; c < d->component_count; c++)
        put_component(&d->components[c], c == d->component, &style, out);
    put_naive(d, out);
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}
