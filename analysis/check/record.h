/* What of an executed program matters for its order: sets, waits, barriers, and which earlier
 * events each access has to come after. The search for synchronisation that orders nothing new
 * replays it again and again (oversync.c) without looking at bytes.
 *
 *   struct record record = {0};
 *   record_init(&record, &program, &error);
 *   record_add(&record, &event, pairs, bounds, &error);      for every event, in order
 *   record_close(&record, &error);
 *
 * A beyond-limit record is no error: record.full is then true, and the record worth nothing. */
#ifndef AUTOTUNE_ANALYSIS_CHECK_RECORD_H
#define AUTOTUNE_ANALYSIS_CHECK_RECORD_H

#include "analysis/check/overlap.h"

#define RECORD_MAX_STEPS 4000000LL
enum { RECORD_MAX_SLOTS = 4096 }; /* sets whose waits are still to come, at one time */

/* This event has to come after event `number` of `pipe`, and does in the whole program. */
struct record_need {
    uint32_t number;
    int32_t item;  /* of that event, when both touch the same bytes; -1: that is not said */
    int32_t piece; /* which (struct pair) */
    int8_t pipe, buffer;
};

struct record_step {
    int32_t item;    /* into program->items; their count: the end of a pipe (record_cut) */
    uint32_t number; /* of the event on its pipe; 0 for a barrier */
    uint32_t seen;   /* set: the last event of the other pipe that it comes after */
    int32_t slot;    /* set: where its clock is kept until its wait (-1: no wait); wait: the same */
    int32_t partner; /* set <-> wait: steps, -1: none */
    int32_t need;    /* the first of its needs */
    int32_t group;   /* of its instruction, once the record is closed */
    int32_t reg;     /* set or wait: its register among those in use, then, too */
    int8_t pipe;     /* PROGRAM_PIPE_ALL: a barrier */
    uint8_t kind;    /* enum instruction_kind; any kind of work counts as INSTRUCTION_MOVE */
    uint8_t need_count;
    bool last_wait; /* no set of this register comes after this wait */
    bool blocks;    /* its pipe does dispatch */
};

/* Where a period of a folded loop ended; more such periods follow the last mark of a group. */
struct record_mark {
    int64_t at;     /* steps before it */
    int64_t before; /* the mark before it in its group; -1: it is the first */
    int32_t first_slot,
        slot_count; /* of the sets that wait here, oldest first, in record.waiting */
    int8_t depth;
    bool last;
    uint32_t numbers[HARDWARE_MAX_PIPES]; /* events until then */
};

struct record {
    const struct program *program;
    int64_t count;
    struct record_step *steps;
    int64_t need_count;
    struct record_need *needs;
    int32_t *group;       /* per instruction: a set or wait that is matched with it, or itself; sets
                             and waits whose groups end at the same instruction go
                             together. Closed: that instruction, which stands for all */
    int32_t *head, *tail; /* per register: the steps of its oldest and newest set without a wait;
                             closed: `head` is its number among those in use, -1: none */
    int register_count;   /* in use, */
    int8_t *register_to;  /* and the pipes that wait for them */
    bool *fixed;          /* per group: it cannot be taken out */
    uint32_t needed[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES]; /* the most so far */
    struct record_step
        left_out[HARDWARE_MAX_PIPES];     /* the last work that tells nothing, per pipe */
    uint32_t numbers[HARDWARE_MAX_PIPES]; /* of the last event of each pipe */
    int slot_count;
    bool full;
    int64_t mark_count;
    struct record_mark *marks;
    int64_t waiting_count;
    int32_t *waiting;
    int64_t last_mark[PROGRAM_MAX_DEPTH]; /* of the group at hand, at each depth */
    bool folded; /* more periods such as those of a group of marks follow it, so that numbers are
                    those of the whole program only up to these: */
    uint32_t counted[HARDWARE_MAX_PIPES];
};

enum status record_init(struct record *record, const struct program *program, struct error *error);
void record_clear(struct record *record);

/* What it has to follow of each pipe: pairs[q].number and bounds[q], 0: nothing (overlap.h); pairs
 * NULL: nothing of all. */
enum status record_add(struct record *record, const struct event *event, const struct pair *pairs,
                       const uint32_t *bounds, struct error *error);

/* After the last event, where waits wait for each other's sets for ever: what has run stays in the
 * order that it has for whatever comes after it, and what has not run to its end cannot be taken
 * out. */
enum status record_cut(struct record *record, const struct order *order, struct error *error);
/* A period has ended here. Without memory the record becomes full. */
void record_mark(struct record *record, int depth, bool first, bool last);
enum status record_close(struct record *record, struct error *error);

#endif
