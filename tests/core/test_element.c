/* Elements as numbers: every element of the small types there and back, and rounding beside what
 * the compiler's own types do. */
#include "core/element.h"
#include "core/half.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

Test(element, bytes_of_all_small_elements)
{
    static const enum dtype types[] = {DTYPE_F16, DTYPE_BF16, DTYPE_I16,
                                       DTYPE_U16, DTYPE_I8,   DTYPE_U8};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int bits = 0; bits < 1 << (8 * dtype_bytes(types[t])); bits++) {
            uint16_t out = 0, in = (uint16_t)bits;
            double x = element_get(types[t], &in);
            element_put(types[t], x, &out);
            cr_assert(out == in || isnan(x), "%s %x: %x", dtype_name(types[t]), in, out);
            cr_assert(element_round(types[t], x) == x || isnan(x), "%s %x", dtype_name(types[t]),
                      in);
        }
}

/* The nearest of two neighbours, by their distance; of equally near ones the even. */
static double nearest_half(double x)
{
    half below = half_from_float((float)x);
    double best = half_to_float(below);
    for (int d = -2; d <= 2; d++) {
        half near = (half)(below + d);
        double y = half_to_float(near);
        double is = fabs(y - x), was = fabs(best - x);
        if (isfinite(y) && (is < was || (is == was && !(near & 1))))
            best = y;
    }
    return best;
}

Test(element, doubles_are_rounded_once)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_taus);
    /* 1 + 2^-11 is a tie; a little above it is not, which FP32 does not see */
    cr_expect_eq(element_round(DTYPE_F16, 1 + ldexp(1, -11)), 1);
    cr_expect_eq(element_round(DTYPE_F16, 1 + ldexp(1, -11) + ldexp(1, -40)), 1 + ldexp(1, -10));
    cr_expect_eq(element_round(DTYPE_BF16, 1 + ldexp(1, -8) + ldexp(1, -40)), 1 + ldexp(1, -7));
    for (int i = 0; i < 200000; i++) {
        half h = (half)gsl_rng_uniform_int(rng, 0x7bff);
        double x = half_to_float(h), next = half_to_float((half)(h + 1));
        double y = x + (next - x) * (gsl_rng_uniform_int(rng, 2) ? 0.5 : gsl_rng_uniform(rng));
        y += gsl_rng_uniform_int(rng, 2) ? ldexp(y, -45) : 0;
        cr_assert_eq(element_round(DTYPE_F16, y), nearest_half(y), "%.17g", y);
    }
    gsl_rng_free(rng);
}

Test(element, what_a_type_does_not_hold)
{
    static const struct {
        enum dtype type;
        double number, expected;
    } rows[] = {
        {DTYPE_F16, 65519, 65504},
        {DTYPE_F16, 65520, INFINITY},
        {DTYPE_F16, -1e300, -INFINITY},
        {DTYPE_F16, 1e-300, 0},
        {DTYPE_F32, 1e300, INFINITY},
        {DTYPE_BF16, 3.4e38, INFINITY},
        {DTYPE_I8, 200, 127},
        {DTYPE_I8, -200, -128},
        {DTYPE_I8, 2.5, 2},
        {DTYPE_I8, 3.5, 4},
        {DTYPE_I8, NAN, 0},
        {DTYPE_U8, -1, 0},
        {DTYPE_I32, 1e10, 2147483647},
        {DTYPE_U32, 1e10, 4294967295},
        {DTYPE_I32, -INFINITY, INT32_MIN},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(element_round(rows[i].type, rows[i].number), rows[i].expected, "%s %g",
                     dtype_name(rows[i].type), rows[i].number);
    cr_expect(isnan(element_round(DTYPE_F16, NAN)) && isnan(element_round(DTYPE_BF16, NAN)));
}
