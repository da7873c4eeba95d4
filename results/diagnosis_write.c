/* For people: time, verdict, why, the components with their bars, and the parts of the one to
 * blame. Each verdict has a function that says in a sentence which numbers led to it (reasons[]);
 * the JSON and the pages take their reason from it too. For machines: the component roofline of
 * Zhou et al. 2025 as JSON. In struct diagnosis a negative number is one that is not known, and a
 * peak of 0 is no limit; there both are null. */
#include "results/diagnosis_write.h"
#include "formats/json.h"
#include "formats/text.h"

static const char *percent(double ratio, char text[TEXT_SIZE])
{
    if (ratio < 0)
        return "?";
    snprintf(text, TEXT_SIZE, "%.1f %%", 100 * ratio);
    return text;
}

/* The most active of the pipes that wait for a bus. */
static const struct component *waiting_pipe(const struct diagnosis *d, int bus)
{
    const struct component *most = NULL;
    for (int c = 0; c < d->component_count; c++) {
        const struct component *pipe = &d->components[c];
        if (pipe->waiting_ns > 0 && pipe->waits_for == bus &&
            (!most || pipe->active_ratio > most->active_ratio))
            most = pipe;
    }
    return most;
}

static void reason_bound(const struct diagnosis *d, const struct diagnosis_thresholds *thresholds,
                         const struct component *c, char text[REASON_SIZE])
{
    double from = component_bound_from(d, thresholds, d->component);
    const struct component *pipe = waiting_pipe(d, d->component);
    if (c->utilisation >= from)
        snprintf(text, REASON_SIZE,
                 "%s %s %.1f %% of what it could in this time; from %.0f %% on it is the limit.",
                 c->name, c->kind == COMPONENT_COMPUTE ? "does" : "moves", 100 * c->utilisation,
                 100 * from);
    else if (pipe)
        snprintf(text, REASON_SIZE,
                 "%s is active %.1f %% of the time, and of what it loses in it %.0f %% is waiting "
                 "for %s, where it moves only as much as the bus gives it.",
                 pipe->name, 100 * pipe->active_ratio,
                 100 * pipe->waiting_ns / (pipe->busy_ns - pipe->ideal_ns), c->name);
}

static void reason_parallelism(const struct diagnosis *d,
                               const struct diagnosis_thresholds *thresholds,
                               const struct component *c, char text[REASON_SIZE])
{
    bool launch = c->busy_ns >= thresholds->active * (d->time_ns - d->launch_ns);
    snprintf(text, REASON_SIZE,
             "Nothing is active for %.0f %% of the time: %s, the most active, is for %.1f %%. %s",
             100 * thresholds->active, c->name, 100 * c->active_ratio,
             launch ? "It is the launch that takes the rest."
                    : "Components wait for one another instead of working side by side.");
}

static void reason_inefficient(const struct diagnosis *d,
                               const struct diagnosis_thresholds *thresholds,
                               const struct component *c, char text[REASON_SIZE])
{
    double from = diagnosis_bound_from(d, thresholds);
    if (c->efficiency >= 0)
        snprintf(text, REASON_SIZE,
                 "%s is active %.1f %% of the time, and at its peak would need %.1f %% of that.",
                 c->name, 100 * c->active_ratio, 100 * c->efficiency);
    else
        snprintf(text, REASON_SIZE,
                 "%s is active %.1f %% of the time; how much it did in it is not known: from %.0f "
                 "%% of what it could on it would be the limit.",
                 c->name, 100 * c->active_ratio, 100 * from);
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
    char bar[TEXT_SIZE], u[TEXT_SIZE], e[TEXT_SIZE], r[TEXT_SIZE], text[TEXT_SIZE];
    fprintf(out, "  %s%-16s%s %s %8s %11s %8s  %s", named ? style->bold : "", c->name,
            named ? style->end : "", text_bar(c->utilisation, bar), percent(c->utilisation, u),
            percent(c->efficiency, e), percent(c->active_ratio, r),
            c->busy_ns < 0 ? "?" : text_time(c->busy_ns, text));
    if (c->waiting_ns > 0)
        fprintf(out, ", %s of it waiting for a bus", text_time(c->waiting_ns, text));
    fputc('\n', out);
}

static void put_components(const struct diagnosis *d, const struct style *style, FILE *out)
{
    if (d->component_count == 0 || d->time_ns < 0)
        return;
    fprintf(out, "\n  %-16s %-35s = efficiency x active  busy\n", "component", "utilisation");
    for (int c = 0; c < d->component_count; c++)
        put_component(&d->components[c], c == d->component, style, out);
}

/* Amounts may exceed an integer. */
static const char *amount(double count, char text[TEXT_SIZE])
{
    if (count < 1e18)
        return text_count((int64_t)count, text);
    snprintf(text, TEXT_SIZE, "%.3g", count);
    return text;
}

static void put_part(const struct component_part *part, double time_ns, FILE *out)
{
    char bar[TEXT_SIZE], text[TEXT_SIZE], count[TEXT_SIZE];
    double share = time_ns > 0 ? component_part_ns(part) / time_ns : -1;
    fprintf(out, "  %-16s %s %8s  %s %s", part->name, text_bar(share, bar), percent(share, text),
            amount(part->amount, count), part->bytes ? "bytes" : "operations");
    if (part->peak_per_ns > 0)
        fprintf(out, " at %.6g %s/s", part->peak_per_ns, part->bytes ? "GB" : "Gop");
    fputc('\n', out);
}

/* The slowest part that is not yet done, the first of equal ones; -1: all are. */
static int slowest_part(const struct component *c, const bool done[])
{
    int slowest = -1;
    for (int p = 0; p < c->part_count; p++)
        if (!done[p] && (slowest < 0 ||
                         component_part_ns(&c->parts[p]) > component_part_ns(&c->parts[slowest])))
            slowest = p;
    return slowest;
}

/* What the component of the verdict does, the parts that take most first. */
static void put_parts(const struct diagnosis *d, const struct component *c, FILE *out)
{
    bool done[COMPONENT_MAX_PARTS] = {false};
    if (c->part_count)
        fprintf(out, "\n  %s at its peaks, by %s\n", c->name,
                c->kind == COMPONENT_COMPUTE ? "type of operation" : "path");
    for (int p = slowest_part(c, done); p >= 0; p = slowest_part(c, done)) {
        put_part(&c->parts[p], d->time_ns, out);
        done[p] = true;
    }
}

static void put_naive(const struct diagnosis *d, const struct style *style, FILE *out)
{
    char text[256];
    const struct naive_reading *n = &d->naive;
    if (n->component < 0)
        return;
    snprintf(
        text, sizeof text,
        "A naive roofline, of every path and type alone, says %s: %s is used most, at %.1f %%.",
        n->verdict ? verdict_name(n->verdict) : "no limit is near",
        d->components[n->component].parts[n->part].name, 100 * n->utilisation);
    fputs("\n  ", out);
    text_put_wrapped(text, 2, style, out);
    fputc('\n', out);
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
        text_put_wrapped(diagnosis_reason(d, a->thresholds, reason), 2, style, out);
        fputc('\n', out);
    }
    if (*d->note) {
        fprintf(out, "  %snote:%s ", style->warn, style->end);
        text_put_wrapped(d->note, 8, style, out);
        fputc('\n', out);
    }
}

enum status diagnosis_write_table(const struct diagnosis_answer *a, const struct style *style,
                                  FILE *out, struct error *error)
{
    char line[TEXT_LINE_SIZE];
    const struct diagnosis *d = a->diagnosis;
    fprintf(out, "%s%s%s on %s, %d core%s\n", style->bold, text_line(text_file_name(a->file), line),
            style->end, a->hw->name, a->cores, a->cores == 1 ? "" : "s in step");
    text_put_hardware(a->hw, style, out);
    put_time(d, style, out);
    put_verdict(a, style, out);
    put_components(d, style, out);
    if (d->component >= 0)
        put_parts(d, &d->components[d->component], out);
    put_naive(d, style, out);
    return ferror(out) ? error_set(error, STATUS_IO, "cannot write the table") : STATUS_OK;
}

/* ------------------------------------------------------------------ JSON */

static json_t *microseconds(double ns)
{
    return json_number_from_0(ns < 0 ? ns : ns / 1000);
}

static json_t *name_or_null(const struct diagnosis *d, int component)
{
    return component < 0 ? json_null() : json_text(d->components[component].name);
}

static json_t *verdict_json(enum verdict verdict)
{
    return verdict ? json_string(verdict_name(verdict)) : json_null();
}

static json_t *part_json(const struct component_part *part, double time_ns)
{
    double utilisation = time_ns > 0 ? component_part_ns(part) / time_ns : -1;
    return json_pack("{s:o, s:s, s:f, s:o, s:o}", "name", json_text(part->name), "unit",
                     part->bytes ? "bytes" : "operations", "amount", part->amount, "peak_per_ns",
                     json_number_above_0(part->peak_per_ns), "utilisation",
                     json_number_from_0(utilisation));
}

static json_t *component_json(const struct component *c, double time_ns)
{
    static const char *const kinds[] = {[COMPONENT_COMPUTE] = "compute",
                                        [COMPONENT_TRANSFER] = "transfer",
                                        [COMPONENT_INTERCONNECT] = "interconnect"};
    json_t *parts = json_array();
    for (int p = 0; p < c->part_count; p++)
        json_array_append_new(parts, part_json(&c->parts[p], time_ns));
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", json_text(c->name),
                     "kind", kinds[c->kind], "utilisation", json_number_from_0(c->utilisation),
                     "efficiency", json_number_from_0(c->efficiency), "active_ratio",
                     json_number_from_0(c->active_ratio), "ideal_us", microseconds(c->ideal_ns),
                     "busy_us", microseconds(c->busy_ns), "waiting_us", microseconds(c->waiting_ns),
                     "parts", parts);
}

static json_t *naive_json(const struct diagnosis *d)
{
    const struct naive_reading *n = &d->naive;
    if (n->component < 0)
        return json_null();
    return json_pack("{s:o, s:o, s:o, s:o}", "verdict", verdict_json(n->verdict), "component",
                     name_or_null(d, n->component), "part",
                     json_text(d->components[n->component].parts[n->part].name), "utilisation",
                     json_number_from_0(n->utilisation));
}

static json_t *pair_json(const struct diagnosis *d, const struct roofline_pair *pair)
{
    return json_pack("{s:o, s:o, s:f, s:f, s:o, s:f, s:o, s:o, s:o}", "compute",
                     name_or_null(d, pair->compute), "transfer", name_or_null(d, pair->transfer),
                     "intensity", pair->intensity, "attained_per_ns", pair->attained_per_ns,
                     "ideal_per_ns", json_number_above_0(pair->ideal_per_ns),
                     "attained_bytes_per_ns", pair->attained_bytes_per_ns, "ideal_bytes_per_ns",
                     json_number_above_0(pair->ideal_bytes_per_ns), "compute_utilisation",
                     json_number_from_0(d->components[pair->compute].utilisation),
                     "transfer_utilisation",
                     json_number_from_0(d->components[pair->transfer].utilisation));
}

static json_t *pairs_json(const struct diagnosis *d)
{
    struct roofline_pair pairs[DIAGNOSIS_MAX_PAIRS];
    int count = diagnosis_pairs(d, pairs);
    json_t *array = json_array();
    for (int p = 0; p < count; p++)
        json_array_append_new(array, pair_json(d, &pairs[p]));
    return array;
}

json_t *thresholds_json(const struct diagnosis_thresholds *thresholds)
{
    return json_pack("{s:f, s:f, s:f}", "active_ratio", thresholds->active, "utilisation",
                     thresholds->utilisation, "utilisation_cube", thresholds->utilisation_matrix);
}

/* One member of "operators". */
static json_t *diagnosis_json(const struct diagnosis *d,
                              const struct diagnosis_thresholds *thresholds)
{
    char reason[REASON_SIZE];
    json_t *components = json_array();
    for (int c = 0; c < d->component_count; c++)
        json_array_append_new(components, component_json(&d->components[c], d->time_ns));
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                     json_text(d->name), "time_us", microseconds(d->time_ns), "launch_us",
                     microseconds(d->launch_ns), "verdict", verdict_json(d->verdict), "component",
                     name_or_null(d, d->component), "reason",
                     json_text(diagnosis_reason(d, thresholds, reason)), "note",
                     *d->note ? json_text(d->note) : json_null(), "components", components, "naive",
                     naive_json(d), "pairs", pairs_json(d));
}

enum status diagnosis_write_json(const struct diagnosis_answer *a, const struct style *style,
                                 FILE *out, struct error *error)
{
    (void)style;
    return json_write(json_pack("{s:i, s:o, s:o, s:o, s:o, s:s, s:i, s:o, s:[o]}", "schema", 1,
                                "file", json_text(a->file), "hardware", json_text(a->hw->name),
                                "hardware_file", json_text(a->hw->file), "hardware_changes",
                                overrides_json(a->hw), "cache", hardware_cache_word(a->hw), "cores",
                                a->cores, "thresholds", thresholds_json(a->thresholds), "operators",
                                diagnosis_json(a->diagnosis, a->thresholds)),
                      out, error);
}
