/* Tiles of a plan: where they live, what their dimensions are in their life, how many copies they
 * have, and which stages may use them. */
#include "kernels/text/plan/kernel_structure.h"

#include <string.h>

/* ------------------------------------------------------------------ tiles */

static enum status find_life(struct plan_maker *maker, int number, int *life)
{
    const struct kernel_text *kernel = maker->kernel;
    const struct kernel_tile *tile = &kernel->tiles[number];
    int seat = kernel->lines[tile->line].around;
    while (seat >= 0 && maker->seat_loop[seat] < 0) /* its loop has no steps: the next around */
        seat = kernel_loop_around(kernel, seat);
    int home = seat < 0 ? 0 : maker->seat_loop[seat];
    const struct expression *e;
    *life = home;
    if (!tile->life)
        return STATUS_OK;
    TRY(plan_chosen(maker->values, tile->life, &e, maker->error));
    *life = e->op == EXPRESSION_TOP ? 0 : maker->plan->plan_loop_of[e->number];
    if (*life < 0 || !plan_is_within(maker->plan, home, *life))
        return plan_fail(maker->error, e->at,
                         "tile '%s' lives in '%s', which is not around it in this order of loops",
                         tile->name.text, kernel->loops[e->number].name.text);
    return STATUS_OK;
}

/* A range of a loop inside its life becomes what that is cut from, as far as that has a name. */
static enum status climb(struct plan_maker *maker, int life, const struct expression *dim,
                         const struct expression **climbed)
{
    TRY(plan_chosen(maker->values, dim, climbed, maker->error));
    while ((*climbed)->op == EXPRESSION_LOOP) {
        const struct expression *in;
        int loop = maker->plan->plan_loop_of[(*climbed)->number];
        if (loop >= 0 && plan_is_within(maker->plan, life, loop))
            return STATUS_OK;
        TRY(plan_chosen(maker->values, maker->kernel->loops[(*climbed)->number].in, &in,
                        maker->error));
        if (!kernel_is_range(in))
            return STATUS_OK;
        *climbed = in;
    }
    return STATUS_OK;
}

static enum status find_copies(struct plan_maker *maker, int number, struct plan_tile *made)
{
    const struct kernel_tile *tile = &maker->kernel->tiles[number];
    int seat = maker->kernel->lines[tile->line].around;
    if (!tile->copies || made->life == 0 || seat < 0 || maker->seat_loop[seat] != made->life)
        return STATUS_OK;
    made->turns = tile->copies;
    TRY(kernel_number(maker->values, tile->copies, &made->copies, maker->error));
    if (made->copies < 1 || made->copies > KERNEL_MAX_COPIES)
        return plan_fail(maker->error, tile->copies->at,
                         "tile '%s' has %lld copies, expected 1 to %d", tile->name.text,
                         (long long)made->copies, KERNEL_MAX_COPIES);
    return STATUS_OK;
}

static bool uses(const struct kernel_step *step, int tile)
{
    bool any = step->source_count && step->to.tile == tile;
    for (int s = 0; s < step->source_count; s++)
        any |= step->from[s].tile == tile;
    return any;
}

enum status plan_make_tile(struct plan_maker *maker, int number)
{
    const struct kernel_tile *text = &maker->kernel->tiles[number];
    const struct hardware *hw = maker->values->hw;
    struct plan_tile *tile = &maker->plan->tiles[number];
    *tile = (struct plan_tile){.copies = 1, .dim_count = text->dim_count};
    for (int s = 0; s < maker->plan->step_count; s++)
        tile->is_there |= uses(maker->plan->steps[s].text, number);
    if (!tile->is_there)
        return STATUS_OK;
    tile->buffer = hardware_buffer(hw, text->buffer, (int)strlen(text->buffer));
    if (tile->buffer < 0)
        return plan_fail(maker->error, text->name.at, "tile '%s': %s has no buffer '%s'",
                         text->name.text, hw->name, text->buffer);
    tile->type = kernel_type(maker->values, text->type);
    TRY(find_life(maker, number, &tile->life));
    TRY(find_copies(maker, number, tile));
    int d = 0;
    for (const struct expression *dim = text->dims; dim; dim = dim->next)
        TRY(climb(maker, tile->life, dim, &tile->dims[d++]));
    return STATUS_OK;
}

enum status plan_check_life(struct plan_maker *maker, int number)
{
    const struct kernel_plan *plan = maker->plan;
    for (int s = 0; s < plan->step_count; s++)
        if (uses(plan->steps[s].text, number) &&
            !plan_is_within(plan, plan->steps[s].around, plan->tiles[number].life))
            return plan_fail(maker->error, plan->steps[s].text->to.at,
                             "tile '%s' is used outside its life in this order of loops",
                             maker->kernel->tiles[number].name.text);
    return STATUS_OK;
}

/* The stage of a loop's body in which a step runs. */
static int stage_within(const struct kernel_plan *plan, const struct plan_step *step, int loop)
{
    int stage = step->stage;
    for (int inner = step->around; inner != loop; inner = plan->loops[inner].around)
        stage = plan->loops[inner].stage;
    return stage;
}

/* What uses a tile in a loop. */
struct stages {
    int first, last;
    bool writes;
};

static struct stages find_stages(const struct kernel_plan *plan, int tile, int loop)
{
    struct stages stages = {KERNEL_MAX_STAGE, 0, false};
    for (int s = plan->loops[loop].first_step; s < plan->loops[loop].end_step; s++) {
        if (!uses(plan->steps[s].text, tile))
            continue;
        int stage = stage_within(plan, &plan->steps[s], loop);
        stages.first = stage < stages.first ? stage : stages.first;
        stages.last = stage > stages.last ? stage : stages.last;
        stages.writes |= plan->steps[s].text->to.tile == tile;
    }
    return stages;
}

/* In the loop of its life a tile is of a stage's round: those that use it later need a copy for
 * each round between. In one inside its life the rounds of several stages would meet in it. */
enum status plan_check_stages(struct plan_maker *maker, int number)
{
    const struct kernel_plan *plan = maker->plan;
    const struct plan_tile *tile = &plan->tiles[number];
    const struct kernel_name *name = &maker->kernel->tiles[number].name;
    struct stages own = find_stages(plan, number, tile->life);
    if (own.last - own.first >= tile->copies)
        return plan_fail(
            maker->error, name->at,
            "tile '%s' lives over %d rounds of its loop, expected as many copies, has %lld",
            name->text, own.last - own.first + 1, (long long)tile->copies);
    for (int loop = 1; loop < plan->loop_count; loop++) {
        struct stages inner = find_stages(plan, number, loop);
        if (loop != tile->life && plan_is_within(plan, loop, tile->life) && inner.writes &&
            inner.first < inner.last)
            return plan_fail(maker->error, name->at,
                             "stages %d and %d of loop '%s' use tile '%s', which outlives a round "
                             "of that, expected one",
                             inner.first, inner.last,
                             maker->kernel->loops[plan->loops[loop].text_loop].name.text,
                             name->text);
    }
    return STATUS_OK;
}
