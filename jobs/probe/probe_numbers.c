/* The numbers that several procedures conclude, each from one curve. */
#include "jobs/probe/probe_parts.h"

#include <math.h>
#include <stdlib.h>

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

bool curve_points_open(const struct probe_answer *answer, int curve, struct curve_points *points)
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

void curve_points_clear(struct curve_points *points)
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

const struct price *path_price(const struct hardware *hw, const char *source,
                               const char *destination)
{
    struct probe_writer w = {.hw = hw};
    int path = writer_path(&w, source, destination);
    return path < 0 ? NULL : &hw->prices[hw->paths[path].price];
}

double price_gbps(const struct hardware *hw, const struct price *price, int cores)
{
    if (!price)
        return NAN;
    return price->bus < 0 ? 1 / price_unit_ns(price)
                          : (double)hardware_bus_share(hw, price, cores) / 1e9;
}
