/* Taylor coefficients of named functions about any point. A function that solves a differential
 * equation has coefficients that follow from those before by sums of products (Knuth, The Art of
 * Computer Programming 2, 1997, 4.7). One such recurrence a function, in long double, written so
 * that nothing cancels; a common wrapper rounds to double and refuses what is not finite. */
#include "kernels/cubefx/series.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

bool series_expand(const struct series *series, double point, int terms, double *coefficients)
{
    long double c[SERIES_MAX_TERMS + 1] = {0};
    double rounded[SERIES_MAX_TERMS];
    if (terms < 1 || terms > SERIES_MAX_TERMS || !isfinite(point) ||
        !series->recur(point, terms, c))
        return false;
    for (int i = 0; i < terms; i++) {
        rounded[i] = (double)c[i];
        if (!isfinite(rounded[i]))
            return false;
    }
    memcpy(coefficients, rounded, (size_t)terms * sizeof *rounded);
    return true;
}

/* Σ_{i=first}^{last} c_i·c_{n−i}: a coefficient of the square. */
static long double square_term(const long double *c, int n, int first, int last)
{
    long double sum = 0;
    for (int i = first; i <= last; i++)
        sum += c[i] * c[n - i];
    return sum;
}

/* c[i] = derivative[i mod 4] / i!, for functions that are their fourth derivative. */
static void fill_periodic(const long double *derivative, int terms, long double *c)
{
    long double factorial = 1;
    for (int i = 0; i < terms; i++) {
        factorial *= i > 0 ? i : 1;
        c[i] = derivative[i % 4] / factorial;
    }
}

static bool recur_sin(long double p, int terms, long double *c)
{
    const long double derivative[] = {sinl(p), cosl(p), -sinl(p), -cosl(p)};
    fill_periodic(derivative, terms, c);
    return true;
}

static bool recur_cos(long double p, int terms, long double *c)
{
    const long double derivative[] = {cosl(p), -sinl(p), -cosl(p), sinl(p)};
    fill_periodic(derivative, terms, c);
    return true;
}

static bool recur_exp(long double p, int terms, long double *c)
{
    const long double derivative[] = {expl(p), expl(p), expl(p), expl(p)};
    fill_periodic(derivative, terms, c);
    return true;
}

/* tan' = 1 + tan². A point within a double's rounding of a pole counts as the pole: what the
 * series would describe is the rounding. */
static bool recur_tan(long double p, int terms, long double *c)
{
    if (fabsl(cosl(p)) <= DBL_EPSILON * fmaxl(1, fabsl(p)))
        return false;
    c[0] = tanl(p);
    for (int n = 0; n + 1 < terms; n++)
        c[n + 1] = ((n == 0) + square_term(c, n, 0, n)) / (n + 1);
    return true;
}

/* tanh' = 1 − tanh². The first derivative is 1/cosh², for 1 − tanh² would cancel where tanh is
 * near ±1, and all the others carry it as a factor. */
static bool recur_tanh(long double p, int terms, long double *c)
{
    c[0] = tanhl(p);
    c[1] = 1 / coshl(p) / coshl(p);
    for (int n = 1; n + 1 < terms; n++)
        c[n + 1] = -square_term(c, n, 0, n) / (n + 1);
    return true;
}

/* sigmoid(x) = 1/2 + tanh(x/2)/2. */
static bool recur_sigmoid(long double p, int terms, long double *c)
{
    recur_tanh(p / 2, terms, c);
    c[0] = 1 / (1 + expl(-p));
    for (int i = 1; i < terms; i++)
        c[i] = ldexpl(c[i], -i - 1);
    return true;
}

/* With φ the density of the normal distribution, φ' = −xφ gives n·φ_n = −(p·φ_{n−1} + φ_{n−2}),
 * and (xΦ)'' = 2φ + xφ' = 2φ − x²φ; the terms that cancel in it are taken out by that recurrence,
 * which leaves −φ_n + φ_{n−2}/(n(n−1)). */
static bool recur_gelu(long double p, int terms, long double *c)
{
    const long double root_half = 0.70710678118654752440084436210485L;
    const long double density = 0.39894228040143267793994605993438L * expl(-p * p / 2);
    const long double below = erfcl(-p * root_half) / 2;
    long double phi[SERIES_MAX_TERMS + 1];
    phi[0] = density;
    phi[1] = -p * density;
    c[0] = p * below;
    c[1] = below + p * density;
    for (int n = 2; n < terms; n++) {
        phi[n] = -(p * phi[n - 1] + phi[n - 2]) / n;
        c[n] = phi[n - 2] / (n * (n - 1)) - phi[n];
    }
    return true;
}

/* ln|cos|' = −tan, whose coefficients are those of the logarithm from the second on. */
static bool recur_log_amplitude(long double p, int terms, long double *c)
{
    long double tangent[SERIES_MAX_TERMS + 1];
    if (!recur_tan(p, terms, tangent))
        return false;
    c[0] = logl(fabsl(cosl(p)));
    for (int i = 1; i < terms; i++)
        c[i] = -tangent[i - 1] / i;
    return true;
}

/* cos²' = −sin(2x). The terms are those of sin, of twice the argument. */
static bool recur_power(long double p, int terms, long double *c)
{
    long double sine[SERIES_MAX_TERMS + 1];
    recur_sin(2 * p, terms, sine);
    c[0] = cosl(p) * cosl(p);
    for (int i = 1; i < terms; i++)
        c[i] = -ldexpl(sine[i - 1], i - 1) / i;
    return true;
}

static bool recur_gradient(long double p, int terms, long double *c)
{
    const long double derivative[] = {-sinl(p), -cosl(p), sinl(p), cosl(p)};
    fill_periodic(derivative, terms, c);
    return true;
}

static bool recur_log1p(long double p, int terms, long double *c)
{
    long double power = 1;
    if (p <= -1)
        return false;
    c[0] = log1pl(p);
    for (int i = 1; i < terms; i++) {
        power /= -(1 + p);
        c[i] = -power / i;
    }
    return true;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double gelu(double x)
{
    return x * erfc(-x * 0.70710678118654752440) / 2;
}

static double log_amplitude(double x)
{
    return log(fabs(cos(x)));
}

static double power(double x)
{
    return cos(x) * cos(x);
}

static double gradient(double x)
{
    return -sin(x);
}

const struct series series_functions[] = {
    {"sin", sin, recur_sin},
    {"cos", cos, recur_cos},
    {"tan", tan, recur_tan},
    {"tanh", tanh, recur_tanh},
    {"sigmoid", sigmoid, recur_sigmoid},
    {"gelu", gelu, recur_gelu},
    {"exp", exp, recur_exp},
    {"log1p", log1p, recur_log1p},
    {"amplitude", cos, recur_cos},
    {"log-amplitude", log_amplitude, recur_log_amplitude},
    {"power", power, recur_power},
    {"gradient", gradient, recur_gradient},
    {NULL, NULL, NULL},
};

const struct series *series_find(const char *name, int length)
{
    for (const struct series *s = series_functions; s->name; s++)
        if (length >= 0 && strlen(s->name) == (size_t)length &&
            strncasecmp(s->name, name, (size_t)length) == 0)
            return s;
    return NULL;
}
