/* Summaries of MatMul's space cann: they count what the program does, and their bounds hold. */
#include "core/work.h"
#include "kernels/matmul/matmul_cann_nesting.h"
#include "kernels/matmul/matmul_cann_summary.h"
#include "search/candidates.h"
#include "search/nearest.h"
#include "search/prefix.h"
#include "search/tiling_simulator.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"
#include "tests/support/random_cann.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct fixture {
    struct hardware hw;
    struct problem problem;
    struct space space;
    struct bounder bounder;
    struct tiling_simulator simulator;
    struct tiling tiling;
    int64_t time_fs;
    gsl_rng *rng;
};

static void for_random_tilings(unsigned long first, int count, void (*test)(struct fixture *f))
{
    struct error error;
    int tested = 0;
    for (unsigned long seed = first; seed < first + 40; seed++) {
        struct fixture f = {.rng = gsl_rng_alloc(gsl_rng_mt19937)};
        gsl_rng_set(f.rng, seed);
        random_cann_hardware(f.rng, &f.hw);
        cr_assert_eq(tiling_simulator_open(&f.simulator, &error), STATUS_OK);
        for (int i = 0; i < test_cases(count); i++) {
            random_cann_space(f.rng, &f.hw, i % 2 ? 400 : 150, &f.problem, &f.space);
            cr_assert_eq(bounder_open(&f.bounder, &f.space, &error), STATUS_OK);
            for (int j = 0; j < 3; j++)
                if (random_cann_tiling(f.rng, &f.space, &f.tiling)) {
                    struct timeline timeline;
                    cr_assert_eq(tiling_simulator_run(&f.simulator, &f.space, &f.tiling, 0,
                                                      &timeline, &error),
                                 STATUS_OK, "%s", error.text);
                    f.time_fs = timeline.end_fs;
                    test(&f);
                    tested++;
                }
            bounder_close(&f.bounder);
            space_close(&f.space);
        }
        tiling_simulator_close(&f.simulator);
        hardware_clear(&f.hw);
        gsl_rng_free(f.rng);
    }
    cr_assert_gt(tested, 40 * count / test_thinning());
}

static const char *text_of(const struct fixture *f)
{
    return random_cann_text(&f->problem, &f->space, &f->tiling);
}

/* ---- what a program does -------------------------------------------------------------------- */

static void expect_the_programs_counts(struct fixture *f)
{
    struct work work;
    struct work_total totals[HARDWARE_MAX_PRICES];
    double counted[HARDWARE_MAX_PRICES][3] = {{0}};
    struct error error;
    f->space.kind->summarise(&f->space, &f->tiling, &work);
    const struct work_layout *layout = &f->space.layouts[work.layout];
    cr_assert_eq(work_totals(&f->simulator.program, totals, &error), STATUS_OK);
    for (int l = 0; l < layout->total_count; l++) {
        counted[layout->price[l]][0] += work.instructions[l];
        counted[layout->price[l]][1] += work.units[l];
        counted[layout->price[l]][2] += work.burst_fs[l];
    }
    for (int p = 0; p < f->hw.price_count; p++) {
        cr_assert_eq(counted[p][0], (double)totals[p].instructions,
                     "price %d: %.0f instructions, counted %.0f: %s", p,
                     (double)totals[p].instructions, counted[p][0], text_of(f));
        cr_assert_eq(counted[p][1], (double)totals[p].units,
                     "price %d: %.0f units, counted %.0f: %s", p, (double)totals[p].units,
                     counted[p][1], text_of(f));
        cr_assert_eq(counted[p][2], (double)totals[p].burst_fs,
                     "price %d: bursts of %.0f fs, counted %.0f: %s", p, (double)totals[p].burst_fs,
                     counted[p][2], text_of(f));
    }
    cr_assert_eq(work.cores, f->space.kind->cores_used(&f->space, &f->tiling, 0));
}

Test(cann_bounds, summaries_count_what_programs_do)
{
    for_random_tilings(1, 60, expect_the_programs_counts);
}

static double sum_of_slack;
static int slack_count;

static void expect_bound_holds(struct fixture *f)
{
    struct work work;
    f->space.kind->summarise(&f->space, &f->tiling, &work);
    int64_t bound = bounder_fs(&f->bounder, &work);
    cr_assert_leq(bound, f->time_fs, "bound %.3f, time %.3f ns: %s", (double)bound / 1e6,
                  (double)f->time_fs / 1e6, text_of(f));
    sum_of_slack += 1 - (double)bound / (double)f->time_fs;
    slack_count++;
}

Test(cann_bounds, bounds_hold)
{
    for_random_tilings(1001, 100, expect_bound_holds);
    cr_log_info("mean slack %.4f", sum_of_slack / slack_count);
    cr_assert_lt(sum_of_slack / slack_count, 0.2);
}

/* ---- prefixes ----------------------------------------------------------------------------- */

/* One legal tiling: what all its prefixes promise. */
struct scan {
    struct fixture *f;
    int64_t legal, played;
    int64_t count[CANN_AXES]; /* legal tilings under the present prefix of each length */
    struct tiling prefix[CANN_AXES];
    int lengths;
};

static void expect_count(struct scan *scan, int i)
{
    struct fixture *f = scan->f;
    f->tiling = scan->prefix[i];
    if (scan->legal > 0)
        cr_assert_eq(cann_leaf_count(&f->space, &scan->prefix[i], cann_lengths[i]), scan->count[i],
                     "of length %d: %lld, not %lld: %s", cann_lengths[i],
                     (long long)cann_leaf_count(&f->space, &scan->prefix[i], cann_lengths[i]),
                     (long long)scan->count[i], text_of(f));
}

/* What all loads take, one after the other. */
static double loads_fs(const struct fixture *f, const struct work *work)
{
    static const enum cann_line lines[] = {LOAD_A, MISS_A, LOAD_B, MISS_B, LOAD_ELSEWHERE};
    const struct bound_plan *plan = bounder_plan(&f->bounder, work->cores, work->layout);
    double fs = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        fs += work->instructions[lines[i]] * plan->base_fs[lines[i]] + work->burst_fs[lines[i]] +
              work->units[lines[i]] * plan->fs_per_unit[lines[i]];
    return fs;
}

/* Nor do the loads take longer than they do, nor the pieces of any operand's; with base_m alone
 * known the pieces are those of both operands, and part of the bytes. */
static void expect_pieces(const struct fixture *f, int fixed, const struct work *leaf,
                          const struct work *least)
{
    cr_assert_leq(loads_fs(f, least), loads_fs(f, leaf) * (1 + 1e-12),
                  "%d values: loads of %.0f fs, not %.0f: %s", fixed, loads_fs(f, leaf),
                  loads_fs(f, least), text_of(f));
    for (int line = LOAD_A; fixed != CANN_BASE_M + 1 && line <= LOAD_B; line += LOAD_B - LOAD_A) {
        double fs = leaf->burst_fs[line] + leaf->burst_fs[line + 1];
        double least_fs = least->burst_fs[line] + least->burst_fs[line + 1];
        cr_assert_leq(least_fs, fs * (1 + 1e-12), "%d values: pieces of %.0f fs, not %.0f: %s",
                      fixed, fs, least_fs, text_of(f));
    }
}

static void expect_prefixes_hold(struct scan *scan, const struct tiling *tiling)
{
    struct fixture *f = scan->f;
    struct timeline timeline;
    struct error error;
    struct work leaf, work;
    cr_assert_eq(tiling_simulator_run(&f->simulator, &f->space, tiling, 0, &timeline, &error),
                 STATUS_OK);
    f->tiling = *tiling;
    f->space.kind->summarise(&f->space, tiling, &leaf);
    cr_assert_leq(bounder_fs(&f->bounder, &leaf), timeline.end_fs, "%s", text_of(f));
    for (int i = 0; i < scan->lengths; i++) {
        cann_summarise_least(&f->space, tiling, cann_lengths[i], &work);
        cr_assert_eq(work.cores, f->space.kind->cores_used(&f->space, tiling, 0));
        cr_assert_leq(bounder_fs(&f->bounder, &work), timeline.end_fs,
                      "length %d: bound %.3f, time %.3f ns: %s", cann_lengths[i],
                      (double)bounder_fs(&f->bounder, &work) / 1e6, (double)timeline.end_fs / 1e6,
                      text_of(f));
        expect_pieces(f, cann_lengths[i], &leaf, &work);
    }
    scan->played++;
}

static void see_tiling(void *context, const struct tiling *tiling, int64_t index)
{
    struct scan *scan = context;
    cr_assert(cann_legal(&scan->f->space, tiling));
    cr_assert_eq(space_index(&scan->f->space, tiling), index);
    for (int i = 0; i < scan->lengths; i++) {
        bool same =
            scan->legal > 0 && memcmp(tiling->value, scan->prefix[i].value,
                                      (size_t)cann_lengths[i] * sizeof tiling->value[0]) == 0;
        if (!same) {
            expect_count(scan, i);
            scan->prefix[i] = *tiling;
            scan->count[i] = 0;
        }
        scan->count[i]++;
    }
    scan->legal++;
    if (gsl_rng_uniform_int(scan->f->rng, 100) == 0)
        expect_prefixes_hold(scan, tiling);
}

enum { MOST_SCANNED = 1000000 };

/* All points of the space, by brute force where that is possible. */
static int64_t count_legal(const struct space *space)
{
    int64_t count = 0;
    struct tiling tiling;
    for (int64_t i = 0; i < space->candidates; i++) {
        space_tiling(space, i, &tiling);
        count += cann_legal(space, &tiling);
    }
    return count;
}

static void scan_space(struct fixture *f, int64_t *legal, int64_t *brute)
{
    struct scan scan = {.f = f};
    while (cann_lengths[scan.lengths])
        scan.lengths++;
    for (int64_t r = 0; r < space_roots(&f->space); r++)
        space_walk(&f->space, space_root(&f->space, r), 1, CANN_AXES, see_tiling, &scan);
    for (int i = 0; i < scan.lengths; i++)
        expect_count(&scan, i);
    *legal += scan.legal;
    if (f->space.candidates > 1000000)
        return;
    cr_assert_eq(count_legal(&f->space), scan.legal, "%s", text_of(f));
    ++*brute;
}

static void scan_spaces(unsigned long first, int count, int64_t most)
{
    struct error error;
    int64_t legal = 0, brute = 0, inside = 0;
    for (unsigned long seed = first; seed < first + (unsigned long)count; seed++) {
        struct fixture f = {.rng = gsl_rng_alloc(gsl_rng_mt19937)};
        gsl_rng_set(f.rng, seed);
        random_cann_hardware(f.rng, &f.hw);
        cr_assert_eq(tiling_simulator_open(&f.simulator, &error), STATUS_OK);
        random_cann_space(f.rng, &f.hw, most, &f.problem, &f.space);
        cr_assert_eq(bounder_open(&f.bounder, &f.space, &error), STATUS_OK);
        inside = space_count_legal(&f.space, MOST_SCANNED, 1);
        if (inside < MOST_SCANNED)
            scan_space(&f, &legal, &brute);
        bounder_close(&f.bounder);
        space_close(&f.space);
        tiling_simulator_close(&f.simulator);
        hardware_clear(&f.hw);
        gsl_rng_free(f.rng);
    }
    cr_log_info("%lld legal, %lld by brute force", (long long)legal, (long long)brute);
    cr_assert_gt(legal, MOST_SCANNED / 10 / test_thinning());
}

Test(cann_bounds, prefixes_of_small_spaces)
{
    scan_spaces(5000, test_cases(100), 70);
}

Test(cann_bounds, prefixes_of_larger_spaces)
{
    scan_spaces(6000, test_cases(80), 120);
}

/* Misses have a bus as wide as that of hits and stores, which one transfer fills: what misses
 * leaves all of it to the stores. */
static void add_second_bus(struct hardware *hw)
{
    int gm = hardware_buffer(hw, "gm", 2), l1 = hardware_buffer(hw, "l1", 2);
    int hit = hardware_path(hw, gm, l1), miss = hw->path_count++;
    hw->buses[1] = hw->buses[0];
    hw->bus_count = 2;
    for (int b = 0; b < 2; b++)
        for (int n = 1; n < hw->buses[b].sharers; n++)
            hw->buses[b].total_bytes_per_s[n] = hw->buses[b].total_bytes_per_s[0];
    hw->buffers[hw->buffer_count] = hw->buffers[gm];
    hw->cache = (struct cache){(int8_t)gm, (int8_t)hw->buffer_count++, 0, 1};
    hw->paths[miss] = hw->paths[hit];
    hw->paths[miss].source = hw->cache.behind;
    hw->paths[miss].bus = 1;
    hw->paths[miss].price = hw->paths[miss].transposed_price = (int16_t)hw->price_count;
    hw->prices[hw->price_count] = hw->prices[hw->paths[hit].price];
    hw->prices[hw->price_count++].bus = 1;
}

static void open_problem(struct fixture *f, const char *shape, int64_t batch, int cores)
{
    struct error error;
    f->rng = gsl_rng_alloc(gsl_rng_mt19937);
    cr_assert_eq(tiling_simulator_open(&f->simulator, &error), STATUS_OK);
    cr_assert_eq(problem_parse(&matmul_operator, shape, &f->problem, &error), STATUS_OK);
    f->problem.size[MATMUL_BATCH] = batch;
    cr_assert_eq(space_open(&f->problem, &matmul_cann, &f->hw, cores, &f->space, &error),
                 STATUS_OK);
    cr_assert_eq(bounder_open(&f->bounder, &f->space, &error), STATUS_OK);
}

static void close_problem(struct fixture *f)
{
    bounder_close(&f->bounder);
    space_close(&f->space);
    tiling_simulator_close(&f->simulator);
    hardware_clear(&f->hw);
    gsl_rng_free(f->rng);
}

static void scan_problem(struct fixture *f, const char *shape, int64_t batch, int cores)
{
    int64_t legal = 0, brute = 0;
    open_problem(f, shape, batch, cores);
    scan_space(f, &legal, &brute);
    cr_assert_gt(legal, 1000);
    close_problem(f);
}

Test(cann_bounds, prefixes_whose_misses_are_on_another_bus)
{
    struct fixture f;
    machine_load_named(&f.hw, SOURCE_DIR "/tests/support/split-chip.cfg", "");
    add_second_bus(&f.hw);
    scan_problem(&f, "48x64x32", 12, 4);
}

/* Rows of B follow each other in memory where a tile has all of them, though L1 holds no block of
 * the whole k. */
Test(cann_bounds, prefixes_whose_rows_may_be_joined)
{
    struct fixture f;
    machine_load_named(&f.hw, "ascend910b1", "buffers.l1.capacity_bytes=16384");
    scan_problem(&f, "16x1024x64", 1, 1);
}

/* Of 16 pieces of 512 bytes one misses, alone: a move of one piece, and one of 15. */
Test(cann_bounds, prefixes_of_a_load_that_is_split_behind_a_piece)
{
    struct fixture f;
    struct scan scan = {.f = &f};
    machine_load_named(&f.hw, "ascend910b2", "cache.default=cold");
    open_problem(&f, "256x2048x272", 1, 1);
    f.tiling = (struct tiling){.value = {16, 272, 1, 1, OUTER_M, 16, 256, 16, HOLDS_TILE, 1,
                                         1,  1,   1, 1, 1,       1,  1,   1,  1,          1}};
    cr_assert(cann_legal(&f.space, &f.tiling));
    while (cann_lengths[scan.lengths])
        scan.lengths++;
    expect_prefixes_hold(&scan, &f.tiling);
    close_problem(&f);
}

/* ---- the whole search ----------------------------------------------------------------------- */

static void ask(const struct space *space, const char *strategy, int threads,
                struct search_result *result)
{
    struct error error;
    struct search_options options = {
        .strategy = strategy, .threads = threads, .top = 7, .tolerance = 0.05};
    cr_assert_eq(search(space, &options, result, &error), STATUS_OK, "%s", error.text);
}

static void expect_exhaustive_agrees(const struct space *space, int64_t *pruned)
{
    struct search_result all, nested[3];
    ask(space, "exhaustive", 2, &all);
    for (int t = 0; t < 3; t++) {
        ask(space, "bound", t + 1, &nested[t]);
        cr_assert_eq(nested[t].feasible, all.feasible);
        cr_assert_eq(nested[t].feasible, nested[t].pruned + nested[t].simulated);
        cr_assert_eq(nested[t].simulated, nested[0].simulated);
        cr_assert_eq(nested[t].optimal, all.count > 0);
        cr_assert_eq(nested[t].count, all.count);
        for (int i = 0; i < all.count; i++) {
            cr_assert_eq(nested[t].best[i].index, all.best[i].index);
            cr_assert_eq(nested[t].best[i].timeline.end_fs, all.best[i].timeline.end_fs);
        }
        cr_assert_leq(nested[t].within_tolerance.surely, all.within_tolerance.surely);
        cr_assert_geq(nested[t].within_tolerance.at_most, all.within_tolerance.surely);
        cr_assert_arr_eq(&nested[t].within_tolerance, &nested[0].within_tolerance,
                         sizeof(struct within));
    }
    *pruned += nested[0].pruned;
    for (int t = 0; t < 3; t++)
        search_result_clear(&nested[t]);
    search_result_clear(&all);
}

Test(cann_bounds, exhaustive_agrees)
{
    int64_t pruned = 0, count;
    int tested = 0;
    for (unsigned long seed = 7000; tested < test_cases(25); seed++) {
        struct fixture f = {.rng = gsl_rng_alloc(gsl_rng_mt19937)};
        gsl_rng_set(f.rng, seed);
        random_cann_hardware(f.rng, &f.hw);
        random_cann_space(f.rng, &f.hw, 100, &f.problem, &f.space);
        count = space_count_legal(&f.space, INT64_MAX, 2);
        if (count > 0 && count < 10000) {
            expect_exhaustive_agrees(&f.space, &pruned);
            tested++;
        }
        space_close(&f.space);
        hardware_clear(&f.hw);
        gsl_rng_free(f.rng);
    }
    cr_assert_gt(pruned, 0);
}

Test(cann_bounds, nearest_changes_as_little_as_possible)
{
    struct error error;
    for (unsigned long seed = 8000; seed < 8000 + (unsigned long)test_cases(20); seed++) {
        struct fixture f = {.rng = gsl_rng_alloc(gsl_rng_mt19937)};
        struct tiling nearest, twice;
        bool found;
        gsl_rng_set(f.rng, seed);
        random_cann_hardware(f.rng, &f.hw);
        random_cann_space(f.rng, &f.hw, 300, &f.problem, &f.space);
        int64_t index = (int64_t)(gsl_rng_uniform(f.rng) * (double)f.space.candidates);
        space_tiling(&f.space, index, &f.tiling);
        cr_assert_eq(search_nearest(&f.space, &f.tiling, &nearest, &found, &error), STATUS_OK);
        if (found) {
            cr_assert(cann_legal(&f.space, &nearest), "%s", text_of(&f));
            cr_assert_eq(search_nearest(&f.space, &nearest, &twice, &found, &error), STATUS_OK);
            cr_assert_arr_eq(nearest.value, twice.value, sizeof twice.value[0] * CANN_AXES);
        }
        space_close(&f.space);
        hardware_clear(&f.hw);
        gsl_rng_free(f.rng);
    }
}
