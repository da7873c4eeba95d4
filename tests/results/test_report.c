/* Pages of --report without a browser: what is in them, and that nothing in them can get out of
 * their data. tests/cli/test_report_pages.sh opens them in one. */
#include "core/program_text.h"
#include "core/stop.h"
#include "costmodel/simulate.h"
#include "jobs/tune/report_program.h"
#include "kernels/matmul/matmul.h"
#include "results/report_landscape.h"
#include "results/report_network.h"
#include "results/report_page.h"
#include "results/report_profile.h"
#include "results/report_timeline.h"
#include "results/report_tune.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"
#include "tests/support/random_program.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HOSTILE                                                                                    \
    "</script><script>alert(1)</script><!-- & \xe2\x80\xa8 \" \\ \x01 <img src=x onerror=y>"

static struct hardware hw;

static void load(void)
{
    machine_load(&hw, "");
}

static void unload(void)
{
    hardware_clear(&hw);
}

TestSuite(report, .init = load, .fini = unload);

/* The page and the JSON in it; clears *report. */
static json_t *written(struct report *report, char **page)
{
    size_t length;
    struct error error;
    FILE *out = open_memstream(page, &length);
    cr_assert_eq(report_write(report, out, &error), STATUS_OK, "%s", error.text);
    fclose(out);
    report_clear(report);
    cr_assert_gt(length, report_before_size + report_after_size);
    char *data =
        strndup(*page + report_before_size, length - report_before_size - report_after_size);
    json_error_t where;
    json_t *document = json_loads(data, 0, &where);
    cr_assert(document, "%s", where.text);
    for (const char *c = data; *c; c++)
        cr_assert(*c != '<' && *c != '>' && *c != '&' && *c >= ' ' && *c < 127, "'%c' in the data",
                  *c);
    free(data);
    return document;
}

static struct report empty(const char *text)
{
    return (struct report){text, text, text, text, json_array()};
}

static json_t *section_of(json_t *document, size_t index, const char *kind)
{
    json_t *section = json_array_get(json_object_get(document, "sections"), index);
    cr_assert(section, "there is no section %zu", index);
    cr_assert_str_eq(json_string_value(json_object_get(section, "kind")), kind);
    return section;
}

Test(report, texts_stay_in_the_data)
{
    char *page;
    struct report report = empty(HOSTILE);
    json_t *facts = report_facts(HOSTILE);
    report_fact(facts, "name", "%s", HOSTILE);
    report_add(&report, facts);
    json_t *table = report_table(HOSTILE, HOSTILE);
    report_column(table, HOSTILE, NULL);
    json_array_append_new(report_row(table), json_string(HOSTILE));
    report_add(&report, table);
    json_t *document = written(&report, &page);
    cr_expect_str_eq(json_string_value(json_object_get(document, "title")), HOSTILE);
    cr_expect_str_eq(json_string_value(json_object_get(document, "command")), HOSTILE);
    json_t *row = json_array_get(json_object_get(section_of(document, 0, "facts"), "rows"), 0);
    cr_expect_str_eq(json_string_value(json_array_get(row, 1)), HOSTILE);
    section_of(document, 1, "table");
    json_decref(document);
    free(page);
}

/* File names may hold any bytes. */
Test(report, bytes_that_are_no_text_are_replaced)
{
    char *page;
    struct report report = empty("\xff\xfe.txt");
    json_t *document = written(&report, &page);
    cr_expect_str_eq(json_string_value(json_object_get(document, "title")), "?"
                                                                            "?.txt");
    json_decref(document);
    free(page);
}

Test(report, a_section_that_is_missing_is_no_page)
{
    struct error error;
    struct report report = empty("x");
    report_add(&report, report_facts("kept"));
    report_add(&report, NULL);
    report_add(&report, report_facts("more"));
    FILE *out = fopen("/dev/null", "w");
    cr_expect_eq(report_write(&report, out, &error), STATUS_NO_MEMORY);
    fclose(out);
    report_clear(&report);
}

/* ------------------------------------------------------------------ timelines */

struct seen {
    int64_t count[HARDWARE_MAX_PIPES], busy_fs[HARDWARE_MAX_PIPES];
    const struct program *program;
};

static void see(void *context, int core, int pipe, int32_t instruction, int64_t start_fs,
                int64_t end_fs)
{
    struct seen *seen = context;
    (void)core;
    seen->count[pipe] += end_fs > start_fs;
    if (seen->program->items[instruction].kind != INSTRUCTION_WAIT)
        seen->busy_fs[pipe] += end_fs - start_fs;
}

/* Blocks are in order, within the time, and have all events and all the time of their pipe. */
static int64_t check_blocks(const struct report_timeline *gathered, const struct seen *seen)
{
    int64_t blocks = 0;
    for (int p = 0; p < hw.pipe_count; p++) {
        const struct report_lane *lane = &gathered->lanes[p];
        int64_t count = 0, busy_fs = 0, after_fs = 0;
        for (int64_t i = 0; i < lane->count; i++) {
            const struct report_block *block = &lane->blocks[i];
            cr_assert_geq(block->start_fs, after_fs);
            cr_assert_gt(block->end_fs, block->start_fs);
            cr_assert_leq(block->busy_fs, block->end_fs - block->start_fs);
            after_fs = block->end_fs;
            count += block->count;
            busy_fs += block->busy_fs;
        }
        cr_assert_leq(after_fs, gathered->end_fs);
        cr_assert_eq(count, seen->count[p]);
        cr_assert_eq(busy_fs, seen->busy_fs[p]);
        blocks += lane->count;
    }
    return blocks;
}

static struct program read_text(const char *text)
{
    struct program program;
    struct error error;
    cr_assert_eq(program_parse(&hw, "test", text, strlen(text), &program, &error), STATUS_OK, "%s",
                 error.text);
    return program;
}

static struct timeline play(const struct program *program, const struct trace *trace)
{
    struct timeline timeline;
    struct error error;
    struct simulator *simulator = simulator_new();
    struct simulate_options how = {.cores = 1, .trace = trace};
    cr_assert_eq(simulate(simulator, program, &how, &timeline, &error), STATUS_OK, "%s",
                 error.text);
    simulator_free(simulator);
    return timeline;
}

static int64_t check_timeline(const struct program *program, int64_t events)
{
    struct report_timeline gathered;
    struct seen seen = {.program = program};
    struct timeline timeline = play(program, &(struct trace){&seen, see});
    report_timeline_open(&gathered, program, timeline.end_fs, events);
    play(program, &gathered.trace);
    int64_t blocks = check_blocks(&gathered, &seen);
    json_t *section = report_timeline_section(&gathered, &timeline, "Timeline");
    cr_assert(section);
    cr_expect_eq(json_array_size(json_object_get(section, "pipes")), (size_t)hw.pipe_count);
    cr_expect_eq(json_object_get(section, "note") != NULL, program->executed > events);
    json_decref(section);
    report_timeline_close(&gathered);
    return blocks;
}

Test(report, timelines_keep_every_event_and_stay_small)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 0; i < test_cases(300); i++) {
        struct random_program options = {.statements = 60,
                                         .max_depth = 3,
                                         .max_count = 9,
                                         .loop_percent = 15,
                                         .flag_percent = 15,
                                         .scalar_percent = 5,
                                         .operands = true,
                                         .zero_work = true};
        gsl_rng_set(rng, (unsigned long)i + 1);
        char *text = random_program_text(&hw, &options, rng);
        struct program program = read_text(text);
        for (int64_t events = 40; events <= 4000; events *= 10)
            cr_assert_leq(check_timeline(&program, events),
                          (program.executed > events ? events + 3 * hw.pipe_count
                                                     : program.executed * hw.pipe_count));
        program_clear(&program);
        free(text);
    }
    gsl_rng_free(rng);
}

Test(report, short_timelines_are_exact_and_long_ones_merged)
{
    struct program program =
        read_text("loop 1000\n MTE2 gm->l1 bytes=512 dst=l1:0\n MTE1 l1->l0a bytes=512 src=l1:0 "
                  "dst=l0a:0\nend\n");
    cr_expect_eq(check_timeline(&program, 2000), 2000);
    int64_t merged = check_timeline(&program, 200);
    cr_expect(merged > 50 && merged <= 200, "%lld blocks", (long long)merged);
    program_clear(&program);
}

/* ------------------------------------------------------------------ programs */

Test(report, a_program_has_a_verdict_a_roofline_and_a_timeline)
{
    char *page;
    struct error error;
    struct diagnosis_thresholds thresholds = {0.8, 0.65, 0.8};
    struct report report = empty("x");
    struct program program =
        read_text("loop 50\n MTE2 gm->l1 bytes=8192 dst=l1:0\n MTE1 l1->l0a bytes=8192 src=l1:0 "
                  "dst=l0a:0\n M mmad m=64 k=64 n=32 type=f16 a=l0a:0 b=l0b:0 dst=l0c:0 init=1\n"
                  "V relu elements=4096 type=f16 src=ub:0 dst=ub:0\n MTE3 ub->gm bytes=4096 "
                  "src=ub:0\n S assign count=3\nend\n");
    struct timeline timeline = play(&program, NULL);
    cr_assert_eq(report_program(&report, &program, 1, NULL, &timeline, &thresholds, NULL, &error),
                 STATUS_OK);
    json_t *document = written(&report, &page);
    section_of(document, 0, "facts");
    section_of(document, 1, "table");
    json_t *pairs = json_object_get(section_of(document, 2, "roofline"), "pairs"), *pair;
    size_t index;
    cr_expect_eq(json_array_size(pairs), 7, "%zu pairs", json_array_size(pairs));
    json_array_foreach(pairs, index, pair)
    {
        double x = json_real_value(json_object_get(pair, "intensity"));
        double rate = json_real_value(json_object_get(pair, "rate"));
        double roof = fmin(json_real_value(json_object_get(pair, "peak")),
                           x * json_real_value(json_object_get(pair, "bandwidth")));
        cr_expect_leq(rate, roof * (1 + 1e-9));
    }
    section_of(document, 3, "timeline");
    json_decref(document);
    free(page);
    program_clear(&program);
}

Test(report, a_deadlock_has_no_timeline)
{
    char *page;
    struct error error;
    struct diagnosis_thresholds thresholds = {0.8, 0.65, 0.8};
    struct report report = empty("x");
    struct program program = read_text("MTE2 gm->l1 bytes=64 dst=l1:0\nwait MTE2 MTE1 0\n");
    struct timeline timeline = play(&program, NULL);
    cr_assert_eq(report_program(&report, &program, 1, NULL, &timeline, &thresholds, "it", &error),
                 STATUS_OK);
    json_t *document = written(&report, &page);
    cr_expect_eq(json_array_size(json_object_get(document, "sections")), 2);
    json_decref(document);
    free(page);
    program_clear(&program);
}

/* A page that was told to end has a line for what it lacks. */
Test(report, what_is_cut_off_is_named)
{
    char *page;
    struct error error;
    struct problem problem;
    struct space space;
    const volatile sig_atomic_t told = 1;
    const struct stop stop = {.told = &told};
    struct report report = empty("x");
    cr_assert_eq(problem_parse(&matmul_operator, "64x64x64", &problem, &error), STATUS_OK);
    cr_assert_eq(
        space_open(&problem, operator_default_space(&matmul_operator, &hw), &hw, 1, &space, &error),
        STATUS_OK);
    struct search_options options = {.strategy = "bound", .threads = 1, .top = 1};
    struct search_result result;
    cr_assert_eq(search(&space, &options, &result, &error), STATUS_OK, "%s", error.text);
    space.stop = &stop;
    cr_assert_eq(report_landscapes(&report, &space, &result, NULL, 1, &error), STATUS_OK);
    cr_assert_eq(report_tiling(&report, &space, &result.best[0].tiling, NULL, &error), STATUS_OK);
    json_t *document = written(&report, &page);
    cr_expect_eq(json_array_size(json_object_get(document, "sections")), 2);
    section_of(document, 0, "text");
    section_of(document, 1, "text");
    json_decref(document);
    free(page);
    search_result_clear(&result);
    space_close(&space);
}

/* ------------------------------------------------------------------ maps */

Test(report, cells_of_a_map_say_what_is_known)
{
    static const struct axis axes[] = {{.name = "m_slice"}, {.name = "n_slice"}};
    struct landscape_cell cells[4] = {
        {.points = 1, .legal = 1, .simulated = 1, .time_fs = 2000000, .bound_fs = 1000000},
        {.points = 1, .legal = 1, .bound_fs = 5000000},
        {.points = 1, .limit = "L1"},
        {0},
    };
    struct landscape map = {.kind = LANDSCAPE_SLICE,
                            .axis = {&axes[0], &axes[1]},
                            .count = {2, 2},
                            .value = {{16, 32}, {16, 48}},
                            .left_out = {0, 7},
                            .best_fs = 2000000,
                            .cells = cells};
    struct report report = empty("x");
    report_landscape(&report, &map);
    json_t *section = json_array_get(report.sections, 0);
    char *text = json_dumps(json_object_get(section, "cells"), JSON_COMPACT);
    cr_expect_str_eq(text, "[[2.0,[5.0]],[\"L1\",null]]");
    free(text);
    cr_expect(strstr(json_string_value(json_object_get(section, "note")),
                     "7 values of n_slice are not shown"));
    text = json_dumps(json_object_get(section, "y"), JSON_COMPACT);
    cr_expect_str_eq(text, "{\"name\":\"n_slice\",\"values\":[\"16\",\"48\"],\"best\":0}");
    free(text);
    report_clear(&report);
}

/* ------------------------------------------------------------------ profiles */

Test(report, a_profile_shows_times_in_ns_and_bounded_lists)
{
    json_t *names = json_array();
    for (int i = 0; i < 3000; i++)
        json_array_append_new(names, json_pack("{s:s, s:f, s:f, s:i, s:f, s:n}", "name", HOSTILE,
                                               "time_share", 0.5, "time_us", 3000.0 - i, "count", 1,
                                               "overlap_us", 0.5, "verdict"));
    json_t *summary =
        json_pack("{s:s, s:i, s:f, s:[], s:[], s:[], s:o}", "format", "op_summary", "rows", 3000,
                  "time_us", 1e6, "causes", "components", "types", "names", names);
    struct report report = empty("x");
    report_profile(&report, summary);
    json_t *section = json_array_get(report.sections, 2);
    cr_expect_str_eq(json_string_value(json_object_get(section, "kind")), "pareto");
    cr_expect_eq(json_array_size(json_object_get(section, "rows")), 1000);
    cr_expect_eq(json_array_size(json_object_get(section, "bars")), 200);
    json_t *first = json_array_get(json_object_get(section, "rows"), 0);
    cr_expect_str_eq(json_string_value(json_array_get(first, 0)), HOSTILE);
    cr_expect_float_eq(json_real_value(json_array_get(first, 2)), 3e6, 1e-6);
    cr_expect(json_is_null(json_array_get(first, 5)));
    cr_expect_float_eq(json_real_value(json_object_get(section, "total_ns")), 1e9, 1e-3);
    report_clear(&report);
    json_decref(summary);
}

/* ------------------------------------------------------------------ networks */

static double added(json_t *rows, size_t column)
{
    double sum = 0;
    size_t index;
    json_t *row;
    json_array_foreach(rows, index, row)
    {
        sum += json_number_value(json_array_get(row, column));
    }
    return sum;
}

/* Of many operators the page has the first, and all of their time. */
Test(report, areas_of_a_network_are_bounded_and_add_up)
{
    enum { CALLS = 2500 };
    static struct operator_time times[CALLS];
    static struct call_tuned tuned[CALLS];
    char *page;
    double now_ns = 0, saved_ns = 0;
    struct error error;
    struct network network;
    struct operator_call *call;
    struct report report = empty("x");
    cr_assert_eq(network_begin("n.csv", &network, &error), STATUS_OK);
    for (int i = 0; i < CALLS; i++) {
        cr_assert_eq(network_add(&network, HOSTILE, HOSTILE, 0, 0, &call, &error), STATUS_OK);
        times[i] = (struct operator_time){1000 + i, 900, 9000, 0};
        call->count = 1 + i % 5;
        call->measured_ns = i % 3 ? 1500 + i : 0;
        call->uncovered = i % 7 ? NULL : strdup(HOSTILE);
        tuned[i].best_ns = i % 2 ? 1000 : 0;
        double one_ns = call->measured_ns > 0 ? call->measured_ns : times[i].predicted_ns;
        now_ns += call->uncovered ? 0 : one_ns * (double)call->count;
        saved_ns += call->uncovered || i % 2 == 0 ? 0 : (one_ns - 1000) * (double)call->count;
    }
    struct network_answer answer = {
        .file = "n.csv", .network = &network, .hw = &hw, .times = times, .tuned = tuned};
    cr_assert_eq(report_network(&report, &answer, &error), STATUS_OK);
    json_t *document = written(&report, &page);
    json_t *map = section_of(document, 1, "treemap"), *cells = json_object_get(map, "cells");
    cr_expect_eq(json_array_size(cells), 1001);
    cr_expect_eq(json_array_size(json_object_get(map, "rows")), 1000);
    cr_expect_float_eq(added(cells, 2), now_ns, 1e-6 * now_ns);
    cr_expect_float_eq(added(cells, 3), saved_ns, 1e-6 * saved_ns);
    cr_expect_eq(json_array_size(json_object_get(section_of(document, 2, "spans"), "rows")), 1);
    cr_expect_eq(json_array_size(json_object_get(section_of(document, 3, "table"), "rows")),
                 (CALLS + 6) / 7);
    json_decref(document);
    free(page);
    network_free(&network);
}
