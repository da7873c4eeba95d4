/* The procedures by which AIBench (Y. Xiao and Z. Wang, 2024) finds out what a chip does: programs
 * whose one size grows, and what their times say of the chip.
 *
 *   struct probe_answer answer;
 *   probe_run(probe, &hw, &answer, &error)     of a row of probes[]
 *   probe_write_text(&answer, …)               or JSON, curves, sections of a page
 *   probe_answer_clear(&answer)
 *
 * On a description of this computer's processor the same procedures are measured where they mean
 * something there (probe->here).
 *
 * A procedure is a value: its curves say which programs are generated, its quantities what is
 * concluded, what the description has for it and what was published of the Ascend 910. Times are of
 * whole programs, launch included. What a chip has no path or operation for is left out, and says
 * why. The same description of a chip gives the same answer. */
#ifndef AUTOTUNE_JOBS_PROBE_PROBE_H
#define AUTOTUNE_JOBS_PROBE_PROBE_H

#include "core/hardware.h"
#include "core/status.h"
#include "formats/text.h"
#include "results/report.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
    PROBE_MAX_CURVES = 8,
    PROBE_WHY_SIZE = 256,
    PROBE_SHARE = 16, /* by a share of it grows a size without a step */
};

/* What of a program is timed. */
enum probe_time {
    PROBE_WHOLE,  /* all of it */
    PROBE_LOADS,  /* how long the pipe of its loads is busy */
    PROBE_VECTORS /* … of its vector operations */
};

struct probe_writer; /* jobs/probe/probe_parts.h */
struct probe_curve;

struct probe_run_here; /* jobs/probe/probe_here.c */

/* Prepares what is timed of one size on this computer; false ends the curve. */
typedef bool probe_prepare(struct probe_run_here *run, const struct probe_curve *curve, int64_t x);

/* Writes the program of one size. */
typedef void probe_emit(struct probe_writer *writer, const struct probe_curve *curve, int64_t x);

/* Programs of one kind, from a size to another in steps; with a step of 0 by a PROBE_SHARE-th. The
 * first size that does not fit the chip ends the curve. */
struct probe_curve {
    const char *name; /* as people read it: "K = 144" */
    /* Of its points in a file of curves (formats/curves.h), and the unit of x there; kind NULL: it
     * is not of whole programs, or not in it. */
    const char *kind, *label, *unit;
    int64_t from, to, step;
    probe_emit *emit;
    probe_prepare *prepare; /* in its place, of what runs on this computer */
    /* What they ask: of these, what they need. */
    const char *source, *destination;
    int64_t m, k, n; /* 0: x */
    enum dtype type;
    enum probe_time time;
    int operations, buffers, products;
    bool all_cores;
};

struct probe_point {
    int64_t x;
    int cores; /* that ran the program */
    double ns;
    double empty_ns; /* the same of a program without an instruction, on as many cores */
};

struct probe_series {
    const struct probe_curve *curve;
    int count;
    struct probe_point *points;
    char why[PROBE_WHY_SIZE]; /* it has no points; "" where it has */
};

struct probe_answer {
    const struct probe *probe;
    const struct hardware *hw; /* not owned */
    double ghz;                /* of the clock, as described; of this computer, as measured */
    int series_count;
    struct probe_series series[PROBE_MAX_CURVES];
};

struct probe_quantity;

/* A number of a quantity; NAN: it cannot be told. */
typedef double probe_number(const struct probe_answer *answer, const struct probe_quantity *q);

struct probe_quantity {
    const char *name, *unit;
    int curve;                       /* that it is told from */
    probe_number *found, *described; /* described NULL: no number of a description is like it */
    double paper_low, paper_high; /* of the Ascend 910: from … to …, INFINITY: or more, equal: that;
                                     both 0: not published */
    const char *source;           /* "A 4.1, Fig. 3" */
};

struct probe {
    const char *name, *title;
    const char *figure; /* of the paper */
    const char *x;      /* what grows, with its unit */
    int curve_count;
    const struct probe_curve *curves;
    int quantity_count;
    const struct probe_quantity *quantities;
    const struct probe *here; /* the same on this computer; NULL: it means nothing there, and */
    const char *why_not_here;
};

/* In the order of the paper; ends with NULL. */
extern const struct probe *const probes[];

/* The one called so, or NULL. */
const struct probe *probe_find(const char *name);

/* NAN: it cannot be told. */
double quantity_found(const struct probe_answer *answer, const struct probe_quantity *q);
double quantity_described(const struct probe_answer *answer, const struct probe_quantity *q);

/* Of a processor in some seconds. STATUS_NO_MEMORY, STATUS_IO where threads cannot be started. */
enum status probe_run(const struct probe *probe, const struct hardware *hw,
                      struct probe_answer *answer, struct error *error);
void probe_answer_clear(struct probe_answer *answer);

/* Why there is nothing: the first curve's reason, where none has points; NULL where one has. */
const char *probe_why(const struct probe_answer *answer);

/* What is concluded, and where `points` says so the points; each procedure begins with an empty
 * line. */
void probe_write_text(const struct probe_answer *answer, bool points, const struct style *style,
                      FILE *out);

/* A member of the answer's "procedures". */
json_t *probe_json(const struct probe_answer *answer);

/* The header of a file of curves, and the records of a procedure's whole programs; `chip` as
 * calibration_chip says it. */
void probe_write_curves_header(FILE *out);
void probe_write_curves(const struct probe_answer *answer, const char *chip, FILE *out);

/* A figure and what it concludes, or why there is none. */
void probe_report(struct report *report, const struct probe_answer *answer);

#endif
