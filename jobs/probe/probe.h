/* The procedures by which AIBench (Y. Xiao and Z. Wang, 2024) finds out what a chip does: programs
 * whose one size grows, and what their times say of the chip.
 *
 *   struct probe_answer answer;
 *   probe_run(probe, &hw, &answer, &error)     of a row of probes[]
 *   probe_write_…                               jobs/probe/probe_write.h
 *   probe_answer_clear(&answer)
 *
 * A procedure is a value: its curves say which programs are generated, its quantities what is
 * concluded, what the description has for it and what was published of the Ascend 910. Times are of
 * whole programs, launch included. What a chip has no path or operation for is left out, and says
 * why. The same description gives the same answer. */
#ifndef AUTOTUNE_JOBS_PROBE_PROBE_H
#define AUTOTUNE_JOBS_PROBE_PROBE_H

#include "core/hardware.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { PROBE_MAX_CURVES = 8, PROBE_WHY_SIZE = 256 };

/* What of a program is timed. */
enum probe_time {
    PROBE_WHOLE,  /* all of it */
    PROBE_LOADS,  /* how long the pipe of its loads is busy */
    PROBE_VECTORS /* … of its vector operations */
};

struct probe_writer; /* jobs/probe/probe_parts.h */
struct probe_curve;

/* Writes the program of one size. */
typedef void probe_emit(struct probe_writer *writer, const struct probe_curve *curve, int64_t x);

/* Programs of one kind, from a size to another in steps; in a step of 0 sizes double. The first
 * size that does not fit the chip ends the curve. */
struct probe_curve {
    const char *name;         /* as people read it: "K = 144" */
    const char *kind, *label; /* of its points in a file of curves (formats/curves.h), and the unit
                                 of x there; kind NULL: not in it */
    const char *unit;
    int64_t from, to, step;
    probe_emit *emit;
    /* What emit asks: of these, what it needs. */
    const char *source, *destination;
    enum dtype type;
    int64_t m, k, n; /* 0: x */
    int operations, buffers, products;
    bool all_cores;
    enum probe_time time;
};

struct probe_point {
    int64_t x;
    double ns;
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
    double empty_ns;           /* a program without an instruction, on one core */
    int series_count;
    struct probe_series series[PROBE_MAX_CURVES];
};

struct probe_quantity;

/* A number of a quantity; NAN: it cannot be told. */
typedef double probe_number(const struct probe_answer *answer, const struct probe_quantity *q);

struct probe_quantity {
    const char *name, *unit;
    int curve; /* that it is told from */
    probe_number *found, *described;
    double paper_low, paper_high; /* of the Ascend 910; 0: not published */
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
};

/* In the order of the paper; ends with NULL. */
extern const struct probe *const probes[];

/* The one called so, or NULL. */
const struct probe *probe_find(const char *name);

/* STATUS_NO_MEMORY, STATUS_TOO_LARGE. */
enum status probe_run(const struct probe *probe, const struct hardware *hw,
                      struct probe_answer *answer, struct error *error);
void probe_answer_clear(struct probe_answer *answer);

/* Why there is nothing: the first curve's reason, where none has points; NULL where one has. */
const char *probe_why(const struct probe_answer *answer);

#endif
