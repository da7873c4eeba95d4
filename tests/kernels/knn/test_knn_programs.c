/* The k-NN selection kernels: every program is safe, uses exactly the UB that is promised, reads
 * back as it was printed, and does the instructions that the algorithms ask for, counted here from
 * their definitions alone. */
#include "analysis/check/check.h"
#include "core/program_text.h"
#include "core/work.h"
#include "costmodel/simulate.h"
#include "kernels/knn/knn.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 16, REPEAT = 128 };

struct fixture {
    struct hardware hw;
    struct knn_machine machine;
    struct simulator *simulator;
    struct program program;
    gsl_rng *rng;
};

static struct fixture f;

static void find_machine(const char *overrides)
{
    struct error error;
    machine_load(&f.hw, overrides);
    cr_assert_eq(knn_machine_find(&f.hw, DTYPE_F16, &f.machine, &error), STATUS_OK, "%s",
                 error.text);
}

static void enter(void)
{
    memset(&f, 0, sizeof f);
    find_machine("");
    f.simulator = simulator_new();
    f.rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(f.rng, 4);
}

static void leave(void)
{
    program_clear(&f.program);
    simulator_free(f.simulator);
    gsl_rng_free(f.rng);
    hardware_clear(&f.hw);
}

TestSuite(knn_programs, .init = enter, .fini = leave);

static int64_t pick(int64_t least, int64_t most)
{
    return least + (int64_t)gsl_rng_uniform_int(f.rng, (unsigned long)(most - least + 1));
}

static int64_t up(int64_t value, int64_t unit)
{
    return (value + unit - 1) / (unit > 0 ? unit : 1);
}

/* A tile of any form; whole blocks two times in three. */
static struct knn_tile draw_tile(int64_t most_columns)
{
    struct knn_tile tile = {.type = DTYPE_F16,
                            .loop = (enum knn_loop)pick(0, 1),
                            .compare = (enum knn_compare)pick(0, 1),
                            .index = (enum knn_index)pick(0, 1)};
    bool whole = pick(0, 2) > 0;
    tile.rows = whole ? BLOCK * pick(1, 10) : pick(1, 150);
    tile.columns = whole ? BLOCK * pick(1, most_columns / BLOCK) : pick(1, most_columns);
    tile.k = pick(1, 64);
    return tile;
}

static void selection(const struct knn_tile *tile, int64_t steps, bool failing)
{
    struct error error;
    program_reset(&f.program, &f.hw);
    cr_assert_eq(knn_selection_program(&f.machine, tile, steps, failing, &f.program, &error),
                 STATUS_OK, "%s", error.text);
}

static void bitonic(const struct knn_tile *tile)
{
    struct error error;
    program_reset(&f.program, &f.hw);
    cr_assert_eq(knn_bitonic_program(&f.machine, tile, &f.program, &error), STATUS_OK, "%s",
                 error.text);
}

static void heap(const struct knn_tile *tile, int64_t rebuilds)
{
    struct error error;
    program_reset(&f.program, &f.hw);
    cr_assert_eq(knn_heap_program(&f.machine, tile, rebuilds, &f.program, &error), STATUS_OK, "%s",
                 error.text);
}

static int64_t play(const struct program *program, bool fully)
{
    struct error error;
    struct timeline timeline;
    struct simulate_options options = {.cores = 2, .execute_fully = fully};
    cr_assert_eq(simulate(f.simulator, program, &options, &timeline, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(timeline.blocked, -1);
    return timeline.end_fs;
}

/* ---- safe, within what was promised, and readable ---- */

/* The end of the last byte of UB that an operand touches. */
static int64_t highest_ub_byte(void)
{
    int64_t highest = 0;
    const struct instruction *open[PROGRAM_MAX_DEPTH];
    int depth = 0;
    for (int32_t i = 0; i < f.program.count; i++) {
        const struct instruction *in = &f.program.items[i];
        if (in->kind == INSTRUCTION_LOOP)
            open[depth++] = in;
        depth -= in->kind == INSTRUCTION_END;
        for (int r = 0; r < in->region_count; r++) {
            const struct region *region = &f.program.regions[in->first_region + r];
            int64_t end = region->offset_bytes + region->bytes / region->rows +
                          (region->rows - 1) * region->row_stride_bytes;
            for (int d = 0; d < depth; d++)
                end += region->loop_stride_bytes[d] * (open[d]->count - 1);
            if (region->buffer == f.machine.ub && end > highest)
                highest = end;
        }
    }
    return highest;
}

/* Is there a step, a stage or a column? */
static bool reductions(void)
{
    for (int32_t i = 0; i < f.program.count; i++)
        if (f.program.items[i].kind == INSTRUCTION_VECTOR &&
            (f.program.items[i].what == f.machine.reduce_min ||
             f.program.items[i].what == f.machine.select))
            return true;
    return false;
}

static void expect_safe(const struct knn_tile *tile, int64_t ub_bytes)
{
    struct check check;
    struct error error;
    int64_t capacity = f.hw.buffers[f.machine.ub].capacity_bytes;
    int64_t highest = highest_ub_byte();
    cr_assert_leq(highest, ub_bytes);
    if (reductions()) /* else what a step needs stays untouched */
        cr_assert_eq(up(highest, 32) * 32, ub_bytes, "%lld of %lld bytes", (long long)highest,
                     (long long)ub_bytes);
    cr_assert_eq(program_check(&f.program, &check, &error), STATUS_OK, "%s", error.text);
    for (size_t i = 0; i < check.count; i++)
        cr_assert(check.findings[i].kind == FINDING_CAPACITY ||
                      check.findings[i].kind == FINDING_OVER_SYNC,
                  "%lldx%lld k=%lld: %s", (long long)tile->rows, (long long)tile->columns,
                  (long long)tile->k, check.findings[i].text);
    cr_assert_eq(!check_is_safe(&check), highest > capacity, "%lld bytes", (long long)ub_bytes);
    check_clear(&check);
}

static void expect_same_region(const struct region *a, const struct region *b)
{
    cr_assert_eq(a->buffer, b->buffer);
    cr_assert_eq(a->role, b->role);
    cr_assert_eq(a->offset_bytes, b->offset_bytes);
    cr_assert_eq(memcmp(a->loop_stride_bytes, b->loop_stride_bytes, sizeof a->loop_stride_bytes),
                 0);
    cr_assert_eq(a->bytes, b->bytes);
    cr_assert_eq(a->rows, b->rows);
    cr_assert_eq(a->row_stride_bytes, b->row_stride_bytes);
}

static void expect_round_trip(void)
{
    struct program read;
    struct error error;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    cr_assert_eq(program_print(&f.program, out, &error), STATUS_OK);
    fclose(out);
    cr_assert_eq(program_parse(&f.hw, "printed", text, length, &read, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(read.count, f.program.count);
    cr_assert_eq(memcmp(read.items, f.program.items, (size_t)read.count * sizeof *read.items), 0);
    cr_assert_eq(read.region_count, f.program.region_count);
    for (int32_t r = 0; r < read.region_count; r++)
        expect_same_region(&read.regions[r], &f.program.regions[r]);
    cr_assert_eq(play(&read, false), play(&f.program, false));
    if (f.program.executed < 200000)
        cr_assert_eq(play(&f.program, true), play(&f.program, false), "folding changes the time");
    program_clear(&read);
    free(text);
}

Test(knn_programs, selections_are_safe_and_read_back)
{
    for (int i = 0; i < test_cases(240); i++) {
        struct knn_tile tile = draw_tile(i % 8 ? 700 : 6000);
        selection(&tile, pick(0, tile.k), pick(0, 1));
        expect_safe(&tile, knn_selection_ub_bytes(&f.machine, &tile));
        expect_round_trip();
        cr_assert_leq(f.program.count, 700);
    }
}

Test(knn_programs, baselines_are_safe_and_read_back)
{
    for (int i = 0; i < test_cases(120); i++) {
        struct knn_tile tile = draw_tile(i % 8 ? 700 : 6000);
        bitonic(&tile);
        expect_safe(&tile, knn_bitonic_ub_bytes(&f.machine, &tile));
        expect_round_trip();
        heap(&tile, pick(0, 1) ? pick(0, tile.columns < 20 ? tile.columns : 20) : 0);
        expect_safe(&tile, knn_heap_ub_bytes(&f.machine, &tile));
        expect_round_trip();
    }
}

/* With one register a pair of pipes and repeats of another size. */
Test(knn_programs, other_chips)
{
    static const char *const chips[] = {"flag_registers=1", "vector_repeat_bytes=64",
                                        "vector_repeat_bytes=32 buffers.ub.capacity_bytes=65536"};
    for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) {
        hardware_clear(&f.hw);
        find_machine(chips[c]);
        for (int i = 0; i < test_cases(24); i++) {
            struct knn_tile tile = draw_tile(700);
            selection(&tile, pick(0, tile.k), true);
            expect_safe(&tile, knn_selection_ub_bytes(&f.machine, &tile));
            bitonic(&tile);
            expect_safe(&tile, knn_bitonic_ub_bytes(&f.machine, &tile));
            heap(&tile, pick(0, tile.columns < 5 ? tile.columns : 5));
            expect_safe(&tile, knn_heap_ub_bytes(&f.machine, &tile));
        }
    }
}

/* ---- what they do, counted from the definitions ---- */

enum counted { COMPARE, SELECT, MIN, MAX, DUP, RELU, SUB, AND, OR, NOT, BRANCH, ASSIGN, COUNTED };

static const char *const counted_names[COUNTED] = {"vecCmp", "vecSel", "reduceMin", "reduceMax",
                                                   "vecDup", "relu",   "vsub",      "vand",
                                                   "vor",    "vnot",   "branch",    "assign"};

/* Instructions and elements (scalar: operations) by operation, loops unrolled. */
struct tally {
    int64_t instructions[COUNTED], elements[COUNTED], loaded, stored;
};

static struct tally tally(void)
{
    struct tally t = {0};
    int64_t times = 1, outer[PROGRAM_MAX_DEPTH] = {0};
    int depth = 0;
    for (int32_t i = 0; i < f.program.count; i++) {
        const struct instruction *in = &f.program.items[i];
        if (in->kind == INSTRUCTION_LOOP) {
            outer[depth++] = times;
            times *= in->count;
        } else if (in->kind == INSTRUCTION_END) {
            times = outer[--depth];
        } else if (in->kind == INSTRUCTION_MOVE) {
            *(in->what == f.machine.load ? &t.loaded : &t.stored) += times * in->bytes;
        } else if (in->kind == INSTRUCTION_VECTOR || in->kind == INSTRUCTION_SCALAR) {
            const char *name = f.hw.operations[in->what].name;
            int c = 0;
            while (c < COUNTED && strcmp(name, counted_names[c]) != 0)
                c++;
            cr_assert_lt(c, COUNTED, "%s", name);
            if (c == COUNTED)
                break;
            t.instructions[c] += times;
            t.elements[c] += times * (in->kind == INSTRUCTION_VECTOR ? in->elements : in->count);
        }
    }
    return t;
}

static void expect_tally(const struct tally *expected, const struct knn_tile *tile)
{
    struct tally t = tally();
    for (int c = 0; c < COUNTED; c++) {
        cr_assert_eq(t.instructions[c], expected->instructions[c],
                     "%s: %lld, expected %lld (%lldx%lld k=%lld loop %d compare %d index %d)",
                     counted_names[c], (long long)t.instructions[c],
                     (long long)expected->instructions[c], (long long)tile->rows,
                     (long long)tile->columns, (long long)tile->k, tile->loop, tile->compare,
                     tile->index);
        cr_assert_eq(t.elements[c], expected->elements[c],
                     "%s: %lld elements, expected %lld (%lldx%lld k=%lld compare %d index %d)",
                     counted_names[c], (long long)t.elements[c], (long long)expected->elements[c],
                     (long long)tile->rows, (long long)tile->columns, (long long)tile->k,
                     tile->compare, tile->index);
    }
    cr_assert_eq(t.loaded, expected->loaded);
    cr_assert_eq(t.stored, expected->stored);
}

static void add(struct tally *t, enum counted what, int64_t times, int64_t elements)
{
    t->instructions[what] += times;
    t->elements[what] += times * elements;
}

/* A compare of `elements` and `selects` selects on it (thesis, Alg. 5, without its hardware). */
static void add_choice(struct tally *t, const struct knn_tile *tile, int64_t times,
                       int64_t elements, int64_t selects, bool equality)
{
    if (tile->compare == KNN_COMPARE_HARDWARE) {
        add(t, COMPARE, times, elements);
        add(t, SELECT, times * selects, elements);
        return;
    }
    add(t, SUB, times * (equality ? 3 : 2), elements);
    add(t, OR, times * (equality ? 2 : 1), elements);
    add(t, AND, times, elements);
    add(t, RELU, times, elements);
    add(t, NOT, times, elements);
    add(t, AND, times * 2 * selects, elements);
    add(t, OR, times * selects, elements);
}

/* Levels of a reduction of n values to one; their elements. */
static int add_reduction(struct tally *t, enum counted what, int64_t times, int64_t n)
{
    int levels = 0;
    for (bool more = true; more; more = n > 1) {
        add(t, what, times, n);
        n = up(n, REPEAT);
        levels++;
    }
    return levels;
}

/* Alg. 4, lines 3 to 11, `times` times. */
static void add_tests(struct tally *t, const struct knn_tile *tile, int64_t times)
{
    int64_t rows = times * tile->rows, lanes = up(tile->rows, BLOCK) * BLOCK;
    int levels = add_reduction(t, MIN, rows, tile->columns);
    add(t, BRANCH, 2 * rows, 1);
    if (tile->index == KNN_INDEX_HARDWARE) {
        /* an index read a level and a combination between two; three stores */
        add(t, ASSIGN, rows * (2 * levels - 1 + 3), 1);
    } else {
        add(t, DUP, rows, tile->columns);
        add_choice(t, tile, rows, tile->columns, 1, true);
        add_reduction(t, MAX, rows, tile->columns);
        add(t, ASSIGN, rows * 3, 1);
    }
    add_choice(t, tile, times, lanes, 1, false);
    add_reduction(t, MIN, times, tile->rows);
    add(t, BRANCH, times, 1);
}

/* Alg. 4, lines 13 to 15, `times` times: the first row's selects share the comparison of line 8;
 * halvings of a list of k until its largest stands first. */
static void add_updates(struct tally *t, const struct knn_tile *tile, int64_t times)
{
    int64_t lanes = up(tile->rows, BLOCK) * BLOCK;
    if (tile->compare == KNN_COMPARE_HARDWARE) {
        add(t, SELECT, 2 * times, lanes);
    } else {
        add(t, AND, 4 * times, lanes);
        add(t, OR, 2 * times, lanes);
    }
    for (int64_t left = tile->k; left > 1; left = up(left, 2))
        add_choice(t, tile, times, (left - up(left, 2)) * lanes, 4, false);
    add(t, BRANCH, times, 1);
}

static struct tally expected_selection(const struct knn_tile *tile, int64_t steps, bool failing)
{
    struct tally t = {0};
    int64_t lanes = up(tile->rows, BLOCK) * BLOCK, columns = up(tile->columns, BLOCK) * BLOCK;
    int64_t longest = lanes * (tile->k > 1 ? tile->k / 2 : 1);
    bool vector_index = tile->index == KNN_INDEX_VECTOR;
    if (vector_index && tile->columns > longest)
        longest = tile->columns;
    t.stored = 2 * 2 * tile->k * lanes;
    t.loaded = 2 * tile->rows * columns + t.stored + (vector_index ? 2 * columns : 0);
    add(&t, DUP, 2, lanes);
    add(&t, DUP, tile->compare == KNN_COMPARE_RELU ? 2 : 0, longest);
    add(&t, DUP, vector_index, tile->columns);
    failing = failing && steps < tile->k;
    add_tests(&t, tile, steps + failing);
    add_updates(&t, tile, steps);
    if (tile->loop == KNN_LOOP_FULL) {
        add(&t, BRANCH, failing, 1);
        add(&t, BRANCH, (tile->k - steps - failing) * (2 * tile->rows + 1), 1);
    }
    return t;
}

Test(knn_programs, selections_do_what_algorithm_4_asks_for)
{
    for (int i = 0; i < test_cases(1500); i++) {
        struct knn_tile tile = draw_tile(i % 4 ? 1000 : 20000);
        int64_t steps = pick(0, tile.k);
        bool failing = pick(0, 1);
        selection(&tile, steps, failing);
        struct tally expected = expected_selection(&tile, steps, failing);
        expect_tally(&expected, &tile);
    }
}

static struct tally expected_bitonic(const struct knn_tile *tile, int64_t chunks)
{
    struct tally t = {0};
    int64_t lanes = up(tile->rows, BLOCK) * BLOCK, keep = 1, depth = 0;
    for (; keep < tile->k; keep *= 2)
        depth++;
    int64_t groups = up(up(tile->columns, keep), chunks), width = groups * keep * lanes;
    t.stored = 4 * tile->k * lanes;
    t.loaded = t.stored + 4 * chunks * width;
    add(&t, DUP, keep > tile->k, (keep - tile->k) * lanes);
    add(&t, DUP, tile->compare == KNN_COMPARE_RELU ? 2 : 0, width);
    add_choice(&t, tile, chunks * depth * (depth + 1) / 2, width / 2, 4, false);
    for (int64_t left = groups + 1; left > 1; left = up(left, 2)) {
        add_choice(&t, tile, chunks, (left - up(left, 2)) * keep * lanes, 2, false);
        add_choice(&t, tile, chunks * depth, up(left, 2) * keep / 2 * lanes, 4, false);
    }
    return t;
}

static int64_t chunks_of_program(void)
{
    for (int32_t i = 0; i < f.program.count; i++)
        if (f.program.items[i].kind == INSTRUCTION_LOOP)
            return f.program.items[i].count;
    return 0;
}

Test(knn_programs, bitonic_selections_do_their_stages)
{
    for (int i = 0; i < test_cases(600); i++) {
        struct knn_tile tile = draw_tile(i % 4 ? 1000 : 20000);
        bitonic(&tile);
        struct tally expected = expected_bitonic(&tile, chunks_of_program());
        expect_tally(&expected, &tile);
    }
}

/* One chunk less would not fit. */
Test(knn_programs, bitonic_selections_take_as_few_chunks_as_fit)
{
    int64_t capacity = f.hw.buffers[f.machine.ub].capacity_bytes, multiple = 0;
    for (int i = 0; i < test_cases(300); i++) {
        struct knn_tile tile = draw_tile(6000);
        tile.compare = KNN_COMPARE_HARDWARE;
        bitonic(&tile);
        int64_t chunks = chunks_of_program(), keep = 1, lanes = up(tile.rows, BLOCK) * BLOCK;
        while (keep < tile.k)
            keep *= 2;
        int64_t groups = up(up(tile.columns, keep), chunks - (chunks > 1));
        int64_t banks = tile.k > 1 ? 2 : 1, column = 2 * keep * lanes;
        int64_t bytes = groups * column + banks * 2 * (groups + 1) * column;
        cr_assert_eq(bytes > capacity && groups > 1, chunks > 1,
                     "%lld chunks, %lld bytes in one less", (long long)chunks, (long long)bytes);
        cr_assert(knn_bitonic_ub_bytes(&f.machine, &tile) <= capacity ||
                  chunks == up(tile.columns, keep));
        multiple += chunks > 1;
    }
    cr_assert_gt(multiple, test_cases(300) / 10);
}

static struct tally expected_heap(const struct knn_tile *tile, int64_t rebuilds)
{
    struct tally t = {0};
    int64_t lanes = up(tile->rows, BLOCK) * BLOCK, levels = (int64_t)floor(log2((double)tile->k));
    int64_t tree = 4 * tile->rows * ((int64_t)2 << levels);
    t.loaded = 2 * tile->columns * lanes + tree + 4 * lanes;
    t.stored = tree;
    add(&t, DUP, tile->compare == KNN_COMPARE_RELU ? 2 : 0, lanes);
    add(&t, BRANCH, (1 + tile->rows) * tile->columns, 1);
    add(&t, DUP, 3 * rebuilds, lanes);
    add_choice(&t, tile, rebuilds, lanes, 2, false);          /* the new entry, or the root */
    add_choice(&t, tile, rebuilds * levels, lanes, 2, false); /* the larger child */
    add_choice(&t, tile, rebuilds * levels, lanes, 4, false); /* it, or what moves */
    add(&t, ASSIGN, rebuilds * tile->rows * (3 * levels + 2), 1);
    return t;
}

/* Every column is compared with the roots once, in order, lane by lane. */
static void expect_columns_in_order(const struct knn_tile *tile)
{
    int64_t done = 0, row_bytes = up(tile->rows, BLOCK) * 32;
    for (int32_t i = 0, depth = 0; i < f.program.count; i++) {
        const struct instruction *in = &f.program.items[i];
        depth += (in->kind == INSTRUCTION_LOOP) - (in->kind == INSTRUCTION_END);
        if (in->kind != INSTRUCTION_LOOP || depth != 1)
            continue;
        const struct instruction *first = &f.program.items[i + 3]; /* after the branch, in a loop */
        const struct region *column = &f.program.regions[first->first_region];
        cr_assert_eq(column->role, OPERAND_SRC);
        cr_assert_eq(column->offset_bytes, done * row_bytes);
        cr_assert_eq(column->loop_stride_bytes[0], row_bytes);
        done += in->count;
    }
    cr_assert_eq(done, tile->columns);
}

/* A store whose reach is not its load's stands in a line of its own with a count of 0. */
static void expect_heap(const struct knn_tile *tile, int64_t rebuilds)
{
    struct tally expected = expected_heap(tile, rebuilds), t = tally();
    expected.instructions[ASSIGN] = t.instructions[ASSIGN];
    expect_tally(&expected, tile);
    expect_columns_in_order(tile);
}

Test(knn_programs, heaps_check_every_column_and_rebuild_some)
{
    for (int i = 0; i < test_cases(600); i++) {
        struct knn_tile tile = draw_tile(1000);
        int64_t rebuilds = pick(0, 2) ? pick(0, tile.columns) : pick(0, 1) * tile.columns;
        heap(&tile, rebuilds);
        expect_heap(&tile, rebuilds);
    }
}

/* ---- time ---- */

static int64_t selection_time(const struct knn_tile *tile, int64_t steps, bool failing)
{
    selection(tile, steps, failing);
    return play(&f.program, false);
}

/* Every step begins when the one before has been tested, S last: pairs of steps take the same time
 * exactly, and so does each step, for both banks cost the same. */
Test(knn_programs, time_is_linear_in_steps)
{
    for (int i = 0; i < test_cases(60); i++) {
        struct knn_tile tile = draw_tile(1500);
        bool failing = pick(0, 1);
        tile.loop = KNN_LOOP_EARLY;
        tile.k = pick(5, 64);
        int64_t first = selection_time(&tile, 1, failing);
        int64_t step = selection_time(&tile, 2, failing) - first;
        int64_t steps = pick(3, tile.k - 1), time = selection_time(&tile, steps, failing);
        cr_assert_gt(step, 0);
        cr_assert_eq(time, first + (steps - 1) * step, "%lld steps", (long long)steps);
        int64_t start = first - selection_time(&tile, 0, failing);
        cr_assert_leq(llabs(start - step), failing ? 0 : step, "the first step: %lld, others %lld",
                      (long long)start, (long long)step);
    }
}

static void expect_monotone(const struct knn_tile *small, const struct knn_tile *large)
{
    int64_t steps = pick(0, small->k);
    bool failing = steps < small->k && pick(0, 1);
    int64_t before = selection_time(small, steps, failing);
    cr_assert_leq(before, selection_time(large, steps, failing));
    cr_assert_leq(before, selection_time(large, large->k, false));
    cr_assert_leq(knn_selection_ub_bytes(&f.machine, small),
                  knn_selection_ub_bytes(&f.machine, large));
    int64_t most = small->columns < 9 ? small->columns : 9;
    heap(small, most);
    int64_t heap_time = play(&f.program, false);
    heap(large, most);
    cr_assert_leq(heap_time, play(&f.program, false));
}

Test(knn_programs, more_columns_rows_or_neighbours_take_longer)
{
    for (int i = 0; i < test_cases(90); i++) {
        struct knn_tile small = draw_tile(700), large;
        for (int axis = 0; axis < 3; axis++) {
            large = small;
            *(axis == 0 ? &large.rows : axis == 1 ? &large.columns : &large.k) += pick(0, 200);
            expect_monotone(&small, &large);
        }
    }
}

/* A full loop is not faster than one that returns, and the same where every step updates. */
Test(knn_programs, a_full_loop_only_adds_row_tests)
{
    int64_t branch = f.hw.prices[f.hw.operations[f.machine.branch].price].rate.fs;
    for (int i = 0; i < test_cases(60); i++) {
        struct knn_tile tile = draw_tile(500), full;
        int64_t steps = pick(0, tile.k);
        tile.loop = KNN_LOOP_EARLY;
        full = tile;
        full.loop = KNN_LOOP_FULL;
        int64_t early = selection_time(&tile, steps, true);
        int64_t rest = tile.k - steps - (steps < tile.k);
        int64_t tests = (steps < tile.k) + rest * (2 * tile.rows + 1);
        cr_assert_eq(selection_time(&full, steps, true), early + tests * branch);
    }
}

/* ---- sizes ---- */

/* The thesis's tile fits; twice as many rows do not. */
Test(knn_programs, the_thesis_tile_fits)
{
    int64_t capacity = f.hw.buffers[f.machine.ub].capacity_bytes;
    for (int k = 1; k <= 64; k++)
        for (int variant = 0; variant < 4; variant++) {
            struct knn_tile tile = {.rows = 16,
                                    .columns = 4096,
                                    .k = k,
                                    .type = DTYPE_F16,
                                    .compare = (enum knn_compare)(variant & 1),
                                    .index = (enum knn_index)(variant >> 1)};
            cr_assert_leq(knn_selection_ub_bytes(&f.machine, &tile), capacity);
            cr_assert_leq(knn_bitonic_ub_bytes(&f.machine, &tile), capacity);
            cr_assert_leq(knn_heap_ub_bytes(&f.machine, &tile), capacity);
            cr_assert_geq(knn_selection_ub_bytes(&f.machine, &tile), 16 * (4096 + 2 * k) * 2);
            tile.rows = 32;
            cr_assert_gt(knn_selection_ub_bytes(&f.machine, &tile), capacity);
        }
}

Test(knn_programs, sizes_beyond_int64)
{
    static const int64_t sizes[] = {
        1, 16, 4096, 1LL << 31, 1LL << 40, INT64_MAX / 4, INT64_MAX - 1, INT64_MAX};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (int i = 0; i < SIZES * SIZES * SIZES * 4; i++) {
        struct knn_tile tile = {.rows = sizes[i % SIZES],
                                .columns = sizes[i / SIZES % SIZES],
                                .k = sizes[i / SIZES / SIZES % SIZES],
                                .type = DTYPE_F16,
                                .compare = (enum knn_compare)(i / (SIZES * SIZES * SIZES) & 1),
                                .index = (enum knn_index)(i / (SIZES * SIZES * SIZES) >> 1)};
        double least = (double)tile.rows * ((double)tile.columns + 2 * (double)tile.k) * 2;
        int64_t bytes = knn_selection_ub_bytes(&f.machine, &tile);
        cr_assert_geq((double)bytes, least < 9.2e18 ? least : 9.2e18);
        if (least > 1e19)
            cr_assert_eq(bytes, INT64_MAX);
        cr_assert_gt(knn_bitonic_ub_bytes(&f.machine, &tile), 0);
        cr_assert_gt(knn_heap_ub_bytes(&f.machine, &tile), 0);
    }
}

/* ---- what is refused ---- */

static void expect_refused(enum status status, const struct error *error, const char *part)
{
    cr_assert_eq(status, STATUS_INVALID);
    cr_assert(strstr(error->text, part), "'%s' does not contain '%s'", error->text, part);
}

Test(knn_programs, impossible_tiles_are_errors)
{
    static const struct knn_tile tile = {16, 128, 8, DTYPE_F16, 0, 0, 0};
    struct error error;
    for (int size = 0; size < 3; size++)
        for (int64_t value = -1; value <= 0; value++) {
            struct knn_tile none = tile;
            *(size == 0 ? &none.rows : size == 1 ? &none.columns : &none.k) = value;
            program_reset(&f.program, &f.hw);
            expect_refused(knn_selection_program(&f.machine, &none, 0, true, &f.program, &error),
                           &error, "expected 1 or more");
            expect_refused(knn_bitonic_program(&f.machine, &none, &f.program, &error), &error,
                           "expected 1 or more");
            expect_refused(knn_heap_program(&f.machine, &none, 0, &f.program, &error), &error,
                           "expected 1 or more");
        }
    expect_refused(knn_selection_program(&f.machine, &tile, 9, false, &f.program, &error), &error,
                   "expected 0 to k = 8");
    expect_refused(knn_selection_program(&f.machine, &tile, -1, false, &f.program, &error), &error,
                   "expected 0 to k = 8");
    expect_refused(knn_heap_program(&f.machine, &tile, 129, &f.program, &error), &error,
                   "expected 0 to 128");
    struct knn_tile wide = {1, 31745, 1, DTYPE_F16, 0, 0, KNN_INDEX_VECTOR};
    expect_refused(knn_selection_program(&f.machine, &wide, 1, false, &f.program, &error), &error,
                   "31744");
    wide.columns--;
    selection(&wide, 1, false);
    struct knn_tile huge = {1LL << 40, 1LL << 40, 1, DTYPE_F16, 0, 0, 0};
    program_reset(&f.program, &f.hw);
    expect_refused(knn_selection_program(&f.machine, &huge, 1, false, &f.program, &error), &error,
                   "more than 2^63 bytes");
}

/* Takes an operation's name away; the variants that do without it still run. */
Test(knn_programs, lacking_operations_are_errors_where_needed)
{
    static const struct {
        const char *name;
        bool always, hardware, relu, vector;
    } operations[] = {
        {"reduceMin", true, 0, 0, 0}, {"vecDup", true, 0, 0, 0}, {"branch", true, 0, 0, 0},
        {"assign", true, 0, 0, 0},    {"vecCmp", 0, true, 0, 0}, {"vecSel", 0, true, 0, 0},
        {"relu", 0, 0, true, 0},      {"vsub", 0, 0, true, 0},   {"vand", 0, 0, true, 0},
        {"vor", 0, 0, true, 0},       {"vnot", 0, 0, true, 0},   {"reduceMax", 0, 0, 0, true},
        {"vmul", 0, 0, 0, 0},         {"exp", 0, 0, 0, 0},
    };
    for (size_t o = 0; o < sizeof operations / sizeof *operations; o++) {
        struct error error;
        int at = hardware_operation(&f.hw, operations[o].name, (int)strlen(operations[o].name));
        f.hw.operations[at].name[0] = '?';
        enum status status = knn_machine_find(&f.hw, DTYPE_F16, &f.machine, &error);
        cr_assert_eq(status != STATUS_OK, operations[o].always, "%s", operations[o].name);
        if (status != STATUS_OK)
            expect_refused(status, &error, operations[o].name);
        for (int variant = 0; variant < 4 && status == STATUS_OK; variant++) {
            struct knn_tile tile = {16,
                                    128,
                                    8,
                                    DTYPE_F16,
                                    0,
                                    (enum knn_compare)(variant & 1),
                                    (enum knn_index)(variant >> 1)};
            bool lacks = (operations[o].hardware && !(variant & 1)) ||
                         (operations[o].relu && (variant & 1)) ||
                         (operations[o].vector && variant >> 1);
            program_reset(&f.program, &f.hw);
            status = knn_selection_program(&f.machine, &tile, 2, true, &f.program, &error);
            cr_assert_eq(status != STATUS_OK, lacks, "%s", operations[o].name);
            if (lacks)
                expect_refused(status, &error, operations[o].name);
            status = STATUS_OK;
        }
        f.hw.operations[at].name[0] = operations[o].name[0];
    }
}

Test(knn_programs, lacking_places_are_errors)
{
    struct error error;
    struct knn_machine machine;
    struct hardware chip = f.hw;
    expect_refused(knn_machine_find(&chip, DTYPE_F32, &machine, &error), &error, "f32");
    chip.buffers[f.machine.ub].name[0] = '?';
    expect_refused(knn_machine_find(&chip, DTYPE_F16, &machine, &error), &error, "'ub'");
    chip = f.hw;
    chip.paths[f.machine.store].destination = (int8_t)f.machine.ub;
    expect_refused(knn_machine_find(&chip, DTYPE_F16, &machine, &error), &error, "ub->gm");
    chip = f.hw;
    chip.paths[f.machine.load].destination = chip.paths[f.machine.load].source;
    expect_refused(knn_machine_find(&chip, DTYPE_F16, &machine, &error), &error, "gm->ub");
    chip = f.hw;
    chip.paths[f.machine.store].pipe = (int8_t)f.machine.mte2;
    expect_refused(knn_machine_find(&chip, DTYPE_F16, &machine, &error), &error, "share one");
    chip = f.hw;
    chip.pipes[f.machine.scalar].blocks_dispatch = false;
    expect_refused(knn_machine_find(&chip, DTYPE_F16, &machine, &error), &error, "blocks dispatch");
    chip = f.hw;
    chip.prices[chip.operations[f.machine.select].price].pipe = (int8_t)f.machine.mte2;
    expect_refused(knn_machine_find(&chip, DTYPE_F16, &machine, &error), &error, "'vecSel'");
    chip = f.hw;
    chip.operations[f.machine.reduce_min].result = RESULT_ELEMENTS;
    expect_refused(knn_machine_find(&chip, DTYPE_F16, &machine, &error), &error, "'reduceMin'");
    chip = f.hw;
    chip.vector_repeat_bytes = 16;
    expect_refused(knn_machine_find(&chip, DTYPE_F16, &machine, &error), &error, "repeats");
    static const struct knn_tile tile = {16, 128, 8, DTYPE_F16, 0, 0, 0};
    chip = f.hw;
    chip.flag_registers = 0;
    cr_assert_eq(knn_machine_find(&chip, DTYPE_F16, &machine, &error), STATUS_OK);
    program_reset(&f.program, &chip);
    expect_refused(knn_selection_program(&machine, &tile, 2, true, &f.program, &error), &error,
                   "flag register");
    program_reset(&f.program, &chip);
    expect_refused(knn_bitonic_program(&machine, &tile, &f.program, &error), &error,
                   "flag register");
    program_reset(&f.program, &chip);
    expect_refused(knn_heap_program(&machine, &tile, 2, &f.program, &error), &error,
                   "flag register");
}

/* ---- how often a heap changes ---- */

/* By hand, and against a naive sum and a small experiment. */
Test(knn_programs, expected_rebuilds)
{
    struct knn_tile tile = {.rows = 1, .columns = 4, .k = 2};
    cr_assert_float_eq(knn_heap_rebuilds(&tile, 0), 1 + 1 + 2.0 / 3 + 2.0 / 4, 1e-12);
    cr_assert_float_eq(knn_heap_rebuilds(&tile, 4), 2.0 / 5 + 2.0 / 6 + 2.0 / 7 + 2.0 / 8, 1e-12);
    tile.rows = 2;
    cr_assert_float_eq(knn_heap_rebuilds(&tile, 0), 2 + 8.0 / 9 + 3.0 / 4, 1e-12);
    for (int i = 0; i < 200; i++) {
        tile = draw_tile(3000);
        int64_t before = pick(0, 5000);
        long double naive = 0;
        for (int64_t c = before + tile.columns; c > before; c--)
            naive += 1 - powl(1 - fminl(1, (long double)tile.k / c), tile.rows);
        cr_assert_float_eq(knn_heap_rebuilds(&tile, before), (double)naive, 1e-9);
    }
}

/* Columns at which at least one of the rows takes a new value among its k smallest. */
static int64_t rebuilds_of_random_data(const struct knn_tile *tile, double *smallest)
{
    int64_t rebuilds = 0;
    for (int64_t i = 0; i < tile->rows * tile->k; i++)
        smallest[i] = 2;
    for (int64_t c = 0; c < tile->columns; c++) {
        bool taken = false;
        for (int64_t r = 0; r < tile->rows; r++) {
            double value = gsl_rng_uniform(f.rng), *worst = &smallest[r * tile->k];
            for (int64_t j = 1; j < tile->k; j++)
                if (smallest[r * tile->k + j] > *worst)
                    worst = &smallest[r * tile->k + j];
            taken |= value < *worst;
            *worst = value < *worst ? value : *worst;
        }
        rebuilds += taken;
    }
    return rebuilds;
}

Test(knn_programs, rebuilds_of_random_data_are_as_expected)
{
    struct knn_tile tile = {.rows = 16, .columns = 512, .k = 4};
    double smallest[16 * 4], sum = 0;
    enum { RUNS = 60 };
    for (int i = 0; i < RUNS; i++)
        sum += (double)rebuilds_of_random_data(&tile, smallest);
    cr_assert_float_eq(sum / RUNS, knn_heap_rebuilds(&tile, 0), 5);
}
