/* Sizes with their pads, what a core has of them (kernel_shares.c), what the text requires, and
 * what decides the plan (kernel_choices.c): where that asks for sizes it has to come out as it did
 * for the tiling's own shape. */
#include "kernels/text/limits/kernel_code.h"
#include "kernels/text/plan/kernel_structure.h"

/* ------------------------------------------------------------------ sizes */

/* The operators' own limit, beyond which a shape is not tuned. */
static void put_product(struct code_writer *w)
{
    int count = w->asked->problem->op->size_count;
    code_line(w);
    fputs("int ok = ", w->out);
    for (int i = 0; i < count; i++)
        fprintf(w->out, "%s(double)size[%d]", i ? " * " : "", i);
    fputs(" <= 1e15;\n", w->out);
}

static void put_sizes(struct code_writer *w)
{
    for (int n = 0; n < w->kernel->size_count; n++) {
        const char *name = w->kernel->sizes[n].name.text;
        uint64_t bit = (uint64_t)1 << n;
        if (w->declared.sizes & bit)
            w->uses.wholes |= bit;
        if (!(w->declared.wholes & bit))
            continue;
        code_line(w);
        fprintf(w->out, "const int64_t whole_%s = ", name);
        code_call(w, "up");
        fprintf(w->out, "size[%d], %lld, &ok);\n", w->posed->size_of[n],
                (long long)w->values->pads[n]);
        if (!(w->declared.sizes & bit))
            continue;
        code_line(w);
        fprintf(w->out, "int64_t size_%s = whole_%s;\n", name, name);
    }
}

/* ------------------------------------------------------------------ what is decided */

/* It is the number that it is for the tiling's own shape. */
static void put_decided(struct code_writer *w, const struct expression *e)
{
    int64_t number = 0;
    if (!e || !code_asks_sizes(w->kernel, e))
        return;
    if (kernel_number(w->values, e, &number, NULL) != STATUS_OK)
        code_refuse(w, e->at, "it has no number");
    code_line(w);
    fputs("ok = ok && ", w->out);
    code_put(w, e);
    fprintf(w->out, " == %lld; /* decides what line %d is */\n", (long long)number, e->at.line);
}

/* Of `a if c else b`, every condition on the way to what is meant. */
static void put_name(struct code_writer *w, const struct expression *e)
{
    while (e && e->op == EXPRESSION_IF && !e->args->asks) {
        int64_t truth = 0;
        put_decided(w, e->args);
        if (kernel_number(w->values, e->args, &truth, NULL) != STATUS_OK)
            code_refuse(w, e->at, "it has no number");
        e = truth ? e->args->next : e->args->next->next;
    }
}

/* ------------------------------------------------------------------ cores */

static void put_share(struct code_writer *w, const struct kernel_cores *line)
{
    const struct expression *name;
    if (plan_chosen(w->values, line->what, &name, NULL) != STATUS_OK) {
        code_refuse(w, line->at, "what cores share is not known");
        return;
    }
    bool is_size = name->op == EXPRESSION_SIZE;
    put_name(w, line->what);
    code_line(w);
    if (is_size)
        fprintf(w->out, "size_%s = ", w->kernel->sizes[name->number].name.text);
    else if (w->declared.lets >> name->number & 1)
        fprintf(w->out, "let_%s = ", w->kernel->lets[name->number].name.text);
    code_call(w, "share");
    code_put(w, name);
    fprintf(w->out, ", %lld, ", is_size ? (long long)w->values->pads[name->number] : 1);
    if (line->shares)
        code_put(w, line->shares);
    else
        fputs("left", w->out);
    fputs(", &left, &used, &ok);\n", w->out);
    if (!is_size)
        w->is_shared[name->number] = true;
}

static void put_cores(struct code_writer *w)
{
    for (int l = 0; l < w->kernel->let_count; l++)
        if (w->declared.lets >> l & 1) {
            code_line(w);
            fprintf(w->out, "int64_t let_%s;\n", w->kernel->lets[l].name.text);
        }
    code_line(w);
    fputs("int64_t left = entry->tiling.cores, used = 1;\n", w->out);
    for (int c = 0; c < w->kernel->cores_count; c++)
        put_share(w, &w->kernel->cores[c]);
    code_line(w);
    fputs("ok = ok && used == entry->tiling.cores;", w->out);
    fputs(w->kernel->cores_count ? " /* all have work */\n" : "\n", w->out);
}

/* ------------------------------------------------------------------ what is required */

static void put_requires(struct code_writer *w)
{
    for (int r = 0; r < w->kernel->require_count; r++) {
        code_line(w);
        fputs("ok = ok && ", w->out);
        code_put(w, w->kernel->requires[r].truth);
        fprintf(w->out, "; /* line %d */\n", w->kernel->requires[r].at.line);
    }
}

/* ------------------------------------------------------------------ what decides the plan */

/* What of a condition knows no rounds. */
static void put_condition(struct code_writer *w, const struct expression *e)
{
    if (!e->asks) {
        put_decided(w, e);
        return;
    }
    if (e->op == EXPRESSION_AND || e->op == EXPRESSION_OR || e->op == EXPRESSION_NOT)
        for (const struct expression *arg = e->args; arg; arg = arg->next)
            put_condition(w, arg);
}

static void put_picks(struct code_writer *w, const struct kernel_part *part)
{
    for (const struct kernel_pick *pick = part->picks; pick; pick = pick->next)
        if (pick->kind == PICK_RANGE)
            put_name(w, pick->count);
}

static void put_step(struct code_writer *w, const struct kernel_step *step)
{
    if (step->condition)
        put_condition(w, step->condition);
    if (step->source_count)
        put_picks(w, &step->to);
    for (int s = 0; s < step->source_count; s++)
        put_picks(w, &step->from[s]);
    put_decided(w, step->keys[STEP_RELU]);
    put_decided(w, step->keys[STEP_TRANSPOSE]);
}

static void put_line(struct code_writer *w, const struct kernel_line *line)
{
    put_decided(w, line->stage);
    if (line->kind == LINE_FOR)
        put_name(w, w->kernel->loops[line->number].in);
    if (line->kind == LINE_STEP)
        put_step(w, line->step);
    if (line->kind != LINE_TILE)
        return;
    const struct kernel_tile *tile = &w->kernel->tiles[line->number];
    put_decided(w, tile->copies);
    for (const struct expression *dim = tile->dims; dim; dim = dim->next)
        put_name(w, dim);
    put_name(w, tile->life);
}

/* As kernel_plan_choices has them. */
static void put_choices(struct code_writer *w)
{
    for (int c = 0; c < w->kernel->cores_count; c++)
        put_name(w, w->kernel->cores[c].what);
    for (int o = 0; o < w->kernel->order_count; o++)
        put_decided(w, w->kernel->orders[o].condition);
    for (int t = 0; t < w->kernel->tensor_count; t++)
        for (const struct expression *dim = w->kernel->tensors[t].dims; dim; dim = dim->next)
            put_name(w, dim);
    for (int l = 0; l < w->kernel->line_count; l++)
        put_line(w, &w->kernel->lines[l]);
}

void code_put_shares(struct code_writer *w)
{
    put_product(w);
    put_sizes(w);
    put_cores(w);
    put_requires(w);
    put_choices(w);
}
