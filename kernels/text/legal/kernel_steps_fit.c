/* Do the steps of a tiling that are not certain to fit (kernel_certain.c) do so? Each is asked in
 * the rounds that can differ for it: of loops on which it hangs the first two, the last two and,
 * where what is picked does not move evenly with rounds, all others; of other loops in the first.
 * Between evenly spaced rounds nothing is larger, smaller or less aligned than at both ends and a
 * step after the first. */
#include "core/stop.h"
#include "kernels/text/plan/kernel_structure.h"
#include "kernels/text/program/kernel_program_internal.h"
#include "kernels/text/space/kernel_space_internal.h"

enum {
    FIT_MAX_ROUNDS = 1 << 16, /* of all loops together */
    LOOK_EVERY = 256,         /* of them, between two looks at the time */
};

struct fitting {
    const struct space_plan *plan;
    struct program_writer writer; /* for operands; nothing is written */
    struct kernel_env *env;
    const struct stop *stop;
    struct error *error;
    int rounds;
    uint64_t turned; /* text loops that are beyond their first round */
};

/* ------------------------------------------------------------------ which rounds */

static uint64_t named(const struct expression *e)
{
    return e ? e->loops : 0;
}

/* Text loops on which a step hangs, but for how often it runs. */
static uint64_t asked_by(const struct kernel_plan *plan, int number)
{
    const struct plan_step *step = &plan->steps[number];
    uint64_t loops = step->once | named(step->condition) | plan->matters[number];
    for (int k = 0; k < STEP_KEYS; k++)
        loops |= named(step->text->keys[k]);
    for (int p = 0; p < step->part_count; p++) {
        int tile = step->parts[p].tile;
        loops |= step->parts[p].loops;
        for (int d = 0; d < step->parts[p].dim_count && tile >= 0; d++)
            loops |= plan->tiles[tile].dims[d]->loops;
    }
    return kernel_asked(plan->kernel, loops);
}

void kernel_find_asked(struct space_plan *plan)
{
    for (int s = 0; s < plan->plan.step_count; s++)
        plan->plan.steps[s].asked = asked_by(&plan->plan, s);
}

/* ------------------------------------------------------------------ steps */

/* Where does a part lie? Its tile's copies begin where they may; a product touches whole blocks of
 * the matrix unit, for which it has room. */
static enum status check_place(struct fitting *f, int step, int part, const struct instruction *in)
{
    const struct kernel_plan *plan = &f->plan->plan;
    const struct plan_part *p = &plan->steps[step].parts[part];
    struct kernel_place at = plan->kernel->lines[plan->steps[step].line].at;
    struct region region;
    if (p->tile < 0)
        return STATUS_OK;
    const char *tile = plan->kernel->tiles[p->tile].name.text;
    const struct buffer *buffer = &plan->hw->buffers[plan->tiles[p->tile].buffer];
    TRY(writer_region(&f->writer, step, part, in, &region));
    int64_t begin = region.offset_bytes - f->writer.room->offset[p->tile];
    if (plan_must_align(plan, step, part) && begin % buffer->alignment_bytes)
        return plan_fail(f->error, at,
                         "a part begins in tile '%s' at byte %lld, expected a multiple of %lld",
                         tile, (long long)begin, (long long)buffer->alignment_bytes);
    int64_t bytes = instruction_extent_bytes(plan->hw, in, p->role);
    if (in->kind != INSTRUCTION_MATRIX || bytes <= f->writer.room->slot_bytes[p->tile] - begin)
        return STATUS_OK;
    return plan_fail(f->error, at,
                     "a product takes %lld bytes in whole blocks from byte %lld of tile '%s' on, "
                     "which has %lld, expected room for them (up)",
                     (long long)bytes, (long long)begin, tile,
                     (long long)f->writer.room->slot_bytes[p->tile]);
}

static enum status check_repeats(const struct fitting *f, int step)
{
    const struct kernel_plan *plan = &f->plan->plan;
    for (uint64_t rest = plan_repeats(plan, step); rest; rest &= rest - 1) {
        int loop = __builtin_ctzll(rest);
        const struct kernel_range *range = &f->env->values.loops[loop];
        if (!range->is_first || !range->is_last)
            return plan_fail(f->error, plan->kernel->lines[plan->steps[step].line].at,
                             "stores the same elements in each round of loop '%s', expected once "
                             "or add=1",
                             plan->kernel->loops[loop].name.text);
    }
    return STATUS_OK;
}

static enum status check_step(struct fitting *f, int step)
{
    const struct kernel_plan *plan = &f->plan->plan;
    struct instruction in;
    bool runs;
    TRY(plan_runs(plan, f->env, step, &runs, f->error));
    if (!runs)
        return STATUS_OK;
    TRY(plan_instruction(plan, f->env, step, &in, f->error));
    if (plan->steps[step].share && in.bytes == 0)
        return STATUS_OK;
    TRY(check_repeats(f, step));
    for (int p = 0; p < plan->steps[step].part_count; p++)
        TRY(check_place(f, step, p, &in));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ rounds */

static enum status check_body(struct fitting *f, int loop);

static enum status check_round(struct fitting *f, int loop, int64_t round)
{
    if (++f->rounds > FIT_MAX_ROUNDS)
        return error_set(f->error, STATUS_TOO_LARGE, "more than %d rounds pick differently",
                         FIT_MAX_ROUNDS);
    if (f->rounds % LOOK_EVERY == 0 && stop_due(f->stop))
        return error_set(f->error, STATUS_STOPPED, "stopped");
    TRY(plan_enter(&f->plan->plan, f->env, loop, round, f->error));
    return check_body(f, loop);
}

/* Can it fail now, where it did not in rounds before? */
static bool may_differ(const struct fitting *f, const struct plan_step *step)
{
    return !step->is_certain && !(f->turned & ~step->asked);
}

static bool has_such(const struct fitting *f, int loop)
{
    const struct kernel_plan *plan = &f->plan->plan;
    for (int s = plan->loops[loop].first_step; s < plan->loops[loop].end_step; s++)
        if (may_differ(f, &plan->steps[s]))
            return true;
    return false;
}

static enum status check_loop(struct fitting *f, int loop)
{
    const struct kernel_plan *plan = &f->plan->plan;
    uint64_t bit = (uint64_t)1 << plan->loops[loop].text_loop;
    uint64_t turned = f->turned;
    bool all = f->plan->flags->written_out & bit, differs;
    int64_t rounds;
    if (!has_such(f, loop))
        return STATUS_OK;
    TRY(plan_rounds(plan, f->env, loop, &rounds, &differs, f->error));
    for (int64_t round = 0; round < rounds && has_such(f, loop); round++) {
        if (round == 2 && !all && rounds > 4)
            round = rounds - 2;
        TRY(check_round(f, loop, round));
        f->turned |= bit;
    }
    f->turned = turned;
    return STATUS_OK;
}

static enum status check_body(struct fitting *f, int loop)
{
    const struct kernel_plan *plan = &f->plan->plan;
    const struct plan_loop *body = &plan->loops[loop];
    for (int i = body->first_item; i < body->first_item + body->item_count; i++) {
        int number = plan->items[i].number;
        if (plan->items[i].is_loop)
            TRY(check_loop(f, number));
        else if (may_differ(f, &plan->steps[number]))
            TRY(check_step(f, number));
    }
    return STATUS_OK;
}

enum status kernel_steps_fit(const struct space_plan *plan, struct kernel_env *env,
                             const struct kernel_room *room, const struct stop *stop,
                             struct error *error)
{
    struct fitting fitting = {.plan = plan,
                              .writer = {.emit = {.error = error},
                                         .plan = &plan->plan,
                                         .flags = plan->flags,
                                         .room = room,
                                         .env = env},
                              .env = env,
                              .stop = stop,
                              .error = error};
    return check_round(&fitting, 0, 0);
}
