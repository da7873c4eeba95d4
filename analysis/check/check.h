/* Is a program safe? Exact on the finite program: pipes are FIFO, the n-th wait of a register
 * matches its n-th set, barriers and the dispatch-blocking pipe order what stands around them, so
 * happens-before is one fixed partial order. A set covers the results of everything before it on
 * its pipe, so latencies change nothing here; within one pipe the chip keeps accesses to the same
 * bytes in order, as if each instruction had ended before the next.
 *
 * The parts: nest.h (how often a line runs, and on which bytes), order.h (executes the program and
 * yields each event with its vector clock), overlap.h (who touched which bytes last), findings.h
 * (what was found), oversync.h (superfluous synchronisation). Nothing stores the unrolled program.
 *
 * A program is safe when it has no finding but superfluous synchronisation. It has a hazard, a
 * double set or a deadlock exactly when there is a finding of that kind; of several accesses of one
 * pipe to the same bytes that all conflict with a later one, only the last is named. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_CHECK_H
#define AUTOTUNE_ANALYSIS_CHECK_CHECK_H

#include "core/program.h"

enum finding_kind {
    FINDING_HAZARD,         /* two unordered accesses to overlapping bytes, one of them a write */
    FINDING_DEADLOCK,       /* a wait whose set never comes */
    FINDING_UNMATCHED_FLAG, /* more sets than waits of a register, or more waits than sets */
    FINDING_DOUBLE_SET,     /* a set not ordered after the wait of the set before it */
    FINDING_CAPACITY,       /* an operand beyond the end (or before the start) of its buffer */
    FINDING_ALIGNMENT,      /* an operand that starts where its buffer allows no start */
    FINDING_MEMORY,         /* an operand in a buffer that its unit does not reach */
    FINDING_OVER_SYNC,      /* a wait or barrier whose removal keeps every order that matters */
    FINDING_KINDS,
};

enum {
    FINDING_MAX_LINES = 8,
    WITNESS_MAX_STEPS = 2 * HARDWARE_MAX_PIPES + 1, /* a way passes each pipe once */
    CHECK_MAX_FINDINGS = 1000,                      /* of one kind; further ones are left out */
};
#define CHECK_MAX_EVENTS 50000000LL  /* instructions executed; loops that recur are not unrolled */
#define CHECK_MAX_STARTS 10000000LL  /* different places where rows of shared operands start */
#define CHECK_MAX_VISITS 200000000LL /* pieces of buffers touched by all events together */
#define CHECK_MAX_BYTES  (512LL << 20) /* of memory for pieces, and for what waits in queues */

/* One access of an instruction, or the whole of an operand. */
struct witness_access {
    int32_t item; /* into program->items */
    bool writes;
    int index_count; /* of the loops around it; -1: which iteration is not known */
    int64_t index[PROGRAM_MAX_DEPTH];
};

/* Why synchronisation is superfluous. */
enum oversync_reason {
    OVERSYNC_UNKNOWN,        /* too long a program to show it */
    OVERSYNC_ORDERED,        /* the two accesses that it orders are in order by the steps too */
    OVERSYNC_ORDERED_BEFORE, /* it orders no two that were not in order by then, such as these */
    OVERSYNC_NO_CONFLICT,    /* nothing behind it conflicts with anything before it */
    OVERSYNC_SAME_PIPE,      /* a barrier of one pipe, which keeps its order anyway */
    OVERSYNC_REASONS,
};

/* What shows that a finding is true. Parts that do not apply are empty. */
struct witness {
    int access_count; /* hazard: the earlier and the later; capacity, alignment: one; over_sync: two
                         that stay ordered, where its reason has such */
    struct witness_access accesses[2];
    int8_t buffer; /* -1: none; else both accesses touch [low, high) of it (over_sync: or may, where
                      one leaves its operand out and all of the buffer stands here), or the one
                      reaches so far */
    int64_t low, high;
    int step_count; /* deadlock: who waits for whom, each for the next, and in a cycle the last
                       step is one of those before it; double_set: set, wait, set; over_sync:
                       what orders the two accesses all the same, from the first one's pipe to the
                       second's; unmatched_flag: the last sets or waits, which have no partner */
    int32_t steps[WITNESS_MAX_STEPS]; /* into program->items */
    int64_t sets, waits;              /* unmatched_flag: how many */
    enum oversync_reason reason;      /* over_sync */
    bool edge; /* hazard: a set on the first's pipe after it and a wait on the second's before
                  it are missing */
};

struct finding {
    enum finding_kind kind;
    int line_count;
    int32_t lines[FINDING_MAX_LINES]; /* of the text, in ascending order, each once */
    char text[256];                   /* what, where, and what would mend it */
    struct witness witness;
};

struct check {
    size_t count;
    struct finding *findings; /* owned: check_clear; causes first: unmatched flags, double sets,
                                 memories, capacity, alignment, deadlocks, hazards, over_sync; then
                                 by lines; one finding for each distinct (kind, lines) */
    bool truncated;           /* some kind had more than CHECK_MAX_FINDINGS */
};

/* The name used in JSON: "hazard", "deadlock", … */
const char *finding_kind_name(enum finding_kind kind);

/* Checks a closed program (program_close). On success the caller owns *check (check_clear).
 * STATUS_TOO_LARGE when the program is beyond one of the limits above, which the text names.
 * After a deadlock, what could run before it is still checked. */
enum status program_check(const struct program *program, struct check *check, struct error *error);

/* The same but for superfluous synchronisation, the search for which takes most of the time. */
enum status program_check_safety(const struct program *program, struct check *check,
                                 struct error *error);

/* Was nothing found but superfluous synchronisation? */
bool check_is_safe(const struct check *check);

void check_clear(struct check *check);

#endif
