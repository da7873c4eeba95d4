#include "jobs/generate.h"

#include "analysis/oversync.h"

#include <stdlib.h>

static enum status tidy(struct program *program, struct error *error)
{
    struct oversync found;
    enum status status = oversync_find(program, &found, error);
    if (status != STATUS_OK)
        return status == STATUS_TOO_LARGE ? STATUS_OK : status;
    bool *gone = calloc((size_t)program->count + 1, sizeof *gone);
    if (gone)
        for (int32_t i = 0; i < found.item_count; i++)
            gone[found.items[i]] = true;
    if (gone)
        program_remove(program, gone);
    status = gone ? STATUS_OK : error_memory(error);
    free(gone);
    oversync_clear(&found);
    return status;
}

enum status generate_program(const struct space *space, const struct tiling *tiling, int part,
                             struct program *program, struct error *error)
{
    enum status status = space->kind->generate(space, tiling, part, program, error);
    return status == STATUS_OK && space->hw->dispatch_fs == 0 ? tidy(program, error) : status;
}
