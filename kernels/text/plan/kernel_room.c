/* Where tiles lie. A tile lies behind those of the loops around its life; loops side by side begin
 * at the same place, because their tiles never live at once, but for loops of different stages,
 * which run side by side: each stage lies behind the one before. What a tile takes is the most of
 * all rounds: of each loop the first one and a shorter last one, and every one where the text asks
 * where a round begins. */
#include "kernels/limits.h"
#include "kernels/slices.h"
#include "kernels/text/plan/kernel_structure.h"

#include <string.h>

enum { ROOM_MAX_ROUNDS = 4096 };

struct rooms {
    const struct kernel_plan *plan;
    struct kernel_env *env;
    struct kernel_room *room;
    struct error *error;
};

static void measure(const struct rooms *rooms, int loop)
{
    const struct kernel_plan *plan = rooms->plan;
    for (int t = 0; t < plan->kernel->tile_count; t++) {
        const struct plan_tile *tile = &plan->tiles[t];
        if (!tile->is_there || tile->life != loop)
            continue;
        int64_t bytes = dtype_bytes(tile->type);
        for (int d = 0; d < tile->dim_count; d++)
            bytes = product_of(bytes, rooms->env->tiles[t].room[d]);
        if (bytes > rooms->room->slot_bytes[t])
            rooms->room->slot_bytes[t] = bytes;
    }
}

bool plan_asks_begin(const struct kernel_plan *plan, int loop)
{
    for (int t = 0; t < plan->kernel->tile_count; t++)
        for (int d = 0; plan->tiles[t].is_there && d < plan->tiles[t].dim_count; d++)
            if (plan->tiles[t].dims[d]->asks & ASKS_BEGIN &&
                plan->tiles[t].dims[d]->loops >> plan->loops[loop].text_loop & 1)
                return true;
    return false;
}

static enum status walk(const struct rooms *rooms, int loop);

static enum status walk_round(const struct rooms *rooms, int loop, int64_t round)
{
    TRY(plan_enter(rooms->plan, rooms->env, loop, round, rooms->error));
    measure(rooms, loop);
    return walk(rooms, loop);
}

static enum status walk_loop(const struct rooms *rooms, int loop)
{
    int64_t rounds;
    bool last_differs;
    TRY(plan_rounds(rooms->plan, rooms->env, loop, &rounds, &last_differs, rooms->error));
    if (!plan_asks_begin(rooms->plan, loop)) {
        if (rounds > 0)
            TRY(walk_round(rooms, loop, 0));
        return last_differs ? walk_round(rooms, loop, rounds - 1) : STATUS_OK;
    }
    if (rounds > ROOM_MAX_ROUNDS)
        return error_set(rooms->error, STATUS_TOO_LARGE,
                         "%lld rounds whose tiles differ, at most %d", (long long)rounds,
                         ROOM_MAX_ROUNDS);
    for (int64_t round = 0; round < rounds; round++)
        TRY(walk_round(rooms, loop, round));
    return STATUS_OK;
}

static enum status walk(const struct rooms *rooms, int loop)
{
    const struct plan_loop *body = &rooms->plan->loops[loop];
    for (int i = body->first_item; i < body->first_item + body->item_count; i++)
        if (rooms->plan->items[i].is_loop)
            TRY(walk_loop(rooms, rooms->plan->items[i].number));
    return STATUS_OK;
}

/* ------------------------------------------------------------------ places */

static void place(const struct rooms *rooms, int loop, const int64_t used[HARDWARE_MAX_BUFFERS],
                  int64_t end[HARDWARE_MAX_BUFFERS]);

/* The loops of one stage of a body; *end: behind all that lies there. */
static void place_stage(const struct rooms *rooms, int loop, int stage,
                        const int64_t used[HARDWARE_MAX_BUFFERS], int64_t end[HARDWARE_MAX_BUFFERS])
{
    const struct plan_loop *body = &rooms->plan->loops[loop];
    memcpy(end, used, HARDWARE_MAX_BUFFERS * sizeof *end);
    for (int i = body->first_item; i < body->first_item + body->item_count; i++) {
        const struct plan_item *item = &rooms->plan->items[i];
        int64_t behind[HARDWARE_MAX_BUFFERS];
        if (!item->is_loop || item->stage != stage)
            continue;
        place(rooms, item->number, used, behind);
        for (int b = 0; b < HARDWARE_MAX_BUFFERS; b++)
            end[b] = behind[b] > end[b] ? behind[b] : end[b];
    }
}

static void place(const struct rooms *rooms, int loop, const int64_t used[HARDWARE_MAX_BUFFERS],
                  int64_t end[HARDWARE_MAX_BUFFERS])
{
    const struct kernel_plan *plan = rooms->plan;
    int64_t here[HARDWARE_MAX_BUFFERS];
    memcpy(here, used, sizeof here);
    for (int t = 0; t < plan->kernel->tile_count; t++) {
        const struct plan_tile *tile = &plan->tiles[t];
        if (!tile->is_there || tile->life != loop)
            continue;
        int64_t unit = plan->hw->buffers[tile->buffer].alignment_bytes;
        int64_t bytes = rooms->room->slot_bytes[t];
        if (unit > 1 && bytes < INT64_MAX - unit)
            rooms->room->slot_bytes[t] = bytes = round_up(bytes, unit);
        rooms->room->offset[t] = here[tile->buffer];
        here[tile->buffer] = sum_of(here[tile->buffer], product_of(bytes, tile->copies));
    }
    for (int stage = 0; stage <= plan->loops[loop].last_stage; stage++) {
        place_stage(rooms, loop, stage, here, end);
        memcpy(here, end, sizeof here);
    }
}

enum status kernel_room_find(const struct kernel_plan *plan, struct kernel_env *env,
                             struct kernel_room *room, struct error *error)
{
    const struct rooms rooms = {plan, env, room, error};
    const int64_t nothing[HARDWARE_MAX_BUFFERS] = {0};
    memset(room, 0, sizeof *room);
    TRY(walk_round(&rooms, 0, 0));
    place(&rooms, 0, nothing, room->needed);
    return STATUS_OK;
}
