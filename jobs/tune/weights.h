/* What it is worth to bring weights, which many calls share, into the matrix unit's blocks once:
 * the job with them in blocks and the kernel that brings them there, each with its best tiling.
 *
 *   weights_open(&job, &weights, &applies, &error)
 *   … tunes weights.blocks and weights.conversion …
 *   weights_json(&weights, job.calls, now_ns, &blocks, &conversion)
 *   weights_close(&weights) */
#ifndef AUTOTUNE_JOBS_TUNE_WEIGHTS_H
#define AUTOTUNE_JOBS_TUNE_WEIGHTS_H

#include "jobs/tune/job.h"

#include <jansson.h>

struct weights {
    struct job blocks, conversion; /* open; they use the chips and kernels of the job */
};

/* *applies is false, and nothing is open, where there is nothing to compare: the operator has no
 * weights, or they lie in blocks, or not all products have the same; or the space or the chip has
 * no kernels with blocks, or none for the conversion, which *why says ("" otherwise). Weights
 * chosen by what was learned of the chip are chosen so here. */
enum { WEIGHTS_WHY_SIZE = 256 };
enum status weights_open(const struct job *job, struct weights *weights, bool *applies,
                         char why[WEIGHTS_WHY_SIZE], struct error *error);
void weights_close(struct weights *weights);

/* What `calls` calls of `now_ns` each are against those with blocks and one conversion. NULL where
 * one of the two has no legal tiling, or without memory. */
json_t *weights_json(const struct weights *weights, int64_t calls, double now_ns,
                     const struct search_result *blocks, const struct search_result *conversion);

#endif
