/* What can be said of a whole kernel without a chip and without sizes: that it stores something,
 * that all in it is used, and that its orders can be had. Rules are looked at one after another,
 * each in the order of the text; the first that is broken is told. What becomes of tiles is
 * kernel_life.c's. */
#include "kernels/text/kernel_parser.h"

#include <string.h>

static enum status check_stores(struct kernel_parser *parser)
{
    const struct kernel_text *kernel = parser->kernel;
    for (int l = 0; l < kernel->line_count; l++)
        if (kernel->lines[l].kind == LINE_STEP && kernel->lines[l].step->verb == VERB_STORE &&
            kernel->lines[l].step->to.tensor >= 0)
            return STATUS_OK;
    return FAIL_AT(parser, kernel->name.at,
                   "kernel '%s' stores nothing, expected a step 'store TENSOR <- TILE'",
                   kernel->name.text);
}

static enum status check_loops(struct kernel_parser *parser)
{
    const struct kernel_text *kernel = parser->kernel;
    for (int n = 0; n < kernel->loop_count; n++) {
        const struct kernel_loop *loop = &kernel->loops[n];
        int line = loop->line;
        while (line < loop->end && kernel->lines[line].kind != LINE_STEP)
            line++;
        if (line == loop->end)
            return FAIL_AT(parser, kernel->lines[loop->line].at,
                           "loop '%s' has no steps, expected one or more in its body",
                           loop->name.text);
    }
    return STATUS_OK;
}

static enum status check_use(struct kernel_parser *parser)
{
    static const struct {
        enum name_kind kind;
        const char *what, *text;
    } uses[] = {
        {NAME_TILE, "tile", "is used by no step, expected one that writes or reads it"},
        {NAME_TENSOR, "tensor", "is used by no step, expected one that loads or stores it"},
        {NAME_LET, "let", "changes nothing, expected a use of it"},
        {NAME_AXIS, "axis", "changes nothing, expected a use of it"},
        {NAME_SIZE, "size", "changes nothing, expected a use of it"},
    };
    for (size_t u = 0; u < sizeof uses / sizeof *uses; u++)
        for (int n = 0; n < kernel_count(parser->kernel, uses[u].kind); n++) {
            const struct kernel_name *name = kernel_named(parser->kernel, uses[u].kind, n);
            if (!name->is_used)
                return FAIL_AT(parser, name->at, "%s '%s' %s", uses[u].what, name->text,
                               uses[u].text);
        }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ sizes that may be 0 */

static enum status check_not_0(struct kernel_parser *parser, const struct expression *e)
{
    const struct kernel_text *kernel = parser->kernel;
    if (e->op == EXPRESSION_LET)
        return check_not_0(parser, kernel->lets[e->number].value);
    if (e->op == EXPRESSION_IF) {
        TRY(check_not_0(parser, e->args->next));
        return check_not_0(parser, e->args->next->next);
    }
    if (e->op != EXPRESSION_SIZE || !kernel_may_be_0(&kernel->sizes[e->number]))
        return STATUS_OK;
    return FAIL_AT(parser, e->at, "size '%s' may be 0, expected it as a part of a number only",
                   kernel->sizes[e->number].name.text);
}

static enum status check_list(struct kernel_parser *parser, const struct expression *list)
{
    for (; list; list = list->next)
        TRY(check_not_0(parser, list));
    return STATUS_OK;
}

/* Ranges, extents, what an axis or the cores cut: of none of them there is nothing. */
static enum status check_ranges(struct kernel_parser *parser)
{
    const struct kernel_text *kernel = parser->kernel;
    for (int n = 0; n < kernel->tensor_count; n++)
        TRY(check_list(parser, kernel->tensors[n].dims));
    for (int n = 0; n < kernel->axis_count; n++)
        TRY(check_list(parser, kernel->axes[n].values));
    for (int n = 0; n < kernel->cores_count; n++)
        TRY(check_not_0(parser, kernel->cores[n].what));
    for (int n = 0; n < kernel->loop_count; n++) {
        TRY(check_not_0(parser, kernel->loops[n].in));
        TRY(check_not_0(parser, kernel->loops[n].by));
    }
    for (int n = 0; n < kernel->tile_count; n++)
        TRY(check_list(parser, kernel->tiles[n].dims));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ orders */

static enum status find_loops(struct kernel_parser *parser, struct kernel_order *order)
{
    const struct kernel_text *kernel = parser->kernel;
    uint64_t seen = 0;
    for (int i = 0; i < order->count; i++) {
        const struct kernel_name *name = &order->names[i];
        struct suggestion like = suggest_for(name->text, -1);
        int loop = 0;
        for (; loop < kernel->loop_count && strcmp(kernel->loops[loop].name.text, name->text) != 0;
             loop++)
            suggest_try(&like, kernel->loops[loop].name.text);
        if (loop == kernel->loop_count)
            return FAIL_AT(parser, name->at, "unknown loop '%s', expected one of the body%s",
                           name->text, like.text);
        if (seen >> loop & 1)
            return FAIL_AT(parser, name->at, "'%s' stands twice in an order, expected once",
                           name->text);
        seen |= (uint64_t)1 << loop;
        order->loops[i] = loop;
    }
    return STATUS_OK;
}

/* The loops of an order, which number in the order of the text, stand one directly in another, and
 * none needs to know the range of another. */
static enum status check_order(struct kernel_parser *parser, const struct kernel_order *order)
{
    const struct kernel_loop *loops = parser->kernel->loops;
    uint64_t all = 0;
    for (int i = 0; i < order->count; i++)
        all |= (uint64_t)1 << order->loops[i];
    for (int n = 0, before = -1; n < parser->kernel->loop_count; n++) {
        if (!(all >> n & 1))
            continue;
        if (before >= 0 &&
            (loops[n].line != loops[before].line + 1 || loops[n].end != loops[before].end))
            return FAIL_AT(parser, order->at,
                           "an order of '%s' and '%s', expected loops of which "
                           "one is all that the other's body holds",
                           loops[before].name.text, loops[n].name.text);
        if ((loops[n].in->loops | loops[n].by->loops) & all)
            return FAIL_AT(parser, order->at,
                           "'%s' runs in the rounds of a loop that the order names with it, "
                           "expected loops that do not",
                           loops[n].name.text);
        before = n;
    }
    return STATUS_OK;
}

static enum status check_orders(struct kernel_parser *parser)
{
    for (int o = 0; o < parser->kernel->order_count; o++) {
        TRY(find_loops(parser, &parser->kernel->orders[o]));
        TRY(check_order(parser, &parser->kernel->orders[o]));
    }
    return STATUS_OK;
}

enum status kernel_check(struct kernel_parser *parser)
{
    TRY(check_loops(parser));
    TRY(check_ranges(parser));
    TRY(check_orders(parser));
    TRY(kernel_check_lives(parser));
    TRY(check_stores(parser));
    return check_use(parser);
}
