/* A product of two matrices with the tilings of a tuned table:
 *
 *   example_sgemm TABLE.csv M K N */
#include <autotune_sgemm.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char message[256];
    if (argc != 5)
        return fputs("usage: example_sgemm TABLE.csv M K N\n", stderr), 2;
    int64_t m = atoll(argv[2]), k = atoll(argv[3]), n = atoll(argv[4]);
    struct autotune_sgemm *sgemm = autotune_sgemm_open(argv[1], 1, message, sizeof message);
    if (!sgemm)
        return fprintf(stderr, "%s\n", message), 2;
    struct autotune_sgemm_plan plan;
    if (autotune_sgemm_explain(sgemm, m, k, n, &plan) != AUTOTUNE_SGEMM_OK)
        return fputs("no such product\n", stderr), 2;
    printf("%s%s\n", plan.source == AUTOTUNE_SGEMM_EXACT ? "the table's own tiling" : plan.reason,
           plan.source == AUTOTUNE_SGEMM_NEAREST ? "; the nearest one's" : "");
    float *a = malloc((size_t)(m * k) * sizeof *a), *b = malloc((size_t)(k * n) * sizeof *b);
    float *c = malloc((size_t)(m * n) * sizeof *c);
    for (int64_t i = 0; a && i < m * k; i++) /* row i of A holds i + 1 */
        a[i] = (float)(i / k + 1);
    for (int64_t i = 0; b && i < k * n; i++)
        b[i] = 1;
    if (!a || !b || !c || autotune_sgemm(sgemm, m, k, n, a, b, c) != AUTOTUNE_SGEMM_OK)
        return fputs("out of memory\n", stderr), 2;
    printf("c[0][0] = %g, c[%lld][%lld] = %g\n", (double)c[0], (long long)m - 1, (long long)n - 1,
           (double)c[m * n - 1]);
    free(a), free(b), free(c);
    autotune_sgemm_close(sgemm);
    return 0;
}
