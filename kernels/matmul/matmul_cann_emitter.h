/* Internal to the programs of the space `cann`: what writes one (matmul_cann_program.c), its flags
 * (matmul_cann_flags.c) and its moves (matmul_cann_moves.c). */
#ifndef AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_EMITTER_H
#define AUTOTUNE_KERNELS_MATMUL_MATMUL_CANN_EMITTER_H

#include "kernels/emit.h"
#include "kernels/matmul/matmul_cann_internal.h"

/* A loop's index as the program knows it: first + step · (index of the loop at `depth`). */
struct place {
    bool open;    /* are we within this level? */
    bool ends[2]; /* in its first body, in its last, which stand apart where that matters */
    int64_t first, step;
    int depth;
};

struct cann_emitter {
    struct emitter emit; /* first */
    const struct cann *cann;
    const struct cann_machine *machine;
    const struct cann_plan *plan;
    int64_t extent[CANN_DIRECTIONS]; /* of the tile at hand */
    struct place place[CANN_ALL_LEVELS];
    int copy[CANN_LIVE_RANGES]; /* that the next scope takes, or the present one has */
    int64_t held[CANN_LIVE_RANGES][CANN_DIRECTIONS]; /* extents when the scope began */
    bool first_step;                                 /* of the tile of C */
};

void cann_full_flag(struct cann_emitter *w, enum cann_live_range range,
                    void (*act)(struct emitter *, int, int, int));

void cann_free_flag(struct cann_emitter *w, enum cann_live_range range,
                    void (*act)(struct emitter *, int, int, int));

/* Before all loops and after them: every copy is free. */
void cann_all_free_flags(struct cann_emitter *w, void (*act)(struct emitter *, int, int, int));

/* The tile of C leaves through FIXP: from now on it may be overwritten behind it. */
void cann_leaves_flag(struct cann_emitter *w, void (*act)(struct emitter *, int, int, int));

/* Before all loops and after them, as all_free_flags. */
void cann_all_leaves_flags(struct cann_emitter *w, void (*act)(struct emitter *, int, int, int));

/* Global memory to L1. */
void cann_load_rows(struct cann_emitter *w);

void cann_load_operand(struct cann_emitter *w, enum cann_live_range range);

/* A scope in L0: one tile, or the loops that bring the slab. */
void cann_feed(struct cann_emitter *w, enum cann_live_range from, enum cann_live_range to);

void cann_feed_slab_tile(struct cann_emitter *w);

void cann_feed_bias(struct cann_emitter *w);

void cann_multiply(struct cann_emitter *w);

void cann_store(struct cann_emitter *w);

/* After all stores of all cores: the vector cores add up the parts. */
void cann_add_parts(struct cann_emitter *w);

/* The loops from a level on, and what they do. */
void cann_emit_level(struct cann_emitter *w, int level);

#endif
