/* What the library's texts compute, as plain loops in double. */
#ifndef AUTOTUNE_TESTS_REFERENCES_H
#define AUTOTUNE_TESTS_REFERENCES_H

#include "kernels/text/run/kernel_run.h"

/* Where a tiling stores nothing: of no type, and none that a reference computes. */
#define NOT_STORED 1e300

/* A problem: sizes in the order of the text, its tensors, and the values of the tiling's axes, on
 * which it may depend what lies where. */
struct reference_data {
    const int64_t *size;
    struct numbers_run *run;
    const int64_t *tiling;
};

/* Rounds wherever the text does: every result is this one. */
#define EXACT (-1)

struct reference {
    const char *name, *chips;        /* all of it holds of each chip; blanks between them */
    int64_t most[KERNEL_MAX_SIZES];  /* sizes are drawn up to these, */
    int64_t least[KERNEL_MAX_SIZES]; /* from these on; 0: from 1 */
    void (*compute)(const struct reference_data *p, double *out);
    double relative, absolute;   /* errors allowed; 0: the nearest of the type, or EXACT */
    double largest;              /* of what is drawn */
    bool is_hostile;             /* NaN and infinite numbers too */
    void (*fit)(int64_t size[]); /* makes drawn sizes such as the text takes; NULL: they are */
    void (*prepare)(const struct reference_data *p); /* tensors that hold something in particular */
};

extern const struct reference references[], quant_references[];
extern const int reference_count, quant_reference_count;

/* What the tensor holds. */
double *reference_tensor(const struct reference_data *p, const char *name);

#endif
