/* Pieces of memory that cut every operand of a program evenly (symbolic.h). */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_GRAIN_H
#define AUTOTUNE_ANALYSIS_ADVICE_GRAIN_H

#include "core/program.h"

/* The greatest common divisor; of 0 and a number, that number. */
int64_t grain_divisor(int64_t a, int64_t b);

/* The greatest number of bytes that divides every address and size of the program; at least 1. */
int64_t grain_of(const struct program *program);

/* Does the instruction's kind have the operand, whether its text names it or not? A vector or
 * scalar operation has the sources that it names. */
bool grain_has_role(const struct instruction *in, enum operand_role role);

#endif
