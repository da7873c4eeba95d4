/* A change on trial: kept only when the changed program takes less time, is as safe as before and
 * computes the same.
 *
 *   trial_open(&trial, &program, cores, &error);          per program; then per strategy:
 *   trial_begin(&trial);
 *   … edit_open(&edit, trial_program(&trial)); change; trial_try(&trial, &edit, …); edit_close …
 *   trial_close(&trial);
 *
 * What is tried goes through three gates, cheapest first: the simulator says how long it takes,
 * program_check that it is safe, symbolic values that it leaves the same bytes behind. A program
 * that passes becomes the one that further changes start from. So a strategy may propose on a
 * guess: what is kept is proven on the finite program. */
#ifndef AUTOTUNE_ANALYSIS_ADVICE_TRIAL_H
#define AUTOTUNE_ANALYSIS_ADVICE_TRIAL_H

#include "analysis/advice/edit.h"
#include "costmodel/simulate.h"

enum {
    TRIAL_MAX_EXECUTED = 20 * 1000000, /* instructions of a program, loops unrolled */
    TRIAL_MAX_TRIES = 300,             /* of one strategy */
    TRIAL_MAX_EVENTS = 100 * 1000000,  /* instructions that one strategy has checked */
};

enum trial_gate { TRIAL_SLOWER, TRIAL_UNSAFE, TRIAL_DIFFERENT, TRIAL_UNPROVEN, TRIAL_GATES };

/* What a program computes, whatever the data: every value stands for the operations and the first
 * contents of memory that it was made from, as a number of 64 bits, and what is left at the end is
 * summed up. Two safe programs of equal symbolic values leave the same bytes behind (but for a
 * collision, about 1 in 2^64 each).
 *
 * Moves carry values along byte by byte, element-wise operations make one of each element's, and a
 * reduction one of each repeat's, so one instruction over much and several over its parts mean the
 * same. What an instruction does beyond its text (a constant added, say) is taken to depend on its
 * line: lines of different numbers never do the same, though they read alike; copies of a line do.
 * Vector operations of which the chip's description says which inputs they have, and that name
 * them all, do nothing beyond their text.
 * An operand that is missing is memory of the line's own. The program must be safe (check.h):
 * accesses that nothing orders have no values.
 *
 * Values belong to pieces of `grain` bytes, which cut every operand of both programs evenly:
 * compare two programs at the greatest common divisor of their grains. */
struct symbolic {
    uint64_t outside; /* external memory, and operands that are missing */
    uint64_t inside;  /* buffers of the chip */
    bool leaves;      /* something is written outside */
};

/* Can a program be changed and compared with what it was? The part of check.h that decides it:
 * superfluous synchronisation is no fault. */
struct safety {
    bool safe;            /* no hazard, double set, unmatched flag, deadlock or overflow */
    char why[256];        /* it is not: the first reason */
    size_t misaligned;    /* findings of alignment */
    int32_t unnamed_line; /* that leaves out an operand in a buffer of the chip, so that nobody
                             knows where it lies; 0: none */
};

/* STATUS_TOO_LARGE as program_check. */
enum status safety_of(const struct program *program, struct safety *safety, struct error *error);

struct trial {
    const struct program *first; /* not owned */
    int cores;
    struct simulator *simulator;
    int64_t first_fs;     /* time of the first program; -1: it deadlocks */
    struct safety safety; /* of the first program; where it is not safe, nothing can be tried */
    bool tidy;            /* nor is there superfluous synchronisation in it */
    int64_t grain;        /* that first_symbolic was taken at */
    struct symbolic first_symbolic;

    struct program best; /* owned; the first program's copy is not made: hw == NULL */
    int64_t best_fs;
    int tries;
    int64_t events;
    int refused[TRIAL_GATES];
};

/* STATUS_TOO_LARGE beyond the limits of check.h and edit.h. */
enum status trial_open(struct trial *trial, const struct program *program, int cores,
                       struct error *error);
void trial_close(struct trial *trial);

/* Forgets what was tried. */
void trial_begin(struct trial *trial);

/* What the next change starts from. */
const struct program *trial_program(const struct trial *trial);

/* How much better a change has to be: less time, as little, or it need not. */
enum trial_aim { TRIAL_FASTER, TRIAL_NOT_SLOWER, TRIAL_ANY_TIME };

/* *taken: the lines passed, and trial_program is now made of them. A change that does not pass is
 * no error. */
enum status trial_try(struct trial *trial, const struct edit *edit, enum trial_aim aim, bool *taken,
                      struct error *error);

/* Tries a change that wants less time as it stands, and with its flags written anew (resync.h),
 * which has to be better still. */
enum status trial_try_synced(struct trial *trial, struct edit *edit, bool *taken,
                             struct error *error);

/* May another change be tried? */
bool trial_goes_on(const struct trial *trial);

/* Tries one change of every move, synced, and where it is not taken another one. A change that
 * finds nothing to do returns false. */
enum status trial_moves(struct trial *trial, bool (*first)(struct edit *edit, int32_t at),
                        bool (*second)(struct edit *edit, int32_t at), struct error *error);

/* Takes all synchronisation that orders nothing new (oversync.h) out of the program on trial; where
 * a trial's gates or the limits of the search stand in the way, it stays. */
enum status tidy(struct trial *trial, enum trial_aim aim, struct error *error);

/* Takes out what a change has left superfluous, at any cost in time. A change that cannot be rid of
 * it is none: the trial is back at its first program. */
enum status tidy_change(struct trial *trial, struct error *error);

#endif
