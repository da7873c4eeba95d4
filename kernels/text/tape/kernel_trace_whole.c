/* When is what all rounds of a loop do at least what one round of its whole range would do? Where
 * it is a subadditive function f of a round's length: f(a) + f(b) >= f(a + b). Such are, of what
 * never falls and is never below 0:
 *
 *   concave functions: a constant, the length, sums of them, products with constants, their least;
 *   subadditive ones: these, their most, and what is rounded up of one of them.
 *
 * Of a product one factor alone may hang on the length. Loops that are cut from this one have one
 * round then, too, of all that it has: what they do in several is more by the same argument. */
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/tape/kernel_trace_parts.h"

enum kind { KIND_CONSTANT, KIND_CONCAVE, KIND_SUBADDITIVE, KIND_OTHER };

struct whole {
    const struct tracer *t;
    uint64_t group;
};

static enum kind worse(enum kind a, enum kind b)
{
    return a > b ? a : b;
}

/* Never below 0, whatever the rounds? */
static bool is_positive(const struct whole *w, int number)
{
    const struct cell *cell = &w->t->work->cells.cells[number];
    if (!cell->loops)
        return tape_known(w->t->tape, w->t->cells[number]).lo >= 0;
    if (cell->kind == CELL_ROUND)
        return true;
    if (cell->kind == CELL_APPLY &&
        (cell->op == EXPRESSION_SUBTRACT || cell->op == EXPRESSION_NEGATE))
        return false;
    for (int a = cell->kind == CELL_CHOICE; a < cell_args(cell->kind); a++)
        if (!is_positive(w, cell->args[a]))
            return false;
    return true;
}

static enum kind kind_of(const struct whole *w, int number);

static enum kind kind_of_operation(const struct whole *w, const struct cell *cell)
{
    enum kind a = kind_of(w, cell->args[0]), b = kind_of(w, cell->args[1]), both = worse(a, b);
    if (both == KIND_OTHER)
        return KIND_OTHER;
    switch (cell->op) {
    case EXPRESSION_ADD:
        return both;
    case EXPRESSION_MULTIPLY:
        return a == KIND_CONSTANT || b == KIND_CONSTANT ? both : KIND_OTHER;
    case EXPRESSION_UP:
    case EXPRESSION_CDIV:
        return b == KIND_CONSTANT ? KIND_SUBADDITIVE : KIND_OTHER;
    case EXPRESSION_MAX:
        return KIND_SUBADDITIVE;
    case EXPRESSION_MIN:
        return both == KIND_CONCAVE ? KIND_CONCAVE : KIND_OTHER;
    default:
        return KIND_OTHER;
    }
}

/* Is it the extent of a part, or its room where the part is all of the tile's dimension? Room is no
 * less: the extent stands for it. */
static bool is_room(const struct whole *w, const struct cell *cell)
{
    const struct cell *condition = &w->t->work->cells.cells[cell->args[0]];
    return condition->kind == CELL_APPLY && condition->op == EXPRESSION_EQUAL &&
           condition->args[0] == cell->args[2];
}

static enum kind kind_of(const struct whole *w, int number)
{
    const struct cell *cell = &w->t->work->cells.cells[number];
    if (!(cell->loops & w->group))
        return is_positive(w, number) ? KIND_CONSTANT : KIND_OTHER;
    switch (cell->kind) {
    case CELL_ROUND:
        return cell->number % ROUND_FACTS == ROUND_LENGTH ? KIND_CONCAVE : KIND_OTHER;
    case CELL_APPLY:
        return kind_of_operation(w, cell);
    case CELL_CHOICE:
        return is_room(w, cell) ? kind_of(w, cell->args[2]) : KIND_OTHER;
    default:
        return KIND_OTHER;
    }
}

/* The loops around the step that are cut from the one on the level; false: one of them hangs on it
 * in another way. */
static bool find_group(const struct tracer *t, const struct cell_step *step, int level,
                       uint64_t *group)
{
    *group = 0;
    for (int l = level; l <= step->depth; l++) {
        int text_loop = t->plan->loops[step->loops[l - 1]].text_loop;
        const struct kernel_loop *loop = &t->plan->kernel->loops[text_loop];
        bool is_cut =
            l == level || (loop->in->op == EXPRESSION_LOOP && *group >> loop->in->number & 1);
        if (loop->by->loops & *group || (!is_cut && loop->in->loops & *group))
            return false;
        *group |= is_cut ? (uint64_t)1 << text_loop : 0;
    }
    return true;
}

bool trace_is_subadditive(const struct tracer *t, int number, bool of_all, int level,
                          uint64_t *group)
{
    const struct cell_step *step = &t->work->cells.steps[number];
    int hanging = 0, condition = of_all ? step->all_runs : step->condition;
    if (!find_group(t, step, level, group) || t->plan->steps[number].once & *group)
        return false;
    struct whole whole = {t, *group};
    bool is_move = t->plan->steps[number].kind == INSTRUCTION_MOVE;
    for (int n = 0; n < CELL_NUMBERS && step->numbers[n] >= 0 && !(is_move && n > 0); n++) {
        enum kind kind = kind_of(&whole, of_all ? step->all : step->numbers[n]);
        if (kind == KIND_OTHER)
            return false;
        hanging += kind != KIND_CONSTANT;
    }
    return hanging <= 1 && !(condition >= 0 && t->work->cells.cells[condition].loops & *group);
}
