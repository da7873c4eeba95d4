/* The component roofline of Zhou et al. 2025 as JSON. In struct diagnosis a negative number is one
 * that is not known, and a peak of 0 is no limit; here both are null. */
#include "formats/json.h"
#include "formats/text.h"
#include "results/diagnosis_write.h"

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

json_t *diagnosis_json(const struct diagnosis *d, const struct diagnosis_thresholds *thresholds)
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
