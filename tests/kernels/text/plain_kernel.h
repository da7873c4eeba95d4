/* A second reading of kernels' texts, for tests: plain and slow, for small sizes. It knows parsed
 * texts and expressions' numbers, nothing of plans: every round of every loop is walked in order,
 * and every element that a step touches is written down.
 *
 *   plain_run(&values, &plain)              values: sizes, shares and axes are set
 *   plain_play(&plain, &program, why)       does that program do the same?
 *   plain_clear(&plain)
 *
 * plain_nest.c says which loops, tiles and steps there are, plain_part.c what parts are,
 * plain_layout.c where they lie, plain_step.c what one step does, plain_walk.c in which order they
 * run, plain_room.c what tiles need and what a core's share is, plain_program.c compares programs.
 */
#ifndef AUTOTUNE_TESTS_PLAIN_KERNEL_H
#define AUTOTUNE_TESTS_PLAIN_KERNEL_H

#include "core/program.h"
#include "kernels/text/plan/kernel_eval.h"

enum {
    PLAIN_MAX_EVENTS = 6000,
    PLAIN_MAX_ELEMENTS = 1 << 22, /* touched by all steps together, and held by all lives */
    PLAIN_MAX_LIVES = 1 << 14,
    PLAIN_MAX_USES = 1 + KERNEL_MAX_SOURCES,
    PLAIN_TEXT_SIZE = 256,
};

enum plain_verdict {
    PLAIN_FINE,
    PLAIN_REFUSED,  /* the chip or the language has no such kernel with these choices */
    PLAIN_WRONG,    /* a step does what it may not */
    PLAIN_TOO_LONG, /* for this evaluator */
};

/* Which elements a step touches, row by row: indices into plain.elements. An index counts in the
 * tensor, or in what the tile holds; -1: outside of a tensor. */
struct plain_use {
    int tensor, tile; /* -1: not that */
    int life;         /* of the tile: into plain.lives */
    int64_t first, count;
    int64_t room_count; /* with a whole dimension's room instead of what it holds */
    int dim_count;
    int64_t extent[KERNEL_MAX_DIMS], room[KERNEL_MAX_DIMS]; /* whose products those are */
    int64_t begin[KERNEL_MAX_DIMS], by[KERNEL_MAX_DIMS];    /* in the tile, and how far apart */
};

/* One step in one round. uses[0] is where it writes; a number has neither tensor nor tile. */
struct plain_event {
    int line;              /* of the text, its number there */
    struct instruction in; /* with price and units; `accumulate` too */
    bool has_starts; /* bursts and alignment are those of where the tensor's elements are: it may
                        be more than is known */
    int use_count;
    struct plain_use uses[PLAIN_MAX_USES];
};

/* A tile in one round of its life. */
struct plain_life {
    int tile;
    int64_t extent[KERNEL_MAX_DIMS], room[KERNEL_MAX_DIMS], begin[KERNEL_MAX_DIMS];
    int64_t elements, first_writer; /* into plain.writers: the event that wrote each, -1: none */
};

struct plain_tile {
    bool is_there;
    int loop; /* of which one round is its life, -1: the kernel */
    int64_t copies;
    int buffer;
    enum dtype type;
    int64_t slot_bytes;                             /* of one copy, the most of all its lives */
    const struct expression *dims[KERNEL_MAX_DIMS]; /* that it holds: a range's, a size's, any */
    const struct expression *rooms[KERNEL_MAX_DIMS];
};

struct plain {
    const struct kernel_text *text; /* not owned */
    const struct hardware *hw;      /* not owned */
    struct kernel_values values;
    enum plain_verdict verdict;
    char why[PLAIN_TEXT_SIZE]; /* it is not fine */

    int at[KERNEL_MAX_LOOPS];    /* the loop that runs where this one stands in the text */
    int place[KERNEL_MAX_LOOPS]; /* the one that stands where this loop runs */
    bool *is_there;              /* by line */
    uint64_t *once;              /* by line: loops in whose first round alone a load runs */
    struct plain_tile tiles[KERNEL_MAX_TILES];
    int current[KERNEL_MAX_TILES]; /* life, -1: none */

    int event_count, life_count;
    struct plain_event *events;
    struct plain_life *lives;
    int64_t element_count, writer_count;
    int32_t *elements, *writers;
    int64_t tensor_extent[KERNEL_MAX_TENSORS][KERNEL_MAX_DIMS];
    int32_t *stored[KERNEL_MAX_TENSORS]; /* by element: how often it was stored */
    struct program scratch;              /* gives instructions their prices */

    int64_t needed_bytes[HARDWARE_MAX_BUFFERS];
    bool fits;
};

/* Large: owned by the caller, not for a stack. Whatever the verdict, plain_clear frees it. */
void plain_run(const struct kernel_values *values, struct plain *plain);
void plain_clear(struct plain *plain);

/* Gives sizes and lets the largest share of so many cores; false where there are not as many. */
bool plain_shares(struct kernel_values *values, int cores, int *used);

/* Does the program, in its order, do the steps with their bytes, pipe by pipe in their order, and
 * does each operand hold the right elements in their order? */
bool plain_play(struct plain *plain, const struct program *program, char why[PLAIN_TEXT_SIZE]);

/* A time that no program of these steps can be below: what its busiest pipe has to do. */
double plain_least_fs(const struct plain *plain, int cores);

/* ------------------------------------------------------------------ among these files */

bool plain_fail(struct plain *plain, enum plain_verdict verdict, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
bool plain_number(struct plain *plain, int line, const struct expression *e, int64_t *number);

bool plain_nest(struct plain *plain);
bool plain_once(struct plain *plain);

/* Is the line inside the loop, where loops run? -1: the kernel. */
bool plain_inside(const struct plain *plain, int line, int loop);

/* The n-th of the loops around a line, innermost first; -1: there are not so many. */
int plain_around(const struct plain *plain, int line, int n);

/* The expression with its choices made; what is cut from which. */
const struct expression *plain_choose(struct plain *plain, const struct expression *e);
bool plain_is_cut_from(struct plain *plain, int loop, const struct expression *name);

/* The innermost range around a line that is the name or cut from it; -1: none. */
int plain_innermost(struct plain *plain, int line, const struct expression *name);

bool plain_begin_lives(struct plain *plain, int loop);
bool plain_use(struct plain *plain, int line, const struct kernel_part *part,
               struct plain_use *use);
int64_t plain_columns(struct plain *plain, int line, const struct kernel_part *part);
enum dtype plain_type(const struct plain *plain, const struct kernel_part *part);
bool plain_lay(struct plain *plain, const struct plain_event *event);
bool plain_step(struct plain *plain, int line);
bool plain_walk(struct plain *plain);
bool plain_room(struct plain *plain);

#endif
