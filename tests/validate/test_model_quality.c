/* validate/model_quality: figures of hand-made predictions. */
#include "validate/model_quality.h"

#include <criterion/criterion.h>
#include <math.h>

static struct model_quality quality_of(const double predicted[], const double measured[], int count)
{
    struct model_quality quality;
    struct error error;
    cr_assert_eq(model_quality(predicted, measured, count, &quality, &error), STATUS_OK);
    return quality;
}

#define NEAR(got, want) cr_expect_float_eq(got, want, 1e-12)

Test(model_quality, by_hand)
{
    const double measured[] = {10, 20, 40, 80, 50};
    const double predicted[] = {12, 11, 40, 60, 75};
    struct model_quality q = quality_of(predicted, measured, 5);
    cr_expect_eq(q.count, 5);
    NEAR(q.mean_error, (0.2 + 0.45 + 0 + 0.25 + 0.5) / 5);
    NEAR(q.median_error, 0.25);
    NEAR(q.worst_error, 0.5);
    NEAR(q.bias, 1.0); /* of 0.55 0.75 1 1.2 1.5 */
    /* Ranks 2 1 3 4 5 against 1 2 3 5 4: 1 - 6·4 / (5·24) */
    NEAR(q.spearman, 0.8);
    NEAR(q.regret_first, 2.0); /* picks the second */
    NEAR(q.regret_top, 1.0);
}

Test(model_quality, top_is_three)
{
    const double measured[] = {10, 11, 12, 13, 5};
    const double predicted[] = {4, 3, 2, 1, 5};
    struct model_quality q = quality_of(predicted, measured, 5);
    NEAR(q.regret_first, 13.0 / 5);
    NEAR(q.regret_top, 11.0 / 5);
}

Test(model_quality, equal_predictions_go_by_index)
{
    const double measured[] = {7, 5, 6, 4};
    const double predicted[] = {3, 2, 2, 2};
    struct model_quality q = quality_of(predicted, measured, 4);
    NEAR(q.regret_first, 5.0 / 4);
    NEAR(q.regret_top, 1.0);
    /* Ranks 4 2 2 2 against 4 2 3 1. */
    NEAR(q.spearman, 3 / sqrt(15));
}

Test(model_quality, leaves_out_what_was_not_measured)
{
    const double measured[] = {0, 10, NAN, 20, 5, -1, INFINITY, 4};
    const double predicted[] = {1, 10, 1, 40, INFINITY, 1, 1, 0};
    struct model_quality q = quality_of(predicted, measured, 8);
    cr_expect_eq(q.count, 2);
    NEAR(q.mean_error, 0.5);
    NEAR(q.median_error, 0.5);
    NEAR(q.spearman, 1.0);
    NEAR(q.regret_first, 1.0);
}

Test(model_quality, too_few_tilings)
{
    const double one = 3;
    struct model_quality none = quality_of(NULL, NULL, 0), single = quality_of(&one, &one, 1);
    cr_expect(none.count == 0 && isnan(none.mean_error) && isnan(none.regret_first));
    cr_expect(single.count == 1 && isnan(single.spearman) && single.regret_first == 1);
    const double same[] = {2, 2, 2}, rising[] = {1, 2, 3};
    cr_expect(isnan(quality_of(same, rising, 3).spearman));
    cr_expect(isnan(quality_of(rising, same, 3).spearman));
}

Test(model_quality, over_shapes)
{
    const double nan = NAN;
    const struct model_quality shapes[] = {
        {5, 0.1, 0.05, 0.3, 1.2, 0.9, 1.0, 1.0},
        {0, nan, nan, nan, nan, nan, nan, nan},
        {1, 0.3, 0.15, 0.4, 0.5, nan, 1.5, 1.25},
        {3, 0.2, 0.10, 0.2, 1.0, 0.5, 1.1, 1.0},
    };
    struct model_quality mean = model_quality_mean(shapes, 4);
    struct model_quality worst = model_quality_worst(shapes, 4);
    cr_expect_eq(mean.count, 3);
    NEAR(mean.mean_error, 0.2);
    NEAR(mean.median_error, 0.1);
    NEAR(mean.worst_error, 0.3);
    NEAR(mean.bias, 0.9);
    NEAR(mean.spearman, 0.7);
    NEAR(mean.regret_first, 1.2);
    NEAR(mean.regret_top, 3.25 / 3);
    cr_expect_eq(worst.count, 3);
    NEAR(worst.mean_error, 0.3);
    NEAR(worst.median_error, 0.15);
    NEAR(worst.worst_error, 0.4);
    NEAR(worst.bias, 0.5);
    NEAR(worst.spearman, 0.5);
    NEAR(worst.regret_first, 1.5);
    NEAR(worst.regret_top, 1.25);
    cr_expect(isnan(model_quality_mean(shapes + 1, 1).mean_error));
    cr_expect(isnan(model_quality_worst(NULL, 0).spearman));
}
