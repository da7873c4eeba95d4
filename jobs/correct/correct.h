/* The correction that stands beside a chip's description (core/correction.h), for answers: found by
 * the description's file, refused where it was learned for something else, and applied to a tiling.
 *
 *   correcting_open(hw, &correcting, &error)
 *   correcting_of(&correcting, op, space)        NULL: none, and why
 *   correct_tiling(&correcting, problem, space, tiling, &corrected, &error)
 *   correcting_close(&correcting) */
#ifndef AUTOTUNE_JOBS_CORRECT_CORRECT_H
#define AUTOTUNE_JOBS_CORRECT_CORRECT_H

#include "core/correction.h"
#include "core/operator.h"

#include <jansson.h>

struct correcting {
    char file[512];   /* "": there is none */
    char reason[192]; /* why it is not used, "" where it is, or where there is none */
    char content[17]; /* names what was learned, for keys of stores */
    struct correction correction;
    struct hardware campaign; /* the chip at the correction's clock; where that is another one */
};

/* The chip that kernels are simulated on for the correction: `hw`, or as it ran when the kernels
 * were measured. */
const struct hardware *correcting_chip(const struct correcting *correcting,
                                       const struct hardware *hw);

/* Reads the file beside hw->file, if there is one. STATUS_INVALID for one that breaks a rule; one
 * that was learned for another version of the model or for a description with other numbers is
 * there, and not used. */
enum status correcting_open(const struct hardware *hw, struct correcting *correcting,
                            struct error *error);
void correcting_close(struct correcting *correcting);

/* The correction of an operator's space, or NULL; then correcting->reason says why, unless it was
 * learned for another operator, whose answers it has no part in. */
const struct correction *correcting_of(struct correcting *correcting, const struct operator* op,
                                       const struct operator_space *kind);

/* Simulates a legal tiling of `space` again, for its features, and corrects that. */
enum status correct_tiling(const struct correcting *correcting, const struct problem *problem,
                           const struct space *space, const struct tiling *tiling,
                           struct corrected *corrected, struct error *error);

/* How far it was learned: "1,696 kernels, mean error 18.3 % simulated, 15.8 % corrected on problems
 * left out", cut to `size`; returns `text`. */
const char *correcting_summary(const struct correction *correction, char *text, size_t size);

#endif
