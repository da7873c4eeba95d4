/* Which iteration an event of a program is. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_WITNESS_H
#define AUTOTUNE_ANALYSIS_CHECK_WITNESS_H

#include "analysis/check/check.h"
#include "analysis/check/nest.h"

/* The access of an instruction whose loops stand at `index` (NULL: not known). */
void witness_of_index(struct witness_access *access, const struct program *program,
                      const struct nest *nest, int32_t item, bool writes, const int64_t *index);

/* The access of the event with this number on its pipe, counted from 1 in program order. */
void witness_of_event(struct witness_access *access, const struct program *program, int pipe,
                      bool writes, int64_t number);

#endif
