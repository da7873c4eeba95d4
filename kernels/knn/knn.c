/* The operator as tables: its sizes and their limits, the choices that an algorithm leaves open,
 * its spaces, loops and published figures. */
#include "kernels/knn/knn.h"
#include "kernels/chapter.h"
#include "kernels/knn/host/knn_host.h"

static const char *const size_names[KNN_SIZES] = {"m", "d", "n", "k"};
static const struct operator_size options[] = {{"K", "neighbours of each point", 0, false}};

static const char *const endings[] = {"early", "full"};
static const char *const compares[] = {"hardware", "relu"};
static const char *const indices[] = {"hardware", "vector"};
static const char *const steps[] = {"mean", "max"};

static const struct operator_choice choices[KNN_CHOICES] = {
    [KNN_LOOP] = {"loop", 2, endings, "stop when no row is left (default), or run all row tests"},
    [KNN_COMPARE] = {"vec-compare", 2, compares,
                     "vecCmp and vecSel (default), or bit operations and ReLU"},
    [KNN_INDEX] = {"index", 2, indices,
                   "the index of a minimum from reduceMin (default), or by vector operations"},
    [KNN_STEPS] = {"steps", 2, steps,
                   "loop steps of a tile as k/t (default), or as the exact expectation"},
};

#define MAX_SIZE    (INT64_C(1) << 31)
#define MAX_PRODUCT 1e15

static enum status check(const struct problem *problem, struct error *error)
{
    const int64_t *size = problem->size;
    double product = 1;
    for (int i = 0; i < KNN_K; i++) {
        product *= (double)size[i];
        if (size[i] >= MAX_SIZE)
            return error_set(error, STATUS_INVALID, "%s = %lld, expected less than 2^31",
                             size_names[i], (long long)size[i]);
    }
    if (product > MAX_PRODUCT)
        return error_set(error, STATUS_INVALID,
                         "m·d·n = %.3g multiplications, expected at most %.0g", product,
                         MAX_PRODUCT);
    if (size[KNN_K] > KNN_MAX_K)
        return error_set(error, STATUS_INVALID, "--k %lld: expected at most %d",
                         (long long)size[KNN_K], KNN_MAX_K);
    if (size[KNN_K] > size[KNN_N])
        return error_set(error, STATUS_INVALID,
                         "--k %lld: expected at most n = %lld, the number of training points",
                         (long long)size[KNN_K], (long long)size[KNN_N]);
    return STATUS_OK;
}

static double operations(const struct problem *problem, const struct hardware *hw)
{
    (void)hw;
    return 2.0 * (double)problem->size[KNN_M] * (double)problem->size[KNN_D] *
           (double)problem->size[KNN_N];
}

static const struct loop_family *const loops[] = {&knn_loops, NULL};
static const struct chapter *const chapters[] = {&knn_chapter, NULL};

static const struct operator_space *const spaces[] = {&knn_selb, &knn_host_space, NULL};

const struct operator knn_operator = {
    .name = "knn",
    .title = "k nearest of N training points for each of M test points, by cosine distance",
    .shape_form = "MxDxN",
    .shape_sizes = 3,
    .size_count = KNN_SIZES,
    .size_names = size_names,
    .options = options,
    .choice_count = KNN_CHOICES,
    .choices = choices,
    .check = check,
    .operations = operations,
    .spaces = spaces,
    .runner = &knn_runner,
    .loops = loops,
    .chapters = chapters,
};
