/* Plays Algorithm 1 of Tang 2024 and finds the breaks in its curves. A point is a program of three
 * lines as text, parsed and simulated. The curve is cut into one, two or three straight pieces,
 * every way to cut it being tried, each piece a line of least squares by GSL; the fewest pieces
 * that leave next to nothing count. Where two lines meet is the break. */
#include "tools/contention_sweep.h"

#include "core/program_text.h"
#include "costmodel/simulate.h"

#include <gsl/gsl_fit.h>
#include <math.h>
#include <string.h>

const struct contention_case contention_cases[CONTENTION_CASES] = {
    {"reading grows, writing is fixed", "MTE2 gm->l1", "MTE3 ub->gm"},
    {"writing grows, reading is fixed", "MTE3 ub->gm", "MTE2 gm->l1"},
    {"reading grows, a private path is fixed", "MTE2 gm->l1", "MTE3 ub->l1"},
    {"a private path grows, reading is fixed", "MTE3 ub->l1", "MTE2 gm->l1"},
};

size_t contention_count(const struct contention_sweep *sweep)
{
    return (size_t)(sweep->max_bytes / sweep->step_bytes) + 1;
}

static double busy_ns(const struct hardware *hw, const struct timeline *timeline,
                      const char *transfer)
{
    int pipe = hardware_pipe(hw, transfer, (int)strcspn(transfer, " "));
    return (double)timeline->busy_fs[pipe] / FS_PER_NS;
}

static enum status play_one(const struct contention_sweep *sweep, int64_t bytes,
                            struct simulator *simulator, struct contention_point *point,
                            struct error *error)
{
    const struct contention_case *what = sweep->what;
    const struct simulate_options options = {.cores = 1};
    struct program program;
    struct timeline timeline;
    char text[256];
    int length = snprintf(text, sizeof text, "%s bytes=%lld\nS nop count=%lld\n%s bytes=%lld\n",
                          what->growing, (long long)bytes, (long long)sweep->nops, what->fixed,
                          (long long)sweep->fixed_bytes);
    enum status status =
        program_parse(sweep->hw, what->name, text, (size_t)length, &program, error);
    if (status != STATUS_OK)
        return status;
    status = simulate(simulator, &program, &options, &timeline, error);
    if (status == STATUS_OK)
        *point =
            (struct contention_point){(double)bytes, busy_ns(sweep->hw, &timeline, what->growing),
                                      busy_ns(sweep->hw, &timeline, what->fixed)};
    program_clear(&program);
    return status;
}

enum status contention_play(const struct contention_sweep *sweep, struct contention_point *points,
                            struct error *error)
{
    struct simulator *simulator = simulator_new();
    enum status status = simulator ? STATUS_OK : error_memory(error);
    size_t count = contention_count(sweep);
    for (size_t i = 0; i < count && status == STATUS_OK; i++)
        status = play_one(sweep, (int64_t)i * sweep->step_bytes, simulator, &points[i], error);
    if (simulator)
        simulator_free(simulator);
    return status;
}

/* Times against bytes, as strided columns of the points. */
struct columns {
    const double *bytes, *ns;
    size_t count;
};

enum { STRIDE = sizeof(struct contention_point) / sizeof(double) };

struct line {
    double offset, slope;
    double residual; /* sum of squares */
};

static struct line fit_line(const struct columns *columns, size_t first, size_t last)
{
    struct line line;
    double unused[3];
    gsl_fit_linear(columns->bytes + first * STRIDE, STRIDE, columns->ns + first * STRIDE, STRIDE,
                   last - first, &line.offset, &line.slope, &unused[0], &unused[1], &unused[2],
                   &line.residual);
    return line;
}

/* The best way to cut the points from `first` on into so many segments of two points or more;
 * ends[s] is where segment s stops. Returns the sum of squares that is left. */
static double split(const struct columns *columns, size_t first, int segments, size_t *ends)
{
    size_t tail[CONTENTION_SEGMENTS] = {0};
    double best = INFINITY;
    if (segments == 1) {
        ends[0] = columns->count;
        return fit_line(columns, first, columns->count).residual;
    }
    for (size_t end = first + 2; end + 2 * ((size_t)segments - 1) <= columns->count; end++) {
        double residual =
            fit_line(columns, first, end).residual + split(columns, end, segments - 1, tail);
        if (residual < best) {
            best = residual;
            ends[0] = end;
            memcpy(ends + 1, tail, ((size_t)segments - 1) * sizeof *tail);
        }
    }
    return best;
}

static void describe(const struct columns *columns, const size_t *ends, struct contention_fit *fit)
{
    struct line before = fit_line(columns, 0, ends[0]);
    fit->slope_ns_per_byte[0] = before.slope;
    for (int s = 1; s < fit->segments; s++) {
        struct line line = fit_line(columns, ends[s - 1], ends[s]);
        double meet = (line.offset - before.offset) / (before.slope - line.slope);
        fit->slope_ns_per_byte[s] = line.slope;
        fit->breakpoint_bytes[s - 1] = meet;
        fit->breakpoint_ns[s - 1] = line.offset + line.slope * meet;
        before = line;
    }
}

void contention_fit(const struct contention_point *points, size_t count,
                    enum contention_series series, struct contention_fit *fit)
{
    const double close_ns = 1e-4; /* far above the clock's rounding, far below any effect */
    const struct columns columns = {
        &points->grown_bytes, series == CONTENTION_GROWN ? &points->grown_ns : &points->fixed_ns,
        count};
    size_t ends[CONTENTION_SEGMENTS] = {0};
    int most = count < (size_t)2 * CONTENTION_SEGMENTS ? 1 : CONTENTION_SEGMENTS;
    *fit = (struct contention_fit){0};
    do
        fit->segments++;
    while (sqrt(split(&columns, 0, fit->segments, ends) / (double)count) > close_ns &&
           fit->segments < most);
    describe(&columns, ends, fit);
}
