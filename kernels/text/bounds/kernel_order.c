/* Which steps of a round are in order whatever the flags are: those that touch the same bytes. The
 * program is safe, so of two such accesses, one of them a write, the later one in the program waits
 * for the result of the earlier one, and goes on doing so when superfluous flags are taken out. */
#include "kernels/text/bounds/kernel_work_parts.h"

/* ------------------------------------------------------------------ parts */

/* Does it touch only the first elements of its part? */
static bool is_short(const struct kernel_plan *plan, int step, int part)
{
    const struct plan_step *s = &plan->steps[step];
    if (s->kind != INSTRUCTION_VECTOR)
        return false;
    bool folds = plan->hw->operations[s->what].result == RESULT_ONE_PER_REPEAT;
    return s->text->keys[STEP_ELEMENTS] || (folds && part == 0) ||
           (plan_spreads(plan, step) && part > 0);
}

/* In a tile with room for more than it holds, bytes of a part may lie behind those of all. */
static bool has_room(const struct plan_tile *tile)
{
    bool any = false;
    for (int d = 0; d < tile->dim_count; d++)
        any |= tile->dims[d]->op == EXPRESSION_UP;
    return any;
}

static bool is_all_of_it(const struct kernel_plan *plan, int step, int number)
{
    const struct plan_part *part = &plan->steps[step].parts[number];
    return part->is_whole && !is_short(plan, step, number) && !has_room(&plan->tiles[part->tile]);
}

enum meeting { MEET_PERHAPS, MEET_INSIDE, MEET_SAME };

/* A range lies inside the one it is cut from. */
static enum meeting meet_in(const struct plan_dim *a, const struct plan_dim *b)
{
    if (a->reach == REACH_ALL && b->reach == REACH_ALL)
        return MEET_SAME;
    if (a->reach == REACH_ALL || b->reach == REACH_ALL)
        return MEET_INSIDE;
    if (a->reach != REACH_ROUND || b->reach != REACH_ROUND)
        return MEET_PERHAPS;
    if (a->loop == b->loop)
        return MEET_SAME;
    return a->loops >> b->loop & 1 || b->loops >> a->loop & 1 ? MEET_INSIDE : MEET_PERHAPS;
}

static bool meet(const struct kernel_plan *plan, int a, int part_a, int b, int part_b)
{
    const struct plan_part *first = &plan->steps[a].parts[part_a];
    const struct plan_part *second = &plan->steps[b].parts[part_b];
    enum meeting least = MEET_SAME;
    for (int d = 0; d < first->dim_count; d++) {
        enum meeting meeting = meet_in(&first->dims[d], &second->dims[d]);
        least = meeting < least ? meeting : least;
    }
    return least == MEET_SAME ||
           (least == MEET_INSIDE && !is_short(plan, a, part_a) && !is_short(plan, b, part_b) &&
            !has_room(&plan->tiles[first->tile]));
}

/* ------------------------------------------------------------------ pairs */

/* Is the tile on the chip, and do not both interlock in it block by block? Scalars touch something
 * in their part, who knows what. */
static bool orders(const struct kernel_plan *plan, int a, int b, int tile)
{
    const struct buffer *buffer = &plan->hw->buffers[plan->tiles[tile].buffer];
    bool both = plan->steps[a].text->keys[STEP_UNIT] && plan->steps[b].text->keys[STEP_UNIT];
    return buffer->capacity_bytes > 0 && !(both && buffer->unit_flag) &&
           plan->steps[a].kind != INSTRUCTION_SCALAR && plan->steps[b].kind != INSTRUCTION_SCALAR;
}

/* Goes through the parts of two steps that are of one tile, one of which writes. */
static bool any_pair(const struct kernel_plan *plan, int a, int b,
                     bool (*is_so)(const struct kernel_plan *, int, int, int, int))
{
    const struct plan_step *first = &plan->steps[a], *second = &plan->steps[b];
    for (int p = 0; p < first->part_count; p++)
        for (int q = 0; q < second->part_count; q++) {
            int tile = first->parts[p].tile;
            if (tile >= 0 && tile == second->parts[q].tile &&
                (first->parts[p].writes || second->parts[q].writes) && orders(plan, a, b, tile) &&
                is_so(plan, a, p, b, q))
                return true;
        }
    return false;
}

/* Both touch the first byte of the only copy. */
static bool both_begin(const struct kernel_plan *plan, int a, int p, int b, int q)
{
    const struct plan_part *first = &plan->steps[a].parts[p], *second = &plan->steps[b].parts[q];
    return plan->tiles[first->tile].copies == 1 && first->is_whole && second->is_whole;
}

static bool one_is_all(const struct kernel_plan *plan, int a, int p, int b, int q)
{
    int tile = plan->steps[a].parts[p].tile;
    return plan->tiles[tile].copies == 1 && (is_all_of_it(plan, a, p) || is_all_of_it(plan, b, q));
}

bool work_excludes(const struct kernel_plan *plan, int a, int b, enum work_variant variant)
{
    return plan->steps[a].pipe == plan->steps[b].pipe || any_pair(plan, a, b, both_begin) ||
           (variant == WORK_SHAPES_STAY && any_pair(plan, a, b, one_is_all));
}

/* ------------------------------------------------------------------ the order */

static void add_edges(struct kernel_work *work, int second)
{
    const struct kernel_plan *plan = work->plan;
    for (int e = 0; e < work->event_count; e++) {
        int first = work->events[e].number;
        if (work->events[e].kind != WORK_STEP || work->edge_count == WORK_MAX_EDGES ||
            plan->steps[first].pipe == plan->steps[second].pipe ||
            !any_pair(plan, first, second, meet))
            continue;
        work->edges[work->edge_count++] = (struct work_edge){(uint8_t)first, (uint8_t)second};
    }
}

static void add_event(struct kernel_work *work, enum work_event_kind kind, int number)
{
    if (kind == WORK_STEP) {
        work->place[number] = work->event_count;
        work->edges_to[number] = work->edge_count;
        add_edges(work, number);
        work->edges_end[number] = work->edge_count;
    }
    work->events[work->event_count++] = (struct work_event){kind, number};
}

static void add_body(struct kernel_work *work, int loop)
{
    const struct plan_loop *body = &work->plan->loops[loop];
    work->has_stages |= body->last_stage > 0;
    for (int stage = 0; stage <= body->last_stage; stage++)
        for (int i = body->first_item; i < body->first_item + body->item_count; i++) {
            const struct plan_item *item = &work->plan->items[i];
            if (item->stage != stage)
                continue;
            if (!item->is_loop) {
                add_event(work, WORK_STEP, item->number);
                continue;
            }
            add_event(work, WORK_OPEN, item->number);
            add_body(work, item->number);
            add_event(work, WORK_CLOSE, item->number);
        }
}

void work_find_order(struct kernel_work *work)
{
    work->event_count = work->edge_count = 0;
    work->has_stages = false;
    add_body(work, 0);
}
