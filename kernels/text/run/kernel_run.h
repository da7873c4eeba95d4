/* A kernel on numbers: what its steps leave in its tensors, for a tiling.
 *
 *   kernel_run_open(space, &run, &error);         its tensors and their shapes; no elements yet
 *   run.tensors[n].given = …                      what loads see; owned by the caller
 *   kernel_run_play(space, tiling, &run, &error);
 *   … run.tensors[n].left …
 *   kernel_run_close(&run);
 *
 * The steps of each core run one after the other, in an order that the program's flags allow. Sizes
 * are as they were given: pads and rooms cost time and bytes and play no part. An element is a
 * number of its type exactly; an instruction computes in FP32, of whole numbers exactly, and rounds
 * at its end (core/element.h); a product adds in the order of k. */
#ifndef AUTOTUNE_KERNELS_TEXT_RUN_KERNEL_RUN_H
#define AUTOTUNE_KERNELS_TEXT_RUN_KERNEL_RUN_H

#include "kernels/text/space/kernel_space.h"

struct run_tensor {
    char name[KERNEL_MAX_NAME + 1];
    enum dtype type;
    int dim_count;
    int64_t extent[KERNEL_MAX_DIMS], count;
    bool is_loaded, is_stored, is_added; /* by some step of the text; the last two: to */
    double *given;                       /* NULL: 0 everywhere */
    double *left;   /* of one that is stored: what is there at the end; owned by the run */
    int64_t missed; /* elements that no step stored: they are as given */
};

struct kernel_run {
    int tensor_count;
    struct run_tensor tensors[KERNEL_MAX_TENSORS];
    int64_t cores, steps; /* that worked; that ran on all of them */
};

/* Is the space that of a text? */
bool kernel_run_is_possible(const struct space *space);

/* STATUS_TOO_LARGE: more than 2^31 elements. */
enum status kernel_run_open(const struct space *space, struct kernel_run *run, struct error *error);

/* STATUS_INVALID, "line:column: …": an operation whose value the chip's description does not say, a
 * part of which data decide, a tiling that is not legal. */
enum status kernel_run_play(const struct space *space, const struct tiling *tiling,
                            struct kernel_run *run, struct error *error);

void kernel_run_close(struct kernel_run *run);

#endif
