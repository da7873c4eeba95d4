/* What the parts of a calibration share: how to stop, how to say how far it is, and single samples
 * by the protocol of validate/timing.h. */
#ifndef AUTOTUNE_VALIDATE_CALIBRATE_CONTROL_H
#define AUTOTUNE_VALIDATE_CALIBRATE_CONTROL_H

#include "validate/timing.h"

#include <signal.h>

struct calibrate_control {
    const volatile sig_atomic_t *stop;                                               /* or NULL */
    void (*progress)(void *context, const char *phase, int64_t done, int64_t total); /* or NULL */
    void *context;
    int64_t samples, dropped; /* so far */
};

bool calibrate_stopped(const struct calibrate_control *control);
void calibrate_progress(const struct calibrate_control *control, const char *phase, int64_t done,
                        int64_t total);

/* Does a sample count? Not where it was preempted or stretched. */
bool calibrate_keeps(const struct timing_reading *reading);

/* Five significant digits: more than a measurement has, and few enough to be read. */
double calibration_digits(double value);

#endif
