/* A kernel on numbers: what its steps leave in its tensors, for a tiling.
 *
 *   space->kind->numbers->open(space, &run, &error);     its tensors and their shapes; no elements
 *   run.tensors[n].given = …                             what loads see; owned by the caller
 *   space->kind->numbers->play(space, tiling, &run, &error);
 *   … run.tensors[n].left …
 *   space->kind->numbers->close(&run); */
#ifndef AUTOTUNE_CORE_NUMBERS_H
#define AUTOTUNE_CORE_NUMBERS_H

#include "core/dtype.h"
#include "core/space.h"
#include "core/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { NUMBERS_MAX_TENSORS = 32, NUMBERS_MAX_DIMS = 8, NUMBERS_NAME_SIZE = 32 };

struct numbers_tensor {
    char name[NUMBERS_NAME_SIZE];
    enum dtype type;
    int dim_count;
    int64_t extent[NUMBERS_MAX_DIMS], count;
    bool is_loaded, is_stored, is_added; /* by some step of the kernel; the last two: to */
    double *given;                       /* NULL: 0 everywhere */
    double *left;   /* of one that is stored: what is there at the end; owned by the run */
    int64_t missed; /* elements that no step stored: they are as given */
};

struct numbers_run {
    int tensor_count;
    struct numbers_tensor tensors[NUMBERS_MAX_TENSORS];
    int64_t cores, steps; /* that worked; that ran on all of them */
};

/* Of the kernels of a space. */
struct numbers_runner {
    /* STATUS_TOO_LARGE: more elements than can run. */
    enum status (*open)(const struct space *space, struct numbers_run *run, struct error *error);
    /* Fills `given`, which has room for all elements, with random ones: from -1 to 1, of whole
     * numbers -8 to 7 or 0 to 7. */
    void (*draw)(struct numbers_tensor *tensor, int64_t seed);
    /* STATUS_INVALID: an operation whose value the chip's description does not say, a part of which
     * data decide, a tiling that is not legal. */
    enum status (*play)(const struct space *space, const struct tiling *tiling,
                        struct numbers_run *run, struct error *error);
    void (*close)(struct numbers_run *run);
};

#endif
