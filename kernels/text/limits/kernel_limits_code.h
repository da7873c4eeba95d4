/* Code in C that says whether a tiling of a kernel's text fits other sizes: the shares of its
 * cores, what the text requires, the room of its tiles, and the steps that need not fit. It says
 * what kernel_violations would, but for which values an axis has: a tiling that no search of the
 * other shape would come across may be legal all the same.
 *
 * The code is the text's expressions and the plan of one tiling, and so holds for all tilings and
 * sizes that have the same plan; of sizes that would have another one it says no. */
#ifndef AUTOTUNE_KERNELS_TEXT_LIMITS_KERNEL_LIMITS_CODE_H
#define AUTOTUNE_KERNELS_TEXT_LIMITS_KERNEL_LIMITS_CODE_H

#include "kernels/limits_code.h"
#include "kernels/text/kernel_text.h"

/* What a problem means for the text: a size for each of its own, which is size_of[n] of the
 * problem's, and types. */
struct kernel_posed {
    int64_t given[KERNEL_MAX_SIZES];
    int size_of[KERNEL_MAX_SIZES];
    enum dtype type, result;
};

/* Finds or makes the body for asked->entry; *number counts from 1. */
enum status kernel_limits_code(const struct kernel_text *kernel, const struct kernel_posed *posed,
                               const struct limits_asked *asked, struct limits_code *code,
                               int *number, struct error *error);

#endif
