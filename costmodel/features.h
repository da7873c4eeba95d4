/* What a learned correction knows of a simulated kernel (core/correction.h): numbers by name, made
 * in the same way for every operator, chip and space. */
#ifndef AUTOTUNE_COSTMODEL_FEATURES_H
#define AUTOTUNE_COSTMODEL_FEATURES_H

#include "core/correction.h"
#include "core/operator.h"

/* A tiling of a problem, its program (closed), and what simulating that has given. */
struct simulated_kernel {
    const struct problem *problem;
    const struct space *space;
    const struct tiling *tiling;
    const struct program *program;
    int cores; /* working in step */
    double time_ns;
    const double *busy_ns; /* of each pipe */
};

/* Fills *features; docs/calibrate.md lists them. What does not fit into FEATURES_MAX is left out,
 * the last first. */
void features_of(const struct simulated_kernel *kernel, struct features *features);

#endif
