/* Operators of which every result comes of the inputs' elements at its place: they load every input
 * and store every result once. What they move follows from the shapes then, and where the vector
 * unit has an instruction for them, what they compute too. */
#ifndef AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_ELEMENTWISE_H
#define AUTOTUNE_ANALYSIS_PROFILE_ANALYSE_ELEMENTWISE_H

#include "core/dtype.h"
#include "formats/profile.h"

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
