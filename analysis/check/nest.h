/* What the loops of a program make of its lines, without unrolling it: how often each runs, which
 * bytes its operands touch over all iterations, and which iteration an event is. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_NEST_H
#define AUTOTUNE_ANALYSIS_CHECK_NEST_H

#include "analysis/check/check.h"

struct nest {
    int64_t *executed; /* per instruction: times that it runs; per loop: instructions that run in it
                        over the whole program, 0 when it need not be entered */
    int32_t *parent;   /* per instruction: the innermost loop around it, -1 outside of loops */
    int64_t events;    /* instructions that run, in all */
};

/* For a closed program. Free with nest_clear. */
enum status nest_init(struct nest *nest, const struct program *program, struct error *error);
void nest_clear(struct nest *nest);

/* The iterations of the loops around an instruction, outermost first; returns how many loops. */
int nest_counts(const struct nest *nest, const struct program *program, int32_t item,
                int64_t counts[PROGRAM_MAX_DEPTH]);

/* `count` rows of `bytes` each, `stride` > bytes apart where there is more than one; the first
 * starts at `start`, at loop indices of 0. */
struct rows {
    int64_t start, bytes, count, stride;
};

/* [low, high) contains every byte touched at any index value. */
struct range {
    int64_t low, high;
};

/* Rows that touch each other become one; a row of pieces counts with the gaps in it. False when an
 * address does not fit in 64 bits. */
bool region_rows(const struct region *region, struct rows *rows);

/* Over all iterations of the loops around the instruction `item`, none of which is empty. False
 * when an address does not fit in 64 bits. */
bool region_range(const struct program *program, const struct nest *nest, int32_t item,
                  const struct region *region, struct range *range);

/* Where the first of `rows` starts at the given loop indices (0 beyond the loops there are); cannot
 * overflow where region_range is true. */
int64_t region_start(const struct region *region, const struct rows *rows,
                     const int64_t index[PROGRAM_MAX_DEPTH]);

/* The access of an instruction whose loops stand at `index` (NULL: not known). */
void witness_of_index(struct witness_access *access, const struct program *program,
                      const struct nest *nest, int32_t item, bool writes, const int64_t *index);

/* The access of the event with this number on its pipe, counted from 1 in program order. */
void witness_of_event(struct witness_access *access, const struct program *program, int pipe,
                      bool writes, int64_t number);

#endif
