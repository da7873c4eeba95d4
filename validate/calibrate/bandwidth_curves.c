/* Makes numbers of samples. Medians and quartiles by GSL. A cache ends where reading, as time a
 * byte, is half-way between its own rate and the next level's: the size is interpolated in its
 * logarithm between the last fast point and the first slow one that stays slow. Totals of threads
 * that were not measured lie on lines between those that were. A loop's costs are a line through
 * its times (validate/linear_fit.h). */
#include "validate/calibrate/bandwidth_curves.h"

#include "validate/linear_fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_SAMPLES = 64 };

double reach_end(const struct reach *points, int count, double from_bytes, double inner_gbps,
                 double outer_gbps)
{
    const double apart = 1.1;
    if (!(inner_gbps > apart * outer_gbps) || !(outer_gbps > 0))
        return 0;
    double middle = (1 / inner_gbps + 1 / outer_gbps) / 2; /* ns a byte */
    const struct reach *fast = NULL;
    for (int i = 0; i < count; i++) {
        bool slow = 1 / points[i].gbps > middle;
        bool stays = i + 1 == count || 1 / points[i + 1].gbps > middle;
        if ((double)points[i].bytes <= from_bytes || (slow && !stays))
            continue;
        if (!slow) {
            fast = &points[i];
            continue;
        }
        if (!fast)
            return (double)points[i].bytes;
        double before = 1 / fast->gbps, after = 1 / points[i].gbps;
        double share = fmin(fmax((middle - before) / (after - before), 0), 1);
        double low = log((double)fast->bytes), high = log((double)points[i].bytes);
        return exp(low + share * (high - low));
    }
    return 0;
}

/* The next count that was measured, or -1. */
static int next_measured(const double *totals, int count, int after)
{
    for (int i = after + 1; i < count; i++)
        if (totals[i] > 0)
            return i;
    return -1;
}

void contention_fill(double *totals, int count)
{
    for (int i = 0, next; i < count; i = next) {
        next = next_measured(totals, count, i);
        if (next < 0) { /* as many more get no more */
            for (int j = i + 1; j < count; j++)
                totals[j] = totals[i];
            break;
        }
        for (int j = i + 1; j < next; j++)
            totals[j] = totals[i] + (totals[next] - totals[i]) * (j - i) / (next - i);
    }
    totals[0] = calibration_digits(totals[0]);
    for (int n = 2; n <= count; n++)
        totals[n - 1] = fmin(calibration_digits(totals[n - 1]), totals[n - 2] / (n - 1) * n);
}

int contention_counts(int threads, int counts[CONTENTION_MAX_COUNTS])
{
    int count = 0;
    for (int n = 1; n < threads && count < CONTENTION_MAX_COUNTS - 1; n += n < 4 ? 1 : n / 3)
        counts[count++] = n;
    counts[count++] = threads;
    return count;
}

static bool is_time(const struct loop_sample *sample)
{
    return isfinite(sample->ns) && sample->ns > 0 && isfinite(sample->steps) && sample->steps > 0;
}

enum status loop_fit(const struct loop_sample *samples, int count, struct loop_fit *fit,
                     struct error *error)
{
    double terms[2 * MAX_SAMPLES], times[MAX_SAMPLES], spreads[MAX_SAMPLES];
    struct linear_fit line;
    double least = INFINITY, most = 0;
    if (count > MAX_SAMPLES)
        return error_set(error, STATUS_TOO_LARGE, "%d samples, expected at most %d", count,
                         MAX_SAMPLES);
    double *term = terms;
    for (int i = 0; i < count; i++, term += 2) {
        if (!is_time(&samples[i]))
            return error_set(error, STATUS_INVALID, "%g ns for %g steps, expected times",
                             samples[i].ns, samples[i].steps);
        least = fmin(least, samples[i].steps);
        most = fmax(most, samples[i].steps);
        term[0] = samples[i].steps;
        term[1] = 1;
        times[i] = samples[i].ns;
        spreads[i] = samples[i].spread;
    }
    if (!(most >= 2 * least))
        return error_set(error, STATUS_INVALID, "%g to %g steps, expected twice as many", least,
                         most);
    TRY(linear_fit(terms, times, count, 2, &line, error));
    if (!(line.cost[0] > 0))
        return error_set(error, STATUS_INVALID, "more steps do not take longer");
    *fit = (struct loop_fit){.step_ns = line.cost[0],
                             .call_ns = line.cost[1],
                             .spread = middle_of(spreads, count).median,
                             .r_squared = line.r_squared,
                             .max_error = line.max_error};
    return STATUS_OK;
}

double calibration_digits(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.4e", value);
    return strtod(text, NULL);
}
