/* RUS, remove unnecessary synchronisation: barriers and flags that order nothing new go
 * (oversync.h), even where that alone saves nothing: of two barriers side by side each hides the
 * other. Where that is faster, all that is left is written anew as flags of the data's own needs
 * (resync.h): a barrier that orders two pipes holds up the others for nothing.
 *
 * It computes the same because happens-before still orders all conflicting accesses, and as the
 * lines stand: what had one order before has the same one now. */
#include "analysis/advice/advice_table.h"
#include "analysis/advice/advice_tidy.h"
#include "analysis/advice/resync.h"

enum status advice_rus(struct trial *trial, struct error *error)
{
    struct edit edit;
    bool taken = false;
    enum status status = tidy(trial, TRIAL_NOT_SLOWER, error);
    if (status != STATUS_OK || trial->unnamed_line)
        return status;
    status = edit_open(&edit, trial_program(trial), error);
    if (status == STATUS_OK && resync(&edit))
        status = trial_try(trial, &edit, TRIAL_FASTER, &taken, error);
    edit_close(&edit);
    if (status == STATUS_OK && taken)
        status = tidy(trial, TRIAL_NOT_SLOWER, error);
    return status;
}
