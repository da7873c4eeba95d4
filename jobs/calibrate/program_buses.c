/* What n transfers move together over a bus. Each gets the smaller of its path's own bandwidth and
 * its share, so that the fastest path tells the share wherever it gets less than alone. Alone, the
 * fastest may be held up by either. */
#include "jobs/calibrate/calibrate_programs.h"

#include <math.h>
#include <stdlib.h>

/* Two rates are one. */
static const double alike = 1e-6;

/* ns a byte of the fastest of the bus's moves on so many cores; NAN. `subject`: which. */
static double fastest_ns(const struct program_laws *laws, int bus, int cores, int *subject)
{
    double least = NAN;
    for (int i = 0; i < laws->list.count; i++) {
        const struct subject *s = &laws->list.items[i];
        if (s->kind != CURVE_MOVES || !laws->laws[i].known ||
            laws->calibration->hw.paths[s->one.what].bus != bus)
            continue;
        double ns = cores == 1 ? laws->laws[i].unit_ns
                               : program_shared_ns(laws->laws[i].curve, cores);
        if (isnan(ns) || ns >= least)
            continue;
        least = ns;
        *subject = i;
    }
    return least;
}

/* Paths that are as fast as one transfer gets: they or the bus. */
static enum status name_fastest(struct program_laws *laws, int bus, double least_ns)
{
    const struct hardware *hw = &laws->calibration->hw;
    char key[HARDWARE_KEY_SIZE];
    for (int i = 0; i < laws->list.count; i++) {
        const struct subject *s = &laws->list.items[i];
        if (s->kind != CURVE_MOVES || !laws->laws[i].known || hw->paths[s->one.what].bus != bus ||
            laws->laws[i].unit_ns > least_ns * (1 + alike))
            continue;
        snprintf(key, sizeof key, "%.150s.%s", s->key,
                 s->one.transpose ? "transposed_gbps" : "bandwidth_gbps");
        TRY(program_unknown(laws, key, "the smaller of it and total_gbps.1 of bus %s shows: %.5g",
                            hw->buses[bus].name, 1 / least_ns));
    }
    snprintf(key, sizeof key, "buses.%s.total_gbps.1", hw->buses[bus].name);
    return program_unknown(laws, key, "the smaller of it and the fastest path's bandwidth shows: "
                                      "%.5g",
                           1 / least_ns);
}

/* The total of n transfers in bytes a second, or 0 where nothing is known of it. */
static enum status find_total(struct program_laws *laws, int bus, int n, double alone_ns,
                              int64_t *total, int *subject)
{
    char key[HARDWARE_KEY_SIZE];
    double ns = fastest_ns(laws, bus, n, subject);
    *total = isnan(ns) ? 0 : llround(n / ns * 1e9);
    snprintf(key, sizeof key, "buses.%s.total_gbps.%d", laws->calibration->hw.buses[bus].name, n);
    if (isnan(ns))
        return program_unknown(laws, key, "no program keeps %d transfers going; it is put between "
                                          "those that are known",
                               n);
    if (n > 1 && ns <= alone_ns * (1 + alike))
        return program_unknown(laws, key, "not below %.5g: every transfer is as fast as alone",
                               n / ns);
    return STATUS_OK;
}

/* Fills the gaps: on a line to the next total that is known, beyond the last one as that. Rounding
 * must not let a share rise. */
static void complete(int64_t totals[], int count)
{
    for (int n = 2; n <= count; n++) {
        int next = n;
        while (next <= count && !totals[next - 1])
            next++;
        int64_t before = totals[n - 2];
        if (next > count)
            totals[n - 1] = before;
        else if (next > n)
            totals[n - 1] = before + (totals[next - 1] - before) / (next - n + 1);
        int64_t most = before / (n - 1) * n;
        totals[n - 1] = totals[n - 1] < before ? before
                        : totals[n - 1] > most ? most
                                               : totals[n - 1];
    }
}

static enum status set_total(struct program_laws *laws, int bus, int n, int64_t total, int subject)
{
    struct calibration *calibration = laws->calibration;
    struct parameter parameter = {.value = (double)total * 1e-9,
                                  .error = NAN,
                                  .unit = "GB/s",
                                  .points = laws->laws[subject].curve->point_count,
                                  .median_error = laws->laws[subject].median_error,
                                  .r_squared = NAN};
    char source[256];
    double before = NAN;
    snprintf(parameter.key, sizeof parameter.key, "buses.%s.total_gbps.%d",
             calibration->hw.buses[bus].name, n);
    snprintf(parameter.from, sizeof parameter.from, "%.90s", laws->list.items[subject].name);
    snprintf(source, sizeof source, "measured on %s: what %d transfers at once move together",
             calibration->chip, n);
    description_get(&calibration->description, parameter.key, &before);
    TRY(description_set(&calibration->description, parameter.key, parameter.value, source,
                        laws->error));
    return calibration_note(calibration, &parameter, before, laws->error);
}

static enum status set_bus(struct program_laws *laws, int bus)
{
    int64_t totals[HARDWARE_MAX_SHARERS];
    int subject = 0, count = laws->calibration->hw.buses[bus].sharers;
    double alone_ns = fastest_ns(laws, bus, 1, &subject);
    if (isnan(alone_ns))
        return STATUS_OK;
    for (int n = 1; n <= count; n++)
        TRY(find_total(laws, bus, n, alone_ns, &totals[n - 1], &subject));
    TRY(name_fastest(laws, bus, alone_ns));
    complete(totals, count);
    for (int n = 1; n <= count; n++)
        TRY(set_total(laws, bus, n, totals[n - 1], subject));
    return STATUS_OK;
}

enum status program_buses(struct program_laws *laws)
{
    for (int b = 0; b < laws->calibration->hw.bus_count; b++)
        TRY(set_bus(laws, b));
    return STATUS_OK;
}
