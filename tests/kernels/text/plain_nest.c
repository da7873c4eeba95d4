/* Which loops, tiles and steps there are once axes have values: orders, conditions, lives, copies,
 * and loads that run in first rounds only. A loop that an order moves runs where another one
 * stands in the text: `at` says which, `place` the other way round. */
#include "tests/kernels/text/plain_kernel.h"

#include <string.h>

int plain_around(const struct plain *plain, int line, int n)
{
    int loop = plain->text->lines[line].around;
    for (; n > 0 && loop >= 0; n--)
        loop = kernel_loop_around(plain->text, loop);
    return loop < 0 ? -1 : plain->at[loop];
}

bool plain_inside(const struct plain *plain, int line, int loop)
{
    return kernel_is_inside(plain->text, line, loop < 0 ? -1 : plain->place[loop]);
}

const struct expression *plain_choose(struct plain *plain, const struct expression *e)
{
    int64_t truth = 0;
    while (e->op == EXPRESSION_IF && e->kind != EXPRESSION_IS_REAL) {
        struct error error;
        if (kernel_number(&plain->values, e->args, &truth, &error) != STATUS_OK)
            return e;
        e = truth ? e->args->next : e->args->next->next;
    }
    return e;
}

static bool is_name(const struct expression *e)
{
    return e->op == EXPRESSION_SIZE || e->op == EXPRESSION_LET || e->op == EXPRESSION_LOOP;
}

bool plain_is_cut_from(struct plain *plain, int loop, const struct expression *name)
{
    if (!is_name(name))
        return false;
    if (name->op == EXPRESSION_LOOP && name->number == loop)
        return true;
    const struct expression *in = plain_choose(plain, plain->text->loops[loop].in);
    if (in->op == name->op && in->number == name->number)
        return true;
    return in->op == EXPRESSION_LOOP && plain_is_cut_from(plain, (int)in->number, name);
}

int plain_innermost(struct plain *plain, int line, const struct expression *name)
{
    for (int n = 0, loop; (loop = plain_around(plain, line, n)) >= 0; n++)
        if (plain_is_cut_from(plain, loop, name))
            return loop;
    return -1;
}

/* ------------------------------------------------------------------ what is there */

static bool find_orders(struct plain *plain)
{
    const struct kernel_text *text = plain->text;
    for (int n = 0; n < text->loop_count; n++)
        plain->at[n] = plain->place[n] = n;
    for (int o = 0; o < text->order_count; o++) {
        const struct kernel_order *order = &text->orders[o];
        int64_t holds = 1;
        if (order->condition && !plain_number(plain, 0, order->condition, &holds))
            return false;
        int places[KERNEL_MAX_DEPTH];
        for (int i = 0; i < order->count; i++) {
            int at = i; /* loops number in the order of the text */
            for (; at > 0 && places[at - 1] > plain->place[order->loops[i]]; at--)
                places[at] = places[at - 1];
            places[at] = plain->place[order->loops[i]];
        }
        for (int i = 0; i < order->count && holds; i++) {
            plain->at[places[i]] = order->loops[i];
            plain->place[order->loops[i]] = places[i];
        }
    }
    return true;
}

static bool find_steps(struct plain *plain)
{
    const struct kernel_text *text = plain->text;
    for (int line = 0; line < text->line_count; line++) {
        const struct kernel_line *l = &text->lines[line];
        int64_t holds = l->kind == LINE_STEP;
        if (holds && l->step->condition && !l->step->condition->asks &&
            !plain_number(plain, line, l->step->condition, &holds))
            return false;
        plain->is_there[line] = holds;
        for (int loop = l->around; holds && loop >= 0; loop = kernel_loop_around(text, loop))
            plain->is_there[text->loops[loop].line] = true;
    }
    return true;
}

static bool is_used(const struct plain *plain, int tile)
{
    for (int line = 0; line < plain->text->line_count; line++) {
        const struct kernel_step *step = plain->text->lines[line].step;
        if (plain->text->lines[line].kind != LINE_STEP || !plain->is_there[line] ||
            !step->source_count)
            continue;
        if (step->to.tile == tile)
            return true;
        for (int s = 0; s < step->source_count; s++)
            if (step->from[s].tile == tile)
                return true;
    }
    return false;
}

/* A loop inside the life becomes what it is cut from, as far as that has a name. */
static const struct expression *climb(struct plain *plain, const struct expression *e, int life)
{
    while (e->op == EXPRESSION_LOOP && e->number != life &&
           plain_inside(plain, plain->text->loops[plain->place[e->number]].line, life)) {
        const struct expression *in = plain_choose(plain, plain->text->loops[e->number].in);
        if (!is_name(in))
            break;
        e = in;
    }
    return e;
}

static bool find_tile(struct plain *plain, int number)
{
    const struct kernel_tile *from = &plain->text->tiles[number];
    struct plain_tile *tile = &plain->tiles[number];
    int own = plain_around(plain, from->line, 0);
    tile->loop = own;
    if (from->life) {
        const struct expression *life = plain_choose(plain, from->life);
        tile->loop = life->op == EXPRESSION_TOP ? -1 : (int)life->number;
    }
    tile->copies = 1;
    if (from->copies && tile->loop == own && own >= 0 && /* the kernel lives once */
        !plain_number(plain, from->line, from->copies, &tile->copies))
        return false;
    tile->type = kernel_type(&plain->values, from->type);
    tile->buffer = hardware_buffer(plain->hw, from->buffer, (int)strlen(from->buffer));
    if (tile->buffer < 0)
        return plain_fail(plain, PLAIN_REFUSED, from->line, "no buffer %s", from->buffer);
    if (tile->loop >= 0 && !plain_inside(plain, from->line, tile->loop))
        return plain_fail(plain, PLAIN_REFUSED, from->line, "at: a loop that is not around");
    const struct expression *dim = from->dims;
    for (int d = 0; d < from->dim_count; d++, dim = dim->next) {
        const struct expression *e = plain_choose(plain, dim);
        tile->rooms[d] = e;
        tile->dims[d] = climb(plain, e, tile->loop); /* up(e, n) is no name: parts are all of it */
    }
    return true;
}

/* ------------------------------------------------------------------ cores */

/* Does an expression ask where a range begins that is cut from `share`? */
static bool begins_with(struct plain *plain, const struct expression *e,
                        const struct expression *share)
{
    bool any = e->op == EXPRESSION_BEGIN && plain_is_cut_from(plain, (int)e->number, share);
    if (e->op == EXPRESSION_LET)
        any = begins_with(plain, plain->text->lets[e->number].value, share);
    for (const struct expression *arg = e->args; arg && !any; arg = arg->next)
        any = begins_with(plain, arg, share);
    return any;
}

static bool is_apart(struct plain *plain, int line, const struct kernel_part *part,
                     const struct expression *share)
{
    const struct kernel_pick *pick = part->picks;
    const struct expression *dim = plain->text->tensors[part->tensor].dims;
    bool apart = false;
    for (; dim && !apart; dim = dim->next, pick = pick ? pick->next : NULL) {
        const struct expression *name = plain_choose(plain, dim);
        int loop = pick ? -1 : plain_innermost(plain, line, name);
        if (pick && pick->kind == PICK_RANGE)
            loop = (int)plain_choose(plain, pick->count)->number;
        if (loop >= 0)
            apart = plain_is_cut_from(plain, loop, share);
        else if (!pick)
            apart = name->op == share->op && name->number == share->number;
        else if (pick->kind == PICK_INDEX)
            apart = begins_with(plain, pick->count, share);
        else if (pick->kind == PICK_FROM)
            apart = !pick->from || begins_with(plain, pick->from, share);
    }
    return apart;
}

static bool check_apart(struct plain *plain, int line)
{
    const struct kernel_step *step = plain->text->lines[line].step;
    const struct expression *add = step->keys[STEP_ADD];
    if (!step->source_count || step->to.tensor < 0 ||
        (add && !(add->op == EXPRESSION_NUMBER && add->number == 0)))
        return true;
    for (int c = 0; c < plain->text->cores_count; c++)
        if (!is_apart(plain, line, &step->to, plain_choose(plain, plain->text->cores[c].what)))
            return plain_fail(plain, PLAIN_REFUSED, line, "all cores store the same");
    return true;
}

/* ------------------------------------------------------------------ all of it */

bool plain_nest(struct plain *plain)
{
    if (!find_orders(plain) || !find_steps(plain))
        return false;
    for (int tile = 0; tile < plain->text->tile_count; tile++) {
        plain->tiles[tile].is_there = is_used(plain, tile);
        if (plain->tiles[tile].is_there && !find_tile(plain, tile))
            return false;
    }
    for (int line = 0; line < plain->text->line_count; line++)
        if (plain->text->lines[line].kind == LINE_STEP && plain->is_there[line] &&
            !check_apart(plain, line))
            return false;
    return plain_once(plain);
}
