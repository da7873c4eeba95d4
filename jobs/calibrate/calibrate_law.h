/* The law of one curve: a line through its points, or two with a knee between them. */
#ifndef AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_LAW_H
#define AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_LAW_H

#include "core/status.h"
#include "formats/curves.h"
#include "validate/linear_fit.h"

#include <stdbool.h>

/* Points as sums of terms: fixed, for each instruction, for each unit of work. */
struct samples {
    int count, terms;
    double *rows, *times_ns;
};

/* time = fixed + each · instructions + work · per_unit */
struct model {
    struct linear_fit fit;
    double mean_error; /* over all points */
    int long_from;     /* points before it follow the short law */
    struct linear_fit short_fit;
};

/* Room for points; false without memory. To be cleared either way. */
bool samples_open(struct samples *samples, int capacity, int terms);
void samples_clear(struct samples *samples);

/* STATUS_INVALID where the points do not grow with the work, or are too few. */
enum status model_fit(const struct samples *samples, bool may_have_knee, struct model *model,
                      struct error *error);

#endif
