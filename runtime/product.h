/* What a call of autotune_sgemm_general asks for, checked. */
#ifndef AUTOTUNE_RUNTIME_PRODUCT_H
#define AUTOTUNE_RUNTIME_PRODUCT_H

#include "kernels/matmul/host/sgemm.h"
#include "runtime/autotune_sgemm.h"

#include <stdbool.h>

/* False: sizes or distances are none, or more than memory can hold. Distances of 0 become those of
 * dense rows. */
bool product_read(const struct autotune_sgemm_product *product, struct sgemm_operands *operands);

/* Is it C = A·B of dense matrices? */
bool product_is_plain(const struct autotune_sgemm_product *product,
                      const struct sgemm_operands *operands);

/* C = beta·C: all that there is to do where alpha is 0 or a sum is empty. */
void product_scale(const struct autotune_sgemm_product *product,
                   const struct sgemm_operands *operands);

#endif
