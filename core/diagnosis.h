/* What limits an operator: the vocabulary of the component roofline (Y. Zhou et al., "Squeezing
 * Operator Performance Potential for the Ascend Architecture", ASPLOS 2025, section 4).
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
    DIAGNOSIS_NOTE_SIZE = 512,
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

/* Work of one element type, operation or path. */
struct component_part {
    char name[2 * HARDWARE_NAME_SIZE + 16]; /* "f16", "vadd f16", "gm->l1" */
    bool bytes;                             /* amount counts bytes; otherwise operations */
    double amount;                          /* O_p, of one core; of a bus: of all cores */
    double peak_per_ns;                     /* P_p; 0: there is no limit */
};

struct component {
    char name[HARDWARE_NAME_SIZE]; /* Zhou et al.'s, if there is one: Cube, MTE-GM, … */
    enum component_kind kind;
    bool matrix;         /* has the matrix unit */
    double ideal_ns;     /* Σ O_p / P_p; negative: not known, but it lies … */
    double least_ns;     /* … from here, 0: nothing is known of it, … */
    double most_ns;      /* … to here, and is busy_ns at most; 0: nothing is known */
    double busy_ns;      /* T_c */
    double efficiency;   /* E = ideal / busy; the ratios are negative where they are not known */
    double active_ratio; /* R = busy / time */
    double utilisation;  /* U = ideal / time */
    double utilisation_least, utilisation_most; /* U, or what it is at least and at most */
    double waiting_ns; /* of busy, for a shared bus; 0: none, or not known … */
    int waits_for;     /* … and that bus, where waiting_ns is positive: a component */
    int part_count;
    struct component_part parts[COMPONENT_MAX_PARTS];
};

/* What a roofline of each part alone says, as if it had the pipe for the whole time: its largest
 * utilisation, and VERDICT_NONE where that reaches no threshold. */
struct naive_reading {
    enum verdict verdict;
    int component, part; /* -1: nothing is known */
    double utilisation;  /* O_p / P_p / time */
};

struct diagnosis {
    char name[DIAGNOSIS_NAME_SIZE];
    double time_ns;   /* T, launch included; negative: not known */
    double launch_ns; /* of it, before anything runs; 0: not known */
    enum verdict verdict;
    int component; /* that the verdict names; -1: none */
    int component_count;
    struct component components[DIAGNOSIS_MAX_COMPONENTS];
    struct naive_reading naive;
    char note[DIAGNOSIS_NOTE_SIZE]; /* what is missing, and why; "" */
};

/* Defaults agree with every verdict that Zhou et al. print. */
struct diagnosis_thresholds {
    double active;      /* R: below it nothing runs all the time; 0.80 */
    double utilisation; /* U of operators without matrix work from which they are bound; 0.65 */
    double utilisation_matrix; /* the same as soon as the matrix unit has work; 0.80 */
};

/* Adds words to the note, after those that are there; too many are cut. */
void diagnosis_note(struct diagnosis *diagnosis, const char *words);

/* The verdict's words in answers ("MTE Bound", …); NULL for VERDICT_NONE. */
const char *verdict_name(enum verdict verdict);

/* The threshold of utilisation that holds for this operator. */
double diagnosis_bound_from(const struct diagnosis *diagnosis,
                            const struct diagnosis_thresholds *thresholds);

/* The same of one component. The lower threshold is about what pipes reach with small pieces; a bus
 * that no pipe ever waited for held nothing up, and bounds from the higher of both only. */
double component_bound_from(const struct diagnosis *diagnosis,
                            const struct diagnosis_thresholds *thresholds, int component);

/* O_p / P_p: the least time of a part's work. */
double component_part_ns(const struct component_part *part);

/* A point of the roofline: a compute unit against a transfer engine. Ceilings are ideal_per_ns and
 * intensity times ideal_bytes_per_ns; the utilisations are those of the two components. */
struct roofline_pair {
    int compute, transfer;  /* components */
    double intensity;       /* operations per byte */
    double attained_per_ns; /* operations over time */
    double ideal_per_ns;    /* operations over the unit's ideal time; 0: there is no limit */
    double attained_bytes_per_ns, ideal_bytes_per_ns; /* the same of bytes */
};
enum { DIAGNOSIS_MAX_PAIRS = HARDWARE_MAX_PIPES * HARDWARE_MAX_PIPES / 4 };

/* The pairs worth drawing, of components with work: all but those of units and engines that have
 * nothing to do with each other, such as Vector and MTE-L1 (Zhou et al., section 4.3: 7 of a
 * chip with their components). Returns their number. */
int diagnosis_pairs(const struct diagnosis *diagnosis,
                    struct roofline_pair pairs[DIAGNOSIS_MAX_PAIRS]);

#endif
