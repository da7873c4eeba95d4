/* What "optimal" says: of the tilings that `explain` calls legal none is faster, on any number of
 * cores up to --cores, as simulated from the programs that `autotune program` hands out.
 *
 * Each problem of a table is searched and searched exhaustively; then with every smaller number of
 * cores; then tilings are drawn at random, on the axes and off them, and from the optimum and from
 * some legal tilings a climb goes to the fastest neighbour until there is no faster one. A space is
 * added by rows of its own. */
#include "costmodel/simulate.h"
#include "jobs/tune/report_program.h"
#include "kernels/knn/knn.h"
#include "kernels/knn/knn_space.h"
#include "kernels/registry.h"
#include "results/tune.h"
#include "tests/support/cases.h"
#include "tests/support/machine.h"
#include "tests/support/random_cann.h"

#include <criterion/criterion.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *op, *shape, *options, *chip, *set;
    int cores; /* 0: all of the chip */
    const char *space;
};

static const struct row thesis_rows[] = {
    {"matmul", "1024x1024x1024", "", "ascend310", "cores=8", 0, "thesis"},
    {"matmul", "128x128x128", "", "ascend310", "", 0, "thesis"},
    {"matmul", "128x128x128", "", "ascend310", "cores=8", 0, "thesis"},
    {"matmul", "127x131x113", "", "ascend310", "cores=5", 0, "thesis"},
    {"matmul", "64x16x96", "batch=3", "ascend310", "cores=4", 0, "thesis"},
    {"matmul", "16x512x16", "", "ascend310", "cores=3", 0, "thesis"},
    {"matmul", "1x64x300", "", "ascend310", "cores=30", 0, "thesis"},
    {"matmul", "257x33x17", "batch=2", "ascend310", "cores=7 launch_ns=0", 0, "thesis"},
    {"matmul", "200x100x60", "", "ascend910", "", 0, "thesis"},
    {"matmul", "97x31x389", "", "ascend910", "", 11, "thesis"},
    {"matmul", "320x16x48", "batch=5", "ascend910", "", 0, "thesis"},
    {"matmul", "96x96x96", "", "r-inference", "", 0, "thesis"},
    {"matmul", "112x48x240", "", "ascend310-l1-2m", "cores=6 launch_ns=0", 0, "thesis"},
    {"matmul", "208x64x64", "", "ascend310", "cores=13 issue_ns=1", 0, "thesis"},
    {"matmul", "96x200x80", "dtype=i8", "ascend910", "", 0, "thesis"},
    {"matmul", "48x33x160", "dtype=i8 batch=3", "ascend910", "cores=4", 0, "thesis"},
    {"matmul", "80x64x112", "out-type=f32", "ascend310", "", 0, "thesis"},
};

static const struct row segments_rows[] = {
    {"cubefx", "16384", "order=16 functions=9", "ascend310", "", 0, "segments"},
    {"cubefx", "1280", "order=3 functions=2", "ascend310", "cores=8", 0, "segments"},
    {"cubefx", "7001", "order=5 functions=1", "ascend310", "cores=6", 0, "segments"},
    {"cubefx", "3000", "order=8 functions=20", "ascend910", "", 0, "segments"},
    {"cubefx", "100", "order=1 functions=1", "ascend910", "", 0, "segments"},
    {"cubefx", "11000", "order=4 functions=4", "ascend910", "", 17, "segments"},
    {"cubefx", "4096", "order=7 functions=3", "ascend310", "cores=5 launch_ns=0", 0, "segments"},
};

static const struct row selb_rows[] = {
    {"knn", "100x64x300", "k=5", "ascend310", "cores=4", 0, "selb"},
    {"knn", "33x16x200", "k=8", "ascend310", "", 0, "selb"},
    {"knn", "80x48x128", "k=3 steps=max", "ascend310", "cores=5 launch_ns=0", 0, "selb"},
    {"knn", "16x32x500", "k=16", "ascend310", "cores=3", 0, "selb"},
    {"knn", "97x17x97", "k=2", "ascend310", "cores=7", 0, "selb"},
    {"knn", "64x300x64", "k=1 loop=full", "ascend910", "", 0, "selb"},
    {"knn", "113x16x160", "k=7", "ascend910", "", 6, "selb"},
};

static const struct row cann_rows[] = {
    {"matmul", "250x250x250", "transpose=a", "ascend910b2", "", 7, "cann"},
    {"matmul", "32x32x32", "batch=24", "ascend910b1", "", 0, "cann"},
    {"matmul", "16x16x16", "", "ascend910b1", "", 0, "cann"},
    {"matmul", "97x101x103", "", "ascend910b3", "", 5, "cann"},
    {"matmul", "33x500x47", "transpose=b bias=yes", "ascend910b1", "", 4, "cann"},
    {"matmul", "1x300x77", "transpose=both", "ascend910b4", "", 0, "cann"},
    {"matmul", "113x29x64", "batch=3 share-b=yes", "ascend910b2", "", 9, "cann"},
    {"matmul", "20x60x20", "batch=11 bias=yes", "ascend910b1", "", 6, "cann"},
    {"matmul", "128x64x192", "a-layout=nz b-layout=nz c-layout=nz", "ascend910b2", "", 8, "cann"},
    {"matmul", "64x256x48", "out-type=f32", "ascend910b1", "launch_core_ns=0", 6, "cann"},
    {"matmul", "300x16x300", "transpose=a bias=yes", "ascend910b3", "", 3, "cann"},
    {"matmul", "127x257x31", "b-layout=nz", "ascend910b4", "", 2, "cann"},
    {"matmul", "80x80x80", "batch=2 transpose=b", "ascend910b1", "buffers.l1.capacity_bytes=65536",
     5, "cann"},
    {"matmul", "61x16x450", "", "ascend910b2", "", 10, "cann"},
    {"matmul", "96x200x80", "dtype=i8", "ascend910b1", "", 4, "cann"},
    {"matmul", "96x200x80", "dtype=i8 out-type=f16 bias=yes", "ascend910b2", "", 4, "cann"},
    {"matmul", "48x40x112", "dtype=f32 transpose=a", "ascend910b3", "", 5, "cann"},
    {"matmul", "64x33x300", "dtype=i8 transpose=b bias=yes", "ascend910b4", "", 3, "cann"},
};

enum {
    EXHAUSTIVE_MOST = 4000, /* legal tilings that are all simulated */
    DRAWS = 2000,
    SIMULATED = 60, /* of those that are drawn and legal */
    STARTS = 2,     /* of climbs, beside the optimum */
    STEPS = 4,      /* of one of these */
};

/* One row while it is tested. */
struct bench {
    const struct row *row;
    struct hardware hw;
    struct problem problem;
    const struct operator_space *kind;
    struct space space;
    int cores;
    struct found best;
    struct simulator *simulator;
    gsl_rng *rng;
};

/* "batch=3 k=8": options of the operator. */
static void set_options(struct problem *problem, const char *options)
{
    char text[128], *state = NULL;
    struct error error;
    snprintf(text, sizeof text, "%s", options);
    for (char *word = strtok_r(text, " ", &state); word; word = strtok_r(NULL, " ", &state)) {
        char *value = strchr(word, '=');
        *value++ = 0;
        int type = strcmp(word, "dtype") == 0 ? dtype_find(value, (int)strlen(value)) : -1;
        if (type >= 0)
            problem_set_type(problem, (enum dtype)type);
        else
            cr_assert_eq(problem_set(problem, word, value, &error), STATUS_OK, "%s", error.text);
    }
}

static const char *text_of(const struct bench *b)
{
    static char text[256];
    snprintf(text, sizeof text, "%s %s %s on %s %s, %d cores, space %s", b->row->op, b->row->shape,
             b->row->options, b->row->chip, b->row->set, b->cores, b->row->space);
    return text;
}

static const char *tiling_of(const struct bench *b, const struct tiling *tiling)
{
    static char text[512];
    tiling_text(b->space.axes, b->space.axis_count, tiling, text, sizeof text);
    return text;
}

static void search_it(const struct bench *b, const struct space *space, const char *strategy,
                      struct search_result *result)
{
    struct error error;
    struct search_options options = {.strategy = strategy, .threads = 2, .top = 1};
    cr_assert_eq(search(space, &options, result, &error), STATUS_OK, "%s: %s", text_of(b),
                 error.text);
}

static void open_bench(struct bench *b, const struct row *row)
{
    struct error error;
    struct search_result result;
    memset(b, 0, sizeof *b);
    b->row = row;
    machine_load_named(&b->hw, row->chip, row->set);
    const struct operator* op = operator_find(row->op);
    b->kind = operator_space_find(op, row->space);
    cr_assert_eq(problem_parse(op, row->shape, &b->problem, &error), STATUS_OK);
    set_options(&b->problem, row->options);
    b->cores = row->cores ? row->cores : b->hw.cores;
    cr_assert_eq(space_open(&b->problem, b->kind, &b->hw, b->cores, &b->space, &error), STATUS_OK,
                 "%s: %s", text_of(b), error.text);
    b->simulator = simulator_new();
    b->rng = gsl_rng_alloc(gsl_rng_mt19937);
    search_it(b, &b->space, "bound", &result);
    cr_assert(result.optimal, "%s", text_of(b));
    b->best = result.best[0];
    search_result_clear(&result);
}

static void close_bench(struct bench *b)
{
    space_close(&b->space);
    simulator_free(b->simulator);
    gsl_rng_free(b->rng);
    hardware_clear(&b->hw);
}

/* ---- the same by other searches ---------------------------------------------------------------
 */

static void expect_exhaustive_agrees(const struct bench *b)
{
    struct search_result bound, all;
    search_it(b, &b->space, "bound", &bound);
    if (!bound.unasked && bound.feasible <= test_cases(EXHAUSTIVE_MOST)) {
        search_it(b, &b->space, "exhaustive", &all);
        cr_expect_eq(bound.feasible, all.feasible, "%s", text_of(b));
        cr_expect_eq(bound.best[0].index, all.best[0].index, "%s", text_of(b));
        cr_expect_eq(bound.best[0].timeline.end_fs, all.best[0].timeline.end_fs);
        cr_expect_eq(bound.within_1_percent.surely, all.within_1_percent.surely);
        cr_expect_eq(bound.feasible, bound.pruned + bound.simulated);
        search_result_clear(&all);
    }
    search_result_clear(&bound);
}

static void expect_no_fewer_cores_are_better(const struct bench *b)
{
    for (int cores = 1; cores < b->cores; cores++) {
        struct space fewer;
        struct search_result result;
        struct error error;
        cr_assert_eq(space_open(&b->problem, b->kind, &b->hw, cores, &fewer, &error), STATUS_OK);
        search_it(b, &fewer, "bound", &result);
        cr_expect(result.count == 0 || result.best[0].timeline.end_fs >= b->best.timeline.end_fs,
                  "%s: --cores %d takes %lld fs, the default %lld", text_of(b), cores,
                  (long long)result.best[0].timeline.end_fs, (long long)b->best.timeline.end_fs);
        search_result_clear(&result);
        space_close(&fewer);
    }
}

/* ---- the time of any tiling, from the programs that are handed out ----------------------------
 */

static double part_fs(const struct bench *b, const struct tiling *tiling, int part)
{
    struct program program = {0};
    struct timeline timeline;
    struct error error;
    struct simulate_options how = {.cores = b->kind->cores_used(&b->space, tiling, part)};
    program_reset(&program, &b->hw);
    cr_assert_eq(generate_program(&b->space, tiling, part, NULL, &program, &error), STATUS_OK,
                 "%s: %s", tiling_of(b, tiling), error.text);
    cr_assert_eq(simulate(b->simulator, &program, &how, &timeline, &error), STATUS_OK);
    cr_assert_eq(timeline.blocked, -1);
    program_clear(&program);
    return (double)timeline.end_fs;
}

static double time_fs(const struct bench *b, const struct tiling *tiling)
{
    struct found found;
    struct error error;
    if (!b->kind->parts[1])
        return part_fs(b, tiling, 0);
    cr_assert_eq(search_simulate(&b->space, tiling, &found, &error), STATUS_OK, "%s: %s",
                 tiling_of(b, tiling), error.text);
    double idle = part_fs(b, &found.tiling, KNN_PART_IDLE);
    return found.part_weight[KNN_COST_DISTANCE] * part_fs(b, &found.tiling, KNN_PART_DISTANCE) +
           found.part_weight[KNN_COST_IDLE] * idle +
           found.part_weight[KNN_COST_STEP] * (part_fs(b, &found.tiling, KNN_PART_STEP) - idle);
}

/* One answer for both questions, and then it means a point of the space. */
static bool is_legal(const struct bench *b, const struct tiling *tiling)
{
    struct violation list[MAX_VIOLATIONS];
    struct tiling point = *tiling;
    int count = b->kind->violations(&b->space, tiling, list);
    if (b->kind->agree)
        b->kind->agree(&b->space, &point);
    bool legal = b->kind->legal(&b->space, &point);
    cr_assert_eq(legal, count == 0, "%s: %s", text_of(b), tiling_of(b, tiling));
    cr_assert(!legal || space_index(&b->space, &point) >= 0, "%s: %s", text_of(b),
              tiling_of(b, tiling));
    for (int i = 0; i < count; i++)
        cr_assert(list[i].limit[0] && list[i].text[0], "%s: %s", text_of(b), tiling_of(b, tiling));
    return legal;
}

/* False: not legal. */
static bool try_tiling(const struct bench *b, const struct tiling *tiling, double *fs)
{
    if (!is_legal(b, tiling))
        return false;
    *fs = time_fs(b, tiling);
    double best_fs = (double)b->best.timeline.end_fs;
    cr_assert_geq(*fs, best_fs * (1 - 1e-12), "%s: %s takes %.0f fs, the optimum %.0f", text_of(b),
                  tiling_of(b, tiling), *fs, best_fs);
    return true;
}

/* ---- values on the axes and off them ----------------------------------------------------------
 */

static int64_t pick(const struct bench *b, int64_t count)
{
    return (int64_t)gsl_rng_uniform_int(b->rng, (unsigned long)count);
}

static int64_t value_of_axis(const struct bench *b, int axis)
{
    const struct space_block *block = &b->space.blocks[pick(b, b->space.block_count)];
    return block->values[axis][pick(b, block->count[axis])];
}

static bool is_value(const struct bench *b, int axis, int64_t value)
{
    const struct axis *a = &b->space.axes[axis];
    return a->value_names ? value >= 0 && value < a->name_count : value > 0;
}

static void draw(const struct bench *b, struct tiling *tiling)
{
    *tiling = (struct tiling){0};
    if (b->kind->nesting) /* few points of all are legal */
        random_cann_values(b->rng, &b->space, tiling);
    else
        space_tiling(&b->space, pick(b, b->space.candidates), tiling);
    for (int changes = (int)pick(b, 3); changes > 0; changes--) {
        int axis = (int)pick(b, b->space.axis_count);
        int64_t value = value_of_axis(b, axis);
        if (pick(b, 3) == 0)
            value = b->space.axes[axis].value_names ? pick(b, b->space.axes[axis].name_count)
                                                    : 1 + pick(b, 2 * value);
        tiling->value[axis] = value;
    }
}

/* Values next to one, of any block and of none. Returns how many. */
static int neighbours(const struct bench *b, int axis, int64_t value, int64_t list[16])
{
    int64_t below = 0, above = 0;
    const int64_t near[] = {value - 1, value + 1, value - 16, value + 16,
                            value / 2, value * 2, value / 3,  value * 3};
    int count = 0;
    for (int i = 0; i < b->space.block_count; i++)
        for (int v = 0; v < b->space.blocks[i].count[axis]; v++) {
            int64_t other = b->space.blocks[i].values[axis][v];
            below = other < value && (other > below || below == 0) ? other : below;
            above = other > value && (other < above || above == 0) ? other : above;
        }
    list[count++] = below;
    list[count++] = above;
    for (size_t i = 0; i < sizeof near / sizeof *near; i++)
        list[count++] = near[i];
    return count;
}

/* The fastest legal neighbour, one value changed; with another number of cores, whose shares have
 * slices of their own, also with one more changed. False: none is legal. */
static bool best_neighbour(const struct bench *b, const struct tiling *from, struct tiling *to,
                           double *to_fs)
{
    bool found = false;
    for (int axis = 0; axis < b->space.axis_count; axis++) {
        int64_t list[16];
        int count = neighbours(b, axis, from->value[axis], list);
        for (int i = 0; i < count; i++) {
            struct tiling next = *from;
            double fs;
            next.value[axis] = list[i];
            if (!is_value(b, axis, list[i]) || list[i] == from->value[axis] ||
                !try_tiling(b, &next, &fs) || (found && fs >= *to_fs))
                continue;
            *to = next;
            *to_fs = fs;
            found = true;
        }
    }
    return found;
}

static void climb(const struct bench *b, struct tiling tiling, double fs, int steps)
{
    struct tiling next;
    double next_fs;
    while (steps-- > 0 && best_neighbour(b, &tiling, &next, &next_fs) && next_fs < fs) {
        tiling = next;
        fs = next_fs;
    }
}

static void expect_none_is_faster(struct bench *b)
{
    bool parts = b->kind->parts[1]; /* each time profiles all tiles */
    int thinning = test_thinning() * (parts ? 5 : 1);
    int simulated = 0, climbs = 0, most = SIMULATED / thinning + 1;
    climb(b, b->best.tiling, (double)b->best.timeline.end_fs, 1);
    for (int i = 0; i < DRAWS && simulated < most; i++) {
        struct tiling tiling;
        double fs;
        draw(b, &tiling);
        if (!try_tiling(b, &tiling, &fs))
            continue;
        simulated++;
        if (!parts && climbs++ < STARTS)
            climb(b, tiling, fs, STEPS);
    }
    cr_assert_gt(simulated, 0, "%s", text_of(b));
}

static void expect_optima(const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bench b;
        if (!operator_find(rows[i].op))
            continue;
        open_bench(&b, &rows[i]);
        double fs = time_fs(&b, &b.best.tiling);
        cr_assert_float_eq(fs, (double)b.best.timeline.end_fs, 1e-12 * fs, "%s: %.0f fs",
                           text_of(&b), fs);
        expect_exhaustive_agrees(&b);
        expect_no_fewer_cores_are_better(&b);
        expect_none_is_faster(&b);
        close_bench(&b);
    }
}

#define OPTIMA(rows) expect_optima(rows, sizeof(rows) / sizeof *(rows))

Test(optimum, thesis)
{
    OPTIMA(thesis_rows);
}
Test(optimum, segments)
{
    OPTIMA(segments_rows);
}
Test(optimum, selb)
{
    OPTIMA(selb_rows);
}
Test(optimum, cann)
{
    OPTIMA(cann_rows);
}

/* A base tile that leaves a smaller rest, and fewer cores that take more turns. */
Test(optimum, of_cann_where_slices_and_most_cores_were_slower)
{
    static const double most_ns[] = {4774.4086, 1141.4268};
    for (int i = 0; i < 2; i++) {
        struct bench b;
        open_bench(&b, &cann_rows[i]);
        cr_expect_leq((double)b.best.timeline.end_fs / 1e6, most_ns[i], "%.4f ns %s",
                      (double)b.best.timeline.end_fs / 1e6, text_of(&b));
        close_bench(&b);
    }
}

/* More cores share a bus that two fill. */
Test(optimum, of_eight_cores_is_no_worse_than_of_two)
{
    struct bench b;
    struct space two;
    struct search_result result;
    struct error error;
    open_bench(&b, &thesis_rows[0]);
    cr_assert_eq(space_open(&b.problem, b.kind, &b.hw, 2, &two, &error), STATUS_OK);
    search_it(&b, &two, "bound", &result);
    cr_assert_leq(b.best.timeline.end_fs, result.best[0].timeline.end_fs);
    search_result_clear(&result);
    space_close(&two);
    close_bench(&b);
}

/* A tiling that leaves the number of cores out means all that get work. */
Test(optimum, cores_may_be_left_out)
{
    struct bench b;
    struct tiling with, without;
    struct error error;
    open_bench(&b, &thesis_rows[3]);
    cr_assert_eq(tiling_parse(&b.space,
                              "m_slice=16,k_slice=16,n_slice=16,buffers=1,resident=both,split=m",
                              &without, &error),
                 STATUS_OK, "%s", error.text);
    cr_assert_eq(
        tiling_parse(&b.space,
                     "cores=4,m_slice=16,k_slice=16,n_slice=16,buffers=1,resident=both,split=m",
                     &with, &error),
        STATUS_OK, "%s", error.text);
    cr_assert_arr_eq(with.value, without.value, (size_t)b.space.axis_count * sizeof *with.value,
                     "8 blocks of rows on up to 5 cores are 4 shares");
    close_bench(&b);
}
