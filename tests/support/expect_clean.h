/* Programs that this project writes: safe, aligned and free of superfluous synchronisation. */
#ifndef AUTOTUNE_TESTS_SUPPORT_EXPECT_CLEAN_H
#define AUTOTUNE_TESTS_SUPPORT_EXPECT_CLEAN_H

#include "core/program.h"
#include "core/status.h"

#include <gsl/gsl_rng.h>

void expect_clean(const struct program *program, const char *what);

/* In femtoseconds, on `cores` cores. */
double play_fs(const struct program *program, int cores);

/* What an operator is compared with: `program` as written, which becomes what is played. */
void expect_clean_baseline(struct program *program, enum status status, const struct error *error,
                           const char *what);

/* Calls `act` with every shipped chip. */
void each_chip(void (*act)(gsl_rng *rng, const struct hardware *hw));

/* 1 to `most`, small ones as often as large ones. */
int64_t log_uniform(gsl_rng *rng, double most);

#endif
