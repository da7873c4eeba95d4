/* Writes a kernel as its text: declarations in the order of their lines, then the lines, indented
 * as deep as their loops. Parentheses stand where the strength of signs asks for them, and around
 * values that blanks would end. */
#include "kernels/text/kernel_parser.h"

/* ------------------------------------------------------------------ expressions */

enum { CHOICE, ATOM = SIGN + 1 }; /* levels beside those of signs */

static void put(const struct kernel_text *kernel, const struct expression *e, int least, FILE *out);

static int level_of(const struct expression *e)
{
    const struct form *form = expression_form(e->op);
    if (e->op == EXPRESSION_IF)
        return CHOICE;
    return form && form->level != FUNCTION ? form->level : ATOM;
}

static void put_list(const struct kernel_text *kernel, const struct expression *list, FILE *out)
{
    for (const struct expression *e = list; e; e = e->next) {
        put(kernel, e, CHOICE, out);
        fputs(e->next ? ", " : "", out);
    }
}

static void put_call(const struct kernel_text *kernel, const char *name,
                     const struct expression *list, FILE *out)
{
    fprintf(out, "%s(", name);
    put_list(kernel, list, out);
    fputc(')', out);
}

static void put_atom(const struct kernel_text *kernel, const struct expression *e, FILE *out)
{
    switch ((int)e->op) {
    case EXPRESSION_NUMBER:
        fprintf(out, "%lld", (long long)e->number);
        break;
    case EXPRESSION_SIZE:
        fputs(kernel->sizes[e->number].name.text, out);
        break;
    case EXPRESSION_LET:
        fputs(kernel->lets[e->number].name.text, out);
        break;
    case EXPRESSION_AXIS:
        fputs(kernel->axes[e->number].name.text, out);
        break;
    case EXPRESSION_LOOP:
        fputs(kernel->loops[e->number].name.text, out);
        break;
    case EXPRESSION_TOP:
        fputs("top", out);
        break;
    case EXPRESSION_BEGIN:
    case EXPRESSION_FIRST:
    case EXPRESSION_LAST:
        fprintf(out, "%s(%s)",
                e->op == EXPRESSION_BEGIN   ? "begin"
                : e->op == EXPRESSION_FIRST ? "first"
                                            : "last",
                kernel->loops[e->number].name.text);
        break;
    case EXPRESSION_WHOLE:
        fprintf(out, "whole(%s)", kernel->sizes[e->number].name.text);
        break;
    case EXPRESSION_LANES:
        fprintf(out, "lanes(%s)", kernel_type_name((int)e->number));
        break;
    case EXPRESSION_HAS_OPERATION:
    case EXPRESSION_HAS_PATH:
        fprintf(out, "has(%s)", e->text);
        break;
    default: /* a real or a word */
        fputs(e->text, out);
    }
}

/* What stands around a sign. */
static void put_signed(const struct kernel_text *kernel, const struct expression *e, FILE *out)
{
    const struct form *form = expression_form(e->op);
    const struct expression *left = e->args;
    if (e->op == EXPRESSION_NEGATE || e->op == EXPRESSION_NOT) {
        fprintf(out, "%s%s", form->sign, e->op == EXPRESSION_NOT ? " " : "");
        put(kernel, left, form->level, out);
        return;
    }
    put(kernel, left, form->level + (form->level == COMPARED), out);
    fprintf(out, form->level < SUM ? " %s " : "%s", form->sign);
    if (e->op == EXPRESSION_IN)
        put_call(kernel, "", left->next, out);
    else
        put(kernel, left->next, form->level + 1, out);
}

static void put(const struct kernel_text *kernel, const struct expression *e, int least, FILE *out)
{
    int level = level_of(e);
    fputs(level < least ? "(" : "", out);
    if (e->op == EXPRESSION_IF) {
        put(kernel, e->args->next, OR_LEVEL, out);
        fputs(" if ", out);
        put(kernel, e->args, OR_LEVEL, out);
        fputs(" else ", out);
        put(kernel, e->args->next->next, CHOICE, out);
    } else if (level < ATOM) {
        put_signed(kernel, e, out);
    } else if (e->args) {
        put_call(kernel, expression_form(e->op)->sign, e->args, out);
    } else {
        put_atom(kernel, e, out);
    }
    fputs(level < least ? ")" : "", out);
}

/* Where a blank ends it. */
static void put_tight(const struct kernel_text *kernel, const struct expression *e, FILE *out)
{
    bool has_blanks = level_of(e) < SUM;
    fputs(has_blanks ? "(" : "", out);
    put(kernel, e, CHOICE, out);
    fputs(has_blanks ? ")" : "", out);
}

static void put_after(const struct kernel_text *kernel, const char *word,
                      const struct expression *e, FILE *out)
{
    if (!e)
        return;
    fprintf(out, " %s ", word);
    put(kernel, e, CHOICE, out);
}

static void put_dims(const struct kernel_text *kernel, const struct expression *dims, int type,
                     FILE *out)
{
    for (const struct expression *d = dims; d; d = d->next) {
        fputc(d == dims ? '[' : ',', out);
        put(kernel, d, CHOICE, out);
    }
    fprintf(out, "] %s", kernel_type_name(type));
}

/* ------------------------------------------------------------------ declarations */

/* Each puts the declaration that thing n of its kind begins, and returns how many things that is.
 */

static int put_size(const struct kernel_text *kernel, int n, FILE *out)
{
    const struct kernel_size *size = &kernel->sizes[n];
    int end = n;
    fputs("size", out);
    for (; end < kernel->size_count && kernel->sizes[end].name.at.line == size->name.at.line; end++)
        fprintf(out, " %s", kernel->sizes[end].name.text);
    if (size->is_option)
        fprintf(out, " = %lld", (long long)size->standard);
    else if (size->pad > 1)
        fprintf(out, " pad %lld", (long long)size->pad);
    return end - n;
}

static int put_let(const struct kernel_text *kernel, int n, FILE *out)
{
    fprintf(out, "let %s = ", kernel->lets[n].name.text);
    put(kernel, kernel->lets[n].value, CHOICE, out);
    return 1;
}

static int put_tensor(const struct kernel_text *kernel, int n, FILE *out)
{
    int line = kernel->tensors[n].name.at.line, end = n;
    for (; end < kernel->tensor_count && kernel->tensors[end].name.at.line == line; end++) {
        fprintf(out, "%s%s", end > n ? ", " : "tensor ", kernel->tensors[end].name.text);
        put_dims(kernel, kernel->tensors[end].dims, kernel->tensors[end].type, out);
    }
    return end - n;
}

static int put_axis(const struct kernel_text *kernel, int n, FILE *out)
{
    const struct kernel_axis *axis = &kernel->axes[n];
    fprintf(out, "axis %s = ", axis->name.text);
    for (int w = 0; w < axis->word_count; w++)
        fprintf(out, "%s%s", w ? ", " : "", axis->words[w]);
    if (kernel_cuts[axis->cut].name)
        put_call(kernel, kernel_cuts[axis->cut].name, axis->values, out);
    else
        put_list(kernel, axis->values, out);
    return 1;
}

static int put_require(const struct kernel_text *kernel, int n, FILE *out)
{
    fputs("require ", out);
    put(kernel, kernel->requires[n].truth, CHOICE, out);
    return 1;
}

static int put_cores(const struct kernel_text *kernel, int n, FILE *out)
{
    (void)n; /* all of them stand in one line */
    for (int c = 0; c < kernel->cores_count; c++) {
        fputs(c ? ", " : "cores ", out);
        put(kernel, kernel->cores[c].what, CHOICE, out);
        put_after(kernel, "by", kernel->cores[c].shares, out);
    }
    return kernel->cores_count;
}

static int put_order(const struct kernel_text *kernel, int n, FILE *out)
{
    const struct kernel_order *order = &kernel->orders[n];
    for (int i = 0; i < order->count; i++)
        fprintf(out, "%s%s", i ? ", " : "order ", order->names[i].text);
    put_after(kernel, "if", order->condition, out);
    return 1;
}

enum { PUT_SIZE, PUT_LET, PUT_TENSOR, PUT_AXIS, PUT_REQUIRE, PUT_CORES, PUT_ORDER, PUT_KINDS };

/* The line of thing n of a kind; beyond all lines where there is no more of it. */
static int line_of(const struct kernel_text *kernel, int kind, int n)
{
    const int none = KERNEL_MAX_LINES + 1;
    switch (kind) {
    case PUT_SIZE:
        return n < kernel->size_count ? kernel->sizes[n].name.at.line : none;
    case PUT_LET:
        return n < kernel->let_count && kernel->lets[n].line < 0 ? kernel->lets[n].name.at.line
                                                                 : none;
    case PUT_TENSOR:
        return n < kernel->tensor_count ? kernel->tensors[n].name.at.line : none;
    case PUT_AXIS:
        return n < kernel->axis_count ? kernel->axes[n].name.at.line : none;
    case PUT_REQUIRE:
        return n < kernel->require_count ? kernel->requires
        [n].at.line : none;
    case PUT_CORES:
        return n < kernel->cores_count ? kernel->cores[n].what->at.line : none;
    default:
        return n < kernel->order_count ? kernel->orders[n].at.line : none;
    }
}

static void put_declarations(const struct kernel_text *kernel, FILE *out)
{
    static int (*const puts[PUT_KINDS])(const struct kernel_text *, int, FILE *) = {
        put_size, put_let, put_tensor, put_axis, put_require, put_cores, put_order};
    int next[PUT_KINDS] = {0};
    for (;;) {
        int first = 0;
        for (int kind = 1; kind < PUT_KINDS; kind++)
            if (line_of(kernel, kind, next[kind]) < line_of(kernel, first, next[first]))
                first = kind;
        if (line_of(kernel, first, next[first]) > KERNEL_MAX_LINES)
            return;
        next[first] += puts[first](kernel, next[first], out);
        fputc('\n', out);
    }
}

/* ------------------------------------------------------------------ lines */

static void put_for(const struct kernel_text *kernel, const struct kernel_loop *loop, FILE *out)
{
    fprintf(out, "for %s", loop->name.text);
    put_after(kernel, "in", loop->in, out);
    put_after(kernel, "by", loop->by, out);
    fputs(loop->each ? " each" : "", out);
}

static void put_tile(const struct kernel_text *kernel, const struct kernel_tile *tile, FILE *out)
{
    fprintf(out, "tile %s: %s", tile->name.text, tile->buffer);
    put_dims(kernel, tile->dims, tile->type, out);
    if (tile->copies) {
        fputs(" x ", out);
        put_tight(kernel, tile->copies, out);
    }
    put_after(kernel, "at", tile->life, out);
}

static void put_pick(const struct kernel_text *kernel, const struct kernel_pick *pick, FILE *out)
{
    if (pick->kind == PICK_ALL) {
        fputc(':', out);
        return;
    }
    put(kernel, pick->count, CHOICE, out);
    if (pick->kind != PICK_FROM)
        return;
    fputs(pick->from ? "" : " from ?", out);
    put_after(kernel, "from", pick->from, out);
    put_after(kernel, "by", pick->by, out);
}

static void put_part(const struct kernel_text *kernel, const struct kernel_part *part, FILE *out)
{
    if (part->value) {
        put(kernel, part->value, CHOICE, out);
        return;
    }
    fputs(part->tile >= 0 ? kernel->tiles[part->tile].name.text
                          : kernel->tensors[part->tensor].name.text,
          out);
    for (const struct kernel_pick *p = part->picks; p; p = p->next) {
        fputs(p == part->picks ? "[" : ", ", out);
        put_pick(kernel, p, out);
        fputs(p->next ? "" : "]", out);
    }
}

static void put_step(const struct kernel_text *kernel, const struct kernel_step *step, FILE *out)
{
    bool has_both = step->verb == VERB_SCALAR;
    fprintf(out, "%s%s%s", kernel_verbs[step->verb], has_both ? " " : "", step->operation);
    for (int s = 0; s < step->source_count; s++) {
        if (s == 0) {
            fputc(' ', out);
            put_part(kernel, &step->to, out);
        }
        fputs(s ? ", " : " <- ", out);
        put_part(kernel, &step->from[s], out);
    }
    for (int key = 0; key < STEP_KEYS; key++)
        if (step->keys[key]) {
            fprintf(out, " %s=", kernel_keys[key]);
            put_tight(kernel, step->keys[key], out);
        }
    put_after(kernel, "if", step->condition, out);
}

static void put_line(const struct kernel_text *kernel, const struct kernel_line *line, FILE *out)
{
    for (int loop = line->around; loop >= 0; loop = kernel_loop_around(kernel, loop))
        fputs("  ", out);
    if (line->stage) {
        fputc('@', out);
        put_tight(kernel, line->stage, out);
        fputc(' ', out);
    }
    if (line->kind == LINE_FOR)
        put_for(kernel, &kernel->loops[line->number], out);
    else if (line->kind == LINE_LET)
        put_let(kernel, line->number, out);
    else if (line->kind == LINE_TILE)
        put_tile(kernel, &kernel->tiles[line->number], out);
    else
        put_step(kernel, line->step, out);
    fputc('\n', out);
}

void kernel_text_print(const struct kernel_text *kernel, FILE *out)
{
    fprintf(out, "kernel %s\n", kernel->name.text);
    if (*kernel->title)
        fprintf(out, "title \"%s\"\n", kernel->title);
    put_declarations(kernel, out);
    for (int l = 0; l < kernel->line_count; l++)
        put_line(kernel, &kernel->lines[l], out);
}
