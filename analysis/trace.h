/* What of a played program matters for its order: sets, waits, barriers, and which earlier events
 * each access has to come after. The search for synchronisation that orders nothing new replays it
 * again and again (analysis/replay.h) without looking at bytes.
 *
 *   struct trace trace = {0};
 *   trace_init(&trace, &program, &error);
 *   trace_add(&trace, &event, needs, &error);      for every event, in the order of play
 *   trace_close(&trace, &error);
 *
 * A beyond-limit trace is no error: trace.full is then true, and the trace worth nothing. */
#ifndef AUTOTUNE_ANALYSIS_TRACE_H
#define AUTOTUNE_ANALYSIS_TRACE_H

#include "analysis/order.h"

#define TRACE_MAX_STEPS 4000000LL
enum { TRACE_MAX_SLOTS = 4096 }; /* sets whose waits are still to come, at one time */

/* This event has to come after event `number` of `pipe`, and does in the whole program. */
struct trace_need {
    uint32_t number;
    int8_t pipe;
};

struct trace_step {
    int32_t item;      /* into program->items */
    uint32_t number;   /* of the event on its pipe; 0 for a barrier */
    int32_t slot;      /* set: where its clock is kept until its wait (-1: no wait); wait: the same */
    int32_t partner;   /* set <-> wait: steps, -1: none */
    int32_t need;      /* the first of its needs */
    int8_t pipe;       /* PROGRAM_PIPE_ALL: a barrier */
    uint8_t kind;      /* enum instruction_kind; any kind of work counts as INSTRUCTION_MOVE */
    uint8_t need_count;
    bool last_wait;    /* no set of this register comes after this wait */
};

struct trace {
    const struct program *program;
    int64_t count, capacity;
    struct trace_step *steps;
    int64_t need_count, need_capacity;
    struct trace_need *needs;
    int32_t *group;      /* per instruction: a set or wait that is matched with it, or itself; sets
                            and waits whose groups end at the same instruction go together */
    int32_t *head, *tail; /* per register: the steps of its oldest and newest set without a wait */
    bool *tainted;       /* per register: it was set twice, so its sets are not held to anything */
    bool *fixed; /* per group: it cannot be taken out (trace_group) */
    uint32_t needed[HARDWARE_MAX_PIPES][HARDWARE_MAX_PIPES]; /* the most so far */
    struct trace_step left_out[HARDWARE_MAX_PIPES]; /* the last work that tells nothing, per pipe */
    int slot_count;
    bool full;
};

enum status trace_init(struct trace *trace, const struct program *program, struct error *error);
void trace_clear(struct trace *trace);

/* needs[q] is the number of the last event of pipe q that this one has to follow, or 0. */
enum status trace_add(struct trace *trace, const struct event *event, const uint32_t *needs,
                      struct error *error);
enum status trace_close(struct trace *trace, struct error *error);

/* The register of a set or wait, as an index; how many there are. */
size_t trace_register(const struct trace *trace, int32_t item);
size_t trace_register_count(const struct trace *trace);

/* The instruction that stands for all sets and waits matched with `item`, however indirectly. */
int32_t trace_group(struct trace *trace, int32_t item);

#endif
