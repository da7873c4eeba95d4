/* Tang 2024, chapter 2: what contention and synchronisation do to two transfers, and how near to
 * the peak the best MatMul tilings come. */
#include "jobs/reproduce/reproduce_parts.h"
#include "kernels/details.h"
#include "kernels/emit.h"
#include "kernels/matmul/matmul.h"

#include <math.h>

#define TRANSFER_BYTES INT64_C(245760)

enum { SEQUENTIAL, AVERAGE_PEAK, LARGEST_PEAK, LAUNCH, ROWS };

static const struct published rows[ROWS] = {
    [SEQUENTIAL] =
        {"T 2.1.1", "two transfers in sequence over the same side by side (Fig. 2.2 A/B)", "x",
         1.26,
         "the size is not given; ours: 240 KiB each way, one core; the limit is 36/28, the "
         "assumed totals of the bus"},
    [AVERAGE_PEAK] = {"T 2.4.4", "MatMul, W x W x 2W ... 6W: share of the peak, mean of 12 shapes",
                      "%", 23.64,
                      "W is not given; ours: W = 256, 512, 1024 and 2W, 3W, 4W, 6W; theirs is "
                      "measured and has scalar work, ours is the optimum of the space"},
    [LARGEST_PEAK] = {"T 2.4.4", "MatMul: share of the peak at the largest scale", "%", 38.78,
                      "ours: 1024 x 1024 x 6144"},
    [LAUNCH] = {"T Table 2.1", "an empty kernel on one core", "ns", 2354.5,
                "Table 2.3's 2050 is what their simulator and ours take"},
};

/* GM to UB and UB to GM, `bytes` each; in sequence when the second waits for the first. */
static enum status transfers(struct reproduction *r, int64_t bytes, bool sequence, double *ns,
                             struct error *error)
{
    const struct hardware *hw = r->hw;
    struct emitter e = {.program = &r->simulator.program, .error = error};
    struct simulated simulated;
    int gm, ub, load, store;
    const struct chip_buffer buffers[] = {{"gm", &gm}, {"ub", &ub}, {NULL, NULL}};
    TRY(machine_buffers(hw, "Fig. 2.2", buffers, error));
    const struct chip_path paths[] = {{gm, ub, DTYPE_F16, DTYPE_F16, &load, NULL, NULL},
                                      {ub, gm, DTYPE_F16, DTYPE_F16, &store, NULL, NULL},
                                      {.path = NULL}};
    TRY(machine_paths(hw, "Fig. 2.2", paths, error));
    program_reset(e.program, hw);
    emit_move(&e, load, bytes, DTYPE_F16, DTYPE_F16);
    if (sequence) {
        emit_set(&e, hw->paths[load].pipe, hw->paths[store].pipe, 0);
        emit_wait(&e, hw->paths[load].pipe, hw->paths[store].pipe, 0);
    }
    emit_move(&e, store, bytes, DTYPE_F16, DTYPE_F16);
    enum status status = emit_close(&e);
    if (status == STATUS_OK)
        status = simulate_program(&r->simulator, 1, &simulated, error);
    *ns = status == STATUS_OK ? simulated.time_ns : NAN;
    return status;
}

enum status best_product_ns(const struct reproduction *r, const struct hardware *hw, int64_t m,
                            int64_t k, int64_t n, double *ns, struct error *error)
{
    struct problem problem = {.op = &matmul_operator, .size = {m, k, n, 1}, .type = DTYPE_F16};
    struct space space;
    struct search_result result = {0};
    struct search_options options = {.threads = r->threads, .top = 1};
    *ns = NAN;
    enum status status = space_open(&problem, &matmul_thesis, hw, hw->cores, &space, error);
    if (status == STATUS_OK)
        status = search(&space, &options, &result, error);
    if (status == STATUS_OK && result.count)
        *ns = (double)result.best[0].timeline.end_fs / FS_PER_NS;
    search_result_clear(&result);
    space_close(&space);
    return status;
}

/* Share of all cores' peak that the best tiling of w × w × n reaches, in percent. */
static enum status peak_share(struct reproduction *r, int64_t w, int64_t n, double *percent,
                              struct error *error)
{
    double ns, operations = 2 * (double)w * (double)w * (double)n;
    enum status status = best_product_ns(r, r->hw, w, w, n, &ns, error);
    *percent =
        100 * operations / (ns / 1e9) / (hardware_matrix_peak(r->hw, DTYPE_F16) * r->hw->cores);
    return status;
}

static enum status compute(struct reproduction *r, double *ours, struct error *error)
{
    static const int64_t widths[] = {256, 512, 1024}, lengths[] = {2, 3, 4, 6};
    double sequential, concurrent, sum = 0, percent = NAN;
    enum status status = transfers(r, TRANSFER_BYTES, true, &sequential, error);
    if (status == STATUS_OK)
        status = transfers(r, TRANSFER_BYTES, false, &concurrent, error);
    for (int w = 0; w < 3; w++)
        for (int l = 0; l < 4 && status == STATUS_OK; l++) {
            status = peak_share(r, widths[w], widths[w] * lengths[l], &percent, error);
            sum += percent;
        }
    if (status != STATUS_OK)
        return status;
    ours[SEQUENTIAL] = sequential / concurrent;
    ours[AVERAGE_PEAK] = sum / 12;
    ours[LARGEST_PEAK] = percent;
    ours[LAUNCH] = (double)r->hw->launch_fs / FS_PER_NS;
    return STATUS_OK;
}

const struct chapter simulator_chapter = {rows, ROWS, compute};
