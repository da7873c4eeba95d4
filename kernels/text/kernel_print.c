/* Writes a kernel as its text: declarations in the order of their lines, then the lines, indented
 * as deep as their loops. Parentheses stand where the strength of signs asks for them, and around
 * values that blanks would end. */
#include "kernels/text/kernel_parser.h"

#include <string.h>

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

/* What is called by a name, alone or behind a function. */
static const struct {
    const char *function;
    enum name_kind kind;
    bool is_named;
} names[EXPRESSION_OPS] = {
    [EXPRESSION_SIZE] = {NULL, NAME_SIZE, true},
    [EXPRESSION_LET] = {NULL, NAME_LET, true},
    [EXPRESSION_AXIS] = {NULL, NAME_AXIS, true},
    [EXPRESSION_LOOP] = {NULL, NAME_LOOP, true},
    [EXPRESSION_BEGIN] = {"begin", NAME_LOOP, true},
    [EXPRESSION_FIRST] = {"first", NAME_LOOP, true},
    [EXPRESSION_LAST] = {"last", NAME_LOOP, true},
    [EXPRESSION_WHOLE] = {"whole", NAME_SIZE, true},
};

static void put_atom(const struct kernel_text *kernel, const struct expression *e, FILE *out)
{
    const char *function = names[e->op].function;
    if (names[e->op].is_named)
        fprintf(out, "%s%s%s%s", function ? function : "", function ? "(" : "",
                kernel_named(kernel, names[e->op].kind, (int)e->number)->text, function ? ")" : "");
    else if (e->op == EXPRESSION_NUMBER)
        fprintf(out, "%lld", (long long)e->number);
    else if (e->op == EXPRESSION_CORES)
        fputs("cores", out);
    else if (e->op == EXPRESSION_LANES)
        fprintf(out, "lanes(%s)", kernel_type_name((int)e->number));
    else if (e->op == EXPRESSION_IS_TYPE)
        fprintf(out, "is(%s, %s)", kernel_type_name((int)(e->number / KERNEL_TYPES)),
                kernel_type_name((int)(e->number % KERNEL_TYPES)));
    else if (e->op == EXPRESSION_HAS_OPERATION || e->op == EXPRESSION_HAS_PATH)
        fprintf(out, "has(%s%s%s)", e->text, e->number ? ", " : "",
                e->number ? kernel_type_name((int)e->number - 1) : "");
    else /* a real, a word or the top */
        fputs(e->text ? e->text : "top", out);
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
    const char *blank = form->level < SUM ? " " : "";
    fprintf(out, "%s%s%s", blank, form->sign, blank);
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

void kernel_expression_print(const struct kernel_text *kernel, const struct expression *e,
                             FILE *out)
{
    put(kernel, e, CHOICE, out);
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
    else if (size->pad) {
        fputs(" pad ", out);
        put_tight(kernel, size->pad, out);
    }
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

/* Names alone would be words: the first of a list stands in parentheses unless it shows that it is
 * a number. */
static void put_values(const struct kernel_text *kernel, const struct expression *values, FILE *out)
{
    bool has_a_name = level_of(values) == ATOM && values->op != EXPRESSION_NUMBER && !values->args;
    fputs(has_a_name ? "(" : "", out);
    put(kernel, values, CHOICE, out);
    fputs(has_a_name ? ")" : "", out);
    fputs(values->next ? ", " : "", out);
    put_list(kernel, values->next, out);
}

static int put_axis(const struct kernel_text *kernel, int n, FILE *out)
{
    const struct kernel_axis *axis = &kernel->axes[n];
    fprintf(out, "axis %s = ", axis->name.text);
    for (int w = 0; w < axis->word_count; w++)
        fprintf(out, "%s%s", w ? ", " : "", axis->words[w]);
    if (kernel_cuts[axis->cut].name)
        put_call(kernel, kernel_cuts[axis->cut].name, axis->values, out);
    else if (axis->values)
        put_values(kernel, axis->values, out);
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

#define THINGS(member, things, place)                                                              \
    offsetof(struct kernel_text, member), sizeof(((struct kernel_text *)0)->member[0]),            \
        offsetof(struct kernel_text, things), offsetof(place, at)

/* Where things of each kind are, how many, and where in one its place is. */
static const struct {
    size_t first, size, count, place;
    int (*put)(const struct kernel_text *kernel, int n, FILE *out);
} things[] = {
    {THINGS(sizes, size_count, struct kernel_name), put_size},
    {THINGS(lets, let_count, struct kernel_name), put_let},
    {THINGS(tensors, tensor_count, struct kernel_name), put_tensor},
    {THINGS(axes, axis_count, struct kernel_name), put_axis},
    {THINGS(requires, require_count, struct kernel_require), put_require},
    {THINGS(cores, cores_count, struct kernel_cores), put_cores},
    {THINGS(orders, order_count, struct kernel_order), put_order},
};
enum { THING_KINDS = sizeof things / sizeof *things };

/* The line of thing n of a kind, that of the body's first where it is no declaration. */
static int line_of(const struct kernel_text *kernel, int kind, int n)
{
    const char *bytes = (const char *)kernel;
    struct kernel_place at;
    int count, body = kernel->lines[0].at.line;
    memcpy(&count, bytes + things[kind].count, sizeof count);
    if (n >= count)
        return body;
    memcpy(&at, bytes + things[kind].first + (size_t)n * things[kind].size + things[kind].place,
           sizeof at);
    return at.line < body ? at.line : body;
}

static void put_declarations(const struct kernel_text *kernel, FILE *out)
{
    int next[THING_KINDS] = {0};
    for (;;) {
        int first = 0;
        for (int kind = 1; kind < THING_KINDS; kind++)
            if (line_of(kernel, kind, next[kind]) < line_of(kernel, first, next[first]))
                first = kind;
        if (line_of(kernel, first, next[first]) == kernel->lines[0].at.line)
            return;
        next[first] += things[first].put(kernel, next[first], out);
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
