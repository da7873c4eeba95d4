/* Hill climbing: at every line of the kind, the changes of a table are tried, large ones first (a
 * whole loop, all iterations of a line, a run of lines, two lines); the first that the trial takes
 * is kept, and the search starts again at the top, until a pass over the program takes nothing. */
#include "analysis/advice/advice_grow.h"

#include "analysis/advice/coalesce.h"

enum {
    LONGEST_RUN = 256
}; /* lines that are merged at once: a place's change costs so many passes */

static bool is_flag(const struct instruction *in)
{
    return in->kind == INSTRUCTION_SET || in->kind == INSTRUCTION_WAIT ||
           in->kind == INSTRUCTION_BARRIER;
}

/* The next line of the block that can be merged into line `at`; -1: none. Loops are passed. */
static int32_t find_next(const struct edit *edit, int32_t at)
{
    for (int32_t i = at + 1; i < edit->count; i++) {
        if (edit->lines[i].in.kind == INSTRUCTION_LOOP)
            i = edit_end(edit, i);
        else if (edit->lines[i].in.kind == INSTRUCTION_END)
            return -1;
        else if (coalesce_fits(&edit->lines[at], &edit->lines[i]))
            return i;
    }
    return -1;
}

static bool has_next(const struct edit *edit, int32_t at)
{
    return find_next(edit, at) >= 0;
}

/* Merges the line with up to `most` such lines, at the first one's place; how many there were. */
static int merge_at_first(struct edit *edit, int32_t at, int most)
{
    int merged = 0;
    for (int32_t next; merged < most && (next = find_next(edit, at)) >= 0; merged++) {
        if (!coalesce_lines(&edit->lines[at], &edit->lines[next]))
            return 0;
        edit_delete(edit, next, 1);
    }
    return merged;
}

/* The same at the last one's place. */
static int merge_at_last(struct edit *edit, int32_t at, int most)
{
    int merged = 0;
    for (int32_t next; merged < most && (next = find_next(edit, at)) >= 0; merged++) {
        if (!coalesce_lines(&edit->lines[at], &edit->lines[next]))
            return 0;
        edit->lines[next] = edit->lines[at];
        edit_delete(edit, at, 1);
        at = next - 1;
    }
    return merged;
}

static bool run_at_first(struct edit *edit, int32_t at)
{
    return merge_at_first(edit, at, LONGEST_RUN) > 1;
}

static bool run_at_last(struct edit *edit, int32_t at)
{
    return merge_at_last(edit, at, LONGEST_RUN) > 1;
}

static bool at_first(struct edit *edit, int32_t at)
{
    return merge_at_first(edit, at, 1) > 0;
}

static bool at_second(struct edit *edit, int32_t at)
{
    return merge_at_last(edit, at, 1) > 0;
}

/* The line in all iterations of the loop around it. */
static bool all_iterations(const struct edit *edit, int32_t at, int32_t *loop,
                           struct edit_line *merged)
{
    *loop = edit_parent(edit, at);
    if (*loop < 0)
        return false;
    *merged = edit->lines[at];
    return coalesce_iterations(merged, edit_depth(edit, *loop), edit->lines[*loop].in.count);
}

/* A loop that has only flags left does nothing. */
static void drop_if_empty(struct edit *edit, int32_t loop)
{
    int32_t end = edit_end(edit, loop);
    for (int32_t i = loop + 1; i < end; i++)
        if (!is_flag(&edit->lines[i].in))
            return;
    edit_delete(edit, loop, end - loop + 1);
}

static bool before_loop(struct edit *edit, int32_t at)
{
    struct edit_line merged;
    int32_t loop;
    if (!all_iterations(edit, at, &loop, &merged))
        return false;
    edit_delete(edit, at, 1);
    drop_if_empty(edit, loop);
    edit_insert(edit, loop, &merged);
    return true;
}

static bool behind_loop(struct edit *edit, int32_t at)
{
    struct edit_line merged;
    int32_t loop;
    if (!all_iterations(edit, at, &loop, &merged))
        return false;
    edit_insert(edit, edit_end(edit, loop) + 1, &merged);
    edit_delete(edit, at, 1);
    drop_if_empty(edit, loop);
    return true;
}

/* Every line of the loop in all iterations, one after the other. */
static bool whole_loop(struct edit *edit, int32_t at)
{
    int32_t loop = edit_parent(edit, at);
    if (loop < 0)
        return false;
    int32_t end = edit_end(edit, loop), work = 0;
    int depth = edit_depth(edit, loop);
    for (int32_t i = loop + 1; i < end; i++) {
        struct edit_line *line = &edit->lines[i];
        if (is_flag(&line->in))
            continue;
        work++;
        if (!coalesce_iterations(line, depth, edit->lines[loop].in.count))
            return false;
    }
    edit_delete(edit, end, 1);
    edit_delete(edit, loop, 1);
    return work > 1;
}

static bool is_in_loop(const struct edit *edit, int32_t at)
{
    return edit_parent(edit, at) >= 0;
}

/* Does `find` tell of a line that `make` may be tried there? A change costs a copy of all lines. */
static const struct {
    bool (*find)(const struct edit *edit, int32_t at);
    bool (*make)(struct edit *edit, int32_t at);
} changes[] = {
    {is_in_loop, whole_loop}, {is_in_loop, before_loop}, {is_in_loop, behind_loop},
    {has_next, run_at_first}, {has_next, run_at_last},   {has_next, at_first},
    {has_next, at_second},
};

static enum status grow_at(struct trial *trial, const struct edit *now, int32_t at, bool *taken,
                           struct error *error)
{
    enum status status = STATUS_OK;
    for (size_t c = 0; c < sizeof changes / sizeof *changes && status == STATUS_OK && !*taken;
         c++) {
        struct edit edit;
        if (!trial_goes_on(trial) || !changes[c].find(now, at))
            continue;
        status = edit_copy(&edit, now, error);
        if (status == STATUS_OK && changes[c].make(&edit, at))
            status = trial_try_synced(trial, &edit, taken, error);
        edit_close(&edit);
    }
    return status;
}

/* Tries at each line, until one change is taken. */
static enum status grow_once(struct trial *trial, enum instruction_kind kind, bool *taken,
                             struct error *error)
{
    struct edit now;
    *taken = false;
    enum status status = edit_open(&now, trial_program(trial), error);
    for (int32_t at = 0; at < now.count && status == STATUS_OK && !*taken && trial_goes_on(trial);
         at++)
        if (now.lines[at].in.kind == kind)
            status = grow_at(trial, &now, at, taken, error);
    edit_close(&now);
    return status;
}

enum status advice_grow(struct trial *trial, enum instruction_kind kind, struct error *error)
{
    bool taken = true;
    while (taken)
        TRY(grow_once(trial, kind, &taken, error));
    return STATUS_OK;
}
