/* The component roofline of Zhou et al. 2025: a table of components, and a roof for each pair of a
 * unit that computes and an engine that moves. Only pairs with both roofs can be drawn. */
#include "results/report_roofline.h"

#include "formats/json.h"
#include "formats/text.h"
#include "results/diagnosis_write.h"

static const char *kind_name(enum component_kind kind)
{
    static const char *const names[] = {
        [COMPONENT_COMPUTE] = "computes",
        [COMPONENT_TRANSFER] = "moves",
        [COMPONENT_INTERCONNECT] = "is shared",
    };
    return names[kind];
}

static void add_components(struct report *report, const struct diagnosis *d, const char *of)
{
    char title[DIAGNOSIS_NAME_SIZE + 32];
    snprintf(title, sizeof title, "Components%s%s", of ? " of " : "", of ? of : "");
    json_t *table = report_table(title, "Utilisation is efficiency times active ratio: the share "
                                        "of the time that the work would need at its peak.");
    report_column(table, "component", NULL);
    report_column(table, "what it does", NULL);
    report_column(table, "utilisation", "bar");
    report_column(table, "efficiency", "share");
    report_column(table, "active ratio", "share");
    report_column(table, "busy", "ns");
    for (int i = 0; i < d->component_count; i++) {
        const struct component *c = &d->components[i];
        json_t *row = report_row(table);
        json_array_append_new(row, json_text(c->name));
        json_array_append_new(row, json_string(kind_name(c->kind)));
        json_array_append_new(row, json_number_from_0(c->utilisation));
        json_array_append_new(row, json_number_from_0(c->efficiency));
        json_array_append_new(row, json_number_from_0(c->active_ratio));
        json_array_append_new(row, json_number_from_0(c->busy_ns));
    }
    report_add(report, table);
}

static void add_verdict(struct report *report, const struct diagnosis *d,
                        const struct diagnosis_thresholds *thresholds, const char *of)
{
    char title[DIAGNOSIS_NAME_SIZE + 32], reason[REASON_SIZE], text[TEXT_SIZE];
    snprintf(title, sizeof title, "What limits %s", of ? of : "it");
    json_t *facts = report_facts(title);
    if (d->verdict && d->component >= 0)
        report_fact(facts, "verdict", "%s: %s", verdict_name(d->verdict),
                    d->components[d->component].name);
    if (*diagnosis_reason(d, thresholds, reason))
        report_fact(facts, "why", "%s", reason);
    if (d->time_ns >= 0)
        report_fact(facts, "time", "%s", text_time(d->time_ns, text));
    if (d->naive.component >= 0) {
        const struct component *c = &d->components[d->naive.component];
        report_fact(facts, "a naive roofline", "says %s: %s is used most, at %.1f %%",
                    d->naive.verdict ? verdict_name(d->naive.verdict) : "no limit is near",
                    c->parts[d->naive.part].name, 100 * d->naive.utilisation);
    }
    if (*d->note)
        report_fact(facts, "note", "%s", d->note);
    report_add(report, facts);
}

/* ------------------------------------------------------------------ pairs */

static json_t *pair_json(const struct diagnosis *d, const struct roofline_pair *pair)
{
    const struct component *compute = &d->components[pair->compute];
    const struct component *transfer = &d->components[pair->transfer];
    return json_pack("{s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:f}", "compute",
                     json_text(compute->name), "transfer", json_text(transfer->name), "intensity",
                     pair->intensity, "rate", pair->attained_per_ns, "peak", pair->ideal_per_ns,
                     "bandwidth", pair->ideal_bytes_per_ns, "compute_share", compute->utilisation,
                     "transfer_share", transfer->utilisation);
}

/* A chart has room for pairs with a roof of both kinds. */
static json_t *pairs_of(const struct diagnosis *d)
{
    struct roofline_pair pairs[DIAGNOSIS_MAX_PAIRS];
    json_t *list = json_array();
    int count = diagnosis_pairs(d, pairs);
    for (int i = 0; i < count; i++)
        if (pairs[i].intensity > 0 && pairs[i].attained_per_ns > 0 && pairs[i].ideal_per_ns > 0 &&
            pairs[i].ideal_bytes_per_ns > 0)
            json_array_append_new(list, pair_json(d, &pairs[i]));
    return list;
}

static void add_roofline(struct report *report, const struct diagnosis *d, const char *of)
{
    char title[DIAGNOSIS_NAME_SIZE + 32];
    json_t *pairs = d->time_ns > 0 ? pairs_of(d) : NULL;
    if (pairs && json_array_size(pairs) > 0) {
        snprintf(title, sizeof title, "Roofline%s%s", of ? " of " : "", of ? of : "");
        json_t *section = report_section(
            "roofline", title,
            "A roof for each pair of a unit that computes and an engine that moves, at the mean "
            "peaks of this operator's element types and paths; a point below its roof has that "
            "share of it. Buses are in the table of components.");
        json_object_set(section, "pairs", pairs);
        report_add(report, section);
    }
    json_decref(pairs);
}

void report_diagnosis(struct report *report, const struct diagnosis *diagnosis,
                      const struct diagnosis_thresholds *thresholds, const char *of)
{
    add_verdict(report, diagnosis, thresholds, of);
    add_components(report, diagnosis, of);
    add_roofline(report, diagnosis, of);
}
