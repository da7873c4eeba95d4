/* Stairs are found by trying every period: with the period given the law is linear in what is left,
 * so each try is a regression, and the least residual wins. A knee is Hudson's (1966): each way to
 * divide the points has a line on either side, and where these meet between the two is the knee; of
 * all ways the least residual wins. A law with more freedom has to leave much less than a line. */
#include "jobs/probe/segments.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stddef.h>

enum { LEAST_STAIRS = 2, LEAST_POINTS = 3, LEAST_ON_A_SIDE = 2, MAX_POINTS = 4096 };

/* What a law may leave of a line's residual to be taken for it. */
static const double much_less = 0.1;

static struct line fit(const double *x, const double *y, int count)
{
    struct line line;
    double covariance[3];
    gsl_fit_linear(x, 1, y, 1, (size_t)count, &line.at_0, &line.slope, &covariance[0],
                   &covariance[1], &covariance[2], &line.squares);
    return line;
}

/* Do they rise by too little to be measured by? */
static bool is_level(const struct segment_points *points)
{
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < points->count; i++) {
        least = fmin(least, points->y[i]);
        most = fmax(most, points->y[i]);
    }
    return most - least < SEGMENT_LEAST_RISE;
}

bool line_fit(const struct segment_points *points, struct line *line)
{
    if (points->count < LEAST_POINTS)
        return false;
    *line = fit(points->x, points->y, points->count);
    if (is_level(points))
        line->slope = 0;
    return true;
}

static struct line fit_stairs(const struct segment_points *points, double period)
{
    double stair[MAX_POINTS];
    for (int i = 0; i < points->count; i++)
        stair[i] = ceil(points->x[i] / period);
    return fit(stair, points->y, points->count);
}

bool stairs_fit(const struct segment_points *points, double step, struct stairs *stairs)
{
    if (points->count < LEAST_POINTS || points->count > MAX_POINTS || is_level(points))
        return false;
    double last = points->x[points->count - 1];
    struct line line = fit_stairs(points, step), best = line;
    stairs->period = step;
    for (double period = 2 * step; LEAST_STAIRS * period < last; period += step) {
        struct line next = fit_stairs(points, period);
        if (next.squares >= best.squares || next.squares > much_less * line.squares)
            continue;
        best = next;
        stairs->period = period;
    }
    stairs->at_0 = best.at_0;
    stairs->height = best.slope;
    return best.slope > 0;
}

bool knee_fit(const struct segment_points *points, struct knee *knee)
{
    const double *x = points->x, *y = points->y;
    int count = points->count;
    if (count <= 2 * LEAST_ON_A_SIDE || is_level(points))
        return false;
    double least = much_less * fit(x, y, count).squares;
    bool found = false;
    for (int left = LEAST_ON_A_SIDE; left <= count - LEAST_ON_A_SIDE; left++) {
        struct line before = fit(x, y, left), after = fit(x + left, y + left, count - left);
        double at = (before.at_0 - after.at_0) / (after.slope - before.slope);
        if (!(at >= x[left - 1] && at <= x[left]) || before.squares + after.squares >= least)
            continue;
        least = before.squares + after.squares;
        *knee = (struct knee){at, before, after};
        found = true;
    }
    return found;
}
