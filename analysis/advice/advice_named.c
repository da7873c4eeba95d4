/* What a strategy could save is told by the simulated time of the program without the work that it
 * is about, or with that work in another type: more than that is hardly to be had. */
#include "analysis/advice/advice_named.h"

#include "core/quantity.h"
#include "core/work.h"

#include <stdio.h>
#include <string.h>

enum change { KEEP, CHANGE, DROP };

/* What to do with a line. */
typedef enum change change_line(const struct hardware *hw, struct edit_line *line, int choice);

/* The time of the program with some lines changed; -1 when there is none to change, or it cannot be
 * told. */
static int64_t time_changed(struct trial *trial, change_line *change, int choice)
{
    struct edit edit;
    struct program changed = {0};
    struct timeline timeline;
    struct error error;
    struct simulate_options options = {.cores = trial->cores};
    int64_t time_fs = -1;
    bool any = false;
    enum status status = edit_open(&edit, trial->first, &error);
    for (int32_t i = edit.count - 1; i >= 0 && status == STATUS_OK; i--) {
        enum change made = change(edit.hw, &edit.lines[i], choice);
        any |= made != KEEP;
        if (made == DROP)
            edit_delete(&edit, i, 1);
    }
    if (status == STATUS_OK && any && edit_program(&edit, &changed, &error) == STATUS_OK) {
        if (simulate(trial->simulator, &changed, &options, &timeline, &error) == STATUS_OK &&
            timeline.blocked < 0)
            time_fs = timeline.end_fs;
        program_clear(&changed);
    }
    edit_close(&edit);
    return time_fs;
}

static double saved_ns(const struct trial *trial, int64_t time_fs)
{
    return time_fs < 0 || time_fs > trial->first_fs
               ? 0
               : (double)(trial->first_fs - time_fs) / FS_PER_NS;
}

static const char *saved(const struct trial *trial, int64_t time_fs, char text[TEXT_SIZE])
{
    return text_time(saved_ns(trial, time_fs), text);
}

void condition_tried(struct trial *trial, const struct diagnosis *diagnosis,
                     char text[ADVICE_CONDITION_SIZE])
{
    (void)diagnosis;
    if (trial->unnamed_line) {
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "not tried: line %d leaves out where an operand lies, so nobody can tell what may "
                 "change place with it",
                 trial->unnamed_line);
        return;
    }
    if (trial->tries == 0) {
        snprintf(text, ADVICE_CONDITION_SIZE, "nothing in this program that it could change");
        return;
    }
    snprintf(text, ADVICE_CONDITION_SIZE,
             "%d change%s tried: %d not faster, %d not safe, %d that compute something else%s",
             trial->tries, trial->tries == 1 ? "" : "s", trial->refused[TRIAL_SLOWER],
             trial->refused[TRIAL_UNSAFE], trial->refused[TRIAL_DIFFERENT],
             trial->refused[TRIAL_UNPROVEN] ? ", some too large to prove"
             : trial_goes_on(trial)         ? ""
                                            : "; more were left out");
}

static bool is_external(const struct hardware *hw, int buffer)
{
    return hw->buffers[buffer].capacity_bytes == 0;
}

static enum change no_store(const struct hardware *hw, struct edit_line *line, int choice)
{
    (void)choice;
    bool stores =
        line->in.kind == INSTRUCTION_MOVE && is_external(hw, hw->paths[line->in.what].destination);
    return stores ? DROP : KEEP;
}

/* Bytes of one core over the paths that store. */
static int64_t stored_bytes(const struct trial *trial)
{
    struct work_total totals[HARDWARE_MAX_PRICES];
    struct error error;
    const struct hardware *hw = trial->first->hw;
    int64_t bytes = 0;
    if (work_totals(trial->first, totals, &error) != STATUS_OK)
        return 0;
    for (int p = 0; p < hw->path_count; p++) {
        if (!is_external(hw, hw->paths[p].destination))
            continue;
        bytes += totals[hw->paths[p].price].units;
        for (int c = 0; c < hw->paths[p].cast_count; c++)
            bytes += totals[hw->paths[p].casts[c].price].units;
    }
    return bytes;
}

void condition_op(struct trial *trial, const struct diagnosis *diagnosis,
                  char text[ADVICE_CONDITION_SIZE])
{
    char bytes[TEXT_SIZE], time[TEXT_SIZE];
    (void)diagnosis;
    int64_t time_fs = time_changed(trial, no_store, 0);
    if (time_fs < 0)
        snprintf(text, ADVICE_CONDITION_SIZE, "does not apply: nothing leaves the chip");
    else
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "where the next operator takes this result: fused with it, %s bytes a core need "
                 "not leave the chip; without storing them it takes %s less",
                 text_count(stored_bytes(trial), bytes), saved(trial, time_fs, time));
}

/* Does a path lead into the buffer from external memory? */
static bool is_loaded(const struct hardware *hw, int buffer)
{
    for (int p = 0; p < hw->path_count; p++)
        if (hw->paths[p].destination == buffer && is_external(hw, hw->paths[p].source))
            return true;
    return false;
}

/* The fastest path into a buffer, other than `path`; -1: none that is faster. */
static int faster_path(const struct hardware *hw, int path)
{
    int best = -1;
    for (int p = 0; p < hw->path_count; p++) {
        const struct path *other = &hw->paths[p], *own = &hw->paths[path];
        const struct rate than = hw->prices[hw->paths[best < 0 ? path : best].price].rate;
        const struct rate rate = hw->prices[other->price].rate;
        if (other->destination == own->destination && p != path &&
            !is_external(hw, other->source) && is_loaded(hw, other->source) &&
            (double)rate.fs * (double)than.units < (double)than.fs * (double)rate.units)
            best = p;
    }
    return best;
}

void condition_tt(struct trial *trial, const struct diagnosis *diagnosis,
                  char text[ADVICE_CONDITION_SIZE])
{
    const struct hardware *hw = trial->first->hw;
    struct work_total totals[HARDWARE_MAX_PRICES];
    struct error error;
    int most = -1;
    (void)diagnosis;
    if (work_totals(trial->first, totals, &error) == STATUS_OK)
        for (int p = 0; p < hw->path_count; p++)
            if (totals[hw->paths[p].price].units > 0 && faster_path(hw, p) >= 0 &&
                (most < 0 ||
                 totals[hw->paths[p].price].units > totals[hw->paths[most].price].units))
                most = p;
    if (most < 0) {
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "does not apply: no buffer that is filled here has a faster way in");
        return;
    }
    char slow[2 * HARDWARE_NAME_SIZE + 3], fast[2 * HARDWARE_NAME_SIZE + 3], bytes[TEXT_SIZE];
    snprintf(text, ADVICE_CONDITION_SIZE,
             "where data can be kept in %s: %s is faster than %s, over which %s bytes a core go",
             hw->buffers[hw->paths[faster_path(hw, most)].source].name,
             hardware_path_name(hw, faster_path(hw, most), fast),
             hardware_path_name(hw, most, slow),
             text_count(totals[hw->paths[most].price].units, bytes));
}

/* Vector instructions of one operation, or all that computes. */
static enum change no_work(const struct hardware *hw, struct edit_line *line, int choice)
{
    (void)hw;
    bool vector = line->in.kind == INSTRUCTION_VECTOR;
    if (choice >= 0)
        return vector && line->in.what == choice ? DROP : KEEP;
    return vector || line->in.kind == INSTRUCTION_MATRIX ? DROP : KEEP;
}

void condition_ea(struct trial *trial, const struct diagnosis *diagnosis,
                  char text[ADVICE_CONDITION_SIZE])
{
    const struct hardware *hw = trial->first->hw;
    char all[TEXT_SIZE], one[TEXT_SIZE];
    double most_ns = -1;
    int operation = -1;
    (void)diagnosis;
    for (int o = 0; o < hw->operation_count; o++) {
        int64_t time_fs =
            hw->operations[o].class == OPERATION_VECTOR ? time_changed(trial, no_work, o) : -1;
        if (time_fs >= 0 && saved_ns(trial, time_fs) > most_ns) {
            most_ns = saved_ns(trial, time_fs);
            operation = o;
        }
    }
    int64_t all_fs = time_changed(trial, no_work, -1);
    if (all_fs < 0)
        snprintf(text, ADVICE_CONDITION_SIZE, "does not apply: nothing is computed");
    else if (operation < 0)
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "where an algorithm needs fewer products: without any it takes %s less",
                 saved(trial, all_fs, all));
    else
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "where an algorithm needs fewer operations: without any it takes %s less, "
                 "without %s, the most of one kind, %s",
                 saved(trial, all_fs, all), hw->operations[operation].name,
                 text_time(most_ns, one));
}

/* The same product in another type of the matrix unit. */
static enum change other_type(const struct hardware *hw, struct edit_line *line, int choice)
{
    (void)hw;
    if (line->in.kind != INSTRUCTION_MATRIX)
        return KEEP;
    for (int r = 0; r < line->in.region_count; r++)
        line->regions[r].rows = 1; /* which other lengths might not divide */
    line->in.type = (uint8_t)choice;
    return CHANGE;
}

/* The type of the first product; -1: none. */
static int product_type(const struct program *program)
{
    for (int32_t i = 0; i < program->count; i++)
        if (program->items[i].kind == INSTRUCTION_MATRIX)
            return program->items[i].type;
    return -1;
}

void condition_lc(struct trial *trial, const struct diagnosis *diagnosis,
                  char text[ADVICE_CONDITION_SIZE])
{
    const struct hardware *hw = trial->first->hw;
    int type = product_type(trial->first), best = -1;
    char time[TEXT_SIZE];
    (void)diagnosis;
    for (int t = 0; t < hw->matrix_type_count && type >= 0; t++) {
        int other = hw->matrix_types[t].type;
        if (hardware_matrix_peak(hw, (enum dtype)other) >
            hardware_matrix_peak(hw, (enum dtype)(best < 0 ? type : best)))
            best = other;
    }
    if (type < 0)
        snprintf(text, ADVICE_CONDITION_SIZE, "does not apply: no matrix products");
    else if (best < 0)
        snprintf(text, ADVICE_CONDITION_SIZE, "does not apply: no type is faster than %s on %s",
                 dtype_name((enum dtype)type), hw->name);
    else
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "where %s is precise enough: the matrix unit does %.3g times as much as in %s; "
                 "with products alone in %s it takes %s less, and smaller operands come on top",
                 dtype_name((enum dtype)best),
                 hardware_matrix_peak(hw, (enum dtype)best) /
                     hardware_matrix_peak(hw, (enum dtype)type),
                 dtype_name((enum dtype)type), dtype_name((enum dtype)best),
                 saved(trial, time_changed(trial, other_type, best), time));
}

static enum change no_vector(const struct hardware *hw, struct edit_line *line, int choice)
{
    return line->in.kind == INSTRUCTION_VECTOR ? no_work(hw, line, choice) : KEEP;
}

void condition_ct(struct trial *trial, const struct diagnosis *diagnosis,
                  char text[ADVICE_CONDITION_SIZE])
{
    const struct hardware *hw = trial->first->hw;
    int64_t time_fs = time_changed(trial, no_vector, -1);
    char time[TEXT_SIZE];
    (void)diagnosis;
    if (hw->matrix_pipe < 0 || time_fs < 0)
        snprintf(text, ADVICE_CONDITION_SIZE, "does not apply: %s",
                 time_fs < 0 ? "the vector unit has nothing to do" : "no matrix unit");
    else
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "where vector operations can be written as a matrix product (sums and averages "
                 "can): without them it takes %s less",
                 saved(trial, time_fs, time));
}
