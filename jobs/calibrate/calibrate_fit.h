/* The fit of a description to whole kernels (calibrate_kernels.c), in parts: which numbers
 * (calibrate_numbers.c), and what a trial of them is (calibrate_trial.c).
 *
 *   kernel_fit_remember(fit); kernel_fit_numbers(fit); kernel_fit_check_keys(fit)
 *   kernel_fit_try(fit, logarithms, &value) …
 *   kernel_fit_apply(fit, logarithms, &legal), kernel_fit_set(fit, variable, value, source) … */
#ifndef AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_FIT_H
#define AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_FIT_H

#include "formats/bank_row.h"
#include "jobs/calibrate/calibrate_parts.h"
#include "validate/simplex.h"

#include <time.h>

/* A number that kernels can be fitted by: where it stands, in which range it is physical, and where
 * a description that lacks it starts. */
struct candidate {
    const char *key;
    const char *unit;
    double low, high, start; /* start 0: only where the description has it */
    const char *determined_by;
};

struct variable {
    char key[HARDWARE_KEY_SIZE];
    const struct candidate *candidate;
    int bus;       /* whose totals it caps, or -1 */
    double start;  /* within the candidate's range */
    double before; /* as the description had it, with this source */
    char source[512];
};

struct kernel_fit {
    struct calibration *calibration;
    const struct kernel_options *options;
    struct error *error;
    enum status status;    /* of the trial that failed */
    struct bank_row *rows; /* those fitted to first */
    size_t fitted, count;
    struct prediction *predictions;
    double *logs; /* ln(predicted / measured) of the fitted rows; NaN where there is none */
    int variable_count;
    struct variable variables[SIMPLEX_MAX_VARIABLES];
    bool proportional[HARDWARE_MAX_BUSES]; /* totals of the form of calibration_set_bus */
    bool touched[HARDWARE_MAX_BUSES];
    double first_gbps[HARDWARE_MAX_BUSES];                     /* as it was */
    double cap_gbps[HARDWARE_MAX_BUSES];                       /* 0: as it was */
    double cast_ratio[HARDWARE_MAX_PATHS][HARDWARE_MAX_CASTS]; /* of its rate to its path's */
    double first, best;
    struct timespec began;
    bool searching; /* so that time must be left to see how well the numbers are known */
};

/* What trials change and what they must know of before: once, first. */
void kernel_fit_remember(struct kernel_fit *s);

/* The numbers that the description has and --fit names. */
void kernel_fit_numbers(struct kernel_fit *s);

/* Every key of --fit must be one that this description can be fitted by. */
enum status kernel_fit_check_keys(const struct kernel_fit *s);

/* A number by its logarithm, within its range. */
double kernel_fit_number(const struct variable *variable, double logarithm);

/* One number, with all that follows it; buses once all numbers are set. */
enum status kernel_fit_set(struct kernel_fit *s, const struct variable *variable, double value,
                           const char *source);
enum status kernel_fit_set_buses(struct kernel_fit *s, const char *source);

/* Brings the description to the point; *legal is false where its rules forbid it. */
enum status kernel_fit_apply(struct kernel_fit *s, const double at[], bool *legal);

/* Plays the first `count` rows on the description as it stands. */
enum status kernel_fit_play(struct kernel_fit *s, size_t count, const volatile sig_atomic_t *stop);

/* A point's value, as of validate/simplex.h; the context is the fit. */
bool kernel_fit_try(void *context, const double at[], double *value);

#endif
