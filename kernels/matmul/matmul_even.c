/* Walks the even tilings of a problem: nested loops over divisors, in the order grid, L0 tiles, L1
 * tiles, buffers. What follows is at its least while a tile is tried, so that one that does not fit
 * ends its loop, for larger ones do not fit either. What is left is judged by the space itself.
 *
 * Of a slab in L0B that is no larger than a tile, and of orders of loops that run once, the agreed
 * tiling stands for all that mean the same kernel, so that none is visited twice. */
#include "kernels/matmul/matmul_even.h"
#include "core/least.h"
#include "core/stop.h"
#include "kernels/matmul/matmul_cann_internal.h"

#include <math.h>

enum { SEVERAL_AT_ONCE = 3 }; /* batch_type */
enum { BUFFERS = CANN_L0C_BUFFERS - CANN_L1A_BUFFERS + 1 };

struct walk {
    const struct space *space;
    const struct cann *cann;
    bool several; /* of a batch may be loaded at once */
    bool tcube;   /* only what a TCubeTiling has words for */
    tiling_visitor *visit;
    void *context;
    struct tiling tiling;
};

/* The least divisor of `whole` above `divisor` >= 0, or 0: up to the root one by one, beyond it by
 * what they are multiplied with. */
static int64_t next_divisor(int64_t whole, int64_t divisor)
{
    int64_t d = divisor + 1;
    for (; d * d <= whole; d++)
        if (whole % d == 0)
            return d;
    for (int64_t times = least_of(whole / (divisor + 1), d - 1); times > 0; times--)
        if (whole % times == 0)
            return whole / times;
    return 0;
}

/* n is outer, but m is for the L1 tiles where that loads less: with n outer those of A are fetched
 * again for every one of n, with m outer those of B for every one of m. Told by CANN's public
 * schedule for chips with FIXP. */
enum cann_outer matmul_bank_outer(const struct tiling *tiling)
{
    const int64_t *x = tiling->value;
    double a = (double)x[CANN_BASE_M] * (double)x[CANN_STEP_M];
    double b = (double)x[CANN_BASE_N] * (double)x[CANN_STEP_N];
    double tiles_m = ceil((double)x[CANN_SINGLE_M] / a);
    double tiles_n = ceil((double)x[CANN_SINGLE_N] / b);
    bool both = tiles_m > 1 && tiles_n > 1;
    bool m_loads_less = a * tiles_m * tiles_n + b * tiles_n > a * tiles_m + b * tiles_n * tiles_m;
    return both && m_loads_less ? OUTER_M_N : OUTER_N;
}

static void put_buffers(struct walk *w, int doubled)
{
    for (int i = 0; i < BUFFERS; i++)
        w->tiling.value[CANN_L1A_BUFFERS + i] = 1 + (doubled >> i & 1);
}

static bool is_legal_with(struct walk *w, int doubled)
{
    put_buffers(w, doubled);
    return w->space->kind->legal(w->space, &w->tiling);
}

/* All counts of buffers. L0A, L0B and L0C are apart, and A and B share L1: so one buffer of each
 * and the larger counts one by one say which of the 32 fit, but for the pair in L1. */
static void over_buffers(struct walk *w)
{
    enum { L1_PAIR = 1 << 0 | 1 << 1 }; /* bits from CANN_L1A_BUFFERS on */
    int may = 0;
    bool legal = is_legal_with(w, 0);
    for (int i = 0; legal && i < BUFFERS; i++)
        may |= is_legal_with(w, 1 << i) << i;
    bool pair = (may & L1_PAIR) == L1_PAIR && is_legal_with(w, L1_PAIR);
    for (int doubled = 0; legal && doubled < 1 << BUFFERS; doubled++)
        if (!(doubled & ~may) && (pair || (doubled & L1_PAIR) != L1_PAIR)) {
            put_buffers(w, doubled);
            w->visit(w->context, &w->tiling);
        }
    put_buffers(w, 0);
}

/* The order of loops is the kernel's to choose, or free in a TCubeTiling. */
static void over_orders(struct walk *w)
{
    int64_t *v = w->tiling.value;
    int64_t m = v[CANN_SINGLE_M] / v[CANN_BASE_M], n = v[CANN_SINGLE_N] / v[CANN_BASE_N];
    if (!w->tcube) {
        v[CANN_OUTER] = matmul_bank_outer(&w->tiling);
        v[CANN_OUTER] = cann_agreed_order(v, m, n);
        over_buffers(w);
        return;
    }
    for (int order = OUTER_M; order <= OUTER_N; order++) {
        v[CANN_OUTER] = order;
        if (cann_agreed_order(v, m, n) == order)
            over_buffers(w);
    }
}

/* Does what is chosen fit with the least of all that follows? Only what takes too many bytes cannot
 * be mended by that. */
static bool fits(const struct walk *w)
{
    struct violation list[MAX_VIOLATIONS];
    int count = w->space->kind->violations(w->space, &w->tiling, list);
    for (int i = 0; i < count; i++)
        if (list[i].needed_bytes > list[i].available_bytes)
            return false;
    return true;
}

static void over_batch_steps(struct walk *w)
{
    int64_t *v = w->tiling.value;
    const int64_t *size = w->cann->size;
    int64_t grid = size[CANN_M] / v[CANN_SINGLE_M] * (size[CANN_N] / v[CANN_SINGLE_N]);
    int64_t blocks = w->several ? size[CANN_BATCH] * grid / v[CANN_CORES] : 1;
    for (int64_t a = 0; (a = next_divisor(blocks, a));)
        for (int64_t b = 0; (b = next_divisor(blocks, b));) {
            v[CANN_STEP_BATCH_A] = a;
            v[CANN_STEP_BATCH_B] = b;
            over_orders(w);
        }
    v[CANN_STEP_BATCH_A] = v[CANN_STEP_BATCH_B] = 1;
}

/* What stands in L1, in the order of these loops: more than one L0 tile of m or n only where k is
 * whole. */
static const int step_axes[] = {CANN_STEP_KA, CANN_STEP_KB, CANN_STEP_M, CANN_STEP_N};
enum { STEP_AXES = sizeof step_axes / sizeof *step_axes };

static int64_t most_steps(const int64_t *v, const int64_t *size, int axis)
{
    int64_t k = size[CANN_K] / v[CANN_BASE_K];
    if (axis == CANN_STEP_M)
        return v[CANN_STEP_KA] == k ? v[CANN_SINGLE_M] / v[CANN_BASE_M] : 1;
    if (axis == CANN_STEP_N)
        return v[CANN_STEP_KB] == k ? v[CANN_SINGLE_N] / v[CANN_BASE_N] : 1;
    return k;
}

/* The steps of step_axes[level …]. Does the least of them fit? */
static bool over_steps(struct walk *w, int level)
{
    int64_t *v = w->tiling.value, steps = 0;
    bool any = false;
    if (level == STEP_AXES) {
        if (!fits(w))
            return false;
        over_batch_steps(w);
        return true;
    }
    int axis = step_axes[level];
    int64_t most = most_steps(v, w->cann->size, axis);
    while ((steps = next_divisor(most, steps))) {
        v[axis] = steps;
        if (!over_steps(w, level + 1))
            break;
        any = true;
    }
    v[axis] = 1;
    return any;
}

static void over_k(struct walk *w)
{
    const struct cann_machine *machine = &w->cann->machine;
    int64_t *v = w->tiling.value;
    for (int64_t k = 0; (k = next_divisor(w->cann->size[CANN_K] / machine->block_k, k));) {
        v[CANN_BASE_K] = k * machine->block_k;
        v[CANN_L0B_HOLDS] = HOLDS_TILE;
        if (!fits(w) || stop_due(w->space->stop))
            return;
        over_steps(w, 0);
        v[CANN_L0B_HOLDS] = HOLDS_SLAB;
        if (!w->tcube)
            over_steps(w, 0);
    }
}

static void over_l0_tiles(struct walk *w)
{
    int64_t *v = w->tiling.value, block = w->cann->machine.block_mn;
    for (int64_t m = 0; (m = next_divisor(v[CANN_SINGLE_M] / block, m));)
        for (int64_t n = 0; (n = next_divisor(v[CANN_SINGLE_N] / block, n));) {
            v[CANN_BASE_M] = m * block;
            v[CANN_BASE_N] = n * block;
            over_k(w);
        }
}

void matmul_even_tilings(const struct space *space, const struct bank_row *row, int64_t least_cores,
                         tiling_visitor *visit, void *context)
{
    const struct cann *cann = cann_of(space);
    struct walk w = {.space = space,
                     .cann = cann,
                     .several = row->batch_type == SEVERAL_AT_ONCE,
                     .tcube = !bank_has_numbers(row),
                     .visit = visit,
                     .context = context};
    const int64_t *size = cann->size, block = cann->machine.block_mn;
    for (int a = 0; a < CANN_AXES; a++)
        w.tiling.value[a] = 1;
    for (int64_t m = 0; (m = next_divisor(size[CANN_M] / block, m));)
        for (int64_t n = 0; (n = next_divisor(size[CANN_N] / block, n));)
            for (int64_t batch = 0; (batch = next_divisor(size[CANN_BATCH], batch));) {
                if (m * n > cann->cores || m * n * batch < least_cores ||
                    m * n * batch > cann->cores)
                    continue;
                w.tiling.value[CANN_SINGLE_M] = size[CANN_M] / m;
                w.tiling.value[CANN_SINGLE_N] = size[CANN_N] / n;
                w.tiling.value[CANN_CORES] = m * n * batch;
                over_l0_tiles(&w);
            }
}

bool matmul_even_grid(const struct space *space, int64_t cores)
{
    const struct cann *cann = cann_of(space);
    const int64_t *size = cann->size, block = cann->machine.block_mn;
    for (int64_t m = 0; (m = next_divisor(size[CANN_M] / block, m));)
        for (int64_t n = 0; (n = next_divisor(size[CANN_N] / block, n));)
            for (int64_t batch = 0; (batch = next_divisor(size[CANN_BATCH], batch));)
                if (m * n <= cores && m * n * batch == cores)
                    return true;
    return false;
}
