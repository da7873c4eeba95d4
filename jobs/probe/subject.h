/* What of a chip small programs can time, one thing each, and these programs: the points of a file
 * of curves (formats/curves.h) from which `calibrate` has a description's numbers.
 *
 *   subjects_list(hw, &list, &error)                 from names, paths and types alone
 *   struct subject_bench bench; subject_bench_open(&bench, hw, &error)
 *   subject_time(&bench, &list.items[i], size, &ns)  the program of these sizes, simulated
 *   subject_identify(&bench, …)                      all points that tell a subject's numbers
 *   subject_bench_close(&bench); subjects_clear(&list)
 *
 * A program is known by its subject and its sizes: who fits generates the same ones for another
 * description of the same parts. Which points are timed follows from times alone, but for how many
 * sharers a bus has totals for and the classes of pieces, which are the description's. */
#ifndef AUTOTUNE_JOBS_PROBE_SUBJECT_H
#define AUTOTUNE_JOBS_PROBE_SUBJECT_H

#include "core/program.h"
#include "costmodel/simulate.h"
#include "formats/curves.h"

#include <stdio.h>

struct subject {
    enum curve_kind kind;
    char name[CURVE_NAME_SIZE];  /* of its curve, without the chip: "L0C_TO_UB_F32_F16" */
    char key[HARDWARE_KEY_SIZE]; /* of its group in a description: "paths.l0c->ub.casts.f32:f16" */
    struct instruction one;      /* what is timed, its sizes left out */
    int other;                   /* of a pair: the other's path; of a working set: that of what
                                    misses; of a flag: the pipe that it goes to; else -1 */
};

struct subject_list {
    int count;
    struct subject *items;
};

/* STATUS_NO_MEMORY. Freed by subjects_clear, after a failure too. */
enum status subjects_list(const struct hardware *hw, struct subject_list *list,
                          struct error *error);
void subjects_clear(struct subject_list *list);

struct subject_bench {
    const struct hardware *hw; /* not owned */
    struct simulator *simulator;
    struct program program;
    struct error *error;
};

/* Closed by subject_bench_close, after a failure too. */
enum status subject_bench_open(struct subject_bench *bench, const struct hardware *hw,
                               struct error *error);
void subject_bench_close(struct subject_bench *bench);

/* Simulates one program. STATUS_INVALID where the chip cannot run it. */
enum status subject_time(struct subject_bench *bench, const struct subject *subject,
                         const int64_t size[CURVE_MAX_SIZES], double *ns);

/* The instruction that a subject's program of these sizes repeats, priced. */
enum status subject_instruction(const struct hardware *hw, const struct subject *subject,
                                const int64_t size[CURVE_MAX_SIZES], struct instruction *in,
                                struct error *error);

/* Writes the records of all points that tell the numbers of a chip, `chip` being its name in files
 * of curves; the header is the caller's. */
enum status subject_write_curves(const struct hardware *hw, const char *chip, FILE *out,
                                 struct error *error);

#endif
