/* A description fitted to measurements: of single instructions (formats/curves.h) and of whole
 * kernels (formats/bank.h).
 *
 * Call order: calibration_open, calibrate_curves for each file of curves, calibrate_kernels with
 * the rows of all banks, calibration_text, calibration_json, calibration_close. Curves come first:
 * what they tell apart need not be guessed from kernels. docs/calibrate.md has the models. */
#ifndef AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_H
#define AUTOTUNE_JOBS_CALIBRATE_CALIBRATE_H

#include "hardware/description.h"
#include "jobs/evaluate/evaluate.h"

#include <jansson.h>

enum {
    CALIBRATION_MAX_PARAMETERS = 1024,
    CALIBRATION_MAX_CURVES = 256,
    CALIBRATION_CHIP_SIZE = 16,
};

/* What files of curves call a chip: "910b1" of "Ascend 910B1". */
void calibration_chip(const char *name, char chip[CALIBRATION_CHIP_SIZE]);

/* A number of the description that was fitted. */
struct parameter {
    char key[HARDWARE_KEY_SIZE];
    double before;       /* NaN: the description did not have it */
    double value, error; /* and its standard error, in the same unit */
    const char *unit;
    char from[96]; /* curves or bank */
    int points;
    double median_error; /* relative, of the points with the fitted model */
    double r_squared;    /* NaN for kernels */
};

/* A curve and what became of it. */
struct fitted_curve {
    char name[80];
    int points, outlier_count;                 /* left out */
    double fixed_ns, fixed_error_ns;           /* what a single instruction takes beside its work */
    double rate;                               /* GB/s or, for mmad, GFLOP/s */
    double median_error, max_error, r_squared; /* NaN when it could not be used */
    char note[160];
};

/* A number of the description that times of programs do not tell; it stays as it was, or as the
 * reason says. */
struct unknown {
    char key[HARDWARE_KEY_SIZE];
    char why[160];
};

/* How well the description predicts one half of the kernels. */
struct kernel_quality {
    struct accuracy before, after;
};

struct calibration {
    struct description description;
    struct hardware hw;               /* as the description stands now */
    char chip[CALIBRATION_CHIP_SIZE]; /* "910b1" */
    int parameter_count, curve_count, curves_without_path;
    struct parameter parameters[CALIBRATION_MAX_PARAMETERS];
    struct fitted_curve curves[CALIBRATION_MAX_CURVES];
    int unknown_count;
    struct unknown unknowns[CALIBRATION_MAX_PARAMETERS];
    int rejected_points, first_rejected_line;
    char first_rejected_file[256], first_rejected_reason[96];
    bool has_kernels;
    struct kernel_quality fitted_half, held_out;
    int64_t kernel_trials;
    const char *ended; /* why the kernels' fit ended */
};

/* Starts from the description called `base`. `chip`: whose curves apply, as the files name it, or
 * NULL: as the description is named. The caller closes it, after a failure too. */
enum status calibration_open(const char *folders, const char *base,
                             const struct hardware_overrides *overrides, const char *chip,
                             struct calibration *calibration, struct error *error);
void calibration_close(struct calibration *calibration);

/* Fits paths and matrix unit to a file of curves, and all numbers to times of programs in it; what
 * these leave open is in `unknowns`. STATUS_INVALID for a file that is none, or when it has no
 * curve of this chip. Curves that the description has no path for are counted only. */
enum status calibrate_curves(struct calibration *calibration, const char *file,
                             struct error *error);

struct kernel_options {
    const char *keys;    /* to fit, separated by commas; NULL: all that the description has */
    const char *from;    /* what the rows come from, for sources */
    double held_out;     /* share of the shapes that the fit does not see, 0 to 1 */
    int64_t rounds;      /* Nelder-Mead restarts at most, >= 1 */
    double time_limit_s; /* 0: none */
    int threads;         /* >= 1; the result does not depend on it */
    const volatile sig_atomic_t *stop; /* or NULL */
    void (*progress)(void *context, int64_t trials, double first, double best);
    void *context;
};

/* Fits what only whole kernels determine. STATUS_INVALID for an unknown key or too few rows. */
enum status calibrate_kernels(struct calibration *calibration, const struct bank_row rows[],
                              size_t count, const struct kernel_options *options,
                              struct error *error);

/* The description as text; the caller frees it. */
enum status calibration_text(struct calibration *calibration, char **text, struct error *error);

/* What was fitted, for people and machines; NULL without memory. */
json_t *calibration_json(const struct calibration *calibration);

#endif
