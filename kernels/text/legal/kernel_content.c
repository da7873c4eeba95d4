/* What is in doubt (kernel_content.h), by structure alone. A part that is read is certain where one
 * step writes all of it before, in the same life: in a round of the innermost loop around both, the
 * writer's item comes first; its ranges, with the loops inside that round as all that their rounds
 * make, hold the reader's; and it runs whenever the reader does. */
#include "kernels/text/legal/kernel_content.h"

#include "kernels/text/plan/kernel_structure.h"

struct proof {
    const struct kernel_values *values;
    const struct kernel_plan *plan;
    int tile, life;     /* plan loop */
    int writer, reader; /* steps */
    const struct plan_part *written, *read;
    int around; /* the innermost plan loop around both */
};

static uint64_t bit_of(int64_t loop)
{
    return (uint64_t)1 << loop;
}

static bool is_around(const struct proof *p, int64_t text_loop)
{
    return plan_are_around(p->plan, bit_of(text_loop), p->around);
}

/* ------------------------------------------------------------------ before */

static int common_loop(const struct kernel_plan *plan, int a, int b)
{
    int loop = plan->steps[a].around;
    while (!plan_is_within(plan, plan->steps[b].around, loop))
        loop = plan->loops[loop].around;
    return loop;
}

/* The item of a loop's body that a step is or stands in. */
static int item_in(const struct kernel_plan *plan, int loop, int step)
{
    const struct plan_loop *body = &plan->loops[loop];
    for (int i = body->first_item; i < body->first_item + body->item_count; i++) {
        int number = plan->items[i].number;
        if (plan->items[i].is_loop
                ? plan->loops[number].first_step <= step && step < plan->loops[number].end_step
                : number == step)
            return i;
    }
    return -1;
}

static bool comes_first(const struct proof *p)
{
    int writer = item_in(p->plan, p->around, p->writer);
    int reader = item_in(p->plan, p->around, p->reader);
    int stage = p->plan->items[writer].stage, later = p->plan->items[reader].stage;
    return stage < later || (stage == later && writer < reader);
}

static bool is_positive(const struct kernel_text *kernel, const struct expression *e);

static bool are_positive(const struct kernel_text *kernel, const struct expression *list)
{
    for (; list; list = list->next)
        if (!is_positive(kernel, list))
            return false;
    return true;
}

/* 1 or more whatever axes and rounds are? */
static bool is_positive(const struct kernel_text *kernel, const struct expression *e)
{
    switch (e->op) {
    case EXPRESSION_NUMBER:
        return e->number > 0;
    case EXPRESSION_SIZE:
    case EXPRESSION_WHOLE:
        return !kernel_may_be_0(&kernel->sizes[e->number]);
    case EXPRESSION_LOOP:
    case EXPRESSION_LANES:
    case EXPRESSION_POW2:
        return true;
    case EXPRESSION_LET:
        return is_positive(kernel, kernel->lets[e->number].value);
    case EXPRESSION_AXIS:
        return kernel->axes[e->number].cut >= CUT_SLICES ||
               (kernel->axes[e->number].cut == CUT_LIST &&
                are_positive(kernel, kernel->axes[e->number].values));
    case EXPRESSION_IF:
        return are_positive(kernel, e->args->next);
    case EXPRESSION_ADD:
    case EXPRESSION_MULTIPLY:
    case EXPRESSION_UP:
    case EXPRESSION_CDIV:
    case EXPRESSION_MIN:
    case EXPRESSION_MAX:
        return are_positive(kernel, e->args);
    default:
        return false;
    }
}

/* Loops whose first or last rounds alone a condition holds in. */
static uint64_t named_once(const struct expression *e)
{
    if (!e)
        return 0;
    if (e->op == EXPRESSION_AND)
        return named_once(e->args) | named_once(e->args->next);
    return e->op == EXPRESSION_FIRST || e->op == EXPRESSION_LAST ? bit_of(e->number) : 0;
}

static bool has_conjunct(const struct expression *e, const struct expression *conjunct)
{
    if (e && e->op == EXPRESSION_AND)
        return has_conjunct(e->args, conjunct) || has_conjunct(e->args->next, conjunct);
    return e && kernel_is_same(e, conjunct);
}

/* A condition of the writer holds where the reader runs, or held in a round before that did the
 * same: the first one of a loop in the tile's life that does not change its part. */
static bool holds(const struct proof *p, const struct expression *e)
{
    if (!e)
        return true;
    if (e->op == EXPRESSION_AND)
        return holds(p, e->args) && holds(p, e->args->next);
    const struct plan_step *writer = &p->plan->steps[p->writer];
    const struct expression *condition = p->plan->steps[p->reader].condition;
    uint64_t earlier = (writer->once | named_once(writer->condition)) & ~named_once(condition);
    if (has_conjunct(condition, e) && plan_are_around(p->plan, e->loops, p->around) &&
        !(kernel_asked(p->plan->kernel, e->loops) & earlier))
        return true;
    if (e->op != EXPRESSION_FIRST && e->op != EXPRESSION_LAST)
        return false;
    bool is_in_life = !plan_are_around(p->plan, bit_of(e->number), p->life);
    bool is_before = e->op == EXPRESSION_FIRST || !is_around(p, e->number);
    return is_in_life && is_before && !(p->written->loops >> e->number & 1);
}

static bool runs(const struct proof *p)
{
    const struct kernel_plan *plan = p->plan;
    for (int loop = plan->steps[p->writer].around; loop != p->around;
         loop = plan->loops[loop].around)
        if (!is_positive(plan->kernel, plan->kernel->loops[plan->loops[loop].text_loop].in))
            return false;
    return holds(p, plan->steps[p->writer].condition);
}

/* ------------------------------------------------------------------ covers */

static bool is_same_dim(const struct plan_dim *a, const struct plan_dim *b)
{
    return a->reach == b->reach && (a->reach != REACH_ROUND || a->loop == b->loop) &&
           kernel_is_same(a->count, b->count) && kernel_is_same(a->from, b->from) &&
           kernel_is_same(a->by, b->by) && (a->reach != REACH_SOME || a->from);
}

static bool is_name(const struct expression *name, const struct expression *e)
{
    return kernel_is_range(e) && name->op == e->op && name->number == e->number;
}

/* What all rounds of the loops inside the common one write of a dimension: the range of *loop
 * around that, -1: all. False: something else. *inner: those loops. */
static bool widen(const struct proof *p, int d, int *loop, uint64_t *inner)
{
    const struct expression *name = p->plan->tiles[p->tile].dims[d], *in;
    for (*loop = p->written->dims[d].loop;; *loop = (int)in->number) {
        if (name->op == EXPRESSION_LOOP && name->number == *loop &&
            (!is_around(p, *loop) ||
             plan_are_around(p->plan, bit_of(*loop), p->life))) { /* all that it holds */
            *inner |= is_around(p, *loop) ? 0 : bit_of(*loop);
            *loop = -1;
            return true;
        }
        if (is_around(p, *loop))
            return true;
        *inner |= bit_of(*loop);
        if (plan_chosen(p->values, p->values->kernel->loops[*loop].in, &in, NULL) != STATUS_OK)
            return false;
        if (is_name(name, in) && in->op != EXPRESSION_LOOP) {
            *loop = -1;
            return true;
        }
        if (in->op != EXPRESSION_LOOP)
            return false;
    }
}

static bool covers_dim(const struct proof *p, int d, uint64_t *inner)
{
    const struct plan_dim *written = &p->written->dims[d], *read = &p->read->dims[d];
    uint64_t own = 0;
    int loop;
    if (written->reach == REACH_ALL)
        return true;
    if (is_same_dim(written, read) && plan_are_around(p->plan, written->loops, p->around))
        return true;
    if (written->reach != REACH_ROUND || !widen(p, d, &loop, &own) || (*inner & own))
        return false;
    *inner |= own;
    return loop < 0 || (read->reach == REACH_ROUND && read->loops >> loop & 1);
}

/* A product of all its dimensions at once: no loop cuts two of them. */
static bool covers(const struct proof *p)
{
    uint64_t inner = 0;
    for (int d = 0; d < p->read->dim_count; d++)
        if (!covers_dim(p, d, &inner))
            return false;
    return true;
}

/* Does a vector operation write less than its part, the first elements? */
static bool is_short(const struct proof *p)
{
    const struct plan_step *step = &p->plan->steps[p->writer];
    return step->kind == INSTRUCTION_VECTOR &&
           (step->text->keys[STEP_ELEMENTS] ||
            (p->plan->hw->operations[step->what].result == RESULT_ONE_PER_REPEAT &&
             !plan_fold_fills(p->values, p->plan, p->writer)));
}

static bool is_one(const struct expression *e)
{
    if (e->op == EXPRESSION_UP)
        e = e->args;
    return e->op == EXPRESSION_NUMBER && e->number == 1;
}

/* Is the first element all that the reader wants of it? */
static bool reads_first(const struct proof *p)
{
    bool single = true;
    for (int d = 0; d < p->read->dim_count; d++) {
        const struct plan_dim *dim = &p->read->dims[d];
        const struct expression *e = p->plan->tiles[p->tile].dims[d];
        if (dim->reach == REACH_ROUND)
            e = p->plan->kernel->loops[dim->loop].by;
        else if (dim->reach == REACH_SOME)
            e = dim->count;
        single &= dim->reach == REACH_ONE || is_one(e);
    }
    return single || plan_spreads(p->plan, p->reader);
}

static bool begins_alike(const struct proof *p)
{
    for (int d = 0; d < p->read->dim_count; d++)
        if (!is_same_dim(&p->written->dims[d], &p->read->dims[d]) ||
            !plan_are_around(p->plan, p->written->dims[d].loops, p->around))
            return false;
    return true;
}

static bool is_written(struct proof *p)
{
    const struct kernel_plan *plan = p->plan;
    for (p->writer = 0; p->writer < plan->step_count; p->writer++) {
        p->written = &plan->steps[p->writer].parts[0];
        if (!plan->steps[p->writer].part_count || p->written->tile != p->tile ||
            p->writer == p->reader)
            continue;
        p->around = common_loop(plan, p->writer, p->reader);
        if (comes_first(p) && runs(p) &&
            (is_short(p) ? reads_first(p) && begins_alike(p) : covers(p)))
            return true;
    }
    return false;
}

static bool reads_are_written(const struct kernel_values *values, const struct kernel_plan *plan,
                              int reader, int part)
{
    const struct plan_part *read = &plan->steps[reader].parts[part];
    struct proof proof = {.values = values,
                          .plan = plan,
                          .tile = read->tile,
                          .life = plan->tiles[read->tile].life,
                          .reader = reader,
                          .read = read};
    return is_written(&proof);
}

/* ------------------------------------------------------------------ products */

/* Do the loops inside its life cut the dimension alike whenever they run? */
static bool cuts_alike(const struct kernel_plan *plan, int tile, const struct plan_dim *dim)
{
    if (dim->reach == REACH_ALL)
        return true;
    for (int n = 0; n < plan->kernel->loop_count && dim->reach == REACH_ROUND; n++) {
        const struct kernel_loop *loop = &plan->kernel->loops[n];
        if (dim->loops >> n & 1 &&
            !plan_are_around(plan, (loop->in->loops | loop->by->loops) & ~dim->loops,
                             plan->tiles[tile].life))
            return false;
    }
    return dim->reach == REACH_ROUND;
}

/* All that write the tile write the same parts of it. */
static bool parts_are_alike(const struct kernel_values *values, const struct kernel_plan *plan,
                            int product)
{
    const struct plan_part *part = &plan->steps[product].parts[0];
    struct proof proof = {.values = values, .plan = plan};
    for (int d = 0; d < part->dim_count; d++)
        if (!cuts_alike(plan, part->tile, &part->dims[d]))
            return false;
    for (proof.writer = 0; proof.writer < plan->step_count; proof.writer++) {
        const struct plan_part *other = &plan->steps[proof.writer].parts[0];
        if (!plan->steps[proof.writer].part_count || other->tile != part->tile)
            continue;
        if (is_short(&proof))
            return false;
        for (int d = 0; d < part->dim_count; d++)
            if (!is_same_dim(&part->dims[d], &other->dims[d]))
                return false;
    }
    return true;
}

/* ------------------------------------------------------------------ tensors */

/* Loops in whose rounds a dimension of a part is another one each time. */
static uint64_t told_apart(const struct plan_dim *dim)
{
    if (dim->reach == REACH_ROUND)
        return dim->loops;
    bool is_begin = dim->from && dim->from->op == EXPRESSION_BEGIN && !dim->by;
    if (!is_begin || (dim->reach == REACH_SOME && (dim->count->op != EXPRESSION_LOOP ||
                                                   dim->count->number != dim->from->number)))
        return 0;
    return dim->loops;
}

static bool has_one_round(const struct kernel_loop *loop)
{
    return loop->in->op == EXPRESSION_NUMBER && loop->by->op == EXPRESSION_NUMBER &&
           loop->in->number <= loop->by->number;
}

/* Those around a step that may run it more than once. */
static uint64_t loops_around(const struct kernel_plan *plan, int step)
{
    uint64_t loops = 0;
    for (int loop = plan->steps[step].around; loop > 0; loop = plan->loops[loop].around)
        if (!has_one_round(&plan->kernel->loops[plan->loops[loop].text_loop]))
            loops |= bit_of(plan->loops[loop].text_loop);
    return loops;
}

static bool adds(const struct plan_step *step)
{
    const struct expression *add = step->text->keys[STEP_ADD];
    return add && add->op == EXPRESSION_NUMBER && add->number != 0;
}

static bool is_stored_once(const struct kernel_plan *plan, int store)
{
    const struct plan_step *step = &plan->steps[store];
    uint64_t apart = named_once(step->condition);
    for (int d = 0; d < step->parts[0].dim_count; d++)
        apart |= told_apart(&step->parts[0].dims[d]);
    for (int s = 0; s < plan->step_count; s++)
        if (s != store && plan->steps[s].part_count &&
            plan->steps[s].parts[0].tensor == step->parts[0].tensor &&
            !(adds(step) && adds(&plan->steps[s])))
            return false;
    return adds(step) || !(loops_around(plan, store) & ~apart);
}

uint64_t plan_repeats(const struct kernel_plan *plan, int step)
{
    const struct plan_step *s = &plan->steps[step];
    if (!s->part_count || s->parts[0].tensor < 0 || s->text->keys[STEP_ADD])
        return 0;
    return loops_around(plan, step) & ~s->parts[0].loops &
           ~(s->condition ? s->condition->loops : 0);
}

/* ------------------------------------------------------------------ all of it */

void kernel_find_doubts(const struct kernel_values *values, const struct kernel_plan *plan,
                        struct kernel_doubts *doubts)
{
    *doubts = (struct kernel_doubts){.any = false};
    for (int s = 0; s < plan->step_count; s++) {
        const struct plan_step *step = &plan->steps[s];
        if (!step->part_count)
            continue;
        if (step->parts[0].tensor >= 0)
            doubts->tensors[step->parts[0].tensor] |= !is_stored_once(plan, s);
        else if (step->kind == INSTRUCTION_MATRIX)
            doubts->tiles[step->parts[0].tile] |= !parts_are_alike(values, plan, s);
        for (int p = 1; p < step->part_count; p++)
            if (step->parts[p].tile >= 0)
                doubts->tiles[step->parts[p].tile] |= !reads_are_written(values, plan, s, p);
    }
    for (int t = 0; t < KERNEL_MAX_TILES; t++)
        doubts->any |= doubts->tiles[t];
    for (int t = 0; t < KERNEL_MAX_TENSORS; t++)
        doubts->any |= doubts->tensors[t];
}
