/* The simulator on thousands of random programs and machines: against a plain second simulator,
 * and against what must hold between its own answers. */
#include "core/program_text.h"
#include "costmodel/bound.h"
#include "costmodel/simulate.h"
#include "hardware/load.h"
#include "tests/support/cases.h"
#include "tests/support/random_hardware.h"
#include "tests/support/random_pipeline.h"
#include "tests/support/random_program.h"
#include "tests/support/reference_simulator.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* What one test works with: a machine and a program, drawn anew for every case. */
struct bench {
    gsl_rng *rng;
    struct hardware base, hw;
    struct simulator *simulator;
    char *text;
    struct program program;
};

static struct bench bench;

static void enter(void)
{
    struct error error;
    setenv("AUTOTUNE_CONFIGS", SOURCE_DIR "/configs", 1);
    cr_assert_eq(hardware_load("ascend310", NULL, &bench.base, &error), STATUS_OK, "%s",
                 error.text);
    bench.rng = gsl_rng_alloc(gsl_rng_mt19937);
    bench.simulator = simulator_new();
    cr_assert(bench.rng && bench.simulator);
}

static void leave(void)
{
    hardware_clear(&bench.base);
    simulator_free(bench.simulator);
    gsl_rng_free(bench.rng);
}

TestSuite(simulate_properties, .init = enter, .fini = leave);

/* Seeds from 1 on. */
static unsigned long cases(int all)
{
    return (unsigned long)test_cases(all);
}

static int below(int limit)
{
    return (int)gsl_rng_uniform_int(bench.rng, (unsigned long)limit);
}

static void parse(const char *text, struct program *program)
{
    struct error error;
    cr_assert_not_null(text);
    cr_assert_eq(program_parse(&bench.hw, "random", text, strlen(text), program, &error), STATUS_OK,
                 "%s in\n%s", error.text, text);
}

/* Draws case number `seed`: every case can be had alone. */
static void draw_machine(unsigned long seed, const struct random_hardware *options)
{
    gsl_rng_set(bench.rng, seed);
    if (seed % 8 == 0) {
        bench.hw = bench.base;
        bench.hw.fact_count = 0;
        bench.hw.facts = NULL;
    } else {
        random_hardware(&bench.base, options, bench.rng, &bench.hw);
    }
}

static void draw_program(const struct random_program *options)
{
    bench.text = random_program_text(&bench.hw, options, bench.rng);
    parse(bench.text, &bench.program);
}

static void draw_pipeline(const struct random_pipeline *options)
{
    bench.text = random_pipeline_text(&bench.hw, options, bench.rng);
    parse(bench.text, &bench.program);
}

static void drop(void)
{
    program_clear(&bench.program);
    free(bench.text);
}

static struct timeline play(struct simulate_options options)
{
    struct timeline timeline;
    struct error error;
    memset(&timeline, 0xa5, sizeof timeline);
    cr_assert_eq(simulate(bench.simulator, &bench.program, &options, &timeline, &error), STATUS_OK,
                 "%s in\n%s", error.text, bench.text);
    return timeline;
}

static void print_machine(void)
{
    const struct hardware *hw = &bench.hw;
    fprintf(stderr, "issue %lld dispatch %lld skew %lld fs, %d registers\n",
            (long long)hw->issue_fs, (long long)hw->dispatch_fs, (long long)hw->core_skew_fs,
            hw->flag_registers);
    for (int b = 0; b < hw->bus_count; b++)
        for (int n = 0; n < hw->buses[b].sharers; n++)
            fprintf(stderr, "bus %d, %d transfers: %lld bytes/s\n", b, n + 1,
                    (long long)hw->buses[b].total_bytes_per_s[n]);
    for (int p = 0; p < hw->path_count; p++)
        fprintf(stderr, "path %d on %s, bus %d\n", p, hw->pipes[hw->paths[p].pipe].name,
                hw->paths[p].bus);
}

/* All fields, but for a deadlock only where it is: what else happened has no meaning then. */
static void expect_same(const struct timeline *found, const struct timeline *expected,
                        const char *what, unsigned long seed)
{
    bool same = found->blocked == expected->blocked;
    if (same && expected->blocked < 0)
        same = found->end_fs == expected->end_fs &&
               memcmp(found->busy_fs, expected->busy_fs, sizeof found->busy_fs) == 0 &&
               memcmp(found->active_fs, expected->active_fs, sizeof found->active_fs) == 0;
    if (!same)
        print_machine();
    cr_assert(same, "%s, case %lu: end %lld, expected %lld; blocked %d, expected %d; in\n%s", what,
              seed, (long long)found->end_fs, (long long)expected->end_fs, found->blocked,
              expected->blocked, bench.text);
}

static struct random_program small_program(bool wild)
{
    return (struct random_program){
        .statements = 3 + below(40),
        .max_depth = below(4),
        .max_count = 1 + below(5),
        .loop_percent = 5 + below(20),
        .flag_percent = below(50),
        .scalar_percent = below(3) ? 0 : below(20),
        .barrier_percent = below(3) ? 0 : below(15),
        .zero_work = true,
        .wild_flags = wild,
    };
}

static struct random_pipeline long_pipeline(int64_t played)
{
    return (struct random_pipeline){
        .executed = 50 + (int64_t)((double)played * gsl_rng_uniform(bench.rng)),
        .max_depth = 1 + below(4),
        .scalar_percent = below(3) ? 0 : below(30),
        .barrier_percent = below(3) ? 0 : below(30),
        .run_ahead = below(3) == 0,
    };
}

/* ---- against the reference ---- */

static void compare_with_reference(unsigned long seed)
{
    int cores = 1 + below(REFERENCE_MAX_CORES);
    struct timeline expected;
    if (!reference_simulate(&bench.program, cores, false, &expected))
        return;
    struct timeline found = play((struct simulate_options){.cores = cores, .separately = true});
    expect_same(&found, &expected, "separately against the reference", seed);
    found = play((struct simulate_options){.cores = cores, .execute_fully = true});
    expect_same(&found, &expected, "fully against the reference", seed);
    found = play((struct simulate_options){.cores = cores});
    expect_same(&found, &expected, "folded against the reference", seed);
    cr_assert(reference_simulate(&bench.program, cores, true, &expected));
    found = play((struct simulate_options){.cores = cores, .separately = true, .skew = true});
    expect_same(&found, &expected, "skewed against the reference", seed);
}

Test(simulate_properties, agrees_with_the_reference)
{
    for (unsigned long seed = 1; seed <= cases(800); seed++) {
        draw_machine(seed, &(struct random_hardware){0});
        struct random_program options = small_program(seed % 5 == 0);
        draw_program(&options);
        compare_with_reference(seed);
        drop();
    }
}

Test(simulate_properties, agrees_with_the_reference_on_pipelines)
{
    for (unsigned long seed = 1; seed <= cases(120); seed++) {
        draw_machine(seed, &(struct random_hardware){0});
        struct random_pipeline options = long_pipeline(500);
        draw_pipeline(&options);
        compare_with_reference(seed);
        drop();
    }
}

Test(simulate_properties, agrees_with_the_reference_on_dispatch)
{
    for (unsigned long seed = 1; seed <= cases(400); seed++) {
        draw_machine(seed, &(struct random_hardware){.dispatch = true});
        struct random_program options = small_program(seed % 5 == 0);
        draw_program(&options);
        compare_with_reference(seed);
        drop();
    }
}

/* ---- folding ---- */

/* Cases in which something was folded: without them the test would prove nothing. */
static void expect_folding_is_exact(unsigned long seed, int cores)
{
    struct timeline fully = play((struct simulate_options){.cores = cores, .execute_fully = true});
    struct timeline folded = play((struct simulate_options){.cores = cores});
    expect_same(&folded, &fully, "folded against fully played", seed);
}

Test(simulate_properties, folding_is_exact_on_pipelines)
{
    for (unsigned long seed = 1; seed <= cases(400); seed++) {
        draw_machine(seed, &(struct random_hardware){0});
        struct random_pipeline options = long_pipeline(seed % 20 ? 10000 : 200000);
        draw_pipeline(&options);
        expect_folding_is_exact(seed, 1 + below(4));
        drop();
    }
}

Test(simulate_properties, folding_is_exact_on_anything)
{
    for (unsigned long seed = 1; seed <= cases(400); seed++) {
        draw_machine(seed, &(struct random_hardware){0});
        struct random_program options = small_program(seed % 4 == 0);
        options.loop_percent = 20 + below(30);
        options.max_count = options.max_depth > 2 ? 10 : options.max_depth > 1 ? 40 : 1000;
        draw_program(&options);
        if (bench.program.executed < 200000)
            expect_folding_is_exact(seed, 1 + below(4));
        drop();
    }
}

/* ---- cores ---- */

Test(simulate_properties, in_step_equals_separately)
{
    for (unsigned long seed = 1; seed <= cases(120); seed++) {
        draw_machine(seed, &(struct random_hardware){.dispatch = true});
        struct random_pipeline options = long_pipeline(2000);
        draw_pipeline(&options);
        int cores = 1 + below(8);
        struct timeline apart = play((struct simulate_options){.cores = cores, .separately = true});
        struct timeline together = play((struct simulate_options){.cores = cores});
        expect_same(&together, &apart, "in step against separately", seed);
        drop();
    }
}

/* With at most two kinds of pipes on the bus, a transfer of 2c cores moves at best as fast as one
 * of c cores does at worst. (3 cores and 4 cannot be compared so: who starts later may meet fewer.)
 * Rates are whole bytes a second and ends whole femtoseconds, which leaves a trace of slack. */
Test(simulate_properties, twice_the_cores_are_never_faster)
{
    for (unsigned long seed = 1; seed <= cases(400); seed++) {
        draw_machine(seed, &(struct random_hardware){.two_bus_pipes = true});
        struct random_program options = small_program(false);
        draw_program(&options);
        int64_t before = 0;
        for (int cores = 1; cores <= 8; cores *= 2) {
            int64_t end = play((struct simulate_options){.cores = cores}).end_fs;
            cr_assert_geq(end + end / 1000000000 + 100, before,
                          "case %lu: %lld fs with %d cores, %lld with half, in\n%s", seed,
                          (long long)end, cores, (long long)before, bench.text);
            before = end;
        }
        drop();
    }
}

/* ---- bounds ---- */

static void expect_bound_holds(unsigned long seed, int cores)
{
    struct work work;
    struct error error;
    struct bound_plan plan;
    struct work_layout layout;
    cr_assert_eq(work_of_program(&bench.program, cores, &work, &layout, &error), STATUS_OK, "%s",
                 error.text);
    bound_plan_make(&plan, &bench.hw, cores, &layout);
    int64_t bound = bound_fs(&plan, &work);
    struct timeline timeline = play((struct simulate_options){.cores = cores});
    cr_assert_geq(bound, 0);
    if (timeline.blocked >= 0 || bound <= timeline.end_fs)
        return;
    print_machine();
    cr_assert_fail("case %lu: %d cores end at %lld, before the bound %lld, in\n%s", seed, cores,
                   (long long)timeline.end_fs, (long long)bound, bench.text);
}

Test(simulate_properties, bounds_hold)
{
    for (unsigned long seed = 1; seed <= cases(800); seed++) {
        draw_machine(seed, &(struct random_hardware){.two_bus_pipes = seed % 2, .dispatch = true});
        struct random_program options = small_program(false);
        draw_program(&options);
        expect_bound_holds(seed, 1 + below(4));
        drop();
    }
}

Test(simulate_properties, bounds_hold_on_pipelines)
{
    for (unsigned long seed = 1; seed <= cases(240); seed++) {
        draw_machine(seed, &(struct random_hardware){.two_bus_pipes = seed % 2});
        struct random_pipeline options = long_pipeline(2000);
        draw_pipeline(&options);
        expect_bound_holds(seed, 1 + below(4));
        drop();
    }
}

/* ---- traces ---- */

struct watcher {
    int64_t end_fs[8][HARDWARE_MAX_PIPES];
    int64_t worked_fs[8][HARDWARE_MAX_PIPES];
    bool overlap;
};

/* Events of one pipe come in its own order. */
static void watch(void *context, int core, int pipe, int32_t instruction, int64_t start_fs,
                  int64_t end_fs)
{
    struct watcher *watcher = context;
    watcher->overlap |= start_fs < watcher->end_fs[core][pipe] || end_fs < start_fs;
    watcher->end_fs[core][pipe] = end_fs;
    if (bench.program.items[instruction].kind != INSTRUCTION_WAIT)
        watcher->worked_fs[core][pipe] += end_fs - start_fs;
}

Test(simulate_properties, traces_add_up)
{
    for (unsigned long seed = 1; seed <= cases(120); seed++) {
        draw_machine(seed, &(struct random_hardware){.dispatch = true});
        struct random_program options = small_program(false);
        draw_program(&options);
        struct watcher watcher = {.overlap = false};
        struct trace trace = {&watcher, watch};
        int cores = 1 + below(4);
        struct timeline plain = play((struct simulate_options){.cores = cores, .separately = true});
        struct timeline traced =
            play((struct simulate_options){.cores = cores, .separately = true, .trace = &trace});
        expect_same(&traced, &plain, "traced", seed);
        cr_assert_not(watcher.overlap, "case %lu, in\n%s", seed, bench.text);
        for (int core = 0; core < cores; core++)
            for (int p = 0; p < bench.hw.pipe_count; p++) {
                cr_assert_eq(watcher.worked_fs[core][p], plain.busy_fs[p], "case %lu pipe %d", seed,
                             p);
                cr_assert_leq(watcher.end_fs[core][p], plain.end_fs);
            }
        drop();
    }
}

/* ---- one simulator, many programs ---- */

enum { KEPT = 40 };

/* A program and the machine that it belongs to. */
struct kept {
    struct hardware hw;
    struct program program;
    struct timeline alone; /* played by a simulator of its own */
};

static struct timeline play_kept(const struct kept *kept, struct simulator *simulator, int which)
{
    struct timeline timeline;
    struct error error;
    struct simulate_options options = {.cores = 1 + which % 4, .separately = which % 3 == 0};
    cr_assert_eq(simulate(simulator, &kept[which].program, &options, &timeline, &error), STATUS_OK,
                 "%s", error.text);
    return timeline;
}

static void keep(struct kept *kept, int which)
{
    draw_machine((unsigned long)which, &(struct random_hardware){.dispatch = which % 2});
    struct random_program options = small_program(which % 4 == 0);
    draw_program(&options);
    free(bench.text);
    kept[which].hw = bench.hw;
    kept[which].program = bench.program;
    kept[which].program.hw = &kept[which].hw;
    struct simulator *fresh = simulator_new();
    cr_assert(fresh);
    kept[which].alone = play_kept(kept, fresh, which);
    simulator_free(fresh);
}

Test(simulate_properties, order_of_use_changes_nothing)
{
    struct kept *kept = calloc(KEPT, sizeof *kept);
    cr_assert(kept);
    for (int i = 0; i < KEPT; i++)
        keep(kept, i);
    for (int i = 0; i < test_cases(400); i++) {
        int which = below(KEPT);
        struct timeline again = play_kept(kept, bench.simulator, which);
        cr_assert_eq(memcmp(&again, &kept[which].alone, sizeof again), 0, "program %d", which);
    }
    for (int i = 0; i < KEPT; i++)
        program_clear(&kept[i].program);
    free(kept);
}

/* ---- text ---- */

static char *printed(const struct program *program)
{
    char *text;
    size_t size;
    struct error error;
    FILE *stream = open_memstream(&text, &size);
    cr_assert(stream);
    cr_assert_eq(program_print(program, stream, &error), STATUS_OK, "%s", error.text);
    cr_assert_eq(fclose(stream), 0);
    return text;
}

/* Equal but for line numbers. */
static bool same_instruction(struct instruction a, struct instruction b)
{
    a.line = b.line = 0;
    return memcmp(&a, &b, sizeof a) == 0;
}

static void expect_equal_programs(const struct program *a, const struct program *b,
                                  unsigned long seed, const char *text)
{
    cr_assert_eq(a->count, b->count);
    cr_assert_eq(a->region_count, b->region_count);
    cr_assert_eq(a->executed, b->executed);
    for (int32_t i = 0; i < a->count; i++)
        cr_assert(same_instruction(a->items[i], b->items[i]), "case %lu, instruction %d of\n%s",
                  seed, i, text);
    for (int32_t r = 0; r < a->region_count; r++)
        cr_assert_eq(memcmp(&a->regions[r], &b->regions[r], sizeof *a->regions), 0,
                     "case %lu, region %d of\n%s", seed, r, text);
}

Test(simulate_properties, text_survives_a_round_trip)
{
    for (unsigned long seed = 1; seed <= cases(400); seed++) {
        struct program again;
        draw_machine(seed, &(struct random_hardware){0});
        struct random_program options = small_program(seed % 2);
        options.operands = true;
        options.beyond_percent = 5;
        draw_program(&options);
        char *once = printed(&bench.program);
        parse(once, &again);
        expect_equal_programs(&bench.program, &again, seed, bench.text);
        char *twice = printed(&again);
        cr_assert_str_eq(once, twice);
        free(once);
        free(twice);
        program_clear(&again);
        drop();
    }
}
