/* Which tilings of polynomials exist on a processor, and why others do not. */
#include "kernels/cubefx/cubefx.h"
#include "kernels/cubefx/host/cubefx_host_space.h"
#include "kernels/limits.h"
#include "kernels/slices.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

const int poly_functions[POLY_SIZES] = {1, 2, 3, 4, 6, 8};
const int poly_vectors[POLY_SIZES] = {1, 2, 3, 4, 6, 8};

/* The most vectors of a register tile by its functions, 0: none. Sums and inputs fit the 32
 * registers of AVX-512; the matrix form, which reads its powers from the cache, needs fewer. */
static const int most_vectors[CUBEFX_HOST_ALGORITHMS][POLY_MAX_FUNCTIONS + 1] = {
    [CUBEFX_HOST_HORNER - 1] = {[1] = 8, [2] = 8, [3] = 6, [4] = 6, [6] = 4, [8] = 3},
    [CUBEFX_HOST_SWEEP - 1] = {[1] = 8},
    [CUBEFX_HOST_MATRIX - 1] = {[1] = 4, [2] = 4, [4] = 4, [8] = 3},
};

static const char *const algorithm_names[] = {"-", "horner", "sweep", "matrix"};
static const char *const store_names[] = {"-", "cached", "stream"};

const struct axis cubefx_host_axes[CUBEFX_HOST_AXES] = {
    [CUBEFX_HOST_ALGORITHM] = {.name = "algorithm",
                               .value_names = algorithm_names,
                               .name_count = CUBEFX_HOST_ALGORITHMS + 1},
    [CUBEFX_HOST_FUNCTIONS] = {.name = "function_tile", .unit = "functions"},
    [CUBEFX_HOST_VECTORS] = {.name = "vector_tile", .unit = "vectors"},
    [CUBEFX_HOST_TILE] = {.name = "input_tile", .unit = "inputs"},
    [CUBEFX_HOST_STORE] = {.name = "store",
                           .value_names = store_names,
                           .name_count = CUBEFX_HOST_STREAM + 1},
};

static const int64_t algorithms[] = {CUBEFX_HOST_HORNER, CUBEFX_HOST_SWEEP, CUBEFX_HOST_MATRIX};
static const int64_t stores[] = {CUBEFX_HOST_CACHED, CUBEFX_HOST_STREAM};

int poly_lanes(enum host_isa isa)
{
    static const int lanes[HOST_ISA_COUNT] = {
        [HOST_PORTABLE] = 4, [HOST_NEON] = 4, [HOST_AVX2] = 8, [HOST_AVX512] = 16};
    return lanes[isa];
}

static bool listed(const int *list, int64_t value)
{
    for (int i = 0; i < POLY_SIZES; i++)
        if (list[i] == value)
            return true;
    return false;
}

bool poly_tile_exists(enum cubefx_host_algorithm algorithm, int64_t functions, int64_t vectors)
{
    return listed(poly_functions, functions) && listed(poly_vectors, vectors) &&
           vectors <= most_vectors[algorithm - 1][functions];
}

const char *poly_loop_name(enum cubefx_host_algorithm algorithm, int functions, int vectors,
                           char name[HOST_NAME_SIZE])
{
    snprintf(
        name, HOST_NAME_SIZE, "poly %s %dx%d",
        algorithm_names[algorithm == CUBEFX_HOST_MATRIX ? CUBEFX_HOST_MATRIX : CUBEFX_HOST_HORNER],
        functions, vectors);
    return name;
}

const char *poly_powers_loop_name(int vectors, char name[HOST_NAME_SIZE])
{
    snprintf(name, HOST_NAME_SIZE, "poly powers %d", vectors);
    return name;
}

/* Cuts `total` into the largest pieces up to `most` for which there is a register tile; `other` is
 * the tile's other size. */
static int cut(enum cubefx_host_algorithm algorithm, const int *list, bool is_functions, int other,
               int64_t total, int most, struct poly_part parts[POLY_MAX_PARTS])
{
    int count = 0;
    for (int i = POLY_SIZES - 1; i >= 0 && total > 0; i--) {
        int size = list[i];
        bool exists = is_functions ? poly_tile_exists(algorithm, size, other)
                                   : poly_tile_exists(algorithm, other, size);
        if (size > most || size > total || !exists)
            continue;
        parts[count++] = (struct poly_part){total / size, size};
        total %= size;
    }
    return count;
}

int poly_cut(const struct poly_plan *plan, int64_t inputs, struct poly_part parts[POLY_MAX_PARTS],
             int *partial)
{
    *partial = (int)(inputs % plan->lanes);
    int count = cut(plan->algorithm, poly_vectors, false, plan->function_tile, inputs / plan->lanes,
                    plan->vector_tile, parts);
    if (*partial)
        parts[count++] = (struct poly_part){1, 1};
    return count;
}

void cubefx_host_plan(const struct space *space, const struct tiling *tiling,
                      struct poly_plan *plan)
{
    const struct cubefx_host *host = cubefx_host_of(space);
    *plan = (struct poly_plan){
        .inputs = host->inputs,
        .terms = host->terms,
        .functions = host->functions,
        .algorithm = (enum cubefx_host_algorithm)tiling->value[CUBEFX_HOST_ALGORITHM],
        .function_tile = (int)tiling->value[CUBEFX_HOST_FUNCTIONS],
        .vector_tile = (int)tiling->value[CUBEFX_HOST_VECTORS],
        .lanes = host->lanes,
        .threads = host->threads,
        .slab = host->slab,
        .tile = tiling->value[CUBEFX_HOST_TILE],
        .stream = tiling->value[CUBEFX_HOST_STORE] == CUBEFX_HOST_STREAM,
    };
    plan->group_parts = cut(plan->algorithm, poly_functions, true, plan->vector_tile,
                            plan->functions, plan->function_tile, plan->groups);
    if (plan->algorithm == CUBEFX_HOST_MATRIX)
        plan->powers_bytes = cubefx_host_powers_bytes(host, plan->tile);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Multiples 1, 2, 4, … of 1 and 3 vectors below the slab, and the slab. */
static int list_tiles(struct cubefx_host *host)
{
    int count = 0;
    for (int64_t vectors = 1; vectors <= 3; vectors += 2)
        for (int64_t tile = vectors * host->lanes; tile < host->slab; tile *= 2)
            host->tiles[count++] = tile;
    host->tiles[count++] = host->slab;
    qsort(host->tiles, (size_t)count, sizeof *host->tiles, ascending);
    return count;
}

static enum status make_block(struct space *space, struct cubefx_host *host, struct error *error)
{
    struct space_block *block = space_add_block(space);
    if (!block)
        return error_memory(error);
    for (int i = 0; i < POLY_SIZES; i++) {
        host->function_tiles[i] = poly_functions[i];
        host->vector_tiles[i] = poly_vectors[i];
    }
    *block = (struct space_block){
        .values = {[CUBEFX_HOST_ALGORITHM] = algorithms,
                   [CUBEFX_HOST_FUNCTIONS] = host->function_tiles,
                   [CUBEFX_HOST_VECTORS] = host->vector_tiles,
                   [CUBEFX_HOST_TILE] = host->tiles,
                   [CUBEFX_HOST_STORE] = stores},
        .count = {[CUBEFX_HOST_ALGORITHM] = CUBEFX_HOST_ALGORITHMS,
                  [CUBEFX_HOST_FUNCTIONS] = POLY_SIZES,
                  [CUBEFX_HOST_VECTORS] = POLY_SIZES,
                  [CUBEFX_HOST_TILE] = list_tiles(host),
                  [CUBEFX_HOST_STORE] = CUBEFX_HOST_STREAM},
    };
    return STATUS_OK;
}

/* Powers that leave the last cache would be read from memory for every group of functions. */
static int64_t powers_limit(const struct host *host, int threads)
{
    int64_t most = INT64_MAX;
    for (int l = 0; l < host->level_count; l++)
        if (host->levels[l].capacity_bytes) {
            int sharers = threads < host->levels[l].threads ? threads : host->levels[l].threads;
            most = host->levels[l].capacity_bytes / (sharers > 0 ? sharers : 1);
        }
    return most;
}

static enum status check_calibrated(const struct space *space, struct error *error)
{
    char name[HOST_NAME_SIZE];
    if (host_loop(space->hw->host, poly_loop_name(CUBEFX_HOST_HORNER, 1, 1, name)) < 0)
        return error_set(error, STATUS_INVALID,
                         "%s has no times of the loop '%s': expected a description by autotune "
                         "calibrate",
                         space->hw->name, name);
    return STATUS_OK;
}

static enum status create(struct space *space, const struct problem *problem, int cores,
                          struct error *error)
{
    TRY(check_calibrated(space, error));
    struct cubefx_host *host = calloc(1, sizeof *host);
    if (!host)
        return error_memory(error);
    space->detail = host;
    space->axis_count = CUBEFX_HOST_AXES;
    space->axes = cubefx_host_axes;
    host->isa = space->hw->host->isa;
    host->lanes = poly_lanes(host->isa);
    host->inputs = problem->size[CUBEFX_N];
    host->terms = problem->size[CUBEFX_ORDER];
    host->functions = problem->size[CUBEFX_FUNCTIONS];
    host->slab = slab_of(host->inputs, cores, LINE_FLOATS, &host->threads);
    host->slab = host->slab < host->inputs ? host->slab : host->inputs;
    host->powers_bytes = powers_limit(space->hw->host, host->threads);
    return make_block(space, host, error);
}

static void destroy(struct space *space)
{
    free(space->detail);
}

static int cores_used(const struct space *space, const struct tiling *tiling, int part)
{
    (void)tiling, (void)part;
    return cubefx_host_of(space)->threads;
}

const struct operator_space cubefx_host_space = {
    .name = "host",
    .title = "FP32 on this machine's processor: algorithm, register tile, inputs a tile, stores",
    .create = create,
    .destroy = destroy,
    .possible = cubefx_host_possible,
    .legal = cubefx_host_legal,
    .violations = cubefx_host_violations,
    .cores_used = cores_used,
    .ask = cubefx_host_ask,
    .roofline_ns = cubefx_host_roofline_ns,
};
