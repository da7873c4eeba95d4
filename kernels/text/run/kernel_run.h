/* A kernel's text on numbers (core/numbers.h).
 *
 * The steps of each core run one after the other, in an order that the program's flags allow. Sizes
 * are as they were given: pads and rooms cost time and bytes and play no part. An element is a
 * number of its type exactly; an instruction computes in FP32, of whole numbers exactly, and rounds
 * at its end (core/element.h); a product adds in the order of k. */
#ifndef AUTOTUNE_KERNELS_TEXT_RUN_KERNEL_RUN_H
#define AUTOTUNE_KERNELS_TEXT_RUN_KERNEL_RUN_H

#include "core/numbers.h"
#include "kernels/text/kernel_text.h"

/* Of the spaces of kernels' texts. */
extern const struct numbers_runner kernel_numbers;

#endif
