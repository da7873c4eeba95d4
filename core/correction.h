/* What has been learned of a simulator's errors: ln(measured / simulated) from features of a
 * simulated kernel (costmodel/features.h), as three forests of boosted symmetric trees: a middle,
 * and the low and high end of an interval. It stands beside a simulated time and never in its
 * place.
 *
 * validate/boost.h grows forests, jobs/calibrate/learn.h makes a correction of measured kernels,
 * formats/correction_file.h keeps it, jobs/correct/correct.h applies it to answers. */
#ifndef AUTOTUNE_CORE_CORRECTION_H
#define AUTOTUNE_CORE_CORRECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FEATURES_MAX = 192,
    FEATURE_NAME_SIZE = 48,
    CORRECTION_MAX_CUTS = 32,    /* of a feature */
    CORRECTION_MAX_DEPTH = 6,    /* of a tree */
    CORRECTION_MAX_TREES = 4096, /* of a forest */
    CORRECTION_MAX_BANKS = 16,
    CORRECTION_MAX_QUALITIES = 16,
    CORRECTION_TEXT_SIZE = 96,
    CORRECTION_MAX_PROBLEMS = 1 << 20,
};

/* Numbers that describe one simulated kernel, by name, each name once; one that is not listed is
 * 0. */
struct features {
    int count;
    char name[FEATURES_MAX][FEATURE_NAME_SIZE];
    double value[FEATURES_MAX];
};

/* Is 1 in every query; in training 0 of kernels of other chips. */
#define FEATURE_OWN_CHIP "own chip"

/* A feature as it was in training; `cuts` ascend strictly, finite. */
struct trained_feature {
    char name[FEATURE_NAME_SIZE];
    double low, high;
    int cut_count;
    double cuts[CORRECTION_MAX_CUTS];
};

/* A symmetric tree: on each level all its nodes ask the same question, whether a feature lies above
 * one of its cuts; the answers, first level highest, are the leaf's number in binary. */
struct boosted_tree {
    int depth;
    uint8_t feature[CORRECTION_MAX_DEPTH];
    uint8_t cut[CORRECTION_MAX_DEPTH];
    int32_t leaf[1 << CORRECTION_MAX_DEPTH]; /* in units of CORRECTION_LEAF */
};
#define CORRECTION_LEAF 1e-6

/* Its value is the sum of one leaf of each tree: integers, so that it is exact. */
struct forest {
    double quantile; /* of ln(measured / simulated) that it predicts */
    int32_t start;   /* in units of CORRECTION_LEAF */
    int tree_count;
    struct boosted_tree *trees; /* owned */
};

/* Above how many of its cuts each feature lies. */
typedef uint8_t feature_bins[FEATURES_MAX];
int feature_bin(const struct trained_feature *feature, double value);

/* ln(measured / simulated). */
double forest_value(const struct forest *forest, const uint8_t bins[]);

/* What a kind of operator costs, a number for each term of its law (network/operator_time.h). What
 * is corrected are then times by laws, and not simulated ones. */
enum { LAW_MAX_TERMS = 16, LAW_KIND_SIZE = 64, CORRECTION_MAX_LAWS = 4096 };
struct trained_law {
    char kind[LAW_KIND_SIZE];
    int64_t rows;        /* that it was learned from */
    double spread, lean; /* mean |ln(measured / law)| of them and mean of the ln, both shrunk */
    int term_count;
    double costs_us[LAW_MAX_TERMS];
};

/* Measured kernels that it was learned from. */
struct trained_bank {
    char file[CORRECTION_TEXT_SIZE]; /* without its folder */
    char chip[CORRECTION_TEXT_SIZE];
    int64_t rows;
    bool own; /* of the chip that is corrected; others are pooled with it */
};

/* How well a class of the chip's own rows is predicted whose problems were left out of training:
 * shares of the measured times, and the rank correlation; NaN where not known. */
struct trained_quality {
    char rows[32];
    int64_t used;
    double simulated[3], corrected[3], line[3]; /* enum trained_figure */
    double covers; /* the share of rows whose interval holds the measured time */
};
enum trained_figure { TRAINED_MEAN, TRAINED_MEDIAN, TRAINED_SPEARMAN };

enum correction_forest { CORRECT_MIDDLE, CORRECT_LOW, CORRECT_HIGH, CORRECT_FORESTS };

struct correction {
    /* What it is for: nothing else is corrected by it. */
    char chip[CORRECTION_TEXT_SIZE];
    char op[CORRECTION_TEXT_SIZE], space[CORRECTION_TEXT_SIZE];
    int model_version;
    char fingerprint[33]; /* of the description's numbers (hardware_price_fingerprint) */
    double clock_mhz;     /* at which kernels are simulated for it: what the measured ones ran at */
    /* What it was learned from. */
    uint64_t seed;
    int bank_count;
    struct trained_bank banks[CORRECTION_MAX_BANKS];
    int quality_count;
    struct trained_quality qualities[CORRECTION_MAX_QUALITIES];
    int64_t problem_count; /* hashes of the problems, ascending (correction_has_seen) */
    uint32_t *problems;    /* owned */
    /* What was learned. */
    int law_count;            /* 0: simulated times are corrected */
    struct trained_law *laws; /* owned; each kind once */
    double margin_unknown;    /* in place of `margin` where only a law of several kinds is known */
    double together; /* share of its operators' intervals, added up, that a sum of times has */
    double covers;   /* share of kernels that the interval is made to hold: 0.8 */
    double margin;   /* of ln, by which both ends of the interval are moved apart */
    int feature_count;
    struct trained_feature *features; /* owned */
    struct forest forests[CORRECT_FORESTS];
};

void correction_clear(struct correction *correction);

/* The law of a kind, or NULL. */
const struct trained_law *correction_law(const struct correction *correction, const char *kind);

/* What a correction says of one kernel. `outside` is how far the kernel lies outside the training
 * data: of all features the largest distance from the range in training, in widths of that range
 * (where it is a point: in units of the feature); 0 within, where a
 * millionth more is none. */
struct corrected {
    double corrected_ns; /* 0: not corrected */
    double simulated_ns; /* that it was corrected from */
    double low_ns, high_ns;
    double outside;
    char outside_by[FEATURE_NAME_SIZE]; /* the feature; "" within */
};

void correction_apply(const struct correction *correction, const struct features *features,
                      double simulated_ns, struct corrected *corrected);

/* A problem's number among those of training, from its sizes. */
uint32_t correction_problem(const int64_t sizes[], int count);
bool correction_has_seen(const struct correction *correction, uint32_t problem);

#endif
