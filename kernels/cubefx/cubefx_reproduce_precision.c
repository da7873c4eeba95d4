/* Tang 2024, Table 4.1: relative errors in per cent of six functions at three points, by Horner's
 * rule and by Cube-fx in FP16. Order n is n coefficients: powers 0 … n − 1. */
#include "kernels/chapter.h"
#include "kernels/cubefx/cubefx.h"
#include "kernels/details.h"

#include "kernels/cubefx/cubefx_eval.h"
#include "kernels/cubefx/series.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FUNCTIONS = 6, POINTS = 3, ORDERS = 2, METHODS = 2 };
enum { ROWS = FUNCTIONS * POINTS * ORDERS * METHODS };

#define ROUNDING                                                                                   \
    "an error of FP16 rounding, which one rounding more or less moves; theirs is against NumPy "   \
    "in "                                                                                          \
    "FP16, ours against the function in double"

#define ROW(function, x, method, order, error)                                                     \
    {                                                                                              \
        "T Table 4.1", function "(" x "), " method ", order " order, "% error", error, ROUNDING    \
    }
#define POINT(function, x, horner8, cube8, horner16, cube16)                                       \
    ROW(function, x, "Horner", "8", horner8), ROW(function, x, "Cube-fx", "8", cube8),             \
        ROW(function, x, "Horner", "16", horner16), ROW(function, x, "Cube-fx", "16", cube16)

static const struct published rows[ROWS] = {
    POINT("sin", "0.14", 0.012, 0.012, 0.012, 0.012),
    POINT("sin", "0.52", 0.011, 0.011, 0.011, 0.011),
    POINT("sin", "2.08", 0.178, 0.178, 0.046, 0.046),
    POINT("cos", "0.14", 0.002, 0.002, 0.002, 0.002),
    POINT("cos", "0.52", 0.017, 0.017, 0.017, 0.017),
    POINT("cos", "2.08", 1.917, 1.917, 0.214, 0.214),
    POINT("tan", "0.14", 0.049, 0.049, 0.049, 0.049),
    POINT("tan", "0.52", 0.052, 0.052, 0.034, 0.034),
    POINT("tan", "2.08", 1181, 1180, 11160, 11160),
    POINT("tanh", "0.14", 0.049, 0.049, 0.049, 0.049),
    POINT("tanh", "0.52", 0.017, 0.017, 0.017, 0.017),
    POINT("tanh", "2.08", 597.3, 595.3, 5649, 5620),
    POINT("sigmoid", "0.14", 0.040, 0.040, 0.040, 0.040),
    POINT("sigmoid", "0.52", 0.031, 0.031, 0.031, 0.031),
    POINT("sigmoid", "2.08", 1.239, 1.184, 0.134, 0.134),
    POINT("gelu", "0.14", 0.034, 0.034, 0.049, 0.049),
    POINT("gelu", "0.52", 0.021, 0.021, 0.021, 0.021),
    POINT("gelu", "2.08", 14.17, 14.17, 0.289, 0.194),
};

static enum status evaluate(const struct series *series, double x, int terms, bool horner,
                            double *percent, struct error *error)
{
    double coefficients[CUBEFX_MAX_TERMS];
    struct cubefx_polynomials polynomials = {1, terms, coefficients, 0, 1};
    half input = half_from_float((float)x), result;
    double truth = series->value(x);
    series_expand(series, 0, terms, coefficients);
    if (horner)
        cubefx_horner(&polynomials, &input, 1, &result);
    else
        TRY(cubefx_eval(&polynomials, &input, 1, 16, 1, &result, NULL, error));
    *percent = 100 * fabs((half_to_float(result) - truth) / truth);
    return STATUS_OK;
}

static enum status compute(struct reproduction *r, double *ours, struct error *error)
{
    static const char *const names[FUNCTIONS] = {"sin", "cos", "tan", "tanh", "sigmoid", "gelu"};
    static const double points[POINTS] = {0.14, 0.52, 2.08};
    (void)r;
    for (int row = 0; row < ROWS; row++) {
        const char *name = names[row / (POINTS * ORDERS * METHODS)];
        double x = points[row / (ORDERS * METHODS) % POINTS];
        TRY(evaluate(series_find(name, (int)strlen(name)), x, row / METHODS % ORDERS ? 16 : 8,
                     row % METHODS == 0, &ours[row], error));
    }
    return STATUS_OK;
}

const struct chapter precision_chapter = {rows, ROWS, compute};
