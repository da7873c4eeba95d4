/* The answer of `analyse`, for people and machines. */
#ifndef AUTOTUNE_RESULTS_DIAGNOSIS_WRITE_H
#define AUTOTUNE_RESULTS_DIAGNOSIS_WRITE_H

#include "core/diagnosis.h"
#include "core/status.h"
#include "formats/text.h"

#include <jansson.h>
#include <stdio.h>

struct diagnosis_answer {
    const char *file;
    const struct hardware *hw; /* that the program was simulated on, with so many … */
    int cores;
    const struct diagnosis_thresholds *thresholds;
    const struct diagnosis *diagnosis; /* after diagnose() */
};

enum status diagnosis_write_table(const struct diagnosis_answer *answer, const struct style *style,
                                  FILE *out, struct error *error);
enum status diagnosis_write_json(const struct diagnosis_answer *answer, const struct style *style,
                                 FILE *out, struct error *error);

/* "thresholds". */
json_t *thresholds_json(const struct diagnosis_thresholds *thresholds);

enum { REASON_SIZE = 384 };

/* Why the verdict is what it is, in a sentence or two; "" without a verdict. Returns `text`. */
const char *diagnosis_reason(const struct diagnosis *diagnosis,
                             const struct diagnosis_thresholds *thresholds, char text[REASON_SIZE]);

#endif
