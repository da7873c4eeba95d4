/* Parts of k in the fields of a TCubeTiling. singleCoreK below k cuts it; who does which part is
 * said by usedCoreNum and, in runtime tables, by the units of tilingEnable, whose numbers are those
 * of MatMulV3 (Huawei's ops-nn, mat_mul_v3, 2025). One of its forms is that of the space `tcube`:
 * every core stores the sum over its part in a workspace, and the vector cores add up. */
#include "kernels/matmul/matmul_bank_parts.h"
#include "core/least.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_internal.h"
#include "kernels/slices.h"

enum { FRACTAL = 16 };

/* The units of tilingEnable: one form of split K is read, and why the others are not. */
enum { PARTS_ON_CORES = 3, FORMS = 10 };
static const char *unread_form(int form)
{
    static const char *const why[FORMS] = {
        [0] = "k is not split, and a core's k is not all of it",
        [2] = "a core adds up parts of its k in memory, which no space has",
        [4] = "cores add up in C by atomic additions, in no fixed order, which no space has",
        [5] = "a core adds up parts of its k in memory, which no space has",
    };
    return why[form] ? why[form] : "no form of split K has this number";
}

int64_t matmul_bank_part_k(const struct problem *p, int64_t parts)
{
    int64_t block = bank_block_k(p->type);
    return divide_up(divide_up(p->size[MATMUL_K], block), parts) * block;
}

/* Parts are on cores of their own: every core has one part of one block. */
static enum status check_parts_on_cores(const struct bank_row *row, const struct problem *p,
                                        int64_t blocks, struct error *error)
{
    const int32_t *v = row->number;
    int64_t parts = divide_up(p->size[MATMUL_K], v[BANK_SINGLE_K]);
    if (v[BANK_USED_CORES] != product_of(blocks, parts))
        return error_set(error, STATUS_INVALID,
                         "singleCoreK = %d cuts k into %lld parts of %lld blocks, and usedCoreNum "
                         "is %d: a core adds up several of them in memory, which no space has",
                         v[BANK_SINGLE_K], (long long)parts, (long long)blocks, v[BANK_USED_CORES]);
    if (v[BANK_SINGLE_K] != matmul_bank_part_k(p, parts))
        return error_set(error, STATUS_INVALID,
                         "singleCoreK = %d, expected %lld for %lld parts of k in equal numbers of "
                         "blocks",
                         v[BANK_SINGLE_K], (long long)matmul_bank_part_k(p, parts),
                         (long long)parts);
    return STATUS_OK;
}

/* MatMulV3's kernel for parts on cores has all of them work at one block after the other, and L0
 * tiles of its own (matmul_cann_split.c). */
static enum status check_library_parts(const struct bank_row *row, const struct problem *p,
                                       struct error *error)
{
    const int32_t *v = row->number;
    if (v[BANK_SINGLE_M] < p->size[MATMUL_M] || v[BANK_SINGLE_N] < p->size[MATMUL_N])
        return error_set(error, STATUS_INVALID,
                         "tilingEnable = %d with several blocks: all cores work at one after the "
                         "other, which no space has",
                         v[BANK_TILING_ENABLE]);
    int64_t base_k = CANN_LIBRARY_K_BYTES / dtype_bytes(p->type);
    if (v[BANK_BASE_M] != CANN_LIBRARY_MN || v[BANK_BASE_N] != CANN_LIBRARY_MN ||
        v[BANK_BASE_K] != base_k)
        return error_set(error, STATUS_INVALID,
                         "tilingEnable = %d with tiles of %dx%d, %d of k: the kernel's are %dx%d, "
                         "%lld of k, whatever a row says",
                         v[BANK_TILING_ENABLE], v[BANK_BASE_M], v[BANK_BASE_N], v[BANK_BASE_K],
                         CANN_LIBRARY_MN, CANN_LIBRARY_MN, (long long)base_k);
    return STATUS_OK;
}

enum status matmul_bank_check_parts(const struct bank_row *row, const struct problem *p,
                                    int64_t blocks, struct error *error)
{
    const int32_t *v = row->number;
    int form = row->format == BANK_RUNTIME_KB ? v[BANK_TILING_ENABLE] % FORMS : PARTS_ON_CORES;
    bool whole = v[BANK_SINGLE_K] >= p->size[MATMUL_K];
    if (whole && row->format == BANK_RUNTIME_KB && form == PARTS_ON_CORES)
        return error_set(error, STATUS_INVALID,
                         "tilingEnable = %d with singleCoreK = %d, expected less than k = %lld",
                         v[BANK_TILING_ENABLE], v[BANK_SINGLE_K], (long long)p->size[MATMUL_K]);
    if (whole)
        return STATUS_OK;
    if (form != PARTS_ON_CORES)
        return error_set(error, STATUS_INVALID, "singleCoreK = %d with tilingEnable = %d: %s",
                         v[BANK_SINGLE_K], v[BANK_TILING_ENABLE], unread_form(form));
    if (row->format == BANK_RUNTIME_KB)
        TRY(check_library_parts(row, p, error));
    return check_parts_on_cores(row, p, blocks, error);
}

/* Parts on cores, in the words of MatMulV3's kernel for them: m and n as they are, its L0 tiles. */
enum status matmul_bank_put_parts(const struct problem *p, const struct tiling *t,
                                  struct bank_row *row, struct error *error)
{
    const int64_t *x = t->value, m = p->size[MATMUL_M], n = p->size[MATMUL_N];
    int32_t *v = row->number;
    int64_t parts = x[CANN_SPLIT_K], k = matmul_bank_part_k(p, parts);
    int64_t base_k = CANN_LIBRARY_K_BYTES / dtype_bytes(p->type);
    if (parts == 1)
        return STATUS_OK;
    if (p->size[MATMUL_BATCH] > 1 || x[CANN_CORES] != parts || x[CANN_SINGLE_M] < m ||
        x[CANN_SINGLE_N] < n || x[CANN_BASE_M] != least_of(CANN_LIBRARY_MN, round_up(m, FRACTAL)) ||
        x[CANN_BASE_N] != least_of(CANN_LIBRARY_MN, round_up(n, FRACTAL)) ||
        x[CANN_BASE_K] != least_of(base_k, k))
        return error_set(error, STATUS_INVALID,
                         "split_k: a TCubeTiling has words for parts of one block in tiles of "
                         "%dx%d, %lld of k; those of --space tcube are such",
                         CANN_LIBRARY_MN, CANN_LIBRARY_MN, (long long)base_k);
    v[BANK_SINGLE_M] = (int32_t)m;
    v[BANK_SINGLE_N] = (int32_t)n;
    v[BANK_SINGLE_K] = (int32_t)k;
    v[BANK_BASE_M] = v[BANK_BASE_N] = CANN_LIBRARY_MN;
    v[BANK_BASE_K] = (int32_t)base_k;
    v[BANK_TILING_ENABLE] = row->format == BANK_RUNTIME_KB ? PARTS_ON_CORES : 0;
    return STATUS_OK;
}
