/* The operator as tables (its sizes and their limits, the choices that an algorithm leaves open,
 * its spaces, loops and published figures), and the space of both stages' tiles (Tang 2024,
 * eq. 3.9): sizes are equal slices in whole blocks, m1 of a core's rows and n1 of N, m2 of m1 and
 * n2 of n1, so that selection tiles nest in a distance tile. Limits are in bytes. */
#include "kernels/knn/knn.h"
#include "kernels/chapter.h"
#include "kernels/emit.h"
#include "kernels/knn/host/knn_host.h"
#include "kernels/knn/knn_space.h"
#include "kernels/limits.h"
#include "kernels/slices.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the space ------------------------------------------------------------------------------- */

/* All that get work. */
static int64_t usual_cores(const struct space *space, const struct tiling *tiling)
{
    (void)tiling;
    return knn_space_of(space)->shares[knn_space_of(space)->cores - 1].cores_used;
}

static const struct axis axes[KNN_AXES] = {
    [KNN_M1] = {.name = "m1", .unit = "elements"},
    [KNN_N1] = {.name = "n1", .unit = "elements"},
    [KNN_M2] = {.name = "m2", .unit = "elements"},
    [KNN_N2] = {.name = "n2", .unit = "elements"},
    [KNN_CORES] = {.name = "cores", .counts_cores = true, .usual = usual_cores},
};

static struct knn_tile tile_of(const struct space *space, int64_t rows, int64_t columns)
{
    struct knn_tile tile = knn_space_of(space)->tile;
    tile.rows = rows;
    tile.columns = columns;
    return tile;
}

/* Left side of eq. 3.9's memory limit: both points' tiles, a selection tile and its results. */
static int64_t points_bytes(const struct space *space, const int64_t *v)
{
    const struct knn_space *knn = knn_space_of(space);
    int64_t points = product_of(knn->d, sum_of(v[KNN_M1], v[KNN_N1]));
    int64_t tile = product_of(v[KNN_M2], sum_of(v[KNN_N2], knn->tile.k));
    return product_of(sum_of(points, tile), dtype_bytes(knn->tile.type));
}

static int64_t selection_bytes(const struct space *space, const int64_t *v)
{
    struct knn_tile tile = tile_of(space, v[KNN_M2], v[KNN_N2]);
    return knn_selection_ub_bytes(&knn_space_of(space)->machine, &tile);
}

/* Of a selection tile, along m or n. */
static int64_t largest_tile(const struct space *space, int axis)
{
    bool vector = knn_space_of(space)->tile.index == KNN_INDEX_VECTOR;
    return axis == KNN_N2 && vector ? KNN_MAX_VECTOR_INDEX : KNN_MAX_TILE;
}

static bool fits_memory(const struct space *space, const int64_t *v)
{
    const struct knn_space *knn = knn_space_of(space);
    return v[KNN_M2] <= largest_tile(space, KNN_M2) && v[KNN_N2] <= largest_tile(space, KNN_N2) &&
           points_bytes(space, v) <= knn->memory_bytes &&
           selection_bytes(space, v) <= knn->ub_bytes;
}

/* Any number of cores takes the same bytes. */
static bool possible(const struct space *space, const struct tiling *tiling, int fixed)
{
    struct tiling least = *tiling;
    const int64_t *v = least.value, block = knn_space_of(space)->block;
    for (int a = fixed; a < KNN_CORES; a++)
        least.value[a] = block;
    return v[KNN_M2] <= v[KNN_M1] && v[KNN_N2] <= v[KNN_N1] && fits_memory(space, v) &&
           (fixed < KNN_AXES ||
            (is_slice(v[KNN_M1], v[KNN_M2], block) && is_slice(v[KNN_N1], v[KNN_N2], block)));
}

/* A value on `axis` that is no equal slice of `whole`; names the ones next to it. */
static void add_slice(struct violation list[MAX_VIOLATIONS], int *count, int axis, int64_t value,
                      int64_t whole, const char *of, int64_t block)
{
    char kind[64];
    if (!list) {
        ++*count;
        return;
    }
    int64_t below = value < whole ? value - value % block : whole, above = below + block;
    above -= above % block;
    while (below > 0 && !is_slice(whole, below, block))
        below -= block;
    while (above <= whole && !is_slice(whole, above, block))
        above += block;
    snprintf(kind, sizeof kind, "equal slice of %s = %lld", of, (long long)whole);
    add_value(list, count, axes[axis].name, value, kind, below > 0 ? below : 0,
              above <= whole ? above : 0);
}

static int violations(const struct space *space, const struct tiling *tiling,
                      struct violation list[MAX_VIOLATIONS])
{
    const struct knn_space *knn = knn_space_of(space);
    const struct knn_share *share = knn_share_of(space, tiling);
    const int64_t *v = tiling->value;
    const struct {
        int axis;
        int64_t whole;
        const char *of;
    } slices[] = {{KNN_M1, share->rows, "a core's rows"},
                  {KNN_N1, knn->columns, "n"},
                  {KNN_M2, v[KNN_M1], "m1"},
                  {KNN_N2, v[KNN_N1], "n1"}};
    int count = 0;
    for (size_t i = 0; i < sizeof slices / sizeof *slices; i++)
        if (!is_slice(slices[i].whole, v[slices[i].axis], knn->block))
            add_slice(list, &count, slices[i].axis, v[slices[i].axis], slices[i].whole,
                      slices[i].of, knn->block);
    for (int a = KNN_M2; a <= KNN_N2; a++)
        if (v[a] > largest_tile(space, a))
            add_value(list, &count, axes[a].name, v[a], "size of a tile whose indices have 16 bits",
                      largest_tile(space, a), 0);
    add_excess(list, &count, "l1+ub", "points, distances and results take", points_bytes(space, v),
               knn->memory_bytes);
    add_excess(list, &count, "ub", "a selection tile and its arrays take",
               selection_bytes(space, v), knn->ub_bytes);
    add_core_count(list, &count, v[KNN_CORES], knn->rows / knn->block, 1,
                   knn->shares[knn->cores - 1].cores_used);
    return count;
}

static bool legal(const struct space *space, const struct tiling *tiling)
{
    return violations(space, tiling, NULL) == 0;
}

/* The distance tile's own tiling may leave some of the cores idle. */
static int cores_used(const struct space *space, const struct tiling *tiling, int part)
{
    int64_t own = tiling->value[KNN_DISTANCE + THESIS_CORES];
    return part == KNN_PART_DISTANCE && own ? (int)own : knn_share_of(space, tiling)->cores_used;
}

void knn_distance_problem(const struct space *space, const struct tiling *tiling,
                          struct problem *problem)
{
    const struct knn_space *knn = knn_space_of(space);
    *problem = (struct problem){
        .op = &matmul_operator,
        .size = {[MATMUL_M] = tiling->value[KNN_M1] * knn_share_of(space, tiling)->cores_used,
                 [MATMUL_K] = knn->d,
                 [MATMUL_N] = tiling->value[KNN_N1],
                 [MATMUL_BATCH] = 1},
        .type = knn->tile.type,
    };
}

enum status knn_distance_open(const struct space *space, const struct tiling *tiling,
                              struct space *product, struct tiling *own, struct error *error)
{
    struct problem problem;
    *own = (struct tiling){{0}};
    memcpy(own->value, tiling->value + KNN_DISTANCE, THESIS_AXES * sizeof *own->value);
    if (own->value[THESIS_M] == 0)
        return error_set(error, STATUS_INVALID, "the distance tile has no tiling of its own yet");
    knn_distance_problem(space, tiling, &problem);
    return space_open(&problem, &matmul_thesis, space->hw, knn_share_of(space, tiling)->cores_used,
                      product, error);
}

static enum status generate_distance(const struct space *space, const struct tiling *tiling,
                                     struct program *program, struct error *error)
{
    struct space product = {.kind = &matmul_thesis};
    struct tiling own;
    enum status status = knn_distance_open(space, tiling, &product, &own, error);
    if (status != STATUS_OK)
        return status;
    status = product.kind->generate(&product, &own, 0, program, error);
    space_close(&product);
    return status;
}

static enum status generate(const struct space *space, const struct tiling *tiling, int part,
                            struct program *program, struct error *error)
{
    const struct knn_space *knn = knn_space_of(space);
    struct knn_tile tile = tile_of(space, tiling->value[KNN_M2], tiling->value[KNN_N2]);
    int64_t all = tile.k < tile.columns ? tile.k : tile.columns;
    switch ((enum knn_part)part) {
    case KNN_PART_IDLE:
        return knn_selection_program(&knn->machine, &tile, 0, true, program, error);
    case KNN_PART_STEP:
        return knn_selection_program(&knn->machine, &tile, 1, true, program, error);
    case KNN_PART_FULL:
        return knn_selection_program(&knn->machine, &tile, all, all < tile.k, program, error);
    default:
        return generate_distance(space, tiling, program, error);
    }
}

/* Products on the matrix unit, or both sets of points in and the results out, once. */
double knn_share_roofline_ns(const struct knn_space *knn, const struct knn_share *share)
{
    const struct matmul_machine *m = &knn->product;
    const struct price *matrix = &m->hw->prices[m->matrix_price];
    const struct price *load = &m->hw->prices[m->load_price];
    double block = (double)knn->block, rows = (double)share->rows * share->cores_used;
    double columns = (double)knn->columns, d = (double)knn->d;
    double bytes =
        ((rows + columns) * d + 2 * rows * (double)knn->tile.k) * dtype_bytes(knn->tile.type);
    double compute_fs = rows * columns * d / (block * block * block) / share->cores_used *
                        (double)matrix->rate.fs / (double)matrix->rate.units;
    double memory_fs = price_least_fs(m->hw, load, share->cores_used, bytes);
    return fmax(compute_fs, memory_fs) / 1e6;
}

/* Of the number of cores that is best off. */
static double roofline_ns(const struct space *space)
{
    const struct knn_space *knn = knn_space_of(space);
    double least_ns = INFINITY;
    for (int c = 0; c < knn->cores; c++)
        if (knn->shares[c].m1)
            least_ns = fmin(least_ns, knn_share_roofline_ns(knn, &knn->shares[c]));
    return least_ns;
}

static void destroy(struct space *space)
{
    struct knn_space *knn = space->detail;
    for (int c = 0; knn && knn->shares && c < knn->cores; c++) {
        free(knn->shares[c].m1);
        free(knn->shares[c].m2);
    }
    if (knn) {
        free(knn->n1);
        free(knn->n2);
        free(knn->shares);
    }
    free(knn);
}

/* All multiples of a block that fit UB beside one block in the other direction, up to `whole`; at
 * least one. */
static int64_t *multiples_that_fit(const struct space *space, int axis, int64_t whole, int *count)
{
    const struct knn_space *knn = knn_space_of(space);
    int64_t v[KNN_AXES] = {0, 0, knn->block, knn->block}, most = knn->block;
    for (; most < whole && most + knn->block <= largest_tile(space, axis); most += knn->block) {
        v[axis] = most + knn->block;
        if (selection_bytes(space, v) > knn->ub_bytes)
            break;
    }
    *count = (int)(most / knn->block);
    int64_t *values = malloc((size_t)*count * sizeof *values);
    for (int i = 0; values && i < *count; i++)
        values[i] = (i + 1) * knn->block;
    return values;
}

/* The tilings of one number of cores. */
static enum status add_block(struct space *space, const struct knn_space *knn,
                             struct knn_share *share, struct error *error)
{
    struct space_block *block = space_add_block(space);
    share->m1 = slices_of(share->rows, knn->block, &share->m1_count);
    share->m2 = multiples_that_fit(space, KNN_M2, share->rows, &share->m2_count);
    if (!block || !share->m1 || !share->m2)
        return error_memory(error);
    *block = (struct space_block){
        .values = {[KNN_M1] = share->m1,
                   [KNN_N1] = knn->n1,
                   [KNN_M2] = share->m2,
                   [KNN_N2] = knn->n2,
                   [KNN_CORES] = &share->cores},
        .count = {[KNN_M1] = share->m1_count,
                  [KNN_N1] = knn->n1_count,
                  [KNN_M2] = share->m2_count,
                  [KNN_N2] = knn->n2_count,
                  [KNN_CORES] = 1},
    };
    return STATUS_OK;
}

/* A block for each number of cores that has equal shares. */
static enum status add_blocks(struct space *space, struct knn_space *knn, struct error *error)
{
    knn->n1 = slices_of(knn->columns, knn->block, &knn->n1_count);
    knn->n2 = multiples_that_fit(space, KNN_N2, knn->columns, &knn->n2_count);
    knn->shares = calloc((size_t)knn->cores, sizeof *knn->shares);
    if (!knn->n1 || !knn->n2 || !knn->shares)
        return error_memory(error);
    for (int c = 1; c <= knn->cores; c++) {
        struct knn_share *share = &knn->shares[c - 1];
        share->cores = c;
        share->rows = slab_of(knn->rows, c, knn->block, &share->cores_used);
        if (share->cores_used == c)
            TRY(add_block(space, knn, share, error));
    }
    return STATUS_OK;
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    const struct matrix_type *matrix;
    struct knn_space *knn = calloc(1, sizeof *knn);
    if (!knn)
        return error_memory(error);
    space->detail = knn;
    space->axis_count = KNN_AXES;
    space->axes = axes;
    TRY(knn_machine_find(space->hw, problem->type, &knn->machine, error));
    TRY(machine_cubes(space->hw, "MatMul", problem->type, &matrix, error));
    TRY(matmul_machine_find(space->hw, problem->type, problem->type, &knn->product, error));
    knn->block = knn->product.block;
    knn->tile = (struct knn_tile){
        .k = problem->size[KNN_K],
        .type = problem->type,
        .loop = (enum knn_loop)problem->choice[KNN_LOOP],
        .compare = (enum knn_compare)problem->choice[KNN_COMPARE],
        .index = (enum knn_index)problem->choice[KNN_INDEX],
    };
    knn->steps = (enum knn_steps)problem->choice[KNN_STEPS];
    knn->d = round_up(problem->size[KNN_D], knn->block);
    knn->columns = round_up(problem->size[KNN_N], knn->block);
    knn->rows = round_up(problem->size[KNN_M], knn->block);
    knn->cores = cores;
    knn->ub_bytes = capacity_of(space->hw, knn->machine.ub);
    knn->memory_bytes = sum_of(capacity_of(space->hw, knn->product.l1), knn->ub_bytes);
    return add_blocks(space, knn, error);
}

static const char *const parts[KNN_PARTS + 1] = {
    [KNN_PART_DISTANCE] = "distance",
    [KNN_PART_IDLE] = "idle",
    [KNN_PART_STEP] = "step",
    [KNN_PART_FULL] = "full",
};

/* Is the distance stage's tiling, behind the axes, a legal one? */
static bool own_legal(const struct space *space, const struct tiling *tiling)
{
    struct space product = {.kind = &matmul_thesis};
    struct tiling own;
    if (knn_distance_open(space, tiling, &product, &own, NULL) != STATUS_OK)
        return false;
    bool legal = space_index(&product, &own) >= 0 && product.kind->legal(&product, &own);
    space_close(&product);
    return legal;
}

static const struct operator_rule rules[] = {
    [KNN_RULE_SELB] = {"pruned_selb", "SelB's inequality"},
    [KNN_RULE_HARMONIC] = {"pruned_harmonic", "the harmonic inequality"},
    [KNN_RULES] = {NULL, NULL},
};

const struct operator_space knn_selb = {
    .name = "selb",
    .title = "tiles of the distance stage (m1, n1) and, nested in them, of the selection (m2, n2)",
    .create = create,
    .destroy = destroy,
    .possible = possible,
    .legal = legal,
    .violations = violations,
    .cores_used = cores_used,
    .parts = parts,
    .generate = generate,
    .roofline_ns = roofline_ns,
    .costs = KNN_COSTS,
    .launches = 1u << KNN_COST_DISTANCE | 1u << KNN_COST_IDLE,
    .source = &knn_source,
    .simulate = knn_search_simulate,
    .own_legal = own_legal,
    .rules = rules,
    .cost = {6.385, {0.777, -0.144, 0.436, -0.225}},
    .details = knn_details,
    .compares = true,
};

/* ---- the operator ---------------------------------------------------------------------------- */

static const char *const size_names[KNN_SIZES] = {"m", "d", "n", "k"};
static const struct operator_size options[] = {{"K", "neighbours of each point", 0, false}};

static const char *const endings[] = {"early", "full"};
static const char *const compares[] = {"hardware", "relu"};
static const char *const indices[] = {"hardware", "vector"};
static const char *const steps[] = {"mean", "max"};

static const struct operator_choice choices[KNN_CHOICES] = {
    [KNN_LOOP] = {"loop", 2, endings, "stop when no row is left (default), or run all row tests"},
    [KNN_COMPARE] = {"vec-compare", 2, compares,
                     "vecCmp and vecSel (default), or bit operations and ReLU"},
    [KNN_INDEX] = {"index", 2, indices,
                   "the index of a minimum from reduceMin (default), or by vector operations"},
    [KNN_STEPS] = {"steps", 2, steps,
                   "loop steps of a tile as k/t (default), or as the exact expectation"},
};

#define MAX_SIZE    (INT64_C(1) << 31)
#define MAX_PRODUCT 1e15

static enum status check_problem(const struct problem *problem, struct error *error)
{
    const int64_t *size = problem->size;
    double product = 1;
    for (int i = 0; i < KNN_K; i++) {
        product *= (double)size[i];
        if (size[i] >= MAX_SIZE)
            return error_set(error, STATUS_INVALID, "%s = %lld, expected less than 2^31",
                             size_names[i], (long long)size[i]);
    }
    if (product > MAX_PRODUCT)
        return error_set(error, STATUS_INVALID,
                         "m·d·n = %.3g multiplications, expected at most %.0g", product,
                         MAX_PRODUCT);
    if (size[KNN_K] > KNN_MAX_K)
        return error_set(error, STATUS_INVALID, "--k %lld: expected at most %d",
                         (long long)size[KNN_K], KNN_MAX_K);
    if (size[KNN_K] > size[KNN_N])
        return error_set(error, STATUS_INVALID,
                         "--k %lld: expected at most n = %lld, the number of training points",
                         (long long)size[KNN_K], (long long)size[KNN_N]);
    return STATUS_OK;
}

static double count_operations(const struct problem *problem, const struct hardware *hw)
{
    (void)hw;
    return 2.0 * (double)problem->size[KNN_M] * (double)problem->size[KNN_D] *
           (double)problem->size[KNN_N];
}

static const struct loop_family *const loops[] = {&knn_loops, NULL};
static const struct chapter *const chapters[] = {&knn_chapter, NULL};

static const struct operator_space *const spaces[] = {&knn_selb, &knn_host_space, NULL};

const struct operator knn_operator = {
    .name = "knn",
    .title = "k nearest of N training points for each of M test points, by cosine distance",
    .shape_form = "MxDxN",
    .shape_sizes = 3,
    .size_count = KNN_SIZES,
    .size_names = size_names,
    .options = options,
    .choice_count = KNN_CHOICES,
    .choices = choices,
    .check = check_problem,
    .operations = count_operations,
    .spaces = spaces,
    .runner = &knn_runner,
    .loops = loops,
    .chapters = chapters,
};
