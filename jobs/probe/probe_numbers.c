/* The numbers that several procedures conclude, each from one curve, and the piecewise laws that
 * they are told by. Stairs are found by trying every period: with the period given the law is
 * linear in what is left, so each try is a regression, and the least residual wins. A knee is
 * Hudson's (1966): each way to divide the points has a line on either side, and where these meet
 * between the two is the knee; of all ways the least residual wins. A law with more freedom has to
 * leave much less than a line. */
#include "jobs/probe/probe_parts.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ laws */

enum { LEAST_STAIRS = 2, LEAST_POINTS = 3, LEAST_ON_A_SIDE = 2, MAX_POINTS = 4096 };

/* What a law may leave of a line's residual to be taken for it. */
static const double much_less = 0.1;

static struct line fit_line(const double *x, const double *y, int count)
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
    *line = fit_line(points->x, points->y, points->count);
    if (is_level(points))
        line->slope = 0;
    return true;
}

static struct line fit_stairs(const struct segment_points *points, double period)
{
    double stair[MAX_POINTS];
    for (int i = 0; i < points->count; i++)
        stair[i] = ceil(points->x[i] / period);
    return fit_line(stair, points->y, points->count);
}

bool stairs_fit(const struct segment_points *points, double step, struct stairs *stairs)
{
    if (points->count < LEAST_POINTS || points->count > MAX_POINTS || is_level(points))
        return false;
    double last = points->x[points->count - 1];
    struct line line = fit_stairs(points, step), best = line;
    stairs->period = step;
    for (int steps = 2; LEAST_STAIRS * steps * step < last; steps++) {
        double period = steps * step;
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
    double least = much_less * fit_line(x, y, count).squares;
    bool found = false;
    for (int left = LEAST_ON_A_SIDE; left <= count - LEAST_ON_A_SIDE; left++) {
        struct line before = fit_line(x, y, left),
                    after = fit_line(x + left, y + left, count - left);
        double at = (before.at_0 - after.at_0) / (after.slope - before.slope);
        if (!(at >= x[left - 1] && at <= x[left]) || before.squares + after.squares >= least)
            continue;
        least = before.squares + after.squares;
        *knee = (struct knee){at, before, after};
        found = true;
    }
    return found;
}

/* ------------------------------------------------------------------ numbers */

const struct probe_curve *quantity_curve(const struct probe_answer *answer,
                                         const struct probe_quantity *q)
{
    return answer->series[q->curve].curve;
}

double quantity_found(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return q->found(answer, q);
}

double quantity_described(const struct probe_answer *answer, const struct probe_quantity *q)
{
    return q->described ? q->described(answer, q) : NAN;
}

struct curve_points {
    double *x, *y; /* freed by curve_points_clear */
    struct segment_points points;
};

static bool curve_points_open(const struct probe_answer *answer, int curve,
                              struct curve_points *points)
{
    const struct probe_series *series = &answer->series[curve];
    size_t count = (size_t)series->count;
    points->x = calloc(2 * count + 1, sizeof *points->x);
    if (!points->x)
        return false;
    points->y = points->x + count;
    for (size_t i = 0; i < count; i++) {
        points->x[i] = (double)series->points[i].x;
        points->y[i] = point_ns(&series->points[i]);
    }
    points->points = (struct segment_points){points->x, points->y, series->count};
    return true;
}

static void curve_points_clear(struct curve_points *points)
{
    free(points->x);
}

bool curve_line(const struct probe_answer *answer, int curve, struct line *line)
{
    struct curve_points points;
    if (!curve_points_open(answer, curve, &points))
        return false;
    bool found = line_fit(&points.points, line);
    curve_points_clear(&points);
    return found;
}

double curve_slope_ns(const struct probe_answer *answer, int curve)
{
    struct line line;
    return curve_line(answer, curve, &line) && line.slope > 0 ? line.slope : NAN;
}

bool curve_stairs(const struct probe_answer *answer, int curve, struct stairs *stairs)
{
    struct curve_points points;
    if (!curve_points_open(answer, curve, &points))
        return false;
    bool found = stairs_fit(&points.points, (double)answer->series[curve].curve->step, stairs);
    curve_points_clear(&points);
    return found;
}

double curve_period(const struct probe_answer *answer, int curve)
{
    struct stairs stairs;
    return curve_stairs(answer, curve, &stairs) ? stairs.period : NAN;
}

double curve_knee(const struct probe_answer *answer, int curve)
{
    struct curve_points points;
    struct knee knee;
    if (!curve_points_open(answer, curve, &points))
        return NAN;
    bool found = knee_fit(&points.points, &knee);
    curve_points_clear(&points);
    return found ? knee.at : NAN;
}

double point_ns(const struct probe_point *point)
{
    return point->ns - point->empty_ns;
}

const struct probe_point *curve_at(const struct probe_answer *answer, int curve, int64_t x)
{
    const struct probe_series *series = &answer->series[curve];
    for (int i = 0; i < series->count; i++)
        if (series->points[i].x == x)
            return &series->points[i];
    return NULL;
}

double in_cycles(const struct hardware *hw, double ns)
{
    return ns * (double)hw->clock_hz / 1e9;
}

double price_unit_ns(const struct price *price)
{
    return (double)price->rate.fs / (double)price->rate.units / FS_PER_NS;
}

double price_gbps(const struct hardware *hw, const struct price *price, int cores)
{
    if (!price)
        return NAN;
    return price->bus < 0 ? 1 / price_unit_ns(price)
                          : (double)hardware_bus_share(hw, price, cores) / 1e9;
}
