/* What oversync finds may go together, so it is all deleted in one change, from the last line on so
 * that line numbers before it stay true. The search sees only so far into a long program; so it is
 * repeated until it finds nothing or the trial refuses. */
#include "analysis/advice/advice_tidy.h"

#include "analysis/check/oversync.h"

#include <stdlib.h>

/* Nothing where the program is too long. */
static enum status find(const struct program *program, struct oversync *found, struct error *error)
{
    enum status status = oversync_find(program, found, error);
    return status == STATUS_TOO_LARGE ? STATUS_OK : status;
}

enum status tidy_is(const struct program *program, bool *tidy, struct error *error)
{
    struct oversync found;
    enum status status = find(program, &found, error);
    *tidy = found.item_count == 0;
    oversync_clear(&found);
    return status;
}

static int compare(const void *one, const void *other)
{
    int32_t a = *(const int32_t *)one, b = *(const int32_t *)other;
    return (a < b) - (a > b);
}

/* Takes out all that may go, from the last line on. *taken: something did. */
static enum status take_out(struct trial *trial, enum trial_aim aim, bool *taken,
                            struct error *error)
{
    struct oversync found;
    struct edit edit;
    *taken = false;
    enum status status = find(trial_program(trial), &found, error);
    if (status != STATUS_OK || found.item_count == 0) {
        oversync_clear(&found);
        return status;
    }
    qsort(found.items, (size_t)found.item_count, sizeof *found.items, compare);
    status = edit_open(&edit, trial_program(trial), error);
    for (int32_t i = 0; i < found.item_count && status == STATUS_OK; i++)
        edit_delete(&edit, found.items[i], 1);
    if (status == STATUS_OK)
        status = trial_try(trial, &edit, aim, taken, error);
    edit_close(&edit);
    oversync_clear(&found);
    return status;
}

enum status tidy(struct trial *trial, enum trial_aim aim, struct error *error)
{
    enum status status;
    bool taken;
    do /* of a program too long to be searched at once, more is found each time */
        status = take_out(trial, aim, &taken, error);
    while (status == STATUS_OK && taken);
    return status;
}

enum status tidy_change(struct trial *trial, struct error *error)
{
    bool is_tidy = true;
    enum status status = tidy(trial, TRIAL_ANY_TIME, error);
    if (status == STATUS_OK)
        status = tidy_is(trial_program(trial), &is_tidy, error);
    if (!is_tidy) {
        program_clear(&trial->best);
        trial->best_fs = trial->first_fs;
    }
    return status;
}
