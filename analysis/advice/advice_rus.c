/* RUS, remove unnecessary synchronisation: barriers and flags that order nothing new go
 * (oversync.h), even where that alone saves nothing: of two barriers side by side each hides the
 * other. Where that is faster, all that is left is written anew as flags of the data's own needs
 * (resync.h): a barrier that orders two pipes holds up the others for nothing.
 *
 * It computes the same because happens-before still orders all conflicting accesses, and as the
 * lines stand: what had one order before has the same one now. */
#include "analysis/advice/advice_table.h"
#include "analysis/advice/resync.h"
#include "analysis/check/oversync.h"

#include <stdlib.h>

static int compare(const void *one, const void *other)
{
    int32_t a = *(const int32_t *)one, b = *(const int32_t *)other;
    return (a < b) - (a > b);
}

/* Takes out all that may go, from the last line on. */
static enum status drop_superfluous(struct trial *trial, struct error *error)
{
    struct oversync found;
    struct edit edit;
    bool taken;
    enum status status = oversync_find(trial_program(trial), &found, error);
    if (status != STATUS_OK)
        return status == STATUS_TOO_LARGE ? STATUS_OK : status;
    qsort(found.items, (size_t)found.item_count, sizeof *found.items, compare);
    status = edit_open(&edit, trial_program(trial), error);
    for (int32_t i = 0; i < found.item_count && status == STATUS_OK; i++)
        edit_delete(&edit, found.items[i], 1);
    if (status == STATUS_OK && found.item_count > 0)
        status = trial_try(trial, &edit, TRIAL_NOT_SLOWER, &taken, error);
    edit_close(&edit);
    oversync_clear(&found);
    return status;
}

enum status advice_rus(struct trial *trial, struct error *error)
{
    struct edit edit;
    bool taken;
    enum status status = drop_superfluous(trial, error);
    if (status != STATUS_OK || trial->unnamed_line)
        return status;
    status = edit_open(&edit, trial_program(trial), error);
    if (status == STATUS_OK && resync(&edit))
        status = trial_try(trial, &edit, TRIAL_FASTER, &taken, error);
    edit_close(&edit);
    return status;
}
