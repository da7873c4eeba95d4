/* What an operator has to compute and to move by the shapes in a profiler's row: profilers count no
 * operations and no bytes. */
#ifndef AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_SHAPES_H
#define AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_SHAPES_H

#include "core/dtype.h"
#include "formats/profile.h"

/* Of multiplications of matrices the shapes give the operations, and the bytes that they move at
 * least. */
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

/* Elementwise operators load every input and store every result once. What they move follows from
 * the shapes then, and where the vector unit has an instruction for them, what they compute too. */
struct elementwise_work {
    double load_least_bytes; /* of all inputs, each once */
    double load_most_bytes;  /* where one is broadcast: it may be loaded again for every result */
    double store_bytes;
    double elements;       /* of the output */
    const char *operation; /* of the vector unit, one an element of the output; NULL: the shapes do
                              not say */
    enum dtype type;       /* that it computes in */
    char note[160];        /* why something is not known; "" */
};

/* Is the row's operator one of them by its type? */
bool shapes_are_elementwise(const struct profile_row *row);

/* False when the shapes do not say, or contradict each other: work->note says why. */
bool shapes_elementwise(const struct profile_row *row, struct elementwise_work *work);

#endif
