/* All numbers of a description from times of programs (after Y. Xiao and Z. Wang, AIBench, 2024,
 * whose procedures tell some of them). In this order, each with what the ones before have told:
 * launch, skew and dispatch; what is done in whole lots; the laws of single instructions and what n
 * transfers get of a bus; pieces, flags and the cache. What an instruction takes is three columns
 * of a line: that there is one, how many, and how much work they do; the file's times are exact, so
 * that the line goes through its points. Then every program is simulated anew, and the answer says
 * how far off the description is. A number that no difference of times shows is named with the
 * reason. */
#include "jobs/calibrate/calibrate_programs.h"

#include "validate/linear_fit.h"

#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ------------------------------------------------------------------ laws */

/* What is left of a number that is 0, in ns: times are written in femtoseconds. */
static const double nothing_ns = 1e-4;

/* Lists the subjects of calibration->hw and their curves. Closed after a failure too. */
static enum status program_laws_open(struct program_laws *laws)
{
    TRY(subjects_list(&laws->calibration->hw, &laws->list, laws->error));
    laws->laws = calloc((size_t)laws->list.count + 1, sizeof *laws->laws);
    if (!laws->laws)
        return error_memory(laws->error);
    for (int i = 0; i < laws->list.count; i++)
        laws->laws[i].curve = curves_find(laws->curves, laws->list.items[i].kind,
                                          laws->list.items[i].name, laws->calibration->chip);
    return STATUS_OK;
}

static void program_laws_close(struct program_laws *laws)
{
    subjects_clear(&laws->list);
    free(laws->laws);
    laws->laws = NULL;
}

static bool is_on_line(const struct curve_point *point, const int64_t base[], int dimension)
{
    for (int i = 0; i < CURVE_MAX_SIZES; i++)
        if (i != dimension && point->size[i] != base[i])
            return false;
    return true;
}

/* The largest size of one dimension whose time is that of 1, all others being those of `base`; 0
 * where no longer time ends it. */
static int64_t program_lot(const struct curve *curve, const int64_t base[CURVE_MAX_SIZES],
                           int dimension)
{
    const struct curve_point *first = NULL; /* points are in order of size */
    int64_t lot = 0;
    for (int i = 0; i < curve->point_count; i++) {
        const struct curve_point *point = &curve->points[i];
        if (!is_on_line(point, base, dimension))
            continue;
        if (!first && point->size[dimension] != 1)
            return 0;
        first = first ? first : point;
        if (point->ns != first->ns)
            return lot;
        lot = point->size[dimension];
    }
    return 0;
}

/* How often the instruction stands in a program of one core; 0: it is not of one core. */
static int64_t times_of(enum curve_kind kind, const int64_t size[])
{
    if (kind == CURVE_MOVES)
        return size[0] == 1 ? size[1] : 0;
    return kind == CURVE_PRODUCTS ? size[0] : 1;
}

/* Has a kind a law? */
static bool program_has_law(enum curve_kind kind)
{
    return kind == CURVE_MOVES || kind == CURVE_PRODUCTS || kind == CURVE_VECTORS ||
           kind == CURVE_SCALARS;
}

static enum status add_point(const struct program_laws *laws, const struct subject *subject,
                             const struct curve_point *point, struct samples *samples)
{
    struct instruction in;
    int64_t times = times_of(subject->kind, point->size);
    double ns = point->ns - laws->launch_ns - laws->launch_core_ns - laws->dispatch_ns;
    if (times == 0 || !(ns > 0))
        return STATUS_OK;
    struct error why;
    if (subject_instruction(&laws->calibration->hw, subject, point->size, &in, &why) != STATUS_OK)
        return error_at(laws->error, laws->file, point->line, "%s", why.text);
    double *row = samples->rows + (ptrdiff_t)samples->count * samples->terms;
    samples->times_ns[samples->count++] = ns;
    row[0] = 1;
    if (samples->terms == 3)
        row[1] = (double)times;
    row[samples->terms - 1] = (double)times * (double)in.paid_units;
    return STATUS_OK;
}

static enum status fit_law(const struct program_laws *laws, const struct subject *subject,
                           struct program_law *law)
{
    bool rows = subject->kind == CURVE_MOVES || subject->kind == CURVE_PRODUCTS;
    struct samples samples;
    struct linear_fit fit;
    struct error why;
    enum status status = STATUS_OK;
    if (!samples_open(&samples, law->curve->point_count, rows ? 3 : 2)) {
        samples_clear(&samples);
        return error_memory(laws->error);
    }
    for (int i = 0; i < law->curve->point_count && status == STATUS_OK; i++)
        status = add_point(laws, subject, &law->curve->points[i], &samples);
    if (status == STATUS_OK && linear_fit(samples.rows, samples.times_ns, samples.count,
                                          samples.terms, &fit, &why) == STATUS_OK) {
        law->known = true;
        law->latency_ns = rows ? fit.cost[0] : 0;
        law->each_ns = fit.cost[rows];
        law->unit_ns = fit.cost[samples.terms - 1];
        law->median_error = fit.median_error;
    }
    samples_clear(&samples);
    return status;
}

/* Fits all laws, with the lots that calibration->hw has. */
static enum status program_laws_fit(struct program_laws *laws)
{
    for (int i = 0; i < laws->list.count; i++)
        laws->laws[i].known = false;
    for (int i = 0; i < laws->list.count; i++)
        if (laws->laws[i].curve && program_has_law(laws->list.items[i].kind))
            TRY(fit_law(laws, &laws->list.items[i], &laws->laws[i]));
    return STATUS_OK;
}

/* The time that a law has for one program. */
static double program_expected_ns(const struct program_laws *laws, int subject,
                                  const struct instruction *in)
{
    const struct program_law *law = &laws->laws[subject];
    return laws->launch_ns + laws->launch_core_ns + laws->dispatch_ns + law->latency_ns +
           law->each_ns + law->unit_ns * (double)in->paid_units;
}

/* Sets a number to what a subject's curve says; 0 points of noise become 0. */
static enum status program_set(struct program_laws *laws, int subject, const char *key,
                               const char *unit, double value)
{
    const struct program_law *law = &laws->laws[subject];
    const char *slash = strrchr(laws->file, '/');
    struct parameter parameter = {.value = value < nothing_ns ? 0 : value,
                                  .error = NAN,
                                  .unit = unit,
                                  .points = law->curve->point_count,
                                  .median_error = law->median_error,
                                  .r_squared = NAN};
    snprintf(parameter.key, sizeof parameter.key, "%s", key);
    snprintf(parameter.from, sizeof parameter.from, "%.40s's %.50s", slash ? slash + 1 : laws->file,
             laws->list.items[subject].name);
    return calibration_set(laws->calibration, &parameter, laws->error);
}

enum status program_unknown(struct program_laws *laws, const char *key, const char *format, ...)
{
    struct calibration *calibration = laws->calibration;
    va_list arguments;
    for (int i = 0; i < calibration->unknown_count; i++)
        if (strcasecmp(calibration->unknowns[i].key, key) == 0)
            return STATUS_OK;
    if (calibration->unknown_count == CALIBRATION_MAX_PARAMETERS)
        return error_set(laws->error, STATUS_TOO_LARGE, "more than %d numbers that are not told",
                         CALIBRATION_MAX_PARAMETERS);
    struct unknown *unknown = &calibration->unknowns[calibration->unknown_count++];
    snprintf(unknown->key, sizeof unknown->key, "%s", key);
    va_start(arguments, format);
    vsnprintf(unknown->why, sizeof unknown->why, format, arguments);
    va_end(arguments);
    return STATUS_OK;
}

/* ------------------------------------------------------------------ what it has come to */

/* Numbers that no time of a program depends on, by the end of their keys, numbers of lists left
 * out. */
static const struct silent {
    const char *ending, *why;
} silent[] = {
    {"cores", "programs run on as many cores as they are told to"},
    {"clock_mhz", "what takes cycles shows in ns; the clock stays, and cycles follow it"},
    {"host_call_ns", "no part of a program's time"},
    {"flag_registers", "takes no time"},
    {"core_flags", "takes no time"},
    {"core_flag_ns", "the chip has no flags between kinds of core that cross in a program here"},
    {"capacity_bytes", "takes no time"},
    {"alignment_bytes", "takes no time"},
    {"per_core", "taken for known"},
    {"align_bytes", "pieces are timed by the classes that a description has"},
    {"up_to_bytes", "pieces are timed by the classes that a description has"},
    {"vector_repeat_bytes", "no vector operation takes longer for more"},
};

/* "a.up_to_bytes.3" ends in up_to_bytes. */
static bool ends_in(const char *key, const char *ending)
{
    size_t length = strlen(key), wanted = strlen(ending);
    while (length && strchr("0123456789", key[length - 1]))
        length--;
    if (length && key[length - 1] == '.')
        length--;
    return length >= wanted && strncasecmp(key + length - wanted, ending, wanted) == 0 &&
           (length == wanted || key[length - wanted - 1] == '.');
}

static const char *reason_of_silence(const char *key)
{
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++)
        if (ends_in(key, silent[i].ending))
            return silent[i].why;
    return "the file has no programs that tell it";
}

static bool is_told(const struct calibration *calibration, const char *key)
{
    for (int i = 0; i < calibration->parameter_count; i++)
        if (strcasecmp(calibration->parameters[i].key, key) == 0)
            return true;
    return false;
}

/* Names all numbers that nothing was set for. */
static enum status program_unknowns(struct program_laws *laws)
{
    const struct hardware *hw = &laws->calibration->hw;
    for (size_t f = 0; f < hw->fact_count; f++) {
        const char *key = hw->facts[f].key;
        if (strncmp(key, "fit.", 4) != 0 && !is_told(laws->calibration, key))
            TRY(program_unknown(laws, key, "%s", reason_of_silence(key)));
    }
    return STATUS_OK;
}

static enum status judge_curve(struct program_laws *laws, struct subject_bench *bench, int subject,
                               double errors[])
{
    const struct program_law *law = &laws->laws[subject];
    struct calibration *calibration = laws->calibration;
    int count = law->curve->point_count;
    for (int i = 0; i < count; i++) {
        const struct curve_point *point = &law->curve->points[i];
        double ns;
        TRY(subject_time(bench, &laws->list.items[subject], point->size, &ns));
        errors[i] = fabs(ns / point->ns - 1);
    }
    if (calibration->curve_count == CALIBRATION_MAX_CURVES)
        return STATUS_OK;
    struct fitted_curve *report = &calibration->curves[calibration->curve_count++];
    gsl_sort(errors, 1, (size_t)count);
    *report = (struct fitted_curve){.points = count,
                                    .fixed_ns = law->latency_ns + law->each_ns,
                                    .rate = law->unit_ns > 0 ? 1 / law->unit_ns : 0,
                                    .median_error =
                                        gsl_stats_median_from_sorted_data(errors, 1, (size_t)count),
                                    .max_error = errors[count - 1],
                                    .r_squared = NAN};
    snprintf(report->name, sizeof report->name, "%.78s", laws->list.items[subject].name);
    return STATUS_OK;
}

/* Says of every curve how far off its programs are on the description as it stands. */
static enum status program_judge(struct program_laws *laws)
{
    struct subject_bench bench;
    double *errors = NULL;
    int most = 0;
    for (int i = 0; i < laws->list.count; i++)
        if (laws->laws[i].curve && laws->laws[i].curve->point_count > most)
            most = laws->laws[i].curve->point_count;
    errors = calloc((size_t)most + 1, sizeof *errors);
    if (!errors)
        return error_memory(laws->error);
    enum status status = subject_bench_open(&bench, &laws->calibration->hw, laws->error);
    for (int i = 0; i < laws->list.count && status == STATUS_OK; i++)
        if (laws->laws[i].curve)
            status = judge_curve(laws, &bench, i, errors);
    subject_bench_close(&bench);
    free(errors);
    return status;
}

/* ------------------------------------------------------------------ numbers */

typedef enum status set_numbers(struct program_laws *laws, int subject);

static bool is_there(const struct program_laws *laws, const char *key)
{
    double ignored;
    return description_get(&laws->calibration->description, key, &ignored);
}

static void join_key(char key[HARDWARE_KEY_SIZE], const char *group, const char *name)
{
    snprintf(key, HARDWARE_KEY_SIZE, "%.150s.%s", group, name);
}

/* A number that the group has of its own, or needs one of: it is not what it would have without. */
static enum status set_own(struct program_laws *laws, int subject, const char *group,
                           const char *name, double value, double without)
{
    char key[HARDWARE_KEY_SIZE];
    join_key(key, group, name);
    if (!is_there(laws, key) && fabs(value - without) <= 1e-3 * fmax(fabs(value), 0.1))
        return STATUS_OK;
    return program_set(laws, subject, key, "ns", value);
}

/* ------------------------------------------------------------------ start and order */

static const struct curve_point *last_point(const struct curve *curve)
{
    return &curve->points[curve->point_count - 1];
}

static double slope_ns(const struct curve *curve)
{
    const struct curve_point *first = curve->points, *last = last_point(curve);
    return last->size[0] > first->size[0]
               ? (last->ns - first->ns) / (double)(last->size[0] - first->size[0])
               : NAN;
}

static enum status set_start(struct program_laws *laws, int subject)
{
    const struct curve *curve = laws->laws[subject].curve;
    const struct curve_point *first = curve->points;
    double core_ns = slope_ns(curve);
    if (isnan(core_ns)) {
        TRY(program_unknown(laws, "launch_core_ns", "on one core only launch_ns and it together"));
        TRY(program_unknown(laws, "launch_ns", "on one core only it and launch_core_ns together"));
        core_ns = (double)laws->calibration->hw.launch_core_fs / FS_PER_NS;
    } else if (is_there(laws, "launch_core_ns") || core_ns > 1e-4) {
        TRY(program_set(laws, subject, "launch_core_ns", "ns", core_ns));
    }
    laws->launch_core_ns = core_ns;
    laws->launch_ns = fmax(first->ns - core_ns * (double)first->size[0], 0);
    return program_set(laws, subject, "launch_ns", "ns", laws->launch_ns);
}

static enum status set_skew(struct program_laws *laws, int subject)
{
    double ns = slope_ns(laws->laws[subject].curve) - laws->launch_core_ns;
    return isnan(ns) ? program_unknown(laws, "core_skew_ns", "there is one core only")
                     : program_set(laws, subject, "core_skew_ns", "ns", fmax(ns, 0));
}

static enum status set_order(struct program_laws *laws, int subject)
{
    laws->dispatch_ns = slope_ns(laws->laws[subject].curve);
    if (isnan(laws->dispatch_ns))
        return STATUS_OK;
    return program_set(laws, subject, "dispatch_ns", "ns", laws->dispatch_ns);
}

/* ------------------------------------------------------------------ lots */

#define SIZES(...) ((const int64_t[CURVE_MAX_SIZES]){__VA_ARGS__})

/* 0: no time shows it. A lot of 1 needs no key. */
static enum status set_lot(struct program_laws *laws, int subject, const char *group,
                           const char *name, int64_t lot)
{
    char key[HARDWARE_KEY_SIZE];
    join_key(key, group, name);
    if (lot == 0)
        return program_unknown(laws, key, "no size is timed from which more takes longer");
    return lot == 1 && !is_there(laws, key) ? STATUS_OK
                                            : program_set(laws, subject, key, "", (double)lot);
}

static enum status set_move_lot(struct program_laws *laws, int subject)
{
    const struct subject *s = &laws->list.items[subject];
    if (s->one.transpose || s->one.type != s->one.to_type)
        return STATUS_OK;
    return set_lot(laws, subject, s->key, "lot_bytes",
                   program_lot(laws->laws[subject].curve, SIZES(1, 1, 1), 2));
}

/* The last size along m for which a row of blocks was timed with whole groups along n. */
static enum status set_blocks(struct program_laws *laws, int subject)
{
    const struct subject *s = &laws->list.items[subject];
    const struct curve *curve = laws->laws[subject].curve;
    int64_t k = program_lot(curve, SIZES(1, 1, 1, 1), 2);
    int64_t group = program_lot(curve, SIZES(1, 1, 1, 1), 3), n = 0;
    for (int i = 0; i < curve->point_count && !n; i++)
        if (curve->points[i].size[1] > 1)
            n = program_lot(curve, SIZES(1, curve->points[i].size[1], 1, 1), 3);
    TRY(set_lot(laws, subject, s->key, "block_k", k));
    TRY(set_lot(laws, subject, s->key, "block_n", n));
    TRY(set_lot(laws, subject, s->key, "block_m", program_lot(curve, SIZES(1, 1, 1, group), 1)));
    return set_lot(laws, subject, s->key, "row_blocks_at_once", n ? group / n : 0);
}

static enum status set_repeat(struct program_laws *laws, int subject)
{
    const struct subject *s = &laws->list.items[subject];
    int64_t lot = program_lot(laws->laws[subject].curve, SIZES(1), 0);
    int64_t bytes = lot * dtype_bytes((enum dtype)s->one.type);
    if (lot == 0 || s->one.type != s->one.to_type || bytes % 4)
        return STATUS_OK;
    return program_set(laws, subject, "vector_repeat_bytes", "", (double)bytes);
}

/* ------------------------------------------------------------------ single instructions */

/* What those without an issue of their own have. */
static enum status set_default_issue(struct program_laws *laws)
{
    for (int i = 0; i < laws->list.count; i++) {
        const struct subject *s = &laws->list.items[i];
        char key[HARDWARE_KEY_SIZE];
        join_key(key, s->key, "issue_ns");
        if (laws->laws[i].known && (s->kind == CURVE_MOVES || s->kind == CURVE_PRODUCTS) &&
            !strstr(s->key, ".casts.") && !is_there(laws, key))
            return program_set(laws, i, "issue_ns", "ns", laws->laws[i].each_ns);
    }
    return program_unknown(laws, "issue_ns", "every move and product has one of its own");
}

static double default_issue_ns(const struct program_laws *laws)
{
    double ns = 0;
    description_get(&laws->calibration->description, "issue_ns", &ns);
    return ns;
}

/* The law of the path of a cast. */
static const struct program_law *path_law(const struct program_laws *laws, int subject)
{
    int i = subject;
    while (i > 0 && strstr(laws->list.items[i].key, ".casts."))
        i--;
    while (i > 0 && laws->list.items[i].one.transpose)
        i--;
    return &laws->laws[i];
}

/* The rate of a path over a bus is for set_buses to say. */
static enum status set_move(struct program_laws *laws, int subject)
{
    const struct subject *s = &laws->list.items[subject];
    const struct program_law *law = &laws->laws[subject], *plain = path_law(laws, subject);
    bool is_cast = plain != law;
    char key[HARDWARE_KEY_SIZE];
    if (!s->one.transpose) {
        TRY(set_own(laws, subject, s->key, "issue_ns", law->each_ns,
                    is_cast ? plain->each_ns : default_issue_ns(laws)));
        TRY(set_own(laws, subject, s->key, "latency_ns", law->latency_ns,
                    is_cast ? plain->latency_ns : 0));
    }
    join_key(key, s->key, s->one.transpose ? "transposed_gbps" : "bandwidth_gbps");
    return program_set(laws, subject, key, "GB/s", 1 / law->unit_ns);
}

static enum status set_product(struct program_laws *laws, int subject)
{
    const struct subject *s = &laws->list.items[subject];
    const struct program_law *law = &laws->laws[subject];
    char key[HARDWARE_KEY_SIZE];
    double flop = 0;
    TRY(set_own(laws, subject, s->key, "issue_ns", law->each_ns, default_issue_ns(laws)));
    TRY(set_own(laws, subject, s->key, "latency_ns", law->latency_ns, 0));
    join_key(key, s->key, "block_flop");
    description_get(&laws->calibration->description, key, &flop);
    TRY(program_unknown(laws, key, "only its quotient with gflops is a time; it stays"));
    join_key(key, s->key, "gflops");
    return program_set(laws, subject, key, "GFLOP/s", flop / law->unit_ns);
}

/* A repeat stands in ns or in cycles, which are no other spelling of one key. */
static enum status set_vector(struct program_laws *laws, int subject)
{
    const struct subject *s = &laws->list.items[subject];
    const struct program_law *law = &laws->laws[subject];
    char key[HARDWARE_KEY_SIZE];
    join_key(key, s->key, "first_ns");
    TRY(program_set(laws, subject, key, "ns", law->each_ns));
    join_key(key, s->key, "repeat_ns");
    if (is_there(laws, key))
        return program_set(laws, subject, key, "ns", law->unit_ns);
    join_key(key, s->key, "repeat_cycles");
    return program_set(laws, subject, key, "cycles",
                       law->unit_ns * (double)laws->calibration->hw.clock_hz * 1e-9);
}

static enum status set_scalar(struct program_laws *laws, int subject)
{
    char key[HARDWARE_KEY_SIZE];
    join_key(key, laws->list.items[subject].key, "each_ns");
    return program_set(laws, subject, key, "ns", laws->laws[subject].unit_ns);
}

/* ------------------------------------------------------------------ pieces, flags, the cache */

static enum status set_cell(struct program_laws *laws, int subject, const struct curve_point *point)
{
    const struct hardware *hw = &laws->calibration->hw;
    const struct subject *s = &laws->list.items[subject];
    const struct burst_table *table =
        &hw->burst_tables[hw->prices[hw->paths[s->one.what].price].burst_table];
    int64_t length = point->size[1] / point->size[0];
    struct instruction in = {
        .kind = INSTRUCTION_MOVE, .what = s->one.what, .bytes = point->size[1]};
    char key[HARDWARE_KEY_SIZE];
    int row = table->row_count - 1, column = 0, move = subject;
    while (row >= 0 && table->align_bytes[row] != point->size[2])
        row--;
    while (column < table->limit_count && length > table->up_to_bytes[column])
        column++;
    while (move > 0 && (strcmp(laws->list.items[move].name, s->name) != 0 || move == subject))
        move--;
    if (row < 0 || !laws->laws[move].known || point->size[0] < 2)
        return STATUS_OK;
    TRY(instruction_price(hw, &in, laws->error));
    int64_t last = table->up_to_bytes[table->limit_count - 1];
    double stretches = column < table->limit_count ? 1 : ceil((double)length / (double)last);
    double ns = (point->ns - program_expected_ns(laws, move, &in)) / (double)point->size[0];
    snprintf(key, sizeof key, "%.100s.bursts.%lld.ns.%d", s->key, (long long)point->size[2],
             column + 1);
    return program_set(laws, subject, key, "ns", fmax(ns / stretches, 0));
}

static enum status set_pieces(struct program_laws *laws, int subject)
{
    const struct curve *curve = laws->laws[subject].curve;
    for (int i = 0; i < curve->point_count; i++)
        TRY(set_cell(laws, subject, &curve->points[i]));
    return STATUS_OK;
}

static enum status set_flag(struct program_laws *laws, int subject)
{
    const struct curve *curve = laws->laws[subject].curve;
    if (curve->point_count < 2)
        return STATUS_OK;
    return program_set(laws, subject, "core_flag_ns", "ns", fmax(slope_ns(curve), 0));
}

/* The share of a working set that missed: between the time of all hits and that of all misses,
 * which the description as fitted so far knows. */
static enum status miss_share(struct program_laws *laws, const struct subject *subject,
                              const struct curve_point *point, double *share)
{
    struct hardware hw = laws->calibration->hw;
    struct subject_bench bench;
    double ns[2] = {0};
    enum status status = subject_bench_open(&bench, &hw, laws->error);
    for (int missed = 0; missed < 2 && status == STATUS_OK; missed++) {
        hw.cache.is_cold = missed;
        hw.cache.all_hit_bytes = hw.cache.all_miss_bytes = INT64_MAX;
        status = subject_time(&bench, subject, point->size, &ns[missed]);
    }
    subject_bench_close(&bench);
    *share = ns[1] > ns[0] ? (point->ns - ns[0]) / (ns[1] - ns[0]) : NAN;
    return status;
}

/* Shares rise along a line; its ends are where it is 0 and 1. */
static enum status set_working_set(struct program_laws *laws, int subject)
{
    static const char *const keys[] = {"cache.all_hit_bytes", "cache.all_miss_bytes"};
    const struct curve *curve = laws->laws[subject].curve;
    double first[2] = {0}, last[2] = {0}, share;
    int within = 0;
    for (int i = 0; i < curve->point_count; i++) {
        TRY(miss_share(laws, &laws->list.items[subject], &curve->points[i], &share));
        if (!(share > 1e-3 && share < 1 - 1e-3))
            continue;
        double *place = within++ ? last : first;
        place[0] = (double)curve->points[i].size[0];
        place[1] = share;
    }
    for (int k = 0; k < 2; k++) {
        if (within < 2 || !(last[1] > first[1]))
            TRY(program_unknown(laws, keys[k],
                                "no two working sets are timed of which a part "
                                "misses"));
        else
            TRY(program_set(
                laws, subject, keys[k], "bytes",
                round(first[0] + (k - first[1]) * (last[0] - first[0]) / (last[1] - first[1]))));
    }
    return STATUS_OK;
}

/* ------------------------------------------------------------------ all of it */

/* One step for every subject of a kind that has a curve. */
static enum status set_each(struct program_laws *laws, enum curve_kind kind, set_numbers *set)
{
    for (int i = 0; i < laws->list.count; i++)
        if (laws->list.items[i].kind == kind && laws->laws[i].curve &&
            (laws->laws[i].known || !program_has_law(kind)))
            TRY(set(laws, i));
    return STATUS_OK;
}

static enum status fit_all(struct program_laws *laws)
{
    TRY(set_each(laws, CURVE_START, set_start));
    TRY(set_each(laws, CURVE_SKEW, set_skew));
    TRY(set_each(laws, CURVE_ORDER, set_order));
    for (int i = 0; i < laws->list.count; i++)
        laws->laws[i].known = true; /* lots need no law */
    TRY(set_each(laws, CURVE_MOVES, set_move_lot));
    TRY(set_each(laws, CURVE_PRODUCTS, set_blocks));
    TRY(set_each(laws, CURVE_VECTORS, set_repeat));
    TRY(calibration_rebuild(laws->calibration, laws->error));
    TRY(program_laws_fit(laws));
    TRY(set_default_issue(laws));
    TRY(set_each(laws, CURVE_MOVES, set_move));
    TRY(program_buses(laws));
    TRY(set_each(laws, CURVE_PRODUCTS, set_product));
    TRY(set_each(laws, CURVE_VECTORS, set_vector));
    TRY(set_each(laws, CURVE_SCALARS, set_scalar));
    TRY(set_each(laws, CURVE_PIECES, set_pieces));
    TRY(set_each(laws, CURVE_FLAG, set_flag));
    TRY(calibration_rebuild(laws->calibration, laws->error));
    TRY(set_each(laws, CURVE_WORKING_SET, set_working_set));
    TRY(calibration_rebuild(laws->calibration, laws->error));
    TRY(program_unknowns(laws));
    return program_judge(laws);
}

enum status calibrate_programs(struct calibration *calibration, const struct curves *curves,
                               const char *file, int *used, struct error *error)
{
    struct program_laws laws = {
        .calibration = calibration, .curves = curves, .file = file, .error = error};
    int found = 0;
    enum status status = program_laws_open(&laws);
    for (int i = 0; status == STATUS_OK && i < laws.list.count; i++)
        found += laws.laws[i].curve != NULL;
    *used += found;
    if (status == STATUS_OK && found)
        status = fit_all(&laws);
    program_laws_close(&laws);
    return status;
}
