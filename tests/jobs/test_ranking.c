/* Recorded tilings among others (jobs/evaluate/evaluate.h), on a made-up bank: what is drawn from
 * is listed a second time from the whole space, and draws are uniform. */
#include "jobs/evaluate/evaluation.h"
#include "kernels/matmul/matmul_bank.h"
#include "tests/hardware_files.h"

#include <math.h>

TestSuite(ranking, .init = enter, .fini = leave, .timeout = 600);

/* A product of 16 m_dim·… blocks as a bank has it, in its smallest tiles. */
static struct bank_row made(int64_t m, int64_t k, int64_t n, int64_t batch, int batch_type,
                            const int grid[3])
{
    struct bank_row row = {.format = BANK_REPOSITORY,
                           .line = 1,
                           .batch_type = batch_type,
                           .m = m,
                           .k = k,
                           .n = n,
                           .batch = batch,
                           .nz_a = true,
                           .nz_b = true,
                           .nz_c = true,
                           .share_b = batch_type == 2,
                           .type = DTYPE_F16,
                           .out_type = DTYPE_F16,
                           .measured_ns = 7e3};
    for (int i = 0; i < BANK_NUMBERS; i++)
        row.number[i] = 1;
    row.number[BANK_BATCH_DIM] = grid[0];
    row.number[BANK_M_DIM] = grid[1];
    row.number[BANK_N_DIM] = grid[2];
    return row;
}

struct scene {
    struct hardware hw;
    struct bank_row row;
    struct problem problem;
    struct tiling recorded;
    struct space space;
};

/* A chip of few cores, and of small buffers where there are bytes. */
struct chip {
    int cores;
    int64_t l1_bytes, l0_bytes;
};

static void make_chip(const struct chip *chip, struct hardware *hw)
{
    load_ok("ascend910b1", NULL, hw);
    hw->cores = chip->cores;
    for (int b = 0; b < hw->buffer_count; b++) {
        struct buffer *buffer = &hw->buffers[b];
        if (chip->l1_bytes && strcmp(buffer->name, "l1") == 0)
            buffer->capacity_bytes = chip->l1_bytes;
        if (chip->l0_bytes && strncmp(buffer->name, "l0", 2) == 0)
            buffer->capacity_bytes = chip->l0_bytes;
    }
}

static void open_scene(struct scene *scene, const struct chip *chip, const struct bank_row *row)
{
    struct error error;
    make_chip(chip, &scene->hw);
    scene->row = *row;
    cr_assert_eq(evaluate_open(&scene->row, &scene->hw, &scene->problem, &scene->recorded,
                               &scene->space, &error),
                 STATUS_OK, "%s", error.text);
}

static void close_scene(struct scene *scene)
{
    space_close(&scene->space);
    hardware_clear(&scene->hw);
}

/* ------------------------------------------------------------------ what is drawn from */

struct list {
    struct tiling *items;
    int64_t count, room;
};

static void add(void *context, const struct tiling *tiling)
{
    struct list *list = context;
    if (list->count == list->room) {
        list->room = 2 * list->room + 100;
        list->items = realloc(list->items, (size_t)list->room * sizeof *list->items);
        cr_assert(list->items);
    }
    list->items[list->count++] = *tiling;
}

static bool divides(int64_t part, int64_t whole)
{
    return whole % part == 0;
}

static int64_t up(int64_t size)
{
    return (size + 15) / 16 * 16;
}

/* The definition, word for word. */
static bool is_even(const struct bank_row *row, const int64_t *v, int64_t least_cores)
{
    int64_t m = up(row->m), k = up(row->k), n = up(row->n);
    if (!divides(v[CANN_SINGLE_M], m) || !divides(v[CANN_SINGLE_N], n))
        return false;
    int64_t grid = m / v[CANN_SINGLE_M] * (n / v[CANN_SINGLE_N]), cores = v[CANN_CORES];
    int64_t tiles_m = v[CANN_SINGLE_M] / v[CANN_BASE_M], tiles_k = k / v[CANN_BASE_K];
    int64_t tiles_n = v[CANN_SINGLE_N] / v[CANN_BASE_N];
    if (cores < least_cores || !divides(grid, cores) || !divides(cores / grid, row->batch))
        return false;
    bool even = divides(v[CANN_BASE_M], v[CANN_SINGLE_M]) &&
                divides(v[CANN_BASE_N], v[CANN_SINGLE_N]) && divides(v[CANN_BASE_K], k) &&
                divides(v[CANN_STEP_KA], tiles_k) && divides(v[CANN_STEP_KB], tiles_k) &&
                divides(v[CANN_STEP_M], tiles_m) && divides(v[CANN_STEP_N], tiles_n);
    int64_t blocks = row->batch_type == 3 ? row->batch * grid / cores : 1;
    return even && divides(v[CANN_STEP_BATCH_A], blocks) && divides(v[CANN_STEP_BATCH_B], blocks);
}

/* The loops of a bank's kernel, which its form does not say; a TCubeTiling says which of two, and
 * holds tiles only. */
static bool has_words(const struct space *space, const struct bank_row *row,
                      const struct tiling *tiling)
{
    struct tiling kernel = *tiling;
    if (!bank_has_numbers(row))
        return tiling->value[CANN_OUTER] != OUTER_M_N &&
               tiling->value[CANN_L0B_HOLDS] == HOLDS_TILE;
    kernel.value[CANN_OUTER] = matmul_bank_outer(tiling);
    matmul_cann.agree(space, &kernel);
    return kernel.value[CANN_OUTER] == tiling->value[CANN_OUTER];
}

/* For each of `count` rows that differ in their form. */
static void list_all(const struct space *space, const struct bank_row rows[], int count,
                     int64_t least_cores, struct list lists[])
{
    for (int64_t i = 0; i < space->candidates; i++) {
        struct tiling tiling = {{0}};
        space_tiling(space, i, &tiling);
        if (!is_even(rows, tiling.value, least_cores) || !matmul_cann.legal(space, &tiling))
            continue;
        for (int r = 0; r < count; r++)
            if (has_words(space, &rows[r], &tiling))
                add(&lists[r], &tiling);
    }
}

static int compare(const void *a, const void *b)
{
    const struct tiling *x = a, *y = b;
    for (int i = 0; i < CANN_AXES; i++)
        if (x->value[i] != y->value[i])
            return x->value[i] < y->value[i] ? -1 : 1;
    return 0;
}

static void sort(struct list *list)
{
    qsort(list->items, (size_t)list->count, sizeof *list->items, compare);
}

static void expect_same(const struct scene *scene, const struct bank_row *row, struct list *visited,
                        struct list *listed)
{
    char text[TILING_TEXT_SIZE];
    sort(visited);
    sort(listed);
    cr_expect_gt(listed->count, 0);
    cr_assert_eq(visited->count, listed->count, "%lldx%lldx%lld: %lld visited of %lld",
                 (long long)row->m, (long long)row->k, (long long)row->n, (long long)visited->count,
                 (long long)listed->count);
    for (int64_t i = 0; i < listed->count; i++)
        if (compare(&visited->items[i], &listed->items[i]) != 0) {
            tiling_text(scene->space.axes, CANN_AXES, &listed->items[i], text, sizeof text);
            cr_assert_fail("%s", text);
        }
}

static void listed_twice(const struct scene *scene, int64_t least_cores)
{
    struct bank_row rows[] = {scene->row, scene->row};
    struct list listed[2] = {0};
    rows[1].format = BANK_TCUBETILING;
    list_all(&scene->space, rows, 2, least_cores, listed);
    for (int r = 0; r < 2; r++) {
        struct list visited = {0};
        matmul_even_tilings(&scene->space, &rows[r], least_cores, add, &visited);
        expect_same(scene, &rows[r], &visited, &listed[r]);
        free(visited.items);
        free(listed[r].items);
    }
}

Test(ranking, all_even_tilings_are_visited_once)
{
    static const struct {
        int64_t m, k, n, batch;
        int batch_type;
        int64_t least_cores;
        struct chip chip;
    } cases[] = {
        {48, 32, 32, 1, 0, 1, {3, 0, 0}},    {96, 16, 16, 1, 0, 3, {6, 0, 0}},
        {32, 16, 20, 2, 2, 2, {4, 0, 0}},    {32, 16, 16, 4, 3, 1, {2, 0, 0}},
        {32, 64, 32, 1, 0, 1, {2, 6144, 0}}, {64, 32, 32, 1, 0, 1, {2, 0, 4096}},
        {32, 16, 16, 4, 3, 1, {2, 3072, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene scene;
        struct bank_row row = made(cases[i].m, cases[i].k, cases[i].n, cases[i].batch,
                                   cases[i].batch_type, (const int[]){1, 1, 1});
        open_scene(&scene, &cases[i].chip, &row);
        listed_twice(&scene, cases[i].least_cores);
        close_scene(&scene);
    }
}

Test(ranking, grids_of_equal_blocks)
{
    static const struct {
        int64_t m, n, batch, cores;
        bool there;
    } cases[] = {
        {96, 64, 1, 24, true}, {96, 64, 1, 16, false}, {64, 64, 1, 12, false},
        {64, 16, 3, 12, true}, {16, 16, 5, 5, true},   {20, 48, 1, 6, true},
        {20, 48, 1, 4, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct scene scene;
        struct bank_row row =
            made(cases[i].m, 16, cases[i].n, cases[i].batch, 0, (const int[]){1, 1, 1});
        open_scene(&scene, &(struct chip){24, 0, 0}, &row);
        cr_expect_eq(matmul_even_grid(&scene.space, cases[i].cores), cases[i].there, "%zu", i);
        close_scene(&scene);
    }
}

/* ------------------------------------------------------------------ what is drawn */

static int drawn_of(const struct scene *scene, uint64_t seed, struct tiling drawn[RANKING_DRAWN],
                    int64_t *others)
{
    struct error error;
    return ranking_draw_one(&scene->space, &scene->problem, &scene->row, &scene->recorded, seed,
                            drawn, others, &error);
}

/* Without replacement, inclusion of each has variance p (1 - p), and the sum of all is fixed. */
Test(ranking, draws_are_uniform)
{
    enum { SEEDS = 1000 };
    struct scene scene;
    struct tiling drawn[RANKING_DRAWN];
    struct list all = {0};
    struct bank_row row = made(32, 32, 48, 1, 0, (const int[]){1, 2, 1});
    open_scene(&scene, &(struct chip){4, 0, 0}, &row);
    matmul_even_tilings(&scene.space, &row, 2, add, &all);
    sort(&all);
    int64_t *counts = calloc((size_t)all.count, sizeof *counts), others = 0;
    for (int seed = 0; seed < SEEDS; seed++) {
        struct list kept = {drawn, drawn_of(&scene, (uint64_t)seed, drawn, &others), 0};
        cr_assert_eq(kept.count, RANKING_DRAWN);
        sort(&kept);
        for (int i = 0; i < RANKING_DRAWN; i++) {
            const struct tiling *found =
                bsearch(&drawn[i], all.items, (size_t)all.count, sizeof drawn[i], compare);
            cr_assert(found);
            cr_assert(i == 0 || compare(&drawn[i - 1], &drawn[i]) < 0);
            counts[found - all.items]++;
        }
    }
    struct tiling recorded = scene.recorded;
    matmul_cann.agree(&scene.space, &recorded);
    int64_t left_out = 0;
    double p = (double)RANKING_DRAWN / (double)others, sum = 0;
    for (int64_t i = 0; i < all.count; i++) {
        bool is_recorded = compare(&all.items[i], &recorded) == 0;
        left_out += is_recorded;
        cr_expect(!is_recorded || counts[i] == 0);
        if (!is_recorded)
            sum += pow((double)counts[i] - SEEDS * p, 2) / (SEEDS * p * (1 - p));
    }
    double degrees = (double)others - 1, chi_2 = sum * degrees / (double)others;
    cr_expect_eq(left_out, 1);
    cr_expect_eq(others, all.count - 1);
    cr_expect_gt(others, 2 * RANKING_DRAWN);
    cr_expect_lt(fabs(chi_2 - degrees), 4 * sqrt(2 * degrees), "%g of %g", chi_2, degrees);
    free(counts);
    free(all.items);
    close_scene(&scene);
}

Test(ranking, draws_depend_on_seed_and_problem_alone)
{
    struct scene scene;
    struct tiling first[RANKING_DRAWN], second[RANKING_DRAWN];
    int64_t others;
    struct bank_row row = made(64, 32, 48, 1, 0, (const int[]){1, 4, 1});
    open_scene(&scene, &(struct chip){4, 0, 0}, &row);
    cr_assert_eq(drawn_of(&scene, 7, first, &others), RANKING_DRAWN);
    cr_assert_eq(drawn_of(&scene, 7, second, &others), RANKING_DRAWN);
    cr_expect_arr_eq(first, second, sizeof first);
    cr_assert_eq(drawn_of(&scene, 8, second, &others), RANKING_DRAWN);
    cr_expect(memcmp(first, second, sizeof first) != 0);
    scene.problem.choice[MATMUL_BIAS] = 1; /* another seed: the space is the same one here */
    cr_assert_eq(drawn_of(&scene, 7, second, &others), RANKING_DRAWN);
    cr_expect(memcmp(first, second, sizeof first) != 0);
    for (int i = 0; i < RANKING_DRAWN; i++)
        cr_expect_geq(first[i].value[CANN_CORES], 3);
    close_scene(&scene);
}

/* ------------------------------------------------------------------ a bank */

enum { MANY, FEW, NONE, SHORT, UNFIT, ROWS };

struct banked {
    struct hardware hw;
    struct bank_row rows[ROWS];
    struct bank bank;
    struct prediction predictions[ROWS];
    struct ranked ranked[ROWS];
};

static void open_bank(struct banked *b)
{
    struct error error;
    make_chip(&(struct chip){4, 0, 0}, &b->hw);
    b->rows[MANY] = made(64, 64, 96, 1, 0, (const int[]){1, 2, 2});
    b->rows[FEW] = made(16, 16, 64, 1, 0, (const int[]){1, 1, 2});
    b->rows[NONE] = made(112, 16, 16, 1, 0, (const int[]){1, 4, 1}); /* 7 blocks over 4 cores */
    b->rows[SHORT] = b->rows[UNFIT] = b->rows[MANY];
    b->rows[SHORT].measured_ns = RANKING_LEAST_NS - 1;
    b->rows[UNFIT].unfit = "did not run";
    b->bank = (struct bank){.file = "made", .count = ROWS, .rows = b->rows};
    cr_assert_eq(evaluate_rows(b->rows, ROWS, &b->hw, 2, NULL, b->predictions, &error), STATUS_OK);
}

static void rank_bank(struct banked *b, const struct ranking_options *options)
{
    struct error error;
    cr_assert_eq(ranking_draw(&b->bank, b->predictions, &b->hw, options, b->ranked, &error),
                 STATUS_OK, "%s", error.text);
}

Test(ranking, the_same_for_any_number_of_threads)
{
    struct banked b;
    struct ranked before[ROWS];
    open_bank(&b);
    rank_bank(&b, &(struct ranking_options){.threads = 1, .seed = 1});
    memcpy(before, b.ranked, sizeof before);
    for (int threads = 2; threads <= 3; threads++) {
        memset(b.ranked, 0xff, sizeof b.ranked);
        rank_bank(&b, &(struct ranking_options){.threads = threads, .seed = 1});
        for (int i = 0; i < ROWS; i++)
            cr_expect(before[i].drawn == b.ranked[i].drawn &&
                      before[i].others == b.ranked[i].others &&
                      before[i].faster[0] == b.ranked[i].faster[0] &&
                      strcmp(before[i].reason, b.ranked[i].reason) == 0);
    }
    cr_expect_eq(before[MANY].drawn, RANKING_DRAWN);
    cr_expect(before[FEW].drawn > 0 && before[FEW].drawn == before[FEW].others);
    cr_expect_lt(before[FEW].drawn, RANKING_DRAWN);
    cr_expect_str_eq(before[NONE].reason,
                     "no other even tiling on 75 % of its cores or more is legal");
    cr_expect(before[NONE].drawn == 0 && before[SHORT].drawn == 0 && before[UNFIT].drawn == 0);
    cr_expect(!before[SHORT].reason[0] && !before[UNFIT].reason[0]);
    rank_bank(&b, &(struct ranking_options){.threads = 2, .seed = 2});
    cr_expect_eq(before[FEW].faster[0], b.ranked[FEW].faster[0]); /* all of them, for any seed */
    hardware_clear(&b.hw);
}

/* Where all are taken, listing and simulating them once more gives the same count. */
Test(ranking, counts_what_is_strictly_faster)
{
    struct banked b;
    struct scene scene;
    struct list all = {0};
    struct tiling_simulator simulator;
    struct error error;
    int faster = 0, equal = 0;
    open_bank(&b);
    rank_bank(&b, &(struct ranking_options){.threads = 2, .seed = 1});
    open_scene(&scene, &(struct chip){4, 0, 0}, &b.rows[FEW]);
    list_all(&scene.space, &scene.row, 1, 2, &all);
    cr_assert_eq(tiling_simulator_open(&simulator, &error), STATUS_OK);
    for (int64_t i = 0; i < all.count; i++) {
        struct prediction p;
        cr_assert_eq(evaluate_tiling(&simulator, &scene.space, &all.items[i], &p, &error),
                     STATUS_OK);
        faster += p.predicted_ns < b.predictions[FEW].predicted_ns;
        equal += p.predicted_ns == b.predictions[FEW].predicted_ns;
    }
    cr_expect_eq(b.ranked[FEW].drawn, all.count - 1);
    cr_expect_eq(b.ranked[FEW].faster[RANKING_SIMULATED], faster);
    cr_expect(faster > 0 && equal > 1, "%d faster and %d equal: nothing is told", faster, equal);
    tiling_simulator_close(&simulator);
    free(all.items);
    close_scene(&scene);
    hardware_clear(&b.hw);
}

Test(ranking, who_stops_gets_reasons)
{
    static volatile sig_atomic_t stop = 1;
    struct banked b;
    open_bank(&b);
    rank_bank(&b, &(struct ranking_options){.threads = 2, .seed = 1, .stop = &stop});
    for (int i = 0; i < ROWS; i++) {
        cr_expect_eq(b.ranked[i].drawn, 0);
        cr_expect_str_eq(b.ranked[i].reason, i < SHORT ? "interrupted" : "");
    }
    hardware_clear(&b.hw);
}

/* ------------------------------------------------------------------ the answer */

static double slower_where_faster(const void *correction, const struct bank_row *row,
                                  const struct space *space, const struct tiling *tiling,
                                  const struct prediction *prediction)
{
    cr_assert(row && space && tiling && *(const int *)correction == 3);
    return 1 / prediction->predicted_ns;
}

static double number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    cr_assert(json_is_number(value), "%s", key);
    return json_number_value(value);
}

static void expect_shares(const json_t *object, double problems, double faster, double best_1,
                          double best_5)
{
    cr_expect_eq(number(object, "problems"), problems);
    cr_expect_float_eq(number(object, "predicted_faster"), faster, 1e-12);
    cr_expect_float_eq(number(object, "recorded_in_best_1_percent"), best_1, 1e-12);
    cr_expect_float_eq(number(object, "recorded_in_best_5_percent"), best_5, 1e-12);
}

/* Of made-up counts: 1 of 150 is within 1 %, 2 are not, 7 are within 5 %, 8 are not. */
Test(ranking, shares)
{
    static const int faster[ROWS] = {1, 2, 7, 8, 0}, drawn[ROWS] = {150, 150, 150, 150, 10};
    struct banked b;
    struct error error;
    json_t *answer;
    struct ranking_options options = {.threads = 1, .seed = 5};
    open_bank(&b);
    for (int i = 0; i < ROWS; i++)
        b.ranked[i] = (struct ranked){200, drawn[i], {faster[i], 2 * faster[i]}, ""};
    cr_assert_eq(ranking_make(&b.bank, b.predictions, b.ranked, &options, &answer, &error),
                 STATUS_OK);
    expect_shares(answer, 5, 18 / 610., 2 / 5., 4 / 5.);
    cr_expect_eq(number(answer, "seed"), 5);
    cr_expect_eq(json_array_size(json_object_get(answer, "each")), 5);
    cr_expect_null(json_object_get(answer, "corrected"));
    json_decref(answer);
    options.corrected_ns = slower_where_faster;
    cr_assert_eq(ranking_make(&b.bank, b.predictions, b.ranked, &options, &answer, &error),
                 STATUS_OK);
    expect_shares(answer, 5, 18 / 610., 2 / 5., 4 / 5.);
    expect_shares(json_object_get(answer, "corrected"), 5, 36 / 610., 1 / 5., 3 / 5.);
    json_decref(answer);
    hardware_clear(&b.hw);
}

Test(ranking, a_second_time_has_an_order_of_its_own)
{
    struct banked b;
    static const int three = 3;
    open_bank(&b);
    rank_bank(&b, &(struct ranking_options){.threads = 2,
                                            .seed = 1,
                                            .corrected_ns = slower_where_faster,
                                            .correction = &three});
    const struct ranked *few = &b.ranked[FEW];
    cr_expect(few->faster[RANKING_CORRECTED] > 0);
    cr_expect_lt(few->faster[RANKING_SIMULATED] + few->faster[RANKING_CORRECTED], few->drawn);
    hardware_clear(&b.hw);
}

/* ------------------------------------------------------------------ pitches */

Test(ranking, pitches_say_which_rows_are_clean)
{
    static const struct {
        int64_t m, k, n;
        bool transpose_a, transpose_b, nz_a, nz_b, nz_c;
        enum dtype out;
        int multiple_bytes;
    } cases[] = {
        {16, 16, 16, false, false, true, true, true, DTYPE_F16, 0},
        {16, 128, 256, false, false, false, false, false, DTYPE_F16, 256},
        {16, 192, 256, false, false, false, false, false, DTYPE_F16, 128},
        {16, 128, 16, false, false, false, true, false, DTYPE_F16, 32},
        {16, 128, 16, false, false, false, true, false, DTYPE_F32, 64},
        {128, 16, 128, true, false, false, false, false, DTYPE_F16, 256},
        {128, 48, 128, true, true, false, false, false, DTYPE_F16, 32},
        {16, 128, 1, false, false, true, true, false, DTYPE_F16, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bank_row row =
            made(cases[i].m, cases[i].k, cases[i].n, 1, 0, (const int[]){1, 1, 1});
        row.transpose_a = cases[i].transpose_a;
        row.transpose_b = cases[i].transpose_b;
        row.nz_a = cases[i].nz_a;
        row.nz_b = cases[i].nz_b;
        row.nz_c = cases[i].nz_c;
        row.out_type = cases[i].out;
        cr_expect_eq(row_pitch_multiple_bytes(&row), cases[i].multiple_bytes, "%zu: %d", i,
                     row_pitch_multiple_bytes(&row));
        cr_expect_eq(row_is_clean(&row),
                     cases[i].multiple_bytes == 0 || cases[i].multiple_bytes == 256);
        cr_expect(!row_is_clean_ge_10us(&row, NULL));
        row.measured_ns = 10e3;
        cr_expect_eq(row_is_clean_ge_10us(&row, NULL), row_is_clean(&row));
    }
}
