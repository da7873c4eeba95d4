/* What procedures are made of: a writer of programs that knows what a chip lacks, and the numbers
 * that several of them conclude. */
#ifndef AUTOTUNE_JOBS_PROBE_PROBE_PARTS_H
#define AUTOTUNE_JOBS_PROBE_PROBE_PARTS_H

#include "jobs/probe/probe.h"
#include "kernels/emit.h"

#define PROBE_COUNT(rows) ((int)(sizeof(rows) / sizeof *(rows)))

/* What emit functions write to. The helpers below do nothing once the chip lacked something. */
struct probe_writer {
    struct emitter e;
    const struct hardware *hw;
    int cores;                  /* that run the program */
    int load_pipe, vector_pipe; /* whose times may be asked for */
    bool beyond;                /* the size does not fit */
    char why[PROBE_WHY_SIZE];   /* the chip lacks something; "": it does not */
};

/* Says what the chip lacks; the first counts. */
void writer_lacks(struct probe_writer *w, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
bool writer_ends(const struct probe_writer *w);

/* By name; -1, and the writer ends, where there is none. */
int writer_buffer(struct probe_writer *w, const char *name);
int writer_path(struct probe_writer *w, const char *source, const char *destination);

/* The unit's entry for a type; NULL, and the writer ends, without one. */
const struct matrix_type *writer_matrix(struct probe_writer *w, enum dtype type);

/* Does a buffer hold so many bytes? The curve ends here where it does not. */
bool writer_fits(struct probe_writer *w, const char *buffer, int64_t bytes);

/* The core count of a program with these buffers, where a curve is of all cores. */
void writer_cores(struct probe_writer *w, const struct probe_curve *curve, const char *buffer);

/* A flag from one pipe to another; nothing where they are the same, which runs in order. */
void writer_set(struct probe_writer *w, int from, int to, int reg);
void writer_wait(struct probe_writer *w, int from, int to, int reg);

/* The size of a curve after x. */
int64_t probe_next_size(const struct probe_curve *curve, int64_t x);

/* ---- laws: a line, stairs, two lines that meet
 *
 * Points ascend in x. What is fitted is ordinary least squares (GSL); a function returns false
 * where the points do not show its law: too few of them, or a simpler law that explains them about
 * as well. */

/* Times in ns are whole femtoseconds: what rises by less than a thousand of them in all is level,
 * for of so little even a hundredth could be rounding. */
#define SEGMENT_LEAST_RISE 1e-3

struct segment_points {
    const double *x, *y;
    int count;
};

/* y = at_0 + slope · x. */
struct line {
    double at_0, slope;
    double squares; /* of what is left, summed */
};
bool line_fit(const struct segment_points *points, struct line *line);

/* y = at_0 + height · ceil(x / period): x from one multiple of the period, exclusive, to the next
 * are one stair. */
struct stairs {
    double period; /* a multiple of `step`; the step itself: each point is on a stair of its own */
    double at_0, height;
};
bool stairs_fit(const struct segment_points *points, double step, struct stairs *stairs);

/* One line up to `at`, another beyond, which meet there. */
struct knee {
    double at;
    struct line before, after;
};
bool knee_fit(const struct segment_points *points, struct knee *knee);

/* ---- numbers */

/* The line through a curve's points; ns for each step of x, the stairs' length in x; NAN. */
bool curve_line(const struct probe_answer *answer, int curve, struct line *line);
double curve_slope_ns(const struct probe_answer *answer, int curve);
bool curve_stairs(const struct probe_answer *answer, int curve, struct stairs *stairs);
double curve_period(const struct probe_answer *answer, int curve);
double curve_knee(const struct probe_answer *answer, int curve);
/* How much longer a point takes than an empty program on as many cores; the curve's point at x, or
 * NULL. */
double point_ns(const struct probe_point *point);
const struct probe_point *curve_at(const struct probe_answer *answer, int curve, int64_t x);

/* The curve that a quantity is told from. */
const struct probe_curve *quantity_curve(const struct probe_answer *answer,
                                         const struct probe_quantity *q);

/* Cycles of the chip's clock. */
double in_cycles(const struct hardware *hw, double ns);
/* What a unit of work takes at a price, in ns. */
double price_unit_ns(const struct price *price);
/* What each of so many cores gets that move over a path of that price at once; NAN for NULL. */
double price_gbps(const struct hardware *hw, const struct price *price, int cores);

/* ---- on this computer */

/* Times all curves of answer->probe's counterpart, which answer->probe becomes; says why where
 * there is none. */
enum status probe_here(struct probe_answer *answer, struct error *error);

/* ---- the procedures: each a row of probes[] */

extern const struct probe probe_vector_mask, probe_vector_repeats;
extern const struct probe probe_matrix_block, probe_matrix_cycles, probe_matrix_narrow;
extern const struct probe probe_ub_width, probe_l1_width, probe_l0c_width, probe_strides;
extern const struct probe probe_gm_bursts, probe_working_set, probe_cores;
extern const struct probe probe_vector_load, probe_vector_density, probe_break_even;
extern const struct probe probe_matrix_load;

/* What they are on this computer (probe->here). */
extern const struct probe probe_here_vector_repeats, probe_here_matrix_cycles, probe_here_l1_width,
    probe_here_strides, probe_here_gm_bursts, probe_here_working_set, probe_here_cores,
    probe_here_break_even;

#endif
