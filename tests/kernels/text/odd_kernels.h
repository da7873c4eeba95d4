/* Kernels that ask for a rule which most do not: one each.
 */
#ifndef AUTOTUNE_TESTS_ODD_KERNELS_H
#define AUTOTUNE_TESTS_ODD_KERNELS_H

extern const char *const odd_kernels[]; /* ends with NULL */

/* Kernels that do what a kernel may not, with some sizes or tilings. */
extern const char *const wrong_kernels[];

#endif
