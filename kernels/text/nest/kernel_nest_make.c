/* Makes the nest of a space: for each block and each combination of the axes that decide by words
 * the structure and its rules. A rule that always holds is none; where one never does, the choice
 * is none. What spans cannot say exactly makes a space that is listed. */
#include "kernels/text/nest/kernel_nest.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

struct nester {
    const struct space *space;
    const struct kernel_space *ks;
    struct kernel_nest *nest;
    struct nest_block *block;
    unsigned told; /* bits: axes whose values are told by more than rounds and copies */
    bool is_known; /* so far: prefixes of all tilings */
    struct error *error;
};

/* ------------------------------------------------------------------ rules */

static enum status add_rule(struct nester *n, struct nest_choice *choice,
                            const struct kernel_box *box, struct nest_rule rule, bool *never)
{
    rule.axes &= n->nest->open_axes & ~n->ks->word_axes;
    enum verdict verdict = kernel_nest_ask(n->ks, n->block, choice, &rule, box);
    *never |= verdict == HOLDS_NEVER;
    if (verdict != HOLDS_SOMETIMES)
        return STATUS_OK;
    if (choice->rule_count == NEST_MAX_RULES) {
        n->is_known = false;
        return STATUS_OK;
    }
    if (!array_room(&choice->rules, choice->rule_count, sizeof *choice->rules))
        return error_memory(n->error);
    for (int a = 0; a < KERNEL_MAX_AXES; a++)
        if (rule.axes >> a & 1)
            choice->asking[a] |= UINT64_C(1) << choice->rule_count;
    choice->rules[choice->rule_count++] = rule;
    return STATUS_OK;
}

/* Each side of an `and` is a rule of its own. */
static enum status add_required(struct nester *n, struct nest_choice *choice,
                                const struct kernel_box *box, const struct expression *e,
                                bool *never)
{
    if (e->op == EXPRESSION_AND) {
        TRY(add_required(n, choice, box, e->args, never));
        return add_required(n, choice, box, e->args->next, never);
    }
    n->is_known &= box_is_exact(box, e);
    return add_rule(n, choice, box,
                    (struct nest_rule){.kind = RULE_REQUIRED,
                                       .truth = e,
                                       .axes = kernel_axes_of(n->ks->kernel, e)},
                    never);
}

/* Are all numbers that rules ask what spans say? */
static bool is_exact(const struct kernel_plan *plan, const struct kernel_box *box)
{
    for (int loop = 1; loop < plan->loop_count; loop++) {
        const struct kernel_loop *text = &plan->kernel->loops[plan->loops[loop].text_loop];
        if (!box_is_exact(box, text->in) || !box_is_exact(box, text->by) ||
            box_span(box, text->in).least < 1 || box_span(box, text->by).least < 1)
            return false;
    }
    for (int t = 0; t < plan->kernel->tile_count; t++) {
        const struct plan_tile *tile = &plan->tiles[t];
        for (int d = 0; tile->is_there && d < tile->dim_count; d++)
            if (!box_is_exact(box, tile->dims[d]) || box_span(box, tile->dims[d]).least < 1)
                return false;
        if (tile->is_there && tile->turns && !box_is_exact(box, tile->turns))
            return false;
    }
    return true;
}

static enum status add_rules(struct nester *n, struct nest_choice *choice, bool *never)
{
    const struct kernel_plan *plan = &choice->made->plan;
    const struct kernel_text *kernel = plan->kernel;
    const struct kernel_fit *fit = &choice->made->fit;
    struct tiling nothing = {.value = {0}};
    struct kernel_box box;
    kernel_nest_box(n->ks, n->block, &nothing, 0, &box);
    kernel_nest_choose(n->ks, choice, &box);
    n->is_known &= is_exact(plan, &box);
    for (int r = 0; r < kernel->require_count; r++)
        TRY(add_required(n, choice, &box, kernel->requires[r].truth, never));
    for (int s = 0; s < fit->sum_count; s++)
        TRY(add_rule(n, choice, &box,
                     (struct nest_rule){.kind = RULE_ROOM,
                                        .sum = &fit->sums[s],
                                        .axes = kernel_nest_axes_of_sum(plan, &fit->sums[s])},
                     never));
    struct nest_rule length = {.kind = RULE_LENGTH};
    for (int loop = 1; loop < plan->loop_count; loop++)
        length.axes |= kernel_nest_axes_of_loop(plan, loop);
    TRY(add_rule(n, choice, &box, length, never));
    for (int a = 0; a < kernel->axis_count; a++)
        if (choice->agreed_axes >> a & 1)
            TRY(add_rule(n, choice, &box,
                         (struct nest_rule){.kind = RULE_AGREED,
                                            .axis = a,
                                            .axes = kernel_nest_axes_of_use(plan, a)},
                         never));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ choices */

/* Tries all copies: the first plan that can be, and whether all of them can. */
static const struct space_plan *find_made(const struct nester *n, struct tiling *tiling, int axis,
                                          bool *all)
{
    const struct space_block *block = n->block->block;
    const struct space_plan *made = NULL;
    while (axis < n->ks->kernel->axis_count && !(n->nest->copies_axes >> axis & 1))
        axis++;
    if (axis == n->ks->kernel->axis_count) {
        const struct space_plan *plan = kernel_find_plan(n->ks, tiling);
        *all &= plan && plan->is_possible;
        return plan && plan->is_possible ? plan : NULL;
    }
    for (int v = 0; v < block->count[axis]; v++) {
        tiling->value[axis] = block->values[axis][v];
        const struct space_plan *plan = find_made(n, tiling, axis + 1, all);
        made = made ? made : plan;
    }
    return made;
}

/* The same structure, and the axes that differ say nothing else. */
static int find_agreed(const struct nester *n, const struct nest_choice *choice)
{
    for (int c = 0; c < n->block->choice_count; c++) {
        const struct nest_choice *other = &n->block->choices[c];
        bool same = other->made == choice->made && other->agreed == c;
        for (int a = 0; same && a < n->ks->kernel->axis_count; a++)
            same = !(n->told >> a & 1) || other->words[a] == choice->words[a];
        if (same)
            return c;
    }
    return n->block->choice_count;
}

/* May a loop have no rounds? Spans take each to have one. */
static bool may_be_empty(const struct nester *n, const struct nest_choice *choice,
                         const struct tiling *tiling)
{
    const struct kernel_plan *plan = &choice->made->plan;
    struct kernel_box box;
    kernel_nest_box(n->ks, n->block, tiling, 0, &box);
    kernel_nest_choose(n->ks, choice, &box);
    for (int loop = 1; loop < plan->loop_count; loop++)
        if (box_span(&box, plan->kernel->loops[plan->loops[loop].text_loop].in).least < 1)
            return true;
    return false;
}

static enum status add_choice(struct nester *n, const struct tiling *tiling)
{
    struct nest_choice choice = {.agreed = 0};
    struct tiling any = *tiling;
    bool all = true, never = false;
    choice.made = find_made(n, &any, 0, &all);
    if (!choice.made)
        return STATUS_OK;
    if (n->block->choice_count == NEST_MAX_CHOICES || !choice.made->is_certain ||
        !choice.made->fit.grows || choice.made->plan.dealt) {
        n->is_known = false;
        return STATUS_OK;
    }
    for (int a = 0; a < n->ks->kernel->axis_count; a++)
        if (n->ks->word_axes >> a & 1)
            choice.words[a] = tiling->value[a];
    if (may_be_empty(n, &choice, tiling)) {
        n->is_known = false;
        return STATUS_OK;
    }
    choice.agreed = find_agreed(n, &choice);
    choice.agreed_axes = n->nest->open_axes & ~n->told & ~n->ks->word_axes;
    if (!all) /* fewer copies may be none that the chip can do */
        choice.agreed_axes &= ~n->nest->copies_axes;
    enum status status = add_rules(n, &choice, &never);
    if (status == STATUS_OK && !all) {
        struct kernel_box box;
        kernel_nest_box(n->ks, n->block, tiling, 0, &box);
        kernel_nest_choose(n->ks, &choice, &box);
        status = add_rule(n, &choice, &box,
                          (struct nest_rule){.kind = RULE_STRUCTURE, .axes = n->nest->copies_axes},
                          &never);
    }
    if (status == STATUS_OK && never)
        free(choice.rules);
    if (status != STATUS_OK || never)
        return status;
    if (!array_room(&n->block->choices, n->block->choice_count, sizeof *n->block->choices)) {
        free(choice.rules);
        return error_memory(n->error);
    }
    n->block->choices[n->block->choice_count++] = choice;
    return STATUS_OK;
}

static enum status add_choices(struct nester *n, struct tiling *tiling, int axis)
{
    const struct space_block *block = n->block->block;
    while (axis < n->ks->kernel->axis_count && !(n->ks->word_axes >> axis & 1))
        axis++;
    if (axis == n->ks->kernel->axis_count)
        return add_choice(n, tiling);
    for (int v = 0; v < block->count[axis] && n->is_known; v++) {
        tiling->value[axis] = block->values[axis][v];
        TRY(add_choices(n, tiling, axis + 1));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ lengths */

/* Prefixes are worth a bound after every few axes, fewer once all sizes are known, and where they
 * are; not where little more is open. */
static void find_lengths(struct kernel_nest *nest, const struct space *space)
{
    enum { FIRST = 4096, LATER = 256, SIZED = 4 };
    double product = 1;
    int count = 0;
    for (int a = 0; a < space->axis_count && count < NEST_MAX_LENGTHS; a++) {
        int most = a >= nest->sized ? SIZED : count ? LATER : FIRST, values = 1;
        for (int b = 0; b < space->block_count; b++)
            if (space->blocks[b].count[a] > values)
                values = space->blocks[b].count[a];
        if (a && product > 1 && (product * values > most || a == nest->sized)) {
            nest->lengths[count++] = a;
            product = 1;
        }
        product *= values;
    }
    if (!count)
        nest->lengths[0] = 1;
}

/* ------------------------------------------------------------------ the nest */

static enum status make_block(struct nester *n, const struct space_block *block)
{
    struct tiling tiling = {.value = {0}};
    n->block = &n->nest->blocks[n->nest->block_count++];
    n->block->block = block;
    for (int a = 0; a < n->space->axis_count; a++)
        if (n->ks->block_axes >> a & 1)
            tiling.value[a] = block->values[a][0];
    kernel_set_tiling(n->ks, &tiling, &n->block->values, NULL);
    return add_choices(n, &tiling, 0);
}

static void find_axes(struct nester *n)
{
    const struct kernel_text *kernel = n->ks->kernel;
    unsigned all = (1U << kernel->axis_count) - 1;
    n->told = kernel_nest_told(kernel);
    n->nest->open_axes = all & ~n->ks->block_axes;
    n->nest->copies_axes = kernel_plan_axes(kernel, true) & ~n->ks->word_axes & n->nest->open_axes;
    unsigned sizes = n->told;
    for (int l = 0; l < kernel->loop_count; l++)
        sizes |= kernel_axes_of(kernel, kernel->loops[l].by);
    sizes = n->nest->open_axes & ~n->ks->word_axes & (sizes | ~n->nest->copies_axes);
    while (sizes >> n->nest->sized)
        n->nest->sized++;
}

enum status kernel_nest_make(const struct space *space, const struct kernel_space *ks,
                             struct kernel_nest **nest, struct error *error)
{
    struct nester n = {.space = space, .ks = ks, .is_known = true, .error = error};
    *nest = NULL;
    if (space->block_count > NEST_MAX_BLOCKS)
        return STATUS_OK;
    n.nest = calloc(1, sizeof *n.nest);
    if (!n.nest)
        return error_memory(error);
    n.nest->blocks = calloc((size_t)space->block_count, sizeof *n.nest->blocks);
    enum status status = n.nest->blocks ? STATUS_OK : error_memory(error);
    find_axes(&n);
    find_lengths(n.nest, space);
    for (int b = 0; b < space->block_count && status == STATUS_OK && n.is_known; b++)
        status = make_block(&n, &space->blocks[b]);
    if (status == STATUS_OK && n.is_known)
        status = kernel_nest_bounds_make(n.nest, space->hw, ks->cores, error);
    if (status == STATUS_OK && n.is_known)
        *nest = n.nest;
    else
        kernel_nest_free(n.nest);
    return status;
}

void kernel_nest_free(struct kernel_nest *nest)
{
    if (!nest)
        return;
    kernel_nest_bounds_free(nest);
    for (int b = 0; b < nest->block_count; b++) {
        for (int c = 0; c < nest->blocks[b].choice_count; c++)
            free(nest->blocks[b].choices[c].rules);
        free(nest->blocks[b].choices);
    }
    free(nest->blocks);
    free(nest);
}

void kernel_nest_be_kind(struct space *space)
{
    struct kernel_space *ks = kernel_space_of(space);
    ks->nesting = (struct operator_nesting){
        .lengths = ks->nest->lengths,
        .begins = kernel_nest_begins,
        .leaf_count = kernel_nest_leaf_count,
        .alike = kernel_nest_alike,
        .summarise = kernel_nest_summarise,
    };
    ks->kind = *space->kind;
    ks->kind.possible = NULL;
    ks->kind.least = NULL;
    ks->kind.agree = kernel_nest_agree;
    ks->kind.nesting = &ks->nesting;
    space->kind = &ks->kind;
}
