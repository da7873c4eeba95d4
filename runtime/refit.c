#include "runtime/refit.h"

#include "kernels/matmul_host.h"

#include <stdlib.h>

/* What is cut into tiles: the axis, and how much of it a micro-kernel does at once. */
struct cut {
    int axis;
    int64_t size, step;
};

static const struct matmul_host_kernel *kernel_of(const struct tiling *tiling)
{
    return &matmul_host_kernels[tiling->value[HOST_KERNEL] - 1];
}

static int64_t columns_at_once(const struct tiling *tiling, int isa)
{
    const struct matmul_host_kernel *kernel = kernel_of(tiling);
    return kernel->path == HOST_PATH_DOT ? kernel->vectors
                                         : (int64_t)kernel->vectors * host_lanes(isa);
}

/* A size in equal tiles, of whole steps, as near to the wanted tile as their number can be. */
static int64_t equal_tile(const struct cut *cut, int64_t wanted)
{
    int64_t tiles = (cut->size + wanted / 2) / wanted;
    int64_t tile = tiles > 1 ? (cut->size + tiles - 1) / tiles : cut->size;
    tile = (tile + cut->step - 1) / cut->step * cut->step;
    return tile < cut->size ? tile : cut->size;
}

static int64_t cut_tile(const struct cut *cut, int64_t wanted)
{
    return wanted < cut->size ? wanted : cut->size;
}

static const struct {
    int64_t (*tile)(const struct cut *cut, int64_t wanted);
    bool cached;
} refits[REFITS] = {{equal_tile, false}, {cut_tile, false}, {equal_tile, true}, {cut_tile, true}};

void refit(const struct tiling *tiling, const struct table_wish *wish, int which,
           struct tiling *fitted)
{
    const struct cut cuts[] = {
        {HOST_M_TILE, wish->m, kernel_of(tiling)->rows},
        {HOST_K_TILE, wish->k, 1},
        {HOST_N_TILE, wish->n, columns_at_once(tiling, wish->isa)},
    };
    *fitted = *tiling;
    for (int i = 0; i < (int)(sizeof cuts / sizeof *cuts); i++)
        fitted->value[cuts[i].axis] = refits[which].tile(&cuts[i], tiling->value[cuts[i].axis]);
    if (refits[which].cached)
        fitted->value[HOST_STORE] = HOST_STORE_CACHED;
}

static bool is_legal(const struct space *space, const struct tiling *tiling)
{
    struct violation broken[MAX_VIOLATIONS];
    return space->kind->violations(space, tiling, broken) == 0;
}

bool refit_legal(const struct space *space, const struct tiling *tiling,
                 const struct table_wish *wish, struct tiling *fitted)
{
    for (int which = 0; which < REFITS; which++) {
        refit(tiling, wish, which, fitted);
        if (is_legal(space, fitted))
            return true;
    }
    return false;
}
