/* Kernels' texts in the tables of published numbers: the best of the tilings that share some
 * values.
 *
 *   text_open(&hw, "fft_passes", &kernel, &error)
 *   text_best(&kernel, r->threads, sizes, fixed, &found, &error)  …
 *   text_close(&kernel) */
#ifndef AUTOTUNE_JOBS_REPRODUCE_REPRODUCE_TEXT_H
#define AUTOTUNE_JOBS_REPRODUCE_REPRODUCE_TEXT_H

#include "core/hardware.h"
#include "jobs/tune/kernels.h"
#include "search/search.h"

struct text_kernel {
    const struct hardware *hw; /* not owned */
    struct kernels *kernels;   /* that op is of; NULL: it is the kernel's own */
    const struct operator* op;
};

/* The shipped text of that name for a chip; or a text itself. */
enum status text_open(const struct hardware *hw, const char *name, struct text_kernel *kernel,
                      struct error *error);
enum status text_parse(const struct hardware *hw, const char *text, struct text_kernel *kernel,
                       struct error *error);
void text_close(struct text_kernel *kernel);

/* Axes that have one value; a name of NULL ends them. */
struct text_fixed {
    const char *axis;
    int64_t value;
};

/* `sizes` in the order of the text; axes that `fixed` does not name are searched. STATUS_INVALID
 * where no such tiling is legal. */
enum status text_best(const struct text_kernel *kernel, int threads, const int64_t sizes[],
                      const struct text_fixed fixed[], struct found *found, struct error *error);

#endif
