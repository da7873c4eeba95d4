/* Piecewise laws through points of a curve: a line, stairs, and two lines that meet.
 *
 * Points ascend in x. What is fitted is ordinary least squares (GSL); a function returns false
 * where the points do not show its law: too few of them, or a simpler law that explains them about
 * as well. */
#ifndef AUTOTUNE_JOBS_PROBE_SEGMENTS_H
#define AUTOTUNE_JOBS_PROBE_SEGMENTS_H

#include <stdbool.h>

/* Times in ns are whole femtoseconds: what rises by less than a thousand of them in all is level,
 * for of so little even a hundredth could be rounding. */
#define SEGMENT_LEAST_RISE 1e-3

struct segment_points {
    const double *x, *y;
    int count;
};

/* y = at_0 + slope · x. */
struct line {
    double at_0, slope;
    double squares; /* of what is left, summed */
};
bool line_fit(const struct segment_points *points, struct line *line);

/* y = at_0 + height · ceil(x / period): x from one multiple of the period, exclusive, to the next
 * are one stair. */
struct stairs {
    double period; /* a multiple of `step`; the step itself: each point is on a stair of its own */
    double at_0, height;
};
bool stairs_fit(const struct segment_points *points, double step, struct stairs *stairs);

/* One line up to `at`, another beyond, which meet there. */
struct knee {
    double at;
    struct line before, after;
};
bool knee_fit(const struct segment_points *points, struct knee *knee);

#endif
