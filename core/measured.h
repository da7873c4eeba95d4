/* What ran on this machine: how long each tiling took, and what that says of the model. validate/
 * fills in times, jobs/ the whole. */
#ifndef AUTOTUNE_CORE_MEASURED_H
#define AUTOTUNE_CORE_MEASURED_H

#include "core/search_result.h"

struct timing {
    double median_ns;
    double spread; /* half the distance of the quartiles, relative to the median */
    int samples;   /* kept ones */
    int dropped;   /* preempted or stretched */
    int64_t runs_a_sample;
    bool fell_out; /* too slow to be measured to the end */
};

/* The relative spread (as above) of a fixed piece of arithmetic, and the share of its samples that
 * had to be dropped. */
struct timing_noise {
    double spread, dropped;
};

struct measured {
    struct timing timing; /* median_ns = 0: not measured */
    double max_error;     /* against the reference, relative to the sum of absolute products;
                             always finite: DBL_MAX where results were no numbers */
    double allowed_error; /* 0: it was never checked */
    bool sampled;         /* the check was of sampled rows, not of all results */
    char quarantine[160]; /* why it was not measured; "" where it was */
    bool left_out;        /* the reason says nothing against it: no time, or interrupted */
};

enum { MODEL_QUALITY_TOP = 3 };

/* NAN: not known (no tilings; a rank correlation of one tiling or of equal times). */
struct model_quality {
    int count;                       /* of tilings with both times, finite and > 0 */
    double mean_error, median_error; /* |predicted / measured - 1| */
    double worst_error;
    double bias;         /* median of predicted / measured */
    double spearman;     /* rank correlation; equal times share the mean of their ranks */
    double regret_first; /* measured time of the model's first pick ÷ least measured; >= 1 */
    double regret_top;   /* of the best of its first MODEL_QUALITY_TOP */
};

struct host_candidate {
    struct found model; /* what the model says of it */
    int64_t rank;       /* in the model's order, from 1 */
    struct measured measured;
};

struct host_tune {
    int count;                    /* that were measured, or put into quarantine */
    struct host_candidate *items; /* measured ones first, ascending time; owned */
    int measured;                 /* of them */
    int left_out;                 /* the end came before their turn */
    struct model_quality quality; /* over those measured */
    struct timing_noise noise;    /* of the machine, before */
    bool noisy;                   /* by it, or by what others did meanwhile */
};

/* Which tilings of a space are to run. All but the time limit decides the answer. */
struct host_question {
    int64_t wanted;      /* tilings; 0: none, JOB_VALIDATE_DEFAULT: as many as fit */
    bool is_sample;      /* drawn, not picked to win; `wanted` is given */
    uint64_t seed;       /* of the sample and of the inputs */
    double time_limit_s; /* for all that is measured; 0: HOST_TUNE_BUDGET_S */
};

struct host_answer {
    int asked; /* tilings; 0: none is legal */
    double seconds;
    struct host_tune tune;
};

#endif
