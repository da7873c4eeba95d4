/* A product of two matrices with the tiling of a tuned table: example_sgemm TABLE.csv */
#include <autotune_sgemm.h>
#include <stdio.h>

enum { M = 250, K = 300, N = 64 };
static float a[M * K], b[K * N], c[M * N];

int main(int argc, char **argv)
{
    char message[256];
    struct autotune_sgemm_plan plan;
    struct autotune_sgemm *sgemm =
        autotune_sgemm_open(argc > 1 ? argv[1] : NULL, 1, message, sizeof message);
    if (!sgemm) {
        (void)fprintf(stderr, "%s\n", message);
        return 2;
    }
    for (int i = 0; i < M * K; i++)
        a[i] = 1;
    for (int i = 0; i < K * N; i++)
        b[i] = 2;
    enum autotune_sgemm_status status = autotune_sgemm(sgemm, M, K, N, a, b, c);
    if (status == AUTOTUNE_SGEMM_OK &&
        autotune_sgemm_explain(sgemm, M, K, N, &plan) == AUTOTUNE_SGEMM_OK)
        printf("%dx%dx%d: %s\nC ends with %g\n", M, K, N, *plan.reason ? plan.reason : "its own",
               (double)c[M * N - 1]);
    autotune_sgemm_close(sgemm);
    return status != AUTOTUNE_SGEMM_OK;
}
