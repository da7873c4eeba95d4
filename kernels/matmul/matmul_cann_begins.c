/* Which prefixes of tilings there are: what one says about the tilings that begin so, and, value
 * after value, whether there is a legal one. */
#include "core/least.h"
#include "kernels/matmul/matmul_cann_nesting.h"

const int cann_lengths[] = {CANN_CORES + 1,        CANN_BASE_M + 1,      CANN_BASE_N + 1,
                            CANN_L0B_HOLDS + 1,    CANN_STEP_KA + 1,     CANN_STEP_KB + 1,
                            CANN_STEP_BATCH_B + 1, CANN_L1B_BUFFERS + 1, 0};

/* ---- what a prefix says ------------------------------------------------------------------ */

int64_t cann_all_blocks(const struct cann *cann, int64_t m, int64_t n)
{
    return cann->size[CANN_BATCH] * divide_up(cann->size[CANN_M], m) *
           divide_up(cann->size[CANN_N], n);
}

struct cann_facts cann_facts_of(const struct cann *cann, const int64_t *value, int fixed)
{
    struct cann_facts f = {.m = value[CANN_SINGLE_M],
                           .n = fixed > CANN_SINGLE_N ? value[CANN_SINGLE_N] : 0,
                           .parts = fixed > CANN_SPLIT_K ? value[CANN_SPLIT_K] : 1};
    f.k = cann_part_k(cann, f.parts);
    if (fixed <= CANN_CORES)
        return f;
    f.blocks = divide_up(f.parts * cann_all_blocks(cann, f.m, f.n), value[CANN_CORES]);
    f.batch_blocks = cann->size[CANN_BATCH] > 1 ? f.blocks : 1;
    f.one_b = cann->share_b && f.parts == 1 &&
              cann->size[CANN_BATCH] * divide_up(cann->size[CANN_M], f.m) >= f.blocks;
    if (fixed > CANN_BASE_M)
        f.m_tiles = divide_up(f.m, value[CANN_BASE_M]);
    if (fixed > CANN_BASE_N)
        f.n_tiles = divide_up(f.n, value[CANN_BASE_N]);
    if (fixed > CANN_BASE_K)
        f.k_tiles = divide_up(f.k, value[CANN_BASE_K]);
    f.whole_a = fixed > CANN_STEP_KA && value[CANN_STEP_KA] >= f.k_tiles;
    f.whole_b = fixed > CANN_STEP_KB && value[CANN_STEP_KB] >= f.k_tiles;
    return f;
}

struct cann_room cann_room_of(const struct cann *cann, int64_t base_n)
{
    const struct cann_machine *m = &cann->machine;
    int64_t row_bytes = base_n * cann_row_bytes(cann);
    bool no_table = m->bt >= 0 && base_n * cann->bias_bytes > capacity_of(m->hw, m->bt);
    int64_t l1_bytes = capacity_of(m->hw, m->l1);
    return (struct cann_room){
        .l0a = capacity_of(m->hw, m->l0a) / m->type_bytes,
        .l0b = capacity_of(m->hw, m->l0b) / m->type_bytes,
        .l0c = capacity_of(m->hw, m->l0c) / m->accumulator_bytes,
        .l1 = no_table || row_bytes > l1_bytes ? -1 : (l1_bytes - row_bytes) / m->type_bytes,
    };
}

/* ---- one value after the other -------------------------------------------------------------- */

/* What `steps` tiles of a direction take in a buffer. */
static int64_t laid_m(const struct cann *cann, const struct cann_facts *f, const int64_t *v,
                      int64_t steps)
{
    int64_t base = v[CANN_BASE_M];
    return cann_laid_out(cann, f->parts, CANN_M, least_of(steps * base, f->m), base);
}

static int64_t laid_n(const struct cann *cann, const struct cann_facts *f, const int64_t *v,
                      int64_t steps)
{
    int64_t base = v[CANN_BASE_N];
    return cann_laid_out(cann, f->parts, CANN_N, least_of(steps * base, f->n), base);
}

static int64_t laid_k(const struct cann *cann, const struct cann_facts *f, const int64_t *v,
                      int64_t steps)
{
    int64_t base = v[CANN_BASE_K];
    return cann_laid_out(cann, f->parts, CANN_K, least_of(steps * base, f->k), base);
}

/* Elements of one part of A or B in L1. */
static int64_t part_of_a(const struct cann *cann, const struct cann_facts *f, const int64_t *v,
                         int fixed)
{
    int64_t step = fixed > CANN_STEP_M ? v[CANN_STEP_M] : 1;
    int64_t batch = fixed > CANN_STEP_BATCH_A ? v[CANN_STEP_BATCH_A] : 1;
    return product_of(laid_m(cann, f, v, step) * laid_k(cann, f, v, v[CANN_STEP_KA]),
                      least_of(batch, f->blocks));
}

static int64_t part_of_b(const struct cann *cann, const struct cann_facts *f, const int64_t *v,
                         int fixed)
{
    int64_t step = fixed > CANN_STEP_N ? v[CANN_STEP_N] : 1;
    int64_t batch = fixed > CANN_STEP_BATCH_B ? v[CANN_STEP_BATCH_B] : 1;
    int64_t k_step = fixed > CANN_STEP_KB ? v[CANN_STEP_KB] : 1;
    return product_of(laid_n(cann, f, v, step) * laid_k(cann, f, v, k_step),
                      least_of(batch, f->one_b ? 1 : f->blocks));
}

/* Both parts, with the copies that are known. */
static bool parts_fit(const struct cann *cann, const struct cann_facts *f, const int64_t *v,
                      int fixed)
{
    int64_t a = fixed > CANN_L1A_BUFFERS ? v[CANN_L1A_BUFFERS] : 1;
    int64_t b = fixed > CANN_L1B_BUFFERS ? v[CANN_L1B_BUFFERS] : 1;
    return sum_of(product_of(part_of_a(cann, f, v, fixed), a),
                  product_of(part_of_b(cann, f, v, fixed), b)) <=
           cann_room_of(cann, laid_n(cann, f, v, 1)).l1;
}

static enum prefix_verdict some_if(bool some)
{
    return some ? BEGINS_SOME : BEGINS_NOT;
}

/* Of what grows with the last value: once too large, always. */
static enum prefix_verdict some_while(bool fits, bool some)
{
    return fits ? some_if(some) : BEGINS_NONE;
}

static enum prefix_verdict begins_cores(const struct cann *cann, const struct cann_facts *f,
                                        const int64_t *v)
{
    int64_t blocks = f->parts * cann_all_blocks(cann, f->m, f->n);
    return some_while(v[CANN_CORES] <= least_of(cann->cores, blocks),
                      f->parts == 1 || v[CANN_CORES] == blocks);
}

/* The third order of loops is for several L1 tiles of several L0 tiles of both operands, whole
 * along k: do two such tiles of both fit? */
static bool third_fits(const struct cann *cann, const struct cann_facts *f, int64_t base_m,
                       int64_t base_n)
{
    return product_of(2 * (base_m + base_n), f->k) <= cann_room_of(cann, base_n).l1;
}

static enum prefix_verdict begins_base(const struct cann *cann, const struct cann_facts *f,
                                       const int64_t *v, int axis)
{
    const struct cann_machine *m = &cann->machine;
    int64_t base_n = axis >= CANN_BASE_N ? v[CANN_BASE_N] : m->block_mn;
    int64_t base_k = axis >= CANN_BASE_K ? v[CANN_BASE_K] : m->block_k;
    struct cann_room room = cann_room_of(cann, base_n);
    bool slab_fits = f->n * f->k <= room.l0b;
    bool fits = v[CANN_BASE_M] * base_k <= room.l0a && v[CANN_BASE_M] * base_n <= room.l0c &&
                (slab_fits || base_n * base_k <= room.l0b) &&
                (v[CANN_BASE_M] + base_n) * base_k <= room.l1 &&
                (v[CANN_OUTER] != OUTER_M_N || third_fits(cann, f, v[CANN_BASE_M], base_n));
    if (axis == CANN_BASE_M)
        return some_while(fits, is_cut_of(f->m, v[axis], m->block_mn) &&
                                    cann_is_parts_tile(cann, f->parts, CANN_M, f->m, v[axis]));
    if (axis == CANN_BASE_N)
        return some_while(fits,
                          is_cut_of(f->n, v[axis], m->block_mn) &&
                              cann_is_parts_tile(cann, f->parts, CANN_N, f->n, v[axis]) &&
                              (v[CANN_OUTER] == OUTER_M || (f->m_tiles > 1 && f->n_tiles > 1)));
    return some_while(fits, is_cut_of(f->k, v[axis], m->block_k) &&
                                cann_is_parts_tile(cann, f->parts, CANN_K, f->k, v[axis]) &&
                                cann_executable(f, false));
}

static enum prefix_verdict begins_holds(const struct cann *cann, const struct cann_facts *f,
                                        const int64_t *v)
{
    int64_t room = cann_room_of(cann, v[CANN_BASE_N]).l0b;
    if (v[CANN_L0B_HOLDS] == HOLDS_SLAB)
        return some_if(f->n * f->k <= room && f->n_tiles * f->k_tiles > 1 &&
                       cann_executable(f, true));
    return some_if(
        laid_n(cann, f, v, 1) * laid_k(cann, f, v, 1) <= room &&
        laid_m(cann, f, v, 1) * laid_k(cann, f, v, 1) <= cann_room_of(cann, v[CANN_BASE_N]).l0a &&
        laid_m(cann, f, v, 1) * laid_n(cann, f, v, 1) <= cann_room_of(cann, v[CANN_BASE_N]).l0c);
}

static enum prefix_verdict begins_steps(const struct cann *cann, const struct cann_facts *f,
                                        const int64_t *v, int axis)
{
    bool fits = parts_fit(cann, f, v, axis + 1);
    bool all_m = v[CANN_STEP_M] >= f->m_tiles, all_n = v[CANN_STEP_N] >= f->n_tiles;
    /* the third order of loops is for several L1 tiles of several L0 tiles */
    bool third = v[CANN_OUTER] == OUTER_M_N;
    int64_t chunks_a = divide_up(f->k_tiles, v[CANN_STEP_KA]);
    int64_t chunks_b = axis >= CANN_STEP_KB ? divide_up(f->k_tiles, v[CANN_STEP_KB]) : 1;
    switch (axis) {
    case CANN_STEP_KA:
        return some_while(fits, is_cut(f->k_tiles, v[axis]) && (!third || f->whole_a));
    case CANN_STEP_KB:
        return some_while(fits, is_cut(f->k_tiles, v[axis]) && (!third || f->whole_b) &&
                                    (chunks_a % chunks_b == 0 || chunks_b % chunks_a == 0));
    case CANN_STEP_M:
        return some_while(fits && (v[axis] == 1 || f->whole_a),
                          is_cut(f->m_tiles, v[axis]) &&
                              (!third || (v[axis] > 1 && v[axis] < f->m_tiles)));
    case CANN_STEP_N:
        return some_while(fits && (v[axis] == 1 || f->whole_b),
                          is_cut(f->n_tiles, v[axis]) &&
                              (!third || (v[axis] > 1 && v[axis] < f->n_tiles)));
    case CANN_STEP_BATCH_A:
        return some_while(fits && (v[axis] == 1 || (f->whole_a && all_m)),
                          cann_is_batch_step(cann, f->batch_blocks, v[axis]));
    default:
        return some_while(fits && (v[axis] == 1 || (f->whole_b && all_n)),
                          cann_is_batch_step(cann, f->one_b ? 1 : f->batch_blocks, v[axis]));
    }
}

static bool l1_turns(const struct cann_facts *f, const int64_t *v, bool of_a)
{
    bool whole = of_a ? f->whole_a && v[CANN_STEP_M] >= f->m_tiles
                      : f->whole_b && v[CANN_STEP_N] >= f->n_tiles;
    int64_t batch = v[of_a ? CANN_STEP_BATCH_A : CANN_STEP_BATCH_B];
    return !(whole && (batch >= f->blocks || (!of_a && f->one_b)));
}

static enum prefix_verdict begins_buffers(const struct cann *cann, const struct cann_facts *f,
                                          const int64_t *v, int axis)
{
    int64_t m = v[CANN_BASE_M], n = v[CANN_BASE_N], k = v[CANN_BASE_K], copies = v[axis];
    int64_t m_laid = laid_m(cann, f, v, 1), n_laid = laid_n(cann, f, v, 1);
    int64_t k_laid = laid_k(cann, f, v, 1);
    struct cann_room room = cann_room_of(cann, n_laid);
    bool slab = v[CANN_L0B_HOLDS] == HOLDS_SLAB;
    if (copies == 1)
        return BEGINS_SOME;
    switch (axis) {
    case CANN_L1A_BUFFERS:
    case CANN_L1B_BUFFERS:
        return some_if(parts_fit(cann, f, v, axis + 1) && l1_turns(f, v, axis == CANN_L1A_BUFFERS));
    case CANN_L0A_BUFFERS:
        return some_if(copies * m_laid * k_laid <= room.l0a && cann_a_l0_turns(f, m, k));
    case CANN_L0B_BUFFERS:
        return some_if(copies * (slab ? f->n * f->k : n_laid * k_laid) <= room.l0b &&
                       cann_b_l0_turns(f, n, k, slab));
    default:
        return some_if(copies * m_laid * n_laid <= room.l0c && cann_c_turns(f));
    }
}

enum prefix_verdict cann_begins(const struct space *space, const struct tiling *tiling, int fixed)
{
    const struct cann *cann = cann_of(space);
    const int64_t *v = tiling->value;
    struct cann_facts f = cann_facts_of(cann, v, fixed);
    int axis = fixed - 1;
    if (axis <= CANN_SINGLE_N)
        return BEGINS_SOME;
    if (axis == CANN_SPLIT_K)
        return some_while(f.parts == 1 || f.parts * cann_all_blocks(cann, f.m, f.n) <= cann->cores,
                          cann_is_parts_block(cann, f.parts, f.m, f.n));
    if (axis == CANN_CORES)
        return begins_cores(cann, &f, v);
    if (axis == CANN_OUTER)
        return some_if(v[axis] != OUTER_M_N ||
                       third_fits(cann, &f, cann->machine.block_mn, cann->machine.block_mn));
    if (axis <= CANN_BASE_K)
        return begins_base(cann, &f, v, axis);
    if (axis == CANN_L0B_HOLDS)
        return begins_holds(cann, &f, v);
    if (axis <= CANN_STEP_BATCH_B)
        return begins_steps(cann, &f, v, axis);
    return begins_buffers(cann, &f, v, axis);
}
