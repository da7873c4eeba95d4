#include "search/player.h"

#include "analysis/check/tidy.h"
#include "costmodel/host_time.h"

enum status player_open(struct player *player, struct error *error)
{
    *player = (struct player){.simulator = simulator_new()};
    return player->simulator ? STATUS_OK : error_memory(error);
}

void player_close(struct player *player)
{
    simulator_free(player->simulator);
    program_clear(&player->program);
}

void asked_timeline(const struct space *space, const struct tiling *tiling,
                    struct timeline *timeline)
{
    struct host_work work;
    space->kind->ask(space, tiling, &work);
    host_time(space->hw->host, &work, timeline);
}

enum status player_tidy(struct player *player, struct error *error)
{
    return player->program.hw->dispatch_fs ? program_tidy(&player->program, error) : STATUS_OK;
}

enum status player_play(struct player *player, const struct space *space,
                        const struct tiling *tiling, int part, struct timeline *timeline,
                        struct error *error)
{
    if (space->kind->ask) {
        asked_timeline(space, tiling, timeline);
        return STATUS_OK;
    }
    struct simulate_options options = {.cores = space->kind->cores_used(space, tiling, part),
                                       .stop = space->stop};
    program_reset(&player->program, space->hw);
    enum status status = space->kind->generate(space, tiling, part, &player->program, error);
    if (status == STATUS_OK)
        status = player_tidy(player, error);
    if (status == STATUS_OK)
        status = simulate(player->simulator, &player->program, &options, timeline, error);
    if (status == STATUS_OK && timeline->blocked >= 0)
        return error_set(error, STATUS_INVALID,
                         "the generated program deadlocks in its instruction %d",
                         timeline->blocked + 1);
    return status;
}
