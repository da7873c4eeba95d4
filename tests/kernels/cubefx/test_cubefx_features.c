/* The short-time autocorrelation: its coefficients against a Cauchy product, windows against sums
 * made one by one, and what is no autocorrelation. */
#include "kernels/cubefx/cubefx_accuracy.h"
#include "kernels/cubefx/cubefx_windows.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TERMS = SERIES_MAX_TERMS, VALUES = 300 };

static struct cubefx_function read_one(const char *text)
{
    struct cubefx_function function;
    struct error error;
    int count;
    cr_assert_eq(cubefx_functions_parse(text, 1, &function, &count, &error), STATUS_OK, "%s",
                 error.text);
    return function;
}

Test(cubefx_features, autocorrelation_is_a_product_of_two_series)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < 500; i++) {
        double point = 6 * gsl_rng_uniform(rng) - 3, lag = 6 * gsl_rng_uniform(rng) - 3;
        double c[TERMS], here[TERMS], later[TERMS];
        struct cubefx_function function = read_one("autocorrelation:0:1");
        function.lag = lag;
        cr_assert(cubefx_function_expand(&function, point, TERMS, c));
        cr_assert(series_expand(series_find("cos", 3), point, TERMS, here));
        cr_assert(series_expand(series_find("cos", 3), point + lag, TERMS, later));
        for (int n = 0; n < 30; n++) {
            double sum = 0, size = 0;
            for (int k = 0; k <= n; k++) {
                sum += here[k] * later[n - k];
                size += fabs(here[k] * later[n - k]);
            }
            cr_expect(fabs(c[n] - sum) <= 1e-14 * size + 1e-300,
                      "at %g, lag %g: coefficient %d is %g, expected %g", point, lag, n, c[n], sum);
        }
        double x = point + 0.4;
        cr_expect_float_eq(cubefx_function_value(&function, point, x), cos(x) * cos(x + lag),
                           1e-15);
    }
    gsl_rng_free(rng);
}

Test(cubefx_features, autocorrelation_is_read)
{
    struct cubefx_function function = read_one("AutoCorrelation:-0.25:128");
    cr_expect_eq(function.lag, -0.25);
    cr_expect_eq(function.window, 128);
    cr_expect_null(function.series);
    cr_expect_str_eq(function.name, "AutoCorrelation:-0.25:128");
    cr_expect_eq(read_one("sin").window, 1);
    cr_expect_eq(read_one("1:2").window, 1);
    static const char *const wrong[] = {
        "autocorrelation",       "autocorrelation:",       "autocorrelation:1",
        "autocorrelation:1:0",   "autocorrelation:1:129",  "autocorrelation:1:2.5",
        "autocorrelation:1:2:3", "autocorrelation:nan:2",  "autocorrelation:1:-4",
        "autocorrelation:x:2",   "autocorrelation:1:1e99", "autocorrelations:1:2",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct error error;
        int count;
        cr_expect_eq(cubefx_functions_parse(wrong[i], 1, &function, &count, &error), STATUS_INVALID,
                     "%s", wrong[i]);
        cr_expect(strstr(error.text, wrong[i]) && strstr(error.text, ":LAG:WINDOW"), "%s",
                  error.text);
    }
}

static half draw(gsl_rng *rng)
{
    const double odd[] = {NAN, INFINITY, -INFINITY, 65504, -65504, 5.96e-8};
    unsigned long kind = gsl_rng_uniform_int(rng, 40);
    double x = kind < 6 ? odd[kind] : 8 * gsl_rng_uniform(rng) - 4;
    return half_from_float((float)x);
}

/* As if each window were summed alone, in long double. */
static float brute_force(const half *values, int64_t count, int64_t stride, int64_t window)
{
    long double sum = 0;
    for (int64_t k = 0; k < window && k < count; k++)
        sum += half_to_float(values[k * stride]);
    return half_to_float(half_from_float((float)sum));
}

Test(cubefx_features, windows_are_what_each_sum_is)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int round = 0; round < 300; round++) {
        half values[VALUES], sums[VALUES];
        int64_t stride = 1 + (int64_t)gsl_rng_uniform_int(rng, 5), count = VALUES / stride;
        int64_t window = 1 + (int64_t)gsl_rng_uniform_int(rng, 2 * VALUES);
        if (round % 3)
            window = 1 + window % 20;
        for (int i = 0; i < VALUES; i++)
            values[i] = draw(rng);
        cubefx_windows(values, count, stride, window, sums);
        for (int64_t i = 0; i < count; i++) {
            float got = half_to_float(sums[i]);
            float expected = brute_force(values + i * stride, count - i, stride, window);
            cr_expect(got == expected || (isnan(got) && isnan(expected)),
                      "window %lld of %lld from %lld on: %g, expected %g", (long long)window,
                      (long long)count, (long long)i, (double)got, (double)expected);
        }
    }
    gsl_rng_free(rng);
}

/* Errors of windows of some inputs are no more than that many times those of one. */
Test(cubefx_features, accuracy_is_of_whole_windows)
{
    struct cubefx_function functions[2] = {read_one("autocorrelation:0.5:1"),
                                           read_one("autocorrelation:0.5:16")};
    struct cubefx_accuracy accuracies[2];
    struct error error;
    cr_assert_eq(cubefx_accuracy(functions, 2, 0, 16, accuracies, NULL, &error), STATUS_OK, "%s",
                 error.text);
    cr_expect_eq(accuracies[0].samples, CUBEFX_ACCURACY_SAMPLES);
    cr_expect_eq(accuracies[1].samples, CUBEFX_ACCURACY_SAMPLES - 15);
    cr_expect_lt(accuracies[0].cubefx.max_absolute, 0.001);
    cr_expect_lt(accuracies[1].cubefx.max_absolute, 0.016);
    cr_expect_gt(accuracies[1].cubefx.max_absolute, accuracies[0].cubefx.max_absolute);
    cr_expect_lt(accuracies[1].cubefx.max_relative, 0.002);
}

/* Samples at which the signal is 0 have no logarithm and do not count; its lower half has one. */
Test(cubefx_features, log_amplitude_where_the_signal_is_below_0)
{
    struct cubefx_function function = read_one("log-amplitude");
    struct cubefx_accuracy accuracy;
    struct error error;
    cr_assert_eq(cubefx_accuracy(&function, 1, 3, 24, &accuracy, NULL, &error), STATUS_OK, "%s",
                 error.text);
    cr_expect_eq(accuracy.samples, CUBEFX_ACCURACY_SAMPLES);
    cr_expect_lt(accuracy.cubefx.max_absolute, 0.01);
    cr_assert_eq(
        cubefx_accuracy(&function, 1, 3.14159265358979323846 / 2, 24, &accuracy, NULL, &error),
        STATUS_INVALID);
    cr_expect(strstr(error.text, "log-amplitude has no Taylor series"), "%s", error.text);
}
