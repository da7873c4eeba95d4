/* A window slides from the last value to the first: what comes in is added, what falls out is
 * subtracted. FP16 values are multiples of 2^-24 below 2^16, so that double holds such sums, of up
 * to 2^13 values, exactly and nothing is left of what fell out. What is not finite is counted
 * instead. */
#include "kernels/cubefx/cubefx_windows.h"

#include <math.h>

struct window {
    double sum;
    int64_t nans, plus, minus; /* infinities */
};

/* `times` is 1 for what comes in, −1 for what falls out. */
static void count(struct window *window, half value, int times)
{
    double x = (double)half_to_float(value);
    window->nans += isnan(x) ? times : 0;
    window->plus += x == HUGE_VAL ? times : 0;
    window->minus += x == -HUGE_VAL ? times : 0;
    window->sum += isfinite(x) ? times * x : 0;
}

static double total(const struct window *window)
{
    if (window->nans || (window->plus && window->minus))
        return (double)NAN;
    return window->plus ? HUGE_VAL : window->minus ? -HUGE_VAL : window->sum;
}

void cubefx_windows(const half *values, int64_t values_count, int64_t stride, int64_t size,
                    half *sums)
{
    struct window window = {0};
    for (int64_t i = values_count - 1; i >= 0; i--) {
        count(&window, values[i * stride], 1);
        if (size <= values_count - 1 - i)
            count(&window, values[(i + size) * stride], -1);
        sums[i] = half_from_float((float)total(&window));
    }
}
