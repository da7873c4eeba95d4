/* Internal to jobs/reproduce: the chapters that are of no operator, and what two of them need. */
#ifndef AUTOTUNE_JOBS_REPRODUCE_REPRODUCE_PARTS_H
#define AUTOTUNE_JOBS_REPRODUCE_REPRODUCE_PARTS_H

#include "jobs/reproduce/reproduce.h"
#include "jobs/tune/kernels.h"
#include "kernels/chapter.h"
#include "search/search.h"

extern const struct chapter simulator_chapter, apart_chapter, audio_chapter, fft_chapter,
    layers_chapter, network_chapter;

/* The time of the best tiling of m x k x n in the thesis's space, on all cores of a chip. */
enum status best_product_ns(const struct reproduction *r, const struct hardware *hw, int64_t m,
                            int64_t k, int64_t n, double *ns, struct error *error);

/* The chip whose operator library's times are learned: the described Ascend 910, as it is. */
enum status learned_chip(struct hardware *hw, struct error *error);

/* ---- kernels' texts: the best of the tilings that share some values
 *
 *   text_open(&hw, "fft_passes", &kernel, &error)
 *   text_best(&kernel, r->threads, sizes, fixed, &found, &error)  …
 *   text_close(&kernel) */

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
