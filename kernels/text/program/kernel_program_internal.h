/* Internal to the writer of programs. */
#ifndef AUTOTUNE_KERNELS_TEXT_PROGRAM_KERNEL_PROGRAM_INTERNAL_H
#define AUTOTUNE_KERNELS_TEXT_PROGRAM_KERNEL_PROGRAM_INTERNAL_H

#include "kernels/emit.h"
#include "kernels/text/program/kernel_program.h"

/* What turns: a loop's body ends where it began. */
struct turns {
    uint8_t lives[KERNEL_MAX_TILES];                         /* the copy that is in use */
    uint8_t sets[FLAGS_MAX_TOKENS], waits[FLAGS_MAX_TOKENS]; /* the next register */
};

/* A loop of the program that is open. */
struct rolled {
    int loop;       /* plan loop */
    int64_t length; /* of a round, in elements */
    int64_t rounds; /* at most, from the one on that is being written */
};

struct program_writer {
    struct emitter emit;
    const struct kernel_plan *plan;
    const struct kernel_flags *flags;
    const struct kernel_room *room;
    struct kernel_env *env;
    bool is_on[FLAGS_MAX_TOKENS];
    uint64_t peel_first, peel_last;          /* text loops */
    int stages[KERNEL_MAX_LOOPS + 1];        /* of the item that is being written, by plan loop */
    struct rolled rolled[PROGRAM_MAX_DEPTH]; /* emit.depth of them */
    struct turns turns;
};

/* Was there no error so far? The second one keeps the first of all. */
static inline bool writer_is_ok(const struct program_writer *writer)
{
    return writer->emit.status == STATUS_OK;
}

static inline void writer_keep(struct program_writer *writer, enum status status)
{
    if (writer_is_ok(writer))
        writer->emit.status = status;
}

/* kernel_step.c: appends a step, if it runs in the current rounds. */
enum status writer_step(struct program_writer *w, int number);

/* Where a part of a step lies in the current rounds, without its bytes; its tile is one.
 * STATUS_INVALID: in pieces that the instruction cannot take. */
enum status writer_region(const struct program_writer *writer, int step, int part,
                          const struct instruction *in, struct region *region);

/* Are a set and a wait of a token in the current rounds? */
bool writer_holds(const struct program_writer *w, const struct flag_place *place);

/* kernel_idle.c: takes flags out of the closed program that order nothing. */
enum status writer_drop_idle(struct program_writer *w);

/* kernel_handover.c: which optional tokens these sizes need; fills is_on. */
enum status writer_find_handovers(struct program_writer *writer);

#endif
