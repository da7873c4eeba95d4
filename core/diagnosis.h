/* What limits an operator: the vocabulary of the component roofline (Y. Zhou et al., "Squeezing
 * Operator Performance Potential for the Ascend Architecture", ASPLOS 2025, section 4; R below).
 *
 * A component is a pipe or a bus: serial inside, parallel to the others. Its parts are what it can
 * do at different peaks: element types of a compute unit, paths of a transfer engine.
 * analysis/roofline.h fills components from a program, jobs/ from a profiler's rows; diagnose()
 * there derives ratios and the verdict; results/ writes them. */
#ifndef AUTOTUNE_CORE_DIAGNOSIS_H
#define AUTOTUNE_CORE_DIAGNOSIS_H

#include "core/hardware.h"

enum {
    DIAGNOSIS_MAX_COMPONENTS = HARDWARE_MAX_PIPES + HARDWARE_MAX_BUSES,
    COMPONENT_MAX_PARTS = 24,
    DIAGNOSIS_NAME_SIZE = 256, /* longer names of operators are cut, with "..." */
    DIAGNOSIS_NOTE_SIZE = 256,
};

enum component_kind {
    COMPONENT_COMPUTE,
    COMPONENT_TRANSFER,     /* a pipe that moves */
    COMPONENT_INTERCONNECT, /* a bus: what moves over it from all cores, at its largest total */
};

enum verdict {
    VERDICT_NONE, /* nothing ran on the cores, or their times are not known */
    VERDICT_COMPUTE_BOUND,
    VERDICT_TRANSFER_BOUND, /* "MTE Bound"; of a bus too */
    VERDICT_INSUFFICIENT_PARALLELISM,
    VERDICT_INEFFICIENT_TRANSFER, /* "Inefficient MTE" */
    VERDICT_INEFFICIENT_COMPUTE,
    VERDICTS,
};

/* Work of one element type or path. */
struct component_part {
    char name[2 * HARDWARE_NAME_SIZE + 3]; /* "f16", "gm->l1" */
    double amount;                         /* O_p: operations or bytes, of one core; of a bus: of
                                              all cores */
    double peak_per_ns;                    /* P_p */
};

struct component {
    char name[HARDWARE_NAME_SIZE]; /* R's where there is one: Cube, Vector, Scalar, MTE-GM, … */
    enum component_kind kind;
    bool matrix;         /* has the matrix unit */
    double ideal_ns;     /* Σ O_p / P_p; negative: not known */
    double busy_ns;      /* T_c */
    double efficiency;   /* E = ideal / busy; the ratios are negative where they are not known */
    double active_ratio; /* R = busy / time */
    double utilisation;  /* U = ideal / time */
    int part_count;
    struct component_part parts[COMPONENT_MAX_PARTS];
};

struct diagnosis {
    char name[DIAGNOSIS_NAME_SIZE];
    double time_ns; /* T; negative: not known */
    enum verdict verdict;
    int component; /* that the verdict names; -1: none */
    int component_count;
    struct component components[DIAGNOSIS_MAX_COMPONENTS];
    char note[DIAGNOSIS_NOTE_SIZE]; /* what is missing, and why; "" */
};

/* Defaults agree with every verdict printed in R. */
struct diagnosis_thresholds {
    double active;      /* R: below it nothing runs all the time; 0.80 */
    double utilisation; /* U of operators without matrix work from which they are bound; 0.65 */
    double utilisation_matrix; /* the same as soon as the matrix unit has work; 0.80 */
};

#endif
