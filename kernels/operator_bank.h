/* A space whose tilings stand in the tables of operator libraries (formats/bank_row.h). */
#ifndef AUTOTUNE_KERNELS_OPERATOR_BANK_H
#define AUTOTUNE_KERNELS_OPERATOR_BANK_H

#include "core/operator.h"
#include "formats/bank_row.h"

typedef void tiling_visitor(void *context, const struct tiling *tiling);

struct operator_bank {
    int cores_axis; /* of the space's tilings */
    /* By form: where to search for tilings that it has words for, and where those that stand in
     * such a file are simulated. */
    const struct operator_space *spaces[BANK_FORMATS];
    /* What a row computes, with its choices (layouts, bias, transposes …). STATUS_INVALID when the
     * operator has no such problem. */
    enum status (*problem)(const struct bank_row *row, struct problem *problem,
                           struct error *error);
    /* The tiling that the row's kernel ran with. STATUS_INVALID says what the space has no words
     * for. Legality on a chip is not asked. */
    enum status (*tiling)(const struct bank_row *row, const struct problem *problem,
                          struct tiling *tiling, struct error *error);
    /* A row of `format` that says this tiling; measured_ns, text and key are left empty. What the
     * format has no word for is STATUS_INVALID. */
    enum status (*row)(const struct problem *problem, const struct tiling *tiling,
                       enum bank_format format, struct bank_row *row, struct error *error);
    /* Reads "name=value,…" without a problem or a chip; every axis must be given once. */
    enum status (*parse)(const char *text, struct tiling *tiling, struct error *error);
    /* Is there a grid of equal blocks for exactly so many cores? */
    bool (*even_grid)(const struct space *space, int64_t cores);
    /* Visits, once each and always in the same order, the even tilings of an opened problem that
     * are legal there, use least_cores and more, and have words in the row's form: all that is cut
     * is cut into equal parts of whole blocks. Ends early when space->stop says so. */
    void (*even_tilings)(const struct space *space, const struct bank_row *row, int64_t least_cores,
                         tiling_visitor *visit, void *context);
};

#endif
