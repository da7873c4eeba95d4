/* Few tilings for a range of sizes: for every size of it one of them takes at most so much more
 * than that size's own fastest tiling (docs/ranges.md has the theorem).
 *
 *   struct range_question question = {.job = &job, .range = range, .regret = 0.05, .threads = 2};
 *   range_find(&question, &answer, &error)
 *   range_clear(&answer)                       whatever the status
 *
 * The job is one of the range's first size, and open until the answer is cleared. */
#ifndef AUTOTUNE_JOBS_RANGE_RANGE_H
#define AUTOTUNE_JOBS_RANGE_RANGE_H

#include "core/shape_range.h"
#include "core/stop.h"
#include "jobs/tune/job.h"
#include "results/format.h"
#include "search/transfer.h"

enum { RANGE_MAX_SIZES = 1 << 20, RANGE_MAX_CLASSES = 1 << 14 };

struct range_question {
    const struct job *job;
    struct shape_range range;
    int64_t tilings; /* at most so many, of the least regret; 0: as few as … */
    double regret;   /* … this regret takes */
    int threads;
    const volatile sig_atomic_t *stop;
    void (*progress)(void *context, const struct search_progress *progress);
    void *context;
};

/* Sizes that have the same tilings, which take the same times. */
struct range_class {
    struct problem problem; /* of the first of them in the range */
    struct space space;
    int64_t least_fs; /* proven: no tiling is faster at any of these sizes */
    int64_t best_fs;  /* the fastest that is known; NOT_LEGAL: none is legal */
};

/* Neighbours of one class. */
struct range_run {
    int64_t from, to;
    int class;
};

/* Runs [first, last], which one tiling serves. */
struct range_part {
    int first, last;
    int64_t tiling;      /* its number in the transfer */
    double regret;       /* the worst over its sizes, of what is proven: it is no more … */
    double regret_known; /* … and of the fastest tilings that are known: it is no less */
};

struct range_answer {
    int class_count, run_count, part_count;
    struct range_class *classes;
    struct range_run *runs;
    struct range_part *parts;        /* none: a size has no tiling */
    const struct space **spaces;     /* of the classes */
    struct transfer transfer;        /* of all tilings that were looked at */
    int64_t largest[SPACE_MAX_AXES]; /* values of the axes, in any class */
    int64_t without; /* the first size without a tiling, or 0: none is legal, if it was
                        not cut short */
    double regret;   /* the worst of all parts */
    bool cut_short;  /* there was no time to prove what was asked for */
    int rounds;      /* of choosing parts and proving them */
    int64_t searched, bounded, simulated, taken_over; /* classes searched by themselves; the rest as
                                                         in search/family.h */
    double seconds;
};

/* Can there be an answer at all? STATUS_INVALID says why not. */
enum status range_check(const struct range_question *question, struct error *error);

enum status range_find(const struct range_question *question, struct range_answer *answer,
                       struct error *error);
void range_clear(struct range_answer *answer);

/* What a part's tiling takes at the sizes of a run, which has been asked for already. */
int64_t range_time_fs(const struct range_answer *answer, const struct range_part *part, int run);

/* ---- steps of range_find */

/* The parts, if what is known were the fastest; answer->without where there are none. *asked is the
 * regret that they keep to. */
enum status range_cover(const struct range_question *question, struct range_answer *answer,
                        double *asked, struct error *error);

/* Adds tilings that may serve longer parts; none where there is no time. */
enum status range_climb(const struct range_question *question, const struct stop *stop,
                        double asked, struct range_answer *answer, struct error *error);

#endif
