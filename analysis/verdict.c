/* The order of questions is that of Zhou et al. (2025, section 4.2): is a component used up to its
 * peak, is none active all the time, and if one is, why is it no faster. Their paper gives no
 * numbers for its thresholds; the defaults are read off the verdicts that it prints. The naive
 * reading takes each kind of work by itself, as they do for comparison. */
#include "analysis/roofline.h"

/* Between them lies every verdict that Zhou et al. print: active ratios from 0.777 to 0.839,
 * utilisation from 0.591 to 0.662 without and from 0.716 to 0.935 with matrix work. */
const struct diagnosis_thresholds diagnosis_default_thresholds = {
    .active = 0.80,
    .utilisation = 0.65,
    .utilisation_matrix = 0.80,
};

/* Negative: not known. */
static double ratio(double part, double whole)
{
    return part >= 0 && whole > 0 ? part / whole : -1;
}

/* What is not known of a pipe is at most the time that it is busy. */
static double most_ns(const struct component *c)
{
    if (c->busy_ns < 0 || (c->most_ns > 0 && c->most_ns < c->busy_ns))
        return c->most_ns > 0 ? c->most_ns : -1;
    return c->busy_ns;
}

static void derive_ratios(struct diagnosis *d)
{
    for (int i = 0; i < d->component_count; i++) {
        struct component *c = &d->components[i];
        bool known = c->ideal_ns >= 0;
        c->efficiency = ratio(c->ideal_ns, c->busy_ns);
        c->active_ratio = ratio(c->busy_ns, d->time_ns);
        c->utilisation = ratio(c->ideal_ns, d->time_ns);
        c->utilisation_least = ratio(known ? c->ideal_ns : c->least_ns, d->time_ns);
        c->utilisation_most = ratio(known ? c->ideal_ns : most_ns(c), d->time_ns);
    }
}

static enum verdict bound_by(const struct component *c)
{
    return c->kind == COMPONENT_COMPUTE ? VERDICT_COMPUTE_BOUND : VERDICT_TRANSFER_BOUND;
}

static enum verdict inefficient(const struct component *c)
{
    return c->kind == COMPONENT_COMPUTE ? VERDICT_INEFFICIENT_COMPUTE
                                        : VERDICT_INEFFICIENT_TRANSFER;
}

/* The roofline of each kind of work alone, which cannot see that a pipe's kinds share its time. */
static void read_naively(struct diagnosis *d, double bound_from)
{
    struct naive_reading *naive = &d->naive;
    *naive = (struct naive_reading){.component = -1, .part = -1, .utilisation = -1};
    for (int i = 0; i < d->component_count; i++) {
        const struct component *c = &d->components[i];
        if (c->kind == COMPONENT_INTERCONNECT)
            continue;
        for (int p = 0; p < c->part_count; p++) {
            double utilisation = ratio(component_part_ns(&c->parts[p]), d->time_ns);
            if (utilisation > naive->utilisation)
                *naive = (struct naive_reading){VERDICT_NONE, i, p, utilisation};
        }
    }
    if (naive->component >= 0 && naive->utilisation >= bound_from)
        naive->verdict = bound_by(&d->components[naive->component]);
}

/* Of the components that reach their threshold the one of the largest utilisation, and of all pipes
 * the one of the largest active ratio; -1 where there is none. The first of equal ones. */
static int most_utilised(const struct diagnosis *d, const struct diagnosis_thresholds *thresholds)
{
    int most = -1;
    for (int i = 0; i < d->component_count; i++)
        if (d->components[i].utilisation_least >= component_bound_from(d, thresholds, i) &&
            (most < 0 ||
             d->components[i].utilisation_least > d->components[most].utilisation_least))
            most = i;
    return most;
}

static int most_active(const struct diagnosis *d)
{
    int most = -1;
    for (int i = 0; i < d->component_count; i++)
        if (d->components[i].kind != COMPONENT_INTERCONNECT &&
            d->components[i].active_ratio > (most < 0 ? -0.5 : d->components[most].active_ratio))
            most = i;
    return most;
}

/* How long some pipe was busy is not known: what is said to be the busiest might not be. */
static bool activity_is_open(const struct diagnosis *d)
{
    for (int i = 0; i < d->component_count; i++)
        if (d->components[i].kind != COMPONENT_INTERCONNECT && d->components[i].busy_ns < 0)
            return true;
    return false;
}

static void set_verdict(struct diagnosis *d, enum verdict verdict, int component)
{
    d->verdict = verdict;
    d->component = component;
}

void diagnose(struct diagnosis *d, const struct diagnosis_thresholds *thresholds)
{
    derive_ratios(d);
    read_naively(d, diagnosis_bound_from(d, thresholds));
    set_verdict(d, VERDICT_NONE, -1);
    int utilised = most_utilised(d, thresholds), active = most_active(d);
    if (utilised >= 0) {
        set_verdict(d, bound_by(&d->components[utilised]), utilised);
        return;
    }
    if (active < 0 || activity_is_open(d))
        return;
    const struct component *c = &d->components[active];
    if (c->active_ratio < thresholds->active)
        set_verdict(d, VERDICT_INSUFFICIENT_PARALLELISM, active);
    else if (c->waiting_ns > (c->busy_ns - c->ideal_ns) / 2)
        set_verdict(d, VERDICT_TRANSFER_BOUND, c->waits_for);
    else
        set_verdict(d, inefficient(c), active);
}
