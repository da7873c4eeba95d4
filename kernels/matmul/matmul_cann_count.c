/* How many legal tilings begin so.
 *
 * The rules of matmul_cann_legal.c fall apart: given the block and the base tile, what L0A, L0B and
 * L0C hold are three counts of their own, and what L1 holds is pairs of parts, one of A and one of
 * B, that fit together and whose chunks divide. So the tilings are counted by products and sums
 * over the base tiles. What does not depend on the block is summed up once for each base tile. */
#include "kernels/matmul/matmul_cann_count.h"
#include "core/least.h"
#include "core/stop.h"

/* 0, 1 or 2: numbers of copies. */
static int64_t copies(int64_t elements, int64_t room, bool turns)
{
    return (elements <= room) + (turns && 2 * elements <= room);
}

static int64_t count_l0b(const struct counter *c)
{
    const struct cann_facts *f = &c->facts;
    const int64_t *v = c->tiling.value;
    int64_t n = v[CANN_BASE_N], k = v[CANN_BASE_K];
    bool tile = c->fixed <= CANN_L0B_HOLDS || v[CANN_L0B_HOLDS] == HOLDS_TILE;
    bool slab = c->fixed <= CANN_L0B_HOLDS || v[CANN_L0B_HOLDS] == HOLDS_SLAB;
    int64_t count = 0;
    if (tile && cann_executable(f, false))
        count += copies(cann_laid_tile(c, CANN_N, n) * cann_laid_tile(c, CANN_K, k), c->room.l0b,
                        cann_b_l0_turns(f, n, k, false));
    if (slab && !c->cann->tcube && f->n_tiles * f->k_tiles > 1 && cann_executable(f, true))
        count += copies(f->n * f->k, c->room.l0b, cann_b_l0_turns(f, n, k, true));
    return count;
}

/* How many orders of loops go with the base tile, without the third. */
static int64_t count_orders(const struct counter *c)
{
    bool turns = c->facts.m_tiles > 1 && c->facts.n_tiles > 1;
    int64_t outer = c->tiling.value[CANN_OUTER];
    return c->fixed <= CANN_OUTER ? 1 + turns : outer == OUTER_M || (turns && outer == OUTER_N);
}

/* What L0 may hold, with the base tile at hand. */
static int64_t count_l0(const struct counter *c)
{
    const struct cann_facts *f = &c->facts;
    const int64_t *v = c->tiling.value;
    int64_t m = cann_laid_tile(c, CANN_M, v[CANN_BASE_M]),
            n = cann_laid_tile(c, CANN_N, v[CANN_BASE_N]);
    int64_t k = cann_laid_tile(c, CANN_K, v[CANN_BASE_K]);
    return copies(m * k, c->room.l0a, cann_a_l0_turns(f, v[CANN_BASE_M], v[CANN_BASE_K])) *
           copies(m * n, c->room.l0c, cann_c_turns(f)) * count_l0b(c);
}

/* 1 where the third order may go with it. */
static int64_t may_be_third(const struct counter *c)
{
    return !c->cann->tcube && c->facts.m_tiles > 1 && c->facts.n_tiles > 1 &&
           (c->fixed <= CANN_OUTER || c->tiling.value[CANN_OUTER] == OUTER_M_N);
}

/* With the base tile at hand. */
static int64_t count_base(const struct counter *c)
{
    int64_t third = may_be_third(c), others = count_orders(c), count = count_l0(c);
    if (count == 0)
        return 0;
    return count *
           ((others ? others * cann_count_l1(c) : 0) + (third ? third * cann_count_several(c) : 0));
}

/* Moves on to a value's place on its axis; false: it is larger than any. */
static bool find_place(const struct cann *cann, int axis, int64_t value, int *place)
{
    while (*place < cann->count[axis] && cann->values[axis][*place] < value)
        ++*place;
    return *place < cann->count[axis];
}

/* The axis has the sizes into which parts of k are cut in order, as next_value; those of one part
 * have chunks. */
static int64_t count_base_k(struct counter *c, int64_t (*count_one)(const struct counter *c))
{
    const int64_t *values = c->cann->values[CANN_BASE_K];
    int64_t count = 0, *v = c->tiling.value, given = c->fixed > CANN_BASE_K ? v[CANN_BASE_K] : 0;
    const struct cann_chunks *chunks =
        &c->cann->chunks[(size_t)c->at_split * (size_t)c->cann->count[CANN_BASE_K]];
    for (int i = 0; i < c->cann->count[CANN_BASE_K]; i++) {
        if (values[i] * v[CANN_BASE_M] > c->room.l0a)
            break;
        if (!chunks[i].k || (given && values[i] != given) ||
            !cann_is_parts_tile(c->cann, c->facts.parts, CANN_K, c->facts.k, values[i]))
            continue;
        v[CANN_BASE_K] = values[i];
        c->chunks = &chunks[i];
        c->facts.k_tiles = divide_up(c->facts.k, values[i]);
        count += count_one(c);
    }
    return count;
}

/* ---- what is summed up once ------------------------------------------------------------------ */

/* A sum over base_k: of what L0 holds, alone or with what is cut along k in L1: pairs of parts, or
 * a part of B beside one of A that is whole, or the other way round. */
enum sum { SUM_L0, SUM_PAIRS, SUM_BESIDE_A, SUM_BESIDE_B };

static int64_t sum_of_base(const struct counter *c)
{
    int64_t count = count_l0(c);
    if (count == 0 || c->sum == SUM_L0)
        return count;
    return count * (c->sum == SUM_PAIRS ? cann_count_cut_pairs(c)
                                        : cann_count_beside(c, c->sum == SUM_BESIDE_A, c->whole));
}

/* With so many elements of L1 taken by the part that is whole. */
static int64_t look_up(struct counter *c, enum sum sum, int64_t whole)
{
    const struct cann *cann = c->cann;
    int64_t unit = c->facts.k * cann->machine.block_mn;
    ptrdiff_t tile = (ptrdiff_t)c->at_m * cann->count[CANN_BASE_N] + c->at_n;
    ptrdiff_t place = sum;
    if (sum >= SUM_BESIDE_A)
        place = SUM_BESIDE_A + (sum - SUM_BESIDE_A) * CANN_MOST_WHOLE + whole / unit;
    int64_t *known = &cann->sums[tile * CANN_SUMS + place];
    int64_t count = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (count == 0) {
        c->sum = sum;
        c->whole = whole;
        count = 1 + count_base_k(c, sum_of_base);
        __atomic_store_n(known, count, __ATOMIC_RELAXED);
    }
    return count - 1;
}

static int64_t sum_beside(struct counter *c, enum sum sum, const struct parts *parts)
{
    int64_t count = 0;
    for (int copies = 0; copies < 2; copies++)
        for (int i = 0; i < parts->count[copies]; i++)
            count += look_up(c, sum, parts->elements[copies][i]);
    return count;
}

/* Does nothing of what is summed up depend on the block? It is one of several, so that all live
 * ranges have turns; there is no slab in L0B, and no program is too long. */
static bool is_known(const struct counter *c)
{
    struct cann_facts f = c->facts;
    f.k_tiles = f.k / c->cann->machine.block_k;
    return c->fixed <= CANN_BASE_K && f.blocks > 1 && !f.one_b && f.n * f.k > c->room.l0b &&
           c->room.l1 / (f.k * c->cann->machine.block_mn) < CANN_MOST_WHOLE &&
           cann_executable(&f, false);
}

static int64_t count_known(struct counter *c)
{
    int64_t orders = count_orders(c), third = may_be_third(c), l0 = look_up(c, SUM_L0, 0);
    int64_t l1 = c->whole_pairs * l0 + look_up(c, SUM_PAIRS, 0) +
                 sum_beside(c, SUM_BESIDE_A, c->whole_a) + sum_beside(c, SUM_BESIDE_B, c->whole_b);
    return orders * l1 + third * c->several_pairs * l0;
}

/* ---- all base tiles -------------------------------------------------------------------------- */

static int64_t count_base_n(struct counter *c)
{
    int64_t count = 0, *v = c->tiling.value, n = 0;
    c->at_n = 0;
    while ((n = cann_next_value(c, CANN_BASE_N, c->facts.n, c->cann->machine.block_mn, n)) &&
           !stop_due(c->space->stop)) {
        if (!cann_is_parts_tile(c->cann, c->facts.parts, CANN_N, c->facts.n, n))
            continue;
        c->room = cann_room_of(c->cann, cann_laid_tile(c, CANN_N, n));
        if (n * v[CANN_BASE_M] > c->room.l0c)
            break;
        v[CANN_BASE_N] = n;
        c->facts.n_tiles = divide_up(c->facts.n, n);
        if (!find_place(c->cann, CANN_BASE_N, n, &c->at_n))
            break;
        cann_list_whole_pairs(c);
        count += is_known(c) ? count_known(c) : count_base_k(c, count_base);
    }
    return count;
}

int64_t cann_leaf_count(const struct space *space, const struct tiling *tiling, int fixed)
{
    const struct cann *cann = cann_of(space);
    struct parts whole_a, whole_b;
    struct counter c = {.space = space,
                        .cann = cann,
                        .tiling = *tiling,
                        .fixed = fixed,
                        .whole_a = &whole_a,
                        .whole_b = &whole_b};
    int64_t count = 0, m = 0;
    c.facts = cann_facts_of(cann, tiling->value, CANN_CORES + 1);
    find_place(cann, CANN_SPLIT_K, c.facts.parts, &c.at_split);
    while ((m = cann_next_value(&c, CANN_BASE_M, c.facts.m, cann->machine.block_mn, m))) {
        if (!cann_is_parts_tile(cann, c.facts.parts, CANN_M, c.facts.m, m))
            continue;
        c.tiling.value[CANN_BASE_M] = m;
        c.facts.m_tiles = divide_up(c.facts.m, m);
        if (!find_place(cann, CANN_BASE_M, m, &c.at_m))
            break;
        count += count_base_n(&c);
    }
    return count;
}

/* In the smallest tiles, of which there are most. */
static bool always_executable(const struct cann *cann, struct cann_facts f)
{
    f.m_tiles = f.m / cann->machine.block_mn;
    f.n_tiles = f.n / cann->machine.block_mn;
    f.k_tiles = f.k / cann->machine.block_k;
    return cann_executable(&f, true);
}

bool cann_alike(const struct space *space, const struct tiling *a, const struct tiling *b)
{
    const struct cann *cann = cann_of(space);
    struct cann_facts f = cann_facts_of(cann, a->value, CANN_CORES + 1);
    struct cann_facts g = cann_facts_of(cann, b->value, CANN_CORES + 1);
    if (f.m != g.m || f.n != g.n || f.k != g.k || f.batch_blocks != g.batch_blocks ||
        f.one_b != g.one_b)
        return false;
    return f.blocks == g.blocks || (f.blocks > 1 && g.blocks > 1 && always_executable(cann, f) &&
                                    always_executable(cann, g));
}
