/* The processor of this machine as a description: measured (validate/calibrate/host_calibration.h),
 * written, and told.
 *
 * Call order: calibrate_host, calibrate_overlap, host_calibration_text,
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

/* The last part of a description of the host: how much of the traffic computing does not hide
 * (host->overlap), fitted to products that are run for the purpose.
 * Tilings of several shapes, chosen by the model as it is before the fit, are timed by one thread;
 * c->host.overlap, c->fit and c->fitted_kernels become what comes out. Where too few could be run
 * the overlap stays as it was, and a note says so. Returns early when it is stopped, then with
 * c->stopped set. STATUS_NO_MEMORY. */
enum status calibrate_overlap(struct host_calibration *c, const struct calibrate_control *control,
                              struct error *error);

#endif
