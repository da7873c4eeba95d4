/* Synchronisation that orders nothing new (Zhou et al. 2025: removing
 * unnecessary synchronisation, RUS).
 *
 * What can be removed is a unit: one barrier line, or all the set and wait lines of a register
 * that match each other, however indirectly. Removing such a unit leaves every other set with its
 * own wait, so that nothing else changes its meaning and no deadlock can appear.
 *
 * What matters is that two accesses of different pipes to the same bytes, one of them a write,
 * stay ordered where they are ordered now, and so do the wait and the next set of every register
 * that is left. (An operand that is left out of a line counts as the whole buffer, so that a
 * program without operands keeps every ordering of its work.) A set of units may go exactly when
 * all of that holds without them.
 *
 * The units found may all be removed together, and of what is left none can be removed. Where one
 * can take the place of another, barriers go before flags, and what runs first goes first.
 *
 * A barrier of one pipe is always a unit of its own: the order of one pipe is the chip's. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_OVERSYNC_H
#define AUTOTUNE_ANALYSIS_CHECK_OVERSYNC_H

#include "core/program.h"
#include "core/stop.h"

struct oversync_unit {
    int32_t first, count; /* into oversync.items */
};

struct oversync {
    int32_t item_count;
    int32_t *items; /* owned; indices of instructions, ascending within a unit */
    int32_t unit_count;
    struct oversync_unit *units; /* owned; by their first instruction */
    bool complete; /* false: the program was too long, or waits wait for each other's sets, so that
                      there may be more */
};

/* For a closed program, whatever else is wrong with it: accesses that are not ordered have no order
 * to lose, nor has a set that does not come after the wait of the set before it. A wait that the
 * program has no set for is passed over, and orders nothing; where waits wait for each other's
 * sets, what has run keeps the order that it has for whatever comes next. STATUS_TOO_LARGE as
 * program_check, STATUS_STOPPED once `stop` (NULL: never) says so. The caller owns *found
 * (oversync_clear). */
enum status oversync_find(const struct program *program, const struct stop *stop,
                          struct oversync *found, struct error *error);

void oversync_clear(struct oversync *found);

/* Generators write loops whose bodies are all alike, and so flags before and after them, and in
 * them, that order nothing new in tilings with few tiles or a certain order of loops. For a closed
 * program: removes what oversync_find finds, all of it at once; of a long one what it finds where
 * every loop has a few rounds, if it is safe without. A program beyond the limits of the check
 * (check.h) stays as it is, and so does one whose tidying `stop` has ended, with STATUS_STOPPED. */
enum status program_tidy(struct program *program, const struct stop *stop, struct error *error);

#endif
