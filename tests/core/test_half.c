/* FP16 conversions: against the values of the bits, exactly, and against the nearest of them. */
#include "core/half.h"
#include "tests/support/cases.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>
#ifdef __x86_64__
#include <immintrin.h>
#endif

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The value of finite FP16 bits by definition; 2^16 stands for infinity's place in the row. */
static double exact(half value)
{
    int exponent = value >> 10 & 31, fraction = value & 1023;
    double magnitude = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    return value & 0x8000 ? -magnitude : magnitude;
}

/* Rounding by definition: bisect for the neighbours, take the nearer or the even one. All
 * differences are exact in doubles: neighbours share 24 bits with what lies between them. */
static half nearest(float value)
{
    double magnitude = fabs((double)value);
    half sign = signbit(value) ? 0x8000 : 0, low = 0, high = HALF_INFINITY;
    if (isnan(value))
        return HALF_NAN;
    if (magnitude >= 65536)
        return sign | HALF_INFINITY;
    while (high - low > 1) {
        half middle = (half)((low + high) / 2);
        if (exact(middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    double below = magnitude - exact(low), above = exact(high) - magnitude;
    bool up = below > above || (below == above && (low & 1));
    return sign | (up ? high : low);
}

static void expect_float(uint32_t bits)
{
    float value = float_of(bits);
    half result = half_from_float(value);
    if (isnan(value))
        cr_assert(isnan(half_to_float(result)), "%08x", bits);
    else
        cr_assert_eq(result, nearest(value), "%08x: %04x, expected %04x", bits, result,
                     nearest(value));
}

Test(half, every_half_becomes_its_value_and_comes_back)
{
    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        half value = (half)bits;
        float wide = half_to_float(value);
        if ((value & 0x7fff) > HALF_INFINITY) { /* quiet; sign and payload stay */
            cr_assert(isnan(wide));
            cr_assert_eq(half_from_float(wide), value | 0x200);
        } else {
            cr_assert_eq(half_from_float(wide), value);
            cr_assert_eq(!!signbit(wide), value >> 15);
            if ((value & 0x7fff) == HALF_INFINITY)
                cr_assert(isinf(wide));
            else
                cr_assert_eq((double)wide, exact(value));
        }
    }
}

/* Every half, every midpoint between neighbours, and the floats on either side of them. */
Test(half, rounds_to_nearest_even_around_every_half)
{
    for (uint32_t low = 0; low < HALF_INFINITY; low++) {
        float middle = (float)((exact((half)low) + exact((half)(low + 1))) / 2);
        uint32_t at = bits_of(half_to_float((half)low)), between = bits_of(middle);
        for (uint32_t i = 0; i < 3; i++) {
            expect_float((at ? at : 1) - 1 + i);
            expect_float(between - 1 + i);
            expect_float((between - 1 + i) | 0x80000000);
        }
    }
}

Test(half, rounds_to_nearest_even_at_the_ends)
{
    const uint32_t ends[] = {0,          1,          0x007fffff, 0x00800000, 0x32ffffff,
                             0x33000000, 0x33000001, 0x33800000, 0x387fc000, 0x387fe000,
                             0x38800000, 0x477fe000, 0x477fefff, 0x477ff000, 0x477fffff,
                             0x47800000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        expect_float(ends[i]);
        expect_float(ends[i] | 0x80000000);
    }
    cr_assert_eq(half_from_float(-0.0F), 0x8000);
    cr_assert_eq(half_from_float(0x1p-25F), 0);
    cr_assert_eq(half_from_float(0x1.000002p-25F), 1);
    cr_assert_eq(half_from_float(65519.996F), HALF_LARGEST);
    cr_assert_eq(half_from_float(65520.0F), HALF_INFINITY);
}

Test(half, rounds_to_nearest_even_at_random)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 11);
    for (int i = 0; i < test_cases(500000); i++) {
        uint32_t bits = (uint32_t)gsl_rng_get(rng);
        expect_float(bits);
        expect_float((bits & 0x80ffffff) + ((100 + bits % 48) << 23)); /* within reach of FP16 */
    }
    gsl_rng_free(rng);
}

#ifdef __x86_64__
/* The processor's own conversion, F16C; clang cannot ask for it, but AVX2 never comes without. */
__attribute__((target("f16c"))) static half by_processor(float value)
{
    return (half)_mm_extract_epi16(_mm_cvtps_ph(_mm_set1_ps(value), _MM_FROUND_TO_NEAREST_INT), 0);
}

Test(half, agrees_with_the_processor)
{
    if (!__builtin_cpu_supports("avx2"))
        cr_skip_test("no F16C");
    uint32_t stride = 401 * (uint32_t)test_thinning();
    for (uint64_t bits = 0; bits <= UINT32_MAX; bits += stride) {
        float value = float_of((uint32_t)bits);
        cr_assert_eq(half_from_float(value), by_processor(value), "%08x", (uint32_t)bits);
    }
}
#endif
