/* Goes through the table of strategies (Zhou et al. 2025, section 5): each starts from the first
 * program again, changes it on trial, and is rid of the synchronisation that its change has made
 * superfluous; what then saves less than a thousandth does not apply. Strategies that no program
 * can express, and those that found nothing, only state their condition. What one could save is
 * told by the simulated time of the program without the work that it is about, or with that work in
 * another type: more than that is hardly to be had. */
#include "analysis/advice/advice.h"

#include "analysis/roofline.h"
#include "core/quantity.h"
#include "core/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------ conditions */

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

static const char *saved_text(const struct trial *trial, int64_t time_fs, char text[TEXT_SIZE])
{
    return text_time(saved_ns(trial, time_fs), text);
}

/* Of strategies that were tried: what came of it. */
static void condition_tried(struct trial *trial, char text[ADVICE_CONDITION_SIZE])
{
    if (trial->safety.unnamed_line) {
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "not tried: line %d leaves out where an operand lies, so nobody can tell what may "
                 "change place with it",
                 trial->safety.unnamed_line);
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

static enum change drop_store(const struct hardware *hw, struct edit_line *line, int choice)
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

static void condition_op(struct trial *trial, char text[ADVICE_CONDITION_SIZE])
{
    char bytes[TEXT_SIZE], time[TEXT_SIZE];
    int64_t time_fs = time_changed(trial, drop_store, 0);
    if (time_fs < 0)
        snprintf(text, ADVICE_CONDITION_SIZE, "does not apply: nothing leaves the chip");
    else
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "where the next operator takes this result: fused with it, %s bytes a core need "
                 "not leave the chip; without storing them it takes %s less",
                 text_count(stored_bytes(trial), bytes), saved_text(trial, time_fs, time));
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

static void condition_tt(struct trial *trial, char text[ADVICE_CONDITION_SIZE])
{
    const struct hardware *hw = trial->first->hw;
    struct work_total totals[HARDWARE_MAX_PRICES];
    struct error error;
    int most = -1;
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
static enum change drop_work(const struct hardware *hw, struct edit_line *line, int choice)
{
    (void)hw;
    bool vector = line->in.kind == INSTRUCTION_VECTOR;
    if (choice >= 0)
        return vector && line->in.what == choice ? DROP : KEEP;
    return vector || line->in.kind == INSTRUCTION_MATRIX ? DROP : KEEP;
}

static void condition_ea(struct trial *trial, char text[ADVICE_CONDITION_SIZE])
{
    const struct hardware *hw = trial->first->hw;
    char all[TEXT_SIZE], one[TEXT_SIZE];
    double most_ns = -1;
    int operation = -1;
    for (int o = 0; o < hw->operation_count; o++) {
        int64_t time_fs =
            hw->operations[o].class == OPERATION_VECTOR ? time_changed(trial, drop_work, o) : -1;
        if (time_fs >= 0 && saved_ns(trial, time_fs) > most_ns) {
            most_ns = saved_ns(trial, time_fs);
            operation = o;
        }
    }
    int64_t all_fs = time_changed(trial, drop_work, -1);
    if (all_fs < 0)
        snprintf(text, ADVICE_CONDITION_SIZE, "does not apply: nothing is computed");
    else if (operation < 0)
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "where an algorithm needs fewer products: without any it takes %s less",
                 saved_text(trial, all_fs, all));
    else
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "where an algorithm needs fewer operations: without any it takes %s less, "
                 "without %s, the most of one kind, %s",
                 saved_text(trial, all_fs, all), hw->operations[operation].name,
                 text_time(most_ns, one));
}

/* The same product in another type of the matrix unit. */
static enum change change_type(const struct hardware *hw, struct edit_line *line, int choice)
{
    (void)hw;
    if (line->in.kind != INSTRUCTION_MATRIX)
        return KEEP;
    for (int r = 0; r < line->in.region_count; r++)
        line->regions[r].rows = line->regions[r].pieces = 1; /* other lengths might not divide */
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

static void condition_lc(struct trial *trial, char text[ADVICE_CONDITION_SIZE])
{
    const struct hardware *hw = trial->first->hw;
    int type = product_type(trial->first), best = -1;
    char time[TEXT_SIZE];
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
                 saved_text(trial, time_changed(trial, change_type, best), time));
}

static enum change drop_vector(const struct hardware *hw, struct edit_line *line, int choice)
{
    return line->in.kind == INSTRUCTION_VECTOR ? drop_work(hw, line, choice) : KEEP;
}

static void condition_ct(struct trial *trial, char text[ADVICE_CONDITION_SIZE])
{
    const struct hardware *hw = trial->first->hw;
    int64_t time_fs = time_changed(trial, drop_vector, -1);
    char time[TEXT_SIZE];
    if (hw->matrix_pipe < 0 || time_fs < 0)
        snprintf(text, ADVICE_CONDITION_SIZE, "does not apply: %s",
                 time_fs < 0 ? "the vector unit has nothing to do" : "no matrix unit");
    else
        snprintf(text, ADVICE_CONDITION_SIZE,
                 "where vector operations can be written as a matrix product (sums and averages "
                 "can): without them it takes %s less",
                 saved_text(trial, time_fs, time));
}

/* ------------------------------------------------------------------ strategies */

/* What saves less than a thousandth is not worth a change. */
enum { LEAST_SHARE = 1000 };

const struct advice_strategy advice_strategies[] = {
    {"AIP", "adjust instruction parameters: one vector instruction of many repeats",
     VERDICT_INEFFICIENT_COMPUTE, advice_aip, condition_tried},
    {"AIS", "adjust the instruction sequence: dispatch transfers earlier",
     VERDICT_INSUFFICIENT_PARALLELISM, advice_ais, condition_tried},
    {"CT", "computation transformation: do it on a more powerful unit", VERDICT_COMPUTE_BOUND, NULL,
     condition_ct},
    {"EA", "enhanced algorithm: compute less", VERDICT_COMPUTE_BOUND, NULL, condition_ea},
    {"ITG", "increase transfer granularity: one large move instead of several",
     VERDICT_INEFFICIENT_TRANSFER, advice_itg, condition_tried},
    {"LC", "low-precision calculation", VERDICT_COMPUTE_BOUND, NULL, condition_lc},
    {"MRT", "minimise redundant transfer: move once what does not change", VERDICT_TRANSFER_BOUND,
     advice_mrt, condition_tried},
    {"OP", "operator fusion: keep results on the chip", VERDICT_TRANSFER_BOUND, NULL, condition_op},
    {"PP", "ping-pong: two buffers in turn", VERDICT_INSUFFICIENT_PARALLELISM, advice_pp,
     condition_tried},
    {"RSD", "reduce spatial dependency: a buffer of its own for a result",
     VERDICT_INSUFFICIENT_PARALLELISM, advice_rsd, condition_tried},
    {"RUS", "remove unnecessary synchronisation", VERDICT_INSUFFICIENT_PARALLELISM, advice_rus,
     condition_tried},
    {"TT", "transfer transformation: a path with more bandwidth", VERDICT_TRANSFER_BOUND, NULL,
     condition_tt},
    {0},
};

const struct advice_strategy *advice_strategy(const char *name)
{
    for (const struct advice_strategy *s = advice_strategies; s->name; s++)
        if (strcasecmp(s->name, name) == 0)
            return s;
    return NULL;
}

/* What applies before what does not, more saved before less, then by name. */
static int by_time_saved(const void *one, const void *other)
{
    const struct advice *a = one, *b = other;
    if (a->applies != b->applies)
        return a->applies ? -1 : 1;
    if (a->applies && a->time_fs != b->time_fs)
        return a->time_fs < b->time_fs ? -1 : 1;
    return strcmp(a->strategy->name, b->strategy->name);
}

static enum status try_strategy(struct trial *trial, const struct advice_strategy *strategy,
                                struct advice *advice, struct error *error)
{
    *advice = (struct advice){.strategy = strategy, .time_fs = trial->first_fs};
    trial_begin(trial);
    if (strategy->apply && (strategy->apply == advice_rus || !trial->safety.unnamed_line))
        TRY(strategy->apply(trial, error));
    int64_t untidy_fs = trial->best_fs;
    if (trial->tidy && trial->best.hw)
        TRY(tidy_change(trial, error));
    if (trial->first_fs - trial->best_fs > trial->first_fs / LEAST_SHARE) {
        advice->applies = true;
        advice->time_fs = trial->best_fs;
        advice->tidied_fs = untidy_fs - trial->best_fs;
        advice->changed = trial->best;
        trial->best = (struct program){0};
    }
    if (!advice->applies)
        strategy->condition(trial, advice->condition);
    return STATUS_OK;
}

static enum status diagnose_first(const struct trial *trial, struct diagnosis *diagnosis,
                                  struct error *error)
{
    struct simulate_options options = {.cores = trial->cores};
    struct timeline timeline;
    TRY(simulate(trial->simulator, trial->first, &options, &timeline, error));
    diagnosis_of_program(trial->first, &timeline, trial->cores, diagnosis);
    diagnose(diagnosis, &diagnosis_default_thresholds);
    return STATUS_OK;
}

enum status advise(const struct program *program, int cores, const struct advice_strategy *only,
                   struct advices *advices, struct error *error)
{
    struct trial trial;
    memset(advices, 0, sizeof *advices);
    enum status status = trial_open(&trial, program, cores, error);
    if (status != STATUS_OK)
        return status;
    advices->safe = trial.safety.safe;
    memcpy(advices->why, trial.safety.why, sizeof trial.safety.why);
    advices->time_fs = trial.first_fs;
    if (trial.safety.safe)
        status = diagnose_first(&trial, &advices->diagnosis, error);
    const struct advice_strategy *strategy = advice_strategies;
    for (; trial.safety.safe && strategy->name && status == STATUS_OK; strategy++)
        if (!only || strategy == only)
            status = try_strategy(&trial, strategy, &advices->items[advices->count++], error);
    qsort(advices->items, (size_t)advices->count, sizeof *advices->items, by_time_saved);
    trial_close(&trial);
    if (status != STATUS_OK)
        advices_clear(advices);
    return status;
}

void advices_clear(struct advices *advices)
{
    for (int i = 0; i < advices->count; i++)
        program_clear(&advices->items[i].changed);
    advices->count = 0;
}

/* ------------------------------------------------------------------ the next change but one */

static bool is_small(const struct program *program)
{
    return program->count <= LOOK_MAX_LINES && program->executed <= LOOK_MAX_EXECUTED;
}

/* With the best that follows; nothing follows an empty program. */
static int64_t least_fs(const struct advices *behind)
{
    bool follows = behind->count && behind->items[0].applies;
    return follows ? behind->items[0].time_fs : behind->time_fs;
}

enum status look_ahead(const struct advices *advices, int cores, int *first, struct advices *behind,
                       struct error *error)
{
    enum status status = advise(&advices->items[0].changed, cores, NULL, behind, error);
    bool small = status == STATUS_OK && is_small(&advices->items[0].changed);
    *first = 0;
    for (int i = 1; small && i < advices->count && advices->items[i].applies; i++) {
        struct advices next;
        status = advise(&advices->items[i].changed, cores, NULL, &next, error);
        if (status != STATUS_OK)
            break;
        bool better = least_fs(&next) < least_fs(behind);
        advices_clear(better ? behind : &next);
        if (better) {
            *behind = next;
            *first = i;
        }
    }
    if (status != STATUS_OK)
        advices_clear(behind);
    return status;
}
