/* How many legal tilings begin so.
 *
 * The rules of matmul_cann_legal.c fall apart: given the block and the base tile, what L0A, L0B and
 * L0C hold are three counts of their own, and what L1 holds is pairs of parts, one of A and one of
 * B, that fit together and whose chunks divide. So the tilings are counted by products and sums
 * over the base tiles. */
#include "core/least.h"
#include "core/stop.h"
#include "kernels/limits.h"
#include "kernels/matmul/matmul_cann_nesting.h"

/* Sizes of parts of one operand in L1, in elements, ascending: of one copy, and of two. */
enum { MAX_PARTS = 1280 };
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
    int at_m, at_n;                   /* the places of base_m and base_n on their axes */
    /* what stands whole along k in L1, and how many pairs of it there are */
    struct parts *whole_a, *whole_b;
    int64_t whole_pairs,
        several_pairs; /* of all; of L1 tiles that are several, of several L0 ones */
};

/* What one tile of a direction takes in a buffer. */
static int64_t laid_tile(const struct counter *c, enum cann_direction direction, int64_t base)
{
    return cann_laid_out(c->cann, c->facts.parts, direction, base, base);
}

/* All of a core's k, in tiles of the library's where parts have them. */
static int64_t laid_k(const struct counter *c)
{
    int64_t k = c->facts.k, tile = c->cann->parts_tile[CANN_K];
    return tile ? cann_laid_out(c->cann, c->facts.parts, CANN_K, k, least_of(k, tile)) : k;
}

/* The values of an axis into which `size` is cut: the given one, or all. */
static int64_t next_value(const struct counter *c, int axis, int64_t size, int64_t unit,
                          int64_t value)
{
    if (c->fixed <= axis)
        return next_cut(size / unit, value / unit) * unit;
    int64_t given = c->tiling.value[axis];
    return value == 0 && is_cut_of(size, given, unit) ? given : 0;
}

/* Are so many copies more than one of the operand's parts open, or given? */
static bool may_have(const struct counter *c, bool of_a, int copies)
{
    int axis = of_a ? CANN_L1A_BUFFERS : CANN_L1B_BUFFERS;
    return c->fixed <= axis || c->tiling.value[axis] == copies + 1;
}

static void add_part(const struct counter *c, bool of_a, struct parts *parts, int64_t elements,
                     bool turns)
{
    for (int copies = 0; copies <= (turns ? 1 : 0); copies++)
        if (may_have(c, of_a, copies) && (copies + 1) * elements <= c->room.l1)
            parts->elements[copies][parts->count[copies]++] = (copies + 1) * elements;
}

/* One operand's axes. */
struct side {
    int step_k, step, step_batch;
    enum cann_direction direction;
    int64_t size, base, tiles, batch_blocks;
    bool one;
};

static struct side side_of(const struct counter *c, bool of_a)
{
    const struct cann_facts *f = &c->facts;
    const int64_t *v = c->tiling.value;
    if (of_a)
        return (struct side){CANN_STEP_KA,   CANN_STEP_M, CANN_STEP_BATCH_A, CANN_M, f->m,
                             v[CANN_BASE_M], f->m_tiles,  f->batch_blocks,   false};
    return (struct side){
        CANN_STEP_KB, CANN_STEP_N,    CANN_STEP_BATCH_B, CANN_N,
        f->n,         v[CANN_BASE_N], f->n_tiles,        f->one_b ? 1 : f->batch_blocks,
        f->one_b};
}

/* Can an open or given step be 1? */
static bool may_be_one(const struct counter *c, int axis)
{
    return c->fixed <= axis || c->tiling.value[axis] == 1;
}

/* The same of the blocks of a batch. */
static int64_t next_batch(const struct counter *c, int axis, int64_t blocks, int64_t value)
{
    if (c->fixed <= axis)
        return cann_next_batch_step(c->cann, blocks, value);
    int64_t given = c->tiling.value[axis];
    return value == 0 && cann_is_batch_step(c->cann, blocks, given) ? given : 0;
}

/* Parts that are whole along k. */
static void list_whole(const struct counter *c, bool of_a, bool several, struct parts *parts)
{
    const struct cann_facts *f = &c->facts;
    struct side s = side_of(c, of_a);
    int64_t k = laid_k(c);
    parts->count[0] = parts->count[1] = 0;
    if (s.base * k > c->room.l1)
        return;
    for (int64_t step = 0; (step = next_value(c, s.step, s.tiles, 1, step));) {
        int64_t size = least_of(step * s.base, s.size);
        int64_t elements = k * cann_laid_out(c->cann, f->parts, s.direction, size, s.base);
        if (elements > c->room.l1)
            return;
        if (several && (step == 1 || step >= s.tiles))
            continue;
        if (size < s.size) {
            if (may_be_one(c, s.step_batch))
                add_part(c, of_a, parts, elements, true);
            continue;
        }
        for (int64_t batch = 0; (batch = next_batch(c, s.step_batch, s.batch_blocks, batch));) {
            if (batch * elements > c->room.l1)
                break;
            add_part(c, of_a, parts, batch * elements, !s.one && batch < f->blocks);
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
    int64_t a_unit = a_copies * laid_tile(c, CANN_M, c->tiling.value[CANN_BASE_M]), count = 0;
    int64_t b_unit = b_copies * laid_tile(c, CANN_N, c->tiling.value[CANN_BASE_N]);
    int j = b[1];
    for (int i = a[0]; i < a[1] && j > b[0]; i++) {
        const int *dividing = &chunks->dividing[(ptrdiff_t)i * (chunks->count + 1)];
        while (j > b[0] && chunks->k[i] * a_unit + chunks->k[j - 1] * b_unit > c->room.l1)
            j--;
        count += dividing[j] - dividing[b[0]];
    }
    return count;
}

static int64_t count_all_cut_pairs(const struct counter *c, const int a[2], const int b[2])
{
    int64_t count = 0;
    for (int copies = 0; copies < 2; copies++)
        for (int other = 0; other < 2; other++)
            if (may_have(c, true, copies) && may_have(c, false, other))
                count += count_cut_pairs(c, a, b, copies + 1, other + 1);
    return count;
}

/* The same where all is open, looked up: it does not depend on the block. */
static int64_t look_up_cut_pairs(const struct counter *c, const int a[2], const int b[2])
{
    ptrdiff_t entry = (ptrdiff_t)c->at_m * c->cann->count[CANN_BASE_N] + c->at_n;
    int64_t *known = &c->chunks->cut_pairs[entry];
    int64_t count = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (count == 0) {
        count = 1 + count_all_cut_pairs(c, a, b);
        __atomic_store_n(known, count, __ATOMIC_RELAXED);
    }
    return count - 1;
}

static int64_t count_l1(const struct counter *c)
{
    const int64_t *k = c->chunks->k, room = c->room.l1;
    int64_t m = laid_tile(c, CANN_M, c->tiling.value[CANN_BASE_M]);
    int64_t n = laid_tile(c, CANN_N, c->tiling.value[CANN_BASE_N]);
    bool whole_a = may_be_whole(c, CANN_STEP_KA), whole_b = may_be_whole(c, CANN_STEP_KB);
    int64_t count = whole_a && whole_b ? c->whole_pairs : 0;
    int a[2], b[2];
    find_ways(c, true, &a[0], &a[1]);
    find_ways(c, false, &b[0], &b[1]);
    count += (c->fixed <= CANN_STEP_KA ? look_up_cut_pairs : count_all_cut_pairs)(c, a, b);
    for (int copies = 0; copies < 2; copies++)
        for (int other = 0; other < 2; other++) {
            bool a_may = may_have(c, true, copies), b_may = may_have(c, false, other);
            if (whole_a && b_may)
                count += count_pairs(c->whole_a->elements[copies], c->whole_a->count[copies], 1,
                                     k + b[0], b[1] - b[0], n * (other + 1), room);
            if (whole_b && a_may)
                count += count_pairs(c->whole_b->elements[other], c->whole_b->count[other], 1,
                                     k + a[0], a[1] - a[0], m * (copies + 1), room);
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
    if (tile && cann_executable(f, false))
        count += copies(laid_tile(c, CANN_N, n) * laid_tile(c, CANN_K, k), c->room.l0b,
                        cann_b_l0_turns(f, n, k, false));
    if (slab && !c->cann->tcube && f->n_tiles * f->k_tiles > 1 && cann_executable(f, true))
        count += copies(f->n * f->k, c->room.l0b, cann_b_l0_turns(f, n, k, true));
    return count;
}

/* With the base tile at hand. */
static int64_t count_base(struct counter *c)
{
    const struct cann_facts *f = &c->facts;
    const int64_t *v = c->tiling.value;
    bool turns = f->m_tiles > 1 && f->n_tiles > 1;
    bool open = c->fixed <= CANN_OUTER;
    int64_t third = turns && !c->cann->tcube && (open || v[CANN_OUTER] == OUTER_M_N);
    int64_t others =
        open ? 1 + turns : v[CANN_OUTER] == OUTER_M || (turns && v[CANN_OUTER] == OUTER_N);
    int64_t m = laid_tile(c, CANN_M, v[CANN_BASE_M]), n = laid_tile(c, CANN_N, v[CANN_BASE_N]);
    int64_t k = laid_tile(c, CANN_K, v[CANN_BASE_K]);
    int64_t count = copies(m * k, c->room.l0a, cann_a_l0_turns(f, v[CANN_BASE_M], v[CANN_BASE_K])) *
                    copies(m * n, c->room.l0c, cann_c_turns(f)) * count_l0b(c);
    if (count == 0)
        return 0;
    return count * ((others ? others * count_l1(c) : 0) + (third ? third * count_several(c) : 0));
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
static int64_t count_base_k(struct counter *c)
{
    const int64_t *values = c->cann->values[CANN_BASE_K];
    int splits = 0;
    int64_t count = 0, *v = c->tiling.value, given = c->fixed > CANN_BASE_K ? v[CANN_BASE_K] : 0;
    if (!find_place(c->cann, CANN_SPLIT_K, c->facts.parts, &splits))
        return 0;
    const struct cann_chunks *chunks =
        &c->cann->chunks[(size_t)splits * (size_t)c->cann->count[CANN_BASE_K]];
    for (int i = 0; i < c->cann->count[CANN_BASE_K]; i++) {
        if (values[i] * v[CANN_BASE_M] > c->room.l0a)
            break;
        if (!chunks[i].k || (given && values[i] != given) ||
            !cann_is_parts_tile(c->cann, c->facts.parts, CANN_K, c->facts.k, values[i]))
            continue;
        v[CANN_BASE_K] = values[i];
        c->chunks = &chunks[i];
        c->facts.k_tiles = divide_up(c->facts.k, values[i]);
        count += count_base(c);
    }
    return count;
}

static int64_t count_base_n(struct counter *c)
{
    int64_t count = 0, *v = c->tiling.value, n = 0;
    c->at_n = 0;
    while ((n = next_value(c, CANN_BASE_N, c->facts.n, c->cann->machine.block_mn, n)) &&
           !stop_due(c->space->stop)) {
        if (!cann_is_parts_tile(c->cann, c->facts.parts, CANN_N, c->facts.n, n))
            continue;
        c->room = cann_room_of(c->cann, laid_tile(c, CANN_N, n));
        if (n * v[CANN_BASE_M] > c->room.l0c)
            break;
        v[CANN_BASE_N] = n;
        c->facts.n_tiles = divide_up(c->facts.n, n);
        if (!find_place(c->cann, CANN_BASE_N, n, &c->at_n))
            break;
        c->several_pairs = list_whole_pairs(c, true);
        c->whole_pairs = list_whole_pairs(c, false);
        count += count_base_k(c);
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
    while ((m = next_value(&c, CANN_BASE_M, c.facts.m, cann->machine.block_mn, m))) {
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
