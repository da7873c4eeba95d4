/* What an operator has to compute by the shapes in a profiler's row. Profilers count no operations
 * and no bytes; of multiplications of matrices the shapes give the operations, and the bytes that
 * they move at least. */
#ifndef AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_MATMUL_H
#define AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_MATMUL_H

#include "core/dtype.h"
#include "formats/profile.h"

struct matmul_work {
    double m, k, n, batch;
    enum dtype type;   /* of the operands */
    double load_bytes; /* of both operands, each once */
    double results;    /* elements of the output … */
    int result;        /* … of this enum dtype; -1: not known */
    char note[160];    /* what had to be assumed; "" */
};

/* Is the row's operator a multiplication of matrices by its type? */
bool shapes_are_matmul(const struct profile_row *row);

/* False when the shapes do not say, or contradict each other: work->note says why. Where two sizes
 * that should be equal differ by one digit too many, which is a way in which such files are
 * damaged, the shorter one is taken, and the note says so. */
bool shapes_matmul(const struct profile_row *row, struct matmul_work *work);

#endif
