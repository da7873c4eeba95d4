/* Internal to jobs/reproduce: the chapters that are of no operator, and what two of them need. */
#ifndef AUTOTUNE_JOBS_REPRODUCE_REPRODUCE_PARTS_H
#define AUTOTUNE_JOBS_REPRODUCE_REPRODUCE_PARTS_H

#include "jobs/reproduce/reproduce.h"
#include "kernels/chapter.h"
#include "network/network.h"

extern const struct chapter simulator_chapter, apart_chapter, audio_chapter, fft_chapter,
    layers_chapter, network_chapter, quoted_chapter;

/* The time of the best tiling of m x k x n in the thesis's space, on all cores of a chip. */
enum status best_product_ns(const struct reproduction *r, const struct hardware *hw, int64_t m,
                            int64_t k, int64_t n, double *ns, struct error *error);

/* The chip whose operator library's times are learned: the described Ascend 910, as it is. */
enum status learned_chip(struct hardware *hw, struct error *error);

/* The chip whose cube and vector cores are apart, as it is described. */
enum status apart_chip(struct hardware *hw, struct error *error);

/* Appends a MatMul of m x k x n in f16, as the library keeps its operands. */
enum status add_product(struct network *network, int64_t m, int64_t k, int64_t n, int64_t count,
                        struct error *error);

#endif
