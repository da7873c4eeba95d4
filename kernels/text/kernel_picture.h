/* What a tiling of a kernel's text is, for people: loops with their rounds, steps with their pipes
 * and times, where tiles lie. */
#ifndef AUTOTUNE_KERNELS_TEXT_KERNEL_PICTURE_H
#define AUTOTUNE_KERNELS_TEXT_KERNEL_PICTURE_H

#include "core/operator.h"

/* struct operator_space's `picture`: of an illegal tiling there are the tiles and the buffers only,
 * and nothing where its structure cannot be. */
enum status kernel_picture(const struct space *space, const struct tiling *tiling,
                           struct json_t *picture, struct error *error);

#endif
