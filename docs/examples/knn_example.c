/* The three of eight directions nearest to each of two, by SelB-k-NN in FP16 as on a chip that has
 * neither vector comparisons nor indices. The distance stage works on 2×4 tiles, the selection on
 * 2×2 ones. */
#include "kernels/knn/host/knn_selb_host.h"

#include <math.h>
#include <stdio.h>

enum { TESTS = 2, TRAININGS = 8, DIMENSIONS = 2, K = 3 };

int main(void)
{
    const double pi = acos(-1);
    const struct knn_problem problem = {TESTS, TRAININGS, DIMENSIONS, K};
    const struct knn_options options = {
        .tile_tests = 2,
        .tile_trainings = 4,
        .select = {.tile_rows = 2, .tile_columns = 2, .relu_compare = true, .vector_index = true}};
    const double degrees[TESTS] = {50, 350};
    half tests[TESTS][DIMENSIONS], trainings[DIMENSIONS][TRAININGS];
    int64_t nearest[TESTS][K];
    struct error error;
    for (int i = 0; i < TESTS; i++) { /* a point is a row */
        tests[i][0] = half_from_float((float)cos(degrees[i] * pi / 180));
        tests[i][1] = half_from_float((float)sin(degrees[i] * pi / 180));
    }
    for (int j = 0; j < TRAININGS; j++) { /* a point is a column */
        trainings[0][j] = half_from_float((float)cos(j * pi / 4));
        trainings[1][j] = half_from_float((float)sin(j * pi / 4));
    }
    if (knn_f16(&problem, tests[0], trainings[0], &options, nearest[0], NULL, &error) !=
        STATUS_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (int i = 0; i < TESTS; i++)
        printf("%3.0f degrees: %d %d %d\n", degrees[i], (int)nearest[i][0] * 45,
               (int)nearest[i][1] * 45, (int)nearest[i][2] * 45);
    return 0;
}
