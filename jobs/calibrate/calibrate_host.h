/* The processor of this machine as a description: measured (validate/calibrate/host_calibration.h),
 * written, and told.
 *
 * Call order: calibrate_host, calibrate_overlap (calibrate_overlap.h), host_calibration_text,
 * host_calibration_json. */
#ifndef AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_HOST_H
#define AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_HOST_H

#include "validate/calibrate/host_calibration.h"

#include <jansson.h>

/* The description as text, which the caller frees; it loads. STATUS_INVALID where what was measured
 * makes none, with the rule that it breaks. */
enum status host_calibration_text(const struct host_calibration *calibration, char **text,
                                  struct error *error);

/* What was measured and how well, for people and machines; NULL without memory. */
json_t *host_calibration_json(const struct host_calibration *calibration);

#endif
