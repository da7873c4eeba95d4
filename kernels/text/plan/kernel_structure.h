/* Internal to the makers of plans: what a kernel's text means where words decide. */
#ifndef AUTOTUNE_KERNELS_TEXT_PLAN_KERNEL_STRUCTURE_H
#define AUTOTUNE_KERNELS_TEXT_PLAN_KERNEL_STRUCTURE_H

#include "kernels/text/plan/kernel_plan.h"

/* A plan in the making. */
struct plan_maker {
    const struct kernel_values *values;
    const struct kernel_text *kernel;
    struct kernel_plan *plan;
    struct error *error;
    int seated[KERNEL_MAX_LOOPS];    /* by seat: the text loop that sits there */
    int seat_loop[KERNEL_MAX_LOOPS]; /* by seat: the plan loop, -1: none */
    bool runs[KERNEL_MAX_LINES];     /* by line: a step that is there, or a loop around one */
};

/* "line:column: …" and the status STATUS_INVALID. */
void plan_say(struct error *error, struct kernel_place at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define plan_fail(error, ...) (plan_say((error), __VA_ARGS__), STATUS_INVALID)

/* What an expression is once its `a if c else b` is decided, c asking nothing of rounds. */
enum status plan_chosen(const struct kernel_values *values, const struct expression *e,
                        const struct expression **chosen, struct error *error);

/* Is it true in every round, in none, or in some? */
enum plan_truth { TRUTH_NEVER, TRUTH_ALWAYS, TRUTH_SOMETIMES };
enum status plan_truth(const struct kernel_values *values, const struct expression *e,
                       enum plan_truth *truth, struct error *error);

/* kernel_parts.c: the loops that a text loop's range is cut from, and itself, bits; and those of
 * all of `loops`. */
enum status plan_chain(const struct kernel_values *values, int text_loop, uint64_t *chain,
                       struct error *error);
enum status plan_chains(const struct kernel_values *values, uint64_t loops, uint64_t *all,
                        struct error *error);

/* Text loops, bits, with those that their ranges and steps ask for. */
uint64_t kernel_asked(const struct kernel_text *kernel, uint64_t loops);

/* Makes the parts of a step of a plan that has its loops and tiles. */
enum status plan_make_parts(const struct kernel_values *values, struct kernel_plan *plan,
                            int number, struct error *error);

/* Do data pick which elements it has? */
bool plan_is_gathered(const struct plan_part *part);

/* kernel_tiles.c: what a tile is in a nest that has its steps; and is each used in its life alone,
 * with as many copies as its stages ask for? */
enum status plan_make_tile(struct plan_maker *maker, int number);
enum status plan_check_life(struct plan_maker *maker, int number);
enum status plan_check_stages(struct plan_maker *maker, int number);

/* kernel_bind.c: what a step is on the chip; its parts are made. */
enum status plan_bind(const struct kernel_values *values, struct kernel_plan *plan, int number,
                      struct error *error);

/* kernel_apart.c: does a step store where no other core does, or add? Its parts are made. */
enum status plan_check_apart(const struct kernel_values *values, const struct kernel_plan *plan,
                             int number, struct error *error);

/* Has each core another part of a tensor, where they share what `share` names? */
enum status plan_is_apart(const struct kernel_values *values, const struct plan_part *part,
                          const struct expression *share, bool *is_apart, struct error *error);

/* kernel_layout.c: fills `chains`, `alike` and the tiles' blocks; all steps have their parts. */
enum status plan_find_layout(const struct kernel_values *values, struct kernel_plan *plan,
                             struct error *error);

/* The loop among those that `loop` is cut from, and itself, that has the rounds of `block`; -1:
 * none. */
int plan_block_loop(const struct kernel_plan *plan, int loop, int block);

/* How many strides a part of a tile takes at most, whatever the sizes are. */
int plan_strides(const struct kernel_plan *plan, int step, int number);

/* kernel_keep.c: what is loaded once; all steps are made. */
enum status plan_keep(const struct kernel_values *values, struct kernel_plan *plan,
                      struct error *error);

/* kernel_cache.c: which moves miss the cache, and so are on another path of the same pipe; what is
 * loaded once is known. */
enum status plan_find_misses(const struct kernel_values *values, struct kernel_plan *plan,
                             struct error *error);

/* Do the rounds of a loop around a share's step load the same again? Not those that cores deal out,
 * which count as new. */
static inline bool plan_loads_again(const struct kernel_plan *plan, int step, int loop)
{
    return (plan->steps[step].again & ~plan->dealt) >> plan->loops[loop].text_loop & 1;
}

/* Of so many bytes that a share's step would load alone, those that miss now: all that are loaded
 * for the first time, of any core; a step is one of as many that load the same. */
enum status plan_missed_bytes(const struct kernel_plan *plan, const struct kernel_env *env,
                              int number, int64_t bytes, int64_t *missed, struct error *error);

/* kernel_pieces.c: fills `bursts` and `align` of moves; what misses the cache is known. */
enum status plan_find_pieces(const struct kernel_values *values, struct kernel_plan *plan,
                             struct error *error);

void plan_clear_pieces(struct kernel_plan *plan);

/* Of a step with a part of a tensor, in the current rounds, whatever its path costs. */
enum status plan_count_pieces(const struct kernel_plan *plan, const struct kernel_env *env,
                              int number, int64_t *pieces, struct error *error);

/* kernel_deal.c: fills `dealt`; what is loaded once is known. */
void plan_deal(struct kernel_plan *plan);

/* kernel_units.c: do all parts of a step begin where their buffers let them, whatever the sizes
 * are? And must a part: a spread's source may lie anywhere, as may what the scalar unit asks for.
 */
int64_t plan_axis_unit(const struct kernel_values *values, int axis);
bool plan_aligns(const struct kernel_values *values, const struct kernel_plan *plan, int step);
/* Are the parts of a product whole blocks of the matrix unit, whatever the sizes are? */
bool plan_has_blocks(const struct kernel_values *values, const struct kernel_plan *plan, int step);
bool plan_must_align(const struct kernel_plan *plan, int step, int part);

/* kernel_content.c: text loops in each of whose rounds a store would store the same elements. */
uint64_t plan_repeats(const struct kernel_plan *plan, int step);

/* kernel_certain.c: does the step fit whatever the sizes are? Fills is_certain; all steps have
 * their parts. And does a fold leave as many elements as the part has that it writes to? */
void plan_find_certain(const struct kernel_values *values, struct kernel_plan *plan, int number);
bool plan_fold_fills(const struct kernel_values *values, const struct kernel_plan *plan,
                     int number);

/* Why a step that is allowed is hardly what was meant; NULL: it may well be. */
const char *plan_doubt(const struct kernel_values *values, const struct kernel_plan *plan,
                       int number);

/* Is it the name of a range: a size, let or loop? */
bool kernel_is_range(const struct expression *e);

/* How long dimension d of a tensor is: sizes are the whole ones there. */
enum status plan_tensor_extent(const struct kernel_env *env, int tensor, int d, int64_t *extent,
                               struct error *error);

/* Dimension d of a tensor, as it was declared. */
const struct expression *kernel_tensor_dim(const struct kernel_text *kernel, int tensor, int d);

/* Are they written alike? */
bool kernel_is_same(const struct expression *a, const struct expression *b);

/* Does an expression name the same size, let or loop as `name` does? */
bool kernel_names(const struct expression *where, const struct expression *name);

/* Are all these text loops around a plan loop, or that itself? */
bool plan_are_around(const struct kernel_plan *plan, uint64_t loops, int inner);

/* Is plan loop `inner` inside `outer`, or that itself? */
bool plan_is_within(const struct kernel_plan *plan, int inner, int outer);

#endif
