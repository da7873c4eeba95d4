/* How well a model predicts measured times of one problem's tilings: how far off it is, whether it
 * orders them as they are, and what following it costs.
 *
 *   model_quality(predicted, measured, count, &qualities[i], &error)   for each shape
 *   model_quality_mean(qualities, shapes), model_quality_worst(…)      over shapes */
#ifndef AUTOTUNE_VALIDATE_MODEL_QUALITY_H
#define AUTOTUNE_VALIDATE_MODEL_QUALITY_H

#include "core/measured.h"

/* predicted[i] and measured[i] belong to the same tiling, in one unit; pairs that are not both
 * finite and positive (a tiling that could not be measured) are left out. Equal predictions are
 * picked in the order given. STATUS_NO_MEMORY. */
enum status model_quality(const double predicted[], const double measured[], int count,
                          struct model_quality *quality, struct error *error);

/* The same of kernels that nobody chooses among: without regrets, which stay NAN. */
enum status model_errors(const double predicted[], const double measured[], int count,
                         struct model_quality *quality, struct error *error);

/* Over shapes: of each figure the mean of those that are known, and the worst (the least of the
 * rank correlations, of the bias the one furthest from 1). `count` is the number of shapes with any
 * tilings. */
struct model_quality model_quality_mean(const struct model_quality shapes[], int count);
struct model_quality model_quality_worst(const struct model_quality shapes[], int count);

#endif
