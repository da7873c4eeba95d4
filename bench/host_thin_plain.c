#include "bench/host_thin_plain.h"

void plain_rows(int64_t m, int64_t k, int64_t n, const float *restrict a, const float *restrict b,
                float *restrict c)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            c[i * n + j] = 0;
        for (int64_t p = 0; p < k; p++)
            for (int64_t j = 0; j < n; j++)
                c[i * n + j] += a[i * k + p] * b[p * n + j];
    }
}

void plain_vector(int64_t m, int64_t k, const float *restrict a, const float *restrict b,
                  float *restrict c)
{
    for (int64_t i = 0; i < m; i++) {
        float sum = 0;
        for (int64_t p = 0; p < k; p++)
            sum += a[i * k + p] * b[p];
        c[i] = sum;
    }
}

void plain_dots(int64_t m, int64_t k, int64_t n, const float *restrict a, const float *restrict b,
                float *restrict c)
{
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            float sum = 0;
            for (int64_t p = 0; p < k; p++)
                sum += a[i * k + p] * b[p * n + j];
            c[i * n + j] = sum;
        }
}
