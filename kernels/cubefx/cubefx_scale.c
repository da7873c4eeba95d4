/* Chooses the scale of a call. Every power of two from 2^-24 to 2^17 whose scaled coefficients fit
 * FP16 is judged by what the range costs it: the bits of coefficients that become subnormal, and
 * the steps of small powers, relative to the rounding that no scale avoids. Coefficients grow with
 * the scale, so the first that do not fit end the search. */
#include "kernels/cubefx/cubefx_scale.h"

#include <math.h>

static const double half_largest = 65504;
static const double half_normal = 0x1p-14;    /* the smallest that has all 11 bits */
static const double half_half_step = 0x1p-25; /* rounding of what is smaller */
static const double half_rounding = 0x1p-12;  /* relative, of what is not */

float cubefx_round(float value)
{
    return half_to_float(half_from_float(value));
}

float cubefx_power(float logarithm, int64_t i)
{
    return cubefx_round((float)exp((double)cubefx_round((float)i * logarithm)));
}

int64_t cubefx_degree(const struct cubefx_polynomials *polynomials)
{
    int64_t degree = 0, terms = polynomials->terms;
    for (int64_t f = 0; f < polynomials->functions; f++)
        for (int64_t i = degree + 1; i < terms; i++)
            if (polynomials->coefficients[f * terms + i] != 0)
                degree = i;
    return degree;
}

/* Term by term, so that ∞ − ∞ shows; a missing term is not 0·∞. */
static double value_at_infinity(const double *a, int64_t terms, double v)
{
    double sum = a[0], power = v;
    for (int64_t i = 1; i < terms; i++) {
        if (a[i] != 0)
            sum += a[i] * power;
        power *= v;
    }
    return sum;
}

double cubefx_value(const struct cubefx_polynomials *polynomials, int64_t f, double v)
{
    int64_t terms = polynomials->terms;
    const double *a = polynomials->coefficients + f * terms;
    if (isinf(v))
        return value_at_infinity(a, terms, v);
    double sum = 0;
    for (int64_t i = terms; i-- > 0;)
        sum = sum * v + a[i];
    return sum;
}

bool cubefx_overflows(double v, double scale, int64_t degree)
{
    float scaled = cubefx_round((float)(fabs(v) / scale));
    if (degree == 0 || scaled <= 1)
        return false;
    return isinf(scaled) || isinf(cubefx_power(cubefx_round(logf(scaled)), degree));
}

static bool coefficients_fit(const struct cubefx_polynomials *polynomials, double scale)
{
    int64_t terms = polynomials->terms;
    for (int64_t f = 0; f < polynomials->functions; f++) {
        double power = scale;
        for (int64_t i = 1; i < terms; i++) {
            if (fabs(polynomials->coefficients[f * terms + i]) * power > half_largest)
                return false;
            power *= scale;
        }
    }
    return true;
}

/* What FP16's range, not its 11 bits, costs one polynomial at `reach`, in units of the rounding
 * that cannot be avoided: coefficients too small for all their bits, and the step of powers that
 * are. */
static double range_loss(const double *a, int64_t terms, double scale, double reach)
{
    double loss = 0, size = fabs(a[0]);
    for (int64_t i = 1; i < terms; i++) {
        if (a[i] == 0)
            continue;
        double coefficient = fabs(a[i]) * pow(scale, (double)i);
        double power = pow(reach / scale, (double)i);
        double kept = (double)cubefx_round((float)coefficient);
        if (coefficient < half_normal)
            loss += fabs(kept - coefficient) * power;
        loss += half_half_step * coefficient;
        size += coefficient * power;
    }
    return loss / (half_rounding * size + half_half_step);
}

static double worst_loss(const struct cubefx_polynomials *polynomials, double scale, double reach)
{
    double worst = 0;
    for (int64_t f = 0; f < polynomials->functions; f++) {
        const double *a = polynomials->coefficients + f * polynomials->terms;
        worst = fmax(worst, range_loss(a, polynomials->terms, scale, reach));
    }
    return worst;
}

/* Without scaling where that loses less than the rounding of a result; else where the least is
 * lost, and where not even the powers fit, the largest that the coefficients allow. */
bool cubefx_choose_scale(const struct cubefx_polynomials *polynomials, double reach, double *scale)
{
    int64_t degree = cubefx_degree(polynomials);
    double least = INFINITY, largest = 0;
    *scale = polynomials->scale != 0 ? polynomials->scale : 1;
    if (polynomials->scale != 0)
        return coefficients_fit(polynomials, polynomials->scale);
    if (coefficients_fit(polynomials, 1) && !cubefx_overflows(reach, 1, degree) &&
        worst_loss(polynomials, 1, reach) <= 1)
        return true;
    for (int e = CUBEFX_MIN_EXPONENT; e <= CUBEFX_MAX_EXPONENT; e++) {
        double candidate = ldexp(1, e);
        if (!coefficients_fit(polynomials, candidate))
            break;
        largest = candidate;
        if (cubefx_overflows(reach, candidate, degree))
            continue;
        double loss = worst_loss(polynomials, candidate, reach);
        if (loss < least) {
            least = loss;
            *scale = candidate;
        }
    }
    if (isinf(least) && largest > 0)
        *scale = largest;
    return largest > 0;
}
