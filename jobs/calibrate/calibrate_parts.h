/* What the parts of jobs/calibrate/calibrate.h share. */
#ifndef AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_PARTS_H
#define AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_PARTS_H

#include "formats/curves.h"
#include "jobs/calibrate/calibrate.h"

/* Sets the parameter's number in the description, rounded to as many digits as are worth writing,
 * with its source; a second fit of a key replaces the first. */
enum status calibration_set(struct calibration *calibration, const struct parameter *parameter,
                            struct error *error);

/* Notes a parameter that is set already, and what it was before. */
enum status calibration_note(struct calibration *calibration, const struct parameter *parameter,
                             double before, struct error *error);

/* Five significant digits: more than a measurement has, and few enough to be read. */
double calibration_rounded(double value);

/* Builds calibration->hw anew. */
enum status calibration_rebuild(struct calibration *calibration, struct error *error);

/* Fits all numbers to the times of programs that a file has of this chip (calibrate_programs.h),
 * adding the curves to *used. */
enum status calibrate_programs(struct calibration *calibration, const struct curves *curves,
                               const char *file, int *used, struct error *error);

/* Lets a bus carry first_gbps (0: as before) for one transfer and cap_gbps (0: as before, but not
 * less than the first) for all: the n-th total is the smaller of n times the first and the last. */
enum status calibration_set_bus(struct calibration *calibration, int bus, double first_gbps,
                                double cap_gbps, const char *source, struct error *error);

/* Points as sums of terms: fixed, for each instruction, for each unit of work. */
struct samples {
    int count, terms;
    double *rows, *times_ns;
};

/* Room for points; false without memory. To be cleared either way. */
bool samples_open(struct samples *samples, int capacity, int terms);
void samples_clear(struct samples *samples);

#endif
