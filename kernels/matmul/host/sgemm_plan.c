/* Plans of FP32 products: what a tiling means for one product, checked, with the code of an
 * instruction set and the room that it needs. */
#include "kernels/matmul/host/sgemm_plan.h"

#include "core/least.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static const struct sgemm_code *const codes[HOST_ISA_COUNT] = {
    [HOST_PORTABLE] = &sgemm_code_portable,
#if defined __aarch64__
    [HOST_NEON] = &sgemm_code_neon,
#elif defined __x86_64__
    [HOST_AVX2] = &sgemm_code_avx2,
    [HOST_AVX512] = &sgemm_code_avx512,
#endif
};

const struct sgemm_code *sgemm_code_of(enum host_isa isa)
{
    return codes[isa];
}

static enum status check_values(int64_t m, int64_t k, int64_t n, int threads,
                                const struct tiling *tiling, struct error *error)
{
    static const int64_t most[HOST_MATMUL_AXES] = {
        [HOST_M_TILE] = INT64_MAX,        [HOST_K_TILE] = INT64_MAX,
        [HOST_N_TILE] = INT64_MAX,        [HOST_PACK_A] = HOST_PACK_YES,
        [HOST_PACK_B] = HOST_PACK_YES,    [HOST_ORDER] = HOST_ORDER_M,
        [HOST_STORE] = HOST_STORE_STREAM, [HOST_SPLIT] = HOST_SPLIT_N,
    };
    int64_t elements;
    if (m < 1 || k < 1 || n < 1 || threads < 1 || __builtin_mul_overflow(m, k, &elements) ||
        __builtin_mul_overflow(k, n, &elements) || __builtin_mul_overflow(m, n, &elements))
        return error_set(error, STATUS_INVALID, "sgemm: %lldx%lldx%lld on %d threads is no product",
                         (long long)m, (long long)k, (long long)n, threads);
    for (int a = 0; a < HOST_MATMUL_AXES; a++) {
        int64_t limit = a == HOST_KERNEL ? MATMUL_HOST_KERNELS : most[a];
        if (tiling->value[a] < 1 || tiling->value[a] > limit)
            return error_set(error, STATUS_INVALID, "sgemm: value %lld of axis %d of a tiling",
                             (long long)tiling->value[a], a);
    }
    return STATUS_OK;
}

/* In floats, per thread; packed columns are filled up to whole vectors. False: their bytes are more
 * than can be counted. */
static bool size_workspace(struct sgemm_plan *plan)
{
    enum { UNIT = 16 };
    int64_t k = least_of(plan->k_tile, plan->k), a = least_of(plan->m_tile, plan->m), all;
    int64_t b = least_of(plan->n_tile, plan->n) + plan->code->lanes;
    if ((plan->pack_a && __builtin_mul_overflow(a, k, &plan->packed_a)) ||
        (plan->pack_b && __builtin_mul_overflow(b, k, &plan->packed_b)) ||
        __builtin_add_overflow(plan->packed_a, -plan->packed_a & (UNIT - 1), &plan->packed_a) ||
        __builtin_add_overflow(plan->packed_b, -plan->packed_b & (UNIT - 1), &plan->packed_b) ||
        __builtin_add_overflow(plan->packed_a, plan->packed_b, &all))
        return false;
    return !__builtin_mul_overflow(all, plan->threads * (int64_t)sizeof(float),
                                   &plan->workspace_bytes);
}

/* Packed operands are read in order again and again: large pages keep their translations few. */
float *sgemm_workspace(int64_t bytes)
{
    enum { LINE = 64, HUGE_PAGE = 2 << 20 };
    size_t unit = bytes < HUGE_PAGE ? LINE : HUGE_PAGE, whole = (size_t)bytes;
    whole += -whole & (unit - 1);
    float *workspace = aligned_alloc(unit, whole ? whole : unit);
    if (workspace && unit == HUGE_PAGE)
        madvise(workspace, whole, MADV_HUGEPAGE);
    return workspace;
}

static void set_plan(struct sgemm_plan *plan, int threads, const struct tiling *tiling,
                     enum host_isa isa)
{
    const int64_t *v = tiling->value;
    plan->kernel = matmul_host_kernel(tiling);
    plan->m_tile = least_of(v[HOST_M_TILE], plan->m);
    plan->k_tile = least_of(v[HOST_K_TILE], plan->k);
    plan->n_tile = least_of(
        sgemm_vectors(plan, least_of(v[HOST_N_TILE], plan->n)) * plan->code->lanes, plan->n);
    plan->split = v[HOST_SPLIT];
    plan->unit = matmul_host_unit(plan->kernel, isa, plan->split);
    plan->threads =
        host_sharers(plan->split == HOST_SPLIT_M ? plan->m : plan->n, plan->unit, threads);
    plan->m_outer = v[HOST_ORDER] == HOST_ORDER_M;
    plan->pack_a = v[HOST_PACK_A] == HOST_PACK_YES;
    plan->pack_b = v[HOST_PACK_B] == HOST_PACK_YES;
    if (plan->kernel->path == HOST_PATH_DOT) {
        plan->k_tile = plan->k;
        plan->n_tile = plan->n;
        plan->pack_a = false;
        plan->pack_b = plan->n > 1;
    }
    plan->stream = v[HOST_STORE] == HOST_STORE_STREAM && plan->k_tile == plan->k &&
                   plan->n % 16 == 0 && plan->kernel->path == HOST_PATH_TILE;
    plan->sweep = plan->kernel->path == HOST_PATH_TILE && !plan->pack_b &&
                  plan->m <= SGEMM_MAX_SWEEP_ROWS &&
                  sgemm_vectors(plan, plan->n) > plan->kernel->vectors;
    if (plan->sweep)
        plan->pack_a = plan->stream = false;
}

/* Products that one thread computes by one call, which need not look for it each time. */
static void set_whole(struct sgemm_plan *plan)
{
    const struct sgemm_code *code = plan->code;
    bool one_panel = plan->m <= plan->kernel->rows && plan->k_tile == plan->k;
    int64_t vectors = sgemm_vectors(plan, plan->n);
    plan->step = (struct sgemm_step){.k = plan->k,
                                     .lda = plan->k,
                                     .ldb = plan->n,
                                     .ldc = plan->n,
                                     .columns = plan->n,
                                     .tail = (int)(plan->n - (vectors - 1) * code->lanes)};
    if (plan->threads > 1 || plan->stream || plan->pack_a || plan->pack_b)
        return;
    if (plan->sweep && plan->m * plan->n <= SWEPT_FLOATS) {
        plan->whole = code->sweep[plan->m - 1];
    } else if (plan->kernel->path == HOST_PATH_DOT && one_panel) { /* unpacked: of one column */
        plan->step.ldb = plan->k;
        plan->whole = plan->m <= 2 ? code->dot_apart[plan->m - 1] : code->dot[0][plan->m - 1];
    } else if (!plan->sweep && one_panel && vectors <= plan->kernel->vectors &&
               plan->n_tile == plan->n) {
        bool some = plan->n % code->lanes != 0;
        plan->whole = (plan->m * vectors <= 2 ? code->apart[some][vectors - 1][plan->m - 1]
                                              : code->tile[0][some][vectors - 1][plan->m - 1]);
    }
}

enum status sgemm_plan_shared(enum host_isa isa, int64_t m, int64_t k, int64_t n, int threads,
                              const struct tiling *tiling, struct sgemm_plan **plan,
                              struct error *error)
{
    *plan = NULL;
    TRY(check_values(m, k, n, threads, tiling, error));
    if (!host_isa_has(isa))
        return error_set(error, STATUS_INVALID, "sgemm: %s is not there or not to be used",
                         host_isa_name(isa));
    struct sgemm_plan *made = calloc(1, sizeof *made);
    if (!made)
        return error_memory(error);
    *made = (struct sgemm_plan){.code = sgemm_code_of(isa), .m = m, .k = k, .n = n};
    set_plan(made, threads, tiling, isa);
    set_whole(made);
    if (!size_workspace(made)) {
        free(made);
        return error_memory(error);
    }
    *plan = made;
    return STATUS_OK;
}

enum status sgemm_plan(enum host_isa isa, int64_t m, int64_t k, int64_t n, int threads,
                       const struct tiling *tiling, struct sgemm_plan **plan, struct error *error)
{
    struct sgemm_plan *made;
    enum status status = sgemm_plan_shared(isa, m, k, n, threads, tiling, &made, error);
    *plan = NULL;
    if (!made)
        return status;
    if (made->workspace_bytes > 0)
        made->packed = sgemm_workspace(made->workspace_bytes);
    if (made->workspace_bytes > 0 && !made->packed) {
        sgemm_free(made);
        return error_memory(error);
    }
    *plan = made;
    return STATUS_OK;
}

void sgemm_free(struct sgemm_plan *plan)
{
    if (plan)
        free(plan->packed);
    free(plan);
}

int64_t sgemm_workspace_bytes(const struct sgemm_plan *plan)
{
    return plan->workspace_bytes;
}
