/* Finds the best number of Sequence Matrices to merge. The integer program has one variable of at
 * most s values, so all of them are tried. Counts are exact integers, and one that does not fit 63
 * bits is an error. */
#include "kernels/cubefx/cubefx_merge.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

static enum status check_problem(const struct merge_problem *problem, struct error *error)
{
    if (problem->edge < 1 || problem->edge > MERGE_MAX_EDGE)
        return error_set(error, STATUS_INVALID, "matrix unit of edge %" PRId64 ": expected 1 to %d",
                         problem->edge, MERGE_MAX_EDGE);
    if (problem->order < 1)
        return error_set(error, STATUS_INVALID, "order %" PRId64 ": expected 1 or more",
                         problem->order);
    if (problem->functions < 1)
        return error_set(error, STATUS_INVALID, "%" PRId64 " functions: expected 1 or more",
                         problem->functions);
    if (!isfinite(problem->transfer_weight) || problem->transfer_weight < 0)
        return error_set(error, STATUS_INVALID,
                         "transfer weight %g: expected a finite number of at least 0",
                         problem->transfer_weight);
    return STATUS_OK;
}

/* ⌈a·t/s⌉; false on overflow. */
static bool blocks(int64_t a, int64_t t, int64_t s, int64_t *count)
{
    int64_t product;
    if (__builtin_mul_overflow(a, t, &product))
        return false;
    *count = product / s + (product % s > 0);
    return true;
}

static bool fill_plan(const struct merge_problem *problem, int64_t t, struct merge_plan *plan)
{
    int64_t s = problem->edge, across, down, products, transfers;
    if (!blocks(problem->order, t, s, &down) || !blocks(problem->functions, t, s, &across))
        return false;
    plan->steps = s / t + (s % t > 0);
    if (__builtin_add_overflow(across, 1, &products) ||
        __builtin_mul_overflow(products, down, &products) ||
        __builtin_mul_overflow(products, plan->steps, &plan->mac_count) ||
        __builtin_add_overflow(plan->mac_count, 1, &transfers) ||
        __builtin_mul_overflow(transfers, s * s, &plan->transfer_elements))
        return false;
    plan->cost =
        (double)plan->mac_count + problem->transfer_weight * (double)plan->transfer_elements;
    return true;
}

enum status merge_evaluate(const struct merge_problem *problem, int64_t merge,
                           struct merge_plan *plan, struct error *error)
{
    struct merge_plan result;
    TRY(check_problem(problem, error));
    if (merge < 1 || merge > problem->edge)
        return error_set(error, STATUS_INVALID,
                         "merge %" PRId64 ": expected 1 to %" PRId64 ", the unit's edge", merge,
                         problem->edge);
    if (!fill_plan(problem, merge, &result))
        return error_set(error, STATUS_TOO_LARGE,
                         "order %" PRId64 " with %" PRId64 " functions: the count of products or "
                         "of moved elements does not fit 63 bits",
                         problem->order, problem->functions);
    *plan = result;
    return STATUS_OK;
}

/* Costs are compared by M, of which they are a growing function: in double two that differ could
 * round to the same. */
static void keep_optima(struct merge_choice *choice)
{
    int64_t least = INT64_MAX;
    choice->optimal_count = 0;
    for (int64_t t = 1; t <= choice->edge; t++) {
        int64_t count = choice->plans[t - 1].mac_count;
        if (count < least) {
            least = count;
            choice->optimal_count = 0;
        }
        if (count == least)
            choice->optimal[choice->optimal_count++] = t;
    }
    choice->merge = choice->optimal[0];
}

enum status merge_choose(const struct merge_problem *problem, struct merge_choice *choice,
                         struct error *error)
{
    enum status status = check_problem(problem, error);
    if (status != STATUS_OK)
        return status;
    struct merge_choice result = {.edge = problem->edge};
    result.plans = calloc((size_t)problem->edge, sizeof *result.plans);
    result.optimal = calloc((size_t)problem->edge, sizeof *result.optimal);
    if (!result.plans || !result.optimal) {
        merge_choice_clear(&result);
        return error_memory(error);
    }
    for (int64_t t = 1; status == STATUS_OK && t <= problem->edge; t++)
        status = merge_evaluate(problem, t, result.plans + t - 1, error);
    if (status != STATUS_OK) {
        merge_choice_clear(&result);
        return status;
    }
    keep_optima(&result);
    *choice = result;
    return STATUS_OK;
}

void merge_choice_clear(struct merge_choice *choice)
{
    free(choice->plans);
    free(choice->optimal);
    *choice = (struct merge_choice){0};
}
