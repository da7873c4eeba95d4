/* Which elements of a tile or tensor are written: a bit each, row by row. */
#ifndef AUTOTUNE_KERNELS_TEXT_LEGAL_KERNEL_ELEMENTS_H
#define AUTOTUNE_KERNELS_TEXT_LEGAL_KERNEL_ELEMENTS_H

#include <stdbool.h>
#include <stdint.h>

enum { ELEMENTS_OF_WORD = 64, ELEMENTS_MAX_DIMS = 8 };

struct elements {
    int64_t count;   /* that there is memory for */
    uint64_t *words; /* owned: free(elements->words) */
    int64_t other;   /* where the last touch was not all as asked: its first element that was not,
                        by rows */
};

/* None of so many, at least 1, is written. False: no memory. */
bool elements_begin(struct elements *elements, int64_t count);

enum element_act { ACT_READ, ACT_WRITE, ACT_IS_FREE };

/* In each of `dims` dimensions `count` elements from `begin` on, `by` apart, of `extent`; of all
 * these the first `most`. What lies outside is left out. */
struct element_part {
    const int64_t *extent, *begin, *count, *by;
    int dims;
    int64_t most;
};

/* Were all of them written, or with ACT_IS_FREE none? ACT_WRITE writes them. Adds to *work a number
 * for each run and each word of it, and stops when that is more than `most_work`. */
bool elements_touch(struct elements *elements, const struct element_part *part,
                    enum element_act act, int64_t most_work, int64_t *work);

#endif
