/* Internal to kernels/cubefx/host: the space `host` of Cube-fx. */
#ifndef AUTOTUNE_KERNELS_CUBEFX_HOST_CUBEFX_HOST_SPACE_H
#define AUTOTUNE_KERNELS_CUBEFX_HOST_CUBEFX_HOST_SPACE_H

#include "kernels/cubefx/host/cubefx_host.h"

/* Tiles double from a register tile to a slab: two series (of 1 and of 3 vectors) and the slab. */
enum { MAX_TILES = 2 * 40 + 1 };

struct cubefx_host {
    int64_t inputs, terms, functions;
    int64_t slab;
    int threads, lanes;
    enum host_isa isa;
    int64_t powers_bytes; /* the most that a thread's powers may take */
    int64_t function_tiles[POLY_SIZES], vector_tiles[POLY_SIZES], tiles[MAX_TILES];
};

/* Rows of results start at multiples of a cache line where this divides the inputs. */
enum { LINE_FLOATS = 16 };

extern const struct axis cubefx_host_axes[CUBEFX_HOST_AXES];

static inline const struct cubefx_host *cubefx_host_of(const struct space *space)
{
    return space->detail;
}

/* A tile's powers from the first on, in whole vectors. */
static inline int64_t cubefx_host_powers_bytes(const struct cubefx_host *host, int64_t tile)
{
    return (host->terms - 1) * round_up(tile, host->lanes) * (int64_t)sizeof(float);
}

bool cubefx_host_legal(const struct space *space, const struct tiling *tiling);

int cubefx_host_violations(const struct space *space, const struct tiling *tiling,
                           struct violation list[MAX_VIOLATIONS]);

bool cubefx_host_possible(const struct space *space, const struct tiling *tiling, int fixed);

#endif
