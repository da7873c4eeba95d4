/* Which beginnings of tilings there are, and how many legal tilings begin so.
 *
 * The rules of matmul_cann_legal.c fall apart: given the block and the base tile, what L0A, L0B and
 * L0C hold are three counts of their own, and what L1 holds is pairs of parts, one of A and one of
 * B, that fit together and whose chunks divide. So the tilings are counted by products and sums
 * over the base tiles. */
#include "kernels/limits.h"
#include "kernels/matmul_cann_nesting.h"

#include <stdlib.h>

const int cann_lengths[] = {CANN_CORES + 1,   CANN_BASE_N + 1,       CANN_L0B_HOLDS + 1,
                            CANN_STEP_KB + 1, CANN_STEP_BATCH_B + 1, 0};

/* ---- what a beginning says ------------------------------------------------------------------ */

int64_t cann_turns(const struct cann *cann, int64_t m, int64_t n, int64_t *cores)
{
    int64_t blocks = cann->size[CANN_BATCH] * divide_up(cann->size[CANN_M], m) *
                     divide_up(cann->size[CANN_N], n);
    int64_t turns = divide_up(blocks, cann->cores < blocks ? cann->cores : blocks);
    *cores = divide_up(blocks, turns);
    return turns;
}

struct cann_facts cann_facts_of(const struct cann *cann, const int64_t *value, int fixed)
{
    int64_t cores;
    struct cann_facts f = {.m = value[CANN_SINGLE_M],
                           .n = fixed > CANN_SINGLE_N ? value[CANN_SINGLE_N] : 0,
                           .k = cann->size[CANN_K]};
    if (fixed <= CANN_SINGLE_N)
        return f;
    f.blocks = cann_turns(cann, f.m, f.n, &cores);
    f.batch_blocks = cann->size[CANN_BATCH] > 1 ? f.blocks : 1;
    f.one_b =
        cann->share_b && cann->size[CANN_BATCH] * divide_up(cann->size[CANN_M], f.m) >= f.blocks;
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
    int64_t bias_bytes = cann->bias ? base_n * cann->bias_bytes : 0;
    bool no_table = cann->bias && m->bt >= 0 && bias_bytes > capacity_of(m->hw, m->bt);
    int64_t l1_bytes = capacity_of(m->hw, m->l1);
    return (struct cann_room){
        .l0a = capacity_of(m->hw, m->l0a) / m->type_bytes,
        .l0b = capacity_of(m->hw, m->l0b) / m->type_bytes,
        .l0c = capacity_of(m->hw, m->l0c) / m->accumulator_bytes,
        .l1 = no_table || bias_bytes > l1_bytes ? -1 : (l1_bytes - bias_bytes) / m->type_bytes,
    };
}

bool cann_a_l0_turns(const struct cann_facts *f, int64_t base_m, int64_t base_k)
{
    return base_k < f->k || base_m < f->m || f->blocks > 1;
}

bool cann_b_l0_turns(const struct cann_facts *f, int64_t base_n, int64_t base_k, bool slab)
{
    bool again = f->blocks > 1 && !f->one_b;
    return again || (!slab && (base_k < f->k || base_n < f->n));
}

bool cann_c_turns(const struct cann_facts *f)
{
    return f->blocks * f->m_tiles * f->n_tiles > 1;
}

/* ---- one value after the other -------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Elements of one part of A or B in L1. */
static int64_t part_of_a(const struct cann_facts *f, const int64_t *v, int fixed)
{
    int64_t step = fixed > CANN_STEP_M ? v[CANN_STEP_M] : 1;
    int64_t batch = fixed > CANN_STEP_BATCH_A ? v[CANN_STEP_BATCH_A] : 1;
    return product_of(least(step * v[CANN_BASE_M], f->m) *
                          least(v[CANN_STEP_KA] * v[CANN_BASE_K], f->k),
                      least(batch, f->blocks));
}

static int64_t part_of_b(const struct cann_facts *f, const int64_t *v, int fixed)
{
    int64_t step = fixed > CANN_STEP_N ? v[CANN_STEP_N] : 1;
    int64_t batch = fixed > CANN_STEP_BATCH_B ? v[CANN_STEP_BATCH_B] : 1;
    int64_t k_step = fixed > CANN_STEP_KB ? v[CANN_STEP_KB] : 1;
    return product_of(least(step * v[CANN_BASE_N], f->n) * least(k_step * v[CANN_BASE_K], f->k),
                      least(batch, f->one_b ? 1 : f->blocks));
}

/* Both parts, with the copies that are known. */
static bool parts_fit(const struct cann *cann, const struct cann_facts *f, const int64_t *v,
                      int fixed)
{
    int64_t a = fixed > CANN_L1A_BUFFERS ? v[CANN_L1A_BUFFERS] : 1;
    int64_t b = fixed > CANN_L1B_BUFFERS ? v[CANN_L1B_BUFFERS] : 1;
    return sum_of(product_of(part_of_a(f, v, fixed), a), product_of(part_of_b(f, v, fixed), b)) <=
           cann_room_of(cann, v[CANN_BASE_N]).l1;
}

static enum beginning some_if(bool some)
{
    return some ? BEGINS_SOME : BEGINS_NOT;
}

/* Of what grows with the last value: once too large, always. */
static enum beginning some_while(bool fits, bool some)
{
    return fits ? some_if(some) : BEGINS_NONE;
}

static enum beginning begins_cores(const struct cann *cann, const struct cann_facts *f,
                                   const int64_t *v)
{
    int64_t cores;
    cann_turns(cann, f->m, f->n, &cores);
    return some_while(v[CANN_CORES] <= cores, v[CANN_CORES] == cores);
}

static enum beginning begins_base(const struct cann *cann, const struct cann_facts *f,
                                  const int64_t *v, int axis)
{
    const struct cann_machine *m = &cann->machine;
    int64_t base_n = axis >= CANN_BASE_N ? v[CANN_BASE_N] : m->block_mn;
    int64_t base_k = axis >= CANN_BASE_K ? v[CANN_BASE_K] : m->block_k;
    struct cann_room room = cann_room_of(cann, base_n);
    bool slab_fits = f->n * f->k <= room.l0b;
    bool fits = v[CANN_BASE_M] * base_k <= room.l0a && v[CANN_BASE_M] * base_n <= room.l0c &&
                (slab_fits || base_n * base_k <= room.l0b) &&
                (v[CANN_BASE_M] + base_n) * base_k <= room.l1;
    if (axis == CANN_BASE_M)
        return some_while(fits, is_slice(f->m, v[axis], m->block_mn));
    if (axis == CANN_BASE_N)
        return some_while(fits,
                          is_slice(f->n, v[axis], m->block_mn) &&
                              (v[CANN_OUTER] == OUTER_M || (f->m_tiles > 1 && f->n_tiles > 1)));
    return some_while(fits, is_slice(f->k, v[axis], m->block_k));
}

static enum beginning begins_holds(const struct cann *cann, const struct cann_facts *f,
                                   const int64_t *v)
{
    int64_t room = cann_room_of(cann, v[CANN_BASE_N]).l0b;
    if (v[CANN_L0B_HOLDS] == HOLDS_SLAB)
        return some_if(f->n * f->k <= room && f->n_tiles * f->k_tiles > 1);
    return some_if(v[CANN_BASE_N] * v[CANN_BASE_K] <= room);
}

static enum beginning begins_steps(const struct cann *cann, const struct cann_facts *f,
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
        return some_while(fits, is_slice(f->k_tiles, v[axis], 1) && (!third || f->whole_a));
    case CANN_STEP_KB:
        return some_while(fits, is_slice(f->k_tiles, v[axis], 1) && (!third || f->whole_b) &&
                                    (chunks_a % chunks_b == 0 || chunks_b % chunks_a == 0));
    case CANN_STEP_M:
        return some_while(fits && (v[axis] == 1 || f->whole_a),
                          is_slice(f->m_tiles, v[axis], 1) &&
                              (!third || (v[axis] > 1 && v[axis] < f->m_tiles)));
    case CANN_STEP_N:
        return some_while(fits && (v[axis] == 1 || f->whole_b),
                          is_slice(f->n_tiles, v[axis], 1) &&
                              (!third || (v[axis] > 1 && v[axis] < f->n_tiles)));
    case CANN_STEP_BATCH_A:
        return some_while(fits && (v[axis] == 1 || (f->whole_a && all_m)),
                          is_slice(f->batch_blocks, v[axis], 1));
    default:
        return some_while(fits && (v[axis] == 1 || (f->whole_b && all_n)),
                          is_slice(f->one_b ? 1 : f->batch_blocks, v[axis], 1));
    }
}

static bool l1_turns(const struct cann_facts *f, const int64_t *v, bool of_a)
{
    bool whole = of_a ? f->whole_a && v[CANN_STEP_M] >= f->m_tiles
                      : f->whole_b && v[CANN_STEP_N] >= f->n_tiles;
    int64_t batch = v[of_a ? CANN_STEP_BATCH_A : CANN_STEP_BATCH_B];
    return !(whole && (batch >= f->blocks || (!of_a && f->one_b)));
}

static enum beginning begins_buffers(const struct cann *cann, const struct cann_facts *f,
                                     const int64_t *v, int axis)
{
    int64_t m = v[CANN_BASE_M], n = v[CANN_BASE_N], k = v[CANN_BASE_K], copies = v[axis];
    struct cann_room room = cann_room_of(cann, n);
    bool slab = v[CANN_L0B_HOLDS] == HOLDS_SLAB;
    if (copies == 1)
        return BEGINS_SOME;
    switch (axis) {
    case CANN_L1A_BUFFERS:
    case CANN_L1B_BUFFERS:
        return some_if(parts_fit(cann, f, v, axis + 1) && l1_turns(f, v, axis == CANN_L1A_BUFFERS));
    case CANN_L0A_BUFFERS:
        return some_if(copies * m * k <= room.l0a && cann_a_l0_turns(f, m, k));
    case CANN_L0B_BUFFERS:
        return some_if(copies * (slab ? f->n * f->k : n * k) <= room.l0b &&
                       cann_b_l0_turns(f, n, k, slab));
    default:
        return some_if(copies * m * n <= room.l0c && cann_c_turns(f));
    }
}

/* Is a program surely short enough to be played, whatever the steps? */
static bool surely_playable(const struct cann_facts *f)
{
    double tiles = (double)f->blocks * (double)f->m_tiles * (double)f->n_tiles;
    return 64 + 600 * tiles * (double)f->k_tiles <= (double)PROGRAM_MAX_PLAYED;
}

enum beginning cann_begins(const struct space *space, const struct tiling *tiling, int fixed)
{
    const struct cann *cann = cann_of(space);
    const int64_t *v = tiling->value;
    struct cann_facts f = cann_facts_of(cann, v, fixed);
    int axis = fixed - 1;
    if (axis <= CANN_SINGLE_N)
        return BEGINS_SOME;
    if (axis == CANN_CORES)
        return begins_cores(cann, &f, v);
    if (axis == CANN_OUTER)
        return BEGINS_SOME;
    if (axis <= CANN_BASE_K)
        return begins_base(cann, &f, v, axis);
    if (axis == CANN_L0B_HOLDS)
        return begins_holds(cann, &f, v);
    if (axis <= CANN_STEP_BATCH_B)
        return begins_steps(cann, &f, v, axis);
    enum beginning some = begins_buffers(cann, &f, v, axis);
    if (some == BEGINS_SOME && fixed == CANN_AXES && !surely_playable(&f))
        return some_if(cann_legal(space, tiling));
    return some;
}

/* ---- counting ------------------------------------------------------------------------------- */

/* The slices of a size above `slice`; 0: no more. */
static int64_t next_slice(int64_t size, int64_t slice)
{
    int64_t tiles = slice ? divide_up(size, slice) : size + 1;
    return tiles > 1 ? divide_up(size, tiles - 1) : 0;
}

/* Fills one entry for k in so many steps; `k` and `dividing` are large enough. */
static void fill_chunks(int64_t steps, int64_t base_k, int64_t most, struct cann_chunks *chunks)
{
    for (int64_t s = 0; (s = next_slice(steps, s)) && s < steps && s * base_k <= most;)
        chunks->k[chunks->count++] = s * base_k;
    int *sum = chunks->dividing;
    for (int i = 0; i < chunks->count; i++) {
        int64_t mine = divide_up(steps, chunks->k[i] / base_k);
        *sum++ = 0;
        for (int j = 0; j < chunks->count; j++, sum++) {
            int64_t other = divide_up(steps, chunks->k[j] / base_k);
            *sum = sum[-1] + (mine % other == 0 || other % mine == 0);
        }
    }
}

enum status cann_make_chunks(struct cann *cann, struct error *error)
{
    const struct cann_machine *m = &cann->machine;
    int64_t most = cann_room_of(cann, 0).l1 / m->block_mn, k = cann->size[CANN_K];
    int count = cann->count[CANN_BASE_K];
    cann->chunks = calloc((size_t)count, sizeof *cann->chunks);
    for (int i = 0; cann->chunks && i < count; i++) {
        int64_t steps = divide_up(k, cann->values[CANN_BASE_K][i]);
        size_t ways = 0;
        for (int64_t s = 0; (s = next_slice(steps, s));)
            ways++;
        cann->chunks[i].k = malloc((ways + 1) * sizeof *cann->chunks[i].k);
        cann->chunks[i].dividing =
            malloc((ways + 1) * (ways + 1) * sizeof *cann->chunks[i].dividing);
        if (!cann->chunks[i].k || !cann->chunks[i].dividing)
            return error_memory(error);
        fill_chunks(steps, cann->values[CANN_BASE_K][i], most, &cann->chunks[i]);
    }
    return cann->chunks ? STATUS_OK : error_memory(error);
}

void cann_free_chunks(struct cann *cann)
{
    for (int i = 0; cann->chunks && i < cann->count[CANN_BASE_K]; i++) {
        free(cann->chunks[i].k);
        free(cann->chunks[i].dividing);
    }
    free(cann->chunks);
}

/* Sizes of parts of one operand in L1, in elements, ascending: of one copy, and of two. */
enum { MAX_PARTS = 1152 };
struct parts {
    int count[2];
    int64_t elements[2][MAX_PARTS];
};

struct counter {
    const struct space *space;
    const struct cann *cann;
    struct tiling tiling; /* the values at hand */
    int fixed;            /* of them are given */
    struct cann_facts facts;
    struct cann_room room;
    const struct cann_chunks *chunks; /* of the base_k at hand */
    /* what stands whole along k in L1, and how many pairs of it there are */
    struct parts *whole_a, *whole_b;
    int64_t whole_pairs,
        several_pairs; /* of all; of L1 tiles that are several, of several L0 ones */
};

/* The values of an axis that are slices of `size`: the given one, or all. */
static int64_t next_value(const struct counter *c, int axis, int64_t size, int64_t unit,
                          int64_t value)
{
    if (c->fixed <= axis)
        return next_slice(size / unit, value / unit) * unit;
    int64_t given = c->tiling.value[axis];
    return value == 0 && is_slice(size, given, unit) ? given : 0;
}

static void add_part(const struct counter *c, struct parts *parts, int64_t elements, bool turns)
{
    for (int copies = 0; copies <= (turns ? 1 : 0); copies++)
        if ((copies + 1) * elements <= c->room.l1)
            parts->elements[copies][parts->count[copies]++] = (copies + 1) * elements;
}

/* One operand's axes. */
struct side {
    int step_k, step, step_batch;
    int64_t size, base, tiles, batch_blocks;
    bool one;
};

static struct side side_of(const struct counter *c, bool of_a)
{
    const struct cann_facts *f = &c->facts;
    const int64_t *v = c->tiling.value;
    if (of_a)
        return (struct side){CANN_STEP_KA,   CANN_STEP_M, CANN_STEP_BATCH_A, f->m,
                             v[CANN_BASE_M], f->m_tiles,  f->batch_blocks,   false};
    return (struct side){CANN_STEP_KB,
                         CANN_STEP_N,
                         CANN_STEP_BATCH_B,
                         f->n,
                         v[CANN_BASE_N],
                         f->n_tiles,
                         f->one_b ? 1 : f->batch_blocks,
                         f->one_b};
}

/* Can an open or given step be 1? */
static bool may_be_one(const struct counter *c, int axis)
{
    return c->fixed <= axis || c->tiling.value[axis] == 1;
}

/* Parts that are whole along k. */
static void list_whole(const struct counter *c, bool of_a, bool several, struct parts *parts)
{
    const struct cann_facts *f = &c->facts;
    struct side s = side_of(c, of_a);
    parts->count[0] = parts->count[1] = 0;
    if (s.base * f->k > c->room.l1)
        return;
    for (int64_t step = 0; (step = next_value(c, s.step, s.tiles, 1, step));) {
        int64_t size = least(step * s.base, s.size), elements = size * f->k;
        if (elements > c->room.l1)
            return;
        if (several && (step == 1 || step >= s.tiles))
            continue;
        if (size < s.size) {
            if (may_be_one(c, s.step_batch))
                add_part(c, parts, elements, true);
            continue;
        }
        for (int64_t batch = 0; (batch = next_value(c, s.step_batch, s.batch_blocks, 1, batch));) {
            if (batch * elements > c->room.l1)
                break;
            add_part(c, parts, batch * elements, !s.one && batch < f->blocks);
        }
    }
}

/* Pairs of ascending numbers a[i]·a_unit + b[j]·b_unit <= room. */
static int64_t count_pairs(const int64_t a[], int a_count, int64_t a_unit, const int64_t b[],
                           int b_count, int64_t b_unit, int64_t room)
{
    int64_t count = 0;
    int j = b_count;
    for (int i = 0; i < a_count && j > 0; i++) {
        while (j > 0 && a[i] * a_unit + b[j - 1] * b_unit > room)
            j--;
        count += j;
    }
    return count;
}

static int64_t list_whole_pairs(struct counter *c, bool several)
{
    int64_t count = 0;
    list_whole(c, true, several, c->whole_a);
    list_whole(c, false, several, c->whole_b);
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
            count += count_pairs(c->whole_a->elements[a], c->whole_a->count[a], 1,
                                 c->whole_b->elements[b], c->whole_b->count[b], 1, c->room.l1);
    return count;
}

/* The ways [first, last) to cut k for one operand that are open, or the given one. */
static void find_ways(const struct counter *c, bool of_a, int *first, int *last)
{
    struct side s = side_of(c, of_a);
    *first = 0;
    *last = may_be_one(c, s.step) && may_be_one(c, s.step_batch) ? c->chunks->count : 0;
    if (c->fixed <= s.step_k || *last == 0)
        return;
    int64_t k = c->tiling.value[s.step_k] * c->tiling.value[CANN_BASE_K];
    while (*first < *last && c->chunks->k[*first] != k)
        ++*first;
    *last = *first < *last ? *first + 1 : *first;
}

static bool may_be_whole(const struct counter *c, int step_k)
{
    return c->fixed <= step_k || c->tiling.value[step_k] == c->facts.k_tiles;
}

/* Both cut along k, into numbers of chunks that divide. */
static int64_t count_cut_pairs(const struct counter *c, const int a[2], const int b[2],
                               int64_t a_copies, int64_t b_copies)
{
    const struct cann_chunks *chunks = c->chunks;
    int64_t a_unit = a_copies * c->tiling.value[CANN_BASE_M], count = 0;
    int64_t b_unit = b_copies * c->tiling.value[CANN_BASE_N];
    int j = b[1];
    for (int i = a[0]; i < a[1] && j > b[0]; i++) {
        const int *dividing = &chunks->dividing[(ptrdiff_t)i * (chunks->count + 1)];
        while (j > b[0] && chunks->k[i] * a_unit + chunks->k[j - 1] * b_unit > c->room.l1)
            j--;
        count += dividing[j] - dividing[b[0]];
    }
    return count;
}

static int64_t count_l1(const struct counter *c)
{
    const int64_t *k = c->chunks->k, room = c->room.l1;
    int64_t m = c->tiling.value[CANN_BASE_M], n = c->tiling.value[CANN_BASE_N];
    bool whole_a = may_be_whole(c, CANN_STEP_KA), whole_b = may_be_whole(c, CANN_STEP_KB);
    int64_t count = whole_a && whole_b ? c->whole_pairs : 0;
    int a[2], b[2];
    find_ways(c, true, &a[0], &a[1]);
    find_ways(c, false, &b[0], &b[1]);
    for (int copies = 0; copies < 2; copies++)
        for (int other = 0; other < 2; other++) {
            if (whole_a)
                count += count_pairs(c->whole_a->elements[copies], c->whole_a->count[copies], 1,
                                     k + b[0], b[1] - b[0], n * (other + 1), room);
            if (whole_b)
                count += count_pairs(c->whole_b->elements[copies], c->whole_b->count[copies], 1,
                                     k + a[0], a[1] - a[0], m * (other + 1), room);
            count += count_cut_pairs(c, a, b, copies + 1, other + 1);
        }
    return count;
}

/* Pairs for the third order of loops. */
static int64_t count_several(const struct counter *c)
{
    bool whole = may_be_whole(c, CANN_STEP_KA) && may_be_whole(c, CANN_STEP_KB);
    bool one = may_be_one(c, CANN_STEP_BATCH_A) && may_be_one(c, CANN_STEP_BATCH_B);
    return whole && one ? c->several_pairs : 0;
}

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
    if (tile)
        count += copies(n * k, c->room.l0b, cann_b_l0_turns(f, n, k, false));
    if (slab && f->n_tiles * f->k_tiles > 1)
        count += copies(f->n * f->k, c->room.l0b, cann_b_l0_turns(f, n, k, true));
    return count;
}

/* Tilings whose programs may be too long are looked at one by one: few, and of no use. */
static int64_t count_one_by_one(struct counter *c, int axis)
{
    const struct space_block *block = &c->space->blocks[0];
    int64_t count = 0;
    if (axis == CANN_AXES)
        return 1;
    if (axis < c->fixed || (axis >= CANN_BASE_M && axis <= CANN_BASE_K)) {
        enum beginning some = cann_begins(c->space, &c->tiling, axis + 1);
        return some == BEGINS_SOME ? count_one_by_one(c, axis + 1) : 0;
    }
    for (int i = 0; i < block->count[axis]; i++) {
        c->tiling.value[axis] = block->values[axis][i];
        enum beginning some = cann_begins(c->space, &c->tiling, axis + 1);
        if (some == BEGINS_NONE)
            break;
        if (some == BEGINS_SOME)
            count += count_one_by_one(c, axis + 1);
    }
    return count;
}

/* With the base tile at hand. */
static int64_t count_base(struct counter *c)
{
    const struct cann_facts *f = &c->facts;
    const int64_t *v = c->tiling.value;
    bool turns = f->m_tiles > 1 && f->n_tiles > 1;
    bool open = c->fixed <= CANN_OUTER;
    int64_t third = turns && (open || v[CANN_OUTER] == OUTER_M_N);
    int64_t others =
        open ? 1 + turns : v[CANN_OUTER] == OUTER_M || (turns && v[CANN_OUTER] == OUTER_N);
    int64_t count = copies(v[CANN_BASE_M] * v[CANN_BASE_K], c->room.l0a,
                           cann_a_l0_turns(f, v[CANN_BASE_M], v[CANN_BASE_K])) *
                    copies(v[CANN_BASE_M] * v[CANN_BASE_N], c->room.l0c, cann_c_turns(f)) *
                    count_l0b(c);
    if (count == 0)
        return 0;
    if (!surely_playable(f)) {
        struct counter slow = *c;
        return count_one_by_one(&slow, CANN_OUTER);
    }
    return count * ((others ? others * count_l1(c) : 0) + (third ? third * count_several(c) : 0));
}

/* The axis has the slices of k in order, as next_value. */
static int64_t count_base_k(struct counter *c)
{
    const int64_t *values = c->cann->values[CANN_BASE_K];
    int64_t count = 0, *v = c->tiling.value, given = c->fixed > CANN_BASE_K ? v[CANN_BASE_K] : 0;
    for (int i = 0; i < c->cann->count[CANN_BASE_K]; i++) {
        if (values[i] * v[CANN_BASE_M] > c->room.l0a)
            break;
        if (given && values[i] != given)
            continue;
        v[CANN_BASE_K] = values[i];
        c->chunks = &c->cann->chunks[i];
        c->facts.k_tiles = divide_up(c->facts.k, values[i]);
        count += count_base(c);
    }
    return count;
}

static int64_t count_base_n(struct counter *c)
{
    int64_t count = 0, *v = c->tiling.value, n = 0;
    while ((n = next_value(c, CANN_BASE_N, c->facts.n, c->cann->machine.block_mn, n))) {
        c->room = cann_room_of(c->cann, n);
        if (n * v[CANN_BASE_M] > c->room.l0c)
            break;
        v[CANN_BASE_N] = n;
        c->facts.n_tiles = divide_up(c->facts.n, n);
        c->several_pairs = list_whole_pairs(c, true);
        c->whole_pairs = list_whole_pairs(c, false);
        count += count_base_k(c);
    }
    return count;
}

int64_t cann_completions(const struct space *space, const struct tiling *tiling, int fixed)
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
    while ((m = next_value(&c, CANN_BASE_M, c.facts.m, cann->machine.block_mn, m))) {
        c.tiling.value[CANN_BASE_M] = m;
        c.facts.m_tiles = divide_up(c.facts.m, m);
        count += count_base_n(&c);
    }
    return count;
}
