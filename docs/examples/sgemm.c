/* Products of two matrices with the tilings of a tuned table: example_sgemm TABLE.csv */
#include <autotune_sgemm.h>

#include <stdio.h>

enum { M = 250, K = 300, N = 64 };

static void multiply(struct autotune_sgemm *sgemm, int64_t m, int64_t k, int64_t n)
{
    static float a[M * K], b[K * N], c[M * N];
    struct autotune_sgemm_plan plan;
    for (int64_t i = 0; i < m * k; i++)
        a[i] = 1;
    for (int64_t i = 0; i < k * n; i++)
        b[i] = 2;
    if (autotune_sgemm_explain(sgemm, m, k, n, &plan) != AUTOTUNE_SGEMM_OK ||
        autotune_sgemm(sgemm, m, k, n, a, b, c) != AUTOTUNE_SGEMM_OK)
        return;
    printf("%dx%dx%d: %s\nC ends with %g\n", (int)m, (int)k, (int)n,
           plan.source == AUTOTUNE_SGEMM_EXACT ? "an entry of its own" : plan.reason,
           (double)c[m * n - 1]);
}

int main(int argc, char **argv)
{
    char message[256];
    struct autotune_sgemm *sgemm =
        autotune_sgemm_open(argc > 1 ? argv[1] : NULL, 1, message, sizeof message);
    if (!sgemm) {
        (void)fprintf(stderr, "%s\n", message);
        return 2;
    }
    multiply(sgemm, 64, 64, 64);
    multiply(sgemm, M, K, N);
    autotune_sgemm_close(sgemm);
    return 0;
}
