/* A layer of a network as BLAS would be asked for it: Y = X·Wᵀ + Y, with weights stored n×k and
 * activations that are part of a wider matrix. Then one row alone, as when a token is decoded. */
#include <autotune_sgemm.h>
#include <stdio.h>

enum { M = 30, K = 40, N = 50, WIDE = 64 };
static float x[M * WIDE], w[N * K], y[M * N];

int main(void)
{
    struct autotune_sgemm *sgemm = autotune_sgemm_open(NULL, 1, NULL, 0);
    struct autotune_sgemm_product layer = {.m = M,
                                           .k = K,
                                           .n = N,
                                           .a = x,
                                           .lda = WIDE,
                                           .b = w,
                                           .transpose_b = 1,
                                           .c = y,
                                           .alpha = 1,
                                           .beta = 1};
    for (int i = 0; i < M * WIDE; i++)
        x[i] = 1;
    for (int row = 0; row < N; row++)
        for (int i = 0; i < K; i++)
            w[row * K + i] = (float)row;
    for (int i = 0; i < M * N; i++)
        y[i] = 0.5F; /* a bias */
    if (!sgemm || autotune_sgemm_general(sgemm, &layer) != AUTOTUNE_SGEMM_OK)
        return 2;
    printf("Y begins %g %g %g and ends with %g\n", (double)y[0], (double)y[1], (double)y[2],
           (double)y[M * N - 1]);
    layer.m = 1;
    layer.beta = 0;
    if (autotune_sgemm_general(sgemm, &layer) != AUTOTUNE_SGEMM_OK)
        return 2;
    printf("one row ends with %g\n", (double)y[N - 1]);
    autotune_sgemm_close(sgemm);
    return 0;
}
