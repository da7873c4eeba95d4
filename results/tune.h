/* The answer of the main job, for people and for machines. The JSON keys are a contract. */
#ifndef AUTOTUNE_RESULTS_TUNE_H
#define AUTOTUNE_RESULTS_TUNE_H

#include "core/correction.h"
#include "core/measured.h"
#include "core/operator.h"
#include "core/status.h"
#include "formats/json.h"
#include "formats/text.h"

#include <stdio.h>

/* What was asked, what was found and how; writers work out the rest by the functions below. All of
 * it is the caller's. */
/* What was learned of the simulator's error (core/correction.h), about the best tiling and the top
 * ones: of a chip with a correction, or with one that is not used. */
struct tune_correction {
    const char *file, *about;    /* about: what it was learned from, or why it is not used */
    double covers;               /* share of kernels that intervals are made to hold */
    struct corrected best;       /* corrected_ns = 0: it is not used */
    const struct corrected *top; /* one for each of search->best; NULL: it is not used */
};

struct tune_answer {
    const struct problem *problem;
    const struct space *space;
    int cores, threads; /* that the problem has, and that searched */
    int top;            /* tilings asked for */
    const struct search_result *search;
    const struct host_question *question; /* of a processor */
    const struct host_answer *measured;   /* NULL: nothing was, nor could have been */
    bool cut_short;                       /* the search, before its proof */
    int64_t end_ns;                       /* of the time for what stands beside it; 0: none */
    bool has_store, from_store;           /* there is one; and it had what the search says … */
    bool measured_from_store;             /* … and what was measured */
    const char *chosen; /* what the best was chosen for, which need not be the fastest of the
                           search; NULL: it is that one */
    const char *next;   /* of the table: the command to go on with; or NULL */
    const struct tune_correction *correction; /* NULL: there is none */
    json_t *details; /* of the operator: members of the answer; NULL: none */
};

/* Where something was measured, what ran fastest; else the first by the model. NULL: nothing is
 * legal, or all that was measured is in quarantine. */
const struct found *tune_best(const struct tune_answer *answer);

/* Does the model prove that no tiling is faster than the best? And how much faster one may be, as a
 * share of the best's time. */
bool tune_is_optimal(const struct tune_answer *answer);
double tune_gap(const struct tune_answer *answer);

/* A tiling's rate, NaN: not known; and what all cores or threads could do, 0: not known, as of
 * what the matrix unit has no part in. */
double tune_gflops(const struct tune_answer *answer, double time_ns);
double tune_peak_gflops(const struct tune_answer *answer, const struct found *found);

/* A time that no tiling beats. */
double tune_roofline_ns(const struct tune_answer *answer);

/* Why even the smallest tiling is illegal: `text`, or NULL where that is not why there is none. */
enum { TUNE_REASON_SIZE = 160 };
const char *tune_reason(const struct tune_answer *answer, char text[TUNE_REASON_SIZE]);

/* What makes tilings illegal, of so many that lie evenly in the space: the limit that each breaks
 * first, by name or by the line of the kernel's text, most frequent first. None are looked at where
 * that takes long, or all are legal. */
enum { TUNE_MOST_REASONS = 12, TUNE_LIMIT_SIZE = 40 };
struct tune_limit {
    char limit[TUNE_LIMIT_SIZE], text[TUNE_REASON_SIZE]; /* text: of the first such tiling */
    int tilings;
};
struct tune_illegal {
    int looked_at, count;
    struct tune_limit reasons[TUNE_MOST_REASONS];
};
void tune_illegal(const struct tune_answer *answer, struct tune_illegal *illegal);

/* " on 1 or 2 cores", of the tilings that were searched; nothing where all are on as many. */
const char *tune_core_counts_text(const struct tune_answer *answer, char text[2 * TEXT_SIZE]);

/* What was measured of a tiling, or NULL; and its time, 0: it is in quarantine, or NULL. */
const struct host_candidate *tune_measured_of(const struct tune_answer *answer,
                                              const struct found *found);
double tune_measured_ns(const struct host_candidate *candidate);

/* The largest error of its results; NAN: it was never checked. */
double tune_max_error(const struct host_candidate *candidate);

/* What every answer in JSON begins with: what is asked for, of which chip. NULL when out of memory.
 */
json_t *tune_question_json(const struct tune_answer *answer);

/* "measured" and "validation" of processors' answers; NULL when out of memory. Where a measurement
 * is from is no part of either. */
json_t *measured_json(const struct space *space, const struct host_tune *tune);
json_t *validation_json(const struct host_question *question, const struct host_answer *measured);

/* The three writers. */
typedef enum status tune_writer(const struct tune_answer *answer, const struct style *style,
                                FILE *out, struct error *error);
tune_writer tune_write_table, tune_write_json, tune_write_csv;

/* Of a tiling of a chip or processor, as the table has them: time, rate, bounds; and the shares of
 * pipes and buses. */
void tune_write_time(const struct tune_answer *answer, const struct found *found,
                     const struct style *style, FILE *out);
void tune_write_shares(const struct tune_answer *answer, const struct found *found,
                       const struct style *style, FILE *out);

/* The lines of the table, and the members of a tiling in JSON, about its corrected time. */
void tune_write_corrected(const struct tune_correction *correction, const struct style *style,
                          FILE *out);
void tune_put_corrected(const struct corrected *corrected, json_t *found);
json_t *tune_correction_json(const struct tune_correction *correction);

/* The members of a tiling in JSON. NULL when out of memory. */
json_t *tune_found_json(const struct tune_answer *answer, const struct found *found);

#endif
