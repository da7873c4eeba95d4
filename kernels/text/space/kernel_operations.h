/* How many operations a kernel is asked for. */
#ifndef AUTOTUNE_KERNELS_TEXT_SPACE_KERNEL_OPERATIONS_H
#define AUTOTUNE_KERNELS_TEXT_SPACE_KERNEL_OPERATIONS_H

#include "core/hardware.h"
#include "kernels/text/kernel_text.h"

/* Multiplications and additions of the matrix unit and elements of vector operations, of sizes as
 * they are given, without pads. 0: not known, because the chip cannot, or counting takes too long.
 */
double kernel_operations(const struct kernel_text *kernel, const struct hardware *hw,
                         const int64_t given[], enum dtype type, enum dtype result_type);

#endif
