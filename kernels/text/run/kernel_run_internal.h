/* Internal to the running of kernels. */
#ifndef AUTOTUNE_KERNELS_TEXT_RUN_KERNEL_RUN_INTERNAL_H
#define AUTOTUNE_KERNELS_TEXT_RUN_KERNEL_RUN_INTERNAL_H

#include "core/formula.h"
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/run/kernel_run.h"

/* Numbers of a tile, or a part's, row by row. */
struct numbers {
    double *values;   /* owned */
    int64_t capacity; /* that there is memory for */
};

struct runner {
    struct kernel_plan plan;
    struct kernel_env *env;
    struct numbers_run *run;
    struct error *error;
    struct formula formulas[HARDWARE_MAX_OPERATIONS];
    struct numbers *tiles[KERNEL_MAX_TILES]; /* owned; as many as rounds of its life are open */
    int slots[KERNEL_MAX_TILES];             /* the one of the current round */
    struct numbers parts[PLAN_MAX_PARTS];    /* of the step that runs */
};

/* What nothing wrote: a NaN that no arithmetic gives. */
double run_unwritten(void);
bool run_is_unwritten(double value);

/* STATUS_OK: there is room for so many. */
enum status run_room(struct numbers *numbers, int64_t count, struct error *error);

/* kernel_run_parts.c: the elements of a part of the step, row by row; what lies outside a tensor is
 * `fill`. *columns: of the last dimension. */
enum status run_gather(struct runner *r, int step, int part, double fill, int64_t *count,
                       int64_t *columns);

/* Gives the first `count` elements of the step's result these values. */
enum status run_scatter(struct runner *r, int step, double *values, int64_t count, bool adds);

/* kernel_run_step.c: runs a step in the current rounds. */
enum status run_step(struct runner *r, int number);

#endif
