/* The last part of a description of the host: how much of the traffic computing does not hide
 * (host->overlap), fitted to products that are run for the purpose. */
#ifndef AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_OVERLAP_H
#define AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_OVERLAP_H

#include "jobs/calibrate/calibrate_host.h"

/* Tilings of several shapes, chosen by the model as it is before the fit, are timed by one thread;
 * c->host.overlap, c->fit and c->fitted_kernels become what comes out. Where too few could be run
 * the overlap stays as it was, and a note says so. Returns early when it is stopped, then with
 * c->stopped set. STATUS_NO_MEMORY. */
enum status calibrate_overlap(struct host_calibration *c, const struct calibrate_control *control,
                              struct error *error);

#endif
