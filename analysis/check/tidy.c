#include "analysis/check/tidy.h"

#include "analysis/check/oversync.h"

#include <stdlib.h>

static enum status remove_items(struct program *program, const struct oversync *found,
                                struct error *error)
{
    bool *gone = calloc((size_t)program->count, sizeof *gone);
    if (!gone)
        return error_memory(error);
    for (int32_t i = 0; i < found->item_count; i++)
        gone[found->items[i]] = true;
    program_remove(program, gone);
    free(gone);
    return STATUS_OK;
}

enum status program_tidy(struct program *program, struct error *error)
{
    struct oversync found;
    enum status status = oversync_find(program, &found, error);
    if (status == STATUS_TOO_LARGE)
        return STATUS_OK;
    if (status == STATUS_OK && found.item_count)
        status = remove_items(program, &found, error);
    oversync_clear(&found);
    return status;
}
