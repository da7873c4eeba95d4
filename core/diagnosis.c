#include "core/diagnosis.h"

#include <string.h>

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

static bool has_work(const struct component *component)
{
    return component->ideal_ns > 0 || (component->ideal_ns < 0 && component->busy_ns > 0);
}

double diagnosis_bound_from(const struct diagnosis *diagnosis,
                            const struct diagnosis_thresholds *thresholds)
{
    for (int c = 0; c < diagnosis->component_count; c++)
        if (diagnosis->components[c].matrix && has_work(&diagnosis->components[c]))
            return thresholds->utilisation_matrix;
    return thresholds->utilisation;
}

double component_part_ns(const struct component_part *part)
{
    return part->peak_per_ns > 0 ? part->amount / part->peak_per_ns : 0;
}

/* The other pairs of R 4.3 are "impossible": what the engine moves is not what the unit computes
 * with, nor its result. FIXP and two engines out of global memory are of chips whose units are on
 * separate cores. */
static bool are_apart(const struct component *compute, const struct component *transfer)
{
    static const char *const apart[][2] = {
        {"Vector", "MTE-L1"}, {"Scalar", "MTE-L1"},        {"Vector", "FIXP"},
        {"Scalar", "FIXP"},   {"Cube", "MTE-GM (Vector)"},
    };
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++)
        if (strcmp(compute->name, apart[i][0]) == 0 && strcmp(transfer->name, apart[i][1]) == 0)
            return true;
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
        are_apart(unit, engine) || !(operations > 0 && bytes > 0 && diagnosis->time_ns > 0))
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
