/* The answer of the main job, for people and for machines. The JSON keys are a contract. */
#ifndef AUTOTUNE_RESULTS_TUNE_H
#define AUTOTUNE_RESULTS_TUNE_H

#include "core/space.h"
#include "core/status.h"
#include "core/timeline.h"
#include "formats/json.h"
#include "formats/text.h"

#include <jansson.h>
#include <stdio.h>

/* One tiling of an answer. */
struct tune_row {
    struct tiling tiling;
    int cores_used;
    double time_ns, lower_bound_ns;
    double launches;   /* kernels started one after the other: 1, or one a tile */
    double launch_ns;  /* of all of them, part of time_ns */
    double operations; /* that the user asked for */
    double busy_ns[HARDWARE_MAX_PIPES];
    double bus_ns[HARDWARE_MAX_BUSES]; /* bytes of all cores at the bus's best rate */
};

/* One tiling that ran on this machine, or was put into quarantine. */
struct tune_measured {
    struct tune_row row; /* what the model says of it */
    int64_t rank;        /* in the model's order, from 1 */
    double measured_ns;  /* 0: in quarantine */
    double spread;       /* relative */
    double max_error;    /* of its results; NAN: not known */
    double allowed_error;
    bool sampled;  /* only some of its results were compared */
    bool fell_out; /* too slow to be measured to the end */
    int samples, dropped;
    const char *quarantined; /* why; NULL: it was measured */
};

/* What the measurements say of the model. NAN: not known. */
struct tune_validation {
    int asked, measured, left_out; /* the end came before the turn of the last */
    double mean_error, worst_error, bias, spearman, regret_first, regret_top3;
    double noise, dropped; /* of a fixed piece of work: spread, and share of samples dropped */
    bool noisy;
    double seconds;
    bool from_store; /* measured before, and kept */
    bool is_sample;  /* drawn with `seed`, not picked to win */
    uint64_t seed;
};

struct tune_answer;

/* " on 1 or 2 cores", of the tilings that were searched; nothing where all are on as many. */
const char *tune_core_counts_text(const struct tune_answer *answer, char text[2 * TEXT_SIZE]);

/* Legal tilings that a named inequality has discarded; the JSON key is the name. */
struct tune_discarded {
    const char *name, *title;
    int64_t count;
};

struct tune_answer {
    const char *op, *space, *shape_text;
    int size_count, choice_count;
    const char *const *size_names;
    const int64_t *sizes;
    const char *const *choice_names, *const
                                         *choices; /* of how the kernel is written: --loop early */
    enum dtype type;
    int cores;
    const struct hardware *hw;
    const struct axis *axes;
    int axis_count, discarded_count;
    int64_t candidates, feasible, pruned, simulated;
    const int64_t *core_counts; /* numbers of cores that they are on; NULL: all on `cores` */
    int core_count_count;
    /* Tilings at most 1 % slower than the best: simulated ones; and all whose bound allows it. */
    int64_t within_1_percent, within_1_percent_at_most;
    /* The same within the error of the description's fit; 0: unknown. */
    double fit_error;
    int64_t within_fit_error, within_fit_error_at_most;
    const struct tune_discarded *discarded; /* contained in `pruned` */
    bool optimal, cut_short;                /* neither: nothing is legal */
    bool on_processor;                      /* `measured`, `validation` and peak are of it only */
    bool has_store, from_store;             /* there is one; and it had the answer */
    double lower_bound_ns, gap, seconds, roofline_ns;
    int threads;
    int top; /* rows asked for */
    int count, measured_count;
    const struct tune_row *rows;              /* best first, by the model */
    const struct tune_row *best;              /* rows, or the winner by measurement; NULL: none */
    double peak_gflops;                       /* of all threads; 0: not known */
    const struct tune_measured *measured;     /* measured ones first, ascending time */
    const struct tune_validation *validation; /* NULL: nothing was measured */
    const char *reason;      /* count = 0: why even the smallest tiling is illegal; or NULL */
    const char *search_note; /* of the table: what the search was about; NULL: the chip */
    const char *next;        /* of the table: the command to go on with; or NULL */
    json_t *details;         /* of the operator: members of the answer; NULL: none */
};

/* A pipe or bus and its share of the time. */
struct share {
    const char *name;
    double busy_ns, share;
};

/* The pipe or bus with the largest share; pipes before buses, then the order of the description. */
struct share tune_bottleneck(const struct tune_answer *answer, const struct tune_row *row);

/* "measured" and "validation" of processors' answers; NULL when out of memory. Where a measurement
 * is from is no part of either. */
json_t *measured_json(const struct axis *axes, int axis_count, const struct tune_measured rows[],
                      int count);
json_t *validation_json(const struct tune_validation *validation);

/* Of writers of processors' answers. */
void measured_write_table(const struct tune_answer *answer, const struct style *style, FILE *out);

/* That of a tiling's measurement, or NULL. */
const struct tune_measured *tune_measured_of(const struct tune_answer *answer,
                                             const struct tune_row *row);

/* The three writers. */
typedef enum status tune_writer(const struct tune_answer *answer, const struct style *style,
                                FILE *out, struct error *error);
tune_writer tune_write_table, tune_write_json, tune_write_csv;

/* Of a tiling of a chip or processor, as the table has them: time, rate, bounds; and the shares of
 * pipes and buses. */
void tune_write_time(const struct tune_answer *answer, const struct tune_row *row,
                     const struct style *style, FILE *out);
void tune_write_shares(const struct tune_answer *answer, const struct tune_row *row,
                       const struct style *style, FILE *out);

/* The members of a tiling in JSON. NULL when out of memory. */
json_t *tune_row_json(const struct tune_answer *answer, const struct tune_row *row);

#endif
