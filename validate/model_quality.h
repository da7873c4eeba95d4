/* How well a model predicts measured times of one problem's tilings: how far off it is, whether it
 * orders them as they are, and what following it costs.
 *
 *   model_quality(predicted, measured, count, &qualities[i], &error)   for each shape
 *   model_quality_mean(qualities, shapes), model_quality_worst(…)      over shapes */
#ifndef AUTOTUNE_VALIDATE_MODEL_QUALITY_H
#define AUTOTUNE_VALIDATE_MODEL_QUALITY_H

#include "core/status.h"

enum { MODEL_QUALITY_TOP = 3 };

/* NAN: not known (no tilings; a rank correlation of one tiling or of equal times). */
struct model_quality {
    int count;                       /* of tilings with both times, finite and > 0 */
    double mean_error, median_error; /* |predicted / measured - 1| */
    double worst_error;
    double bias;         /* median of predicted / measured */
    double spearman;     /* rank correlation; equal times share the mean of their ranks */
    double regret_first; /* measured time of the model's first pick ÷ least measured; >= 1 */
    double regret_top;   /* of the best of its first MODEL_QUALITY_TOP */
};

/* predicted[i] and measured[i] belong to the same tiling, in one unit; pairs that are not both
 * finite and positive (a tiling that could not be measured) are left out. Equal predictions are
 * picked in the order given. STATUS_NO_MEMORY. */
enum status model_quality(const double predicted[], const double measured[], int count,
                          struct model_quality *quality, struct error *error);

/* Over shapes: of each figure the mean of those that are known, and the worst (the least of the
 * rank correlations, of the bias the one furthest from 1). `count` is the number of shapes with any
 * tilings. */
struct model_quality model_quality_mean(const struct model_quality shapes[], int count);
struct model_quality model_quality_worst(const struct model_quality shapes[], int count);

#endif
