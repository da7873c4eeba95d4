/* Tunes every problem of a bank and sets the best tiling against each recorded one. Rows are
 * sorted by problem, so that each problem is searched once, however many rows it has. Threads take
 * whole problems one by one, for they differ in cost by orders of magnitude. Of each recorded
 * tiling the axis is noted on which the space lacks its value: with that, or without a proof, it
 * may be faster than the best that was found. */
#include "jobs/evaluate/against.h"

#include "kernels/operator_bank.h"
#include "kernels/registry.h"
#include "search/search.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A row that can be tuned. */
struct entry {
    struct problem problem;
    size_t row;
};

/* Rows of one problem: entries[first … first + count). */
struct group {
    size_t first, count;
};

struct against {
    const struct bank *bank;
    const struct operator_space *kind; /* whose tilings banks hold */
    const struct hardware *hw;
    const struct against_options *options;
    struct duel *duels;
    struct entry *entries;
    struct group *groups;
    size_t entry_count, group_count;
    int64_t done;
};

static int compare_problems(const struct problem *a, const struct problem *b)
{
    int order = memcmp(a->size, b->size, sizeof a->size);
    if (order == 0)
        order = memcmp(a->choice, b->choice, sizeof a->choice);
    return order ? order : (a->type > b->type) - (a->type < b->type);
}

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = compare_problems(&x->problem, &y->problem);
    return order ? order : (x->row > y->row) - (x->row < y->row);
}

static enum status collect(struct against *a, const struct prediction predictions[],
                           struct error *error)
{
    a->entries = calloc(a->bank->count + 1, sizeof *a->entries);
    a->groups = calloc(a->bank->count + 1, sizeof *a->groups);
    if (!a->entries || !a->groups)
        return error_memory(error);
    for (size_t row = 0; row < a->bank->count; row++) {
        struct entry *entry = &a->entries[a->entry_count];
        struct error ignored;
        *entry = (struct entry){.row = row};
        if (predictions[row].predicted_ns > 0 &&
            a->kind->bank->problem(&a->bank->rows[row], &entry->problem, &ignored) == STATUS_OK)
            a->entry_count++;
    }
    qsort(a->entries, a->entry_count, sizeof *a->entries, compare_entries);
    for (size_t i = 0; i < a->entry_count; i++) {
        if (i == 0 || compare_problems(&a->entries[i - 1].problem, &a->entries[i].problem))
            a->groups[a->group_count++].first = i;
        a->groups[a->group_count - 1].count++;
    }
    return STATUS_OK;
}

/* The axis on which the space has no such value; -1: it has them all. */
static int off_axis_of(const struct space *space, const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    int count = space->kind->violations(space, tiling, list);
    for (int i = 0; i < count; i++)
        if (list[i].outside)
            return space_axis(space, list[i].limit, (int)strlen(list[i].limit));
    return -1;
}

static void fill_duel(const struct against *a, const struct space *space, const struct entry *entry,
                      const struct search_result *result, bool first)
{
    struct duel *duel = &a->duels[entry->row];
    struct error ignored;
    if (a->kind->bank->tiling(&a->bank->rows[entry->row], &entry->problem, &duel->recorded,
                              &ignored) != STATUS_OK)
        return;
    duel->best_ns = found_ns(&result->best[0]);
    duel->best = result->best[0].tiling;
    duel->proven = result->optimal;
    duel->first = first;
    duel->even_grid = a->kind->bank->even_grid(space, a->hw->cores);
    duel->off_axis = off_axis_of(space, &duel->recorded);
}

static enum status tune_group(const struct against *a, const struct group *group,
                              struct error *error)
{
    const struct entry *entries = a->entries + group->first;
    struct search_options how = {.threads = 1,
                                 .top = 1,
                                 .best_only = true,
                                 .time_limit_s = a->options->time_limit_s,
                                 .stop = a->options->stop};
    struct space space;
    struct search_result result;
    if (a->options->stop && *a->options->stop)
        return STATUS_OK;
    enum status status = space_open(&entries->problem, a->kind, a->hw, a->hw->cores, &space, error);
    if (status != STATUS_OK)
        return status;
    status = search(&space, &how, &result, error);
    for (size_t i = 0; status == STATUS_OK && result.count && i < group->count; i++)
        fill_duel(a, &space, &entries[i], &result, i == 0);
    if (status == STATUS_OK)
        search_result_clear(&result);
    space_close(&space);
    return status;
}

static void report(struct against *a)
{
    a->done++;
    if (a->options->progress)
        a->options->progress(a->options->context, a->done, (int64_t)a->group_count);
}

static enum status tune_groups(struct against *a, struct error *error)
{
    enum status result = STATUS_OK;
#pragma omp parallel for num_threads(a->options->threads) schedule(dynamic, 1)
    for (size_t g = 0; g < a->group_count; g++) {
        struct error own = {0};
        enum status status = tune_group(a, &a->groups[g], &own);
#pragma omp critical
        {
            if (status != STATUS_OK && result == STATUS_OK) {
                result = status;
                *error = own;
            }
            report(a);
        }
    }
    return result;
}

enum status against_tune(const struct bank *bank, const struct prediction predictions[],
                         const struct hardware *hw, const struct against_options *options,
                         struct duel duels[], struct error *error)
{
    const struct operator* op;
    struct against a = {
        .bank = bank, .kind = operator_banked(&op), .hw = hw, .options = options, .duels = duels};
    memset(duels, 0, bank->count * sizeof *duels);
    enum status status = collect(&a, predictions, error);
    if (status == STATUS_OK)
        status = tune_groups(&a, error);
    free(a.entries);
    free(a.groups);
    return status;
}
