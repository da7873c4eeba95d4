/* How cores share a kernel. */
#ifndef AUTOTUNE_KERNELS_TEXT_PLAN_KERNEL_SHARES_H
#define AUTOTUNE_KERNELS_TEXT_PLAN_KERNEL_SHARES_H

#include "kernels/text/plan/kernel_eval.h"

/* Makes sizes what the core with most work has, of `cores` >= 1; *used of them have any. The axes
 * that the kernel's `cores` asks for are set. STATUS_INVALID: more shares than cores. */
enum status kernel_share(struct kernel_values *values, int64_t cores, int64_t *used,
                         struct error *error);

/* After that: makes sizes what core `core` of so many has, of sizes that are `given`, without their
 * pads; later cores go on where those before end, the last `cores` line first. *any: it has some of
 * each. */
enum status kernel_share_given(struct kernel_values *values, int64_t cores, int64_t core,
                               const int64_t given[], bool *any, struct error *error);

#endif
