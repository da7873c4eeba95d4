/* What n transfers move together over a bus. Each gets the smaller of its path's own bandwidth and
 * its share, so that the fastest path tells the share wherever it gets less than alone. Alone, the
 * fastest may be held up by either. */
#include "jobs/calibrate/calibrate_programs.h"

#include <math.h>
#include <stdlib.h>

/* Two rates are one. */
static const double alike = 1e-6;

/* The plain moves over a path, or -1. */
static int subject_of_path(const struct program_laws *laws, int path)
{
    for (int i = 0; i < laws->list.count; i++) {
        const struct subject *s = &laws->list.items[i];
        if (s->kind == CURVE_MOVES && s->one.what == path && !s->one.transpose &&
            s->one.type == s->one.to_type)
            return laws->laws[i].known ? i : -1;
    }
    return -1;
}

/* Is it a move over the bus whose law is known? */
static bool is_over(const struct program_laws *laws, int subject, int bus)
{
    const struct subject *s = &laws->list.items[subject];
    return s->kind == CURVE_MOVES && laws->laws[subject].known &&
           laws->calibration->hw.paths[s->one.what].bus == bus;
}

/* ns a byte of the fastest of the bus's moves alone; NAN. `subject`: which. */
static double fastest_ns(const struct program_laws *laws, int bus, int *subject)
{
    double least = NAN;
    for (int i = 0; i < laws->list.count; i++)
        if (is_over(laws, i, bus) && !(laws->laws[i].unit_ns >= least)) {
            least = laws->laws[i].unit_ns;
            *subject = i;
        }
    return least;
}

/* ns a byte of a move on `cores` cores at once; NAN without points. */
static double moves_ns(const struct curve *curve, int64_t cores)
{
    const struct curve_point *first = NULL;
    for (int i = 0; i < curve->point_count; i++) {
        const struct curve_point *point = &curve->points[i];
        if (point->size[0] != cores || point->size[1] != 1)
            continue;
        if (first && point->size[2] > first->size[2])
            return (point->ns - first->ns) / (double)(point->size[2] - first->size[2]);
        first = point;
    }
    return NAN;
}

/* ns a byte of each of n transfers on n cores. One that takes longer than alone, which sets *held,
 * has its share of the bus; else it is that of the fastest. */
static double shared_ns(const struct program_laws *laws, int bus, int n, bool *held, int *subject)
{
    double least = NAN;
    *held = false;
    for (int i = 0; i < laws->list.count && !*held; i++) {
        double ns = is_over(laws, i, bus) ? moves_ns(laws->laws[i].curve, n) : NAN;
        if (isnan(ns))
            continue;
        *held = ns > laws->laws[i].unit_ns * (1 + alike);
        if (*held || !(ns >= least)) {
            least = ns;
            *subject = i;
        }
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
    return program_unknown(laws, key,
                           "the smaller of it and the fastest path's bandwidth shows: "
                           "%.5g",
                           1 / least_ns);
}

/* The share of each of 2·cores transfers, as a pair of moves tells it, in bytes a ns; NAN. The
 * second moves on at its own bandwidth or at the share, and meanwhile holds the first up, which
 * else moves at `alone`, as many as there are cores. Where it does not, the share is not below what
 * either has. */
static double pair_share(const struct program_laws *laws, int pair, int cores, bool *held)
{
    const struct subject *s = &laws->list.items[pair];
    const struct curve *curve = laws->laws[pair].curve;
    int first = subject_of_path(laws, s->one.what), second = subject_of_path(laws, s->other);
    if (!curve || first < 0 || second < 0)
        return NAN;
    double slope = NAN, own = 1 / laws->laws[second].unit_ns;
    double alone =
        1 / (cores == 1 ? laws->laws[first].unit_ns : moves_ns(laws->laws[first].curve, cores));
    for (int i = 0; i + 1 < curve->point_count; i++) /* in order of size */
        if (curve->points[i].size[0] == cores && curve->points[i + 1].size[0] == cores)
            slope = (curve->points[i + 1].ns - curve->points[i].ns) /
                    (double)(curve->points[i + 1].size[2] - curve->points[i].size[2]);
    *held = slope * alone > alike;
    if (!*held)
        return isnan(slope) ? NAN : fmax(own, alone);
    double share = 1 / (slope + 1 / alone);
    return share <= own * (1 + alike) ? share : alone * (1 - slope * own);
}

/* ns a byte of each of n transfers, as pairs of moves tell it; where none is held up, at most; NAN.
 */
static double paired_ns(const struct program_laws *laws, int bus, int n, bool *held, int *subject)
{
    double most = 0;
    *held = false;
    for (int i = 0; i < laws->list.count && n % 2 == 0 && !*held; i++) {
        const struct subject *s = &laws->list.items[i];
        if (s->kind != CURVE_PAIR || laws->calibration->hw.paths[s->one.what].bus != bus)
            continue;
        double share = pair_share(laws, i, n / 2, held);
        if (*held || share > most) {
            *subject = i;
            most = share;
        }
    }
    return most > 0 ? 1 / most : NAN;
}

/* The total of n transfers in bytes a second, or 0 where nothing is known of it. */
static enum status find_total(struct program_laws *laws, int bus, int n, int64_t *total,
                              int *subject)
{
    char key[HARDWARE_KEY_SIZE];
    bool held = true;
    double ns = shared_ns(laws, bus, n, &held, subject);
    double paired = held ? NAN : paired_ns(laws, bus, n, &held, subject);
    if (!isnan(paired) && (held || !(ns <= paired)))
        ns = paired;
    *total = isnan(ns) ? 0 : llround(n / ns * 1e9);
    snprintf(key, sizeof key, "buses.%s.total_gbps.%d", laws->calibration->hw.buses[bus].name, n);
    if (isnan(ns))
        return program_unknown(laws, key,
                               "no program shows what %d transfers share; it is put "
                               "between those that are known",
                               n);
    return held ? STATUS_OK
                : program_unknown(laws, key,
                                  "not below %.5g: each of %d transfers is as fast as "
                                  "alone",
                                  n / ns, n);
}

/* Fills the gaps: on a line to the next total that is known, beyond the last one as that. Rounding
 * must not let a share rise. */
static void complete_totals(int64_t totals[], int count)
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
    double alone_ns = fastest_ns(laws, bus, &subject);
    if (isnan(alone_ns))
        return STATUS_OK;
    totals[0] = llround(1e9 / alone_ns);
    for (int n = 2; n <= count; n++)
        TRY(find_total(laws, bus, n, &totals[n - 1], &subject));
    TRY(name_fastest(laws, bus, alone_ns));
    complete_totals(totals, count);
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
