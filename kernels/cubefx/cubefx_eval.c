/* Does what the matrix unit does, on the CPU. Inputs are taken by tiles of edge × edge. Their
 * logarithms go through ⌈edge/merge⌉ steps: the product with the step's Sequence Matrix,
 * exponentials, the product with the block-diagonal matrix of coefficients (Tang 2024, Alg. 7 and
 * eq. 4.6 to 4.9). Even and odd powers have columns of their own, which store_step joins by the
 * sign of the input. What the unit cannot take has 0 in the place of its logarithm and gets its
 * polynomial's value in double at the end. */
#include "kernels/cubefx/cubefx_eval.h"

#include "kernels/cubefx/cubefx_scale.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* What becomes of one input before the matrix unit sees it. */
struct lane {
    double v;        /* x − point, not scaled */
    float logarithm; /* of |v|/scale, FP16; finite whatever v is */
    bool negative;   /* v < 0 */
    bool plain;      /* not for the matrix unit: NaN, ±∞, powers beyond FP16 */
};

/* A matrix unit with the constant matrices of one call. Matrices are row-major, their floats hold
 * FP16 values but for `sums`, and their sides are padded to multiples of the edge. */
struct unit {
    const struct cubefx_polynomials *polynomials;
    double scale;
    bool usable; /* the coefficients fit FP16 */
    int64_t edge, merge, degree, steps;
    int64_t power_columns; /* merge × degree, padded: powers 1 … degree of `merge` inputs a row */
    int64_t sum_columns;   /* merge × 2·functions, padded: even sums, then odd ones, an input */
    float *sequences;      /* steps × edge × power_columns */
    float *coefficients;   /* power_columns × sum_columns */
    float *logarithms;     /* edge × edge: an input each */
    float *powers;         /* edge × power_columns */
    float *sums;           /* edge × sum_columns, FP32 */
    struct lane *lanes;    /* edge × edge */
};

static bool is_scale(double scale)
{
    int exponent;
    return frexp(scale, &exponent) == 0.5 && exponent - 1 >= CUBEFX_MIN_EXPONENT &&
           exponent - 1 <= CUBEFX_MAX_EXPONENT;
}

static enum status check_arguments(const struct cubefx_polynomials *polynomials, int64_t count,
                                   int edge, int merge, struct error *error)
{
    int64_t values;
    if (polynomials->functions < 1)
        return error_set(error, STATUS_INVALID, "%" PRId64 " functions: expected at least 1",
                         polynomials->functions);
    if (polynomials->terms < 1 || polynomials->terms > CUBEFX_MAX_TERMS)
        return error_set(error, STATUS_INVALID, "%" PRId64 " terms: expected 1 to %d",
                         polynomials->terms, CUBEFX_MAX_TERMS);
    if (count < 0)
        return error_set(error, STATUS_INVALID, "%" PRId64 " inputs: expected 0 or more", count);
    if (edge < 1 || edge > CUBEFX_MAX_EDGE)
        return error_set(error, STATUS_INVALID, "matrix unit of edge %d: expected 1 to %d", edge,
                         CUBEFX_MAX_EDGE);
    if (merge < 1 || merge > edge)
        return error_set(error, STATUS_INVALID, "merge %d: expected 1 to %d, the unit's edge",
                         merge, edge);
    if (!isfinite(polynomials->point))
        return error_set(error, STATUS_INVALID, "expansion point %g: expected a finite number",
                         polynomials->point);
    if (polynomials->scale != 0 && !is_scale(polynomials->scale))
        return error_set(error, STATUS_INVALID,
                         "scale %g: expected 0 or a power of two, 2^%d to 2^%d", polynomials->scale,
                         CUBEFX_MIN_EXPONENT, CUBEFX_MAX_EXPONENT);
    if (__builtin_mul_overflow(polynomials->functions, polynomials->terms, &values) ||
        __builtin_mul_overflow(polynomials->functions, count, &values))
        return error_set(error, STATUS_TOO_LARGE,
                         "%" PRId64 " functions of %" PRId64
                         " inputs: the number of results does not fit 63 bits",
                         polynomials->functions, count);
    return STATUS_OK;
}

static enum status check_coefficients(const struct cubefx_polynomials *polynomials,
                                      struct error *error)
{
    int64_t terms = polynomials->terms;
    for (int64_t i = 0; i < polynomials->functions * terms; i++)
        if (!isfinite(polynomials->coefficients[i]))
            return error_set(error, STATUS_INVALID,
                             "coefficient %" PRId64 " of function %" PRId64
                             " is %g: expected a finite number",
                             i % terms, i / terms, polynomials->coefficients[i]);
    return STATUS_OK;
}

static int64_t divide_up(int64_t a, int64_t b)
{
    return a / b + (a % b > 0);
}

static double offset(const struct cubefx_polynomials *polynomials, half input)
{
    return (double)half_to_float(input) - polynomials->point;
}

/* The largest |x − point| with a result that FP16 can hold: farther inputs need no powers. */
static double find_reach(const struct cubefx_polynomials *polynomials, const half *inputs,
                         int64_t count)
{
    double reach = 0;
    for (int64_t i = 0; i < count; i++) {
        double v = offset(polynomials, inputs[i]);
        if (!isfinite(v) || fabs(v) <= reach)
            continue;
        for (int64_t f = 0; f < polynomials->functions; f++)
            if (isfinite(cubefx_round((float)cubefx_value(polynomials, f, v)))) {
                reach = fabs(v);
                break;
            }
    }
    return reach;
}

/* Sequence Matrix of a step: row step·merge + u holds 1 … degree in the u-th group of columns. */
static void fill_sequences(struct unit *unit)
{
    int64_t size = unit->edge * unit->power_columns;
    for (int64_t row = 0; row < unit->edge; row++) {
        int64_t step = row / unit->merge, u = row % unit->merge;
        float *sequence = unit->sequences + step * size + row * unit->power_columns;
        for (int64_t i = 1; i <= unit->degree; i++)
            sequence[u * unit->degree + i - 1] = (float)i;
    }
}

/* The block-diagonal matrix of `merge` equal blocks. */
static void fill_coefficients(struct unit *unit)
{
    const struct cubefx_polynomials *polynomials = unit->polynomials;
    int64_t functions = polynomials->functions, degree = unit->degree;
    for (int64_t u = 0; u < unit->merge; u++)
        for (int64_t f = 0; f < functions; f++) {
            const double *a = polynomials->coefficients + f * polynomials->terms;
            double scale = 1;
            for (int64_t i = 1; i <= degree; i++) {
                int64_t row = u * degree + i - 1;
                int64_t column = u * 2 * functions + i % 2 * functions + f;
                scale *= unit->scale;
                if (a[i] != 0)
                    unit->coefficients[row * unit->sum_columns + column] =
                        cubefx_round((float)(a[i] * scale));
            }
        }
}

static void unit_close(struct unit *unit)
{
    free(unit->sequences);
    free(unit->coefficients);
    free(unit->logarithms);
    free(unit->powers);
    free(unit->sums);
    free(unit->lanes);
}

static enum status unit_allocate(struct unit *unit, struct error *error)
{
    int64_t edge = unit->edge, size = 0, bytes;
    if (__builtin_mul_overflow(unit->polynomials->functions, 2 * unit->merge, &unit->sum_columns) ||
        __builtin_add_overflow(unit->sum_columns, edge, &size) ||
        __builtin_mul_overflow(size, unit->power_columns + edge, &size) ||
        __builtin_mul_overflow(size, (int64_t)sizeof(float), &bytes))
        return error_set(error, STATUS_TOO_LARGE,
                         "%" PRId64 " functions: the coefficient matrix does not fit 63 bits",
                         unit->polynomials->functions);
    unit->sum_columns = divide_up(unit->sum_columns, edge) * edge;
    size_t rows = (size_t)edge, powers = (size_t)unit->power_columns + 1; /* never nothing */
    size_t sums = (size_t)unit->sum_columns;
    unit->sequences = calloc((size_t)unit->steps * rows * powers, sizeof(float));
    unit->coefficients = calloc(powers * sums, sizeof(float));
    unit->logarithms = calloc(rows * rows, sizeof(float));
    unit->powers = calloc(rows * powers, sizeof(float));
    unit->sums = calloc(rows * sums, sizeof(float));
    unit->lanes = calloc(rows * rows, sizeof *unit->lanes);
    if (unit->sequences && unit->coefficients && unit->logarithms && unit->powers && unit->sums &&
        unit->lanes)
        return STATUS_OK;
    unit_close(unit);
    error_memory(error);
    return STATUS_NO_MEMORY;
}

static enum status unit_open(struct unit *unit, const struct cubefx_polynomials *polynomials,
                             double reach, int edge, int merge, struct error *error)
{
    *unit = (struct unit){.polynomials = polynomials, .edge = edge, .merge = merge};
    unit->usable = cubefx_choose_scale(polynomials, reach, &unit->scale);
    unit->degree = cubefx_degree(polynomials);
    unit->steps = divide_up(edge, merge);
    unit->power_columns = divide_up(unit->degree * merge, edge) * edge;
    TRY(unit_allocate(unit, error));
    fill_sequences(unit);
    fill_coefficients(unit);
    return STATUS_OK;
}

static struct lane make_lane(const struct unit *unit, half input)
{
    struct lane lane = {.v = offset(unit->polynomials, input)};
    float scaled = cubefx_round((float)(fabs(lane.v) / unit->scale));
    lane.negative = lane.v < 0;
    lane.plain = !isfinite(lane.v) || (unit->degree > 0 && !unit->usable) ||
                 cubefx_overflows(lane.v, unit->scale, unit->degree);
    if (!lane.plain)
        lane.logarithm = scaled > 0 ? cubefx_round(logf(scaled)) : CUBEFX_LOG_OF_ZERO;
    return lane;
}

/* c += a·b on one block; a and b lie within rows of `a_columns` and `columns`. */
static void multiply_block(int64_t edge, const float *a, int64_t a_columns, const float *b,
                           int64_t columns, float *c)
{
    for (int64_t i = 0; i < edge; i++)
        for (int64_t l = 0; l < edge; l++)
            for (int64_t j = 0; j < edge; j++)
                c[i * columns + j] += a[i * a_columns + l] * b[l * columns + j];
}

/* c = a·b, a of edge × inner, b of inner × columns, block by block; every sum runs upwards. */
static void multiply(int64_t edge, const float *a, int64_t inner, const float *b, int64_t columns,
                     float *c)
{
    for (int64_t i = 0; i < edge * columns; i++)
        c[i] = 0;
    for (int64_t j = 0; j < columns; j += edge)
        for (int64_t l = 0; l < inner; l += edge)
            multiply_block(edge, a + l, inner, b + l * columns + j, columns, c + j);
}

/* One step: the sums of `merge` columns of the tile's inputs. */
static void run_step(struct unit *unit, int64_t step)
{
    int64_t size = unit->edge * unit->power_columns;
    multiply(unit->edge, unit->logarithms, unit->edge, unit->sequences + step * size,
             unit->power_columns, unit->powers);
    for (int64_t i = 0; i < size; i++)
        unit->powers[i] = cubefx_power(unit->powers[i], 1);
    multiply(unit->edge, unit->powers, unit->power_columns, unit->coefficients, unit->sum_columns,
             unit->sums);
}

static half lane_result(const struct unit *unit, const struct lane *lane, const float *sums,
                        int64_t f)
{
    const struct cubefx_polynomials *polynomials = unit->polynomials;
    if (lane->plain)
        return half_from_float((float)cubefx_value(polynomials, f, lane->v));
    float even = sums[f], odd = sums[polynomials->functions + f];
    float sum = lane->negative ? even - odd : even + odd;
    return half_from_float(sum + (float)polynomials->coefficients[f * polynomials->terms]);
}

/* Stores what a step has summed; `count` of the tile's inputs exist. */
static void store_step(const struct unit *unit, int64_t step, int64_t count, half *results)
{
    int64_t functions = unit->polynomials->functions, first = step * unit->merge;
    for (int64_t row = 0; row < unit->edge; row++)
        for (int64_t u = 0; u < unit->merge && first + u < unit->edge; u++) {
            int64_t input = row * unit->edge + first + u;
            const float *sums = unit->sums + row * unit->sum_columns + u * 2 * functions;
            for (int64_t f = 0; input < count && f < functions; f++)
                results[input * functions + f] = lane_result(unit, unit->lanes + input, sums, f);
        }
}

static void run_tile(struct unit *unit, const half *inputs, int64_t count, half *results,
                     struct cubefx_eval_summary *summary)
{
    for (int64_t i = 0; i < unit->edge * unit->edge; i++) {
        unit->logarithms[i] = 0;
        if (i >= count)
            continue;
        unit->lanes[i] = make_lane(unit, inputs[i]);
        unit->logarithms[i] = unit->lanes[i].logarithm;
        summary->clamped += unit->lanes[i].logarithm == CUBEFX_LOG_OF_ZERO;
        summary->beyond += unit->lanes[i].plain && isfinite(unit->lanes[i].v);
    }
    for (int64_t step = 0; step < unit->steps; step++) {
        run_step(unit, step);
        store_step(unit, step, count, results);
    }
}

enum status cubefx_eval(const struct cubefx_polynomials *polynomials, const half *inputs,
                        int64_t count, int edge, int merge, half *results,
                        struct cubefx_eval_summary *summary, struct error *error)
{
    struct unit unit;
    TRY(check_arguments(polynomials, count, edge, merge, error));
    TRY(check_coefficients(polynomials, error));
    TRY(unit_open(&unit, polynomials, find_reach(polynomials, inputs, count), edge, merge, error));
    struct cubefx_eval_summary seen = {.scale = unit.scale, .scaled = unit.scale != 1};
    int64_t tile = (int64_t)edge * edge;
    for (int64_t first = 0; first < count; first += tile) {
        int64_t rest = count - first < tile ? count - first : tile;
        run_tile(&unit, inputs + first, rest, results + first * polynomials->functions, &seen);
    }
    unit_close(&unit);
    if (summary)
        *summary = seen;
    return STATUS_OK;
}

void cubefx_horner(const struct cubefx_polynomials *polynomials, const half *inputs, int64_t count,
                   half *results)
{
    int64_t terms = polynomials->terms, functions = polynomials->functions;
    for (int64_t n = 0; n < count; n++)
        for (int64_t f = 0; f < functions; f++) {
            const double *a = polynomials->coefficients + f * terms;
            float v = cubefx_round((float)offset(polynomials, inputs[n]));
            float sum = cubefx_round((float)a[terms - 1]);
            for (int64_t i = terms - 1; i-- > 0;)
                sum = cubefx_round(cubefx_round(sum * v) + cubefx_round((float)a[i]));
            results[n * functions + f] = half_from_float(sum);
        }
}
