/* Internal to a kernel's space: prefixes of its tilings, for spaces too large to list.
 *
 * A block has choices: the combinations of the axes that decide the structure other than by copies.
 * Each choice has rules, conditions on the other axes, which are asked of boxes: of all values that
 * axes may still have. kernel_nest_make.c finds choices and their rules, kernel_nest_rules.c asks
 * them, kernel_nest_agree.c says which of the tilings that mean the same kernel counts,
 * kernel_nest_begins.c which prefixes there are, kernel_nest_count.c how many tilings begin so, and
 * kernel_nest_least.c what all of these do at least. */
#ifndef AUTOTUNE_KERNELS_TEXT_NEST_KERNEL_NEST_H
#define AUTOTUNE_KERNELS_TEXT_NEST_KERNEL_NEST_H

#include "kernels/text/nest/kernel_box.h"
#include "kernels/text/space/kernel_space_internal.h"

enum {
    NEST_MAX_RULES = 64, /* of a choice: bits of a mask */
    NEST_MAX_CHOICES = 256,
    NEST_MAX_BLOCKS = 256,
    NEST_MAX_LENGTHS = 8,
};

enum nest_rule_kind {
    RULE_REQUIRED,  /* `truth` holds */
    RULE_ROOM,      /* the tiles of a sum fit into their buffer */
    RULE_LENGTH,    /* the program can be played */
    RULE_STRUCTURE, /* the chip can do it with so many copies */
    RULE_AGREED,    /* no smaller value of `axis` means the same */
};

/* A condition, and the axes that it asks. */
struct nest_rule {
    enum nest_rule_kind kind;
    unsigned axes; /* bits */
    const struct expression *truth;
    const struct fit_sum *sum;
    int axis;
};

/* Does it hold for the values of a box? */
enum verdict { HOLDS_NEVER, HOLDS_SOMETIMES, HOLDS_ALWAYS };

struct nest_choice {
    int64_t words[KERNEL_MAX_AXES]; /* of the axes that decide; of others 0 */
    const struct space_plan *made;  /* the same with any copies, but for those */
    int agreed;                     /* the first choice that means the same: itself, where tilings
                                       of it count */
    unsigned agreed_axes; /* bits: of which several values may mean the same: axes that only say
                             how long rounds and how many copies are, each by its bare name */
    int rule_count;
    struct nest_rule *rules;          /* owned */
    uint64_t asking[KERNEL_MAX_AXES]; /* bits: rules that ask the axis */
    struct nest_least *least;         /* owned; where it is agreed */
};

struct nest_block {
    const struct space_block *block; /* not owned */
    struct kernel_values values;
    int choice_count;
    struct nest_choice *choices; /* owned; that can be */
};

struct kernel_nest {
    unsigned open_axes;   /* bits: all but those that have one value in a block */
    unsigned copies_axes; /* of them those that decide how many copies there are, and only that */
    int sized;            /* prefixes of so many values leave words and copies open only */
    int lengths[NEST_MAX_LENGTHS + 1];
    int block_count;
    struct nest_block *blocks;  /* owned */
    struct nest_bounds *bounds; /* owned */
};

/* kernel_nest_axes.c: axes, bits: that say more than bare steps of loops, bare numbers of copies
 * and the structure; that a loop's rounds, a sum's room and the uses of an axis depend on. */
unsigned kernel_nest_told(const struct kernel_text *kernel);
unsigned kernel_nest_axes_of_loop(const struct kernel_plan *plan, int loop);
unsigned kernel_nest_axes_of_sum(const struct kernel_plan *plan, const struct fit_sum *sum);
unsigned kernel_nest_axes_of_use(const struct kernel_plan *plan, int axis);

/* STATUS_OK too where the space has what prefixes are not known of: *nest is NULL then. */
enum status kernel_nest_make(const struct space *space, const struct kernel_space *ks,
                             struct kernel_nest **nest, struct error *error);
void kernel_nest_free(struct kernel_nest *nest);

/* Makes a space that has a nest one that is searched by prefixes: gives it a kind of its own. */
void kernel_nest_be_kind(struct space *space);

/* The block of a tiling, whose block axes have values; NULL: none. */
const struct nest_block *kernel_nest_block(const struct kernel_space *ks,
                                           const struct tiling *tiling);

/* All values that tilings of a block have that begin so, with the words of a choice. */
void kernel_nest_box(const struct kernel_space *ks, const struct nest_block *block,
                     const struct tiling *tiling, int fixed, struct kernel_box *box);
void kernel_nest_choose(const struct kernel_space *ks, const struct nest_choice *choice,
                        struct kernel_box *box);

/* Has a choice the words that are fixed? */
bool kernel_nest_agrees(const struct kernel_space *ks, const struct nest_choice *choice,
                        const struct tiling *tiling, int fixed);

enum verdict kernel_nest_ask(const struct kernel_space *ks, const struct nest_block *block,
                             const struct nest_choice *choice, const struct nest_rule *rule,
                             const struct kernel_box *box);

/* From which value on all of an axis in agreed_axes mean the same. */
struct span kernel_nest_use(const struct nest_choice *choice, int axis,
                            const struct kernel_box *box);

/* kernel_nest_least.c: what bounds need, and the layout of summaries of prefixes. */
enum status kernel_nest_bounds_make(struct kernel_nest *nest, const struct hardware *hw, int cores,
                                    struct error *error);
void kernel_nest_bounds_free(struct kernel_nest *nest);
const struct work_layout *kernel_nest_layout(const struct kernel_nest *nest);

/* Does a step use a tile of which an axis says how many copies there are? */
bool kernel_nest_turns(const struct kernel_plan *plan, const struct plan_step *step, int axis);

/* Members of struct operator_nesting and struct operator_space. */
enum prefix_verdict kernel_nest_begins(const struct space *space, const struct tiling *tiling,
                                       int fixed);
int64_t kernel_nest_leaf_count(const struct space *space, const struct tiling *tiling, int fixed);
bool kernel_nest_alike(const struct space *space, const struct tiling *a, const struct tiling *b);
void kernel_nest_summarise(const struct space *space, const struct tiling *tiling, int fixed,
                           struct work *work);
void kernel_nest_agree(const struct space *space, struct tiling *tiling);

#endif
