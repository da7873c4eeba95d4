/* Makes a tiling fit another product. The number of a refit is made of bits: are tiles only cut,
 * do stores go through the caches, is the order of loops the usual one. So counting tries them in
 * the order of what they change. Whether one is legal the space itself says, of which no more is
 * opened than it looks at. Without a tiling to start from there is a table of plain choices. */
#include "runtime/refit.h"

#include "kernels/matmul/host/matmul_host.h"

#include <string.h>

/* What is cut into tiles: the axis, and how much of it a micro-kernel does at once. */
struct cut {
    int axis;
    int64_t size, step;
};

static int64_t columns_at_once(const struct tiling *tiling, int isa)
{
    const struct matmul_host_kernel *kernel = matmul_host_kernel(tiling);
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

enum { REFIT_CUT = 4, REFIT_CACHED = 1, REFIT_ORDER = 2 };

void refit(const struct tiling *tiling, const struct table_wish *wish, int which,
           struct tiling *fitted)
{
    const struct cut cuts[] = {
        {HOST_M_TILE, wish->m, matmul_host_kernel(tiling)->rows},
        {HOST_K_TILE, wish->k, 1},
        {HOST_N_TILE, wish->n, columns_at_once(tiling, wish->isa)},
    };
    *fitted = *tiling;
    for (int i = 0; i < (int)(sizeof cuts / sizeof *cuts); i++) {
        int64_t *tile = &fitted->value[cuts[i].axis];
        *tile = (which & REFIT_CUT ? cut_tile : equal_tile)(&cuts[i], *tile);
    }
    if (which & REFIT_CACHED)
        fitted->value[HOST_STORE] = HOST_STORE_CACHED;
    if (which & REFIT_ORDER)
        fitted->value[HOST_ORDER] = HOST_ORDER_N;
}

/* The space's own rules, which look at no more of it than this. */
bool refit_is_legal(const struct tiling *tiling, const struct table_wish *wish)
{
    const struct host host = {.isa = (enum host_isa)wish->isa, .threads = wish->threads};
    struct matmul_host product = {
        .host = &host, .m = wish->m, .k = wish->k, .n = wish->n, .threads = wish->threads};
    const struct space space = {.kind = &matmul_host_space, .detail = &product};
    bool dot = matmul_host_kernel(tiling)->path == HOST_PATH_DOT;
    return (!dot || wish->n <= HOST_DOT_MOST_COLUMNS) && matmul_host_space.legal(&space, tiling);
}

bool refit_legal(const struct tiling *tiling, const struct table_wish *wish, struct tiling *fitted)
{
    for (int which = 0; which < REFITS; which++) {
        refit(tiling, wish, which, fitted);
        if (refit_is_legal(fitted, wish))
            return true;
    }
    return false;
}

/* Register tiles that fill the vector registers of an instruction set, and cache tiles: packed, A's
 * takes 288 KiB of an L2 and a panel of B 48 KiB at most. The first row whose sizes and instruction
 * set suffice is taken. Plain choices: a table is what speed comes from. But thin products wait for
 * memory alone, and what suits them is known: every operand is read once, so nothing is packed (the
 * sweeps of kernels/matmul/host/sgemm.c). */
static const struct {
    const char *kernel;
    int64_t most_m, most_n, m_tile, k_tile, n_tile;
    enum host_isa least_isa;
    bool pack;
} defaults[] = {
    {"dot 8x1", INT64_MAX, 1, INT64_MAX, INT64_MAX, INT64_MAX, HOST_PORTABLE, false},
    {"1x8", 1, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, HOST_PORTABLE, false},
    {"3x8", 3, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, HOST_AVX512, false},
    {"4x6", REFIT_THIN, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, HOST_AVX512, false},
    {"4x4", 2, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, HOST_PORTABLE, false},
    {"4x3", REFIT_THIN, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, HOST_PORTABLE, false},
    {"dot 4x2", INT64_MAX, REFIT_THIN, INT64_MAX, INT64_MAX, INT64_MAX, HOST_PORTABLE, true},
    {"12x2", INT64_MAX, INT64_MAX, 192, 384, 2048, HOST_AVX512, true},
    {"6x2", INT64_MAX, INT64_MAX, 96, 256, 2048, HOST_PORTABLE, true},
};

bool refit_is_thin(const struct table_wish *wish)
{
    return wish->m <= REFIT_THIN || wish->n <= REFIT_THIN;
}

static int64_t kernel_called(const char *name)
{
    int64_t kernel = 0;
    while (kernel < MATMUL_HOST_KERNELS && strcmp(matmul_host_kernels[kernel].name, name) != 0)
        kernel++;
    return kernel < MATMUL_HOST_KERNELS ? kernel + 1 : 1;
}

void refit_default(const struct table_wish *wish, struct tiling *fitted)
{
    int row = 0;
    while (defaults[row].most_m < wish->m || defaults[row].most_n < wish->n ||
           (int)defaults[row].least_isa > wish->isa)
        row++;
    int64_t pack = defaults[row].pack ? HOST_PACK_YES : HOST_PACK_NO;
    bool dot = matmul_host_kernels[kernel_called(defaults[row].kernel) - 1].path == HOST_PATH_DOT;
    struct tiling tiling = {
        .value = {[HOST_KERNEL] = kernel_called(defaults[row].kernel),
                  [HOST_M_TILE] = defaults[row].m_tile,
                  [HOST_K_TILE] = defaults[row].k_tile,
                  [HOST_N_TILE] = defaults[row].n_tile,
                  [HOST_PACK_A] = dot ? HOST_PACK_NO : pack,
                  [HOST_PACK_B] = pack,
                  [HOST_ORDER] = HOST_ORDER_N,
                  [HOST_STORE] = HOST_STORE_CACHED,
                  [HOST_SPLIT] = wish->m >= wish->n ? HOST_SPLIT_M : HOST_SPLIT_N}};
    refit(&tiling, wish, REFIT_CUT, fitted);
}
