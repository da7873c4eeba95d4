#include "bench/host_poly_plain.h"

void plain_horner(const float *restrict coefficients, int64_t functions, int64_t terms,
                  const float *restrict x, int64_t count, float *restrict results)
{
    for (int64_t f = 0; f < functions; f++) {
        const float *a = coefficients + f * terms;
        for (int64_t i = 0; i < count; i++) {
            float sum = 0, x_i = x[i];
            int64_t t = terms;
            do /* with `for` gcc 12 sees a loop that may not run, and vectorises nothing */
                sum = sum * x_i + a[--t];
            while (t > 0);
            results[f * count + i] = sum;
        }
    }
}

void plain_terms_outside(const float *restrict coefficients, int64_t functions, int64_t terms,
                         const float *restrict x, int64_t count, float *restrict results)
{
    for (int64_t f = 0; f < functions; f++) {
        const float *a = coefficients + f * terms;
        float *restrict r = results + f * count;
        for (int64_t i = 0; i < count; i++)
            r[i] = a[terms - 1];
        for (int64_t t = terms - 2; t >= 0; t--)
            for (int64_t i = 0; i < count; i++)
                r[i] = r[i] * x[i] + a[t];
    }
}

void plain_powers(int64_t terms, const float *restrict x, int64_t count, float *restrict powers)
{
    for (int64_t i = 0; i < count; i++)
        powers[i] = 1;
    for (int64_t t = 1; t < terms; t++)
        for (int64_t i = 0; i < count; i++)
            powers[t * count + i] = powers[(t - 1) * count + i] * x[i];
}
