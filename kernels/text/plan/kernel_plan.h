/* A kernel on a chip with its structure fixed: which loops, tiles and steps there are once words,
 * conditions, lives, orders and stages are known, what each step is on the chip, and which part of
 * what it reads and writes. Tilings that differ in sizes alone share a plan.
 *
 *   kernel_plan_make(&values, &plan, &error);               values: sizes, shares and axes are set
 *   struct kernel_env *env: env->values = values; plan_enter(plan, env, 0, 0, &error);
 *   plan_enter(plan, env, loop, round, &error);              loops around first, tiles get shapes
 *   plan_instruction(plan, env, step, &instruction, &error); what the step is in these rounds
 *
 * Numbers: a plan has loops and steps of its own; those of the text are called `text loop`.
 * kernel_plan.c makes the nest, kernel_parts.c what parts mean, kernel_bind.c asks the chip,
 * kernel_layout.c lays tiles out in blocks, kernel_keep.c finds what is loaded once, kernel_cache.c
 * what misses the cache, kernel_pieces.c in how many pieces tensors' parts lie, kernel_deal.c what
 * several cores share, kernel_choices.c what decides; kernel_env.c has the numbers, kernel_room.c
 * where tiles lie. */
#ifndef AUTOTUNE_KERNELS_TEXT_PLAN_KERNEL_PLAN_H
#define AUTOTUNE_KERNELS_TEXT_PLAN_KERNEL_PLAN_H

#include "core/hardware.h"
#include "core/program.h"
#include "kernels/text/plan/kernel_eval.h"

enum {
    PLAN_MAX_STEPS = 128,
    PLAN_MAX_PARTS = 1 + KERNEL_MAX_SOURCES,
    PLAN_MAX_ITEMS = KERNEL_MAX_LOOPS + PLAN_MAX_STEPS,
    KERNEL_MAX_STAGE = 16,
    KERNEL_MAX_COPIES = 64,
    MISS_PARTS = 4096,
    MISS_GRAIN = 512, /* bytes: whole blocks of the matrix unit's FP16 */
};

/* How much of a dimension a part is. */
enum plan_reach {
    REACH_ALL,   /* all of it */
    REACH_SHARE, /* the core's share of the size or let that a tensor's dimension is */
    REACH_ROUND, /* the current round of `loop` */
    REACH_ONE,   /* index `from` */
    REACH_SOME,  /* `count` elements from `from` on (NULL: data decide), `by` (NULL: 1) apart */
};

struct plan_dim {
    enum plan_reach reach;
    int loop;                                   /* text loop */
    const struct expression *count, *from, *by; /* owned by the text */
    uint64_t loops; /* bits: text loops that it names, and those that their ranges are cut from */
};

struct plan_part {
    int tensor, tile;               /* of the text; -1: not that; both -1: a number or nothing */
    const struct expression *value; /* the number */
    enum operand_role role;
    bool writes, reads; /* an accumulating product does both */
    int dim_count;
    struct plan_dim dims[KERNEL_MAX_DIMS];
    uint64_t loops; /* text loops that change it: those of all dimensions, and what their ranges
                       and steps ask for */
    bool is_whole;  /* all of the tile, in every round */
};

/* A load of which some bytes miss the cache is two steps, one after the other: these, and those
 * that hit (kernel_cache.c). Others are one. */
enum plan_share { SHARE_ALL, SHARE_MISSES, SHARE_HITS };

/* Cores that read the same have `name`, a size of which each has a share, of `whole`. */
struct plan_alike {
    const struct expression *name;
    int64_t whole;
};

/* parts[0] is where it writes to, the others are its sources; a step without parts has none. */
struct plan_step {
    const struct kernel_step *text;
    int line;   /* of the text, its number there */
    int around; /* plan loop */
    int stage;
    enum instruction_kind kind; /* move, matrix, vector or scalar */
    int pipe, price;
    int what;                 /* path or operation */
    enum dtype type, to_type; /* of the instruction */
    int part_count;
    struct plan_part parts[PLAN_MAX_PARTS];
    uint64_t
        once; /* text loops in whose first rounds alone it runs: it would load the same again */
    const struct expression *condition;      /* of rounds: asks first or last; NULL: none */
    const struct expression *bursts, *align; /* of a move: pieces in external memory, and what they
                                                begin at multiples of; NULL: one, anything */
    enum plan_share share;
    int missed_parts; /* of MISS_PARTS, of what is loaded first; of a share: */
    uint64_t again;   /* text loops around it, bits, whose rounds load the same again */
    int alike_count;
    struct plan_alike alike[KERNEL_MAX_CORES];
    bool is_certain; /* it fits whatever the sizes are: plan_instruction does not fail */
    uint64_t asked;  /* text loops on which it hangs (legal/kernel_steps_fit.c) */
};

/* In the body of a loop, in the order of the text: a loop or a step. */
struct plan_item {
    bool is_loop;
    int number; /* plan loop or step */
    int stage;  /* rounds that it is later */
};

/* plan->loops[0] is the kernel itself, which has one round. */
struct plan_loop {
    int text_loop;              /* -1: the kernel */
    int around;                 /* plan loop, -1: none */
    int depth;                  /* of the kernel: 0 */
    int stage, last_stage;      /* its own; the last of its items' */
    int first_item, item_count; /* of its body, in plan->items */
    int first_step, end_step;   /* steps inside, however deep: plan->steps[first_step, end_step) */
};

struct plan_tile {
    bool is_there; /* some step uses it */
    int buffer;
    enum dtype type;
    int life;                       /* plan loop, one round of which it lives */
    int64_t copies;                 /* in turn, */
    const struct expression *turns; /* that many; NULL: one, whatever the text says */
    bool is_kept; /* a load of it runs in first rounds only: no step but loads writes it */
    int dim_count;
    int block[KERNEL_MAX_DIMS]; /* the text loop whose rounds its blocks are, -1: all of it */
    /* What the parts mean: extents of its dimensions in its life, each a range, size or any
     * expression; loops inside its life stand for what they are cut from (plan_enter). */
    const struct expression *dims[KERNEL_MAX_DIMS];
};

/* Expressions that no text has: a step's bursts and align (kernel_pieces.c). */
struct plan_made {
    struct expression *nodes; /* owned */
};

struct kernel_plan {
    const struct kernel_text *kernel; /* not owned */
    const struct hardware *hw;        /* not owned */
    int loop_count, step_count, item_count;
    struct plan_loop loops[KERNEL_MAX_LOOPS + 1];
    struct plan_step *steps; /* owned; in the order in which a body runs them */
    struct plan_item items[PLAN_MAX_ITEMS];
    struct plan_tile tiles[KERNEL_MAX_TILES]; /* by their numbers in the text */
    int plan_loop_of[KERNEL_MAX_LOOPS];       /* by text loop, -1: has no steps */
    /* By text loop, bits: those that its range is cut from, and it; those that cut the same range
     * in the same steps, and it. */
    uint64_t chains[KERNEL_MAX_LOOPS], alike[KERNEL_MAX_LOOPS];
    /* Text loops that a step's number of executions or its work depends on, beside how often they
     * run, bits: others only multiply. */
    uint64_t matters[PLAN_MAX_STEPS];
    /* Text loops, bits, whose rounds so many cores deal out among themselves (kernel_deal.c): in a
     * program, where each plays its part; what is legal is asked of all rounds. */
    uint64_t dealt;
    int dealers;
    int made_count;
    struct plan_made *made; /* owned */
};

/* The values of all that a plan depends on, in a fixed order: two tilings have the same plan
 * exactly when they have the same choices. */
enum { PLAN_MAX_CHOICES = 256 };
struct plan_choices {
    int count;
    int64_t values[PLAN_MAX_CHOICES];
};
enum status kernel_plan_choices(const struct kernel_values *values, struct plan_choices *choices,
                                struct error *error);

/* Visits the numbers and conditions by which choices are made: where all of them stay what they are
 * so does the plan. */
typedef void plan_ask(void *context, const struct expression *e, bool is_copies);
void kernel_plan_asks(const struct kernel_text *kernel, plan_ask *ask, void *context);

/* The axes, bits, that an expression names, with its lets. */
unsigned kernel_axes_of(const struct kernel_text *kernel, const struct expression *e);

/* Makes the plan for values whose sizes, shares and axes are set. STATUS_INVALID, "line:column: …":
 * what the chip lacks or what cannot be in this structure; it is then the reason why such tilings
 * are not legal. */
enum status kernel_plan_make(const struct kernel_values *values, struct kernel_plan *plan,
                             struct error *error);
void kernel_plan_clear(struct kernel_plan *plan);

/* ------------------------------------------------------------------ numbers */

/* A tile in the current round of its life. `extent` is what it holds, `room` at least that
 * (up(e,n)); `begin` where its range begins, 0 where the dimension is none. */
struct tile_shape {
    int64_t extent[KERNEL_MAX_DIMS], room[KERNEL_MAX_DIMS], begin[KERNEL_MAX_DIMS];
};

/* Where one is in the loops. Large: no place for many on a stack. */
struct kernel_env {
    struct kernel_values values;
    struct tile_shape tiles[KERNEL_MAX_TILES];
};

/* From here on rounds are those that a core plays, until env->values.dealt is 0 again. */
void plan_deal_out(const struct kernel_plan *plan, struct kernel_env *env);

/* How many rounds a loop has where its surroundings are; `last_differs`: is the last shorter? */
enum status plan_rounds(const struct kernel_plan *plan, const struct kernel_env *env, int loop,
                        int64_t *rounds, bool *last_differs, struct error *error);

/* Makes a round the current one and shapes the tiles that live in it. Loop 0 has round 0 only. */
enum status plan_enter(const struct kernel_plan *plan, struct kernel_env *env, int loop,
                       int64_t round, struct error *error);

/* Does a step run in the current rounds? Its `once` and its condition. */
enum status plan_runs(const struct kernel_plan *plan, const struct kernel_env *env, int number,
                      bool *runs, struct error *error);

/* What a part picks now. `begin` counts from the beginning of the tile, or of the tensor; -1 where
 * data decide. `room` is `extent`, or the tile's room in a dimension that is picked whole. */
struct part_numbers {
    int64_t extent[KERNEL_MAX_DIMS], room[KERNEL_MAX_DIMS], begin[KERNEL_MAX_DIMS],
        by[KERNEL_MAX_DIMS];
    int64_t elements, room_elements; /* products */
};
enum status plan_part(const struct kernel_plan *plan, const struct kernel_env *env, int step,
                      int number, struct part_numbers *n, struct error *error);

/* The step as an instruction in the current rounds, but for operands, price, and whether a product
 * accumulates: kind, pipe, what, types, sizes, keys. STATUS_INVALID where its parts do not fit each
 * other or a number is none that an instruction can have. */
enum status plan_instruction(const struct kernel_plan *plan, const struct kernel_env *env,
                             int number, struct instruction *instruction, struct error *error);

/* Is a range that a part takes of a tile's dimension that dimension, or cut from it? It lies inside
 * then, and counts from where the tile begins. */
bool plan_counts_from_tile(const struct kernel_text *kernel, const struct expression *name,
                           const struct plan_dim *dim);

/* Is the step a vector operation that gives its source's first element to all of its result? */
bool plan_spreads(const struct kernel_plan *plan, int step);

/* Is it one whose source's elements hold two each? */
bool plan_pairs(const struct kernel_plan *plan, int step);

/* ------------------------------------------------------------------ room */

/* Where tiles lie: copy c of a tile begins at offset + c·slot_bytes. What cannot live at once may
 * share room: tiles of loops side by side. */
struct kernel_room {
    int64_t offset[KERNEL_MAX_TILES];     /* by the text's number of a tile */
    int64_t slot_bytes[KERNEL_MAX_TILES]; /* of a copy, aligned; the most of all rounds */
    int64_t needed[HARDWARE_MAX_BUFFERS]; /* bytes; INT64_MAX: more than fits a number */
};

/* Do shapes of tiles depend on where a round of a loop begins, not only on how long it is? */
bool plan_asks_begin(const struct kernel_plan *plan, int loop);

/* Needs env->values alone, and leaves env at the last round that it looked at. */
enum status kernel_room_find(const struct kernel_plan *plan, struct kernel_env *env,
                             struct kernel_room *room, struct error *error);

#endif
