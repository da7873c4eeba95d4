#include "validate/calibrate/control.h"

#include <stdio.h>
#include <stdlib.h>

bool calibrate_stopped(const struct calibrate_control *control)
{
    return control->stop && *control->stop;
}

void calibrate_progress(const struct calibrate_control *control, const char *phase, int64_t done,
                        int64_t total)
{
    if (control->progress)
        control->progress(control->context, phase, done, total);
}

bool calibrate_keeps(const struct timing_reading *reading)
{
    const double most_stretch = 1.01; /* as timing.c has it */
    bool stretched = reading->cpu_ns >= 0 && !(reading->wall_ns <= most_stretch * reading->cpu_ns);
    return reading->preemptions == 0 && !stretched;
}

double calibration_digits(double value)
{
    char text[40];
    snprintf(text, sizeof text, "%.4e", value);
    return strtod(text, NULL);
}
