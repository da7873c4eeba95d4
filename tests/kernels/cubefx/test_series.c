/* Taylor coefficients against closed forms at 0, against Cauchy's integral formula at random points
 * (which knows nothing of recurrences) and against the functions themselves. */
#include "kernels/cubefx/series.h"
#include "tests/support/cases.h"

#include <complex.h>
#include <criterion/criterion.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>
#include <string.h>

enum { TERMS = SERIES_MAX_TERMS, CIRCLE = 512 };

static const struct series *find(const char *name)
{
    const struct series *series = series_find(name, (int)strlen(name));
    cr_assert(series, "%s", name);
    return series;
}

static void expand(const char *name, double point, double *c)
{
    cr_assert(series_expand(find(name), point, TERMS, c), "%s at %g", name, point);
}

static void expect_near(const char *what, int n, double got, double expected, double relative)
{
    cr_expect(fabs(got - expected) <= relative * fabs(expected),
              "%s: coefficient %d is %.17g, not %.17g", what, n, got, expected);
}

Test(series, found_in_any_case_by_whole_name)
{
    static const char *const names[] = {"sin",       "cos",           "tan",   "tanh",
                                        "sigmoid",   "gelu",          "exp",   "log1p",
                                        "amplitude", "log-amplitude", "power", "gradient"};
    int count = 0;
    for (const struct series *s = series_functions; s->name; s++)
        cr_expect_str_eq(s->name, names[count++]);
    cr_expect_eq(count, 12);
    cr_expect_eq(series_find("GeLU,sin", 4), find("gelu"));
    cr_expect_eq(series_find("TAN", 3), find("tan"));
    cr_expect_eq(series_find("TANH", 4), find("tanh"));
    cr_expect_null(series_find("ta", 2));
    cr_expect_null(series_find("tanhx", 5));
    cr_expect_null(series_find("", 0));
    cr_expect_null(series_find("sin", -1));
}

/* Triangle of the tangent and secant numbers (Seidel, Arnold): exact integers below 2^53 to the
 * 19th row. The n-th derivative of tan at 0 is its last entry for odd n. */
static double tangent_number(int n)
{
    double row[32] = {1}, next[32];
    for (int i = 1; i <= n; i++) {
        next[0] = 0;
        for (int j = 1; j <= i; j++)
            next[j] = next[j - 1] + row[i - j];
        memcpy(row, next, sizeof row);
    }
    return n % 2 ? row[n] : 0;
}

Test(series, tangent_numbers_at_zero)
{
    double tangent[TERMS], hyperbolic[TERMS], logistic[TERMS];
    expand("tan", 0, tangent);
    expand("tanh", 0, hyperbolic);
    expand("sigmoid", 0, logistic);
    cr_expect_eq(tangent_number(7), 272); /* 1, 2, 16, 272 */
    cr_expect_eq(logistic[0], 0.5);
    for (int n = 0; n <= 19; n++) {
        double expected = tangent_number(n) / gsl_sf_fact((unsigned)n);
        double sign = n % 4 == 3 ? -1 : 1;
        expect_near("tan", n, tangent[n], expected, 1e-15);
        expect_near("tanh", n, hyperbolic[n], sign * expected, 1e-15);
        if (n > 0)
            expect_near("sigmoid", n, logistic[n], sign * ldexp(expected, -n - 1), 1e-15);
    }
    /* Far out only the nearest poles count, ±π/2: the coefficients are 2·(2/π)^(n+1). */
    for (int n = 41; n < TERMS; n += 2)
        expect_near("tan", n, tangent[n], 2 * pow(M_2_PI, n + 1), 1e-13);
}

Test(series, factorials_at_zero)
{
    double sine[TERMS], cosine[TERMS], exponential[TERMS], logarithm[TERMS];
    expand("sin", 0, sine);
    expand("cos", 0, cosine);
    expand("exp", 0, exponential);
    expand("log1p", 0, logarithm);
    for (int n = 0; n < TERMS; n++) {
        double inverse = exp(-gsl_sf_lnfact((unsigned)n)), sign = n % 4 < 2 ? 1 : -1;
        expect_near("exp", n, exponential[n], inverse, 1e-12);
        expect_near("sin", n, sine[n], n % 2 ? sign * inverse : 0, 1e-12);
        expect_near("cos", n, cosine[n], n % 2 ? 0 : sign * inverse, 1e-12);
        expect_near("log1p", n, logarithm[n], n ? (n % 2 ? 1.0 : -1.0) / n : 0, 1e-15);
    }
}

/* x·Φ(x) at 0: x/2 + Σ_m (−1)^m x^(2m+2) / (√(2π)·2^m·m!·(2m+1)). */
Test(series, gelu_at_zero)
{
    double c[TERMS];
    expand("gelu", 0, c);
    expect_near("gelu", 1, c[1], 0.5, 0);
    for (int n = 0; n < TERMS; n++)
        if (n != 1 && (n < 2 || n % 2))
            cr_expect_eq(c[n], 0, "coefficient %d", n);
    for (int m = 0; 2 * m + 2 < TERMS; m++) {
        double expected =
            exp(-gsl_sf_lnfact((unsigned)m) - m * M_LN2) / sqrt(2 * M_PI) / (2 * m + 1);
        expect_near("gelu", 2 * m + 2, c[2 * m + 2], m % 2 ? -expected : expected, 1e-12);
    }
}

typedef complex long double complex_function(complex long double z);

static complex long double complex_sigmoid(complex long double z)
{
    return 1 / (1 + cexpl(-z));
}

static complex long double complex_log1p(complex long double z)
{
    return clogl(1 + z);
}

/* (x·Φ)'' = (2 − x²)·φ */
static complex long double complex_gelu_curvature(complex long double z)
{
    return (2 - z * z) * cexpl(-z * z / 2) / sqrtl(2 * 3.14159265358979323846264338327950288L);
}

static complex long double complex_power(complex long double z)
{
    return ccosl(z) * ccosl(z);
}

static complex long double complex_gradient(complex long double z)
{
    return -csinl(z);
}

/* (ln|cos|)' */
static complex long double complex_log_amplitude_slope(complex long double z)
{
    return -ctanl(z);
}

/* c[n]·radius^n by the trapezoidal rule on a circle; returns the largest |f| on it. */
static double cauchy(complex_function *f, double point, double radius, int terms, double *c)
{
    complex long double values[CIRCLE];
    long double most = 0;
    const long double turn = 2 * 3.14159265358979323846264338327950288L / CIRCLE;
    for (int i = 0; i < CIRCLE; i++) {
        values[i] = f(point + radius * cexpl(I * turn * i));
        most = fmaxl(most, cabsl(values[i]));
    }
    for (int n = 0; n < terms; n++) {
        complex long double sum = 0;
        for (int i = 0; i < CIRCLE; i++)
            sum += values[i] * cexpl(-I * turn * (i * n % CIRCLE));
        c[n] = (double)(creall(sum) / CIRCLE);
    }
    return (double)most;
}

/* Distances to the nearest singularity. */
static double far(double p)
{
    (void)p;
    return 8;
}

static double to_tan_pole(double p)
{
    return fabs(remainder(p - M_PI_2, M_PI));
}

static double to_tanh_pole(double p)
{
    return hypot(p, M_PI_2);
}

static double to_sigmoid_pole(double p)
{
    return hypot(p, M_PI);
}

static double to_minus_one(double p)
{
    return 1 + p;
}

static const struct {
    const char *name;
    complex_function *function;
    double (*radius)(double point);
    int derivative; /* of which `function` is the value */
} cauchy_cases[] = {
    {"sin", csinl, far, 0},
    {"cos", ccosl, far, 0},
    {"exp", cexpl, far, 0},
    {"tan", ctanl, to_tan_pole, 0},
    {"tanh", ctanhl, to_tanh_pole, 0},
    {"sigmoid", complex_sigmoid, to_sigmoid_pole, 0},
    {"log1p", complex_log1p, to_minus_one, 0},
    {"gelu", complex_gelu_curvature, far, 2},
    {"amplitude", ccosl, far, 0},
    {"power", complex_power, far, 0},
    {"gradient", complex_gradient, far, 0},
    {"log-amplitude", complex_log_amplitude_slope, to_tan_pole, 1},
};

static void check_cauchy(size_t which, double point, double share)
{
    double c[TERMS], reference[TERMS];
    double radius = share * cauchy_cases[which].radius(point);
    int derivative = cauchy_cases[which].derivative;
    double most =
        cauchy(cauchy_cases[which].function, point, radius, TERMS - derivative, reference);
    expand(cauchy_cases[which].name, point, c);
    for (int n = derivative; n < TERMS; n++) {
        double factor = derivative == 2 ? n * (n - 1) : derivative == 1 ? n : 1;
        double got = c[n] * factor * pow(radius, n - derivative);
        cr_expect(fabs(got - reference[n - derivative]) <= 2e-15 * most,
                  "%s at %.17g: coefficient %d times %g^n is %.17g, not %.17g",
                  cauchy_cases[which].name, point, n, radius, got, reference[n - derivative]);
    }
}

/* log1p is drawn above −1. */
static double draw_point(gsl_rng *rng, size_t which)
{
    double point = 6 * gsl_rng_uniform(rng) - 3;
    return strcmp(cauchy_cases[which].name, "log1p") == 0 ? fabs(point) - 0.9 : point;
}

Test(series, agree_with_cauchys_formula)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int rounds = test_cases(24);
    for (int i = 0; i < rounds; i++)
        for (size_t which = 0; which < sizeof cauchy_cases / sizeof *cauchy_cases; which++) {
            double point = draw_point(rng, which);
            check_cauchy(which, point, 0.1);
            check_cauchy(which, point, 0.5);
        }
    gsl_rng_free(rng);
}

/* Near the point the series is the function. */
Test(series, sum_to_the_function)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (const struct series *s = series_functions; s->name; s++)
        for (int i = 0; i < 2000; i++) {
            double point = 6 * gsl_rng_uniform(rng) - 3, sum = 0, c[TERMS];
            bool has_poles = strcmp(s->name, "tan") == 0 || strcmp(s->name, "log-amplitude") == 0;
            double radius = has_poles ? to_tan_pole(point) : 1;
            if (strcmp(s->name, "log1p") == 0)
                radius = 1 + (point = fabs(point) - 0.9);
            double h = fmin(1, radius / 2) * (2 * gsl_rng_uniform(rng) - 1);
            cr_assert(series_expand(s, point, TERMS, c));
            for (int n = TERMS; n-- > 0;)
                sum = sum * h + c[n];
            double expected = s->value(point + h);
            cr_expect(fabs(sum - expected) <= 1e-12 * fmax(1, fabs(expected)),
                      "%s at %g + %g: %.17g, not %.17g", s->name, point, h, sum, expected);
        }
    gsl_rng_free(rng);
}

/* Where tanh is 1 in double, its slope is not 0; neither is Φ far below 0. */
Test(series, tails_keep_relative_accuracy)
{
    double c[TERMS];
    expand("tanh", 30, c);
    expect_near("tanh", 1, c[1], 4 * exp(-60), 1e-14);
    expect_near("tanh", 2, c[2], -4 * exp(-60), 1e-14);
    expand("sigmoid", -40, c);
    expect_near("sigmoid", 0, c[0], exp(-40), 1e-14);
    expect_near("sigmoid", 3, c[3], exp(-40) / 6, 1e-14);
    expand("gelu", -12, c);
    expect_near("gelu", 0, c[0], find("gelu")->value(-12), 1e-13);
    cr_expect_lt(c[0], 0);
    /* value: −φ(12)·(1 − 1/12² + 3/12⁴ − 15/12⁶ …), the asymptotic series of Mills' ratio */
    expect_near("gelu", 0, c[0],
                -exp(-72) / sqrt(2 * M_PI) * (1 - 1 / 144. + 3 / 20736. - 15 / 2985984.), 1e-6);
    expand("tanh", 1000, c);
    cr_expect_eq(c[0], 1);
    cr_expect_eq(c[5], 0);
}

/* A signal's lower half has a logarithm, that of its size. */
Test(series, log_amplitude_is_of_the_size)
{
    double above[TERMS], below[TERMS];
    expand("log-amplitude", 0.5, above);
    expand("log-amplitude", 0.5 + M_PI, below);
    for (int n = 0; n < TERMS; n++)
        expect_near("log-amplitude", n, below[n], above[n], 1e-13);
    cr_expect_float_eq(find("log-amplitude")->value(3), log(-cos(3)), 1e-15);
    /* by hand, from the derivatives of tan */
    double t = tan(0.5), c2 = 1 / (cos(0.5) * cos(0.5));
    expect_near("log-amplitude", 1, above[1], -t, 1e-14);
    expect_near("log-amplitude", 2, above[2], -c2 / 2, 1e-14);
    expect_near("log-amplitude", 3, above[3], -t * c2 / 3, 1e-14);
    expect_near("log-amplitude", 4, above[4], -c2 * (c2 + 2 * t * t) / 12, 1e-14);
}

/* A shorter expansion is the beginning of a longer one, and nothing behind it is written. */
Test(series, terms_are_a_prefix)
{
    for (const struct series *s = series_functions; s->name; s++) {
        double all[TERMS];
        cr_assert(series_expand(s, 0.7, TERMS, all));
        for (int terms = 1; terms < TERMS; terms++) {
            double some[TERMS];
            for (int i = 0; i < TERMS; i++)
                some[i] = -77;
            cr_assert(series_expand(s, 0.7, terms, some));
            cr_expect_eq(memcmp(some, all, (size_t)terms * sizeof *some), 0);
            cr_expect_eq(some[terms], -77, "%s", s->name);
        }
    }
}

static void expect_none(const char *name, double point, int terms)
{
    double c[TERMS] = {-77};
    cr_expect_not(series_expand(find(name), point, terms, c), "%s at %g", name, point);
    cr_expect_eq(c[0], -77, "%s at %g", name, point);
}

Test(series, none_where_there_is_none)
{
    expect_none("log1p", -1, 1);
    expect_none("log1p", -1.5, 4);
    expect_none("tan", M_PI_2, 1);
    expect_none("tan", -M_PI_2, 8);
    expect_none("tan", 5 * M_PI_2, 3);
    expect_none("log-amplitude", M_PI_2, 2);
    expect_none("log-amplitude", -3 * M_PI_2, 2);
    expect_none("exp", 1000, 3);
    expect_none("tan", M_PI_2 + 1e-9, TERMS); /* (1e9)^65 */
    expect_none("log1p", nextafter(-1, 0), TERMS);
    for (const struct series *s = series_functions; s->name; s++) {
        expect_none(s->name, NAN, 3);
        expect_none(s->name, INFINITY, 3);
        expect_none(s->name, 0.5, 0);
        expect_none(s->name, 0.5, -1);
        expect_none(s->name, 0.5, TERMS + 1);
    }
    double c[TERMS];
    cr_expect(series_expand(find("tan"), M_PI_2 + 1e-9, 4, c)); /* steep, but finite */
    cr_expect(series_expand(find("log1p"), -0.999, TERMS, c));
}
