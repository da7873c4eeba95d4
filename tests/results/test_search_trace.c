/* What a search says of its threads: the same batches for any number of them, spans that do not
 * overlap, and counts that add up to the answer's; and the file of it. */
#include "core/program_text.h"
#include "costmodel/simulate.h"
#include "formats/chrome.h"
#include "kernels/knn/knn.h"
#include "kernels/matmul/matmul.h"
#include "kernels/registry.h"
#include "results/search_trace_write.h"
#include "results/simulation.h"
#include "results/tune.h"
#include "search/search.h"
#include "tests/support/machine.h"
#include "tests/support/made_up.h"

#include <criterion/criterion.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BATCHES = 4000, MOST_THREADS = 3 };

/* What must not depend on the threads. */
struct batch {
    enum search_phase phase;
    int64_t bounded, simulated;
};

struct summary {
    int64_t batches;
    struct batch batch[MOST_BATCHES];
    int64_t bounded[SEARCH_PHASES], simulated[SEARCH_PHASES];
};

static void add_span(struct summary *summary, const struct search_span *span)
{
    summary->bounded[span->phase] += span->bounded;
    summary->simulated[span->phase] += span->simulated;
    if (span->batch < 0) {
        cr_assert_eq(span->bounded + span->simulated, 0);
        return;
    }
    cr_assert_lt(span->batch, MOST_BATCHES);
    struct batch *batch = &summary->batch[span->batch];
    if (span->batch >= summary->batches)
        summary->batches = span->batch + 1;
    cr_assert(batch->bounded + batch->simulated == 0 || batch->phase == span->phase);
    batch->phase = span->phase;
    batch->bounded += span->bounded;
    batch->simulated += span->simulated;
}

static void expect_ordered(const struct search_log *log, int threads)
{
    int64_t end_ns[MOST_THREADS] = {0};
    for (int64_t i = 0; i < log->span_count; i++) {
        const struct search_span *span = &log->spans[i];
        cr_assert(span->thread >= 0 && span->thread < threads);
        cr_assert_lt(span->start_ns, span->end_ns);
        cr_assert_leq(end_ns[span->thread], span->start_ns, "thread %d, %s", span->thread,
                      search_phase_names[span->phase]);
        cr_assert(span->thread > 0 || span->phase != PHASE_WAITING || threads > 1 ||
                  span->end_ns - span->start_ns < 1000000000);
        end_ns[span->thread] = span->end_ns;
    }
    for (int64_t i = 1; i < log->counter_count; i++) {
        cr_assert_leq(log->counters[i - 1].at_ns, log->counters[i].at_ns);
        cr_assert_leq(log->counters[i - 1].simulated, log->counters[i].simulated);
        cr_assert(log->counters[i - 1].best_fs == 0 ||
                  log->counters[i].best_fs <= log->counters[i - 1].best_fs);
    }
}

static struct search_result trace(const struct space *space, const char *strategy, int threads,
                                  struct search_log *log, struct summary *summary)
{
    struct search_result result;
    struct error error;
    search_log_open(log);
    struct search_options options = {
        .strategy = strategy, .threads = threads, .top = 3, .trace = &log->trace};
    cr_assert_eq(search(space, &options, &result, &error), STATUS_OK, "%s", error.text);
    cr_assert(!log->failed);
    memset(summary, 0, sizeof *summary);
    for (int64_t i = 0; i < log->span_count; i++)
        add_span(summary, &log->spans[i]);
    expect_ordered(log, search_threads(space, threads));
    return result;
}

static void expect_same_answer(const struct search_result *a, const struct search_result *b)
{
    cr_assert_eq(a->count, b->count);
    cr_assert_eq(a->simulated, b->simulated);
    cr_assert_eq(a->pruned, b->pruned);
    cr_assert_eq(a->within_1_percent.at_most, b->within_1_percent.at_most);
    for (int i = 0; i < a->count; i++) {
        cr_assert_eq(a->best[i].index, b->best[i].index);
        cr_assert_arr_eq(&a->best[i].timeline, &b->best[i].timeline, sizeof a->best[i].timeline);
    }
}

/* Traces a search with each number of threads, and without any; hands the last summary on. */
static void expect_same_batches(const struct space *space, const char *strategy,
                                struct search_result *plain, struct summary *last)
{
    static struct summary first;
    struct error error;
    struct search_options options = {.strategy = strategy, .threads = 2, .top = 3};
    cr_assert_eq(search(space, &options, plain, &error), STATUS_OK, "%s", error.text);
    for (int threads = 1; threads <= MOST_THREADS; threads++) {
        struct search_log log;
        struct search_result result = trace(space, strategy, threads, &log, last);
        expect_same_answer(plain, &result);
        if (threads == 1)
            first = *last;
        cr_assert_eq(first.batches, last->batches);
        for (int64_t b = 0; b < first.batches; b++) {
            cr_assert_eq(first.batch[b].phase, last->batch[b].phase, "batch %lld", (long long)b);
            cr_assert_eq(first.batch[b].bounded, last->batch[b].bounded);
            cr_assert_eq(first.batch[b].simulated, last->batch[b].simulated);
        }
        cr_assert_gt(log.counter_count, 0);
        cr_assert_eq(log.counters[log.counter_count - 1].simulated, result.simulated);
        cr_assert_eq(log.counters[log.counter_count - 1].best_fs, result.best[0].timeline.end_fs);
        search_log_close(&log);
        search_result_clear(&result);
    }
}

static void open_space(struct hardware *hw, const char *chip, const struct operator* op,
                       const char *shape, const char *const options[][2], struct space *space)
{
    struct problem problem;
    struct error error;
    machine_load_named(hw, chip, "");
    cr_assert_eq(problem_parse(op, shape, &problem, &error), STATUS_OK, "%s", error.text);
    for (int i = 0; options && options[i][0]; i++)
        cr_assert_eq(problem_set(&problem, options[i][0], options[i][1], &error), STATUS_OK, "%s",
                     error.text);
    cr_assert_eq(problem_settle(&problem, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(space_open(&problem, operator_default_space(op, hw), hw, hw->cores, space, &error),
                 STATUS_OK, "%s", error.text);
}

static struct summary summary;

Test(search_trace, of_small_spaces)
{
    static const char *const strategies[] = {"bound", "exhaustive"};
    for (int s = 0; s < 2; s++) {
        struct hardware hw;
        struct space space;
        struct search_result plain;
        open_space(&hw, "ascend310", &matmul_operator, "64x48x80", NULL, &space);
        expect_same_batches(&space, strategies[s], &plain, &summary);
        if (s == 1) /* a list of them */
            cr_assert_eq(summary.bounded[PHASE_BOUNDING], plain.feasible);
        cr_assert_gt(summary.bounded[PHASE_BOUNDING], 0);
        cr_assert_eq(summary.simulated[PHASE_SIMULATING], plain.simulated);
        cr_assert_eq(summary.simulated[PHASE_ANSWERING], plain.count);
        search_result_clear(&plain);
        space_close(&space);
        hardware_clear(&hw);
    }
}

Test(search_trace, of_spaces_that_are_too_large_to_list)
{
    struct hardware hw;
    struct space space;
    struct search_result plain;
    open_space(&hw, "ascend910b3", &matmul_operator, "128x128x96", NULL, &space);
    cr_assert_not_null(space.kind->nesting);
    expect_same_batches(&space, "bound", &plain, &summary);
    cr_assert_gt(summary.bounded[PHASE_BOUNDING], 0);
    cr_assert_gt(summary.bounded[PHASE_SPLITTING], 0);
    cr_assert_eq(summary.simulated[PHASE_SEEDING] + summary.simulated[PHASE_SIMULATING],
                 plain.simulated);
    int64_t simulated = summary.simulated[PHASE_SEEDING], split = 0;
    for (int l = 0; l < plain.level_count; l++) {
        simulated += plain.levels[l].simulated;
        split += plain.levels[l].split;
    }
    cr_assert_eq(simulated, plain.simulated);
    cr_assert_gt(split, 0);
    search_result_clear(&plain);
    space_close(&space);
    hardware_clear(&hw);
}

Test(search_trace, of_knn)
{
    static const char *const options[][2] = {{"k", "8"}, {NULL, NULL}};
    struct hardware hw;
    struct space space;
    struct search_result plain;
    open_space(&hw, "ascend310", &knn_operator, "64x32x200", options, &space);
    expect_same_batches(&space, "bound", &plain, &summary);
    cr_assert_gt(summary.simulated[PHASE_PROFILING], 0);
    cr_assert_gt(summary.bounded[PHASE_BOUNDING], plain.feasible);
    cr_assert_gt(summary.simulated[PHASE_SIMULATING], 0);
    search_result_clear(&plain);
    space_close(&space);
    hardware_clear(&hw);
}

Test(search_trace, of_a_listed_space)
{
    static const char *const options[][2] = {{"order", "8"}, {"functions", "1"}, {NULL, NULL}};
    struct hardware hw;
    struct space space;
    struct search_result plain;
    const struct operator* cubefx = operator_find("cubefx");
    if (!cubefx)
        cr_skip_test("no such operator");
    open_space(&hw, "ascend310", cubefx, "4096", options, &space);
    expect_same_batches(&space, "bound", &plain, &summary);
    cr_assert_eq(summary.bounded[PHASE_BOUNDING], plain.feasible);
    cr_assert_eq(summary.simulated[PHASE_SIMULATING], plain.simulated);
    search_result_clear(&plain);
    space_close(&space);
    hardware_clear(&hw);
}

Test(search_trace, of_a_processor)
{
    struct made_up made;
    struct search_result plain;
    made_up_open(&made);
    expect_same_batches(&made.space, "bound", &plain, &summary);
    cr_assert_eq(summary.bounded[PHASE_BOUNDING], plain.feasible);
    cr_assert_eq(summary.simulated[PHASE_SIMULATING], plain.simulated);
    search_result_clear(&plain);
    made_up_close(&made);
}

Test(search_trace, of_a_search_that_is_cut_short)
{
    volatile sig_atomic_t stop = 1;
    struct hardware hw;
    struct space space;
    struct search_result result;
    struct search_log log;
    struct error error;
    open_space(&hw, "ascend310", &matmul_operator, "512x512x512", NULL, &space);
    search_log_open(&log);
    struct search_options options = {
        .strategy = "bound", .threads = 2, .top = 1, .stop = &stop, .trace = &log.trace};
    cr_assert_eq(search(&space, &options, &result, &error), STATUS_OK, "%s", error.text);
    cr_assert(!result.optimal);
    expect_ordered(&log, 2);
    memset(&summary, 0, sizeof summary);
    for (int64_t i = 0; i < log.span_count; i++)
        add_span(&summary, &log.spans[i]);
    cr_assert_eq(summary.simulated[PHASE_SIMULATING], result.simulated);
    search_log_close(&log);
    search_result_clear(&result);
    space_close(&space);
    hardware_clear(&hw);
}

/* ------------------------------------------------------------------ files */

static json_t *written(enum status (*write)(const void *what, FILE *out, struct error *error),
                       const void *what)
{
    char *text = NULL;
    size_t length = 0;
    struct error error;
    json_error_t where;
    FILE *out = open_memstream(&text, &length);
    cr_assert_eq(write(what, out, &error), STATUS_OK, "%s", error.text);
    fclose(out);
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &where);
    cr_assert_not_null(json, "line %d: %s", where.line, where.text);
    free(text);
    return json;
}

static int64_t integer_of(const json_t *event, const char *key)
{
    json_t *value = json_object_get(event, key);
    cr_assert(json_is_integer(value), "%s", key);
    return (int64_t)json_integer_value(value);
}

static double number_of(const json_t *event, const char *key)
{
    json_t *value = json_object_get(event, key);
    cr_assert(json_is_number(value), "%s", key);
    cr_assert_geq(json_number_value(value), 0);
    return json_number_value(value);
}

struct interval {
    int64_t process, track;
    double start_us, end_us;
};

static int by_track(const void *left, const void *right)
{
    const struct interval *a = left, *b = right;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    return (a->start_us > b->start_us) - (a->start_us < b->start_us);
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    cr_assert_not_null(text, "%s", key);
    return text;
}

/* Is there a name for the track (or, with track = 0, the process) of an event? */
static bool is_named(const json_t *events, int64_t process, int64_t track)
{
    size_t i;
    json_t *event;
    json_array_foreach(
        events, i,
        event) if (strcmp(text_of(event, "name"), track ? "thread_name" : "process_name") == 0 &&
                   integer_of(event, "pid") == process &&
                   (track == 0 || integer_of(event, "tid") == track)) return true;
    return false;
}

/* Checks the form of every event, and that what lasts on one track does not overlap. Returns how
 * many such events there are. */
static size_t expect_chrome(const json_t *json)
{
    const json_t *events = json_object_get(json, "traceEvents");
    struct interval *intervals = calloc(json_array_size(events) + 1, sizeof *intervals);
    size_t i, count = 0;
    json_t *event;
    cr_assert_str_eq(text_of(json, "displayTimeUnit"), "ns");
    json_array_foreach(events, i, event)
    {
        char phase = text_of(event, "ph")[0];
        cr_assert_not_null(strchr("MXCi", phase));
        text_of(event, "name");
        int64_t process = integer_of(event, "pid");
        cr_assert(json_is_object(json_object_get(event, "args")));
        if (phase == 'M')
            continue;
        cr_assert(is_named(events, process, 0));
        double start_us = number_of(event, "ts");
        if (phase != 'X')
            continue;
        int64_t track = integer_of(event, "tid");
        cr_assert(is_named(events, process, track));
        intervals[count++] =
            (struct interval){process, track, start_us, start_us + number_of(event, "dur")};
    }
    qsort(intervals, count, sizeof *intervals, by_track);
    for (i = 1; i < count; i++)
        if (intervals[i].process == intervals[i - 1].process &&
            intervals[i].track == intervals[i - 1].track)
            cr_assert_leq(intervals[i - 1].end_us, intervals[i].start_us + 2e-6);
    free(intervals);
    return count;
}

static enum status write_search(const void *what, FILE *out, struct error *error)
{
    return search_log_write(what, "a \"title\"\n\\ with \xff odd characters", out, error);
}

Test(search_trace, the_file_is_well_formed)
{
    struct hardware hw;
    struct space space;
    struct search_log log;
    open_space(&hw, "ascend310", &matmul_operator, "64x48x80", NULL, &space);
    struct search_result result = trace(&space, "bound", 3, &log, &summary);
    json_t *json = written(write_search, &log);
    cr_assert_eq(expect_chrome(json), (size_t)log.span_count);
    const json_t *first = json_array_get(json_object_get(json, "traceEvents"), 0);
    cr_assert_str_eq(text_of(json_object_get(first, "args"), "name"),
                     "a \"title\"?\\ with ? odd characters");
    int64_t simulated = 0;
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(json, "traceEvents"), i, event)
    {
        const json_t *args = json_object_get(event, "args");
        bool any = json_object_get(args, "played"); /* a thread may have come too late for any */
        if (any && strcmp(text_of(event, "name"), "simulating") == 0)
            simulated += integer_of(args, "played");
    }
    cr_assert_eq(simulated, result.simulated);
    json_decref(json);
    search_log_close(&log);
    search_result_clear(&result);
    space_close(&space);
    hardware_clear(&hw);
}

Test(search_trace, an_empty_one_is_well_formed)
{
    struct search_log log;
    search_log_open(&log);
    json_t *json = written(write_search, &log);
    cr_assert_eq(expect_chrome(json), 0);
    json_decref(json);
    search_log_close(&log);
}

Test(search_trace, memory_is_bounded)
{
    struct search_log log;
    struct error error;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    search_log_open(&log);
    for (int64_t i = 0; i < SEARCH_LOG_MAX + 7; i++) {
        struct search_span span = {.start_ns = i + 1, .end_ns = i + 2};
        log.trace.span(log.trace.context, &span);
    }
    cr_assert_eq(search_log_lost(&log), 7);
    cr_assert_leq(malloc_usable_size(log.spans), 2 * (size_t)SEARCH_LOG_MAX * sizeof *log.spans);
    cr_assert_eq(search_log_write(&log, "full", out, &error), STATUS_OK);
    fclose(out);
    cr_assert_not_null(strstr(text + length - 200, "the trace is full"));
    cr_assert_not_null(strstr(text + length - 200, "\"events that it lacks\":7}"));
    free(text);
    search_log_close(&log);
}

/* ------------------------------------------------------------------ programs */

struct simulated {
    struct trace_log log;
    struct program program;
    int cores;
    bool in_step;
};

static enum status write_program(const void *what, FILE *out, struct error *error)
{
    const struct simulated *simulated = what;
    return trace_log_write(&simulated->log, &simulated->program, simulated->cores,
                           simulated->in_step, out, error);
}

static const char loads[] = "MTE2 gm->l1 bytes=2800\n"
                            "MTE3 ub->gm bytes=1400\n"
                            "MTE2 gm->l1 bytes=2800\n"
                            "set MTE2 MTE1 0\n"
                            "wait MTE2 MTE1 0\n";

/* Of a bus: how many moves at most, and how many at the end. */
static void expect_moves(const json_t *json, int64_t most)
{
    int64_t largest = 0, last = -1;
    double at_us = 0;
    size_t i;
    json_t *event;
    json_array_foreach(json_object_get(json, "traceEvents"), i, event)
    {
        if (text_of(event, "ph")[0] != 'C')
            continue;
        last = integer_of(json_object_get(event, "args"), "moves");
        largest = last > largest ? last : largest;
        cr_assert_geq(last, 0);
        cr_assert_leq(at_us, number_of(event, "ts"));
        at_us = number_of(event, "ts");
    }
    cr_assert_eq(largest, most);
    cr_assert_eq(last, 0);
}

Test(search_trace, program_shows_pipes_waits_and_buses)
{
    for (int in_step = 0; in_step < 2; in_step++) {
        struct hardware hw;
        struct timeline timeline;
        struct error error;
        struct simulated simulated = {.cores = 2, .in_step = in_step};
        struct simulator *simulator = simulator_new();
        machine_load(&hw, "");
        strcpy(hw.pipes[0].name, "a\"b");
        trace_log_open(&simulated.log);
        cr_assert_eq(
            program_parse(&hw, "loads", loads, sizeof loads - 1, &simulated.program, &error),
            STATUS_OK, "%s", error.text);
        struct simulate_options how = {
            .cores = 2, .separately = !in_step, .trace = &simulated.log.trace};
        cr_assert_eq(simulate(simulator, &simulated.program, &how, &timeline, &error), STATUS_OK);
        json_t *json = written(write_program, &simulated);
        cr_assert_eq(expect_chrome(json), (size_t)simulated.log.count);
        cr_assert_geq(simulated.log.count, in_step ? 4 : 8);
        expect_moves(json, 4); /* two of each core */
        json_decref(json);
        trace_log_close(&simulated.log);
        program_clear(&simulated.program);
        hardware_clear(&hw);
        simulator_free(simulator);
    }
}
