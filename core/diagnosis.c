/* Thresholds and pairs of the component roofline (Zhou et al. 2025, sections 4.2 and 4.3): which
 * threshold holds for an operator or a bus, and which points of unit and engine are worth drawing,
 * by a table of those that are not. */
#include "core/diagnosis.h"

#include <stdio.h>
#include <string.h>

void diagnosis_note(struct diagnosis *diagnosis, const char *words)
{
    size_t used = strlen(diagnosis->note);
    if (*words)
        snprintf(diagnosis->note + used, sizeof diagnosis->note - used, "%s%s", used ? "; " : "",
                 words);
}

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICTS] = {
        [VERDICT_COMPUTE_BOUND] = "Compute Bound",
        [VERDICT_TRANSFER_BOUND] = "MTE Bound",
        [VERDICT_INSUFFICIENT_PARALLELISM] = "Insufficient Parallelism",
        [VERDICT_INEFFICIENT_TRANSFER] = "Inefficient MTE",
        [VERDICT_INEFFICIENT_COMPUTE] = "Inefficient Compute",
    };
    return names[verdict];
}

/* Where the work is not known, being busy shows that there is some; where that is not known either,
 * there may be. */
static bool has_work(const struct component *component)
{
    return component->ideal_ns > 0 || (component->ideal_ns < 0 && component->busy_ns != 0);
}

double diagnosis_bound_from(const struct diagnosis *diagnosis,
                            const struct diagnosis_thresholds *thresholds)
{
    for (int c = 0; c < diagnosis->component_count; c++)
        if (diagnosis->components[c].matrix && has_work(&diagnosis->components[c]))
            return thresholds->utilisation_matrix;
    return thresholds->utilisation;
}

static bool is_waited_for(const struct diagnosis *diagnosis, int bus)
{
    for (int c = 0; c < diagnosis->component_count; c++)
        if (diagnosis->components[c].waiting_ns > 0 && diagnosis->components[c].waits_for == bus)
            return true;
    return false;
}

double component_bound_from(const struct diagnosis *diagnosis,
                            const struct diagnosis_thresholds *thresholds, int component)
{
    double from = diagnosis_bound_from(diagnosis, thresholds);
    if (diagnosis->components[component].kind == COMPONENT_INTERCONNECT &&
        from < thresholds->utilisation_matrix && !is_waited_for(diagnosis, component))
        return thresholds->utilisation_matrix;
    return from;
}

double component_part_ns(const struct component_part *part)
{
    return part->peak_per_ns > 0 ? part->amount / part->peak_per_ns : 0;
}

static bool has(const struct diagnosis *diagnosis, const char *name)
{
    for (int c = 0; c < diagnosis->component_count; c++)
        if (strcmp(diagnosis->components[c].name, name) == 0)
            return true;
    return false;
}

/* The first two are "impossible" (Zhou et al. 2025, section 4.3): what the engine moves is not what
 * the unit computes with. The others are so where the matrix and the vector unit are on cores of
 * their own, which FIXP and the second engine out of global memory tell. */
static bool are_apart(const struct diagnosis *diagnosis, int compute, int transfer)
{
    static const struct {
        const char *compute, *transfer;
        bool split;
    } apart[] = {
        {"Vector", "MTE-L1", false}, {"Scalar", "MTE-L1", false}, {"Vector", "FIXP", true},
        {"Scalar", "FIXP", true},    {"Vector", "MTE-GM", true},  {"Cube", "MTE-GM (Vector)", true},
        {"Cube", "MTE-UB", true},
    };
    bool split = has(diagnosis, "FIXP") || has(diagnosis, "MTE-GM (Vector)");
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (strcmp(diagnosis->components[compute].name, apart[i].compute) == 0 &&
            strcmp(diagnosis->components[transfer].name, apart[i].transfer) == 0)
            return split || !apart[i].split;
    return false;
}

static double amount_of(const struct component *component, bool bytes)
{
    double amount = 0;
    for (int p = 0; p < component->part_count; p++)
        if (component->parts[p].bytes == bytes)
            amount += component->parts[p].amount;
    return amount;
}

static bool pair_of(const struct diagnosis *diagnosis, int compute, int transfer,
                    struct roofline_pair *pair)
{
    const struct component *unit = &diagnosis->components[compute];
    const struct component *engine = &diagnosis->components[transfer];
    double operations = amount_of(unit, false), bytes = amount_of(engine, true);
    if (unit->kind != COMPONENT_COMPUTE || engine->kind != COMPONENT_TRANSFER ||
        are_apart(diagnosis, compute, transfer) ||
        !(operations > 0 && bytes > 0 && diagnosis->time_ns > 0))
        return false;
    *pair = (struct roofline_pair){
        .compute = compute,
        .transfer = transfer,
        .intensity = operations / bytes,
        .attained_per_ns = operations / diagnosis->time_ns,
        .ideal_per_ns = unit->ideal_ns > 0 ? operations / unit->ideal_ns : 0,
        .attained_bytes_per_ns = bytes / diagnosis->time_ns,
        .ideal_bytes_per_ns = engine->ideal_ns > 0 ? bytes / engine->ideal_ns : 0,
    };
    return true;
}

int diagnosis_pairs(const struct diagnosis *diagnosis,
                    struct roofline_pair pairs[DIAGNOSIS_MAX_PAIRS])
{
    int count = 0;
    for (int c = 0; c < diagnosis->component_count; c++)
        for (int t = 0; t < diagnosis->component_count && count < DIAGNOSIS_MAX_PAIRS; t++)
            count += pair_of(diagnosis, c, t, &pairs[count]);
    return count;
}
