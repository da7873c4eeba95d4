/* The linear forms of a plan's steps: which loops around a step lengthen its work, which only
 * repeat it, and which other steps it waits for and is waited for by. */
#include "kernels/text/nest/kernel_nest_least.h"
#include "kernels/text/plan/kernel_structure.h"

#include <stdlib.h>

struct former {
    const struct kernel_plan *plan;
    int number;
    const struct plan_step *step;
    struct least_step *form;
};

/* ------------------------------------------------------------------ loops */

static int parent_of(const struct kernel_loop *loop)
{
    return loop->in->op == EXPRESSION_LOOP ? (int)loop->in->number : -1;
}

/* Of what is cut from something else than a size or a range, or in steps that ask rounds, only that
 * it runs is known: it is left out. */
static bool is_plain(const struct kernel_loop *loop)
{
    return !loop->by->loops && (loop->in->op == EXPRESSION_LOOP || !loop->in->loops);
}

static bool is_listed(const struct former *f, const struct kernel_loop *loop)
{
    for (int l = 0; l < f->form->loop_count; l++)
        if (f->form->loops[l].text == loop)
            return true;
    return false;
}

/* The innermost loop around that is cut from the last one listed; or the outermost unlisted that is
 * cut from none around. NULL: no more. */
static const struct kernel_loop *next_loop(const struct former *f, bool begins, int *text_loop)
{
    const struct kernel_text *kernel = f->plan->kernel;
    const struct kernel_loop *found = NULL;
    const struct kernel_loop *last =
        f->form->loop_count ? f->form->loops[f->form->loop_count - 1].text : NULL;
    for (int loop = f->step->around; loop > 0; loop = f->plan->loops[loop].around) {
        int number = f->plan->loops[loop].text_loop, parent = parent_of(&kernel->loops[number]);
        const struct kernel_loop *text = &kernel->loops[number];
        bool is_next = begins ? parent < 0 : last && parent >= 0 && &kernel->loops[parent] == last;
        if (is_plain(text) && is_next && !is_listed(f, text)) {
            found = text;
            *text_loop = number;
        }
    }
    return found;
}

static void list_loops(struct former *f)
{
    int number = 0;
    for (bool begins = true;; begins = false) {
        const struct kernel_loop *text = next_loop(f, begins, &number);
        if (!text && begins)
            return;
        if (!text) {
            begins = true;
            text = next_loop(f, true, &number);
        }
        if (!text)
            return;
        f->form->loops[f->form->loop_count++] = (struct least_loop){
            .text = text, .begins = begins, .is_once = f->step->once >> number & 1};
    }
}

/* ------------------------------------------------------------------ work */

static void add_loop(struct former *f, int text_loop)
{
    const struct kernel_loop *text = &f->plan->kernel->loops[text_loop];
    int chain = -1;
    for (int l = 0; l < f->form->loop_count; l++) {
        if (f->form->loops[l].begins)
            chain = l;
        if (f->form->loops[l].text != text)
            continue;
        for (int i = chain; i < f->form->loop_count && (i == chain || !f->form->loops[i].begins);
             i++)
            if (f->form->loops[i].counts)
                return; /* one length of those cut from one another */
        f->form->loops[l].counts = true;
    }
}

/* A number that is at least the range, a number without ranges, or one of which nothing is known.
 */
static void add_count(struct former *f, const struct expression *e)
{
    while (e->op == EXPRESSION_UP)
        e = e->args;
    if (e->op == EXPRESSION_LOOP)
        add_loop(f, (int)e->number);
    else if (!e->loops && f->form->count_count < 2 * KERNEL_MAX_DIMS)
        f->form->counts[f->form->count_count++] = e;
}

static void add_dim(struct former *f, const struct plan_part *part, int d)
{
    const struct plan_dim *dim = &part->dims[d];
    const struct expression *e = NULL;
    if (dim->reach == REACH_ROUND)
        add_loop(f, dim->loop);
    else if (dim->reach == REACH_SOME)
        add_count(f, dim->count);
    else if (dim->reach == REACH_ALL && part->tile >= 0)
        add_count(f, f->plan->tiles[part->tile].dims[d]);
    else if (dim->reach == REACH_ALL || dim->reach == REACH_SHARE) {
        e = f->plan->kernel->tensors[part->tensor].dims;
        for (int i = 0; i < d; i++)
            e = e->next;
        if (e->op == EXPRESSION_SIZE || e->op == EXPRESSION_NUMBER) /* at least a core's share */
            add_count(f, e);
    }
}

static void add_part(struct former *f, const struct plan_part *part)
{
    for (int d = 0; d < part->dim_count; d++)
        add_dim(f, part, d);
}

/* The first repeat of an instruction costs as much as the others at least: then fewer instructions
 * with more repeats each cost less. */
static bool has_cheap_repeats(const struct former *f)
{
    const struct price *price = &f->plan->hw->prices[f->step->price];
    return (double)price->rate.fs / (double)price->rate.units <= (double)price->base_fs;
}

static void form_work(struct former *f)
{
    const struct hardware *hw = f->plan->hw;
    const struct plan_step *step = f->step;
    const struct matrix_type *matrix;
    const struct expression *const *keys = (const struct expression *const *)step->text->keys;
    f->form->scale = dtype_bytes(step->type);
    switch (step->kind) {
    case INSTRUCTION_MOVE:
        add_part(f, &step->parts[0]);
        break;
    case INSTRUCTION_MATRIX:
        matrix = hardware_matrix_type(hw, step->type);
        f->form->scale = 1.0 / ((double)matrix->block_m * matrix->block_k * matrix->block_n);
        add_part(f, &step->parts[0]);
        add_dim(f, &step->parts[1], step->parts[1].dim_count - 1);
        break;
    case INSTRUCTION_VECTOR:
        f->form->scale = has_cheap_repeats(f) ? f->form->scale / hw->vector_repeat_bytes : 0;
        f->form->off = 1;
        if (keys[STEP_ELEMENTS])
            add_count(f, keys[STEP_ELEMENTS]);
        else if (hw->operations[step->what].result != RESULT_ONE_PER_REPEAT)
            add_part(f, &step->parts[0]);
        else if (!step->parts[1].value)
            add_part(f, &step->parts[1]);
        break;
    default:
        f->form->scale = 1;
        if (keys[STEP_COUNT])
            add_count(f, keys[STEP_COUNT]);
    }
}

/* ------------------------------------------------------------------ who waits for whom */

static void set_bit(uint64_t bits[2], int bit)
{
    bits[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* The stage of a step, or of the loop around it, in the body of a loop around it. */
static int stage_in(const struct kernel_plan *plan, const struct plan_step *step, int body)
{
    int loop = step->around;
    if (loop == body)
        return step->stage;
    while (plan->loops[loop].around != body)
        loop = plan->loops[loop].around;
    return plan->loops[loop].stage;
}

/* The innermost loop around both. */
static int body_of(const struct kernel_plan *plan, const struct plan_step *a,
                   const struct plan_step *b)
{
    int body = a->around;
    while (!plan_is_within(plan, b->around, body))
        body = plan->loops[body].around;
    return body;
}

static bool runs_always(const struct kernel_plan *plan, const struct plan_step *step, int body)
{
    for (int loop = body; loop > 0; loop = plan->loops[loop].around)
        if (step->once >> plan->loops[loop].text_loop & 1)
            return false;
    return !step->condition;
}

/* Before a step's first run another one has run that is in its first rounds then, too; after each
 * of its runs another one runs. */
static void find_neighbours(const struct kernel_work *work, struct nest_least *least)
{
    const struct kernel_plan *plan = work->plan;
    for (int e = 0; e < work->edge_count; e++) {
        int first = work->edges[e].first, second = work->edges[e].second;
        const struct plan_step *a = &plan->steps[first], *b = &plan->steps[second];
        int body = body_of(plan, a, b);
        if (stage_in(plan, a, body) != stage_in(plan, b, body))
            continue;
        if (!a->condition && !b->condition)
            set_bit(least->steps[second].before, first);
        if (runs_always(plan, b, body))
            set_bit(least->steps[first].after, second);
    }
}

enum status kernel_least_make(const struct kernel_work *work, struct nest_least **least,
                              struct error *error)
{
    *least = calloc(1, sizeof **least);
    if (!*least)
        return error_memory(error);
    const struct kernel_plan *plan = work->plan;
    (*least)->step_count = plan->step_count;
    for (int s = 0; s < plan->step_count; s++) {
        struct former f = {plan, s, &plan->steps[s], &(*least)->steps[s]};
        f.form->is_sometimes = plan->steps[s].condition != NULL;
        list_loops(&f);
        form_work(&f);
    }
    find_neighbours(work, *least);
    return STATUS_OK;
}
