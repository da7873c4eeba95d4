/* What parts mean in a nest of loops. Without a pick a dimension that is one name takes the
 * innermost range around that is it or cut from it, and any other all that there is. */
#include "kernels/text/plan/kernel_structure.h"

#include <string.h>

struct parts {
    const struct kernel_values *values;
    struct kernel_plan *plan;
    struct error *error;
    int around; /* plan loop of the step */
};

/* ------------------------------------------------------------------ ranges */

enum status plan_chain(const struct kernel_values *values, int text_loop, uint64_t *chain,
                       struct error *error)
{
    *chain = 0;
    for (;;) {
        const struct expression *in;
        *chain |= (uint64_t)1 << text_loop;
        TRY(plan_chosen(values, values->kernel->loops[text_loop].in, &in, error));
        if (in->op != EXPRESSION_LOOP)
            return STATUS_OK;
        text_loop = (int)in->number;
    }
}

enum status plan_chains(const struct kernel_values *values, uint64_t loops, uint64_t *all,
                        struct error *error)
{
    *all = 0;
    for (int loop = 0; loop < values->kernel->loop_count; loop++) {
        uint64_t chain;
        if (!(loops >> loop & 1))
            continue;
        TRY(plan_chain(values, loop, &chain, error));
        *all |= chain;
    }
    return STATUS_OK;
}

/* Is the range of a loop the one that `name` names, or cut from it? */
static enum status is_cut_from(const struct parts *parts, int text_loop,
                               const struct expression *name, bool *is_cut)
{
    const struct kernel_text *kernel = parts->values->kernel;
    *is_cut = name->op == EXPRESSION_LOOP && name->number == text_loop;
    while (!*is_cut) {
        const struct expression *in;
        TRY(plan_chosen(parts->values, kernel->loops[text_loop].in, &in, parts->error));
        *is_cut = !in->args && in->op != EXPRESSION_NUMBER && in->op == name->op &&
                  in->number == name->number;
        if (in->op != EXPRESSION_LOOP)
            return STATUS_OK;
        text_loop = (int)in->number;
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ dimensions */

static enum status round_of(const struct parts *parts, int text_loop, struct plan_dim *dim)
{
    *dim = (struct plan_dim){.reach = REACH_ROUND, .loop = text_loop};
    return plan_chain(parts->values, text_loop, &dim->loops, parts->error);
}

static enum status infer(const struct parts *parts, const struct expression *name,
                         struct kernel_place at, struct plan_dim *dim)
{
    const struct kernel_text *kernel = parts->values->kernel;
    int inner = -1;
    *dim = (struct plan_dim){.reach = REACH_ALL};
    if (name->args)
        return STATUS_OK;
    for (int loop = parts->around; loop > 0; loop = parts->plan->loops[loop].around) {
        int text_loop = parts->plan->loops[loop].text_loop;
        uint64_t chain;
        bool is_cut;
        TRY(is_cut_from(parts, text_loop, name, &is_cut));
        if (!is_cut)
            continue;
        if (inner < 0) {
            inner = text_loop;
            TRY(round_of(parts, inner, dim));
            continue;
        }
        TRY(plan_chain(parts->values, inner, &chain, parts->error));
        if (!(chain >> text_loop & 1))
            return plan_fail(parts->error, at,
                             "ranges '%s' and '%s' both fit here, expected picks that say which",
                             kernel->loops[text_loop].name.text, kernel->loops[inner].name.text);
    }
    return STATUS_OK;
}

static uint64_t named_by(const struct expression *e)
{
    return e ? e->loops : 0;
}

static enum status pick(const struct parts *parts, const struct kernel_pick *text,
                        struct plan_dim *dim)
{
    const struct expression *range;
    *dim = (struct plan_dim){.reach = REACH_ALL};
    switch (text->kind) {
    case PICK_ALL:
        return STATUS_OK;
    case PICK_RANGE:
        TRY(plan_chosen(parts->values, text->count, &range, parts->error));
        return round_of(parts, (int)range->number, dim);
    case PICK_INDEX:
        *dim = (struct plan_dim){.reach = REACH_ONE, .from = text->count};
        break;
    case PICK_FROM:
        *dim = (struct plan_dim){
            .reach = REACH_SOME, .count = text->count, .from = text->from, .by = text->by};
        break;
    }
    return plan_chains(parts->values,
                       named_by(dim->count) | named_by(dim->from) | named_by(dim->by), &dim->loops,
                       parts->error);
}

/* The dimension as it is in the tile's life, or as it was chosen for a tensor. */
static enum status name_of(const struct parts *parts, const struct plan_part *part,
                           const struct expression *declared, const struct expression **name)
{
    if (part->tile >= 0)
        *name = parts->plan->tiles[part->tile].dims[part->dim_count];
    else
        TRY(plan_chosen(parts->values, declared, name, parts->error));
    return STATUS_OK;
}

/* Is a round of a loop all that the tile holds in its life? */
static bool is_all_of(const struct parts *parts, const struct plan_part *part,
                      const struct plan_dim *dim, const struct expression *name)
{
    const struct kernel_plan *plan = parts->plan;
    return dim->reach == REACH_ROUND && part->tile >= 0 && name->op == EXPRESSION_LOOP &&
           name->number == dim->loop &&
           plan_is_within(plan, plan->tiles[part->tile].life, plan->plan_loop_of[dim->loop]);
}

uint64_t kernel_asked(const struct kernel_text *kernel, uint64_t loops)
{
    for (int n = kernel->loop_count - 1; n > 0; n--)
        if (loops >> n & 1)
            loops |= kernel->loops[n].in->loops | kernel->loops[n].by->loops;
    return loops;
}

static enum status make_part(const struct parts *parts, const struct kernel_part *text,
                             struct plan_part *part)
{
    const struct kernel_text *kernel = parts->values->kernel;
    *part = (struct plan_part){
        .tensor = text->tensor, .tile = text->tile, .value = text->value, .is_whole = true};
    if (text->tensor < 0 && text->tile < 0)
        return STATUS_OK;
    const struct kernel_pick *given = text->picks;
    for (const struct expression *declared = text->tile >= 0 ? kernel->tiles[text->tile].dims
                                                             : kernel->tensors[text->tensor].dims;
         declared; declared = declared->next) {
        struct plan_dim *dim = &part->dims[part->dim_count];
        const struct expression *name;
        TRY(name_of(parts, part, declared, &name));
        if (given)
            TRY(pick(parts, given, dim));
        else
            TRY(infer(parts, name, text->at, dim));
        if (!given && dim->reach == REACH_ALL && part->tensor >= 0 && kernel_is_range(name))
            dim->reach = REACH_SHARE;
        given = given ? given->next : NULL;
        if (is_all_of(parts, part, dim, name))
            dim->reach = REACH_ALL;
        part->loops |= dim->loops;
        part->is_whole &= dim->reach == REACH_ALL;
        part->dim_count++;
    }
    part->loops = kernel_asked(kernel, part->loops);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ steps */

enum status plan_make_parts(const struct kernel_values *values, struct kernel_plan *plan,
                            int number, struct error *error)
{
    static const enum operand_role vector_roles[] = {OPERAND_SRC, OPERAND_SRC2, OPERAND_SRC3};
    static const enum operand_role matrix_roles[] = {OPERAND_A, OPERAND_B, OPERAND_SRC};
    struct plan_step *step = &plan->steps[number];
    const struct parts parts = {values, plan, error, step->around};
    if (!step->text->source_count)
        return STATUS_OK;
    step->part_count = 1 + step->text->source_count;
    TRY(make_part(&parts, &step->text->to, &step->parts[0]));
    step->parts[0].role = OPERAND_DST;
    step->parts[0].writes = true;
    step->parts[0].reads = step->text->verb == VERB_MMAD;
    for (int s = 0; s < step->text->source_count; s++) {
        struct plan_part *part = &step->parts[1 + s];
        TRY(make_part(&parts, &step->text->from[s], part));
        part->role = step->text->verb == VERB_MMAD ? matrix_roles[s] : vector_roles[s];
        part->reads = part->tile >= 0 || part->tensor >= 0;
    }
    return STATUS_OK;
}

bool plan_is_gathered(const struct plan_part *part)
{
    for (int d = 0; d < part->dim_count; d++)
        if ((part->dims[d].reach == REACH_ONE || part->dims[d].reach == REACH_SOME) &&
            !part->dims[d].from)
            return true;
    return false;
}
