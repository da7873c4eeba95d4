/* Loops as C. Of most loops all rounds but the last are alike; where they are not, each is looked
 * at, and a count ends what would take long, as it does in the checks themselves. */
#include "kernels/text/limits/kernel_code.h"
#include "kernels/text/plan/kernel_structure.h"

enum { MAX_VISITS = 1 << 16 };

static void put_range(struct code_writer *w, const struct kernel_loop *text)
{
    const char *name = text->name.text;
    code_line(w);
    fprintf(w->out, "const int64_t in_%s = ", name);
    code_put(w, text->in);
    fprintf(w->out, ", by_%s = ", name);
    code_put(w, text->by);
    fprintf(w->out, ", rounds_%s = ", name);
    code_call(w, "rounds");
    fprintf(w->out, "in_%s, by_%s, &ok);\n", name, name);
    code_line(w);
    fprintf(w->out, "int64_t round_%s;\n", name);
}

/* The first time that a loop is met is in the first rounds of those around it. */
static void put_count(struct code_writer *w, int loop)
{
    const struct kernel_plan *plan = &w->plan->plan;
    const char *name = code_loop(w, plan->loops[loop].text_loop);
    int around = plan->loops[loop].around;
    code_line(w);
    fprintf(w->out, "if (runs_%s < 1)\n", name);
    w->depth++;
    code_line(w);
    w->depth--;
    fprintf(w->out, "runs_%s = ", name);
    if (around > 0)
        fprintf(w->out, "runs_%s * ", code_loop(w, plan->loops[around].text_loop));
    fprintf(w->out, "(double)rounds_%s;\n", name);
}

static void put_round(struct code_writer *w, int text_loop)
{
    const struct kernel_loop *text = &w->kernel->loops[text_loop];
    const char *name = text->name.text;
    if (w->declared.lengths >> text_loop & 1) {
        code_line(w);
        fprintf(w->out, "const int64_t loop_%s = ", name);
        code_call(w, "length");
        fprintf(w->out, "in_%s, by_%s, round_%s);\n", name, name, name);
    }
    if (!(w->declared.begins >> text_loop & 1))
        return;
    const struct expression *in = text->in;
    if (plan_chosen(w->values, in, &in, NULL) != STATUS_OK || in->op == EXPRESSION_IF)
        code_refuse(w, in->at, "rounds decide what a loop cuts");
    code_line(w);
    fprintf(w->out, "const int64_t begin_%s = ", name);
    code_call(w, "add");
    code_put_begin(w, in);
    fputs(", ", w->out);
    code_call(w, "mul");
    fprintf(w->out, "round_%s, by_%s, &ok), &ok);\n", name, name);
}

void code_put_each_round(struct code_writer *w, int loop)
{
    w->uses.visits = 1;
    fprintf(w->out, "++visits > %d ? rounds_%s : round_%s + 1", MAX_VISITS,
            code_loop(w, w->plan->plan.loops[loop].text_loop),
            code_loop(w, w->plan->plan.loops[loop].text_loop));
}

static void put_body(struct code_writer *w, const struct code_walk *walk, int loop);

static void put_loop(struct code_writer *w, const struct code_walk *walk, int loop)
{
    int around = w->place, text_loop = w->plan->plan.loops[loop].text_loop;
    const char *name = code_loop(w, text_loop);
    code_line(w);
    fputs("{\n", w->out);
    w->depth++;
    put_range(w, &w->kernel->loops[text_loop]);
    put_count(w, loop);
    code_line(w);
    fprintf(w->out, "for (round_%s = 0; ok && round_%s < rounds_%s; round_%s = ", name, name, name,
            name);
    walk->next(w, loop);
    fputs(") {\n", w->out);
    w->depth++;
    w->place = loop;
    put_round(w, text_loop);
    put_body(w, walk, loop);
    w->place = around;
    w->depth--;
    code_line(w);
    fputs("}\n", w->out);
    w->depth--;
    code_line(w);
    fputs("}\n", w->out);
}

static void put_body(struct code_writer *w, const struct code_walk *walk, int loop)
{
    const struct kernel_plan *plan = &w->plan->plan;
    const struct plan_loop *body = &plan->loops[loop];
    walk->enter(w, loop);
    for (int i = body->first_item; i < body->first_item + body->item_count; i++)
        if (plan->items[i].is_loop)
            put_loop(w, walk, plan->items[i].number);
}

void code_put_walk(struct code_writer *w, const struct code_walk *walk)
{
    w->place = 0;
    put_body(w, walk, 0);
    if (!w->declared.visits)
        return;
    code_line(w);
    fprintf(w->out, "ok = ok && visits <= %d;\n", MAX_VISITS);
}
