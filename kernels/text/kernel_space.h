/* The space `tile` of a kernel's text on a chip: its axes in the order of the text, then `cores`.
 *
 * A space is made by kernel_space_create; all other functions are kernel_space_tile's, whose
 * `create` is whoever's who knows the text of a problem (kernels/text/kernel_operator.c). */
#ifndef AUTOTUNE_KERNELS_TEXT_KERNEL_SPACE_H
#define AUTOTUNE_KERNELS_TEXT_KERNEL_SPACE_H

#include "core/operator.h"
#include "kernels/text/kernel_text.h"

/* `given`: a size for each of the kernel's, in its order. The kernel has to stay. */
enum status kernel_space_create(struct space *space, const struct kernel_text *kernel,
                                const int64_t given[], enum dtype type, enum dtype result_type,
                                int cores, struct error *error);

extern const struct operator_space kernel_space_tile;

#endif
