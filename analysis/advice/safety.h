/* Can a program be changed and compared with what it was? The part of check.h that decides it:
 * superfluous synchronisation is no fault. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_SAFETY_H
#define AUTOTUNE_ANALYSIS_ADVICE_SAFETY_H

#include "core/program.h"

#include <stddef.h>

struct safety {
    bool safe;            /* no hazard, double set, unmatched flag, deadlock or overflow */
    char why[256];        /* it is not: the first reason */
    size_t misaligned;    /* findings of alignment */
    int32_t unnamed_line; /* that leaves out an operand in a buffer of the chip, so that nobody
                             knows where it lies; 0: none */
};

/* STATUS_TOO_LARGE as program_check. */
enum status safety_of(const struct program *program, struct safety *safety, struct error *error);

#endif
