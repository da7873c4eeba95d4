/* Prefixes of the tilings of kernels' texts, against all tilings one by one: which begin any legal
 * one, how many, what bounds hold, and that of tilings which mean the same kernel one counts, which
 * takes as long as the others. Small spaces are searched by prefixes here as large ones are. */
#include "costmodel/simulate.h"
#include "hardware/load.h"
#include "kernels/text/nest/kernel_nest.h"
#include "search/candidates.h"
#include "search/prefix.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY SOURCE_DIR "/kernels/library/"

/* ---- spaces ------------------------------------------------------------------------------- */

/* Words that say nothing in some structures or only what is required, steps longer than what they
 * cut, two tiles with the copies of one axis, and a tile that is moved out of its loop. */
static const char turns[] =
    "kernel turns\n"
    "size M N pad 16\n"
    "tensor X[M,N] f16, Y[M,N] f16\n"
    "axis a = slices(M)\n"
    "axis b = slices(N)\n"
    "axis c = slices(M)\n"
    "axis xs = 1, 2, 3\n"
    "axis ys = 1, 2\n"
    "axis keep = all, some, one\n"
    "axis idle = p, q\n"
    "axis order_ = m, n\n"
    "require a * b <= 4096 or keep == one or idle == q\n"
    "cores M\n"
    "order j, i if order_ == n\n"
    "for i in M by a\n"
    "  for j in N by b\n"
    "    tile x: ub[i,j] f16 x xs\n"
    "    tile y: ub[i,j] f16 x ys at i if idle == p and order_ == m else j\n"
    "    load x <- X\n"
    "    for l in i by c\n"
    "      tile z: ub[l,j] f16 x xs\n"
    "      relu z <- x\n"
    "      relu y <- z\n"
    "    store Y <- y\n";

struct row {
    const char *text; /* of a file, or a kernel */
    const char *chip;
    int cores;
    int64_t sizes[4];
};

static const struct row rows[] = {
    {LIBRARY "matmul_two_level.kernel", "ascend310", 2, {48, 32, 64, 1}},
    {LIBRARY "matmul_two_level.kernel", "ascend310", 2, {1024, 16, 16, 2}},
    {LIBRARY "matmul_two_level.kernel", "ascend910b2", 3, {64, 48, 32, 1}},
    {LIBRARY "matmul_thesis.kernel", "ascend310", 2, {200, 300, 100, 1}},
    {LIBRARY "batched_matmul.kernel", "ascend910", 3, {20, 32, 48, 32}},
    {LIBRARY "add_relu.kernel", "ascend310", 2, {40000, 0, 0, 0}},
};

struct opened {
    struct hardware hw;
    struct kernel_text kernel;
    struct space space;
    struct bounder bounder;
    struct simulator *simulator;
};

static bool open_row(const struct row *row, struct opened *o)
{
    struct error error;
    machine_load_named(&o->hw, row->chip, "");
    bool is_text = strncmp(row->text, "kernel ", 7) == 0;
    enum status status =
        is_text ? kernel_text_parse("text", row->text, strlen(row->text), &o->kernel, &error)
                : kernel_text_read(row->text, &o->kernel, &error);
    cr_assert_eq(status, STATUS_OK, "%s", error.text);
    o->space = (struct space){.kind = &kernel_space_tile, .hw = &o->hw};
    cr_assert_eq(kernel_space_create(&o->space, &o->kernel, row->sizes, DTYPE_F16, DTYPE_F16,
                                     row->cores, &error),
                 STATUS_OK, "%s: %s", row->text, error.text);
    struct kernel_space *ks = o->space.detail;
    cr_assert(ks && ks->nest, "%s", row->text);
    kernel_nest_be_kind(&o->space);
    o->simulator = simulator_new();
    cr_assert_not_null(o->simulator);
    cr_assert_eq(bounder_open(&o->bounder, &o->space, &error), STATUS_OK);
    return true;
}

static void close_row(struct opened *o)
{
    simulator_free(o->simulator);
    bounder_close(&o->bounder);
    space_close(&o->space);
    kernel_text_clear(&o->kernel);
    hardware_clear(&o->hw);
}

/* ---- all legal tilings, in order of index -----------------------------------------------------
 */

struct indices {
    int64_t count, capacity, *items;
};

static void note(void *context, const struct tiling *tiling, int64_t index)
{
    struct indices *all = context;
    (void)tiling;
    if (all->count == all->capacity) {
        all->capacity = all->capacity ? 2 * all->capacity : 1024;
        all->items = realloc(all->items, (size_t)all->capacity * sizeof *all->items);
        cr_assert_not_null(all->items);
    }
    all->items[all->count++] = index;
}

static void walk_all(const struct space *space, struct indices *all)
{
    *all = (struct indices){0};
    for (int b = 0; b < space->block_count; b++)
        space_walk(space, space->blocks[b].first_index, 0, space->axis_count, note, all);
}

/* How many are below an index. */
static int64_t below(const struct indices *all, int64_t index)
{
    int64_t low = 0, high = all->count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (all->items[middle] < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Those that begin so: [*first, *end). */
static void find_leaves(const struct space *space, const struct indices *all, int64_t index,
                        int fixed, int64_t *first, int64_t *end)
{
    const struct space_block *block = space_block_of(space, index);
    int64_t stride = 1;
    for (int a = fixed; a < space->axis_count; a++)
        stride *= block->count[a];
    index -= (index - block->first_index) % stride;
    *first = below(all, index);
    *end = below(all, index + stride);
}

static int64_t random_index(const struct space *space, gsl_rng *rng)
{
    return (int64_t)(gsl_rng_uniform(rng) * (double)space->candidates);
}

static const char *text_of(const struct space *space, const struct tiling *tiling)
{
    static char text[512];
    tiling_text(space->axes, space->axis_count, tiling, text, sizeof text);
    return text;
}

static int64_t time_of(const struct opened *o, const struct tiling *tiling)
{
    static struct program program; /* used again: no test runs beside another one in a process */
    struct timeline timeline;
    struct error error;
    struct simulate_options options = {.cores = (int)tiling->value[o->space.axis_count - 1]};
    program_reset(&program, &o->hw);
    cr_assert_eq(o->space.kind->generate(&o->space, tiling, 0, &program, &error), STATUS_OK, "%s",
                 error.text);
    cr_assert_eq(simulate(o->simulator, &program, &options, &timeline, &error), STATUS_OK, "%s",
                 error.text);
    return timeline.end_fs;
}

/* ---- what is to hold --------------------------------------------------------------------------
 */

static bool is_agreed(const struct space *space, const struct tiling *tiling)
{
    struct tiling agreed = *tiling;
    space->kind->agree(space, &agreed);
    return memcmp(agreed.value, tiling->value, (size_t)space->axis_count * sizeof *agreed.value) ==
           0;
}

/* The walk finds what is legal by the list of its violations, and agreed. */
static void expect_walk(const struct space *space, const struct indices *all, gsl_rng *rng,
                        int tries)
{
    for (int i = 0; i < tries; i++) {
        int64_t index = random_index(space, rng), at = below(all, index);
        struct tiling tiling;
        space_tiling(space, index, &tiling);
        bool walked = at < all->count && all->items[at] == index;
        bool legal = kernel_violations(space, &tiling, NULL) == 0 && is_agreed(space, &tiling);
        if (walked != legal || space->kind->legal(space, &tiling) != legal)
            cr_expect(false, "%s is %s", text_of(space, &tiling), legal ? "legal" : "not");
    }
}

/* A tiling that is not agreed has one that is, which is legal where it is, and takes as long. */
static int expect_agreement(const struct opened *o, gsl_rng *rng, int tries)
{
    const struct space *space = &o->space;
    int others = 0;
    for (int i = 0; i < tries; i++) {
        struct tiling tiling, agreed;
        space_tiling(space, random_index(space, rng), &tiling);
        if (kernel_violations(space, &tiling, NULL) || is_agreed(space, &tiling))
            continue;
        agreed = tiling;
        space->kind->agree(space, &agreed);
        if (!is_agreed(space, &agreed) || kernel_violations(space, &agreed, NULL) ||
            time_of(o, &tiling) != time_of(o, &agreed))
            cr_expect(false, "%s", text_of(space, &tiling));
        others++;
    }
    return others;
}

/* Counts of prefixes of all lengths, and bounds that no tiling beats which begins so. */
static int expect_prefixes(const struct opened *o, const struct indices *all, gsl_rng *rng,
                           int tries)
{
    const struct space *space = &o->space;
    const struct operator_nesting *nesting = space->kind->nesting;
    int some = 0;
    for (int i = 0; i < tries; i++) {
        int64_t index = i % 4 ? all->items[gsl_rng_uniform_int(rng, (unsigned long)all->count)]
                              : random_index(space, rng);
        int fixed = (int)gsl_rng_uniform_int(rng, (unsigned long)space->axis_count);
        struct tiling tiling, leaf;
        struct work work;
        int64_t first, end;
        space_tiling(space, index, &tiling);
        find_leaves(space, all, index, fixed, &first, &end);
        for (int a = fixed; a < space->axis_count; a++) /* is not read, but of a block's own axes */
            if (space_block_of(space, index)->count[a] > 1)
                tiling.value[a] = -1;
        int64_t count = nesting->leaf_count(space, &tiling, fixed);
        space_tiling(space, index, &leaf);
        if (count != end - first)
            cr_expect(false, "%d of %s: %lld and %lld", fixed, text_of(space, &leaf),
                      (long long)count, (long long)(end - first));
        if (first == end)
            continue;
        nesting->summarise(space, &tiling, fixed, &work);
        int64_t bound_fs = bounder_fs(&o->bounder, &work), least_fs = INT64_MAX;
        for (int64_t l = first; l < end && l < first + 500; l++) { /* of least bound */
            space_tiling(space, all->items[l], &leaf);
            int64_t fs = bounder_tiling_fs(&o->bounder, space, &leaf);
            if (fs < least_fs) {
                least_fs = fs;
                tiling = leaf;
            }
        }
        for (int l = 0; l < 4; l++) {
            int64_t time_fs = time_of(o, &tiling);
            if (bound_fs > time_fs)
                cr_expect(false, "%d of %s: %.1f ns and %.1f ns", fixed, text_of(space, &tiling),
                          (double)bound_fs / 1e6, (double)time_fs / 1e6);
            int64_t other = (int64_t)gsl_rng_uniform_int(rng, (unsigned long)(end - first));
            space_tiling(space, all->items[first + other], &tiling);
        }
        some++;
    }
    return some;
}

static int expect_row(const struct row *row, gsl_rng *rng, int tries)
{
    struct opened *o = calloc(1, sizeof *o);
    struct indices all;
    cr_assert_not_null(o);
    open_row(row, o);
    walk_all(&o->space, &all);
    cr_expect_gt(all.count, 0, "%s", row->text);
    expect_walk(&o->space, &all, rng, 20 * tries);
    int others = expect_agreement(o, rng, 20 * tries);
    cr_expect_gt(expect_prefixes(o, &all, rng, tries > 10 ? tries : 10), 0, "%s", row->text);
    free(all.items);
    close_row(o);
    free(o);
    return others;
}

Test(kernel_nest, prefixes_say_what_all_their_tilings_do)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int others = 0;
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        others += expect_row(&rows[r], rng, test_cases(40));
    cr_expect_gt(others, test_cases(20), "tilings that are not agreed: %d", others);
    gsl_rng_free(rng);
}

Test(kernel_nest, prefixes_of_random_shapes)
{
    static const char *const chips[] = {"ascend310", "ascend910", "ascend910b2"};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int others = 0;
    for (int i = 0; i < 3; i++) {
        struct row row = {LIBRARY "matmul_two_level.kernel", chips[i % 3],
                          1 + (int)gsl_rng_uniform_int(rng, 2)};
        for (int s = 0; s < 3; s++)
            row.sizes[s] = 1 + (int64_t)gsl_rng_uniform_int(rng, s == 1 ? 64 : 40);
        row.sizes[3] = 1;
        others += expect_row(&row, rng, test_cases(20));
        row.text = turns;
        row.sizes[0] = 1 + (int64_t)gsl_rng_uniform_int(rng, 300);
        row.sizes[1] = 1 + (int64_t)gsl_rng_uniform_int(rng, 600);
        others += expect_row(&row, rng, test_cases(20));
    }
    cr_expect_gt(others, test_cases(20), "tilings that are not agreed: %d", others);
    gsl_rng_free(rng);
}
