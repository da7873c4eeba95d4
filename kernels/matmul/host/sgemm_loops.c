/* Runs single loops of products for the calibration. The calibration times the very functions that
 * products call, with operands packed in the L1 one after the other, as far as the room reaches.
 * Loops at the edges of tiles have kernels of fewer rows and vectors, so all that exist are
 * listed, not only those that tilings name. */
#include "core/least.h"
#include "kernels/matmul/host/matmul_host.h"
#include "kernels/matmul/host/sgemm_code.h"
#include "validate/loops.h"

#include <stddef.h>

enum { LINE = 16 }; /* floats */

/* All that there are: the panels at the edges of tiles have fewer rows and vectors than the
 * kernels that a tiling names. */
#define TILE_LOOP(R, V) {#R "x" #V, HOST_PATH_TILE, R, V},
#define DOT_LOOP(R, C)  {"dot " #R "x" #C, HOST_PATH_DOT, R, C},
static const struct matmul_host_kernel kernels[] = {EACH_TILE(TILE_LOOP) EACH_DOT(DOT_LOOP)};

static const char *kernel_name(int index)
{
    return kernels[index].name;
}

/* Operands one after the other, C first. */
static int64_t run_tile(const struct sgemm_code *code, const struct matmul_host_kernel *kernel,
                        int64_t calls, int64_t steps, float *data, int64_t floats)
{
    int64_t rows = kernel->rows, columns = (int64_t)kernel->vectors * code->lanes;
    int64_t fit = (floats - rows * columns - LINE) / (rows + columns);
    struct sgemm_step step = {
        .k = least_of(steps, fit), .ldb = columns, .ldc = columns, .tail = code->lanes};
    const float *a = data + rows * columns, *b = a + rows * step.k + LINE - rows * step.k % LINE;
    sgemm_tile_code *run = code->tile[1][0][kernel->vectors - 1][rows - 1];
    for (int64_t i = 0; i < calls && step.k > 0; i++)
        run(&step, a, b, data);
    return step.k > 0 ? step.k : 0;
}

static int64_t run_dot(const struct sgemm_code *code, const struct matmul_host_kernel *kernel,
                       int64_t calls, int64_t steps, float *data, int64_t floats)
{
    int64_t rows = kernel->rows, columns = kernel->vectors, results = rows * columns;
    results += -results & (LINE - 1);
    int64_t fit = (floats - results) / (rows + columns) / code->lanes;
    int64_t k = least_of(steps, fit) * code->lanes;
    struct sgemm_step step = {.k = k, .lda = k, .ldb = k, .ldc = columns};
    const float *a = data + results, *b = a + rows * k;
    for (int64_t i = 0; i < calls && k > 0; i++)
        code->dot[columns - 1][rows - 1](&step, a, b, data);
    return k > 0 ? k / code->lanes : 0;
}

static int64_t run_kernel(int index, enum host_isa isa, int64_t calls, int64_t steps, void *data,
                          int64_t bytes)
{
    const struct matmul_host_kernel *kernel = &kernels[index];
    int64_t floats = bytes / (int64_t)sizeof(float);
    if (!host_isa_has(isa))
        return 0;
    return (kernel->path == HOST_PATH_DOT ? run_dot : run_tile)(sgemm_code_of(isa), kernel, calls,
                                                                steps, data, floats);
}

/* Of a step of all lanes: one k of a tile, as many as there are lanes of a dot product. */
static double kernel_flops(int index, enum host_isa isa)
{
    const struct matmul_host_kernel *kernel = &kernels[index];
    return 2.0 * kernel->rows * kernel->vectors * sgemm_code_of(isa)->lanes;
}

const struct loop_family sgemm_loops = {
    .name = "sgemm",
    .count = sizeof kernels / sizeof *kernels,
    .variant = kernel_name,
    .flops = kernel_flops,
    .run = run_kernel,
};

/* ---- packing -------------------------------------------------------------------------------- */

enum pack { PACK_A, PACK_B, PACK_B_FOR_DOT, PACKS };

static const char *pack_name(int index)
{
    static const char *const names[PACKS] = {"a", "b", "b for dot"};
    return names[index];
}

/* Panels of 16 rows, 32 columns, and for dot kernels 8 whole columns. */
static void pack_panel(const struct sgemm_code *code, int index, const float *from, int64_t steps,
                       float *to)
{
    if (index == PACK_A)
        code->pack_a(from, steps, LINE, steps, to);
    else if (index == PACK_B)
        code->pack_b(from, INT64_C(2) * LINE, INT64_C(2) * LINE, steps / 2, to);
    else
        code->transpose_b(from, LINE / 2, LINE / 2, 2 * steps, to);
}

static int64_t run_pack(int index, enum host_isa isa, int64_t calls, int64_t steps, void *data,
                        int64_t bytes)
{
    int64_t fit = least_of(steps, bytes / (int64_t)sizeof(float) / LINE / 2) & ~INT64_C(1);
    float *from = data;
    if (!host_isa_has(isa) || fit <= 0)
        return 0;
    for (int64_t i = 0; i < calls; i++)
        pack_panel(sgemm_code_of(isa), index, from, fit, from + fit * LINE);
    return fit;
}

const struct loop_family pack_loops = {
    .name = "pack",
    .count = PACKS,
    .variant = pack_name,
    .run = run_pack,
};
