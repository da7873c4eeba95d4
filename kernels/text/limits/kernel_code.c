/* Expressions as C. Whole numbers are calls, which note in `ok` what is beyond 2^62 or cannot be;
 * what a chip or a type decides is a number already. */
#include "kernels/text/limits/kernel_code.h"

#include "kernels/text/plan/kernel_structure.h"

#include <stdio.h>
#include <string.h>

void code_refuse(struct code_writer *w, struct kernel_place at, const char *why)
{
    if (!*w->why)
        snprintf(w->why, sizeof((struct limits_body *)0)->why, "line %d of the kernel: %s", at.line,
                 why);
}

void code_line(struct code_writer *w)
{
    for (int i = 0; i <= w->depth; i++)
        fputs("    ", w->out);
}

void code_call(struct code_writer *w, const char *name)
{
    fprintf(w->out, "%s_table_%s(", w->asked->prefix, name);
}

const char *code_loop(const struct code_writer *w, int text_loop)
{
    return w->kernel->loops[text_loop].name.text;
}

const char *code_tile(const struct code_writer *w, int tile)
{
    return w->kernel->tiles[tile].name.text;
}

bool code_asks_sizes(const struct kernel_text *kernel, const struct expression *e)
{
    if (e->op == EXPRESSION_SIZE || e->op == EXPRESSION_WHOLE)
        return true;
    if (e->op == EXPRESSION_LET)
        return code_asks_sizes(kernel, kernel->lets[e->number].value);
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        if (code_asks_sizes(kernel, arg))
            return true;
    return false;
}

/* ------------------------------------------------------------------ ranges */

static bool is_around(const struct code_writer *w, int text_loop)
{
    int loop = w->plan->plan.plan_loop_of[text_loop];
    return loop >= 0 && plan_is_within(&w->plan->plan, w->place, loop);
}

/* What a loop cuts; a choice is part of the plan, unless rounds decide. */
static const struct expression *range_of(struct code_writer *w, int text_loop)
{
    const struct expression *in = w->kernel->loops[text_loop].in;
    if (plan_chosen(w->values, in, &in, NULL) != STATUS_OK || in->op == EXPRESSION_IF)
        code_refuse(w, in->at, "rounds decide what a loop cuts");
    return in;
}

void code_put_begin(struct code_writer *w, const struct expression *range)
{
    if (range->op == EXPRESSION_LOOP)
        code_put_begin_of(w, (int)range->number);
    else
        fputc('0', w->out);
}

void code_put_begin_of(struct code_writer *w, int text_loop)
{
    if (!is_around(w, text_loop)) {
        code_put_begin(w, range_of(w, text_loop));
        return;
    }
    w->uses.begins |= (uint64_t)1 << text_loop;
    fprintf(w->out, "begin_%s", code_loop(w, text_loop));
}

/* What loops inside the life of a tile stand for is all that their rounds make together. */
static void put_length(struct code_writer *w, int text_loop)
{
    if (!is_around(w, text_loop)) {
        code_put(w, range_of(w, text_loop));
        return;
    }
    w->uses.lengths |= (uint64_t)1 << text_loop;
    fprintf(w->out, "loop_%s", code_loop(w, text_loop));
}

static void put_first_or_last(struct code_writer *w, const struct expression *e)
{
    const char *name = code_loop(w, (int)e->number);
    if (!is_around(w, (int)e->number))
        code_refuse(w, e->at, "it asks for a round of a loop that is not around");
    else if (e->op == EXPRESSION_FIRST)
        fprintf(w->out, "(round_%s == 0)", name);
    else
        fprintf(w->out, "(round_%s + 1 == rounds_%s)", name, name);
}

/* ------------------------------------------------------------------ names */

static void put_size(struct code_writer *w, int number, bool is_whole)
{
    *(is_whole ? &w->uses.wholes : &w->uses.sizes) |= (uint64_t)1 << number;
    fprintf(w->out, "%s_%s", is_whole ? "whole" : "size", w->kernel->sizes[number].name.text);
}

static void put_let(struct code_writer *w, int number)
{
    if (!w->is_shared[number] || w->is_whole) {
        code_put(w, w->kernel->lets[number].value);
        return;
    }
    w->uses.lets |= (uint64_t)1 << number;
    fprintf(w->out, "let_%s", w->kernel->lets[number].name.text);
}

static void put_axis(struct code_writer *w, int number)
{
    fputs("entry->tiling.", w->out);
    table_put_member(w->kernel->axes[number].name.text, w->out);
}

static void put_known(struct code_writer *w, const struct expression *e)
{
    int64_t number = 0;
    if (kernel_number(w->values, e, &number, NULL) != STATUS_OK)
        code_refuse(w, e->at, "it has no number");
    fprintf(w->out, number > INT32_MAX ? "INT64_C(%lld)" : "%lld", (long long)number);
}

static void put_atom(struct code_writer *w, const struct expression *e)
{
    int number = (int)e->number;
    switch (e->op) {
    case EXPRESSION_SIZE:
    case EXPRESSION_WHOLE:
        put_size(w, number, w->is_whole || e->op == EXPRESSION_WHOLE);
        break;
    case EXPRESSION_LET:
        put_let(w, number);
        break;
    case EXPRESSION_AXIS:
        put_axis(w, number);
        break;
    case EXPRESSION_LOOP:
        put_length(w, number);
        break;
    case EXPRESSION_BEGIN:
        code_put_begin_of(w, number);
        break;
    case EXPRESSION_FIRST:
    case EXPRESSION_LAST:
        put_first_or_last(w, e);
        break;
    case EXPRESSION_CORES:
        fputs("entry->tiling.cores", w->out);
        break;
    case EXPRESSION_REAL:
        code_refuse(w, e->at, "it is about a number with a point");
        break;
    default:
        put_known(w, e);
    }
}

/* ------------------------------------------------------------------ operations */

static const char *const calls[EXPRESSION_OPS] = {
    [EXPRESSION_ADD] = "add",    [EXPRESSION_SUBTRACT] = "sub",  [EXPRESSION_MULTIPLY] = "mul",
    [EXPRESSION_DIVIDE] = "div", [EXPRESSION_REMAINDER] = "rem", [EXPRESSION_UP] = "up",
    [EXPRESSION_CDIV] = "cdiv",  [EXPRESSION_MIN] = "min",       [EXPRESSION_MAX] = "max",
    [EXPRESSION_LOG2] = "log2",  [EXPRESSION_POW2] = "pow2",     [EXPRESSION_GCD] = "gcd",
};

static const char *const signs[EXPRESSION_OPS] = {
    [EXPRESSION_EQUAL] = "==",    [EXPRESSION_IN] = "==",      [EXPRESSION_UNEQUAL] = "!=",
    [EXPRESSION_LESS] = "<",      [EXPRESSION_AT_MOST] = "<=", [EXPRESSION_MORE] = ">",
    [EXPRESSION_AT_LEAST] = ">=", [EXPRESSION_AND] = "&&",     [EXPRESSION_OR] = "||",
};

/* The first `count` arguments from left to right: "mul(mul(a, b, &ok), c, &ok)". */
static void put_fold(struct code_writer *w, const struct expression *e, int count)
{
    const struct expression *last = e->args;
    for (int i = 1; i < count; i++)
        last = last->next;
    if (count == 1) {
        code_put(w, last);
        return;
    }
    code_call(w, calls[e->op]);
    put_fold(w, e, count - 1);
    fputs(", ", w->out);
    code_put(w, last);
    fputs(", &ok)", w->out);
}

static void put_operation(struct code_writer *w, const struct expression *e)
{
    int count = 0;
    for (const struct expression *arg = e->args; arg; arg = arg->next)
        count++;
    if (count > 1) {
        put_fold(w, e, count);
        return;
    }
    code_call(w, e->op == EXPRESSION_NEGATE ? "sub" : calls[e->op]);
    fputs(e->op == EXPRESSION_NEGATE ? "0, " : "", w->out);
    code_put(w, e->args);
    fputs(", &ok)", w->out);
}

static void put_word(struct code_writer *w, const struct expression *axis,
                     const struct expression *word)
{
    code_call(w, "is");
    code_put(w, axis);
    fprintf(w->out, ", \"%s\")", w->kernel->axes[axis->number].words[word->number]);
}

static void put_comparison(struct code_writer *w, const struct expression *e)
{
    const struct expression *left = e->args;
    fputc('(', w->out);
    for (const struct expression *right = left->next; right; right = right->next) {
        fputs(right == left->next ? "" : " || ", w->out);
        if (left->kind == EXPRESSION_IS_WORD && right->op == EXPRESSION_WORD) {
            fputs(e->op == EXPRESSION_UNEQUAL ? "!" : "", w->out);
            put_word(w, left, right);
            continue;
        }
        if (left->kind != EXPRESSION_IS_WHOLE || right->kind != EXPRESSION_IS_WHOLE)
            code_refuse(w, e->at, "it compares numbers with a point");
        code_put(w, left);
        fprintf(w->out, " %s ", signs[e->op]);
        code_put(w, right);
    }
    fputc(')', w->out);
}

static void put_truth(struct code_writer *w, const struct expression *e)
{
    fputs(e->op == EXPRESSION_NOT ? "(!" : "(", w->out);
    code_put(w, e->args);
    if (e->op != EXPRESSION_NOT) {
        fprintf(w->out, " %s ", signs[e->op]);
        code_put(w, e->args->next);
    }
    fputc(')', w->out);
}

static void put_choice(struct code_writer *w, const struct expression *e)
{
    fputc('(', w->out);
    code_put(w, e->args);
    fputs(" ? ", w->out);
    code_put(w, e->args->next);
    fputs(" : ", w->out);
    code_put(w, e->args->next->next);
    fputc(')', w->out);
}

void code_put(struct code_writer *w, const struct expression *e)
{
    if (!e->args)
        put_atom(w, e);
    else if (e->kind == EXPRESSION_IS_REAL)
        code_refuse(w, e->at, "it is about a number with a point");
    else if (e->op == EXPRESSION_IF)
        put_choice(w, e);
    else if (e->op == EXPRESSION_AND || e->op == EXPRESSION_OR || e->op == EXPRESSION_NOT)
        put_truth(w, e);
    else if (e->kind == EXPRESSION_IS_TRUTH)
        put_comparison(w, e);
    else
        put_operation(w, e);
}
