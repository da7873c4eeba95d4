#include "kernels/knn.h"
#include "kernels/knn_host.h"

static const char *const size_names[KNN_SIZES] = {"m", "d", "n", "k"};
static const int64_t size_defaults[] = {0};

static const char *const loops[] = {"early", "full"};
static const char *const compares[] = {"hardware", "relu"};
static const char *const indices[] = {"hardware", "vector"};
static const char *const steps[] = {"mean", "max"};

static const struct operator_choice choices[KNN_CHOICES] = {
    [KNN_LOOP] = {"loop", 2, loops},
    [KNN_COMPARE] = {"vec-compare", 2, compares},
    [KNN_INDEX] = {"index", 2, indices},
    [KNN_STEPS] = {"steps", 2, steps},
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

static double operations(const struct problem *problem)
{
    return 2.0 * (double)problem->size[KNN_M] * (double)problem->size[KNN_D] *
           (double)problem->size[KNN_N];
}

static const struct operator_space *const spaces[] = {&knn_selb, &knn_host_space, NULL};

const struct operator knn_operator = {
    .name = "knn",
    .title = "k nearest of N training points for each of M test points, by cosine distance",
    .shape_form = "MxDxN",
    .shape_sizes = 3,
    .size_count = KNN_SIZES,
    .size_names = size_names,
    .size_defaults = size_defaults,
    .choice_count = KNN_CHOICES,
    .choices = choices,
    .check = check,
    .operations = operations,
    .spaces = spaces,
};
