/* The numbers of a description from the times of small programs (jobs/probe/subject.h): what single
 * instructions take, and what is set by it. */
#ifndef AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_PROGRAMS_H
#define AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_PROGRAMS_H

#include "formats/curves.h"
#include "jobs/calibrate/calibrate_parts.h"
#include "jobs/probe/subject.h"

/* start + latency + times · (each + units · per_unit) of one subject, alone on the chip. */
struct program_law {
    const struct curve *curve; /* NULL: the file has none */
    bool known;
    double latency_ns, each_ns, unit_ns;
    double median_error;
};

struct program_laws {
    struct calibration *calibration;
    const struct curves *curves;
    const char *file;
    struct error *error;
    struct subject_list list;
    struct program_law *laws; /* by subject */
    double launch_ns, launch_core_ns, dispatch_ns;
};

/* Sets the totals of all buses, and names what they leave open (program_buses.c). */
enum status program_buses(struct program_laws *laws);

/* Says that a number could not be told, once. */
enum status program_unknown(struct program_laws *laws, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
